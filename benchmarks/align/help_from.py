"""Does a general space help to align a little text of one field? P@1 and verdicts without it and with it.

    python -m benchmarks.align.help_from --general FOLDER --work FOLDER --out FILE.csv [--manual FOLDER]
        [--pairs fr-en,de-en] [--fields manual,novels,captions,novel] [--seeds 0] [--shared ../shared]

FOLDER of the general spaces has fr-en and so on, as `muse align` made them of other text; that of the manual
has its pages as HTML in fr, de and en, with the same names, such as Debian's gimp-help-*. Nothing parallel is
learned from: of the manual each language has the pages that the other lacks, of captions (Multi30k) the
lines, and of novels, or of the longest novel of each language, the first 200,000 words. `p_at_1` is by the
list 5000-6500, `field_p_at_1` by words that the general space lacks: those of the manual or the captions and
their translations there, found in all parallel lines by the Dice coefficient, and not spelled alike. Vectors
are trained once, on one thread.
"""

import argparse
import gzip
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import append_rows, commit, muse, numbers, today
from benchmarks.words.terms_domain import Paragraphs, write_text
from muse.space import load_space

WORDS = 200_000  # of novels
DICE, LEAST = 0.5, 5  # of two words that translate each other, and lines with both
COLUMNS = (
    "pair", "field", "seed", "help", "words_source", "words_target", "verdict", "confidence", "learned_from",
    "covered", "p_at_1", "low", "high", "csls", "expected", "field_words", "field_p_at_1", "field_low",
    "field_high", "field_csls", "seconds", "commit", "date",
)  # fmt: skip
Lines = list[tuple[str, str]]


def captions(way: Sequence[str], shared: Path) -> Lines:
    """The captions of Multi30k in two languages, line by line."""
    folder = shared / "data" / "parallel"
    sides = (gzip.open(folder / f"multi30k.train.{language}.gz", "rt", encoding="utf-8") for language in way)
    return list(zip(*sides, strict=True))


def of_manual(way: Sequence[str], manual: Path) -> Lines:
    """The paragraphs of the pages that have equally many in both languages."""
    found: Lines = []
    for page in sorted((manual / way[0]).rglob("*.html")):
        files = [page, manual / way[1] / page.relative_to(manual / way[0])]
        if files[1].is_file():
            one, two = (Paragraphs(file.read_text(encoding="utf-8")).found for file in files)
            found += zip(one, two, strict=True) if len(one) == len(two) else []
    return found


