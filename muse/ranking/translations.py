"""Translations: the one type of what a space says of a word, whoever asks, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

from muse.progress import printable

# The least probability of a translation to be shown as trusted, and below which it is shown as weak: of
# those above the first 90 % are right, of those below the second 30 % (benchmarks/words/answers.py).
TRUSTED, WEAK = 0.85, 0.4
Grade = Literal["trusted", "likely", "weak"]


def grade_of(probability: float) -> Grade:
    """How far a translation of this probability can be trusted.

    >>> grade_of(0.9), grade_of(0.5), grade_of(0.1)
    ('trusted', 'likely', 'weak')
    """
    return "trusted" if probability >= TRUSTED else "weak" if probability < WEAK else "likely"


class Translation(tuple[str, float]):
    """A translation as the pair (target, score), and what else is known of it.

    `probability` is that of being right, None if it is not known; `mutual` is whether `target` and the word
    looked up are each the other's first; `rank` is its place among the translations of the word, from 1.

    >>> one = Translation("king", 0.4, probability=0.89, mutual=True)
    >>> one == ("king", 0.4), one.target, one.grade
    (True, 'king', 'trusted')
    """

    probability: float | None
    mutual: bool
    rank: int

    def __new__(
        cls,
        target: str,
        score: float,
        probability: float | None = None,
        *,
        mutual: bool = False,
        rank: int = 1,
    ) -> Self:
        """A pair of a word and its score, with more."""
        found = super().__new__(cls, (target, score))
        found.probability, found.mutual, found.rank = probability, mutual, rank
        return found

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (*self, self.probability), {"mutual": self.mutual, "rank": self.rank}

    @property
    def target(self) -> str:
        """The word of the other language."""
        return self[0]

    @property
    def score(self) -> float:
        """CSLS, unless another retrieval was asked for."""
        return self[1]

    @property
    def grade(self) -> Grade | None:
        """How far the translation can be trusted, by its probability; None if that is not known."""
        return None if self.probability is None else grade_of(self.probability)

    @property
    def percent(self) -> str:
        """The probability as it is shown; empty if it is not known."""
        return "" if self.probability is None else f"{100 * self.probability:.0f} %"

    def of_target(self, target: str) -> Self:
        """The translation with its target as a text has it."""
        return type(self)(target, self.score, self.probability, mutual=self.mutual, rank=self.rank)

    def as_json(self) -> dict[str, Any]:
        """What `--json` shows of it."""
        found = {"target": self.target, "score": self.score, "probability": self.probability}
        return {**found, "mutual": self.mutual, "grade": self.grade}

    @property
    def shown(self) -> str:
        """The translation with its score and probability: "king 0.566 (90 %)"."""
        return f"{self.target} {self.score:.3f}" + (f" ({self.percent})" if self.percent else "")

    def __repr__(self) -> str:
        return printable(self.shown)


class Translations(list[Translation]):
    """What a space says of a word: its translations, best first, and the entry that was looked up (`form`).

    An unknown word has no form, but similar spellings (`suggestions`), and the other `languages` that have
    it. Of a word without a translation to trust, these are the ones where it is more frequent: it may be
    theirs. `reason` is why there are no translations, or none to trust.
    """

    def __init__(
        self,
        word: str,
        form: str | None,
        found: Iterable[Translation] = (),
        *,
        suggestions: Iterable[str] = (),
        languages: Iterable[str] = (),
        reason: str = "",
    ) -> None:
        super().__init__(found)
        self.word, self.form, self.reason = word, form, reason
        self.suggestions, self.languages = tuple(suggestions), tuple(languages)

    @property
    def best(self) -> Translation | None:
        """The first translation; None if there is none."""
        return self[0] if self else None

    @property
    def grade(self) -> Grade | None:
        """How far the best translation can be trusted; None if there is none or it is not known."""
        return self[0].grade if self else None
