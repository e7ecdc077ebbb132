"""Translate: words, and text word by word, with an aligned space."""

from muse.space.forms import find_form
from muse.translate.answers import Answer, WordAnswer, answer_words
from muse.translate.scores import Quality, quality
from muse.translate.spelling import spellings
from muse.translate.text import Choice, TextConfig, Translator
from muse.translate.words import neighbours, translate_words

__all__ = [
    "Answer",
    "WordAnswer",
    "answer_words",
    "Choice",
    "Quality",
    "TextConfig",
    "Translator",
    "find_form",
    "neighbours",
    "quality",
    "spellings",
    "translate_words",
]
