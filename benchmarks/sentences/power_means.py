"""Concatenated power means (Rueckle et al., 2018): one, two and four spaces x mean and power means.

    python -m benchmarks.sentences.power_means
        --spaces fr=aligned:FOLDER,bivcd:FOLDER,projection:FOLDER,x-cbow:FOLDER
        [--spaces de=...] [--encoders fr=ENCODER-FOLDER ...] [--tasks AM,AC] [--powers first|all]
        [--runs 20] [--seed 0] [--out FILE.csv]

A classifier learns a task in English and is tested on the other language, as `muse evaluate --task transfer`
does. z-norm has the moments of the task's own sentences, language by language (`--fit task`). Spaces of words
that an encoder learned are those of `muse export --format space --encoder FOLDER`; the bivcd space is that of
bivcd.py. The combinations are the prefixes of the list: the first one, two and four. --encoders
are the trained encoders to put beside them, CVM-add among them, as they are and z-normed; SIF has its weights
from ranks. --powers adds -1, 0, .5, 2, 3 and the last three to -inf, 1 and inf (table 4 of the paper), and 2
with signs kept (2s; .5 and 3 keep them anyway), on the first space or on all combinations, z-normed. Rows
that --out has are not made again.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_measures import NOTHING
from benchmarks.support.sentence_sets import PIVOT
from benchmarks.support.tables import commit, header, heading, numbers, row, today
from muse.files.plain_text import read_lines
from muse.progress import Progress
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.classifier import ClassifierConfig
from muse.sentences.evaluation.sts import difference_and_product
from muse.sentences.evaluation.transfer import TransferConfig, TransferScore, evaluate_transfer
from muse.sentences.loading import load_encoder
from muse.space import Space, load_space
from muse.vectors import Matrix

MEANS = ("mean", "power-mean[-inf,1,inf]", "power-mean[-inf,1,inf,3]")
MORE_POWERS = tuple(
    f"power-mean[-inf,1,inf,{more}]+znorm"
    for more in ("-1", "0", "0.5", "2", "2s", "3", "0.5,2,3", "0.5,2s,3")
)
KEY = ("language", "task", "spaces", "encoder", "runs", "seed")
COLUMNS = (
    *KEY[:4], "d", *KEY[4:], "macro_f1", "low", "high", "in_language", "drop", "accuracy", "commit", "date",
)  # fmt: skip


class Task(NamedTuple):
    """Sentences of English and of another language, by line, with a class each."""

    name: str
    texts: dict[str, list[str]]
    labels: list[str]

    @classmethod
    def read(cls, name: str, other: str, shared: Path) -> "Task":
        """A task of the folder transfer, or in a folder of its own; a line of pairs has both, by a tab."""
        folder = shared / "data" / "transfer" / name
        texts = {language: list(read_lines(folder / f"{language}.txt")) for language in (PIVOT, other)}
        return cls(folder.name, texts, [line.strip() for line in read_lines(folder / "labels.txt")])

    def encoded(self, encoder: SentenceEncoder, language: str) -> Matrix:
        """The rows (n, d) of the sentences, or |u - v| and u * v of pairs (n, 2 d)."""
        sides = zip(*(line.split("\t") for line in self.texts[language]), strict=True)
        rows = [encoder.encode(list(side), language).matrix for side in sides]
        return rows[0] if len(rows) == 1 else difference_and_product(*rows)


def made(name: str | Path, spaces: Sequence[Space], task: Task) -> SentenceEncoder:
    """The encoder on the spaces, corrected by the moments of the task's sentences."""
    encoder = load_encoder(name, *spaces)
    for language, lines in task.texts.items():
        encoder = encoder.fit([sentence for line in lines for sentence in line.split("\t")], language)
    return encoder


def measured(encoder: SentenceEncoder, task: Task, asked: argparse.Namespace) -> list[TransferScore]:
    """Macro-F1 and accuracy in the other language."""
    rows = {language: task.encoded(encoder, language) for language in task.texts}
    other = next(language for language in rows if language != PIVOT)
    config = TransferConfig(asked.runs, ClassifierConfig(seed=asked.seed))
    rng = np.random.default_rng(asked.seed)
    return evaluate_transfer(
        rows, task.labels, {other: NOTHING}, config=config, rng=rng, progress=Progress(quiet=True)
    )


def cases(
    spaces: dict[str, Space], trained: Sequence[Path], task: Task, asked: argparse.Namespace
) -> Iterator[tuple[str, str, Callable[[], SentenceEncoder]]]:
    """The encoders to compare: the names of the spaces of each, its own, and what makes it."""
    names = list(spaces)
    chosen = [[name] for name in names] if 1 in asked.counts else []
    chosen += [names[:count] for count in asked.counts if 1 < count <= len(names)]
    first = spaces[names[0]]
    if 1 in asked.counts:
        yield names[0], "sif", partial(load_encoder, "sif", first)
    norms = ("+znorm",) if asked.corrected else ("", "+znorm")
    for folder in trained:
        plain = load_encoder(folder, first).name
        for norm in norms:
            name = f"{folder.resolve()}{norm}" if norm else folder
            yield names[0], plain + norm, partial(made, name, [first], task)
    for group in chosen:
        own = [spaces[name] for name in group]
        labels = [f"{mean}{norm}" for mean in MEANS[: asked.means] for norm in norms]
        if asked.powers == "all" or (asked.powers == "first" and group == names[:1]):
            labels += MORE_POWERS
        for label in dict.fromkeys(labels):
            yield "&".join(group), label, partial(made, label, own, task)


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
    parser.add_argument(
        "--powers", nargs="?", const="first", choices=("first", "all"), help="also -1, 0, .5, 2, 2s, 3"
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    trained = dict(asked.encoders)
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)} if asked.out else set()
    heading("Transfer from English, power means of one, two and four spaces")
    header(COLUMNS)
    for language, folders in asked.spaces:
        spaces = {name: load_space(folder) for name, folder in folders}
        own = [folder for _, folder in trained.get(language, [])]
        for task in (Task.read(name, language, asked.shared) for name in asked.tasks.split(",")):
            for group, label, make in cases(spaces, own, task, asked):
                key = [language, task.name, group, label, asked.runs, asked.seed]
                if tuple(map(str, key)) in done:
                    continue
                encoder = make()
                found = figures(encoder, task, asked)
                cells = [*key[:4], encoder.dimension, *key[4:], *found, commit(), today()]
                row(cells)
                if asked.out is not None:
                    append(asked.out, [dict(zip(COLUMNS, cells, strict=True))], COLUMNS, decimals=2)


def figures(encoder: SentenceEncoder, task: Task, asked: argparse.Namespace) -> list[float]:
    """Macro-F1 with its interval, that in the language itself, the difference, and the accuracy."""
    f1, accuracy = measured(encoder, task, asked)
    one = f1.transfer
    return [one.value, *one.ci95, f1.in_language.value, f1.drop.value, accuracy.transfer.value]


if __name__ == "__main__":
    main()
