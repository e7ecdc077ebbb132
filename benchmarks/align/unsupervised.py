"""How well, how fast and in how much memory `muse align` learns without a dictionary.

    python -m benchmarks.align.unsupervised [--pairs zhang-es-en,en-fr] [--seeds 0-9] [--init auto]
        [--extra "--max-vocab 12000"] [--supervised] [--shared ../shared]

Every row is one `muse align` and one `muse evaluate`, each in a process of its own: the seconds and
the peak of memory are a user's. --supervised adds, for each pair that has a training dictionary,
the row of Procrustes on it, without refinement: what a dictionary alone gives.
"""

import shlex
import tempfile
from pathlib import Path

from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.support.tables import header, heading, muse, numbers, row

STAGES = ("load", "init", "refine", "save", "total")
COLUMNS = (
    "pair", "seed", "init", "verdict", "confidence", "P@1", "95 %", "P@5", "coverage",
    *(f"{stage} s" for stage in STAGES), "wall s", "peak MB", "recipe",
)  # fmt: skip


def measure(pair: Pair, seed: int, options: list[str | Path]) -> float | None:
    """Aligns and evaluates once, prints the row, and returns P@1; None where muse broke down."""
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space"
        recipe = ["align", *pair.arguments(), "--seed", str(seed), *options]
        try:
            aligned = muse(*recipe, "--out", space)
            direction = ["--src", pair.source, "--tgt", pair.target]
            scored = muse("evaluate", space, "--dictionary", pair.gold_in(Path(folder)), *direction)
        except RuntimeError as error:
            row([pair.name, seed, error, *[""] * (len(COLUMNS) - 3)])
            return None
    found, score = aligned.fields, scored.fields
    low, high = score["ci95"]
    row([
        pair.name, seed, found["init"], found["verdict"], f"{found['confidence']:.2f}",
        f"{score['p_at_1']:.2f}", f"{low:.1f}-{high:.1f}", score["p_at_5"], f"{score['coverage']:.3f}",
        *(float(found["seconds"][stage]) for stage in STAGES), aligned.seconds,
        f"{found['peak_memory_mb']:.0f}", f"`muse {shlex.join(map(str, recipe))}`",
    ])  # fmt: skip
    return float(score["p_at_1"])


def summary(pair: Pair, found: list[float | None]) -> str:
    """One sentence on all seeds of a pair."""
    done = [score for score in found if score is not None]
    if not done:
        return f"{pair.name}: no run of {len(found)} came to an end"
    mean = sum(done) / len(done)
    spread = f"P@1 from {min(done):.2f} to {max(done):.2f}, mean {mean:.2f}"
    return f"{pair.name}: {len(done)} of {len(found)} runs; {spread}"


def main() -> None:
    """Runs every pair with every seed and prints the table."""
    asked = command_line(
        __doc__, pairs="zhang-es-en", seeds="0-9", init="auto", extra="", supervised=False, shared=SHARED,
    )  # fmt: skip
    pairs = [find_pair(name, asked.shared) for name in asked.pairs.split(",")]
    extra: list[str | Path] = [*shlex.split(asked.extra)]
    heading("Word translation, learned without a dictionary")
    header(COLUMNS)
    sentences = []
    for pair in pairs:
        found = [measure(pair, seed, ["--init", asked.init, *extra]) for seed in numbers(asked.seeds)]
        sentences.append(summary(pair, found))
        if asked.supervised:
            with tempfile.TemporaryDirectory() as folder:
                if (training := pair.training_in(Path(folder))) is not None:
                    measure(pair, 0, ["--dictionary", training, "--no-refine", *extra])
    print("", *sentences, sep="\n")


if __name__ == "__main__":
    main()
