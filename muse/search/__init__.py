"""Nearest neighbours, and what is read from them: matrices in, neighbours, scores and probabilities out.

Every search of muse is made here: the backends agree, and CSLS is written once.
Imports: errors, procrustes.
"""
