"""Translate: texts, word by word, with an aligned space."""
