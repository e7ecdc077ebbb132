"""Encoders trained on parallel text: seconds, loss curve, held-out P@1, and one loss beside another.

    python -m benchmarks.sentences.sentence_training --space SPACE [--lang fr] [--parallel FILE] [--pairs N]
        [--rows "x-cbow;projection"] [--seeds 0] [--epochs N] [--threads N] [--shared ../shared]

Every row is one `muse train` with all defaults but those it names, in a process of its own. P@1 is of
sentences held out of the training text, by cosine, at the best epoch; `before` is the untrained twin, the
mean of the space's rows (the sum for cvm-add, tanh of them for the projection), on the same sentences.
Settings were chosen on these held-out sentences; the test sets stay closed. --pairs
draws a sample of the pairs, for a quick look.
"""

from __future__ import annotations

import argparse
import gzip
import random
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import header, heading, muse, numbers, row

ROWS: dict[str, list[str]] = {
    "x-cbow": ["--encoder", "x-cbow"],
    "x-cbow, lambda 0": ["--encoder", "x-cbow", "--lambda", "0"],
    "x-cbow, lambda 0.5": ["--encoder", "x-cbow", "--lambda", "0.5"],
    "x-cbow, ranking": ["--encoder", "x-cbow", "--loss", "rank"],
    "x-cbow, hinge": ["--encoder", "x-cbow", "--loss", "hinge"],
    "x-cbow, hardest": ["--encoder", "x-cbow", "--loss", "hardest"],
    "x-cbow, softmax": ["--encoder", "x-cbow", "--loss", "softmax"],
    "projection": ["--encoder", "projection"],
    "projection, hinge": ["--encoder", "projection", "--loss", "hinge"],
    "projection, hardest": ["--encoder", "projection", "--loss", "hardest"],
    "cvm-add": ["--encoder", "cvm-add"],
}
COLUMNS = (
    "encoder",
    "loss",
    "seed",
    "pairs",
    "before",
    "P@1 [95 %]",
    "best epoch",
    "seconds",
    "training",
    "signature",
)


def sample(path: Path, count: int, folder: Path) -> Path:
    """A file of so many lines of another, drawn at random."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        lines = stream.readlines()
    chosen = folder / f"{path.name}.{count}.tsv"
    chosen.write_text("".join(random.Random(0).sample(lines, min(count, len(lines)))), encoding="utf-8")
    return chosen


def main() -> None:
    """Prints the table of runs, and after it the curves."""
    options = parsed()
    lists = options.shared / "data" / "parallel"
    text = options.parallel or lists / f"tatoeba.en-{options.lang}.train.tsv.gz"
    heading("Sentence encoders trained on parallel text")
    header(COLUMNS)
    curves = []
    with tempfile.TemporaryDirectory() as folder:
        if options.pairs:
            text = sample(text, options.pairs, Path(folder))
        for name in options.rows.split(";"):
            for seed in numbers(options.seeds):
                found = trained(options, ROWS[name], text, Path(folder), seed)
                low, high = found["ci95"]
                first = found["score_by_epoch"][0]
                row([name, found["encoder"], seed, found["pairs"], first,
                     f"{found['p_at_1']:.1f} [{low:.1f}, {high:.1f}]",
                     f"{found['best_epoch']} of {found['epochs']}", found["wall"],
                     found["seconds"]["training"], found["signature"]])  # fmt: skip
                curves.append((name, seed, found))
    print("\nLoss by epoch, from the first, and held-out P@1, from before training:\n")
    header(("encoder", "seed", "loss", "P@1"))
    for name, seed, found in curves:
        losses = " ".join(f"{loss:.3f}" for loss in found["loss_curve"])
        row([name, seed, losses, " ".join(f"{p:.1f}" for p in found["score_by_epoch"])])


def trained(
    options: argparse.Namespace, more: list[str], text: Path, folder: Path, seed: int
) -> dict[str, Any]:
    """What one `muse train --json` says, and the seconds from start to exit as `wall`."""
    plain = ["train", options.space, "--lang", options.lang, "--parallel", text, "--out", folder / "encoder"]
    limits = [] if options.epochs is None else ["--epochs", str(options.epochs)]
    threads = [] if options.threads is None else ["--threads", str(options.threads)]
    done = muse(*plain, *more, "--seed", str(seed), *limits, *threads)
    return {**done.fields, "wall": done.seconds}


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--lang", default="fr")
    parser.add_argument("--parallel", type=Path)
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--rows", default=";".join(ROWS), help="with ; between")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--shared", type=Path, default=SHARED)
    return parser.parse_args()


if __name__ == "__main__":
    main()
