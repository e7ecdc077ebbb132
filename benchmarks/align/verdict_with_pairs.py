"""The verdict with pairs on the runs of benchmarks/align/supervision.py, judged anew, and on new runs.

    python -m benchmarks.align.verdict_with_pairs --out FILE.csv
        [--runs benchmarks/results/align/supervision.csv.gz]
    python -m benchmarks.align.verdict_with_pairs --out FILE.csv --new en-ru,ru-en
        [--help-given 10,50,100,250] [--draws 0-4] [--words 3000] [--init dictionary] [--shared ../shared]
    python -m benchmarks.align.verdict_with_pairs --out FILE.csv --table

Each recorded run has a P@1 on a gold list and the share of held-out words that were translated correctly. It
is good from half of the P@1 that 5,000 pairs bring on, and poor below a third. The verdict without pairs was
not recorded: each run is judged as if that had been as bad as can be (`at_least`) and as good (`at_most`).

New runs are of the most frequent words, by one --init and CSLS. P@1 is on the words of the training list
whose pairs were not given, where there are LEAST_QUERIES, and on the gold list. --table counts the verdicts
on the new runs in FILE.csv.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.draws import write_draw
from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, find_pair, known_targets
from benchmarks.support.tables import append_rows, commit, header, numbers, row, today
from muse.api.run import run
from muse.api.settings import settings_of
from muse.evaluation.words import evaluate_words
from muse.files import read_lexicon
from muse.learn.supervise.cross_validation import wilson
from muse.learn.verdict import Verdict, with_pairs
from muse.lexicon import Lexicon

RUNS = Path("benchmarks/results/align/supervision.csv.gz")
METHODS = 18  # that are tried for words
MOST_TESTED = 5_300
LEAST_QUERIES = 100
MOST = "5000"  # pairs, with which the others are compared
COLUMNS = (
    "pair", "help", "draw", "p_at_1", "of_5000", "outcome", "right", "tested", "recorded", "at_least",
    "at_most", "commit", "date",
)  # fmt: skip
OF_NEW = (
    "pair", "help", "draw", "words", "init", "verdict", "confidence", "gain", "right", "tested", "methods",
    "queries", "p_at_1", "queries_gold", "p_at_1_gold", "commit", "date",
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
    for one in runs:
        share, (right, tested) = float(one["p_at_1"]) / best[one["pair"]], counts(one)
        outcome = "poor" if share < 1 / 3 else "good" if share >= 1 / 2 else "between"
        found = {"outcome": outcome, "of_5000": share, "right": right, "tested": tested}
        for name, confidence in (("at_least", 0.0), ("at_most", 1.0)):
            found[name] = with_pairs(Verdict("", confidence, 0, 0), right, tested, METHODS).label
        own = {name: one[name] for name in ("pair", "help", "draw", "p_at_1")}
        yield own | found | {"recorded": one["verdict"], "commit": commit(), "date": today()}


def made(asked: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """New runs, each with its draw as its seed."""
    for name, help_, draw in product(asked.new.split(","), asked.help_given.split(","), numbers(asked.draws)):
        pair = find_pair(name, asked.shared)
        given = write_draw(pair, pair.vectors(asked.words), help_, draw, folder)
        config = settings_of(
            src=pair.source, tgt=pair.target, src_emb=pair.source_file, tgt_emb=pair.target_file,
            lower=pair.lower, dictionary=given, max_vocab=asked.words, init=asked.init, answers="csls",
            seed=draw, out=folder / "space", force=True,
        )  # fmt: skip
        report = run(config, device="cpu")
        learned, known = report.learned[pair.source], {word for word, _ in read_lexicon(given).pairs}
        verdict, found = learned.verdict, learned.supervision
        if found is None:
            continue
        new = {"pair": name, "help": help_, "draw": draw, "words": asked.words, "init": asked.init}
        new |= {"verdict": verdict.label, "confidence": verdict.confidence, "gain": verdict.gain}
        new |= {"right": found.right, "tested": found.tested, "methods": len(found.candidates)}
        new |= {"commit": commit(), "date": today()}
        for end, path in (("", pair.must_train_in(folder)), ("_gold", pair.gold_in(folder))):
            asked_for = Lexicon(tuple(one for one in read_lexicon(path).pairs if one[0] not in known))
            sides = (report.aligned.vectors(one) for one in (pair.source, pair.target))
            if not known_targets(asked_for, *sides):
                continue  # of few words, all pairs may be given
            if len(asked_for) < LEAST_QUERIES:
                continue
            ways: dict[str, Any] = {"source": pair.source, "target": pair.target}
            score = evaluate_words(report.aligned, asked_for, rng=np.random.default_rng(0), **ways)
            new |= {f"queries{end}": score.covered, f"p_at_1{end}": score.p_at_1}
        yield new


def counted(path: Path) -> Iterator[tuple[object, ...]]:
    """For each number of pairs, the runs that are poor, good and between, and how they were judged.

    A run is compared with that of 5,000 pairs of as many words, both by the gold list.
    """
    runs = [one for one in read_rows(path) if one["words"] == "3000" and one["p_at_1_gold"]]
    most = {one["pair"]: float(one["p_at_1_gold"]) for one in runs if one["help"] == MOST}
    kinds: dict[int, list[tuple[str, str, float]]] = {}
    for one in runs:
        if one["help"] != MOST:
            share = float(one["p_at_1_gold"]) / most[one["pair"]]
            outcome = "poor" if share < 1 / 3 else "good" if share >= 1 / 2 else "between"
            kinds.setdefault(int(one["help"]), []).append((outcome, one["verdict"], share))
    for help_, found in sorted(kinds.items()):
        judged_so = Counter((outcome, label) for outcome, label, _ in found)
        shown = [
            " / ".join(str(judged_so[outcome, label]) for label in ("aligned", "doubtful", "failed"))
            for outcome in ("poor", "between", "good")
        ]
        least = min((share for _, label, share in found if label == "aligned"), default=None)
        yield help_, len(found), *shown, "" if least is None else least


def main() -> None:
    """Judges every run, writes a row each and prints how many of which outcome got which verdict."""
    asked = command_line(
        __doc__, runs=RUNS, out=NEEDED, new=(str, "pairs of languages to make new runs of"), words=3_000,
        help_given="10,50,100,250", draws="0-4", init="dictionary", shared=SHARED, table=False,
    )  # fmt: skip
    if asked.table:
        header(("pairs", "runs", "poor", "between", "good", "least share of aligned"))
        for one in counted(asked.out):
            row(one)
        return
    if asked.new:
        with tempfile.TemporaryDirectory() as folder:
            append_rows(asked.out, OF_NEW, made(asked, Path(folder)))
        return
    runs = list(judged(asked.runs))
    append_rows(asked.out, COLUMNS, runs)
    header(("outcome", "before", "at least", "at most", "runs"))
    found = Counter((one["outcome"], one["recorded"], one["at_least"], one["at_most"]) for one in runs)
    for kind, number in sorted(found.items()):
        row([*kind, number])


if __name__ == "__main__":
    main()
