"""A lens for a language without parallel text: what another language's lens does for it, and what text does.

    python benchmarks/lens_unseen.py --joint FOLDER --out FILE.csv [--trained fr] [--read de] [--pairs 10000]
        [--seeds 0-2] [--shared ../shared]

FOLDER is a space of three languages (muse align --src de --into SPACE). Lenses are learned from
    pairs   translations of the trained language, read on the other one as they are
    words   the same English sentences, translated into the other language word by word in the space
    text    sentences of the other language, translated into English word by word
    both    words and text together
    own     translations of the other language: what there would be with parallel text
Measured is P@1 into English on LASER's Tatoeba sentences of the other language, by cosine, CSLS and margin,
and by cosine less the mean row of each language. No sentence of the set is learned from. One row a lens and
seed is appended to FILE.csv; rows that are there are not made again.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import torch
from kept_rows import append, interval_columns, read_rows, with_interval
from lens_text import fresh_pairs, tested, write_pairs
from lens_training import lens
from pairs import SHARED
from sentence_search import answered
from sentence_sets import PIVOT, Aligned
from tables import commit, numbers, today
from translation import translated

from muse.api.encoders import load_encoder
from muse.encoders.composed import Corrected
from muse.encoders.corrections import Correction
from muse.encoders.encoder import SentenceEncoder
from muse.evaluation.score import bootstrap_interval
from muse.search.pair_score import PairScore
from muse.space import AlignedSpace, load_space

LENSES = ("pairs", "words", "text", "both", "own")
WAYS = {"nn": PairScore("nn"), "csls": PairScore("csls", k=10), "margin": PairScore("margin", k=4)}
FIGURES = (*WAYS, "centred")
COLUMNS = (
    "learned_from", "read", "seed", "pairs",
    *interval_columns(*FIGURES), "commit", "date",
)  # fmt: skip


def by_words(space: Path, source: str, target: str, sentences: Sequence[str]) -> list[str]:
    """The sentences translated by muse translate, word by word."""
    found, _ = translated(space, sentences, "--src", source, "--tgt", target)
    return list(found["lines"])


def drawn(asked: argparse.Namespace, language: str) -> list[tuple[str, str]]:
    """English sentences and their translations, none of which stands in the set that is read."""
    data = asked.shared / "data"
    test = tested(data, asked.read)
    seen = {*test.english, *test.other, *tested(data, asked.trained).english}
    return fresh_pairs(data, language, seen)[: asked.pairs]


def taught(asked: argparse.Namespace) -> dict[str, list[tuple[str, str]]]:
    """What each lens learns from: pairs of an English sentence and one of the language that is trained."""
    known, own = drawn(asked, asked.trained), drawn(asked, asked.read)
    english, other = [one for one, _ in known], [two for _, two in own]
    words = list(zip(english, by_words(asked.joint, PIVOT, asked.read, english), strict=True))
    text = list(zip(by_words(asked.joint, asked.read, PIVOT, other), other, strict=True))
    found = {"pairs": known, "words": words, "text": text, "both": [*words, *text], "own": own}
    return {name: [pair for pair in pairs if all(pair)] for name, pairs in found.items()}


def learned(
    space: AlignedSpace, pairs: Iterable[tuple[str, str]], language: str, asked: argparse.Namespace, seed: int
) -> SentenceEncoder:
    """The lens of these pairs."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_pairs(pairs, Path(folder) / "pairs.tsv")
        return lens(space, {"parallel": (path,)}, language, asked.epochs, seed)


def measured(encoder: SentenceEncoder, test: Aligned, language: str) -> dict[str, float]:
    """P@1 in percent by each way, with its interval."""
    centred: SentenceEncoder = Corrected(encoder, Correction("centre"))
    centred = centred.fit(test.other, language).fit(test.english, PIVOT)
    hits = [*answered(encoder, test, language, WAYS.values())]
    hits += answered(centred, test, language, [WAYS["nn"]])
    found: dict[str, float] = {}
    for name, right in zip(FIGURES, hits, strict=True):
        interval = bootstrap_interval(right, np.random.default_rng(0))
        found |= with_interval(name, 100 * float(right.mean()), interval)
    return found


def main() -> None:
    """Appends the rows that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--joint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--trained", default="fr")
    parser.add_argument("--read", default="de")
    parser.add_argument("--lenses", default=",".join(LENSES))
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    space, test, text = load_space(asked.joint), tested(asked.shared / "data", asked.read), taught(asked)
    done = {(one["learned_from"], one["read"], one["seed"]) for one in read_rows(asked.out)}
    for name, seed in [("mean", 0), *product(asked.lenses.split(","), numbers(asked.seeds))]:
        if (name, asked.read, str(seed)) in done:
            continue
        if name == "mean":
            encoder = load_encoder("mean", space)
        else:
            language = asked.trained if name == "pairs" else asked.read
            encoder = learned(space, text[name], language, asked, seed)
        one = {
            "learned_from": name, "read": asked.read, "seed": seed, "pairs": len(text.get(name, ())),
            **measured(encoder, test, asked.read), "commit": commit(), "date": today(),
        }  # fmt: skip
        append(asked.out, [one], COLUMNS)
        print(*one.values(), flush=True)


if __name__ == "__main__":
    main()
