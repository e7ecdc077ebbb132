"""Options of `muse induce` and `muse evaluate` that Python takes too."""

from __future__ import annotations

from muse.options import Answered, Languages, Seed, option


class Translated(Languages, Answered, Seed):
    """Between which languages, and by what, words are translated."""


class InducedPairs(Translated):
    """Which pairs of words a dictionary has."""

    max_vocab: int | None = option(None, section="Input", least=1, help="Use only the N most frequent words.")
    src_max: int | None = option(None, section="Input", least=1, help="The N most frequent words of --src.")
    tgt_max: int | None = option(None, section="Input", least=1, help="The N most frequent words of --tgt.")
    top: int = option(1, section="What it keeps", least=1, help="Number of translations of each word.")
    mutual: bool = option(
        False,
        section="What it keeps",
        help="Keep only pairs of words that are each other's first translation.",
    )
    min_probability: float | None = option(
        None, section="What it keeps", metavar="P", least=0, most=1,
        help="Drop translations with a lower probability.",
    )  # fmt: skip
    precision: float | None = option(
        None, section="What it keeps", metavar="P", least=0, most=100,
        help="Keep the surest pairs, as many as P percent of which are expected to be right.",
    )  # fmt: skip
