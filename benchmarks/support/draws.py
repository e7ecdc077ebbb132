"""Draws: the pairs that a user might bring, of a pair's training dictionary, as dictionary files."""

from pathlib import Path

import numpy as np

from benchmarks.support.pairs import Pair
from muse.files import read_lexicon
from muse.lexicon import Lexicon
from muse.vectors import Vectors

COMMON = 2_000  # a user who writes a few translations down thinks of frequent words
ALL = 5_000
WRONG = 0.1
MARK = "-wrong"
IDENTICAL = "identical"
NONE = "none"
HELP = (NONE, IDENTICAL, "5", "25", "100", "500", "1000", "5000", "1000-wrong", "5000-wrong")


def has_draws(help_: str) -> bool:
    """Whether another draw of this help has other pairs: "5000" is all there are."""
    return help_ not in (NONE, IDENTICAL, str(ALL))


def write_draw(pair: Pair, sides: tuple[Vectors, Vectors], help_: str, draw: int, folder: Path) -> Path:
    """The dictionary file of a draw, in `folder`.

    "identical" has the strings that both vocabularies share. "5000" has all pairs of the training dictionary
    with both words in the vectors. Smaller numbers are of N source words among the COMMON most frequent of
    these, each with the most frequent of its translations; the draws of one seed are nested. In "1000-wrong"
    and "5000-wrong" a tenth of the pairs have exchanged their targets.
    """
    path = folder / f"{pair.name}.{help_}.{draw if has_draws(help_) else 0}.txt"
    rng = np.random.default_rng(draw)
    if help_ == IDENTICAL:
        pairs = [(word, word) for word in sides[0].words if word in sides[1].index]
    else:
        training = read_lexicon(pair.must_train_in(folder))
        pairs = _drawn(training, sides, int(help_.removesuffix(MARK)), rng)
    if help_.endswith(MARK):
        pairs = _with_errors(pairs, rng)
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def _drawn(
    training: Lexicon, sides: tuple[Vectors, Vectors], number: int, rng: np.random.Generator
) -> list[tuple[str, str]]:
    source, target = sides
    known = [(x, y) for x, y in training.pairs if x in source.index and y in target.index]
    known.sort(key=lambda pair: (source.index[pair[0]], target.index[pair[1]]))
    words = list(dict.fromkeys(x for x, _ in known))
    if number >= ALL:
        kept = set(words[:number])
        return [(x, y) for x, y in known if x in kept]
    common = words[:COMMON]
    first = dict(reversed(known))
    return [(common[place], first[common[place]]) for place in rng.permutation(len(common))[:number]]


def _with_errors(pairs: list[tuple[str, str]], rng: np.random.Generator) -> list[tuple[str, str]]:
    # The chosen pairs pass their targets on in a circle: each gets that of another one.
    chosen = rng.permutation(len(pairs))[: round(WRONG * len(pairs))].tolist()
    found = list(pairs)
    for own, other in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        found[own] = (pairs[own][0], pairs[other][1])
    return found
