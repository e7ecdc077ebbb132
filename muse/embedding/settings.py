"""Settings: how fastText trains vectors that are to be aligned."""

from __future__ import annotations

from dataclasses import dataclass

from muse.errors import BadSetting
from muse.files.fasttext_layout import LONG

SEEN = 30_000_000  # tokens to read in all, as far as EPOCHS allow: little text must be read more often
MOST = 1_000_000_000  # fastText's numbers have 32 bits
EPOCHS = (5, 15)  # at least, at most
BUCKETS = (500_000, 2_000_000)  # fastText has 2,000,000, which take 2.4 GB in 300 dimensions


@dataclass(frozen=True)
class EmbedConfig:
    """How text is read, and the settings of fastText's skip-gram (Bojanowski et al., 2017).

    `epochs` None: as many as the text is short. With one thread the same text, seed and settings give the
    same vectors; with several they give similar ones, since threads race for the same rows.
    """

    dimension: int = 300
    epochs: int | None = None
    window: int = 5
    negatives: int = 10
    least_count: int = 5
    ngrams: tuple[int, int] = (3, 6)
    most_words: int = 200_000
    keep_case: bool = False
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (
            ("--dim", self.dimension), ("--epochs", self.epochs or 1), ("--window", self.window),
            ("--negatives", self.negatives), ("--min-count", self.least_count),
            ("--max-vocab", self.most_words), ("--threads", self.threads),
        ):  # fmt: skip
            if not 1 <= value <= MOST:
                raise BadSetting(f"{name} must be at least 1 and at most {MOST:,}, got {value}")
        shortest, longest = self.ngrams
        if not 0 <= shortest <= longest < LONG:
            raise BadSetting(
                f"--ngrams must be MIN-MAX with MIN at most MAX, and MAX below {LONG}; "
                f"got {shortest}-{longest}"
            )

    def buckets(self, tokens: int) -> int:
        """The number of rows that n-grams share, in a text of so many tokens."""
        return 0 if self.ngrams[1] == 0 else BUCKETS[tokens > SEEN]

    def epochs_for(self, tokens: int) -> int:
        """The number of times that a text of so many tokens is read."""
        if self.epochs is not None:
            return self.epochs
        return min(max(EPOCHS[0], round(SEEN / max(tokens, 1))), EPOCHS[1])
