"""Sentence encoders, which share one interface: sentences of a language in, one row for each out.

This covers pooling of words, their weights, corrections learned from text, and encoders built from encoders.
"""
