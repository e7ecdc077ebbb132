"""Contextual Lensing: a trained lens reduces the matrix that a frozen core gives for a sentence to one row.

(Kiros, 2020.)
"""
