"""Induce: a bilingual dictionary from an aligned space, generated batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.lexicon import Entry, Lexicon
from muse.progress import Progress
from muse.search.calibration import CANDIDATES, WORDS, Calibration, calibrate
from muse.search.found import Neighbours
from muse.search.neighbours import nearest
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace

BATCH = 2_048  # source words at once: a mutual search allocates (b, k, k)


@dataclass(frozen=True)
class Limits:
    """Which pairs a dictionary contains.

    `top` translations of a word; with `mutual` only those that have the word among their own `top`.
    `source_max` and `target_max` limit the dictionary to the most frequent words; None means all.
    `min_probability` drops less probable pairs, which requires a calibration.
    """

    top: int = 1
    mutual: bool = False
    source_max: int | None = None
    target_max: int | None = None
    min_probability: float | None = None

    def __post_init__(self) -> None:
        counts = {"top": self.top, "src-max": self.source_max, "tgt-max": self.target_max}
        for name, value in counts.items():
            if value is not None and value < 1:
                raise BadSetting(f"--{name} must be at least 1, got {value}")
        if self.min_probability is not None and not 0 <= self.min_probability <= 1:
            raise BadSetting(f"--min-probability must be from 0 to 1, got {self.min_probability}")

    def reversed(self) -> Limits:
        """The same limits for the other direction."""
        return Limits(self.top, self.mutual, self.target_max, self.source_max, self.min_probability)


@dataclass(frozen=True, eq=False)
class _Search:
    """The rows x (n, d), y (m, d) of one direction and what CSLS subtracts from the cosines of each."""

    x: Tensor
    y: Tensor
    of_source: Tensor | None  # (n,)
    of_target: Tensor | None  # (m,)
    retrieval: Retrieval

    def best(self, begin: int, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of the batch of sources that starts at `begin`."""
        x = self.x[begin : begin + BATCH]
        found = nearest(x, self.y, top, bias=self.of_target, backend=self.retrieval.backend)
        if self.retrieval.method != "csls" or self.of_source is None:
            return found
        # CSLS is 2 cos - r(x) - r(y), and a bias is r / 2.
        own = self.of_source[begin : begin + BATCH, None]
        return Neighbours(2 * (found.scores - own), found.indices)

    def back(self, top: int) -> Tensor:
        """The `top` best sources (m, k) of every target."""
        return nearest(self.y, self.x, top, bias=self.of_source, backend=self.retrieval.backend).indices


def induce(
    space: AlignedSpace,
    *,
    source: str | None = None,
    target: str | None = None,
    top: int = 1,
    mutual: bool = False,
    max_vocab: int | None = None,
    retrieval: Retrieval | None = None,
) -> Lexicon:
    """The `top` best translations of every source word, with scores, most frequent words first.

    `mutual` keeps a pair only if the source word is also among the `top` best of the target word.
    `max_vocab` limits both languages to their most frequent words.
    """
    if max_vocab is not None and max_vocab < 1:
        raise BadSetting(f"--max-vocab must be at least 1, got {max_vocab}")
    limits = Limits(top, mutual, max_vocab, max_vocab)
    found = list(entries(space, source, target, limits=limits, retrieval=retrieval))
    return Lexicon(tuple(entry[:2] for entry in found), tuple(float(entry.score or 0) for entry in found))


def entries(
    space: AlignedSpace,
    source: str | None = None,
    target: str | None = None,
    *,
    limits: Limits,
    retrieval: Retrieval | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Iterator[Entry]:
    """The entries of a dictionary, by frequency of the source word, then best translation first.

    They are generated batch by batch. With `rng`, for the calibration, each has the probability of
    `muse.search.calibration` among the CANDIDATES (or `top`, if more) best translations of its word.
    """
    source, target = space.direction(source, target)
    retrieval = retrieval or Retrieval()
    if limits.min_probability is not None and rng is None:
        raise BadSetting("--min-probability needs an rng to compute probabilities, got none")
    search = _search(space, source, target, limits, retrieval)
    calibration = None
    if rng is not None:
        # Calibrated on the whole space: a probability must not depend on how many words are written.
        rows, unweighted = (space.tensor(source), space.tensor(target)), None
        if space.manifest.get("mapping") == "linear":
            unweighted = space.unweighted(source, WORDS), space.unweighted(target, WORDS)
        calibration = calibrate(*rows, rng=rng, retrieval=retrieval, unweighted=unweighted)
    back = search.back(limits.top) if limits.mutual else None  # (m, k)
    words, translations = space.vectors(source).words, space.vectors(target).words
    with (progress or Progress(quiet=True)).stage(f"{source}-{target}", len(search.x)) as tick:
        for begin in range(0, len(search.x), BATCH):
            for row, column, score, rank, probability in _batch(search, begin, limits, calibration, back):
                yield Entry(words[row], translations[column], score, rank, probability)
            tick(min(begin + BATCH, len(search.x)))


def _search(space: AlignedSpace, source: str, target: str, limits: Limits, retrieval: Retrieval) -> _Search:
    x, y = space.tensor(source), space.tensor(target)
    n, m = (limits.source_max or len(x)), (limits.target_max or len(y))
    if n >= len(x) and m >= len(y):  # the biases stored with the space are for all of its words
        of_source, of_target = space.bias(target, source, retrieval), space.bias(source, target, retrieval)
    else:
        x, y = x[:n], y[:m]
        of_source, of_target = retrieval.bias(y, x), retrieval.bias(x, y)
    return _Search(x, y, of_source, of_target, retrieval)


def _batch(
    search: _Search, begin: int, limits: Limits, calibration: Calibration | None, back: Tensor | None
) -> Iterator[tuple[int, int, float, int, float | None]]:
    # Row, column, score, rank and probability of the pairs of a batch that are within the limits.
    looked_up = limits.top if calibration is None else max(limits.top, CANDIDATES)
    found = search.best(begin, looked_up)
    scores, columns = found.scores[:, : limits.top], found.indices[:, : limits.top]  # (b, k)
    rows = torch.arange(begin, begin + len(columns), device=columns.device)[:, None].expand_as(columns)
    kept = torch.ones_like(columns, dtype=torch.bool)
    if back is not None:
        kept &= (back[columns] == rows[:, :, None]).any(dim=2)
    probable = None
    if calibration is not None:
        probable = calibration.probabilities(found.scores)[:, : limits.top]
        kept &= probable >= (limits.min_probability or 0.0)
    ranks = kept.cumsum(dim=1)  # among those kept
    probabilities = [None] * int(kept.sum()) if probable is None else probable[kept].tolist()
    parts = (rows[kept].tolist(), columns[kept].tolist(), scores[kept].tolist(), ranks[kept].tolist())
    return zip(*parts, probabilities, strict=True)
