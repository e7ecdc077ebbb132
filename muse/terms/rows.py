"""Rows: what a glossary says of each translation of a term."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from muse.examples.index import Example

UNSURE = 0.5  # a translation of a lower probability is more likely wrong than right
EXAMPLES = ("examples", "translation_examples")
COLUMNS: dict[str, type] = {
    "term": str, "translation": str, "rank": int, "probability": float, "unsure": bool, "decision": str,
    "count": int, "translation_count": int, "domain": float, "association": float, "c_value": float,
    **dict.fromkeys(EXAMPLES, str),
}  # fmt: skip


@dataclass(frozen=True)
class GlossaryRow:
    """A translation of a term: rank, probability and decision, counts and scores, and sentences with both.

    What is not known of a term is NaN.
    """

    term: str
    translation: str
    rank: int
    probability: float
    unsure: bool
    decision: str
    count: int
    translation_count: int
    domain: float
    association: float
    c_value: float
    examples: tuple[Example, ...] = ()
    translation_examples: tuple[Example, ...] = ()

    @property
    def remark(self) -> str:
        """How far to trust it: that it was accepted, or its probability in percent."""
        share = f"{100 * self.probability:.0f} %"
        return self.decision or (f"{share}, unsure" if self.unsure else share)


def terms_of(rows: Sequence[GlossaryRow]) -> Iterator[list[GlossaryRow]]:
    """Of each term the rows that a person should see: the first, and others that are not unsure."""
    for _, group in groupby(rows, key=lambda row: row.term):
        first, *others = group
        yield [first, *(row for row in others if row.decision or not row.unsure)]
