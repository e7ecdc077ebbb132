"""What a dictionary gives: Procrustes and RCSLS on the 5,000-word training dictionaries.

    python benchmarks/supervised.py [--pairs en-fr,fr-en] [--shared ../shared]

RCSLS (Joulin et al., 2018) relaxes the mapping to any linear one and descends on the CSLS loss itself. Its
learning rate and its number of steps are chosen on a fifth of the training words, held out, and not on the
words both are measured on. The vectors are normalised as muse does; retrieval is CSLS with k = 10.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from pairs import SHARED, Pair, find_pair
from tables import header, heading, row
from torch import Tensor
from torch.nn.functional import normalize

from muse.evaluation.words import evaluate_words
from muse.files import read_lexicon, read_vectors
from muse.normalise import Normalisation, normalise
from muse.procrustes import procrustes
from muse.search.retrieval import Retrieval, best_targets
from muse.space import AlignedSpace, Side
from muse.vectors import Vectors

K = 10
RATES = (3.0, 10.0, 25.0)
STEPS = (4, 8, 12)
HELD_OUT = 0.2
BLOCK = 2_048


@dataclass(frozen=True, eq=False)
class Languages:
    """Both languages' unit rows (n, d) and (m, d), and the training pairs (p, 2) as row numbers."""

    source: Vectors
    target: Vectors
    pairs: Tensor

    @property
    def rows(self) -> tuple[Tensor, Tensor]:
        """The rows of both as tensors."""
        return self.source.tensor(), self.target.tensor()


def load(pair: Pair) -> Languages:
    """The languages of a pair, normalised, with the pairs of its training dictionary."""
    if pair.training is None:
        raise SystemExit(f"{pair.name} has no training dictionary")
    source, target = _normalised(pair.source, pair.source_file), _normalised(pair.target, pair.target_file)
    pairs = read_lexicon(pair.training).indices(source.index, target.index)
    return Languages(source, target, torch.from_numpy(pairs))


def _normalised(language: str, path: Path) -> Vectors:
    read = read_vectors(path, language=language)
    return Vectors(language, read.words, normalise(read.matrix)[0])


def rcsls(languages: Languages, pairs: Tensor, rate: float, steps: int) -> dict[int, Tensor]:
    """The mapping W (d, d) at each of STEPS up to `steps`, from Procrustes on the same pairs.

    Descends on -2 x W y + mean of W x over its K nearest targets + mean of y over its K nearest mapped
    sources (Joulin et al., 2018, eq. 7); the rate is halved where the loss rises.
    """
    x, y = languages.rows
    left, right = x[pairs[:, 0]], y[pairs[:, 1]]
    mapping, before, found = procrustes(left, right), float("inf"), {}
    for step in range(1, steps + 1):
        mapped = x @ mapping.T
        of_x, r_x = _neighbourhood(mapped[pairs[:, 0]], y, y)
        of_y, r_y = _neighbourhood(right, mapped, x)
        loss = float((r_x + r_y - 2 * (mapped[pairs[:, 0]] * right).sum(dim=1)).mean())
        rate, before = (rate / 2 if loss > before else rate), loss
        gradient = (of_x - 2 * right).T @ left + right.T @ of_y
        mapping = mapping - rate / len(pairs) * gradient
        if step in STEPS:
            found[step] = mapping
    return found


def _neighbourhood(queries: Tensor, keys: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    # The mean of the `rows` (m, d) of each query's K nearest keys (m, d), (q, d), and their mean cosine (q,).
    means, cosines = [], []
    for block in torch.split(queries, BLOCK):
        top = (block @ keys.T).topk(K, dim=1)
        means.append(rows[top.indices].mean(dim=1))
        cosines.append(top.values.mean(dim=1))
    return torch.cat(means), torch.cat(cosines)


def chosen(languages: Languages, rng: np.random.Generator) -> tuple[float, int]:
    """The rate and the number of steps that translate most of the training words held out."""
    sources = np.unique(languages.pairs[:, 0].numpy())
    aside = torch.from_numpy(sources[rng.random(len(sources)) < HELD_OUT])
    held = torch.isin(languages.pairs[:, 0], aside)
    x, y = languages.rows
    gold = {tuple(pair) for pair in languages.pairs[held].tolist()}
    scores = {}
    for rate in RATES:
        for steps, mapping in rcsls(languages, languages.pairs[~held], rate, max(STEPS)).items():
            best = best_targets(normalize(x @ mapping.T), y, Retrieval())
            scores[rate, steps] = sum((word, int(best[word])) in gold for word in aside.tolist())
    return max(scores, key=lambda setting: scores[setting])


def measure(pair: Pair, languages: Languages, name: str, mapping: Tensor, seconds: float) -> None:
    """Prints the row of a mapping."""
    steps = Normalisation(("unit",), ())
    mapped = normalize(languages.source.tensor() @ mapping.T).numpy()
    eye = np.eye(len(mapping), dtype=np.float32)
    sides = {
        pair.source: Side(Vectors(pair.source, languages.source.words, mapped), mapping.numpy(), steps),
        pair.target: Side(languages.target, eye, steps),
    }
    space = AlignedSpace(sides, pair.target, {"method": name, "seed": 0})
    score = evaluate_words(space, read_lexicon(pair.gold[0]), rng=np.random.default_rng(0))
    low, high = score.ci95
    row([pair.name, name, f"{score.p_at_1:.2f}", f"{low:.1f}-{high:.1f}", score.p_at_5, seconds])


def main() -> None:
    """Prints both rows of every pair."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", default="en-fr,fr-en,en-de,de-en,de-fr,fr-de")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    heading("Word translation, learned from 5,000 words of a dictionary")
    header(("pair", "method", "P@1", "95 %", "P@5", "seconds"))
    for name in asked.pairs.split(","):
        pair = find_pair(name, asked.shared)
        languages = load(pair)
        began = time.perf_counter()
        x, y = languages.rows
        mapping = procrustes(x[languages.pairs[:, 0]], y[languages.pairs[:, 1]])
        measure(pair, languages, "procrustes", mapping, time.perf_counter() - began)
        began = time.perf_counter()
        rate, steps = chosen(languages, np.random.default_rng(0))
        mapping = rcsls(languages, languages.pairs, rate, steps)[steps]
        measure(pair, languages, f"rcsls, rate {rate:g}, {steps} steps", mapping, time.perf_counter() - began)


if __name__ == "__main__":
    main()
