"""Script: whether a text is in the same script as a vocabulary."""

from __future__ import annotations

import logging
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from muse.errors import BadSetting
from muse.vectors import Vectors

log = logging.getLogger(__name__)

_LITTLE = 20  # letters; fewer may be a name that is copied (iPhone 15), and no text in another language
_WORDS = 2_000  # the most frequent words, which show the scripts of a language
_SHARE = 0.05  # the least share of their letters in a script of the language: loanwords have less


def check_script(lines: Sequence[str], vectors: Vectors) -> bool:
    """Whether any letter of the lines is of a script of the vocabulary; of a few letters that are not, warn.

    Raise BadSetting if many letters are not.

    >>> import numpy as np
    >>> check_script(["Bonjour !"], Vectors("fr", ["chat"], np.zeros((1, 1), np.float32)))
    True
    """
    found = _scripts(lines)
    known = _scripts(vectors.words[:_WORDS])
    expected = [name for name, count in known.most_common() if count >= _SHARE * known.total()]
    if found and expected and not set(found) & set(expected):
        message = (
            f"the words of {vectors.language} are in {_named(expected)} script, got text in "
            f"{_named([name for name, _ in found.most_common()])}; check --src"
        )
        if found.total() >= _LITTLE:
            raise BadSetting(message)
        log.warning("%s", message)
        return False
    return bool(found)


def _scripts(texts: Iterable[str]) -> Counter[str]:
    return Counter(name for text in texts for letter in text if (name := _script(letter)))


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    # Python has no property for scripts, but the name of a letter starts with it: LATIN SMALL LETTER A.
    return unicodedata.name(letter, "").split(" ")[0] if letter.isalpha() else ""


def _named(scripts: Sequence[str]) -> str:
    return " and ".join(name.capitalize() for name in scripts[:3])
