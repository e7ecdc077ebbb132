"""CMLM: sentence vectors trained to predict hidden words of neighbouring sentences (Yang et al., 2021)."""
