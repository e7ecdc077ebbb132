"""Sentence encoders of one contract: sentences of a language in, one row each out.

Pooling of words, their weights, corrections learned from text, and encoders made of encoders.
Imports: the core types, files, procrustes, space, text.
"""
