"""CMLM: sentence vectors trained to predict the hidden words of neighbouring sentences (Yang et al., 2021).

words       the tokens that a model reads: words of the space, or word pieces
network     the encoder, and the parts used only in training: projections and the prediction head
neighbours  pairs of adjacent paragraphs in documents
learning    the learners: hidden words alone, or together with translations
inference   fine-tuning on pairs of sentences in two languages
system      the presets, and training by the stages of the paper
"""
