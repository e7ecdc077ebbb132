"""The sample vectors of embeddings/sample: vectors of novels and vectors of the web, joined.

    python -m benchmarks.align.sample_vectors --shared SHARED [--out FOLDER] [--words N] [--dimension D]
        [--weights fr=1,en=0.7]

A word's vector is its vectors in both sources side by side, the web's with a weight; where a source lacks the
word, ridge regression from the other source predicts its vector, learned on the words of both (the 1TOn+ of
Yin and Schütze 2016). Principal components keep `--dimension` numbers of them. Words are ordered by how
frequent they are, the mean of 1/rank over both sources. Names that only the novels have are left out: words
that the novels mostly print with a capital. What was tried is in RESULTS.md.
"""

import gzip
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge

from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import ROOT
from muse.files import read_vectors
from muse.files.atomic import atomic_path
from muse.files.writing import vectors_text
from muse.normalise import normalise
from muse.vectors import Matrix, Vectors

WEB = {"fr": "fr.vec.gz", "en": "en.glove50.vec.gz"}
DECIMALS = 3
HEAD = 3  # added to every rank, so that the first few words do not outweigh all others
WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


def source(path: Path, language: str) -> Vectors:
    """The words of a file that are made of letters, in lower case, with normalised vectors (n, d)."""
    read = read_vectors(path, language=language, lowercase=True)
    kept = [row for row, word in enumerate(read.words) if WORD.fullmatch(word)]
    return Vectors(language, [read.words[row] for row in kept], normalise(read.matrix[kept])[0])


def capitalised(text: Path) -> set[str]:
    """The words, in lower case, that a text prints with a capital more often than without."""
    small, large = Counter[str](), Counter[str]()
    with gzip.open(text, "rt", encoding="utf-8") as lines:
        for line in lines:
            for word in WORD.findall(line.rpartition("\t")[2].replace("’", "'")):
                (small if word.islower() else large)[word.lower()] += 1
    return {word for word, count in large.items() if count >= small[word]}


def shares(words: Sequence[str]) -> dict[str, float]:
    """How frequent the words are, by rank; the sum is 1."""
    found = 1 / (np.arange(len(words)) + HEAD)
    return dict(zip(words, (found / found.sum()).tolist(), strict=True))


def vocabulary(novels: Vectors, web: Vectors, names: set[str], size: int) -> list[str]:
    """The most frequent words of both sources together, but names only if the web has them too."""
    total = shares(web.words)
    for word, share in shares(novels.words).items():
        if word in web.index or word not in names:
            total[word] = total.get(word, 0.0) + share
    return sorted(total, key=lambda word: (-total[word], word))[:size]


def completed(words: list[str], own: Vectors, other: Vectors) -> Matrix:
    """The vectors (n, d) of the words in `own`, predicted from `other` for those that it lacks."""
    both = [word for word in own.words if word in other.index]
    known = own.matrix[[own.index[word] for word in both]]
    guess = Ridge(fit_intercept=False).fit(other.matrix[[other.index[word] for word in both]], known)
    lacking = [row for row, word in enumerate(words) if word not in own.index]
    rows = np.zeros((len(words), own.dimension), np.float32)
    for row, word in enumerate(words):
        if word in own.index:
            rows[row] = own.matrix[own.index[word]]
    rows[lacking] = guess.predict(other.matrix[[other.index[words[row]] for row in lacking]])
    return rows


def joined(words: list[str], novels: Vectors, web: Vectors, weight: float, dimension: int) -> Matrix:
    """The vectors (n, dimension) of the words, of unit length."""
    sides = np.hstack([completed(words, novels, web), weight * completed(words, web, novels)])
    reduced = PCA(dimension, svd_solver="covariance_eigh").fit_transform(sides).astype(np.float32)
    return normalise(reduced, ["unit"])[0]


def write(path: Path, words: list[str], rows: Matrix) -> None:
    """Writes the vectors without name or time in the gzip header: the same vectors give the same bytes."""
    with atomic_path(path) as place, place.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        for block in vectors_text(words, rows, decimals=DECIMALS):
            file.write(block.encode())


def weights(text: str) -> Mapping[str, float]:
    """The weight of the web's vectors for each language, as in "fr=1,en=0.7"."""
    return {name: float(value) for name, value in (part.split("=") for part in text.split(","))}


def main() -> None:
    """Writes fr.vec.gz and en.vec.gz."""
    asked = command_line(
        __doc__, shared=SHARED, out=ROOT / "embeddings" / "sample", words=20_000, dimension=250,
        weights="fr=1,en=0.7",
    )  # fmt: skip
    data = asked.shared / "data"
    for language, weight in weights(asked.weights).items():
        novels = source(data / "vectors" / f"{language}.vec.gz", language)
        web = source(data / "vectors-web" / WEB[language], language)
        names = capitalised(data / "text" / f"novels.{language}.tsv.gz")
        words = vocabulary(novels, web, names, asked.words)
        rows = joined(words, novels, web, weight, asked.dimension)
        write(asked.out / f"{language}.vec.gz", words, rows)
        size = (asked.out / f"{language}.vec.gz").stat().st_size
        print(f"{language}: {len(words)} words, {rows.shape[1]} dimensions, {size:,} bytes")


if __name__ == "__main__":
    main()
