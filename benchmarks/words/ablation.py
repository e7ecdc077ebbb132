"""P@1 of the choice without pairs, with all the evidence and without each kind of it.

    python -m benchmarks.words.ablation --spaces FOLDER --out FILE.csv [--pairs en-fr,en-it]
        [--without en-de=FILE.npz] [--shared ../shared]

FOLDER has spaces as benchmarks/words/all_evidence.py keeps them. Without a kind of evidence, all candidates
of a word get the values of its first by CSLS, so that it distinguishes none of them; the trees are the same.
By `own spelling` is meant what is added for a word that both languages spell alike.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import commit, today
from muse.evaluation.score import bootstrap_interval
from muse.files import read_lexicon
from muse.ranking.candidates import Candidates
from muse.ranking.features import KINDS, NAMES, KnownPairs, evidence_of, places_of
from muse.ranking.model import AnswerModel, read_pretrained
from muse.ranking.train_ranker import RefinedViews
from muse.space import load_space

COLUMNS = ("pair", "without", "p_at_1", "low", "high", "queries", "commit", "date")
Rows = NDArray[np.int64]


def firsts(candidates: Candidates, values: NDArray[np.float64]) -> Rows:
    """The place of the highest of the `values` (c,) of each word with candidates, (w,)."""
    order = candidates.order(values)
    return order[candidates.pointers[:-1][np.diff(candidates.pointers) > 0]]


def levelled(candidates: Candidates, evidence: NDArray[np.float32], kind: str) -> NDArray[np.float32]:
    """The evidence (c, f), with the values of the first by CSLS for all candidates of a word."""
    best = firsts(candidates, evidence[:, NAMES.index("csls")].astype(np.float64))
    of_word = np.zeros(len(candidates.words), np.int64)
    of_word[candidates.places[best]] = best
    found, columns = evidence.copy(), places_of(kind)
    found[:, columns] = evidence[of_word[candidates.places]][:, columns]
    return found


def main() -> None:
    """Measures and writes a row for each pair and kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--spaces", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--pairs", default="en-fr,en-de,en-it,web-fr-en,zhang-glove-es-en")
    parser.add_argument("--without", action="append", default=[], metavar="PAIR=FILE.npz")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    others = dict(one.split("=") for one in asked.without)
    with asked.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in asked.pairs.split(","):
            pair = find_pair(name, asked.shared)
            space = load_space(asked.spaces / f"{name}.none.0")
            source, target = space.vectors(pair.source), space.vectors(pair.target)
            words = source.words, target.words
            rows = np.asarray(source.matrix), np.asarray(target.matrix)
            trees = read_pretrained(Path(others[name])) if name in others else read_pretrained()
            drawn = np.random.default_rng(0)
            start = RefinedViews.of(words, rows, KnownPairs.none(), rng=drawn, pretrained=trees)
            candidates, evidence = evidence_of(start.refined, start.halves, np.arange(len(source)))
            model = AnswerModel.of_pretrained(trees)
            pairs = read_lexicon(pair.gold_in(asked.spaces)).indices(source.index, target.index)
            right = candidates.are(pairs, len(target))
            asked_of = np.isin(candidates.words, pairs[:, 0])
            for kind in ("nothing", *KINDS, "own spelling"):
                some = levelled(candidates, evidence, kind) if kind in KINDS else evidence
                odds = trees.log_odds(some) if kind == "own spelling" else model.log_odds(some)
                best = firsts(candidates, odds)
                hits = right[best[asked_of[candidates.places[best]]]]
                low, high = bootstrap_interval(hits, np.random.default_rng(0))
                figures = {"p_at_1": round(100 * float(hits.mean()), 1), "low": low, "high": high}
                cell = {"pair": name, "without": kind, **figures, "queries": len(hits)}
                writer.writerow(cell | {"commit": commit(), "date": today()})
                print(cell, flush=True)


if __name__ == "__main__":
    main()
