"""How well two whole texts are aligned in order, beside lengths alone, and how long it takes.

    python -m benchmarks.sentences.texts --space en-fr=FOLDER [--space ...] [--draws 3]
        [--encoders "idf;mean"] [--text NAME=SOURCE,TARGET,GOLD ...] [--galechurch PYTHON]
        [--sizes 1000,10000] [--shared ../shared]

Of each space, texts are made of Tatoeba's pairs of sentences in random order: of a hundred blocks 72 are 1:1,
14 1:2 or 2:1, 3 2:2, 5 larger, each such that it is no two smaller ones, and 6 are runs of one to ten
sentences that the other text lacks. --text adds texts with gold on lines such as [3]:[4, 5]; the blocks of
one called verses may be cut further. Precision and recall are of blocks with both sides, strict (equal) and
lax (a sentence of each side in common), as Thompson and Koehn (2019) have them, and ECE is the calibration
error of the probabilities. --galechurch names a Python with that package. With --sizes, texts of so many
sentences a side of the first space are timed, each in a process of its own.
"""

import ast
import csv
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.support.options import REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import retrieval_sets, training
from benchmarks.support.tables import header, heading, row
from muse.sentences.loading import load_encoder
from muse.sentences.text_alignment import align_sentences, align_texts, text_vectors
from muse.space import load_space

Side = tuple[int, ...]
Blocks = list[tuple[Side, Side]]
# How many pairs of sentences each sentence of a block is made of, on both sides, and the share of these.
KINDS: dict[str, tuple[list[int], list[int], float]] = {
    "1:1": ([1], [1], 0.72), "1:2": ([2], [1, 1], 0.07), "2:1": ([1, 1], [2], 0.07),
    "1:3": ([3], [1, 1, 1], 0.01), "3:1": ([1, 1, 1], [3], 0.01), "2:2": ([2, 1], [1, 2], 0.03),
    "2:3": ([2, 2], [1, 2, 1], 0.01), "3:2": ([1, 2, 1], [2, 2], 0.01), "3:3": ([2, 2, 1], [1, 2, 2], 0.01),
    "1:0": ([1], [], 0.03), "0:1": ([], [1], 0.03),
}  # fmt: skip
RUNS = ([1, 2, 3, 5, 10], [0.6, 0.2, 0.1, 0.05, 0.05])
VERSES = "verses"
PEER = """import json, sys, galechurch
print(galechurch.align(*json.load(sys.stdin)).to_pharaoh_lines())"""


class TextPair(NamedTuple):
    """Two texts, and the blocks that are right."""

    name: str
    source: list[str]
    target: list[str]
    gold: Blocks


def drawn(name: str, pairs: Sequence[tuple[str, str]], seed: int) -> TextPair:
    """Texts of all the pairs, with merges, splits and omissions."""
    rng = random.Random(seed)
    order = [*pairs]
    rng.shuffle(order)
    made, place = TextPair(name, [], [], []), 0
    while place < len(order):
        *sizes, _ = KINDS[rng.choices([*KINDS], [share for *_, share in KINDS.values()])[0]]
        size = max(map(sum, sizes))
        for _ in range(1 if all(sizes) else rng.choices(*RUNS)[0]):
            taken = order[place : place + size]
            place += size
            if len(taken) < size:
                break
            block = []
            for number, (text, counts) in enumerate(zip(made[1:3], sizes, strict=True)):
                ends = np.cumsum([0, *counts]).tolist()
                block.append(tuple(range(len(text), len(text) + len(counts))))
                for begin, end in zip(ends, ends[1:], strict=False):
                    text.append(" ".join(pair[number] for pair in taken[begin:end]))
            made.gold.append((block[0], block[1]))
    return made


def read_gold(path: Path) -> Blocks:
    """The blocks on lines such as [3]:[4, 5]."""
    sides = (line.partition(":")[::2] for line in path.read_text(encoding="utf-8").splitlines())
    return [(tuple(ast.literal_eval(one)), tuple(ast.literal_eval(two))) for one, two in sides]


