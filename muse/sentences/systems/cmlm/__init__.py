"""CMLM: sentence vectors trained to predict the hidden words of neighbouring sentences (Yang et al., 2021).

* predictor     the tokens that a model reads, the encoder, and the parts used only in training
* learning      adjacent paragraphs, and the learners: hidden words, also with translations, or inference
* cmlm_system   the presets, and training by the stages of the paper
"""
