"""SentEval's tasks in another language, word by word: those of table 3 of Rueckle et al. (2018).

    python -m benchmarks.sentences.translated_tasks --space SPACE --work FOLDER --lang fr
        [--tasks MR,CR,SUBJ,MPQA,SST-2,TREC,MRPC] [--sentences 2000] [--shared ../shared]

Writes FOLDER/tasks/TASK as `muse evaluate transfer` reads it (en.txt, fr.txt and labels.txt): sentences of a
task in random order, all parts of it, and what `muse translate` makes of them, with a language model of
captions and Tatoeba. A line of MRPC has both sentences, with a tab between them. The others of the package
take FOLDER/tasks/TASK as the name of a task (power_means.py, and infersent_mt.py in benchmarks/systems).
Tasks that are there are not made again; a folder is for one space.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.systems.word_by_word import Bench
from muse.sentences.files.suite_folder import ENGLISH, SuiteTask, read_suite


def drawn(task: SuiteTask, count: int) -> tuple[list[list[str]], list[str]]:
    """The sides of `count` rows of a task, in random order, and their labels."""
    rows = [
        row for part in task.parts.values() for row in zip(part.labels, *filter(None, part[:2]), strict=True)
    ]
    order = np.random.default_rng(0).permutation(len(rows))[:count].tolist()
    labels, *sides = zip(*(rows[place] for place in order), strict=True)
    return [list(side) for side in sides], list(labels)


def write(task: SuiteTask, bench: Bench, other: str) -> None:
    """Writes a task in English and in the other language, unless it is there."""
    folder: Path = bench.asked.work / "tasks" / task.name
    if (folder / f"{other}.txt").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    sides, labels = drawn(task, bench.asked.sentences)
    translations = [bench.translations(side, (ENGLISH, other)) for side in sides]
    for name, columns in (("labels", [labels]), (ENGLISH, sides), (other, translations)):
        lines = ("\t".join(cells) + "\n" for cells in zip(*columns, strict=True))
        (folder / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    print(f"{folder}: {len(labels)} rows", flush=True)


def main() -> None:
    """Writes the tasks that are missing."""
    asked: argparse.Namespace = command_line(
        __doc__, space=NEEDED, work=NEEDED, lang="fr", tasks="MR,CR,SUBJ,MPQA,SST-2,TREC,MRPC",
        sentences=(2000, "of each task, or pairs, at most"), tatoeba=(29_000, "pairs beside the captions"),
        shared=SHARED,
    )  # fmt: skip
    bench = Bench(asked, 0)
    for task in read_suite(asked.shared / "data", ENGLISH, asked.tasks.split(",")):
        write(task, bench, asked.lang)


if __name__ == "__main__":
    main()
