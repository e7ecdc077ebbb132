"""The order of systems in the suite beside that of the papers: Kendall's tau of each paper's systems.

    python -m benchmarks.sentences.suite_papers --rows FILE.csv

For each paper, the systems that it shares with FILE.csv (made by senteval.py and suite_systems.py) and the
tasks that both have of all of these: tau of the means over the tasks, and of each task. Below them, of each
task the widest half of a 95 % interval.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from scipy.stats import kendalltau

from benchmarks.sentences.senteval import ORDER, YEARS
from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.tables import header, row

Figures = Mapping[str, float]
_THESIS = ("MR", "CR", "SUBJ", "MPQA", "SST-2", "TREC", "MRPC", "SICK-R", "SICK-E", "STS14")
_POWER_MEANS = ("MR", "CR", "SUBJ", "MPQA", "SST-2", "TREC")
_LENS = (*_POWER_MEANS, "MRPC")
_CMLM = (*_LENS, "SICK-E", "SICK-R")


def _rows(tasks: Sequence[str], figures: Mapping[str, Sequence[float]]) -> Mapping[str, Figures]:
    return {name: dict(zip(tasks, values, strict=True)) for name, values in figures.items()}


PAPERS: Mapping[str, Mapping[str, Figures]] = {
    # fastText's mean stands for ours.
    "thesis, table 3.7": _rows(_THESIS, {
        "mean": (78.3, 81.0, 92.4, 87.8, 81.9, 84.8, 73.9, 81.5, 78.3, 63),
        "InferSent, untrained": (77.5, 81.3, 89.6, 88.7, 80.7, 85.8, 73.2, 86.0, 83.4, 39),
        "InferSent, inferences": (79.9, 84.6, 92.1, 89.8, 83.3, 88.7, 75.1, 88.5, 86.3, 68),
    }),
    "power means, table 2": _rows(_POWER_MEANS, {
        "mean": (77.1, 78.3, 91.3, 87.9, 80.2, 83.4),
        "sif": (77.3, 78.6, 90.5, 87.0, 80.7, 78.0),
        "power means": (76.9, 78.6, 92.1, 87.4, 80.3, 85.6),
        "power means of 4 spaces": (78.4, 80.4, 93.1, 88.9, 83.0, 90.6),
        "InferSent, inferences": (81.2, 86.7, 92.6, 90.6, 85.0, 88.2),
    }),
    "lens, table 2": _rows(_LENS, {
        "mean": (77.25, 78.30, 91.17, 87.85, 80.18, 83.0, 72.87),
        "InferSent, inferences": (81.57, 86.54, 92.50, 90.38, 84.18, 88.2, 75.77),
        "use": (80.09, 85.19, 93.98, 86.70, 86.38, 93.2, 70.14),
        "lens, inferences": (83.40, 89.32, 93.49, 89.16, 89.35, 91.8, 76.75),
    }),
    "CMLM, table 1": _rows(_CMLM, {
        "InferSent, inferences": (81.6, 86.5, 92.5, 90.4, 84.2, 88.2, 75.8, 80.3, 83.7),
        "use": (80.1, 85.2, 94.0, 86.7, 86.4, 93.2, 70.1, 82.4, 85.9),
        "MLM": (82.5, 88.5, 95.6, 87.3, 88.0, 91.4, 72.0, 79.3, 79.0),
        "CMLM": (83.6, 89.9, 96.2, 89.3, 88.5, 91.0, 69.7, 82.3, 83.4),
    }),
    "BGT, table 3": _rows(YEARS, {
        "InferSent, inferences": (61.1, 51.4, 68.1, 70.9, 70.7),
        "use": (61.4, 59.0, 70.6, 74.3, 73.9),
        "sp": (68.4, 60.3, 75.1, 78.7, 76.8),
        "BilingualTrans": (67.1, 61.0, 73.3, 78.0, 77.8),
        "BGT without prior": (67.6, 59.8, 74.1, 78.4, 77.9),
        "BGT without language latents": (68.3, 61.3, 74.5, 79.0, 78.5),
        "BGT": (68.9, 62.2, 75.9, 79.4, 79.3),
    }),
}  # fmt: skip


def means(rows: Sequence[Mapping[str, str]]) -> dict[str, dict[str, float]]:
    """The mean over the seeds of each encoder in each task."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in rows:
        found[one["encoder"]][one["task"]].append(float(one["value"]))
    return {name: {task: fmean(values) for task, values in tasks.items()} for name, tasks in found.items()}


def compared(paper: Mapping[str, Figures], ours: Mapping[str, Figures]) -> tuple[list[str], list[str]]:
    """The systems that both have, and the tasks in which both have all of these."""
    names = [name for name in paper if name in ours]
    return names, [task for task in ORDER if all(task in of[n] for of in (paper, ours) for n in names)]


def tau(names: Sequence[str], paper: Figures, ours: Figures) -> tuple[float, float]:
    """Kendall's tau-b of two orders, and its p: exact, but with ties that of the normal approximation.

    The exact distribution is that of orders without ties; scipy has none for others.
    """
    both = [[of[name] for name in names] for of in (paper, ours)]
    ties = any(len(set(side)) < len(names) for side in both)
    found = kendalltau(*both, method="asymptotic" if ties else "exact")
    return float(found.statistic), float(found.pvalue)


def main() -> None:
    """Prints the tables."""
    rows = read_rows(command_line(__doc__, rows=NEEDED).rows)
    ours = means(rows)
    header(("paper", "tau of the means", "p", "mean of the tasks' taus", "order there", "order here"))
    for name, paper in PAPERS.items():
        names, tasks = compared(paper, ours)
        if len(names) < 3:
            continue
        both = [{one: fmean(of[one][task] for task in tasks) for one in names} for of in (paper, ours)]
        whole, p = tau(names, *both)
        each = [tau(names, *({n: of[n][task] for n in names} for of in (paper, ours)))[0] for task in tasks]
        orders = (
            " > ".join(f"{n} {of[n]:.1f}" for n in sorted(names, key=lambda n: -of[n]))  # noqa: B023
            for of in both
        )
        row([f"{name}: {len(names)} systems, {len(tasks)} tasks", f"{whole:.2f}", f"{p:.2f}",
             f"{fmean(each):.2f}", *orders])  # fmt: skip
    print()
    header(("task", "widest half of an interval"))
    for task in ORDER:
        halves = [(float(r["ci95_high"]) - float(r["ci95_low"])) / 2 for r in rows if r["task"] == task]
        if halves:
            row([task, max(halves)])


if __name__ == "__main__":
    main()