def measures(pair: TextPair, found: Blocks) -> list[float]:
    """Strict and lax precision, recall and F1 of the blocks with both sides, in percent.

    Of verses, a block is right if it is inside one, and a verse is found if a block begins where it does.
    """
    gold = [block for block in pair.gold if all(block)]
    test = [block for block in found if all(block)]
    links = {(i, j): place for place, (one, two) in enumerate(gold) for i in one for j in two}
    tested = {(i, j) for one, two in test for i in one for j in two}
    lax = [
        sum(any((i, j) in links for i in one for j in two) for one, two in test) / max(1, len(test)),
        sum(any((i, j) in tested for i in one for j in two) for one, two in gold) / max(1, len(gold)),
    ]
    if pair.name.endswith(VERSES):
        begins = {(one[0], two[0]) for one, two in test}
        verses = [{links.get((i, j)) for i in one for j in two} for one, two in test]
        right = [len(verse) == 1 and None not in verse for verse in verses]
        strict = [
            sum(right) / max(1, len(test)),
            sum((one[0], two[0]) in begins for one, two in gold) / len(gold),
        ]
    else:
        strict = [len({*gold} & {*test}) / max(1, len(test)), len({*gold} & {*test}) / max(1, len(gold))]
    return [100 * value for p, r in (strict, lax) for value in (p, r, 2 * p * r / max(1e-9, p + r))]


def aligned(space: Path, name: str, languages: tuple[str, str], pair: TextPair) -> tuple[Blocks, list[float]]:
    """The blocks that muse finds with an encoder, and their probabilities."""
    found = align_sentences(load_space(space), languages, (pair.source, pair.target), encoder=name)
    blocks = [(tuple(range(*one.source)), tuple(range(*one.target))) for one in found]
    return blocks, [one.probability for one in found]


def by_lengths(python: str, pair: TextPair) -> Blocks:
    """The blocks that galechurch finds."""
    done = subprocess.run(
        [python, "-c", PEER], input=json.dumps(pair[1:3]), capture_output=True, text=True, check=True
    )
    sides = (line.partition(":")[::2] for line in ast.literal_eval(done.stdout))
    return [(tuple(ast.literal_eval(one)), tuple(ast.literal_eval(two))) for one, two in sides]


def sentence_pairs(shared: Path, languages: tuple[str, str]) -> list[tuple[str, str]]:
    """Tatoeba's pairs of two languages, one of them English: the test list, else LASER's."""
    other = next(name for name in languages if name != "en")
    found = {one.name: one for one in retrieval_sets(shared / "data", other)}
    chosen = found.get("tatoeba test") or next(
        one for name, one in found.items() if name.startswith("tatoeba.")
    )
    pairs = list(zip(chosen.english, chosen.other, strict=True))
    return pairs if languages[0] == "en" else [(two, one) for one, two in pairs]


def timed(shared: Path, space: Path, languages: tuple[str, str], size: int) -> None:
    """Prints the processor seconds of encoding and aligning texts of so many sentences, and the memory."""
    text = training(shared / "data", next(name for name in languages if name != "en"))
    pairs = list(zip(text.english, text.other, strict=True))
    pair = drawn("time", pairs[: int(size * 1.6)], 0)
    pair = pair._replace(source=pair.source[:size], target=pair.target[:size])
    encoder, began = load_encoder("idf", load_space(space)), time.process_time()
    one = encoder.fit(pair.source, languages[0]).encode(pair.source, languages[0]).matrix
    two = encoder.fit(pair.target, languages[1]).encode(pair.target, languages[1]).matrix
    vectors, lengths = text_vectors((one, two), (pair.source, pair.target))
    encoded = time.process_time()
    align_texts(*vectors, lengths)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row([size, round(encoded - began, 1), round(time.process_time() - encoded, 1), round(memory)])


