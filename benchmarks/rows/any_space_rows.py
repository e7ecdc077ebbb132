"""The same sentences as rows of several encoders: the data of benchmarks/rows/any_space.py.

    python -m benchmarks.rows.any_space_rows FOLDER [--encoders minilm,use,...] [--sentences 28192]
        [--shared ../shared]

FOLDER gets text.txt, a sentence a line, and for each encoder NAME.npy, whose row i is of line i. The first
8,192 sentences are for evaluation; the others belong to space A and space B by turns, so that 28,192 are
10,000 a side. Encoders with more rows already are left alone; fewer rows are continued, not made again.
any_space_encoders.py says which packages the published encoders come from.

e5-query is E5 with its prefix of queries. NAME.en and NAME.fr encode
translations in their place, as two languages: row i of one is of the translation of row i of the other.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.rows.any_space_encoders import (
    Encode,
    distilled,
    e5,
    e5_query,
    minilm,
    of_words,
    static,
    use,
)
from benchmarks.rows.any_space_text import EVALUATED, english, french, translations
from benchmarks.support.options import POSITIONAL, command_line
from benchmarks.support.pairs import SHARED
from muse.vectors import Matrix

Make = Callable[[Path], Encode]
PUBLISHED: dict[str, Make] = {
    "minilm": minilm, "use": use, "e5": e5, "e5-query": e5_query, "static": static, "distilled": distilled,
}  # fmt: skip
# By name: the vectors of words, their language, the encoder.
OWN = {
    "mean": ("vectors/en.vec.gz", "en", "mean"),
    "sif": ("vectors/en.vec.gz", "en", "sif"),
    "glove-sif": ("vectors-web/en.glove50.vec.gz", "en", "sif"),
    "french-sif": ("vectors/fr.vec.gz", "fr", "sif"),
}
TRANSLATED = {
    "sif.en": ("vectors/en.vec.gz", "en", "sif"),
    "sif.fr": ("vectors/fr.vec.gz", "fr", "sif"),
    "mean.fr": ("vectors/fr.vec.gz", "fr", "mean"),
}
BATCH = 64


def encoded(encode: Encode, sentences: Sequence[str]) -> Matrix:
    """The rows of the sentences; those of like length are encoded together, which saves padding."""
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    rows: Matrix | None = None
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        found = encode([sentences[i] for i in some])
        if rows is None:
            rows = np.zeros((len(sentences), found.shape[1]), np.float32)
        rows[some] = found
    return np.zeros((0, 0), np.float32) if rows is None else rows


def make(name: str, asked: argparse.Namespace, text: Sequence[str]) -> Encode:
    """An encoder by its name; those of words learn from the sentences that are not for evaluation."""
    if (published := name.split(".")[0]) in PUBLISHED:
        return PUBLISHED[published](asked.folder)
    path, language, kind = (OWN | TRANSLATED)[name]
    return of_words(asked.shared / "data" / path, language, kind, text[EVALUATED:])


def extend(name: str, asked: argparse.Namespace, text: Sequence[str]) -> None:
    """Encodes the sentences that the encoder's file lacks, and prints how fast."""
    path = asked.folder / f"{name}.npy"
    known = np.load(path) if path.exists() else None
    missing = text[0 if known is None else len(known) : asked.sentences]
    if not missing:
        return
    encode = make(name, asked, text)
    began = time.perf_counter()
    rows = encoded(encode, missing)
    speed = len(missing) / (time.perf_counter() - began)
    with (unfinished := path.with_name(f"{name}.partial")).open("wb") as file:
        np.save(file, rows if known is None else np.concatenate([known, rows]))
    unfinished.replace(path)
    print(f"{name}: {len(missing)} sentences, {rows.shape[1]} d, {speed:.0f} a second", flush=True)


def main() -> None:
    """Writes what is missing."""
    asked = command_line(
        __doc__, folder=POSITIONAL, encoders=",".join([*PUBLISHED, *OWN]), sentences=28_192, shared=SHARED,
    )  # fmt: skip
    asked.folder.mkdir(parents=True, exist_ok=True)
    text = dict(zip((".en", ".fr"), translations(asked.shared), strict=True))
    text |= {"": english(asked.shared), "french": french(asked.shared)}
    for kind, sentences in text.items():
        (asked.folder / f"text{kind}.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    for name in asked.encoders.split(","):
        extend(name, asked, text["french" if name == "french-sif" else Path(name).suffix])


if __name__ == "__main__":
    main()
