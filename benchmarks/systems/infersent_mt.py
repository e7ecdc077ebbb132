"""InferSent across languages by translations: Rücklé et al. (2018, section 5.1), MT, TD and MT+TD.

    python -m benchmarks.systems.infersent_mt --space SPACE --work FOLDER --out FILE.csv [--lang fr,de]
        [--systems "NAME;NAME"] [--seeds 0-2] [--tasks AM,AC] [--runs 10,50] [--text given|ours]
        [--epochs 20] [--shared ../shared]

A classifier learns a task in English and is tested on the other language, as `muse evaluate --task transfer`
does, by the same random subsamples for every system. What the systems learn from:

- mean, power means: nothing; the words of the aligned space.
- InferSent: SICK's English pairs, and the other language is read by the words of the space.
- InferSent, sentences translated: the same encoder; the task's sentences are translated into English.
- InferSent MT: SICK's pairs and their translations, in the four combinations of two languages.
- InferSent TD: whether a sentence translates another, from parallel text; negatives are as long.
- InferSent MT+TD: both, with five classes; half of the batches are of parallel text.

All translations are word by word, from the space and a language model (`muse translate --lm`); the paper has
Google's. SICK has its official parts; the dev part chooses the epoch, with the held-out parallel pairs the
mean accuracy over the parts. The parallel text is that of inference_text.py. Every system is measured as it
is and z-normed by the moments of the task's own sentences. The task's sentences in the other language are
those given, or with --text ours English ones translated by the same translator, as the paper compares human
and machine translations (section 6). X-CBOW, idf and SIF, of words too, are there for that comparison. Rows
that the file has are not made again.
"""

import argparse
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.sentences.power_means import Task
from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_measures import NOTHING
from benchmarks.support.tables import commit, header, heading, numbers, row, today
from benchmarks.systems.word_by_word import Bench, infersent
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.run.seeds import TrainingStream, torch_seeded
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.ragged import passes
from muse.sentences.evaluation.classifier import ClassifierConfig
from muse.sentences.evaluation.transfer import TransferConfig, evaluate_transfer
from muse.sentences.files.nli import LABELS, read_nli
from muse.sentences.files.sentence_text import read_parallel
from muse.sentences.loading import load_encoder
from muse.sentences.systems.backbone import SpaceBackbone
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.nli.infersent import PRESETS, InferSent, TranslationExamples
from muse.sentences.systems.nli.pair_classes import (
    Inferences,
    LabelledPairs,
    PairClassifier,
    PairExamples,
    inferences_of,
)
from muse.sentences.training.pairs import draw_languages, make_pairs, read_text
from muse.sentences.training.trainer import HeldOutScore, Learner, best_epoch, train
from muse.space import load_space
from muse.vectors import Matrix

ENGLISH = "en"
POWER_MEANS = "power-mean[-inf,1,inf]"
TRANSLATED = "InferSent, sentences translated"
KEY = ("language", "text", "task", "system", "corrected", "seed", "runs")
COLUMNS = (
    *KEY, "d", "macro_f1", "low", "high", "in_language", "drop", "accuracy", "english", "english_low",
    "english_high", "dev", "commit", "date",
)  # fmt: skip
GIVEN, OURS = "given", "ours"
_CLASSES_OF_TRANSLATION = 2


class Part(NamedTuple):
    """Pairs to learn from, the number of their first class, and their share of the batches."""

    pairs: PairExamples
    first_class: int
    share: float


@dataclass(frozen=True, eq=False)
class Combination:
    """Inferences whose premises and hypotheses are in these languages."""

    pairs: Inferences
    languages: tuple[str, str]

    def __len__(self) -> int:
        return len(self.pairs)

    def training(self, rows: Tensor, generator: torch.Generator) -> LabelledPairs:
        """The training pairs with these numbers (b,)."""
        return self.pairs.training(rows, generator)

    def held_out(self) -> Iterator[LabelledPairs]:
        """The pairs of the dev part."""
        return self.pairs.held_out()


