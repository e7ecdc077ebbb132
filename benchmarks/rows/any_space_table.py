"""The tables of benchmarks/rows/any_space.py, from its rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from benchmarks.support.tables import header, row

Row = Mapping[str, str]
SHARE = 0.5  # of the top-1 of Procrustes with 1,000 pairs: a run at or above it has succeeded
TOOLS = {"muse": "muse", "peer": "mini-vec2vec", "procrustes": "Procrustes, 1,000 pairs"}
VERDICTS = ("aligned", "doubtful", "failed")


def pair_of(one: Row) -> tuple[str, str]:
    """The encoders of a row, or the encoder and what matches nothing."""
    return one["source"], one["target"]


def possible(rows: Iterable[Row]) -> list[Row]:
    """The rows of two encoders of the same kind of text, without those where the tool broke down."""
    return [one for one in rows if ":" not in one["target"] and one["top_1"]]


def limits(rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    """The mean top-1 of Procrustes with 1,000 pairs, by pair; it hardly depends on the number of rows."""
    found: dict[tuple[str, str], list[float]] = {}
    for one in possible(rows):
        if one["tool"] == "procrustes":
            found.setdefault(pair_of(one), []).append(float(one["top_1"]))
    return {pair: fmean(values) for pair, values in found.items()}


def succeeded(one: Row, limit: Mapping[tuple[str, str], float]) -> bool:
    """Whether a run reached half of the top-1 of Procrustes with 1,000 pairs."""
    return float(one["top_1"]) >= SHARE * limit[pair_of(one)]


def mean(rows: Sequence[Row], column: str, places: int) -> str:
    """The mean of a column, or a dash."""
    values = [float(one[column]) for one in rows if one[column]]
    return f"{fmean(values):.{places}f}" if values else "-"


def _wins(rows: Sequence[Row], limit: Mapping[tuple[str, str], float]) -> str:
    return f"{sum(succeeded(one, limit) for one in rows)} of {len(rows)}" if rows else "-"


def by_pair(rows: Sequence[Row], count: str) -> None:
    """A line a pair and tool at one number of rows a side: means over seeds, and how many succeeded."""
    limit = limits(rows)
    shown = [one for one in possible(rows) if one["rows"] == count]
    print(f"\n{int(count):,} rows a side\n")
    header(["source", "target", "tool", "top-1, %", "mean rank", "cosine", "seconds", "succeeded", "aligned"])
    for pair in dict.fromkeys(map(pair_of, shown)):
        for tool, name in TOOLS.items():
            own = [one for one in shown if pair_of(one) == pair and one["tool"] == tool]
            if not own:
                continue
            aligned = sum(one["verdict"] == "aligned" for one in own) if tool == "muse" else "-"
            figures = [mean(own, "top_1", 1), mean(own, "mean_rank", 1), mean(own, "cosine", 3)]
            wins = "-" if tool == "procrustes" or pair not in limit else _wins(own, limit)
            row([*pair, name, *figures, mean(own, "seconds", 0), wins, aligned])


def totals(rows: Sequence[Row], count: str) -> None:
    """How many runs of each tool succeeded, on the pairs and seeds that all tools were run on."""
    limit = limits(rows)
    runs = {
        tool: {
            (*pair_of(one), one["seed"]): one
            for one in possible(rows)
            if one["rows"] == count and one["tool"] == tool and pair_of(one) in limit
        }
        for tool in ("muse", "peer")
    }
    both = runs["muse"].keys() & runs["peer"].keys()
    if not both:
        return
    wins = {tool: sum(succeeded(found[key], limit) for key in both) for tool, found in runs.items()}
    print(f"\nOf {len(both)} runs that both made, muse succeeded in {wins['muse']}, "
          f"mini-vec2vec in {wins['peer']}.")  # fmt: skip


def verdicts(rows: Sequence[Row]) -> None:
    """What muse said of its runs: of those that succeeded, those that did not, and those of no match."""
    limit = limits(rows)
    groups: dict[str, Counter[str]] = {}
    for one in rows:
        if one["tool"] != "muse" or not one["verdict"]:
            continue
        if ":" in one["target"]:
            group = f"no match: {one['target'].partition(':')[2]}"
        elif pair_of(one) in limit:
            group = "succeeded" if succeeded(one, limit) else "did not succeed"
        else:
            continue
        groups.setdefault(group, Counter())[one["verdict"]] += 1
    print()
    header(["runs of muse", *VERDICTS])
    for group, counts in sorted(groups.items(), reverse=True):
        row([group, *(counts[verdict] for verdict in VERDICTS)])


def show(rows: Sequence[Row]) -> None:
    """Prints all tables."""
    for count in sorted({one["rows"] for one in possible(rows)}, key=int):
        by_pair(rows, count)
        totals(rows, count)
    verdicts(rows)
