"""X-BiLSTM in training: the alignment loss beside the accuracy of inference (Conneau, 2019, figure 4.5).

    python -m benchmarks.systems.x_bilstm_epochs --space SPACE --work FOLDER --out FILE.csv [--seeds 0-2]
        [--start random,copied] [--epochs 12] [--steps 125] [--tatoeba 29000] [--shared ../shared]
    python -m benchmarks.systems.x_bilstm_epochs --out FILE.csv --table

The encoders of French and German learn to copy an English InferSent, as in inference.py, from a random start
as in the thesis, or from the weights of the English one. After every epoch of so many steps: L_align (lambda
0.25), and its first term, the mean distance of translations, on the sentences of the 160 test pairs of SICK
that are translated by hand (inference_pairs.py), and the accuracy on these pairs. The thesis has XNLI's
development part. Training never sees these sentences, and nothing is chosen by them. The correlation
of loss and accuracy is over the epochs of one training, the untrained one (0) among them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
import torch
from torch import Tensor

from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, heading, numbers, row, today
from benchmarks.systems.inference import Bench, infersent
from benchmarks.systems.inference_text import OTHERS, PIVOT
from muse.evaluation.score import bootstrap_interval
from muse.files.nli import Inference, read_nli
from muse.files.sentence_text import read_pairs
from muse.progress import Progress
from muse.run.processes import ALONE
from muse.run.runtime import Runtime
from muse.run.seeds import TrainingStream, generator_for, torch_seeded
from muse.sentences.systems.core import SpaceCore
from muse.sentences.systems.corpora import ParallelCorpus
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.nli.pair_classes import classify
from muse.sentences.systems.nli.x_bilstm import PRESETS, XBiLSTM, open_english
from muse.sentences.training.losses import Align, draw_negatives
from muse.sentences.training.pairs import make_pairs
from muse.sentences.training.trainer import Learner, train
from muse.space import AlignedSpace, load_space

KEY = ("start", "seed", "epoch", "lang")
COLUMNS = (
    *KEY, "steps", "align", "distance", "accuracy", "ci95_low", "ci95_high", "held_out_p_at_1", "commit",
    "date",
)  # fmt: skip
LOSS, FIRST_TERM = Align(0.25), Align(0.0)


class Watched(Learner):
    """A learner whose score is passed on after every epoch."""

    uses_all = False

    def __init__(self, learner: Learner, watch: Callable[[float], None]) -> None:
        super().__init__(learner.sized_by)
        self.learner, self._watch = learner, watch

    @property
    def examples(self) -> int:
        """The number of training examples."""
        return self.learner.examples

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the examples with these indices (b,)."""
        return self.learner.loss(rows, generator)

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """The batches of an epoch."""
        return self.learner.batches(order, size, generator)

    def score(self) -> float:
        """The score on held-out examples."""
        found = self.learner.score()
        self._watch(found)
        return found


class JsonScore(NamedTuple):
    """L_align and the mean distance of translations, and whether each pair's label is right."""

    align: float
    distance: float
    hits: np.ndarray[tuple[int], np.dtype[np.bool_]]


def figures(encoder: NetworkEncoder, english: Inference, text: Inference, language: str) -> JsonScore:
    """What the encoder makes of pairs and of their translations."""
    pairs = zip((*english.premises, *english.hypotheses), (*text.premises, *text.hypotheses), strict=True)
    once = list(dict.fromkeys(pairs))
    np.random.default_rng(0).shuffle(once)  # the negative of a pair is at a fixed distance from it
    ours, theirs = zip(*once, strict=True)
    x = torch.from_numpy(encoder.encode(ours, PIVOT).matrix)  # (s, d')
    y = torch.from_numpy(encoder.encode(theirs, language).matrix)
    first, second = (torch.from_numpy(np.unique(side, return_inverse=True)[1]) for side in (ours, theirs))
    negatives = draw_negatives(first, second, generator_for(0))
    answers = classify(encoder, text.premises, text.hypotheses, language, progress=Progress(quiet=True))
    align, distance = (float(loss(x, y, negatives)) for loss in (LOSS, FIRST_TERM))
    return JsonScore(align, distance, answers == np.array(text.labels))


