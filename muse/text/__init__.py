"""Text: lines in, tokens out; tokens in, probabilities out.

Moses' tokens, a back-off n-gram model, Kneser-Ney estimation, and ARPA files of such models.
Imports: errors, files.
"""
