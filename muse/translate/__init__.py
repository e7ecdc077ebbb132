"""Translate: words, and running text word by word, through an aligned space."""

from muse.translate.quality import Quality, quality
from muse.translate.text import TextConfig, Translator
from muse.translate.words import spellings, translate_words

__all__ = ["Quality", "TextConfig", "Translator", "quality", "spellings", "translate_words"]
