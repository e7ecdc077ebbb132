"""Decisions: which translations of a glossary a person accepted or rejected, and what is learned from them.

They are rows of any table with the columns term, translation and decision: what the page of a glossary saves,
or a sheet of it with `accepted` and `rejected` written into its column.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from muse.errors import BadFile
from muse.files.columns import TableColumns, read_columns
from muse.files.tables import table_writer
from muse.ranking.model import shifted
from muse.terms.glossary import FoundTerm, TermTranslation

ACCEPTED, REJECTED = "accepted", "rejected"
_NAMES = ("term", "translation", "decision")
_COLUMNS = TableColumns(
    {one: (one,) for one in _NAMES}, header=True,
    advice="give what the page of a glossary saved, or the glossary with its column decision filled in",
)  # fmt: skip
_STEPS = 30
_NEAREST_CERTAIN = 1e-6  # to 0 and 1, of a probability whose log odds are taken
Pair = tuple[str, str]


@dataclass(frozen=True)
class Decisions:
    """The pairs of a term and its translation that were accepted, and those that were rejected."""

    accepted: Collection[Pair] = ()
    rejected: Collection[Pair] = ()

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Each term with a translation and the decision."""
        sides = (self.accepted, ACCEPTED), (self.rejected, REJECTED)
        return [(*pair, decision) for pairs, decision in sides for pair in pairs]

    def decided(self, pair: Pair, decision: str) -> "Decisions":
        """These decisions, but this one, or none, of a pair."""
        rows = [row for row in self.rows if row[:2] != pair]
        return _of_rows([*rows, (*pair, decision)])

    def applied(self, found: Sequence[FoundTerm], top: int) -> list[FoundTerm]:
        """Terms with the `top` best translations that are not rejected.

        Accepted ones are certain and come first, also of terms that were not found. The log odds of the
        others move by what the decisions say of all (`shift`).
        """
        accepted: dict[str, list[str]] = {}
        for term, translation in self.accepted:
            accepted.setdefault(term, []).append(translation)
        shift = self.shift(found)
        terms = [self._decided(term, accepted.pop(term.term, ()), shift, top) for term in found]
        terms += [
            FoundTerm(term, [TermTranslation(one, 1.0, 0) for one in ones], 0, *[math.nan] * 3)
            for term, ones in accepted.items()
        ]
        return sorted(terms, key=lambda one: -max((best.probability for best in one.translations), default=0))

    def _decided(self, term: FoundTerm, accepted: Collection[str], shift: float, top: int) -> FoundTerm:
        counts = {one.target: one.occurrences for one in term.translations}
        first = [TermTranslation(one, 1.0, counts.get(one, 0)) for one in accepted]
        shares = shifted(np.array([one.probability for one in term.translations]), shift).tolist()
        others = [
            one._replace(probability=share)
            for one, share in zip(term.translations, shares, strict=True)
            if one.target not in accepted and (term.term, one.target) not in self.rejected
        ]
        return replace(term, translations=[*first, *others][: max(top, len(first))])

    def shift(self, found: Sequence[FoundTerm]) -> float:
        """By how much the log odds of all translations move, near 0 if the decisions are few.

        It maximises sum_i log P(decision i | log odds + shift) - shift^2 / 2, by Newton's method.
        """
        known = [
            (one.probability, pair in self.accepted)
            for term in found for one in term.translations
            if (pair := (term.term, one.target)) in self.accepted or pair in self.rejected
        ]  # fmt: skip
        known_shares = np.clip([share for share, _ in known], _NEAREST_CERTAIN, 1 - _NEAREST_CERTAIN)
        odds = np.log(known_shares / (1 - known_shares))
        right, shift = np.array([accepted for _, accepted in known], float), 0.0
        for _ in range(_STEPS):
            shares = 1 / (1 + np.exp(-odds - shift))
            shift += float(((right - shares).sum() - shift) / ((shares * (1 - shares)).sum() + 1))
        return shift


def read_decisions(path: Path) -> Decisions:
    """The decisions in a table; rows without one are left out. BadFile for any other decision."""
    return _of_rows(_rows(path))


def write_decisions(path: Path, decisions: Decisions) -> None:
    """Write a table that `read_decisions` reads, atomically."""
    with table_writer(path, dict.fromkeys(_NAMES, str), "tsv") as write:
        for row in decisions.rows:
            write([*row])


def _of_rows(rows: Iterable[tuple[str, str, str]]) -> Decisions:
    found: dict[str, list[Pair]] = {ACCEPTED: [], REJECTED: [], "": []}
    for term, translation, decision in rows:
        found[decision].append((term, translation))
    return Decisions(dict.fromkeys(found[ACCEPTED]), dict.fromkeys(found[REJECTED]))


def _rows(path: Path) -> Iterator[tuple[str, str, str]]:
    for where, cells in read_columns(path, _COLUMNS):
        term, translation, decision = (cell.strip() for cell in cells)
        if decision not in (ACCEPTED, REJECTED, ""):
            raise BadFile(
                f"{where}: expected the decision {ACCEPTED} or {REJECTED}, or none, got {decision[:40]!r}; "
                "correct it"
            )
        yield term, translation, decision
