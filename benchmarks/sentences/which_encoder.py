"""Which sentence encoder: what each costs, to train and a sentence, and what it is worth, in one table.

    python -m benchmarks.sentences.which_encoder --space FOLDER --work FOLDER --out FILE.csv
        [--rows "mean;sif;..."]
        [--shared ../shared]

`muse encode` without training, `muse train` with its defaults, and models of sentences that others trained on
much more: any_space_encoders.py says from which packages these come; they are measured where these are
installed. Spearman's correlation is that of STS-B's test part, in English and from the other language to
English; P@1 is of LASER's Tatoeba sentences that do not stand in the training text, into English. Speed is
that of one thread on sentences that the encoder sees for the first time. The trained encoders go to --work.

One row an encoder is appended to FILE.csv; rows that are there are not made again. Models of English alone
have no figures across languages.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks.rows import any_space_encoders
from benchmarks.rows.any_space_rows import encoded
from benchmarks.support.kept_rows import append, interval_columns, read_rows, with_interval
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_measures import NOTHING, TAUGHT
from benchmarks.support.sentence_sets import PIVOT, Aligned, beside_english, retrieval_sets, training
from benchmarks.support.tables import commit, muse, today
from muse.evaluation.ratings import read_rated
from muse.evaluation.score import bootstrap_interval
from muse.search.retrieval import PairScore
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.retrieval import Queries, different, sentence_ranks
from muse.sentences.evaluation.sts import evaluate_sts
from muse.sentences.loading import load_encoder
from muse.space import Space, load_space
from muse.vectors import Matrix

UNTRAINED = ("mean", "idf", "sif", "power-mean")
TRAINED = ("x-cbow", "projection", "lens", "sp")
# Of English alone, or of several languages.
PUBLISHED = {"static": False, "distilled": False, "minilm": False, "use": True, "e5": True}
WAYS = {"p_at_1": PairScore("nn"), "p_at_1_csls": PairScore("csls", k=10)}
COLUMNS = (
    "encoder", "kind", "dimension", "training_s", "sentences_per_s",
    *interval_columns("sts_en", "sts_across", *WAYS), "commit", "date",
)  # fmt: skip
LEAST_SECONDS = 2.0  # that the speed is measured for


@dataclass(frozen=True)
class Encoder:
    """An encoder of any make, what it is called and how long it took to train; None: others did."""

    name: str
    kind: str
    languages: tuple[str, ...]
    inside: SentenceEncoder | any_space_encoders.Encode
    training_s: float | None = None

    def rows(self, sentences: Sequence[str], language: str) -> Matrix:
        """The rows (s, d) of sentences in a language."""
        if callable(self.inside):
            return encoded(self.inside, sentences)
        return self.inside.encode(sentences, language).matrix


def made(name: str, space: Space, text: Aligned, asked: argparse.Namespace) -> Encoder:
    """The encoder of that name, after its training."""
    languages = (beside_english(space), PIVOT)
    if name in PUBLISHED:
        several = PUBLISHED[name]
        inside = getattr(any_space_encoders, name)(asked.work)
        return Encoder(name, "published", languages if several else (PIVOT,), inside)
    if name in TRAINED:
        pairs = asked.shared / f"data/parallel/tatoeba.en-{languages[0]}.train.tsv.gz"
        folder = asked.work / name
        run = muse("train", asked.space, "--lang", languages[0], "--parallel", pairs, "--encoder", name,
                   "--out", folder, "--threads", "1")  # fmt: skip
        return Encoder(name, "trained", languages, load_encoder(folder, space), run.seconds)
    began = time.perf_counter()
    encoder = load_encoder(name, space)
    for language, sentences in zip(languages, (text.other, text.english), strict=True):
        encoder = encoder.fit(sentences[:TAUGHT], language)
    return Encoder(name, "untrained", languages, encoder, time.perf_counter() - began)


def speed(encoder: Encoder, sentences: Sequence[str]) -> float:
    """English sentences a second, each seen for the first time, in batches that grow until they take long."""
    begin, count = 0, 500
    while begin < len(sentences):
        batch = sentences[begin : begin + count]
        began = time.perf_counter()
        encoder.rows(batch, PIVOT)
        taken = time.perf_counter() - began
        if taken >= LEAST_SECONDS:
            break
        begin, count = begin + count, 2 * count
    return len(batch) / taken


def similarity(encoder: Encoder, data: Path) -> dict[str, float]:
    """Spearman's correlation x 100 on STS-B's test part, and its interval."""
    rated = {one: read_rated(data / f"sts/stsb-{one}-test.csv") for one in encoder.languages}
    pairs = {"sts_en": (PIVOT, PIVOT), "sts_across": (encoder.languages[0], PIVOT)}
    found: dict[str, float] = {}
    for name, (first, second) in list(pairs.items())[: len(encoder.languages)]:
        x, y = encoder.rows(rated[first].first, first), encoder.rows(rated[second].second, second)
        ratings = np.array(rated[first].ratings)
        score = evaluate_sts(x, y, ratings, NOTHING, rng=np.random.default_rng(0))
        found |= with_interval(name, score.spearman, score.spearman_ci95, times=100)
    return found


def translations(encoder: Encoder, unseen: Aligned) -> dict[str, float]:
    """P@1 in percent among all English sentences, and its interval; nothing for English alone."""
    if len(encoder.languages) == 1:
        return {}
    targets, gold = different(unseen.english)
    queries = Queries(encoder.rows(unseen.other, encoder.languages[0]), encoder.rows(targets, PIVOT), gold)
    found: dict[str, float] = {}
    for name, way in WAYS.items():
        right = sentence_ranks(queries, way) == 1
        interval = bootstrap_interval(right, np.random.default_rng(0))
        found |= with_interval(name, 100 * float(right.mean()), interval)
    return found


def unseen_part(data: Path, text: Aligned, language: str) -> Aligned:
    """LASER's sentences of which neither side stands in the training text."""
    laser = retrieval_sets(data, language)[0]
    places = np.flatnonzero(laser.unseen(text)).tolist()
    return Aligned(laser.name, [laser.other[i] for i in places], [laser.english[i] for i in places])


def main() -> None:
    """Appends the rows that are missing."""
    asked = command_line(
        __doc__, space=NEEDED, work=NEEDED, out=NEEDED, rows=";".join([*UNTRAINED, *TRAINED, *PUBLISHED]),
        shared=SHARED,
    )  # fmt: skip
    torch.set_num_threads(1)
    asked.work.mkdir(parents=True, exist_ok=True)
    space, data = load_space(asked.space), asked.shared / "data"
    text = training(data, beside_english(space))
    test = unseen_part(data, text, beside_english(space))
    done = {one["encoder"] for one in read_rows(asked.out)}
    for name in asked.rows.split(";"):
        if name in done:
            continue
        encoder = made(name, space, text, asked)
        one = {
            "encoder": name, "kind": encoder.kind, "training_s": encoder.training_s,
            "dimension": encoder.rows(test.english[:1], PIVOT).shape[1],
            "sentences_per_s": round(speed(encoder, text.english)),
            **similarity(encoder, data), **translations(encoder, test), "commit": commit(), "date": today(),
        }  # fmt: skip
        append(asked.out, [one], COLUMNS)
        print(*one.values(), flush=True)


if __name__ == "__main__":
    main()
