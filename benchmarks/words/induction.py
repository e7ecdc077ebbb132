"""How good induced dictionaries are by rank of the word, and whether their probabilities hold.

    python -m benchmarks.words.induction [--pairs fr-en,en-fr,de-en] [--spaces DIR] [--shared ../shared]

Each row is one `muse induce --format jsonl`, compared with the gold dictionary: both of its lists, since
nothing was learned from either. Of each covered source word the first translation is right if gold has
it. Calibration: words in ten bins of equal width by that translation's probability; ECE is the mean of
|P@1 - mean probability| over bins, weighted by their words (Guo et al., 2017). --spaces holds aligned
spaces by name, such as fr-en; a pair is looked up both ways, and aligned where there is none.
"""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.support.tables import header, heading, muse, row
from muse.evaluation.score import bootstrap_interval
from muse.evaluation.words import BANDS
from muse.files import read_lexicon
from muse.files.space_folder import WORDS, folder_name

BINS = 10


class Judged(NamedTuple):
    """The covered queries of one pair: rank from 0, probability, and whether gold has the translation."""

    ranks: NDArray[np.int64]  # (q,)
    probabilities: NDArray[np.float64]  # (q,)
    right: NDArray[np.bool_]  # (q,)

    def of(self, chosen: NDArray[np.bool_]) -> "Judged":
        """Some of the queries."""
        return Judged(self.ranks[chosen], self.probabilities[chosen], self.right[chosen])


def find_space(pair: Pair, spaces: Path | None, folder: Path) -> Path:
    """The folder of an aligned space that holds the pair, in either direction; made if there is none."""
    for name in (f"{pair.source}-{pair.target}", f"{pair.target}-{pair.source}"):
        if spaces is not None and (spaces / name / "manifest.json").is_file():
            return spaces / name
    out = (spaces or folder) / f"{pair.source}-{pair.target}"
    muse("align", *pair.arguments(), "--out", out)
    return out


def judge(pair: Pair, space: Path, folder: Path) -> Judged:
    """What gold says of the first translation of every covered word."""
    out = folder / f"{pair.name}.jsonl"
    muse("induce", space, "--src", pair.source, "--tgt", pair.target, "--format", "jsonl", "--out", out)
    entries = [json.loads(line) for line in out.read_bytes().decode().removesuffix("\n").split("\n")]
    words = (space / folder_name(pair.target) / WORDS).read_bytes().decode().split("\n")
    targets = set(words)
    gold: dict[str, set[str]] = {}
    for path in (pair.training, *pair.gold):
        if path is not None:
            for source, target in read_lexicon(path).pairs:
                if target in targets:
                    gold.setdefault(source, set()).add(target)
    covered = [(rank, entry) for rank, entry in enumerate(entries) if entry["source"] in gold]
    return Judged(
        np.array([rank for rank, _ in covered]),
        np.array([entry["probability"] for _, entry in covered]),
        np.array([entry["target"] in gold[entry["source"]] for _, entry in covered]),
    )


def bins(judged: Judged) -> list[Judged]:
    """The queries in BINS bins of equal width of their probability; a bin may be empty."""
    place = np.minimum((judged.probabilities * BINS).astype(int), BINS - 1)
    return [judged.of(place == i) for i in range(BINS)]


def calibration_error(judged: Judged) -> float:
    """The expected calibration error, 0 to 1."""
    gaps = [
        len(part.right) * abs(part.right.mean() - part.probabilities.mean())
        for part in bins(judged)
        if len(part.right)
    ]
    return float(sum(gaps)) / len(judged.right)


def bands(judged: Judged) -> dict[str, Judged]:
    """All queries, and those of each band of ranks."""
    found = {"all": judged}
    for low, high in zip((0, *BANDS), BANDS, strict=False):
        found[f"{low + 1}-{high}"] = judged.of((judged.ranks >= low) & (judged.ranks < high))
    return found


def precision(judged: Judged) -> str:
    """P@1 in percent, its 95 % interval and the number of queries."""
    low, high = bootstrap_interval(judged.right, np.random.default_rng(0))
    return f"{100 * judged.right.mean():.1f} [{low:.1f}, {high:.1f}], {len(judged.right)} words"


def show(found: dict[str, Judged]) -> None:
    """Prints precision and calibration error by band, and the bins of every pair."""
    header(["pair", "ranks", "P@1", "mean probability", "ECE"])
    for name, judged in found.items():
        for ranks, part in bands(judged).items():
            mean = f"{100 * part.probabilities.mean():.1f}"
            row([name, ranks, precision(part), mean, f"{calibration_error(part):.3f}"])
    print("\nCalibration: share of the words, mean probability / P@1 of each bin\n")
    header(["pair", *(f"{i / BINS:.1f}-{(i + 1) / BINS:.1f}" for i in range(BINS))])
    for name, judged in found.items():
        row([name, *(_cell(part, judged) for part in bins(judged))])


def _cell(part: Judged, whole: Judged) -> str:
    if not len(part.right):
        return ""
    share = len(part.right) / len(whole.right)
    return f"{share:.2f}: {part.probabilities.mean():.2f} / {part.right.mean():.2f}"


def main() -> None:
    """Judges every pair and prints the tables."""
    asked = command_line(__doc__, pairs="fr-en,en-fr,de-en", spaces=Path, shared=SHARED)
    heading("Induced dictionaries: precision by rank, calibration of the probability")
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name in asked.pairs.split(","):
            pair = find_pair(name, asked.shared)
            found[name] = judge(pair, find_space(pair, asked.spaces, Path(folder)), Path(folder))
        show(found)


if __name__ == "__main__":
    main()
