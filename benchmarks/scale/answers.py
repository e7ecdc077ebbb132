"""Seconds and memory of `muse align` by CSLS alone, by all the evidence, and with an encoder.

    python -m benchmarks.scale.answers [--shared SHARED] [--words 30000,200000] [--encoder FOLDER]
        [--out FILE.csv]

The files have the words of the English and French novels first, and then coined ones: the head of a word and
the tail of another, and in French those of their translations, with the vector of the first word and noise of
half its length. The commands run one after the other; what the answers cost is the difference. With an
encoder there are two more: one that encodes all words, and one that reads them from the cache.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.approximate import NOISE
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import append_rows, commit, muse, today
from muse.files import read_lexicon
from muse.files.writing import write_vectors_text
from muse.vectors import Matrix, Vectors

KNOWN = 30_000  # words of the novels
COLUMNS = ("words", "answers", "seconds", "processor_seconds", "peak_mb", "verdict", "commit", "date")


def with_coined(
    sides: tuple[Vectors, Vectors], pairs: NDArray[np.int64], words: int, rng: np.random.Generator
) -> tuple[list[list[str]], NDArray[np.int64]]:
    """All `words` of either language, the coined ones last, and the pairs (c, 2) that these begin like."""
    names = [list(side.words) for side in sides]
    seen, heads = [set(own) for own in names], []
    while len(names[0]) < words:
        head, tail = pairs[rng.integers(len(pairs), size=2)]
        coined = [_coined(side.words[h], side.words[t]) for side, h, t in zip(sides, head, tail, strict=True)]
        if any(word in known for word, known in zip(coined, seen, strict=True)):
            continue
        for word, own, known in zip(coined, names, seen, strict=True):
            own.append(word)
            known.add(word)
        heads.append(head)
    return names, np.array(heads, np.int64).reshape(-1, 2)


def _coined(head: str, tail: str) -> str:
    return head[: (len(head) + 1) // 2] + tail[len(tail) // 2 :]


def noisy(rows: Matrix, rng: np.random.Generator) -> Matrix:
    """The rows (c, d) with noise of half their lengths."""
    noise = rng.standard_normal(rows.shape, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True) / np.linalg.norm(noise, axis=1, keepdims=True)
    return np.asarray(rows + NOISE * lengths * noise, np.float32)


def make_files(folder: Path, words: int, shared: Path) -> dict[str, Path]:
    """The files of both languages with so many words, by language."""
    pair, rng = find_pair("en-fr", shared), np.random.default_rng(0)
    source, target = (side.most_frequent(min(words, KNOWN)) for side in pair.vectors())
    pairs = read_lexicon(pair.must_train_in(folder)).indices(source.index, target.index)
    names, heads = with_coined((source, target), pairs, words, rng)
    made = {}
    for side, own, rows in zip((source, target), names, heads.T, strict=True):
        matrix = np.concatenate([side.matrix, noisy(side.matrix[rows], rng)]) if len(rows) else side.matrix
        made[side.language] = folder / f"{side.language}.vec"
        write_vectors_text(made[side.language], own, matrix, decimals=4)
    return made


def runs(encoder: Path | None) -> list[tuple[str, list[str | Path]]]:
    """The name of each run and its options."""
    found: list[tuple[str, list[str | Path]]] = [(one, ["--answers", one]) for one in ("csls", "all")]
    if encoder is not None:
        found += [(one, ["--encoder", encoder]) for one in ("all, encoder", "all, encoder, from the cache")]
    return found


def rows(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each number of words and kind of answers."""
    for words in (int(one) for one in asked.words.split(",")):
        with tempfile.TemporaryDirectory() as name:
            files = make_files(Path(name), words, asked.shared)
            sides = [part for code, file in files.items() for part in (code, file)]
            for answers, more in runs(asked.encoder):
                run = muse(
                    "align", "--src", sides[0], "--src-emb", sides[1],
                    "--tgt", sides[2], "--tgt-emb", sides[3], *more, "--out", Path(name) / "space", "--force",
                )  # fmt: skip
                yield {
                    "words": words, "answers": answers, "seconds": run.seconds,
                    "processor_seconds": run.processor_seconds, "peak_mb": run.fields["peak_memory_mb"],
                    "verdict": run.fields["verdict"], "commit": commit(), "date": today(),
                }  # fmt: skip


def main() -> None:
    """Measures and writes a row a run."""
    asked = command_line(__doc__, shared=SHARED, words="30000,200000", encoder=Path, out=NEEDED)
    append_rows(asked.out, COLUMNS, rows(asked))


if __name__ == "__main__":
    main()
