"""Translate: words, and text word by word, with an aligned space."""

from muse.translate.scores import Quality, quality
from muse.translate.text import Choice, TextConfig, Translator
from muse.translate.words import neighbours, spellings, translate_words

__all__ = [
    "Choice",
    "Quality",
    "TextConfig",
    "Translator",
    "neighbours",
    "quality",
    "spellings",
    "translate_words",
]