def watched(bench: Bench, start: str) -> Iterator[dict[str, object]]:
    """The rows of one training."""
    asked, space = bench.asked, load_space(bench.asked.space)
    network = _network(bench, space, start)
    encoder = NetworkEncoder("x-bilstm", space, (PIVOT, *OTHERS), network)
    texts = {language: read_nli(path) for language, path in bench.tests.items()}
    rows: list[dict[str, object]] = []

    def watch(score: float) -> None:
        epoch = len(rows) // len(OTHERS)
        for language in OTHERS:
            align, distance, hits = figures(encoder, texts[PIVOT], texts[language], language)
            low, high = bootstrap_interval(hits, np.random.default_rng(0))
            rows.append({
                "start": start, "seed": bench.seed, "epoch": epoch, "lang": language,
                "steps": epoch * asked.steps, "align": align, "distance": distance,
                "accuracy": 100 * float(hits.mean()), "ci95_low": low, "ci95_high": high,
                "held_out_p_at_1": score, "commit": commit(), "date": today(),
            })  # fmt: skip
            row([rows[-1][column] for column in COLUMNS])

    learner = Watched(_corpus(bench, network).learner(network, LOSS, ALONE), watch)
    config = replace(PRESETS["small"].trainer, epochs=asked.epochs, steps=asked.steps, patience=asked.epochs)
    train(learner, config, seed=bench.seed, runtime=Runtime())
    return iter(rows)


def _network(bench: Bench, space: AlignedSpace, start: str) -> XBiLSTM:
    english = open_english(infersent(bench).folder, SpaceCore(space), space)
    words = {name: torch.tensor(space.vectors(name).matrix) for name in OTHERS}
    with torch_seeded(bench.seed, *TrainingStream.SECOND):
        network = XBiLSTM(english, words)
    if start == "copied":
        network.copy_english()
    return network


def _corpus(bench: Bench, network: XBiLSTM) -> ParallelCorpus:
    pairs = {
        name: make_pairs(
            read_pairs((path,)), [network.reader(PIVOT), network.reader(name)],
            rng=np.random.default_rng(bench.seed), device="cpu", progress=Progress(quiet=True),
        )
        for name, path in bench.text.parallel.items()
    }  # fmt: skip
    return ParallelCorpus(PIVOT, pairs)


def show(rows: Sequence[dict[str, str]]) -> None:
    """Prints the correlations of loss and accuracy over the epochs."""
    runs: dict[tuple[str, ...], list[list[float]]] = defaultdict(list)
    for one in rows:
        values = [float(one[name]) for name in ("align", "distance", "accuracy")]
        runs[one["start"], one["seed"], one["lang"]].append(values)
    header(["start", "seed", "lang", "epochs", "Pearson, L_align", "Spearman, L_align", "Pearson, distance",
            "Spearman, distance"])  # fmt: skip
    for key, table in runs.items():
        align, distance, accuracy = np.array(table).T
        found = [
            f"{statistic(measure, accuracy).statistic:.2f}"
            for measure in (align, distance)
            for statistic in (scipy.stats.pearsonr, scipy.stats.spearmanr)
        ]
        row([*key, len(table), *found])


def main() -> None:
    """Makes the rows that are missing, and prints the correlations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--start", default="random,copied")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--steps", type=int, default=125)
    parser.add_argument("--tatoeba", type=int, default=29_000, help="pairs beside the captions")
    parser.add_argument("--table", action="store_true", help="print the table of the rows there are")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    done = {(one["start"], one["seed"]) for one in read_rows(asked.out)}
    heading("X-BiLSTM: the alignment loss and the accuracy of inference, epoch by epoch")
    for seed in [] if asked.table else asked.seeds:
        for start in asked.start.split(","):
            if (start, str(seed)) not in done:
                header(COLUMNS)
                append(asked.out, watched(Bench(asked, seed), start), COLUMNS, decimals=3)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
