"""Text: tokenisation, and the probability of tokens.

Moses' tokeniser, the forms of words in text, a back-off n-gram language model, Kneser-Ney estimation, and
ARPA files of such models.
"""
