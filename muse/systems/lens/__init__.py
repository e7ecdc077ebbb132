"""Contextual Lensing: a trained lens makes one row of the matrix that a frozen core makes of a sentence.

(Kiros, 2020.)
"""
