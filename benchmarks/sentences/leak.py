"""What SICK's shared sentences are worth: SICK-E by parts of the number, and by its official parts.

    python -m benchmarks.sentences.leak --space SPACE --out FILE.csv
        [--encoder NAME=ENCODER ...] [--infersent FOLDER --seeds 0-2] [--shared ../shared]

A logistic regression on [u, v, |u - v|, u * v] of frozen vectors learns from a train part, and its dev part
chooses the strength. By the last digit of the number (7: dev, 8 and 9: test) both sentences of most test
pairs are learned; the official test part is shown as a whole, and by how many sentences of a pair were
learned. With --infersent an InferSent is trained on the train part of each split, its epoch chosen by the dev
part, and kept in FOLDER.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.support.kept_rows import Row, append, with_interval
from benchmarks.support.pairs import SHARED
from benchmarks.support.sick import COLUMNS as OF_SICK
from benchmarks.support.sick import official
from benchmarks.support.tables import commit, header, muse, numbers, row, today
from muse.evaluation.score import bootstrap_interval
from muse.files.nli import Inference, read_nli
from muse.files.plain_text import read_lines
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, accuracy, fitted
from muse.sentences.loading import load_encoder
from muse.sentences.systems.nli.pair_classes import pair_features
from muse.space import load_space

COLUMNS = (
    "encoder", "split", "tested_on", "pairs", "accuracy", "accuracy_low", "accuracy_high", "majority",
    "commit", "date",
)  # fmt: skip
Places = NDArray[np.int64]


def splits(path: Path, text: Inference) -> Iterator[tuple[str, NDArray[np.str_]]]:
    """The part of each pair: by the last digit of its number, and the official one."""
    _, *lines = read_lines(path)
    digits = [line.partition("\t")[0][-1] for line in lines]
    yield "by number", np.array(["dev" if d == "7" else "test" if d in "89" else "train" for d in digits])
    yield "official", np.array(text.parts)


def tested(text: Inference, parts: NDArray[np.str_]) -> Iterator[tuple[str, Places]]:
    """The places of the test pairs: all, and by how many of their sentences are in the train part."""
    sides = np.array([text.premises, text.hypotheses])  # (2, p)
    learned = np.isin(sides, sides[:, parts == "train"]).sum(axis=0)
    yield "all", np.flatnonzero(parts == "test")
    for count, name in enumerate(("neither learned", "one learned", "both learned")):
        yield name, np.flatnonzero((parts == "test") & (learned == count))


def infersent(path: Path, split: str, parts: Sequence[str], seed: int, asked: argparse.Namespace) -> Path:
    """The folder of an InferSent of the train part of a split, trained if it is not there."""
    folder: Path = asked.infersent / f"{split.replace(' ', '-')}.{seed}"
    if not folder.exists():
        asked.infersent.mkdir(parents=True, exist_ok=True)
        named = {"train": "TRAIN", "dev": "TRIAL", "test": "TEST"}
        _, *lines = read_lines(path)
        cut = (line.rpartition("\t")[0] for line in lines)
        rows = ["\t".join(OF_SICK), *(f"{line}\t{named[p]}" for line, p in zip(cut, parts, strict=True))]
        text = asked.infersent / f"{split.replace(' ', '-')}.txt"
        text.write_text("\n".join(rows) + "\n", encoding="utf-8")
        muse("train", asked.space, "--encoder", "infersent", "--lang", "en", "--nli", text,
             "--seed", str(seed), "--threads", "1", "--out", folder)  # fmt: skip
    return folder


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    """A row for each encoder, split, and kind of test pairs."""
    path = official(asked.shared / "data")
    text, space = read_nli(path), load_space(asked.space)
    labels = np.array(text.labels)
    seeds = asked.seeds if asked.infersent else []
    named: list[tuple[str, str | int]] = [one.partition("=")[::2] for one in asked.encoder]
    for name, made in [*named, *((f"InferSent, seed {seed}", seed) for seed in seeds)]:
        for split, parts in splits(path, text):
            encoder = infersent(path, split, parts.tolist(), made, asked) if isinstance(made, int) else made
            opened = load_encoder(encoder, space)
            both = (
                torch.from_numpy(opened.encode(side, "en").matrix)
                for side in (text.premises, text.hypotheses)
            )
            pairs = Labelled(pair_features(*both).numpy(), labels)
            train, dev = (pairs.part(np.flatnonzero(parts == part)) for part in ("train", "dev"))
            answer = fitted(train, dev, ClassifierConfig(), accuracy)
            for kind, places in tested(text, parts):
                if not len(places):
                    continue
                hits = answer(pairs.rows[places]) == labels[places]
                interval = bootstrap_interval(hits, np.random.default_rng(0))
                yield {
                    "encoder": name, "split": split, "tested_on": kind, "pairs": len(places),
                    **with_interval("accuracy", 100 * float(hits.mean()), interval),
                    "majority": 100 * float(np.bincount(labels[places]).max()) / len(places),
                    "commit": commit(), "date": today(),
                }  # fmt: skip


def main() -> None:
    """Appends the rows to the file, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--encoder", action="append", default=[], metavar="NAME=ENCODER")
    parser.add_argument("--infersent", type=Path, metavar="FOLDER")
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--shared", type=Path, default=SHARED)
    found = list(rows(parser.parse_args()))
    append(parser.parse_args().out, found, COLUMNS)
    header(COLUMNS[:7])
    for one in found:
        row([one[name] for name in COLUMNS[:7]])


if __name__ == "__main__":
    main()
