"""Encoders learned from classes of pairs: InferSent on SICK-E, translation detection, X-BiLSTM on AM.

    python -m benchmarks.systems.nli --space fr-en=FOLDER [--space de-en=FOLDER]
        [--x-cbow fr-en=ENCODER-FOLDER]
        [--table sick,detection,transfer] [--seeds 0-2] [--preset small] [--set detection.epochs=3]
        [--pairs N] [--runs 5] [--no-baselines] [--work FOLDER] [--threads N] [--shared ../shared]

SICK-E: the 4,927 pairs of the official test part. A sentence may be in several pairs, of several parts
(benchmarks/support/sick.py says how many). InferSent learns from the train part alone, the dev part chooses
its epoch, and the strength of every logistic regression on [u, v, |u - v|, u * v] of frozen rows. X-CBOW
leaves English as it is: on SICK it is the mean.

Translation detection: the 2,000 Tatoeba test pairs, as they are and with another sentence of the test as long
as the translation. The logistic regression on the mean learns from 5,000 such pairs of the training text.

Transfer: a logistic regression learned on English, tested in the other language (see muse evaluate --task
transfer). Encoders that a run has trained stay in --work, and are taken from there by the next.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.sentences.sentences import named
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import PIVOT
from benchmarks.support.sick import official
from benchmarks.support.tables import header, heading, numbers, row
from benchmarks.systems.nli_bench import Bench
from muse.evaluation.score import Signature
from muse.files.nli import Inference, read_nli
from muse.files.plain_text import read_lines
from muse.files.sentence_text import ParallelText, read_parallel
from muse.progress import Progress
from muse.run.seeds import generator_for
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.words import Lookup
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, Labels, accuracy, fitted
from muse.sentences.evaluation.transfer import TransferConfig, evaluate_transfer
from muse.sentences.loading import load_encoder
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.nli.infersent import SameLength
from muse.sentences.systems.nli.pair_classes import RowPairNetwork, pair_features
from muse.space import load_space
from muse.vectors import Matrix

Rows = tuple[Matrix, Matrix]  # those of the first and of the second sentences
NOTHING = Signature("", "")  # the table says it
LEARNED_FROM = 5_000  # pairs that the logistic regression over means learns translation detection from


def sick(benches: Sequence[Bench]) -> None:
    """Accuracy on SICK-E."""
    bench = benches[0]
    text = read_nli(official(bench.data))
    labels = np.array(text.labels)
    train, dev, test = (np.flatnonzero(np.array(text.parts) == part) for part in ("train", "dev", "test"))
    heading(f"SICK-E, accuracy on {len(test)} test pairs [95 %], {len(train)} to learn from")
    header(("encoder", "seed", "classifier", "accuracy"))

    def logistic(encoder: SentenceEncoder) -> str:
        features = _features(_both(encoder, text))
        pairs = Labelled(features, labels)
        answer = fitted(pairs.part(train), pairs.part(dev), ClassifierConfig(), accuracy)
        return bench.shown(answer(features[test]) == labels[test])

    if bench.asked.baselines:
        row(["majority", "", "", bench.shown(labels[test] == np.bincount(labels[train]).argmax())])
        premises = [text.premises[place] for place in train.tolist()]
        for name in ("mean", "sif"):
            row([name, "", "logistic", logistic(load_encoder(name, bench.space).fit(premises, PIVOT))])
    for seed in bench.asked.seeds:
        untrained, learned = (bench.infersent(seed, untrained=untrained) for untrained in (True, False))
        row([f"{untrained.name}, untrained", seed, "logistic", logistic(untrained)])
        row([learned.name, seed, "logistic", logistic(learned)])
        answers = _own(learned, _both(learned, text))
        row([learned.name, seed, "its own", bench.shown(answers[test] == labels[test])])


def detection(benches: Sequence[Bench]) -> None:
    """Accuracy of translation detection."""
    heading("Translation detection, accuracy on Tatoeba test with wrong translations as long [95 %]")
    header(("pair", "examples", "encoder", "seed", "classifier", "accuracy"))
    for bench in benches:
        text = read_parallel(bench.parallel("test"))
        chosen, truth = _doubled(text, bench)
        prefix = [f"en-{bench.other}", len(truth)]

        def told(hits: NDArray[np.bool_], *cells: object) -> None:
            row([*prefix, *cells, bench.shown(hits)])  # noqa: B023

        for encoder in [load_encoder("mean", bench.space), *bench.x_cbow()] if bench.asked.baselines else []:
            answer = _detector_of(encoder, bench)
            told(
                answer(_features(_pairs(encoder, text, chosen, bench))) == truth, encoder.name, "", "logistic"
            )
        for seed in bench.asked.seeds:
            for untrained in (True, False):
                encoder = bench.detector(seed, untrained=untrained)
                name = f"{encoder.name}{', untrained' if untrained else ''}"
                found = _own(encoder, _pairs(encoder, text, chosen, bench))
                told(found == truth, name, seed, "its own")


def transfer(benches: Sequence[Bench]) -> None:
    """Macro-F1 and accuracy on AM and AC, learned on English."""
    heading("Transfer from English, logistic regression [95 %]")
    header((
        "pair", "task", "encoder", "seed", "macro-F1 transfer", "in-language", "drop", "English", "majority",
        "accuracy transfer",
    ))  # fmt: skip
    for bench in benches:
        for name, seed, encoder in _transferred(bench):
            for task in ("AM", "AC"):
                folder = bench.data / "transfer" / task
                labels = [line.strip() for line in read_lines(folder / "labels.txt")]
                rows = {
                    language: encoder.encode(read_lines(folder / f"{language}.txt"), language).matrix
                    for language in (PIVOT, bench.other)
                }
                f1, right = evaluate_transfer(
                    rows, labels, {bench.other: NOTHING}, config=TransferConfig(bench.asked.runs),
                    rng=np.random.default_rng(0), progress=Progress(quiet=True),
                )  # fmt: skip
                row([f"en-{bench.other}", task, name, seed, f1.transfer, f1.in_language, f1.drop, f1.source,
                     f1.majority, right.transfer])  # fmt: skip


def _transferred(bench: Bench) -> Iterator[tuple[str, object, SentenceEncoder]]:
    # The encoders to compare, each with its name and its seed.
    if bench.asked.baselines:
        for encoder in (load_encoder("mean", bench.space), *bench.x_cbow()):
            yield encoder.name, "", encoder
    for seed in bench.asked.seeds:
        yield "InferSent (td), untrained", seed, bench.detector(seed, untrained=True)
        yield "InferSent (td)", seed, bench.detector(seed)
        yield "InferSent (nli), as it is", seed, bench.infersent(seed)
        yield "X-BiLSTM of it", seed, bench.x_bilstm(seed)


def _both(encoder: SentenceEncoder, text: Inference) -> Rows:
    first, second = (encoder.encode(side, PIVOT).matrix for side in (text.premises, text.hypotheses))
    return first, second


def _features(both: Rows) -> Matrix:
    found: Matrix = pair_features(*map(torch.from_numpy, both)).numpy()
    return found


@torch.no_grad()
def _own(encoder: NetworkEncoder, both: Rows) -> Labels:
    # What the encoder's own classifier says of pairs of rows.
    network = cast(RowPairNetwork, encoder.network)
    found: Labels = network.eval().classifier(*map(torch.from_numpy, both)).argmax(dim=1).numpy()
    return found


def _doubled(text: ParallelText, bench: Bench) -> tuple[Labels, Labels]:
    # For twice the pairs (2 p,), the place of the second sentence, and whether it translates the first.
    sentences = Lookup(bench.space).read(text.other, bench.other)[0].sentences
    places = torch.arange(len(sentences))
    part = SameLength.of(sentences, places, generator_for(0))
    drawn = torch.empty_like(places)
    drawn[part.rows] = part.rows[part.draw(places, generator_for(1))]
    wrong = drawn.numpy()
    alike = [
        text.other[one] == text.other[two] or text.pivot[one] == text.pivot[two]
        for one, two in enumerate(wrong.tolist())
    ]
    truth = np.concatenate([np.ones(len(sentences), np.int64), np.array(alike, np.int64)])
    return np.concatenate([places.numpy(), wrong]), truth


def _pairs(encoder: SentenceEncoder, text: ParallelText, chosen: Labels, bench: Bench) -> Rows:
    first, second = encoder.encode(text.pivot, PIVOT).matrix, encoder.encode(text.other, bench.other).matrix
    return np.concatenate([first, first]), second[chosen]


def _detector_of(encoder: SentenceEncoder, bench: Bench) -> Callable[[Matrix], Labels]:
    # A logistic regression over the pairs' features, from pairs of the training text.
    text = read_parallel(bench.parallel("train"))
    some = np.random.default_rng(0).permutation(len(text.pivot))[:LEARNED_FROM].tolist()
    part = ParallelText(*(tuple(side[place] for place in some) for side in (text.pivot, text.other)))
    chosen, truth = _doubled(part, bench)
    pairs = Labelled(_features(_pairs(encoder, part, chosen, bench)), truth)
    held_out = np.arange(len(truth)) % len(some) >= LEARNED_FROM * 9 // 10
    train, dev = (pairs.part(np.flatnonzero(which)) for which in (~held_out, held_out))
    return fitted(train, dev, ClassifierConfig(), accuracy)


TABLES = {"sick": sick, "detection": detection, "transfer": transfer}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=named, action="append", required=True)
    parser.add_argument("--x-cbow", type=named, action="append", default=[])
    parser.add_argument("--table", default=",".join(TABLES))
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--preset", default="small")
    parser.add_argument("--set", type=named, action="append", default=[], help="SYSTEM.KEY=VALUE")
    parser.add_argument("--pairs", type=int, default=1_000_000, help="of training text, at most")
    parser.add_argument("--runs", type=int, default=5, help="subsamples of transfer")
    parser.add_argument("--no-baselines", dest="baselines", action="store_false")
    parser.add_argument("--work", type=Path, default=Path("nli-encoders"))
    parser.add_argument("--threads", type=int)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    logging.basicConfig(level=logging.INFO)  # the epochs of training, on stderr
    if asked.threads:
        torch.set_num_threads(asked.threads)
    asked.work.mkdir(parents=True, exist_ok=True)
    asked.x_cbow = [(name, Path(folder)) for name, folder in asked.x_cbow]
    benches = [Bench(name, load_space(folder), asked) for name, folder in asked.space]
    for table in asked.table.split(","):
        TABLES[table](benches)


if __name__ == "__main__":
    main()