class Merged(Learner):
    """Fits a network to parts of labelled pairs: every batch is of one part, drawn by its share."""

    def __init__(self, network: InferSent, parts: Sequence[Part]) -> None:
        super().__init__()
        self.network, self.parts = network, parts
        self._begins = [0, *accumulate(len(part.pairs) for part in parts)]
        self.examples = self._begins[-1]

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """Batches of one part each, until the order (n,) is used up."""
        endless = [passes(len(part.pairs), size, generator) for part in self.parts]
        shares = {str(place): part.share for place, part in enumerate(self.parts)}
        drawn = map(int, draw_languages(shares, max(1, len(order) // size), generator))
        return [self._begins[place] + next(endless[place]) for place in drawn]

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The mean () of - log p(class)."""
        place = bisect_right(self._begins, int(rows[0])) - 1
        part = self.parts[place]
        pairs = part.pairs.training(rows - self._begins[place], generator)
        return functional.cross_entropy(self._logits(part, pairs), pairs.labels + part.first_class)

    @torch.no_grad()
    def held_out(self) -> HeldOutScore:
        """The accuracy on held-out pairs, the mean over the parts, in percent."""
        found = []
        for part in self.parts:
            right = [
                self._logits(part, one).argmax(dim=1) == one.labels + part.first_class
                for one in part.pairs.held_out()
            ]
            found.append(torch.cat(right).double())
        return HeldOutScore(sum(map(len, found)), 100 * float(np.mean([one.mean() for one in found])))

    def _logits(self, part: Part, pairs: LabelledPairs) -> Tensor:
        return self.network.logits(pairs.first, pairs.second, part.pairs.languages)


class Made(NamedTuple):
    """An encoder, its score on held-out pairs (None: it learned nothing), and whether it reads English."""

    encoder: SentenceEncoder
    dev: float | None = None
    translated: bool = False


def untrained(name: str) -> Callable[[Bench, str], Made]:
    """An encoder of the words of the space."""
    return lambda bench, _: Made(load_encoder(name, load_space(bench.asked.space)))


def english(*, translated: bool) -> Callable[[Bench, str], Made]:
    """InferSent of English inferences."""

    def made(bench: Bench, _: str) -> Made:
        trained = infersent(bench)
        encoder = load_encoder(trained.folder, load_space(bench.asked.space))
        return Made(encoder, trained.told["score"], translated)

    return made


def detection(bench: Bench, other: str) -> Made:
    """InferSent of translation detection."""
    options: list[str | Path] = ["--lang", other, "--parallel", bench.text.parallel[other]]
    trained = bench.encoder(f"detection-{other}", "infersent", [*options, "--set", "objective=td"])
    return Made(load_encoder(trained.folder, load_space(bench.asked.space)), trained.told["score"])


def merged(*, detects: bool) -> Callable[[Bench, str], Made]:
    """InferSent of inferences in four combinations of languages, and with detection."""

    def made(bench: Bench, other: str) -> Made:
        space = load_space(bench.asked.space)
        core, preset = SpaceBackbone(space), PRESETS["small"]
        parts = combinations(bench, core, other)
        if detects:
            parts.append(Part(parallel(bench, core, other), len(LABELS), float(len(parts))))
        classes = len(LABELS) + (_CLASSES_OF_TRANSLATION if detects else 0)
        config = preset.config
        with torch_seeded(bench.seed, *TrainingStream.FIRST):
            network = InferSent(core, config)
            network.head = PairClassifier(network.dimension, config.hidden, classes, config.dropout)
        trainer = replace(preset.trainer, epochs=bench.asked.epochs)
        epochs = train(Merged(network, parts), trainer, seed=bench.seed, runtime=Runtime())
        name = f"infersent[mt{'+td' if detects else ''},{other}]"
        encoder = NetworkEncoder(name, space, (ENGLISH, other), network.eval())
        return Made(encoder, best_epoch(epochs).score)

    return made


def combinations(bench: Bench, core: SpaceBackbone, other: str) -> list[Part]:
    """SICK's pairs in the four combinations of English and its translation."""
    texts = {ENGLISH: read_nli(bench.sick), other: read_nli(bench.translated(bench.sick, (ENGLISH, other)))}
    quiet = Progress(quiet=True)
    first = {name: read_text(text.premises, core.reader(name), quiet) for name, text in texts.items()}
    second = {name: read_text(text.hypotheses, core.reader(name), quiet) for name, text in texts.items()}
    return [
        Part(Combination(inferences_of(texts[ENGLISH], [first[a], second[b]], a, "cpu"), (a, b)), 0, 1.0)
        for a in texts
        for b in texts
    ]


def parallel(bench: Bench, core: SpaceBackbone, other: str) -> PairExamples:
    """Translations and negatives of the parallel text."""
    languages = (ENGLISH, other)
    pairs = make_pairs(
        read_parallel(bench.text.parallel[other], languages), [core.reader(name) for name in languages],
        rng=np.random.default_rng(bench.seed), device="cpu", progress=Progress(quiet=True),
    )  # fmt: skip
    return TranslationExamples(pairs, languages, bench.seed)


def x_cbow(bench: Bench, other: str) -> Made:
    """X-CBOW, which leaves English as it is."""
    options: list[str | Path] = ["--lang", other, "--parallel", bench.text.parallel[other]]
    trained = bench.encoder(f"x-cbow-{other}", "x-cbow", options)
    return Made(load_encoder(trained.folder, load_space(bench.asked.space)), trained.told["score"])


SYSTEMS: dict[str, Callable[[Bench, str], Made]] = {
    "mean": untrained("mean"), "power means": untrained(POWER_MEANS), "idf": untrained("idf"),
    "sif": untrained("sif"), "X-CBOW": x_cbow, "InferSent": english(translated=False),
    TRANSLATED: english(translated=True), "InferSent MT": merged(detects=False), "InferSent TD": detection,
    "InferSent MT+TD": merged(detects=True),
}  # fmt: skip
UNTRAINED = ("mean", "power means", "idf", "sif")


def rows_of(made: Made, task: Task, other: str, bench: Bench) -> dict[str, Matrix]:
    """The rows of the task's sentences in both languages, (n, d) each."""
    theirs, language = task, other
    if made.translated:
        theirs, language = task._replace(texts={ENGLISH: _translated(task, (other, ENGLISH), bench)}), ENGLISH
    return {
        ENGLISH: task.encoded(made.encoder, ENGLISH), other: theirs.encoded(made.encoder, language),
    }  # fmt: skip


def machine_made(task: Task, other: str, bench: Bench) -> Task:
    """The task with English sentences translated word by word in place of those of the other language."""
    return task._replace(texts={**task.texts, other: _translated(task, (ENGLISH, other), bench)})


def _translated(task: Task, way: tuple[str, str], bench: Bench) -> list[str]:
    path: Path = bench.asked.work / f"{task.name}.{'-'.join(way)}.txt"
    if not path.exists():
        found = bench.translations(task.texts[way[0]], way)
        path.write_text("\n".join(found) + "\n", encoding="utf-8")
    return path.read_text(encoding="utf-8").splitlines()


def normed(rows: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The rows of each language with columns of mean 0 and standard deviation 1."""
    return {name: (one - one.mean(axis=0)) / np.maximum(one.std(axis=0), 1e-6) for name, one in rows.items()}


def figures(rows: Mapping[str, Matrix], task: Task, other: str, runs: int) -> dict[str, float]:
    """Macro-F1 in the other language, in that itself, the drop, accuracy, and macro-F1 in English."""
    f1, right = evaluate_transfer(
        rows, task.labels, {other: NOTHING}, config=TransferConfig(runs, ClassifierConfig(seed=0)),
        rng=np.random.default_rng(0), progress=Progress(quiet=True),
    )  # fmt: skip
    (low, high), (english_low, english_high) = f1.transfer.ci95, f1.source.ci95
    return {
        "macro_f1": f1.transfer.value, "low": low, "high": high, "in_language": f1.in_language.value,
        "drop": f1.drop.value, "accuracy": right.transfer.value, "english": f1.source.value,
        "english_low": english_low, "english_high": english_high,
    }  # fmt: skip


def fill(name: str, other: str, seed: int, asked: argparse.Namespace) -> None:
    """Makes the rows of a system that the file lacks."""
    done = {tuple(one[key] for key in KEY) for one in read_rows(asked.out)}
    tasks = [
        (Task.read(task, other, asked.shared), runs)
        for task, runs in zip(asked.tasks.split(","), asked.runs, strict=True)
    ]
    wanted = [
        (task, runs, corrected)
        for task, runs in tasks
        for corrected in ("", "znorm")
        if (other, asked.text, task.name, name, corrected, str(seed), str(runs)) not in done
    ]
    if not wanted:
        return
    bench = Bench(asked, seed)
    made = SYSTEMS[name](bench, other)
    for task, runs, corrected in wanted:
        rows = rows_of(made, machine_made(task, other, bench) if asked.text == OURS else task, other, bench)
        found = figures(normed(rows) if corrected else rows, task, other, runs)
        cells = dict(zip(KEY, (other, asked.text, task.name, name, corrected, seed, runs), strict=True))
        whole: dict[str, object] = {
            **cells, "d": made.encoder.dimension, **found, "dev": made.dev, "commit": commit(),
            "date": today(),
        }  # fmt: skip
        append(asked.out, [whole], COLUMNS, decimals=2)
        row([whole[column] for column in COLUMNS])


def main() -> None:
    """Makes the rows that the file lacks, and prints them."""
    asked = command_line(
        __doc__, space=NEEDED, work=NEEDED, out=NEEDED, lang="fr,de", seeds="0-2", tasks="AM,AC",
        systems=(";".join(SYSTEMS), "with ; between"), text=(GIVEN, f"or {OURS}: the task's in the language"),
        runs=("10,50", "subsamples of each task"), epochs=(20, "of MT and of MT+TD, at most"),
        tatoeba=(29_000, "pairs beside the captions"), shared=SHARED,
    )  # fmt: skip
    if asked.text not in (GIVEN, OURS):
        raise SystemExit(f"--text must be {GIVEN} or {OURS}, got {asked.text}")
    asked.seeds, asked.runs = numbers(asked.seeds), numbers(asked.runs)
    torch.set_num_threads(1)
    heading("Transfer from English, InferSent by translations")
    header(COLUMNS)
    for seed in asked.seeds:
        for other in asked.lang.split(","):
            for name in asked.systems.split(";"):
                if seed == asked.seeds[0] or name not in UNTRAINED:
                    fill(name, other, seed, asked)


if __name__ == "__main__":
    main()