def main() -> None:
    """Prints the tables."""
    options = command_line(
        __doc__, space=(REPEATED, "PAIR=FOLDER"), text=(REPEATED, "NAME=SOURCE,TARGET,GOLD of the space"),
        draws=3, encoders="idf", galechurch=str, sizes=str, size=int, csv=str, shared=SHARED,
    )  # fmt: skip
    spaces = {name: Path(folder) for name, _, folder in (one.partition("=") for one in options.space)}
    if options.size:
        name, folder = next(iter(spaces.items()))
        timed(options.shared, folder, pair_languages(name), options.size)
        return
    heading("Texts aligned in order")
    if options.sizes:
        header(["sentences", "encoding (s)", "aligning (s)", "memory (MB)"])
        for size in options.sizes.split(","):
            command = [
                sys.executable,
                "-m",
                "benchmarks.sentences.texts",
                "--space",
                options.space[0],
                "--size",
                size,
            ]
            subprocess.run([*command, "--shared", str(options.shared)], check=True)
        return
    columns = ["texts", "by", "strict P", "R", "F1", "lax P", "R", "F1", "ECE"]
    header(columns)
    for name, folder in spaces.items():
        languages = pair_languages(name)
        if options.text:
            texts = [read_texts(one) for one in options.text]
        else:
            pairs = sentence_pairs(options.shared, languages)
            texts = [drawn(name, pairs, 1_000 + seed) for seed in range(options.draws)]
        for encoder in options.encoders.split(";"):
            found = [aligned(folder, encoder, languages, pair) for pair in texts]
            print_row(columns, f"{name} {texts[0].name}", encoder, texts, found, options.csv)
        if options.galechurch:
            peers = [(by_lengths(options.galechurch, pair), list[float]()) for pair in texts]
            print_row(columns, f"{name} {texts[0].name}", "galechurch", texts, peers, options.csv)


def pair_languages(name: str) -> tuple[str, str]:
    """The languages of a pair such as en-fr."""
    source, _, target = name.partition("-")
    return source, target


def read_texts(given: str) -> TextPair:
    """The texts of NAME=SOURCE,TARGET,GOLD."""
    name, _, files = given.partition("=")
    source, target, gold = map(Path, files.split(","))
    texts = [path.read_text(encoding="utf-8").splitlines() for path in (source, target)]
    return TextPair(name, texts[0], texts[1], read_gold(gold))


def print_row(
    columns: Sequence[str], name: str, by: str, texts: Sequence[TextPair],
    found: Sequence[tuple[Blocks, list[float]]], out: str | None,
) -> None:  # fmt: skip
    """Prints the measures of several texts, each counted alike by its blocks, and adds them to a CSV."""
    sizes = [sum(all(block) for block in pair.gold) for pair in texts]
    values = np.average(
        [measures(pair, blocks) for pair, (blocks, _) in zip(texts, found, strict=True)],
        axis=0,
        weights=sizes,
    )
    odds = [
        (probability, block in pair.gold)
        for pair, (blocks, probabilities) in zip(texts, found, strict=True)
        for block, probability in zip(blocks, probabilities, strict=False)
        if all(block)
    ]
    error = calibration_error(odds) if odds and not texts[0].name.endswith(VERSES) else None
    cells = [name, by, *(float(value) for value in values), "" if error is None else f"{error:.3f}"]
    row(cells)
    if out:
        with Path(out).open("a", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            if not stream.tell():
                writer.writerow(columns)
            writer.writerow([f"{cell:.1f}" if isinstance(cell, float) else cell for cell in cells])


def calibration_error(odds: Sequence[tuple[float, bool]]) -> float:
    """The mean difference of probability and share of right blocks, in ten classes of probability."""
    p, right = np.array(odds, float).T
    classes = np.minimum((p * 10).astype(int), 9)
    gaps = [abs((p - right)[classes == one].sum()) for one in range(10)]
    return float(sum(gaps) / len(p))


if __name__ == "__main__":
    main()