def novels(path: Path, longest: bool) -> list[str]:
    """The first WORDS words of novels, or of the longest of them: a line a paragraph, whose end is a word."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        read = [line.rstrip("\n").split("\t", 1) for line in file]
    if longest:
        sizes = Counter[str]()
        for name, text in read:
            sizes[name] += len(text.split())
        read = [one for one in read if one[0] == sizes.most_common(1)[0][0]]
    ends = np.cumsum([len(text.split()) + 1 for _, text in read])
    return [text for _, text in read[: 1 + int(np.searchsorted(ends, WORDS))]]


def write_texts(field: str, way: Sequence[str], folder: Path, asked: argparse.Namespace) -> None:
    """Write the text of each language, as a folder, unless it is there."""
    for place, language in enumerate(way):
        out = folder / language
        if out.exists():
            continue
        out.mkdir(parents=True)
        if field == "manual":
            write_text(asked.manual / language, out, "halves", place)
            continue
        if field == "captions":
            every = captions(way, asked.shared)
            half = len(every) // 2
            lines = [pair[place].strip() for pair in (every[half:] if place else every[:half])]
        else:
            lines = novels(asked.shared / "data" / "text" / f"novels.{language}.tsv.gz", field == "novel")
        (out / "text").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_gold(lines: Lines, general: Path, way: Sequence[str], out: Path) -> int:
    """The number of pairs written: of words that translate each other in parallel lines.

    Each is the other's best by the Dice coefficient 2 c(s, t) / (c(s) + c(t)); the general space lacks the
    first, and they are spelled otherwise.
    """
    sets = [tuple({*re.findall(r"[^\W\d_]+", side.lower())} for side in pair) for pair in lines]
    counts = [Counter(chain.from_iterable(pair[side] for pair in sets)) for side in (0, 1)]
    both = Counter(chain.from_iterable(product(*pair) for pair in sets if max(map(len, pair)) < 60))
    best: tuple[dict[str, tuple[float, str]], ...] = ({}, {})
    for (source, target), count in both.items():
        dice = 2 * count / (counts[0][source] + counts[1][target])
        if count >= LEAST and dice >= DICE:
            best[0][source] = max(best[0].get(source, (0, "")), (dice, target))
            best[1][target] = max(best[1].get(target, (0, "")), (dice, source))
    known = load_space(general, check=False).vectors(way[0]).index
    pairs = [
        (source, target) for source, (_, target) in sorted(best[0].items())
        if best[1][target][1] == source and source not in known and source != target
    ]  # fmt: skip
    out.write_text("".join(f"{one}\t{two}\n" for one, two in pairs), encoding="utf-8")
    return len(pairs)


def measured(space: Path, gold: Path, prefix: str) -> dict[str, Any]:
    """P@1 by all evidence with its interval, and by CSLS, on a list; nothing without covered words."""
    try:
        found = muse("evaluate", space, "--dictionary", gold).fields
    except RuntimeError:  # no word of the list is covered
        return {}
    low, high = found["ci95"]
    shares = {"p_at_1": found["p_at_1"], "low": low, "high": high}
    shares["csls"] = found.get("by_csls", found)["p_at_1"]
    covered = {"field_words" if prefix else "covered": found["covered"]}
    return {f"{prefix}{name}": value for name, value in shares.items()} | covered


def rows(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yields a row for each pair, field and seed, without help and with it."""
    cells = product(numbers(asked.seeds), asked.fields.split(","), asked.pairs.split(","))
    for seed, field, pair in cells:
        way, general = pair.split("-"), asked.general / pair
        folder = asked.work / f"{field}.{pair}"
        write_texts(field, way, folder, asked)
        lines = captions(way, asked.shared) if field == "captions" else []
        lines = of_manual(way, asked.manual) if field == "manual" else lines
        gold = folder / "field.txt"
        known = write_gold(lines, general, way, gold)
        for place, language in enumerate(way):
            # English is the second language of all pairs, and its text the same.
            vectors = asked.work / f"{field}.{place}.{language}.{seed}.vec"
            if not vectors.exists():
                text = folder / language
                muse(
                    "embed", text, "--lang", language, "--out", vectors, "--seed", str(seed), "--threads", "1"
                )
        files = [asked.work / f"{field}.{place}.{language}.{seed}.vec" for place, language in enumerate(way)]
        for help_ in ("none", "general"):
            more = [] if help_ == "none" else ["--help-from", general]
            space = asked.work / f"{field}.{pair}.{seed}.{help_}"
            run = muse(
                "align", "--src", way[0], "--tgt", way[1], "--src-emb", files[0], "--tgt-emb", files[1],
                "--out", space, "--seed", str(seed), "--force", *more,
            )  # fmt: skip
            found = run.fields
            lists = asked.shared / "data" / "dictionaries" / f"{pair}.5000-6500.txt"
            yield {
                "pair": pair, "field": field, "seed": seed, "help": help_,
                "words_source": found["words"][way[0]], "words_target": found["words"][way[1]],
                "verdict": found["verdict"], "confidence": found["confidence"],
                "learned_from": found.get("supervision", {}).get("pairs_of", ""),
                "expected": found["expected_p_at_1"] or "", **measured(space, lists, ""),
                **(measured(space, gold, "field_") if known else {}),
                "seconds": run.seconds, "commit": commit(), "date": today(),
            }  # fmt: skip


def main() -> None:
    """Measure, and write the rows."""
    asked = command_line(
        __doc__, general=NEEDED, work=NEEDED, out=NEEDED, manual=Path, pairs="fr-en,de-en",
        fields="manual,novels,captions", seeds="0", shared=SHARED,
    )  # fmt: skip
    asked.work.mkdir(parents=True, exist_ok=True)
    append_rows(asked.out, COLUMNS, rows(asked))


if __name__ == "__main__":
    main()
