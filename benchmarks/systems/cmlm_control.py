"""CMLM against a masked language model of the same size, steps and text, and its choices one by one.

    python -m benchmarks.systems.cmlm_control --space FOLDER
        [--variants "cmlm;mlm;shuffled;n=1;n=15;skip;projected"]
        [--strategies "joint;sequential;staged"] [--seeds 0] [--epochs 6] [--paragraphs N] [--novels N]
        [--pairs N] [--out FILE.csv] [--threads 1] [--shared ../shared]

Every variant is trained on the neighbours of the same novels with the same seed, batches and steps: `mlm`
predicts the same words without a neighbour, `shuffled` learns beside the neighbour of another passage, `n`
is the number of projections, `skip` reads them at the head too, `projected` takes their mean as the vector
of a sentence. --strategies trains on translations too (S1, S2, S3 of the paper are joint, sequential and
staged); a stage that is left out is not made up for in steps. `untrained` is the network before it learns.

Measured: Spearman's correlation on STS-B (English, French and across), on SICK's test part by the regression
learned of the others, accuracy of argument mining in English and from English into French, probes of English,
P@1 of French sentences among English ones. Sentence vectors are taken as they are.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.sentences.power_means import Task, measured
from benchmarks.support.kept_rows import append
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_measures import NOTHING, answered, read_out, sides_of, similarity
from benchmarks.support.sentence_sets import PIVOT, retrieval_sets, training
from benchmarks.support.sick import official, related
from benchmarks.support.tables import header, heading, numbers, row
from benchmarks.systems.cmlm_bench import Bench, job, part_novels, write_pairs
from muse.search.retrieval import PairScore
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.classifier import ClassifierConfig
from muse.sentences.evaluation.probing import ONE_LANGUAGE
from muse.sentences.evaluation.sts import RatedRows, evaluate_relatedness
from muse.sentences.loading import load_encoder
from muse.sentences.systems.cmlm.cmlm_system import prepare
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.space import load_space

VARIANTS: dict[str, dict[str, object]] = {
    "cmlm": {}, "mlm": {"objective": "mlm"}, "mlm15": {"objective": "mlm", "share": 0.15},
    "shuffled": {"neighbour": "shuffled"}, "n=1": {"projections": 1}, "n=15": {"projections": 15},
    "skip": {"skip": True}, "projected": {"vector": "projected"},
}  # fmt: skip
TASKS = ("AM", "AC")
COLUMNS = (
    "variant", "seed", "sts_en", "sts_fr", "sts_fr_en", "sick_r", "am_en", "am_fr", "ac_en", "ac_fr",
    "length", "content", "order", "p_at_1", "masked_accuracy",
)  # fmt: skip


class Data(NamedTuple):
    """What encoders are measured on."""

    bench: Bench
    asked: argparse.Namespace

    def figures(self, encoder: SentenceEncoder) -> list[float | str]:
        """The figures of an encoder, in the order of the columns."""
        found: list[float | str] = [*self._similarity(encoder), self._relatedness(encoder)]
        found += [figure for name in TASKS for figure in self._transfer(encoder, name)]
        (hits,) = answered(encoder, self._retrieval(), self.bench.other, [PairScore("nn")])
        return [*found, *self._probes(encoder), 100 * float(hits.mean())]

    def _transfer(self, encoder: SentenceEncoder, name: str) -> tuple[float | str, float | str]:
        if name not in self.asked.tasks.split(","):
            return "", ""
        task = Task.read(name, self.bench.other, self.asked.shared)
        _, accuracy = measured(encoder, task, self.asked)
        return accuracy.source.value, accuracy.transfer.value

    def _retrieval(self) -> Any:
        return retrieval_sets(self.bench.data, self.bench.other)[0]

    def _similarity(self, encoder: SentenceEncoder) -> Iterator[float]:
        for sides in sides_of(self.bench.other):
            yield 100 * similarity(encoder, self.bench.data, sides).spearman

    def _relatedness(self, encoder: SentenceEncoder) -> float:
        path, rows = official(self.bench.data), []
        for rated in (related(path, part) for part in ("train", "test")):
            x, y = (encoder.encode(side, PIVOT).matrix for side in (rated.first, rated.second))
            rows.append(RatedRows(x, y, np.array(rated.ratings)))
        score = evaluate_relatedness(rows[0], rows[1], NOTHING, rng=np.random.default_rng(0))
        return 100 * score.spearman

    def _probes(self, encoder: SentenceEncoder) -> Iterator[float]:
        sentences = self.bench.text.english[-20_000:]
        for make in ONE_LANGUAGE.values():
            task = make(sentences, PIVOT, 3_000, np.random.default_rng(0))
            yield read_out(encoder, task, ClassifierConfig(seed=0)).accuracy


def trained(bench: Bench, seed: int, settings: dict[str, object], translations: bool) -> Iterator[Any]:
    """The encoder before training and after it, each with its masked accuracy on held-out novels."""
    made = prepare(job(bench, seed, settings))
    encoder = NetworkEncoder("cmlm", bench.space, (bench.other, PIVOT), made.model.encoder)
    yield encoder, ""
    for stage in made.stages if translations else ("cmlm",):
        made.stage(stage)
    yield encoder, made.learners["cmlm"].eval().held_out().score


def main() -> None:
    """Prints a row for every variant, and adds it to --out."""
    asked = command_line(
        __doc__, space=NEEDED, variants="cmlm;mlm;shuffled;n=1;n=15;skip;projected", strategies="", seeds="0",
        seed=(0, "of the classifiers"), epochs=int, batch=int, rate=float, set=REPEATED, novels=3,
        paragraphs=int, pairs=(int, "of translations; all unless given"), threads=1, shared=SHARED, out=Path,
        tasks=("AM,AC", "of argument mining; none is quick"), runs=(5, "subsamples of argument mining"),
    )  # fmt: skip
    torch.set_num_threads(asked.threads)
    space = load_space(asked.space)
    other = next(name for name in space.languages if name != PIVOT)
    heading("CMLM against MLM, and the choices of CMLM")
    header(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(space, other, Path(folder), asked, training(asked.shared / "data", other))
        write_pairs(bench)
        for name in (other, PIVOT):
            part_novels(bench, name)
        data = Data(bench, asked)
        keep([*("mean", ""), *data.figures(load_encoder("mean", space)), ""], asked.out)
        for seed in numbers(asked.seeds):
            for label, settings, translations in chosen(asked):
                states = trained(bench, seed, settings, translations)
                encoder, nothing = next(states)
                if label == "cmlm":
                    keep(["untrained", seed, *data.figures(encoder), nothing], asked.out)
                encoder, accuracy = next(states)
                keep([label, seed, *data.figures(encoder), accuracy], asked.out)


def chosen(asked: argparse.Namespace) -> Iterator[tuple[str, dict[str, object], bool]]:
    """The variants and strategies to train: their names, their settings, whether with translations."""
    for name in filter(None, asked.variants.split(";")):
        yield name, VARIANTS[name], False
    for name in filter(None, asked.strategies.split(";")):
        yield name, {"strategy": name}, True


def keep(cells: list[Any], path: Path | None) -> None:
    """Prints a row and adds it to a CSV file, with the columns in a new one."""
    row(cells)
    sys.stdout.flush()
    if path is not None:
        append(path, [dict(zip(COLUMNS, cells, strict=True))], COLUMNS, decimals=2)


if __name__ == "__main__":
    main()
