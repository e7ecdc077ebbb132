"""Time and memory by stage for files of up to millions of words: align, save, induce.

    python -m benchmarks.scale.millions FOLDER --out FILE.csv [--sizes 10000,100000,2000000] [--most 50000]
        [--shared ../shared]

FOLDER gets two files of text, en.vec and fr.vec, of the largest of the sizes, unless they are there. They
begin with the real words; each of the others lies between two of them, at the same place in both languages,
with noise of half its length. `--most` limits the sources of which translations are induced; all targets are
searched, and all words for hubness. The seconds and the peak of memory are a user's. One row a size and stage
is appended to FILE.csv; sizes that are there are not measured again.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import NEEDED, POSITIONAL, command_line
from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import Run, append_rows, commit, heading, muse, today
from muse.files import read_lexicon, write_vectors_text
from muse.vectors import Vectors

NOISE = 0.5  # in lengths of the vector
STAGES = ("load", "init", "refine", "save")
COLUMNS = ("words", "stage", "seconds", "peak_mb", "result", "commit", "date")


def make_files(folder: Path, words: int, shared: Path) -> None:
    """Writes both files."""
    pair = find_pair("en-fr", shared)
    sides, rng = pair.vectors(), np.random.default_rng(0)
    known = read_lexicon(pair.must_train_in(folder)).indices(*(side.index for side in sides))
    drawn = known[rng.integers(len(known), size=(2, words))]  # (2, n, 2)
    shares = rng.random((words, 1), dtype=np.float32)
    for place, side in enumerate(sides):
        names = [*side.words, *(f"{side.language}~{number}" for number in range(words - len(side)))]
        rare = between(side, drawn[:, len(side) :, place], shares[len(side) :], rng)
        matrix = np.concatenate([side.matrix, rare])[:words]
        write_vectors_text(folder / f"{side.language}.vec", names[:words], matrix, decimals=3)


def between(
    side: Vectors, rows: NDArray[np.int64], shares: NDArray[np.float32], rng: np.random.Generator
) -> NDArray[np.float32]:
    """Vectors (n, d) between those of two rows (2, n), by shares (n, 1), with noise."""
    found = np.empty((len(shares), side.dimension), np.float32)
    for begin in range(0, len(found), 16_384):  # never a second matrix
        part = slice(begin, begin + 16_384)
        one, two = side.matrix[rows[:, part]]
        found[part] = shares[part] * one + (1 - shares[part]) * two
        lengths = np.linalg.norm(found[part], axis=1, keepdims=True)
        noise = rng.standard_normal(found[part].shape, dtype=np.float32)
        found[part] += NOISE / side.dimension**0.5 * lengths * noise
    return found


def measured(folder: Path, words: int, most: int) -> Iterator[dict[str, Any]]:
    """Yields the rows of a size, stage by stage."""
    space = folder / "space"
    files: list[str | Path] = ["--src-emb", folder / "en.vec", "--tgt-emb", folder / "fr.vec"]
    direction = ["--src", "en", "--tgt", "fr"]
    aligned = muse("align", *direction, *files, "--max-vocab", str(words), "--out", space)
    for stage in STAGES:
        yield {"stage": stage, "seconds": f"{aligned.fields['seconds'][stage]:.1f}"}
    yield _whole("align", aligned, aligned.fields["verdict"])
    out = ["--src-max", str(most), "--out", str(folder / "induced.txt")]
    induced = muse("induce", space, *direction, *out)
    recall = induced.fields.get("search", {}).get("recall")
    yield _whole("induce", induced, "exact" if recall is None else f"recall {recall:.3f}")


def _whole(command: str, run: Run, result: str) -> dict[str, Any]:
    peak = run.fields.get("peak_memory_mb")
    seen = "" if peak is None else round(float(peak))
    return {"stage": command, "seconds": f"{run.seconds:.1f}", "peak_mb": seen, "result": result}


def main() -> None:
    """Makes what is missing, and measures."""
    asked = command_line(
        __doc__, folder=POSITIONAL, out=NEEDED, sizes="10000,30000,100000,300000,1000000,2000000",
        most=50_000, shared=SHARED,
    )  # fmt: skip
    asked.folder.mkdir(parents=True, exist_ok=True)
    sizes = [int(size) for size in asked.sizes.split(",")]
    if not all((asked.folder / name).exists() for name in ("en.vec", "fr.vec")):
        make_files(asked.folder, max(sizes), asked.shared)
    heading("Up to millions of words")
    done = {int(one["words"]) for one in read_rows(asked.out)}
    for words in (size for size in sizes if size not in done):
        same = {"words": words, "commit": commit(), "date": today()}
        append_rows(asked.out, COLUMNS, (same | one for one in measured(asked.folder, words, asked.most)))


if __name__ == "__main__":
    main()
