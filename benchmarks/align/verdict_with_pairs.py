"""The verdict with pairs on the runs of benchmarks/align/supervision.py, judged anew.

    python -m benchmarks.align.verdict_with_pairs --out FILE.csv
        [--runs benchmarks/results/align/supervision.csv.gz]

Each run has a P@1 on a gold list and the share of held-out words that were translated correctly. It is good
from half of the P@1 that 5,000 pairs bring on, and poor below a third. The verdict without pairs was not
recorded: each run is judged as if that had been as bad as can be (`at_least`) and as good (`at_most`).
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.tables import append_rows, commit, header, row, today
from muse.learn.supervise.cross_validation import wilson
from muse.learn.verdict import Verdict, with_pairs

RUNS = Path("benchmarks/results/align/supervision.csv.gz")
METHODS = 18  # that are tried for words
MOST_TESTED = 5_300
COLUMNS = (
    "pair", "help", "draw", "p_at_1", "of_5000", "outcome", "right", "tested", "recorded", "at_least",
    "at_most", "commit", "date",
)  # fmt: skip


def counts(run: dict[str, str]) -> tuple[int, int]:
    """The held-out words right and tested, from their share and its Wilson interval."""
    share, bounds = (
        float(run["held_out_p_at_1"]) / 100,
        (float(run["held_out_low"]), float(run["held_out_high"])),
    )

    def apart(tested: int) -> float:
        found = wilson(round(share * tested), tested)
        return sum(abs(one - other) for one, other in zip(found, bounds, strict=True))

    tested = min(range(1, MOST_TESTED), key=apart)
    return round(share * tested), tested


def judged(path: Path) -> Iterator[dict[str, Any]]:
    """The runs of muse with pairs, judged anew."""
    runs = [one for one in read_rows(path) if one["tool"] == "muse" and one["held_out_p_at_1"]]
    best = {one["pair"]: float(one["p_at_1"]) for one in runs if one["help"] == "5000"}
    for run in runs:
        share, (right, tested) = float(run["p_at_1"]) / best[run["pair"]], counts(run)
        outcome = "poor" if share < 1 / 3 else "good" if share >= 1 / 2 else "between"
        found = {"outcome": outcome, "of_5000": share, "right": right, "tested": tested}
        for name, confidence in (("at_least", 0.0), ("at_most", 1.0)):
            found[name] = with_pairs(Verdict("", confidence, 0, 0), right, tested, METHODS).label
        own = {name: run[name] for name in ("pair", "help", "draw", "p_at_1")}
        yield own | found | {"recorded": run["verdict"], "commit": commit(), "date": today()}


def main() -> None:
    """Judges every run, writes a row each and prints how many of which outcome got which verdict."""
    asked = command_line(__doc__, runs=RUNS, out=NEEDED)
    runs = list(judged(asked.runs))
    append_rows(asked.out, COLUMNS, runs)
    header(("outcome", "before", "at least", "at most", "runs"))
    found = Counter((one["outcome"], one["recorded"], one["at_least"], one["at_most"]) for one in runs)
    for kind, number in sorted(found.items()):
        row([*kind, number])


if __name__ == "__main__":
    main()
