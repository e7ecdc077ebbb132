"""What help is worth: muse and other tools with no pairs, identical strings, few pairs, many, wrong ones.

    python -m benchmarks.align.supervision --out FILE.csv [--pairs en-fr,en-ru] [--help-given none,25,5000]
        [--draws 0-2] [--tools muse,procrustes,rcsls,vecmap-supervised] [--jobs 1] [--shared ../shared]
        [--vecmap CHECKOUT] [--contrastive CHECKOUT] [--extra "--threads 1"]
    python -m benchmarks.align.supervision --out FILE.csv --table

One row a cell is appended to FILE.csv; rows that are there are not made again (delete one to repeat it; where
a tool broke down, `setting` has its error). Every tool gets the same pairs (see draws.py) and is measured on
the same test words, by CSLS with k = 10. The seconds of muse are a user's, from start to exit; those of the
others leave out reading the vectors. RCSLS chooses its rate and its steps on a fifth of the pairs, held out.
`hits` has for each covered test word, in the vectors' order, whether it is translated rightly, as the bits
of a hexadecimal number.

VecMap's self-learning takes hours for 30,000 words of 300 dimensions: with --iterations it is stopped after a
few, and the row has the seconds it needs at least. ContrastiveBLI's stage C1 takes hours with 5,000 pairs.
"""

import argparse
import os
import shlex
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.align.supervision_cells import Cell, applies, task
from benchmarks.align.supervision_table import show
from benchmarks.align.supervision_tools import TOOLS, Options
from benchmarks.support.draws import HELP, has_draws
from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import append_rows, commit, numbers, today

PAIRS = "en-fr,en-de,en-it,en-ru,ru-en,web-fr-en,zhang-glove-es-en,zhang-glove-it-en"
COLUMNS = (
    "pair", "help", "draw", "tool", "pairs", "p_at_1", "p_at_1_low", "p_at_1_high", "se", "covered",
    "coverage", "seconds", "init", "verdict", "confidence", "setting", "held_out_p_at_1",
    "held_out_low", "held_out_high", "chance", "commit", "date", "hits",
)  # fmt: skip


class Place(NamedTuple):
    """Where the data are, a folder for files in between, and the options of the tools."""

    shared: Path
    folder: Path
    options: Options


def measure(cell: Cell, place: Place) -> dict[str, Any]:
    """The row of a cell; where a tool breaks down, its error is in the column of the setting."""
    asked = task(cell, place.shared, place.folder)
    row: dict[str, Any] = {**cell._asdict(), "pairs": asked.lines}
    row |= {"commit": commit(), "date": today()}
    try:
        found = TOOLS[cell.tool](asked, place.options)
    except RuntimeError as error:
        return row | {"setting": str(error)}
    row |= {"seconds": round(found.seconds, 1), **found.columns}
    if found.score is None:
        return row
    score, (low, high) = found.score, found.score.ci95
    hits = np.array(list(score.correct.values()), bool)
    row |= {"p_at_1": round(score.p_at_1, 2), "p_at_1_low": round(low, 2), "p_at_1_high": round(high, 2)}
    row |= {"se": round(100 * float(hits.std()) / len(hits) ** 0.5, 2), "covered": score.covered}
    return row | {"coverage": round(score.coverage, 4), "hits": np.packbits(hits).tobytes().hex()}


def cells(asked: argparse.Namespace, done: set[Cell]) -> Iterator[Cell]:
    """The cells asked for that are not done, one pair after the other."""
    pairs, helps, tools = (text.split(",") for text in (asked.pairs, asked.help_given, asked.tools))
    for pair, draw, help_, tool in product(pairs, numbers(asked.draws), helps, tools):
        cell = Cell(pair, help_, draw, tool)
        if applies(tool, help_) and (draw == 0 or has_draws(help_)) and cell not in done:
            yield cell


def _run(cell: Cell, place: Place) -> dict[str, Any]:
    folder = place.folder / str(os.getpid())  # what is made of a pair is kept for its next cell
    folder.mkdir(exist_ok=True)
    return measure(cell, place._replace(folder=folder))


def main() -> None:
    """Measures the cells that are missing, or prints the table."""
    asked = command_line(
        __doc__, out=NEEDED, table=False, pairs=PAIRS, help_given=",".join(HELP), draws="0-2",
        tools="muse,procrustes,rcsls", jobs=1, shared=SHARED, vecmap=Path, contrastive=Path,
        iterations=(int, "stop VecMap after so many, and note its seconds"), extra="",
    )  # fmt: skip
    rows = read_rows(asked.out)
    if asked.table:
        show(rows)
        return
    done = {Cell(row["pair"], row["help"], int(row["draw"]), row["tool"]) for row in rows}
    options = Options(asked.vecmap, asked.contrastive, tuple(shlex.split(asked.extra)), asked.iterations)
    missing = list(cells(asked, done))
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(asked.jobs) as pool:
        place = Place(asked.shared, Path(folder), options)
        for row in pool.map(_run, missing, [place] * len(missing)):
            append_rows(asked.out, COLUMNS, [row])


if __name__ == "__main__":
    main()
