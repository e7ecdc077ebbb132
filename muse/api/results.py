"""What a space answers at the prompt: translations, neighbours and the verdict, each shown in a line.

All are plain types with more to them: a translation is the pair (word, score), the answers to a word are a
list of such pairs, those to several words are a dict, and a verdict is a str. Notebooks show tables, in which
every word is escaped.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any, Self

from muse.exchange import table_frame
from muse.progress import printable
from muse.ranking.translations import Translations

COLUMNS = ("source", "target", "score", "rank", "probability", "mutual", "reason")
SHOWN_ANSWERS = 10  # of more answers, or words with their answers, that are shown at once
_CELL = 'style="text-align: left; padding: 0.15em 1.2em 0.15em 0"'
_CARD = "display: inline-block; border: 1px solid #8888; border-radius: 8px; padding: 0.7em 1em"
_TITLE = "font-size: 1.15em"
_DOTS = {"aligned": "#2da44e", "doubtful": "#bf8700", "failed": "#cf222e"}  # seen on white and on black


class WordTranslations(Translations):
    """The translations of one word, best first; each is a `muse.ranking.translations.Translation`.

    `word` is the word as it was asked for and `form` the entry it stands for, `src` its language and `tgt`
    that of the translations. A word that is not there has none, and a `reason`.
    """

    @classmethod
    def of(cls, found: Translations, way: tuple[str, str], reason: str) -> Self:
        """What a space says of a word."""
        made = cls(found.word, found.form, found, reason=reason)
        made.src, made.tgt = way
        return made

    src: str
    tgt: str

    def to_frame(self) -> Any:
        """A pandas.DataFrame with a row a translation; MissingExtra, with the command, without pandas."""
        return table_frame(self.rows(), COLUMNS)

    def rows(self) -> list[tuple[Any, ...]]:
        """A row for each translation, or one with the reason why there is none."""
        rows = [
            (self.word, one.target, one.score, one.rank, one.probability, one.mutual, None) for one in self
        ]
        return rows or [(self.word, None, None, None, None, None, self.reason or None)]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, islice(self, SHOWN_ANSWERS)))
        more = f", {len(self) - SHOWN_ANSWERS} more" if len(self) > SHOWN_ANSWERS else ""
        found = f"{shown or self.reason or 'no translation'}{more}"
        return printable(f"{self.word} ({self.src}-{self.tgt}): {found}")

    def _repr_html_(self) -> str:
        return html_table(("", self.tgt, "probability", "score", "mutual"), _cells([self]))


class TranslationTable(dict[str, WordTranslations]):
    """The translations of several words, by word; a word that is not there has none, and a `reason`."""

    def to_frame(self) -> Any:
        """All translations as a pandas.DataFrame, a row each, and a row for a word without one."""
        return table_frame([row for found in self.values() for row in found.rows()], COLUMNS)

    @property
    def _more(self) -> str:
        return f"... {len(self) - SHOWN_ANSWERS:,} more words" if len(self) > SHOWN_ANSWERS else ""

    def __repr__(self) -> str:
        lines = [repr(found) for found in islice(self.values(), SHOWN_ANSWERS)]
        return "\n".join([*lines, self._more] if self._more else lines)

    def _repr_html_(self) -> str:
        if not self:
            return ""
        cells = _cells(islice(self.values(), SHOWN_ANSWERS))
        rest = f"<p>{escape(self._more)}</p>" if self._more else ""
        return html_table(("", "translation", "probability", "score", "mutual"), cells) + rest


class Nearest(list[tuple[str, float]]):
    """The nearest words of a word in its own language, with their cosines, best first."""

    def __init__(self, found: Iterable[tuple[str, float]], word: str, lang: str) -> None:
        super().__init__(found)
        self.word, self.lang = word, lang

    def __repr__(self) -> str:
        shown = ", ".join(f"{word} {cosine:.3f}" for word, cosine in islice(self, SHOWN_ANSWERS))
        more = f", {len(self) - SHOWN_ANSWERS} more" if len(self) > SHOWN_ANSWERS else ""
        return printable(f"{self.word} ({self.lang}): {shown}{more}")

    def to_frame(self) -> Any:
        """A pandas.DataFrame with the columns word and cosine."""
        return table_frame(self, ("word", "cosine"))

    def _repr_html_(self) -> str:
        rows = [(word, f"{cosine:.3f}") for word, cosine in self]
        return html_table((self.lang, "cosine"), rows)


class SpaceVerdict(str):
    """The verdict on a space, "aligned", "doubtful" or "failed", with its `confidence` from 0 to 1.

    Of several languages it is that of the least confident one; `languages` has the label of each.

    >>> found = SpaceVerdict("aligned", 0.9959, {"fr": "aligned"})
    >>> found, str(found), found == "aligned", found.confidence
    (aligned (confidence 1.00), 'aligned', True, 0.9959)
    """

    confidence: float | None
    languages: Mapping[str, str]

    def __new__(cls, label: str, confidence: float | None, languages: Mapping[str, str]) -> Self:
        """The label, with what supports it."""
        found = super().__new__(cls, label)
        found.confidence, found.languages = confidence, languages
        return found

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), self.confidence, self.languages

    def __repr__(self) -> str:
        known = "" if self.confidence is None else f" (confidence {self.confidence:.2f})"
        return f"{self}{known}"


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table of plain text, all of it escaped.

    >>> html_table(["word"], [["<b>"]]).count("&lt;b&gt;")
    1
    """
    head = "".join(f"<th {_CELL}>{escape(one)}</th>" for one in header)
    body = ("".join(f"<td {_CELL}>{escape(one)}</td>" for one in row) for row in rows)
    lines = "".join(f"<tr>{row}</tr>" for row in body)
    return (
        '<table style="font-variant-numeric: tabular-nums">'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    )


def html_card(title: str, verdict: SpaceVerdict, facts: Sequence[str], below: str) -> str:
    """A card for notebooks: a title with the verdict, a line of facts, all escaped, and HTML below them.

    >>> html_card("<fr>", SpaceVerdict("aligned", 1, {}), ["5 words"], "").count("&lt;fr&gt;")
    1
    """
    dot = f'<span style="color: {_DOTS[verdict]}">&#9679;</span> ' if verdict in _DOTS else ""
    judged = escape(repr(verdict)) if verdict else "no verdict recorded"
    line = escape(" \u00b7 ".join(facts))
    return (
        f'<div style="{_CARD}"><div style="{_TITLE}"><b>{escape(title)}</b> &ensp;{dot}{judged}</div>'
        f'<div style="opacity: 0.75">{line}</div>{below}</div>'
    )


def _cells(found: Iterable[WordTranslations]) -> Iterator[tuple[str, ...]]:
    for one in found:
        if not one:
            yield one.word, one.reason or "no translation", "", "", ""
        for place, answer in enumerate(one):
            mutual = "yes" if answer.mutual else ""
            yield "" if place else one.word, answer.target, answer.percent, f"{answer.score:.3f}", mutual
