"""RCSLS (Joulin et al., 2018): any linear mapping, by descent on the CSLS loss of the pairs."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.procrustes import procrustes
from muse.search.retrieval import mean_similarity

K = 10
RATES = (1.0, 5.0, 25.0)
STEPS = (4, 8, 12)
HELD_OUT = 0.2
BLOCK = 2_048
MOST = 8_000  # words of either language among which rate and steps are chosen, besides those of the pairs


class Setting(NamedTuple):
    """The learning rate and the number of steps."""

    rate: float
    steps: int


def rcsls(x: Tensor, y: Tensor, pairs: Tensor, rate: float, steps: int) -> dict[int, Tensor]:
    """The mapping W (d, d) at each of STEPS up to `steps`, from Procrustes on the same pairs (p, 2).

    Descends on -2 x W y + mean of W x over its K nearest targets + mean of y over its K nearest mapped
    sources (eq. 7) over unit rows x (n, d) and y (m, d); the rate is halved where the loss rises.
    """
    left, right = x[pairs[:, 0]], y[pairs[:, 1]]
    mapping, before, found = procrustes(left, right), float("inf"), {}
    for step in range(1, steps + 1):
        mapped = x @ mapping.T
        of_x, r_x = _neighbourhood(mapped, pairs[:, 0], y, y)
        of_y, r_y = _neighbourhood(y, pairs[:, 1], mapped, x)
        loss = float((r_x + r_y - 2 * (mapped[pairs[:, 0]] * right).sum(dim=1)).mean())
        rate, before = (rate / 2 if loss > before else rate), loss
        gradient = (of_x - 2 * right).T @ left + right.T @ of_y
        mapping = mapping - rate / len(pairs) * gradient
        if step in STEPS:
            found[step] = mapping
    return found


def _neighbourhood(queries: Tensor, chosen: Tensor, keys: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    # For the `chosen` (p,) of the queries: the mean of the `rows` (m, d) of their K nearest keys (m, d),
    # (p, d), and their mean cosine (p,). A word of several pairs is looked up once.
    words, places = map(torch.from_numpy, np.unique(chosen.numpy(), return_inverse=True))
    means, cosines = [], []
    for block in torch.split(queries[words], BLOCK):
        top = (block @ keys.T).topk(K, dim=1)
        means.append(rows[top.indices].mean(dim=1))
        cosines.append(top.values.mean(dim=1))
    return torch.cat(means)[places], torch.cat(cosines)[places]


def chosen(x: Tensor, y: Tensor, pairs: Tensor, rng: np.random.Generator) -> Setting:
    """The setting that translates most of a fifth of the words of the pairs (p, 2), held out."""
    sources = np.unique(pairs[:, 0].numpy())
    aside = rng.permutation(sources)[: round(HELD_OUT * len(sources))]
    if not len(aside):
        return Setting(RATES[0], STEPS[0])
    x, y, pairs, words = _cut(x, y, pairs, aside)
    held = torch.isin(pairs[:, 0], words)
    gold = {tuple(pair) for pair in pairs[held].tolist()}
    right = {}
    for rate in RATES:
        for steps, mapping in rcsls(x, y, pairs[~held], rate, max(STEPS)).items():
            mapped = normalize(x @ mapping.T)
            best = (2 * mapped[words] @ y.T - mean_similarity(y, mapped, k=K)).argmax(dim=1)
            found = zip(words.tolist(), best.tolist(), strict=True)
            right[Setting(rate, steps)] = sum(pair in gold for pair in found)
    return max(right, key=lambda setting: right[setting])


def _cut(
    x: Tensor, y: Tensor, pairs: Tensor, aside: NDArray[np.int64]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    # The MOST frequent words and those of the pairs, and both lists of rows by their new numbers.
    most = [torch.arange(min(MOST, len(rows))) for rows in (x, y)]
    kept = [_unique(torch.cat([most[i], pairs[:, i]])) for i in (0, 1)]
    moved = [torch.searchsorted(kept[i], pairs[:, i].contiguous()) for i in (0, 1)]
    held = torch.searchsorted(kept[0], torch.from_numpy(aside))
    return x[kept[0]], y[kept[1]], torch.stack(moved, dim=1), held


def _unique(rows: Tensor) -> Tensor:
    return torch.from_numpy(np.unique(rows.numpy()))
