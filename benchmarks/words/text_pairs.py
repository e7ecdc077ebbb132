"""Sentence pairs as evidence for answers: P@1 with `--text-pairs` and without, in the same space.

    python -m benchmarks.words.text_pairs --spaces FOLDER --out FILE.csv [--pairs en-fr,en-de,web-fr-en]
        [--texts tatoeba,novels,given] [--list development,test] [--shared ../shared]

The spaces are those of `benchmarks.words.all_evidence` without pairs, made where they are not there; their
answers are learned with and without the sentence pairs that `muse mine` finds by them in two texts, and that
are kept in FOLDER as PAIR.TEXTS.tsv. *tatoeba*: 20,000 sentences a side of the training part, half of which
have their translation on the other; *novels*: 40,000 sentences a side of novels that are not translations of
each other; *given*: no text, but 20,000 pairs of Tatoeba as they are. `--list development` is the training
list, of which no pair is given.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sentences.mining import Pair as Sentences
from benchmarks.sentences.mining import distinct_pairs, make_split, write_text
from benchmarks.support.draws import NONE
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair, known_targets
from benchmarks.support.sentence_sets import PIVOT, training
from benchmarks.support.tables import append_rows, commit, muse, today
from benchmarks.words.all_evidence import made
from muse.evaluation.score import gold_name
from muse.evaluation.words import compare
from muse.files import read_lexicon
from muse.files.plain_text import read_lines
from muse.links.evidence import link_scores
from muse.ranking.features import KnownPairs
from muse.ranking.model import mutual_share, read_pretrained
from muse.ranking.train_ranker import learn_answers
from muse.run.seeds import AlignStream, generator
from muse.space import Space
from muse.text.segmentation import sentences_of
from muse.vectors import Numbers

PLANTED = LONELY = 10_000
GIVEN, SENTENCES = 20_000, 40_000
WORDS = range(4, 41)  # of a sentence of a novel
COLUMNS = (
    "pair", "texts", "sentence_pairs", "list", "queries", "without", "with", "difference", "low", "high",
    "p_value", "mutual_without", "mutual_with", "commit", "date",
)  # fmt: skip


def text_pairs(pair: Pair, texts: str, space: Path, shared: Path) -> Path:
    """The file of sentence pairs of `texts`, of the pair's source and target, made unless it is there."""
    out = space.parent / f"{pair.name}.{texts}.tsv"
    if out.exists():
        return out
    folder, rng = space.parent / f"{pair.name}.{texts}", random.Random(0)
    if texts == "novels":
        folder.mkdir()
        files = [_novels(language, folder, shared, rng) for language in (pair.source, pair.target)]
    else:
        read = training(shared / "data", next(one for one in (pair.source, pair.target) if one != PIVOT))
        sides = read.english, read.other
        of_pair = zip(*(sides if pair.source == PIVOT else sides[::-1]), strict=True)
        pairs: list[Sentences] = distinct_pairs([*of_pair], rng)
        if texts == "given":
            return write_text(out, ["\t".join(one) for one in pairs[:GIVEN]])
        ends = PLANTED + LONELY, PLANTED + 2 * LONELY
        lonely = pairs[PLANTED : ends[0]], pairs[ends[0] : ends[1]]
        files = [*make_split(pairs[:PLANTED], lonely, folder, rng)[:2]]
    ways: list[str | Path] = [
        "--src",
        pair.source,
        "--source",
        files[0],
        "--tgt",
        pair.target,
        "--target",
        files[1],
    ]
    muse("mine", space, *ways, "--out", out)
    return out


def _novels(language: str, folder: Path, shared: Path, rng: random.Random) -> Path:
    """A text of some sentences of novels, in random order."""
    lines = read_lines(shared / "data" / "text" / f"novels.{language}.tsv.gz")
    found = {one for line in lines for one in sentences_of(line.partition("\t")[2])}
    kept = sorted(one for one in found if len(one.split()) in WORDS)
    return write_text(folder / f"{language}.txt", rng.sample(kept, SENTENCES))


def first_answers(space: Space, pair: Pair, sentences: Path | None = None) -> tuple[Numbers, float]:
    """The first answer (n,) to each word of the source, learned with sentence pairs or without.

    With it, the percentage of words that are the first answer of theirs.
    """
    sides, given = [space.vectors(language) for language in (pair.source, pair.target)], KnownPairs.none()
    if sentences is not None:
        scores = link_scores(space.by_csls(), (pair.source, pair.target), sentences)
        given = replace(given, outside=(scores,))
    words, rows = ([getattr(side, name) for side in sides] for name in ("words", "matrix"))
    found = learn_answers(
        (words[0], words[1]), (np.asarray(rows[0]), np.asarray(rows[1])), given,
        rng=generator(0, AlignStream.ANSWERS), pretrained=read_pretrained(),
    )  # fmt: skip
    there, back = (one.answers.first() for one in found)
    return there, 100 * mutual_share(there, back)


def rows(
    pair: Pair, texts: list[str], lists: list[str], spaces: Path, shared: Path
) -> Iterator[dict[str, Any]]:
    """The rows of a pair."""
    folder = spaces / f"{pair.name}.{NONE}.0"
    space = made(pair, None, folder, 0, None)
    paths = [pair.must_train_in(spaces)] if "development" in lists else []
    paths += [pair.gold_in(spaces)] if "test" in lists else []
    before, mutual = first_answers(space, pair)
    for text in texts:
        sentences = text_pairs(pair, text, folder, shared)
        after, mutual_after = first_answers(space, pair, sentences)
        for path in paths:
            gold = known_targets(read_lexicon(path), space.vectors(pair.source), space.vectors(pair.target))
            hits = [
                np.array([first[row] in right for row, right in gold.items()]) for first in (after, before)
            ]
            found = compare(hits[0], hits[1], np.random.default_rng(0))
            fields = {"pair": pair.name, "texts": text, "sentence_pairs": len([*read_lines(sentences)])}
            fields |= {"mutual_without": mutual, "mutual_with": mutual_after}
            fields |= {"list": gold_name(path), "queries": found.queries, "p_value": found.p_value}
            fields |= {"without": found.second, "with": found.first, "difference": found.difference}
            yield fields | {
                "low": found.ci95[0], "high": found.ci95[1], "commit": commit(), "date": today()
            }  # fmt: skip


def main() -> None:
    """Measures and writes a row for each pair, text and list."""
    asked = command_line(
        __doc__, spaces=NEEDED, out=NEEDED, pairs="en-fr,en-de,web-fr-en", texts="tatoeba,novels,given",
        list="development", shared=SHARED,
    )  # fmt: skip
    lists, texts = asked.list.split(","), asked.texts.split(",")
    for name in asked.pairs.split(","):
        pair = find_pair(name, asked.shared)
        append_rows(asked.out, COLUMNS, rows(pair, texts, lists, asked.spaces, asked.shared))


if __name__ == "__main__":
    main()
