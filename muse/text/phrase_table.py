"""Moses phrase tables: how their words are escaped, and the translations of phrases that one has."""

import re
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from muse.errors import BadFile
from muse.files.plain_text import read_lines
from muse.files.tables import BARS

_ESCAPES = {
    "&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;", "[": "&#91;",
    "]": "&#93;",
}  # fmt: skip
_SPACES = re.compile(r"\s+")
_DIRECT = 2  # the place of p(t|s) among the scores

PhraseOptions = Mapping[str, Sequence[tuple[str, float]]]  # translations with p(t|s), most probable first


def escaped(word: str) -> str:
    """A word as Moses' own tokeniser escapes it, however it came; empty if it has spaces alone.

    A bar separates fields, and [X] is part of a rule. In vectors of tokenised text words are escaped already.

    >>> escaped("l'"), escaped("l&apos;"), unescaped("l&apos;")
    ('l&apos;', 'l&apos;', "l'")
    """
    plain = unescaped(_SPACES.sub(" ", word).strip())
    return "".join(_ESCAPES.get(character, character) for character in plain)


def unescaped(phrase: str) -> str:
    """A phrase as text has it."""
    for sign, name in reversed(_ESCAPES.items()):
        phrase = phrase.replace(name, sign)
    return phrase


def read_phrase_table(path: Path, *, top: int) -> PhraseOptions:
    r"""The `top` translations of each phrase, with spaces between tokens; BadFile for what is no table.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("un ||| a ||| .5 .5 .4 .4 |||\nun ||| one ||| .5 .5 .6 .6 |||", file=file, flush=True)
    ...     read_phrase_table(Path(file.name), top=1)
    {'un': [('one', 0.6)]}
    """
    found = dict[str, list[tuple[str, float]]]()
    for source, group in groupby(_entries(path), key=itemgetter(0)):
        options = [*found.get(source, ()), *((target, share) for _, target, share in group)]
        found[source] = nlargest(top, options, key=itemgetter(1))
    return found


def _entries(path: Path) -> Iterator[tuple[str, str, float]]:
    for number, line in enumerate(read_lines(path), 1):
        try:
            source, target, scores, *_ = line.split(BARS)
            share = float(scores.split()[_DIRECT])
        except (ValueError, IndexError):
            share = -1.0
        if not 0 <= share <= 1:
            raise BadFile(
                f"{path}:{number}: expected a line of a Moses phrase table, source ||| target ||| p(s|t) "
                f"lex(s|t) p(t|s) lex(t|s), got {line[:60]!r}; muse export --format moses writes one"
            )
        yield unescaped(source), unescaped(target), share
