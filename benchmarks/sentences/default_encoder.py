"""What `muse encode` should take without --encoder: untrained encoders without text, on data of no table.

    python -m benchmarks.sentences.default_encoder --space fr-en=FOLDER [--space de-en=FOLDER]
        [--encoders "mean;idf;sif"] [--pairs 1500] [--shared ../shared]

Spearman's correlation on the dev part of STS-B, in each language and across, and P@1 among pairs drawn from
Tatoeba's training text, from the other language into English; no encoder is fitted.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from benchmarks.sentences.sentences import named
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_search import answered
from benchmarks.support.sentence_sets import PIVOT, Aligned, beside_english, training
from benchmarks.support.tables import header, heading, row
from muse.evaluation.score import Signature
from muse.files.sentence_text import read_rated_sentences
from muse.search.retrieval import PairScore
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.sts import evaluate_sts
from muse.sentences.loading import load_encoder
from muse.space import load_space

WAYS = (PairScore("nn"), PairScore("csls", k=10), PairScore("margin", k=4))
NAMES = "mean;idf;sif;power-mean;mean+ngrams;idf+ngrams;sif+ngrams"


def similarity(encoder: SentenceEncoder, other: str, data: Path) -> list[float]:
    """The correlations in English, in the other language, and from that to English."""
    rated = {name: read_rated_sentences(data / "sts" / f"stsb-{name}-dev.csv") for name in (PIVOT, other)}
    found = []
    for first, second in ((PIVOT, PIVOT), (other, other), (other, PIVOT)):
        x = encoder.encode(rated[first].first, first).matrix
        y = encoder.encode(rated[second].second, second).matrix
        score = evaluate_sts(
            x, y, np.array(rated[first].ratings), Signature("", ""), rng=np.random.default_rng(0)
        )
        found.append(100 * score.spearman)
    return found


def drawn(other: str, count: int, data: Path) -> Aligned:
    """Pairs of the training text, each English sentence once."""
    text = training(data, other)  # in random order
    once = {english: place for place, english in reversed(list(enumerate(text.english[:count])))}
    places = sorted(once.values())
    return Aligned(text.name, [text.other[i] for i in places], [text.english[i] for i in places])


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=named, action="append", required=True)
    parser.add_argument("--encoders", default=NAMES)
    parser.add_argument("--pairs", type=int, default=1_500)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    heading("Untrained encoders without text")
    header(("space", "encoder", "STS en", "STS other", "STS across", *(f"P@1 {way}" for way in WAYS), "mean"))
    for name, folder in asked.space:
        space = load_space(folder)
        other, data = beside_english(space), asked.shared / "data"
        pairs = drawn(other, asked.pairs, data)
        for kind in asked.encoders.split(";"):
            encoder = load_encoder(kind, space)
            hits = [100 * float(found.mean()) for found in answered(encoder, pairs, other, WAYS)]
            figures = [*similarity(encoder, other, data), *hits]
            row([name, encoder.name, *figures, float(np.mean(figures))])


if __name__ == "__main__":
    main()
