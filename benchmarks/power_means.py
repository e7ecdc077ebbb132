"""Concatenated power means (Rueckle et al., 2018): one, two and four spaces x mean and power means.

    python benchmarks/power_means.py --spaces fr=aligned:FOLDER,bivcd:FOLDER,projection:FOLDER,x-cbow:FOLDER
        [--spaces de=...] [--encoders fr=ENCODER-FOLDER ...] [--tasks AM,AC] [--runs 20] [--out FILE.csv]

A classifier learns a task in English and is tested on the other language, as `muse evaluate --task transfer`
does. z-norm has the moments of the task's own sentences, language by language (`--fit task`). Spaces of words
that an encoder learned are those of `muse export --format space --encoder FOLDER`; the bivcd space is that of
benchmarks/bivcd.py. The combinations are the prefixes of the list: the first one, two and four. --encoders
are the trained encoders to put beside them, CVM-add among them; SIF has its weights from ranks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from kept_rows import append
from pairs import SHARED
from sentence_sets import PIVOT
from tables import header, heading, numbers, row

from muse.api.encoders import load_encoder
from muse.encoders.encoder import SentenceEncoder
from muse.evaluation.classifier import ClassifierConfig
from muse.evaluation.score import Signature
from muse.evaluation.transfer import TransferConfig, TransferScore, evaluate_transfer
from muse.files.plain_text import read_lines
from muse.progress import Progress
from muse.space import AlignedSpace, load_space

MEANS = ("mean", "power-mean[-inf,1,inf]", "power-mean[-inf,1,inf,3]")
MORE_POWERS = ("power-mean[-inf,0.5,1,inf]", "power-mean[-inf,1,2,inf]", "power-mean[-inf,0.5,1,2,3,inf]")
NOTHING = Signature("", "")
COLUMNS = (
    "language", "task", "spaces", "encoder", "d", "runs", "macro_f1", "low", "high", "in_language", "drop",
    "accuracy",
)  # fmt: skip


class Task(NamedTuple):
    """Sentences of English and of another language, by line, with a class each."""

    name: str
    texts: dict[str, list[str]]
    labels: list[str]

    @classmethod
    def read(cls, name: str, other: str, shared: Path) -> Task:
        """A task of the folder transfer."""
        folder = shared / "data" / "transfer" / name
        texts = {language: list(read_lines(folder / f"{language}.txt")) for language in (PIVOT, other)}
        return cls(name, texts, [line.strip() for line in read_lines(folder / "labels.txt")])


def made(name: str, spaces: Sequence[AlignedSpace], task: Task) -> SentenceEncoder:
    """The encoder on the spaces, corrected by the moments of the task's sentences."""
    encoder = load_encoder(name, *spaces)
    for language, sentences in task.texts.items():
        encoder = encoder.fit(sentences, language)
    return encoder


def measured(encoder: SentenceEncoder, task: Task, asked: argparse.Namespace) -> list[TransferScore]:
    """Macro-F1 and accuracy in the other language."""
    rows = {language: encoder.encode(text, language).matrix for language, text in task.texts.items()}
    other = next(language for language in rows if language != PIVOT)
    config = TransferConfig(asked.runs, ClassifierConfig(seed=asked.seed))
    rng = np.random.default_rng(asked.seed)
    return evaluate_transfer(
        rows, task.labels, {other: NOTHING}, config=config, rng=rng, progress=Progress(quiet=True)
    )


def cases(
    spaces: dict[str, AlignedSpace], trained: Sequence[Path], task: Task, asked: argparse.Namespace
) -> Iterator[tuple[str, str, SentenceEncoder]]:
    """The encoders to compare, each with the names of its spaces and its own."""
    names = list(spaces)
    chosen = [[name] for name in names] if 1 in asked.counts else []
    chosen += [names[:count] for count in asked.counts if 1 < count <= len(names)]
    first = spaces[names[0]]
    if 1 in asked.counts:
        yield names[0], "sif", load_encoder("sif", first)
    for folder in trained:
        encoder = load_encoder(folder, first)
        yield names[0], encoder.name, encoder
    for group in chosen:
        for mean in MEANS[: asked.means]:
            for norm in ("+znorm",) if asked.corrected else ("", "+znorm"):
                label, own = f"{mean}{norm}", [spaces[name] for name in group]
                yield "&".join(group), label, made(label, own, task)
    for mean in MORE_POWERS if asked.powers else ():
        yield names[0], f"{mean}+znorm", made(f"{mean}+znorm", [first], task)


def named(value: str) -> tuple[str, list[tuple[str, Path]]]:
    """The language and the folders of fr=aligned:FOLDER,bivcd:FOLDER; a folder alone is its own name."""
    language, equals, rest = value.partition("=")
    if not (language and equals and rest):
        raise argparse.ArgumentTypeError(f"expected fr=NAME:FOLDER,..., got {value!r}")
    pairs = [one.rpartition(":") for one in rest.split(",")]
    return language, [(name or Path(folder).name, Path(folder)) for name, _, folder in pairs]


def main() -> None:
    """Prints the table, and adds its rows to --out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--spaces", type=named, action="append", required=True)
    parser.add_argument("--encoders", type=named, action="append", default=[])
    parser.add_argument("--tasks", default="AM,AC")
    parser.add_argument("--means", type=int, default=len(MEANS), help="how many of the sets of powers")
    parser.add_argument("--counts", type=numbers, default=[1, 2, 4], help="of spaces, such as 1,2,4")
    parser.add_argument("--corrected", action="store_true", help="with z-norm alone")
    parser.add_argument("--powers", action="store_true", help="also p = .5, 2 and all, on the first space")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    trained = dict(asked.encoders)
    heading("Transfer from English, power means of one, two and four spaces")
    header(COLUMNS)
    for language, folders in asked.spaces:
        spaces = {name: load_space(folder) for name, folder in folders}
        own = [folder for _, folder in trained.get(language, [])]
        for task in (Task.read(name, language, asked.shared) for name in asked.tasks.split(",")):
            for group, label, encoder in cases(spaces, own, task, asked):
                f1, accuracy = measured(encoder, task, asked)
                figures = [f1.transfer.value, *f1.transfer.ci95, f1.in_language.value, f1.drop.value]
                cells = [language, task.name, group, label, encoder.dimension, asked.runs, *figures]
                cells.append(accuracy.transfer.value)
                row(cells)
                if asked.out is not None:
                    append(asked.out, [dict(zip(COLUMNS, cells, strict=True))], COLUMNS, decimals=2)


if __name__ == "__main__":
    main()
