"""CMLM: sentence vectors trained to predict the hidden words of neighbouring sentences (Yang et al., 2021).

* passages      the tokens that a model reads, and pairs of adjacent paragraphs in documents
* predictor     the encoder, and the parts used only in training: projections and the prediction head
* learning      the learners: hidden words alone, together with translations, or inference
* cmlm_system   the presets, and training by the stages of the paper
"""
