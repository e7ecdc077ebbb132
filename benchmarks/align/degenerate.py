"""What the verdict and the answers say of degenerate vectors.

    python -m benchmarks.align.degenerate --out FILE.csv [--words 500,1000,2000] [--seeds 0-4]
        [--dimension 50] [--kinds "rank 1,rank 2"] [--threads 1]
    python -m benchmarks.align.degenerate --out FILE.csv --table

Each run is one `muse align` of vectors of a kind of KINDS: of two sides that have nothing to do with each
other (unrelated), or of a side and the same rotated and blurred, row for row (blurred). P@1 is on all words.
Rows that the file has are not made again; --table counts them.
"""

import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.align.verdict_case import rotation
from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.tables import append_rows, commit, header, numbers, row, today
from muse.api.run import run
from muse.api.settings import settings_of
from muse.errors import Mismatch, NotConverged
from muse.ranking.ranker import translate_words
from muse.search.exact import set_threads

Rows = NDArray[np.float64]
SURE, GUESSED = 0.85, 0.5  # probabilities of answers
BLUR = 0.3  # in standard deviations of the rows
COLUMNS = (
    "kind", "sides", "words", "seed", "dimension", "verdict", "confidence", "p_at_1", "answers",
    "highest_probability", "above_half", "sure", "sure_right", "commit", "date",
)  # fmt: skip


def low_rank(rank: int) -> Callable[[np.random.Generator, int, int], Rows]:
    """Rows (n, d) of so few directions, as a function of generator, n and d."""
    return lambda rng, count, d: rng.normal(size=(count, rank)) @ rng.normal(size=(rank, d))


def repeated(share: float) -> Callable[[np.random.Generator, int, int], Rows]:
    """Rows of which this share repeats others."""

    def rows(rng: np.random.Generator, count: int, d: int) -> Rows:
        kept = max(2, round((1 - share) * count))
        return rng.normal(size=(kept, d))[np.r_[:kept, rng.integers(0, kept, count - kept)]]

    return rows


def clustered(clusters: int) -> Callable[[np.random.Generator, int, int], Rows]:
    """Rows close to one of so many centres."""

    def rows(rng: np.random.Generator, count: int, d: int) -> Rows:
        centres = rng.normal(size=(clusters, d))
        return centres[rng.integers(0, clusters, count)] + rng.normal(0, 0.05, (count, d))

    return rows


def constant(rng: np.random.Generator, count: int, d: int) -> Rows:
    """One row, hardly changed."""
    return rng.normal(size=(1, d)) + rng.normal(0, 1e-3, (count, d))


def binary(rng: np.random.Generator, count: int, d: int) -> Rows:
    """Rows of ones and zeros, one in five a one."""
    return (rng.random((count, d)) < 0.2).astype(np.float64)


KINDS = {
    "rank 1": low_rank(1), "rank 2": low_rank(2), "rank 5": low_rank(5), "rank 10": low_rank(10),
    "rank 20": low_rank(20), "duplicates": repeated(0.9), "few clusters": clustered(5),
    "many clusters": clustered(50), "constant": constant, "binary": binary,
}  # fmt: skip
SIDES = ("unrelated", "blurred")


def vectors(kind: str, sides: str, words: int, seed: int, dimension: int) -> tuple[Rows, Rows]:
    """The rows of source and target, whose row i translates row i where they are blurred."""
    rng = np.random.default_rng([seed, words, *kind.encode()])
    source = KINDS[kind](rng, words, dimension)
    if sides == "unrelated":
        return source, KINDS[kind](rng, words, dimension)
    centred = source - source.mean(axis=0)
    blur = rng.normal(0, BLUR * centred.std(), source.shape) * (np.abs(centred).sum(axis=0) > 0)
    return source, (source + blur) @ rotation(dimension).T


def measured(kind: str, sides: str, words: int, seed: int, dimension: int) -> dict[str, Any]:
    """The verdict, P@1 and probabilities of one run."""
    found: dict[str, Any] = {
        "kind": kind, "sides": sides, "words": words, "seed": seed, "dimension": dimension,
        "commit": commit(), "date": today(),
    }  # fmt: skip
    named = [
        ([f"{language}{row}" for row in range(words)], rows.astype(np.float32))
        for language, rows in zip(("fr", "en"), vectors(kind, sides, words, seed, dimension), strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        config = settings_of(
            src="fr", tgt="en", src_emb=named[0], tgt_emb=named[1], seed=seed, out=Path(folder) / "space"
        )
        try:
            aligned = run(config, device="cpu").aligned
        except (Mismatch, NotConverged):
            return found | {"verdict": "refused"}
        verdict = aligned.manifest.verdict_on("fr", "en")
        first = [one[0] for one in translate_words(aligned, named[0][0], source="fr", target="en", top=1)]
    right = np.array([one.target == f"en{place}" for place, one in enumerate(first)])
    probability = np.array([one.probability or 0.0 for one in first])
    return found | {
        "verdict": verdict.label, "confidence": verdict.confidence, "p_at_1": 100 * float(right.mean()),
        "answers": len(first), "highest_probability": float(probability.max()),
        "above_half": int((probability > GUESSED).sum()), "sure": int((probability >= SURE).sum()),
        "sure_right": int(right[probability >= SURE].sum()),
    }  # fmt: skip


def made(path: Path, asked: Any) -> Iterator[dict[str, Any]]:
    """The rows that the file lacks, those of the first seed first."""
    done = {(one["kind"], one["sides"], one["words"], one["seed"]) for one in read_rows(path)}
    kinds = asked.kinds.split(",") if asked.kinds else [*KINDS]
    for seed, words, kind, sides in product(numbers(asked.seeds), numbers(asked.words), kinds, SIDES):
        if (kind, sides, str(words), str(seed)) not in done:
            yield measured(kind, sides, words, seed, asked.dimension)


def counted(path: Path) -> None:
    """Prints for each kind how it was judged, and what the answers of each verdict are worth."""
    rows = read_rows(path)
    labels = ("aligned", "doubtful", "failed", "refused")
    header(("kind", "sides", "runs", *labels, "P@1", "P@1 of aligned, least"))
    for kind, sides in product(KINDS, SIDES):
        of = [one for one in rows if (one["kind"], one["sides"]) == (kind, sides)]
        scores = [float(one["p_at_1"]) for one in of if one["p_at_1"]]
        least = min((float(one["p_at_1"]) for one in of if one["verdict"] == "aligned"), default="")
        spread = f"{min(scores):.1f} to {max(scores):.1f}" if scores else ""
        row([kind, sides, len(of), *(sum(one["verdict"] == label for one in of) for label in labels),
             spread, least])  # fmt: skip
    header(("verdict", "runs", "highest probability", "answers above .5", "from .85 on", "of these right"))
    for label in labels[:3]:
        of = [one for one in rows if one["verdict"] == label]
        sums = [sum(int(one[name]) for one in of) for name in ("above_half", "sure", "sure_right")]
        highest = max((float(one["highest_probability"]) for one in of), default=0.0)
        row([label, len(of), f"{highest:.2f}", *sums])


def main() -> None:
    """Makes the runs that the file lacks, or counts those that it has."""
    asked = command_line(
        __doc__,
        out=NEEDED,
        words="500,1000,2000",
        seeds="0-4",
        dimension=50,
        kinds="",
        threads=1,
        table=False,
    )
    if asked.table:
        counted(asked.out)
        return
    set_threads(asked.threads)
    append_rows(asked.out, COLUMNS, made(asked.out, asked))


if __name__ == "__main__":
    main()
