"""A store that stays where it is: what its searches lose by mapped queries, by tool and number of pairs.

    python -m benchmarks.rows.store ROWS --out FILE.csv [--pairs minilm:mean,...] [--known 0,50,200,1000,5000]
        [--seeds 0-2] [--tools procrustes,ridge,low-rank,peer,muse] [--kinds plain,scaled,...] [--rows 5000]
    python -m benchmarks.rows.store ROWS --out FILE.csv --table
    python -m benchmarks.rows.store ROWS --out FILE.csv --gains

ROWS is the folder of any_space_rows.py. The store holds the target's rows of every other sentence; queries
are 1,000 sentences that are in no file. What is measured are the rows that they find, mapped from the source,
against those that they find natively: whether the first is the same (top-1), and the share of the ten nearest
that is kept (recall@10). Besides, 1,000 rows of the store that are in no pair are searched for with the
source's rows of the same sentences, and it is counted how often they come first (counterpart). Pairs are
drawn from the store by the seed; muse also has as many source rows of other sentences as the store has rows.

Kinds change the rows: `scaled` multiplies the source's directions by 0.1 to 10, `truncated` keeps its first
128 numbers, `quantised` rounds the store to 8 bits, `wrong` gives 1 % of the pairs another row, `chunks`
gives each row of a pair four noisy copies. `prefixes` takes the queries of an encoder NAME from
NAME-query.npy, where there is one: E5's, with the prefix of queries, while its rows have that of passages.
One row a cell is appended to FILE.csv; those there are not made again.
"""

import argparse
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.rows.store_tools import TOOLS, Given
from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.options import NEEDED, POSITIONAL, command_line
from benchmarks.support.tables import commit, header, numbers, row, today
from muse.normalise import normalise
from muse.vectors import Matrix

PAIRS = "minilm:mean,minilm:static,mean:static"
KINDS = ("plain", "scaled", "truncated", "quantised", "wrong", "chunks", "prefixes")
QUERIES, NEIGHBOURS, COPIES = 1_000, 10, 4
COLUMNS = (
    "source", "target", "kind", "rows", "known", "tool", "seed", "top_1", "top_1_error", "recall_at_10",
    "recall_at_10_error", "counterpart", "counterpart_error", "seconds", "chosen", "commit", "date",
)  # fmt: skip


class Cell(NamedTuple):
    """What one row of the results is of; `known` is the number of pairs."""

    source: str
    target: str
    kind: str
    rows: int
    known: int
    tool: str
    seed: int


class Data(NamedTuple):
    """What a tool is given, the queries of both models (q, d) and (q, e), and store rows (h,) in no pair.

    `held` (h, d) are the source's rows of the same sentences as those store rows.
    """

    given: Given
    queries: Matrix
    native: Matrix
    held: Matrix
    places: NDArray[np.int64]


