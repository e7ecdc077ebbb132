"""Time and memory by stage for files of millions of words: align, save, induce.

    python benchmarks/millions.py FOLDER [--words 2000000] [--most 200000] [--shared ../shared]

FOLDER gets two files of text, en.vec and fr.vec, unless they are there. They begin with the real words; each
of the others lies between two of them, at the same place in both languages, with noise of half its length.
`--most` limits the sources of which translations are induced; all targets are searched. P@1 is of the
real words' list, among all targets. The seconds and the peak of memory are a user's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pairs import SHARED, find_pair
from tables import header, heading, muse, row

from muse.files import read_lexicon, read_vectors, write_vectors_text
from muse.vectors import Vectors

NOISE = 0.5  # in lengths of the vector
STAGES = ("load", "init", "refine", "save")


def make_files(folder: Path, words: int, shared: Path) -> None:
    """Writes both files."""
    pair = find_pair("en-fr", shared)
    files = {pair.source: pair.source_file, pair.target: pair.target_file}
    sides = [read_vectors(path, language=language) for language, path in files.items()]
    rng = np.random.default_rng(0)
    known = [
        (sides[0].index[one], sides[1].index[two])
        for one, two in read_lexicon(pair.training or pair.gold[0]).pairs
        if one in sides[0].index and two in sides[1].index
    ]
    drawn = np.array(known)[rng.integers(len(known), size=(2, words))]  # (2, n, 2)
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


def measure(folder: Path, most: int, shared: Path) -> None:
    """Prints the rows of all commands."""
    pair, space = find_pair("en-fr", shared), folder / "space"
    files: list[str | Path] = ["--src-emb", folder / "en.vec", "--tgt-emb", folder / "fr.vec"]
    header(["command", "stage", "seconds", "peak MB", "result"])
    aligned = muse("align", "--src", "en", "--tgt", "fr", *files, "--out", space)
    for stage in STAGES:
        row(["align", stage, float(aligned.fields["seconds"][stage]), "", ""])
    row(["align", "all", aligned.seconds, float(aligned.fields["peak_memory_mb"]), aligned.fields["verdict"]])
    out: list[str | Path] = [
        "--src",
        "en",
        "--tgt",
        "fr",
        "--src-max",
        str(most),
        "--out",
        folder / "induced.txt",
    ]
    induced = muse("induce", space, *out)
    found = f"{induced.fields['pairs']} pairs, {induced.fields['searches']}"
    row(["induce", f"{most} sources", induced.seconds, float(induced.fields["peak_memory_mb"]), found])
    scored = muse("evaluate", space, "--dictionary", pair.gold[0], "--src", "en", "--tgt", "fr")
    row(["evaluate", "", scored.seconds, "", f"P@1 {scored.fields['p_at_1']}"])


def main() -> None:
    """Makes what is missing, and measures."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--words", type=int, default=2_000_000)
    parser.add_argument("--most", type=int, default=200_000)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if not all((asked.folder / name).exists() for name in ("en.vec", "fr.vec")):
        make_files(asked.folder, asked.words, asked.shared)
    heading(f"{asked.words:,} words a side")
    measure(asked.folder, asked.most, asked.shared)


if __name__ == "__main__":
    main()
