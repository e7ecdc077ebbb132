"""Induce: a bilingual dictionary from an aligned space."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.lexicon import Lexicon, Pair
from muse.neighbours import Neighbours, nearest
from muse.retrieval import Retrieval
from muse.space import AlignedSpace

BATCH = 2_048  # source words at once: a mutual search holds (b, k, k)


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
    `max_vocab` keeps to the most frequent words of both languages.
    """
    source, target = space.direction(source, target)
    retrieval = retrieval or Retrieval()
    for name, value in (("top", top), ("max-vocab", max_vocab)):
        if value is not None and value < 1:
            raise BadSetting(f"--{name} must be at least 1, got {value}")
    x, y = (space.tensor(language)[:max_vocab] for language in (source, target))  # (n, d), (m, d)
    of_target, of_source = _biases(space, source, target, max_vocab, retrieval)
    back = nearest(y, x, top, bias=of_source, backend=retrieval.backend).indices if mutual else None  # (m, k)
    words, translations = space.vectors(source).words, space.vectors(target).words
    pairs: list[Pair] = []
    scores: list[float] = []
    for begin in range(0, len(x), BATCH):
        found = nearest(x[begin : begin + BATCH], y, top, bias=of_target, backend=retrieval.backend)
        if retrieval.method == "csls" and of_source is not None:
            # CSLS is 2 cos - r(x) - r(y), and a bias is r / 2.
            found = Neighbours(2 * (found.scores - of_source[begin : begin + BATCH, None]), found.indices)
        for row, column, score in _kept(found, begin, back):
            pairs.append((words[row], translations[column]))
            scores.append(score)
    return Lexicon(tuple(pairs), tuple(scores))


def _biases(
    space: AlignedSpace, source: str, target: str, max_vocab: int | None, retrieval: Retrieval
) -> tuple[Tensor | None, Tensor | None]:
    # Of each target (m,) and of each source (n,): the space's own unless the vocabularies are cut.
    x, y = space.tensor(source), space.tensor(target)
    if max_vocab is None or max_vocab >= max(len(x), len(y)):
        return space.bias(source, target, retrieval), space.bias(target, source, retrieval)
    x, y = x[:max_vocab], y[:max_vocab]
    return retrieval.bias(x, y), retrieval.bias(y, x)


def _kept(found: Neighbours, begin: int, back: Tensor | None) -> Iterator[tuple[int, int, float]]:
    # Row, column and score of the pairs of a batch, or of those that `back` (m, k) knows as well.
    columns = found.indices  # (b, k)
    rows = torch.arange(begin, begin + len(columns), device=columns.device)[:, None].expand_as(columns)
    kept = torch.ones_like(columns, dtype=torch.bool)
    if back is not None:
        kept = (back[columns] == rows[:, :, None]).any(dim=2)
    return zip(rows[kept].tolist(), columns[kept].tolist(), found.scores[kept].tolist(), strict=True)
