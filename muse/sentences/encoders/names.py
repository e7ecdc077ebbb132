"""Names of encoders: a kind with options in brackets, corrections after it, several of them side by side.

mean   idf   sif   power-mean[-inf,1,inf,3]   idf+pcr   power-mean+znorm[global]   mean+ngrams
power-mean&./projection+znorm   ./bgt+language
"""

from __future__ import annotations

import re

from muse.errors import BadSetting
from muse.sentences.encoders.corrections import OPTIONS

BESIDE = "&"
NGRAMS = "ngrams"
LANGUAGE = "language"
_ONE = re.compile(r"([a-z][a-z-]*)(?:\[([^][]*)\])?")
_NAME = re.compile(r"(?:\+?[a-z][a-z-]*(?:\[[^][]*\])?)+")
_CORRECTIONS = re.compile(rf"(?:\+(?:{'|'.join(OPTIONS)})(?:\[[^][]*\])?)+$")


def is_name(text: str) -> bool:
    """Whether a text has the form of one name, whatever the kind."""
    return bool(_NAME.fullmatch(text))


def parsed(name: str) -> list[tuple[str, str]]:
    """The kind of a name and its corrections, each with its options.

    >>> parsed("power-mean[1,3]+pcr")
    [('power-mean', '1,3'), ('pcr', '')]
    """
    return [(match[1], match[2] or "") for match in _ONE.finditer(name)]


def corrections_of(name: str) -> tuple[str, list[tuple[str, str]]]:
    """A name or a folder without the corrections after it, and these.

    >>> corrections_of("./projection+znorm")
    ('./projection', [('znorm', '')])
    """
    match = _CORRECTIONS.search(name)
    return (name, []) if match is None else (name[: match.start()], parsed(match[0]))


def language_of(name: str) -> tuple[str, bool]:
    """A folder without the +language after it, and whether there was one: its language latents are meant.

    >>> language_of("./bgt+language")
    ('./bgt', True)
    """
    folder = name.removesuffix(f"+{LANGUAGE}")
    return folder, folder != name


def side_by_side(name: str) -> list[str]:
    """The names or folders between the &; BadSetting if one of several is empty.

    >>> side_by_side("power-mean & ./projection+znorm")
    ['power-mean', './projection+znorm']
    """
    found = [one.strip() for one in name.split(BESIDE)] if BESIDE in name else [name]
    if len(found) > 1 and not all(found):
        raise BadSetting(f"there must be an encoder on both sides of &, got {name!r}")
    return found
