"""Power means within English: table 2 and figure 1 of Rueckle et al. (2018), on SentEval's tasks.

    python -m benchmarks.sentences.power_means_english --out FILE.csv
        --spaces novels:SPACE,glove:SPACE,es-en:SPACE,it-en:SPACE
        [--tasks MR,CR,SUBJ,MPQA,SST-2,TREC,MRPC] [--seeds 0] [--folds 10] [--shared ../shared]
    python -m benchmarks.sentences.power_means_english --out FILE.csv --table [--picture FILE.svg]

Each space alone, then the first two, three and four of the list: means, and power means (-inf, 1, inf), as
they are and z-normed by Multi30k's training captions. Tasks and classifier are those of senteval.py. Rows
that the file has are not made again. The table splits the gain as the paper does; the picture draws the mean
over the tasks against the dimension.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.sentences.senteval import COLUMNS, KEY, SUITE, options, suite
from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.scatter import Point, scatter
from benchmarks.support.tables import header, row
from muse.space import load_space

MEAN, POWER, ZNORM = "mean", "power-mean[-inf,1,inf]", "+znorm"
ENCODERS = {
    "power means, z-norm": POWER + ZNORM, "power means": POWER, "mean, z-norm": MEAN + ZNORM, "mean": MEAN,
}  # fmt: skip
Scores = Mapping[str, Mapping[str, float]]  # the mean over the tasks, by spaces and encoder


def combined(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each space, and the first two, three and so on."""
    yield from ((name,) for name in names)
    yield from (tuple(names[:count]) for count in range(2, len(names) + 1))


def fill(spaces: Mapping[str, Path], asked: argparse.Namespace) -> None:
    """Makes the rows that the file lacks."""
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)}
    wanted = asked.tasks.split(",")
    for seed in asked.seeds:
        for tasks in SUITE:
            for names in combined(list(spaces)):
                first, *others = names
                for label, encoder in ENCODERS.items():
                    name = f"{label}: {' & '.join(names)}"
                    left = [one for one in tasks if one in wanted and (name, one, str(seed)) not in done]
                    if left:
                        also = [(name, spaces[other]) for other in others]
                        own = argparse.Namespace(**vars(asked) | {"space": spaces[first], "also": also})
                        append(asked.out, suite(left, name, encoder, seed, own), COLUMNS)


def averages(rows: Sequence[Mapping[str, str]]) -> Scores:
    """The mean over tasks and seeds, of spaces and encoder, where all tasks are there."""
    found = defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
    for one in rows:
        label, _, names = one["encoder"].partition(": ")
        found[names][label].append(float(one["value"]))
    most = max(len(values) for by_label in found.values() for values in by_label.values())
    return {
        names: {label: fmean(values) for label, values in by_label.items() if len(values) == most}
        for names, by_label in found.items()
    }


def show(scores: Scores, sizes: Mapping[str, int]) -> None:
    """Prints the mean over the tasks by spaces and encoder, and the parts of the gain."""
    header(["spaces", "d of the mean", *ENCODERS])
    for names, found in scores.items():
        size = sum(sizes[name] for name in names.split(" & ")) if sizes else ""
        row([names, size, *(f"{found[label]:.1f}" if label in found else "" for label in ENCODERS)])
    *_, every = scores.values()
    alone = [found for names, found in scores.items() if " & " not in names]
    powers = [found["power means"] - found["mean"] for found in alone]
    parts = {
        "all spaces over the best one, means": every["mean"] - max(found["mean"] for found in alone),
        "power means over the mean of one space, least": min(powers),
        "most": max(powers),
        "of all spaces": every["power means"] - every["mean"],
        "z-norm of their power means": every["power means, z-norm"] - every["power means"],
    }
    print("\n" + "; ".join(f"{name} {value:+.1f}" for name, value in parts.items()))


def points(scores: Scores, sizes: Mapping[str, int]) -> list[Point]:
    """The mean over the tasks against the dimension; a space alone is a ring."""
    return [
        Point(
            sum(sizes[name] for name in names.split(" & ")) * (3 if "power" in label else 1), value, label,
            f"{label}: {names}, {value:.1f}", " & " in names,
        )
        for names, found in scores.items()
        for label, value in found.items()
    ]  # fmt: skip


def main() -> None:
    """Makes the rows that are missing, prints the table, and draws the picture."""
    asked = options(
        __doc__, spaces=(str, "NAME:SPACE, by commas"), tasks="MR,CR,SUBJ,MPQA,SST-2,TREC,MRPC",
        picture=(Path, "an SVG to draw"),
    )  # fmt: skip
    named = [one.split(":") for one in (asked.spaces or "").split(",") if one]
    spaces = {name: Path(path) for name, path in named}
    if not asked.table:
        fill(spaces, asked)
    sizes = {name: load_space(path).vectors("en").matrix.shape[1] for name, path in spaces.items()}
    scores = averages(read_rows(asked.out))
    show(scores, sizes)
    if asked.picture:
        drawn = scatter(points(scores, sizes), "columns", "mean over the tasks", logarithmic=True)
        asked.picture.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
