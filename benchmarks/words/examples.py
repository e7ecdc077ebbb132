"""Examples: seconds and size of an index of sentences, milliseconds of a look-up, and sentences to judge.

    python -m benchmarks.words.examples --space SPACE --lang en --text A.tsv.gz,B.txt.gz [--words 10000000]
        [--looked-up 300] [--csv FILE] [--judge FILE --tgt fr --tgt-text C.tsv.gz]

The text is read again until it has so many words, each time with the second halves of other lines, since an
index keeps a sentence once. Looked up are the most frequent words, words drawn at random by rank, and pairs
of words that follow one another in the text, three sentences each: milliseconds of the processor.
--judge writes sentences with words drawn at random and with their translations, to be judged by a person.
"""

import csv
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count, islice, pairwise
from pathlib import Path

import numpy as np

from benchmarks.support.options import command_line
from benchmarks.support.tables import append_rows, heading
from muse.api.space import load_space
from muse.examples.index import find_sentences, write_index
from muse.examples.lookup import find_examples
from muse.files.space_folder import EXAMPLES
from muse.files.text_slices import text_lines
from muse.progress import Progress
from muse.space.saving import copy_space
from muse.vectors import Vectors

COLUMNS = (
    "language", "words", "sentences", "processor_seconds", "megabytes", "queries", "median_ms", "p95_ms",
    "most_ms",
)  # fmt: skip
FREQUENT, TOP, JUDGED, COMMON = 100, 3, 25, 5_000
PROGRESS = Progress(quiet=True)


def main() -> None:
    """Print the table, or write the sentences to judge."""
    given = command_line(
        __doc__, space=Path, lang="en", text=str, words=10_000_000, looked_up=300, judge=Path, tgt="fr",
        tgt_text=str, csv=Path("examples.csv"),
    )  # fmt: skip
    space, rng = load_space(given.space), np.random.default_rng(0)
    texts = [Path(one) for one in given.text.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        if given.judge is not None:
            copy_space(Path(folder) / "space", given.space)
            sides = {given.lang: texts, given.tgt: [Path(one) for one in given.tgt_text.split(",")]}
            for language, files in sides.items():
                write_index(
                    Path(folder) / "space" / language / EXAMPLES,
                    files,
                    space.vectors(language),
                    progress=PROGRESS,
                )
            _to_judge(Path(folder) / "space", (given.lang, given.tgt), given.judge, rng)
            return
        heading("Sentences as examples")
        text, path, vectors = Path(folder) / "text", Path(folder) / EXAMPLES, space.vectors(given.lang)
        lines = [*text_lines(texts)]
        text.write_text("".join(f"{line}\n" for line in _until(lines, given.words)), encoding="utf-8")
        began = time.process_time()
        made = write_index(path, [text], vectors, progress=PROGRESS)
        seconds = time.process_time() - began
        drawn = rng.choice(len(vectors), given.looked_up, replace=False).tolist()
        follow = [
            " ".join(two)
            for place in rng.choice(len(lines), given.looked_up).tolist()
            for two in islice(pairwise(lines[place].split()), 1)
        ]
        for kind, queries in (
            (f"{FREQUENT} most frequent", vectors.words[:FREQUENT]),
            (f"{given.looked_up} words at random", [vectors.words[row] for row in drawn]),
            (f"{len(follow)} pairs of words", follow),
        ):
            found = np.array([_milliseconds(path, vectors, query) for query in queries])
            row = {
                "language": given.lang, "words": made.words, "sentences": made.sentences,
                "processor_seconds": seconds, "megabytes": path.stat().st_size / 1e6, "queries": kind,
            }  # fmt: skip
            row |= {"median_ms": np.median(found), "p95_ms": np.quantile(found, 0.95), "most_ms": found.max()}
            append_rows(given.csv, COLUMNS, [row])


def _until(lines: Sequence[str], words: int) -> Iterator[str]:
    """Yields the lines, then first halves of lines with second halves of others, up to so many words."""
    for turn in count():
        for place, line in enumerate(lines):
            first, second = line.split(), lines[(place + 7_919 * turn) % len(lines)].split()
            parts = first[: len(first) // 2] + second[len(second) // 2 :] if turn else first
            yield " ".join(parts)
            words -= len(parts)
            if words <= 0:
                return


def _milliseconds(path: Path, vectors: Vectors, query: str) -> float:
    began = time.process_time()
    find_sentences(path, vectors, query, TOP)
    return 1_000 * (time.process_time() - began)


def _to_judge(folder: Path, way: tuple[str, str], out: Path, rng: np.random.Generator) -> None:
    """Write two sentences with each word, and two with its translation, until JUDGED words have them."""
    space = load_space(folder)
    words = space.vectors(way[0]).words[:COMMON]
    with out.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file).writerow
        write(("language", "word", "sentence", "good", "why"))
        left = JUDGED
        for word in rng.permutation(words).tolist():
            best = space.translate(word, 1, src=way[0], tgt=way[1]).best
            found = find_examples(space, way, word, best and best.target, 2)
            if left and len(found.source) == len(found.target) == 2:
                left -= 1
                for language, examples in found.sides:
                    asked = word if language == way[0] else found.translation
                    for one in examples:
                        write((language, asked, one.text, "", ""))


if __name__ == "__main__":
    main()
