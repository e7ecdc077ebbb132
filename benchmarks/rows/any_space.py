"""Does muse align unlabelled vectors? Two encoders of sentences and no pairs, beside other tools.

    python -m benchmarks.rows.any_space ROWS --out FILE.csv [--pairs minilm:use,...] [--rows 10000]
        [--seeds 0-4]
        [--tools muse,peer,procrustes] [--peer "PYTHON SCRIPT"] [--impossible random,shuffled,...]
        [--extra "--threads 1"] [--shared ../shared]
    python -m benchmarks.rows.any_space ROWS --out FILE.csv --table

ROWS is the folder of any_space_rows.py. The rows of space A and of space B encode different sentences; what
is measured are 8,192 other sentences that both encode: how many of A's mapped rows have their own row of B as
the nearest by cosine (top-1), its mean rank and mean cosine. Procrustes gets 1,000 pairs that the others do
not have. --impossible puts rows that match nothing in the place of B's, where only the verdict counts.

One row a cell is appended to FILE.csv; rows that are there are not made again. Where a tool breaks down,
`error` says how. muse runs as its users run it, from start to exit; --peer is another program, see
any_space_tools.py for what it is given and what it answers.
"""

import argparse
import shlex
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.rows.any_space_cells import Cell, load
from benchmarks.rows.any_space_table import show
from benchmarks.rows.any_space_tools import TOOLS, Options
from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.options import NEEDED, POSITIONAL, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, numbers, today

ENCODERS = ("minilm", "use", "e5", "static", "distilled", "mean", "glove-sif")
COLUMNS = (
    *Cell._fields, "top_1", "mean_rank", "cosine", "seconds", "verdict", "confidence", "init", "error",
    "commit", "date",
)  # fmt: skip
DECIMALS = {"top_1": 2, "mean_rank": 1, "cosine": 3, "seconds": 1, "confidence": 3}


def measure(cell: Cell, asked: argparse.Namespace, options: Options) -> dict[str, Any]:
    """The row of a cell; where a tool breaks down, its error is in the last column."""
    row: dict[str, Any] = {**cell._asdict(), "commit": commit(), "date": today()}
    data = load(cell, asked.folder, asked.shared / "data/vectors/ru.vec.gz")
    try:
        found = TOOLS[cell.tool](cell, data, options)
    except RuntimeError as error:
        return row | {"error": str(error)}
    return row | {
        name: f"{cell:.{DECIMALS[name]}f}" if isinstance(cell, float) else cell
        for name, cell in found.items()
    }


def cells(asked: argparse.Namespace, done: set[Cell]) -> Iterator[Cell]:
    """The cells asked for that are not done, all of one seed before the next."""
    for seed in numbers(asked.seeds):
        for count in numbers(asked.rows):
            for source, target in targets(asked):
                for tool in asked.tools.split(","):
                    cell = Cell(source, target, count, tool, seed)
                    if cell not in done:
                        yield cell


def targets(asked: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The pairs of encoders, or of encoders and what matches nothing."""
    kinds = asked.impossible.split(",") if asked.impossible else [""]
    for pair in asked.pairs.split(","):
        source, target = pair.split(":")
        for kind in kinds:
            yield source, f"{target}:{kind}" if kind else target


def main() -> None:
    """Measures the cells that are missing, or prints the tables."""
    asked = command_line(
        __doc__, folder=POSITIONAL, out=NEEDED, table=False,
        pairs=",".join(":".join(pair) for pair in combinations(ENCODERS, 2)), rows="10000", seeds="0-4",
        tools="procrustes,muse", peer=("", "another program, with its interpreter"), impossible="",
        extra="", shared=SHARED,
    )  # fmt: skip
    rows = read_rows(asked.out)
    if asked.table:
        show(rows)
        return
    done = {_cell(row) for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        options = Options(tuple(shlex.split(asked.peer)), tuple(shlex.split(asked.extra)), Path(folder))
        for cell in cells(asked, done):
            row = measure(cell, asked, options)
            append(asked.out, [row], COLUMNS)
            print(*(row.get(name, "") for name in COLUMNS[:-2]), flush=True)


def _cell(row: dict[str, str]) -> Cell:
    return Cell(row["source"], row["target"], int(row["rows"]), row["tool"], int(row["seed"]))


if __name__ == "__main__":
    main()