def load(cell: Cell, folder: Path) -> Data:
    """The rows of a cell."""
    rng = np.random.default_rng([cell.seed, cell.known])
    source, target = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in (cell.source, cell.target))
    store = np.array(target[QUERIES + 1 :: 2][: cell.rows], np.float32)
    twins = np.array(source[QUERIES + 1 :: 2][: cell.rows], np.float32)
    others = np.array(source[QUERIES::2][: cell.rows], np.float32)
    if len(store) < cell.rows:
        raise SystemExit(
            f"{cell.rows} rows a side need {QUERIES + 2 * cell.rows} sentences, got {len(target)}"
        )
    queries, native = (
        np.array(_queries(cell, folder, name)[:QUERIES], np.float32) for name in (cell.source, cell.target)
    )
    if cell.kind == "scaled":
        scales = rng.permutation(np.geomspace(0.1, 10, source.shape[1])).astype(np.float32)
        twins, others, queries = twins * scales, others * scales, queries * scales
    elif cell.kind == "truncated":
        twins, others, queries = (rows[:, :128] for rows in (twins, others, queries))
    elif cell.kind == "quantised":
        store = np.round(store * (127 / np.abs(store).max())).astype(np.int8).astype(np.float32)
    drawn = rng.permutation(cell.rows)
    place, free = drawn[: cell.known], drawn[cell.known :][:QUERIES]
    left, right = twins[place], place.copy()
    if cell.kind == "wrong":
        wrong = rng.choice(cell.known, max(1, cell.known // 100), replace=False)
        right[wrong] = rng.integers(cell.rows, size=len(wrong))
    elif cell.kind == "chunks":
        noise = 0.3 * left.std() * rng.standard_normal((COPIES, *left.shape)).astype(np.float32)
        left, right = (left + noise).reshape(-1, left.shape[1]), np.tile(right, COPIES)
    return Data(Given(left, right, others, store), queries, native, twins[free], free)


def _queries(cell: Cell, folder: Path, name: str) -> Matrix:
    """The rows of an encoder, with its prefix of queries if the cell is of those and it has one."""
    prefixed = folder / f"{name}-query.npy"
    found = prefixed if cell.kind == "prefixes" and prefixed.exists() else folder / f"{name}.npy"
    rows: Matrix = np.load(found, mmap_mode="r")
    return rows


def neighbours(queries: Matrix, store: Matrix) -> NDArray[np.int64]:
    """The ten nearest rows (q, 10) of a store by cosine, nearest first."""
    found = normalise(queries, ["unit"])[0] @ normalise(store, ["unit"])[0].T
    some = np.argpartition(-found, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    order = np.argsort(-np.take_along_axis(found, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def measure(cell: Cell, folder: Path) -> dict[str, Any]:
    """The row of a cell."""
    data = load(cell, folder)
    native = neighbours(data.native, data.given.store)
    began = time.process_time()
    asked = np.concatenate([data.queries, data.held])
    mapped, store, chosen = TOOLS[cell.tool](data.given, asked, cell.seed)
    seconds = time.process_time() - began
    found, held = np.split(neighbours(mapped, store), [len(data.queries)])
    first = found[:, 0] == native[:, 0]
    kept = (found[:, :, None] == native[:, None, :]).sum(axis=(1, 2)) / NEIGHBOURS
    return {
        **cell._asdict(), **_percent("top_1", first), **_percent("recall_at_10", kept),
        **_percent("counterpart", held[:, 0] == data.places), "seconds": f"{seconds:.1f}", "chosen": chosen,
        "commit": commit(), "date": today(),
    }  # fmt: skip


def _percent(name: str, shares: NDArray[Any]) -> dict[str, str]:
    """The mean of shares (n,) in percent and its standard error; empty if there are none."""
    if not len(shares):
        return {name: "", f"{name}_error": ""}
    mean, error = 100 * shares.mean(), 100 * shares.std() / np.sqrt(len(shares))
    return {name: f"{mean:.2f}", f"{name}_error": f"{error:.2f}"}


def cells(asked: argparse.Namespace) -> Iterator[Cell]:
    """The cells asked for, all of one seed before the next."""
    for seed, kind, known, pair, tool in itertools.product(
        numbers(asked.seeds), asked.kinds.split(","), numbers(asked.known), asked.pairs.split(","),
        asked.tools.split(","),
    ):  # fmt: skip
        # Without pairs only these two learn, and the peer takes none.
        if (known == 0 and tool in ("muse", "peer")) or (known and tool != "peer"):
            source, target = pair.split(":")
            yield Cell(source, target, kind, asked.rows, known, tool, seed)


class Means(NamedTuple):
    """Figures of a tool, in percent, means over seeds; NaN where no row was held out."""

    top_1: float
    top_1_error: float
    recall_at_10: float
    recall_at_10_error: float
    counterpart: float

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, str]]) -> "Means":
        """The means of rows."""
        return cls(*(float(np.mean([float(one[name] or "nan") for one in rows])) for name in cls._fields))


def show(rows: Sequence[Mapping[str, str]]) -> None:
    """A line for each pair of encoders and number of pairs: what each tool finds, means over seeds.

    Where muse has some seeds, the others are shown by those.
    """
    tools = [tool for tool in TOOLS if any(one["tool"] == tool for one in rows)]
    header(["source, target", "kind", "pairs", "seeds", *tools, "muse by top-1", "by recall@10"])
    keys = dict.fromkeys((one["source"], one["target"], one["kind"], int(one["known"])) for one in rows)
    for key in sorted(keys, key=lambda one: (one[2] != "plain", one)):
        own = [one for one in rows if (one["source"], one["target"], one["kind"], int(one["known"])) == key]
        ours = {one["seed"] for one in own if one["tool"] == "muse"}
        own = [one for one in own if not ours or one["seed"] in ours]
        seeds = {one["seed"] for one in own}
        means = {name: Means.of(of) for name in tools if (of := [one for one in own if one["tool"] == name])}
        row([f"{key[0]}, {key[1]}", key[2], key[3], len(seeds), *(_shown(means.get(name)) for name in tools),
             standing(means, "top_1"), standing(means, "recall_at_10")])  # fmt: skip


def _shown(found: Means | None) -> str:
    if found is None:
        return "-"
    figures = (found.top_1, found.recall_at_10, found.counterpart)
    return ", ".join(f"{value:.1f}" for value in figures if not np.isnan(value))


def standing(means: Mapping[str, Means], name: str) -> str:
    """How a figure of muse stands to the best of the other tools less one standard error."""
    ours, others = means.get("muse"), [one for tool, one in means.items() if tool != "muse"]
    if ours is None or not others or np.isnan(getattr(ours, name)):
        return "-"
    best = max(others, key=lambda one: float(getattr(one, name)))
    gained = getattr(ours, name) - getattr(best, name)
    return f"{'at or above' if gained >= -getattr(best, f'{name}_error') else 'below'} ({gained:+.1f})"


def gains(rows: Sequence[Mapping[str, str]]) -> None:
    """A line for each pair of encoders: muse's top-1 and recall@10, less the best of the other tools.

    A figure that is below the best less one standard error has a star; the last line counts the others.
    """
    plain = [one for one in rows if one["kind"] == "plain"]
    known = sorted({int(one["known"]) for one in plain if one["tool"] == "muse" and int(one["known"])})
    header(["source, target", *(f"{count:,} pairs" for count in known)])
    held: dict[int, list[bool]] = {count: [] for count in known}
    for pair in dict.fromkeys((one["source"], one["target"]) for one in plain):
        cells = []
        for count in known:
            own = [
                one for one in plain if (one["source"], one["target"], int(one["known"])) == (*pair, count)
            ]
            found = _gained(own)
            held[count] += [level for _, level in found]
            cells.append(" / ".join(shown for shown, _ in found) or "-")
        if any(cell != "-" for cell in cells):
            row([", ".join(pair), *cells])
    row(["at or above", *(f"{sum(of)} of {len(of)}" for of in held.values())])


def _gained(rows: Sequence[Mapping[str, str]]) -> list[tuple[str, bool]]:
    """Muse's top-1 and recall@10 with what they gain on the best tool, and if that is no loss."""
    seeds = {one["seed"] for one in rows if one["tool"] == "muse"}
    means = {
        tool: Means.of(of)
        for tool in TOOLS
        if (of := [one for one in rows if one["tool"] == tool and one["seed"] in seeds])
    }
    found = []
    for name in ("top_1", "recall_at_10"):
        stands = standing(means, name)
        if stands != "-":
            level = stands.startswith("at")
            gain = stands[stands.index("(") :]
            found.append((f"{getattr(means['muse'], name):.1f} {gain}{'' if level else '*'}", level))
    return found


def main() -> None:
    """Measures the cells that are missing, or prints the table."""
    asked = command_line(
        __doc__, folder=POSITIONAL, out=NEEDED, table=(False, "show what the file has, and run nothing"),
        gains=(False, "the same for muse against the best, shorter"), pairs=(PAIRS, "of encoders"),
        known=("0,50,200,1000,5000", "numbers of pairs"), kinds=("plain", f"some of {','.join(KINDS)}"),
        rows=(5_000, "of the store, and of other source rows"), tools="procrustes,ridge,low-rank,muse",
        seeds="0-2",
    )  # fmt: skip
    if asked.table or asked.gains:
        (gains if asked.gains else show)(read_rows(asked.out))
        return
    done = {tuple(one[name] for name in Cell._fields) for one in read_rows(asked.out)}
    for cell in cells(asked):
        if tuple(map(str, cell)) not in done:
            found = measure(cell, asked.folder)
            append(asked.out, [found], COLUMNS)
            print(*(found[name] for name in COLUMNS[:-2]), flush=True)


if __name__ == "__main__":
    main()
