"""CMLM: sentences learned by predicting the hidden words of their neighbours (Yang et al., 2021).

words       the tokens that a model reads: those of the space, or word pieces
network     the encoder, and what training adds to it: projections and the head that predicts words
neighbours  paragraphs and those next to them, of documents
learning    what is trained: hidden words, and these beside translations
inference   fine-tuning on pairs of sentences in two languages
system      the presets, and training by the stages of the paper
"""
