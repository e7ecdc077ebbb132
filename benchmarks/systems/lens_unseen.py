"""A lens for a language without parallel text: what another language's lens does for it, and what text does.

    python -m benchmarks.systems.lens_unseen --joint FOLDER --out FILE.csv [--trained fr] [--read de]
        [--pairs 10000]
        [--lenses pairs,words,text,both,mined,again,third,own] [--text 50000] [--seeds 0-2]
        [--shared ../shared]

FOLDER is a space of three languages (muse align --src de --into SPACE). Lenses are learned from
    pairs   translations of the trained language, read on the other one as they are
    words   the same English sentences, translated into the other language word by word in the space
    text    sentences of the other language, translated into English word by word
    both    words and text together
    mined   the best pairs that the lens of `pairs` finds between --text sentences of the other language and
            the English ones of the trained language's text (`muse mine`, by margin)
    again   those that the lens of `mined` finds
    third   those that the lens of `again` finds
    own     translations of the other language: what there would be with parallel text
Measured is P@1 into English on LASER's Tatoeba sentences of the other language, by cosine, CSLS and margin,
and by cosine less the mean row of each language. No sentence of the set is learned from. One row a lens,
number of pairs and seed is appended to FILE.csv, with the queries that were answered; rows that are there are
not made again. At the end stand the gaps between each lens and `own`, of means over the seeds, with 95 %
intervals by bootstrap over the queries, the same for both, and over the seeds of each.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import torch

from benchmarks.sentences.sentences import shown
from benchmarks.support.kept_rows import append, check_columns, interval_columns, read_rows, with_interval
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_search import answered
from benchmarks.support.sentence_sets import PIVOT, Aligned
from benchmarks.support.tables import commit, header, heading, numbers, row, today
from benchmarks.systems.lens_core import some_of
from benchmarks.systems.lens_text import fresh_pairs, tested, write_pairs
from benchmarks.systems.lens_training import lens
from benchmarks.words.translation import translated
from muse.evaluation.score import bootstrap_interval, percentile_interval
from muse.search.retrieval import PairScore
from muse.sentences.encoders.composed import Corrected
from muse.sentences.encoders.corrections import Correction
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.loading import load_encoder
from muse.sentences.mining import MiningConfig, mine
from muse.space import AlignedSpace, load_space
from muse.vectors import Matrix

LENSES = ("pairs", "words", "text", "both", "mined", "again", "third", "own")
MINED = {"mined": "pairs", "again": "mined", "third": "again"}  # the lens that finds the pairs
WAYS = {"nn": PairScore("nn"), "csls": PairScore("csls", k=10), "margin": PairScore("margin", k=4)}
FIGURES = (*WAYS, "centred")
BEST = "own"
KEY = ("learned_from", "read", "seed", "pairs")
HITS = tuple(f"hits_{name}" for name in FIGURES)  # of every query, packed and in hexadecimal
COLUMNS = (*KEY, *interval_columns(*FIGURES), "queries", *HITS, "commit", "date")
SAMPLES = 1_000
Group = Sequence[Mapping[str, str]]


def by_words(space: Path, source: str, target: str, sentences: Sequence[str]) -> list[str]:
    """The sentences translated by muse translate, word by word."""
    found, _ = translated(space, sentences, "--src", source, "--tgt", target)
    return list(found["lines"])


def fresh(asked: argparse.Namespace, language: str) -> list[tuple[str, str]]:
    """English sentences and their translations, none of which stands in the set that is read."""
    data = asked.shared / "data"
    test = tested(data, asked.read)
    seen = {*test.english, *test.other, *tested(data, asked.trained).english}
    return fresh_pairs(data, language, seen)


class Lessons:
    """What each lens learns from: pairs of an English sentence and one of the language that is trained."""

    def __init__(self, space: AlignedSpace, asked: argparse.Namespace) -> None:
        self._space, self._asked = space, asked
        self._lenses: dict[tuple[str, int], SentenceEncoder] = {}
        self._mined: dict[tuple[str, int], list[tuple[str, str]]] = {}

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Translations of the trained language."""
        return fresh(self._asked, self._asked.trained)[: self._asked.pairs]

    @cached_property
    def own(self) -> list[tuple[str, str]]:
        """Translations of the language that is read."""
        return fresh(self._asked, self._asked.read)[: self._asked.pairs]

    @cached_property
    def words(self) -> list[tuple[str, str]]:
        """The English sentences of `pairs`, each beside its words in the language that is read."""
        english = [one for one, _ in self.pairs]
        made = by_words(self._asked.joint, PIVOT, self._asked.read, english)
        return full(zip(english, made, strict=True))

    @cached_property
    def text(self) -> list[tuple[str, str]]:
        """The other sentences of `own`, each beside its words in English."""
        other = [two for _, two in self.own]
        made = by_words(self._asked.joint, self._asked.read, PIVOT, other)
        return full(zip(made, other, strict=True))

    @property
    def both(self) -> list[tuple[str, str]]:
        """Words and text together."""
        return [*self.words, *self.text]

    def mined(self, name: str, seed: int) -> list[tuple[str, str]]:
        """The best pairs between texts of both languages that the lens before this one finds."""
        if (name, seed) not in self._mined:
            texts = {
                self._asked.read: [two for _, two in fresh(self._asked, self._asked.read)],
                PIVOT: [one for one, _ in fresh(self._asked, self._asked.trained)],
            }
            texts = {language: list(dict.fromkeys(text)) for language, text in texts.items()}
            texts[self._asked.read] = texts[self._asked.read][: self._asked.text]
            found = best_pairs(self.lens(MINED[name], seed), texts)[: self._asked.pairs]
            self._mined[name, seed] = found
            print(
                f"{name}, seed {seed}: {self._right(found):.1f} % of the pairs are translations", flush=True
            )
        return self._mined[name, seed]

    def _right(self, pairs: Sequence[tuple[str, str]]) -> float:
        """The share of pairs, in percent, that the translations of the language that is read have."""
        known = set(fresh(self._asked, self._asked.read))
        return 100 * float(np.mean([pair in known for pair in pairs]))

    def of(self, name: str, seed: int) -> list[tuple[str, str]]:
        """The pairs of one of LENSES; none for the mean, which learns nothing."""
        if name in MINED:
            return self.mined(name, seed)
        found: list[tuple[str, str]] = getattr(self, name) if name in LENSES else []
        return found

    def lens(self, name: str, seed: int) -> SentenceEncoder:
        """The lens of these pairs, learned once."""
        if (name, seed) not in self._lenses:
            language = self._asked.trained if name == "pairs" else self._asked.read
            self._lenses[name, seed] = learned(self._space, self.of(name, seed), language, self._asked, seed)
        return self._lenses[name, seed]


def best_pairs(encoder: SentenceEncoder, texts: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Pairs of an English sentence and one of the other language, best first, by margin."""
    other = next(language for language in texts if language != PIVOT)
    rows = {language: encoder.encode(list(text), language).matrix for language, text in texts.items()}
    found = mine(rows[other], rows[PIVOT], config=MiningConfig(WAYS["margin"]))
    return [(texts[PIVOT][english], texts[other][foreign]) for foreign, english in found.pairs.tolist()]


def full(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs of which neither side is empty."""
    return [pair for pair in pairs if all(pair)]


def learned(
    space: AlignedSpace, pairs: Iterable[tuple[str, str]], language: str, asked: argparse.Namespace, seed: int
) -> SentenceEncoder:
    """The lens of these pairs."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_pairs(pairs, Path(folder) / "pairs.tsv")
        return lens(space, {"parallel": (path,)}, language, asked.epochs, seed)


def measured(encoder: SentenceEncoder, test: Aligned, language: str) -> dict[str, object]:
    """P@1 in percent by each way, with its interval, and the queries that were answered."""
    centred: SentenceEncoder = Corrected(encoder, Correction("centre"))
    centred = centred.fit(test.other, language).fit(test.english, PIVOT)
    hits = [*answered(encoder, test, language, WAYS.values())]
    hits += answered(centred, test, language, [WAYS["nn"]])
    found: dict[str, object] = {"queries": len(test.other)}
    for name, right in zip(FIGURES, hits, strict=True):
        interval = bootstrap_interval(right, np.random.default_rng(0))
        found |= with_interval(name, 100 * float(right.mean()), interval)
        found[f"hits_{name}"] = np.packbits(right).tobytes().hex()
    return found


def answers(rows: Group, name: str) -> Matrix:
    """Which queries the lens of each seed answered (s, q), 1 or 0."""
    bits = [np.unpackbits(np.frombuffer(bytes.fromhex(one[f"hits_{name}"]), np.uint8)) for one in rows]
    return np.array(bits, np.float32)[:, : int(rows[0]["queries"])]


def gap(best: Matrix, other: Matrix, rng: np.random.Generator) -> tuple[float, tuple[float, float]]:
    """How many points the answers (s, q) of other seeds (s', q) are below `best`, and the 95 % interval.

    Every sample draws queries, the same for both, and the seeds of each.
    """
    drawn = rng.integers(best.shape[1], size=(SAMPLES, best.shape[1]))
    seeds = [rng.integers(len(hits), size=(SAMPLES, len(hits))) for hits in (best, other)]
    found = [
        float(best[one][:, queries].mean() - other[two][:, queries].mean())
        for one, two, queries in zip(*seeds, drawn, strict=True)
    ]
    low, high = percentile_interval(100 * np.array(found))
    return 100 * float(best.mean() - other.mean()), (low, high)


def gaps(rows: Group, read: str) -> None:
    """Prints the gaps to `own` of all lenses of a language, of as many pairs; `mean` has none."""
    groups: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for one in rows:
        if one["read"] == read:
            groups.setdefault((one["learned_from"], one["pairs"]), []).append(one)
    heading(f"How far below {BEST}, P@1 into English from {read}")
    header(("learned from", "pairs", f"pairs of {BEST}", "seeds", *FIGURES))
    for name, pairs in groups:
        for known, count in groups:
            if known != BEST or (name, pairs) == (known, count):
                continue
            best, other = groups[known, count], groups[name, pairs]
            cells = [
                shown(*gap(answers(best, way), answers(other, way), np.random.default_rng(0)))
                for way in FIGURES
            ]
            row([name, pairs, count, f"{len(other)}, {len(best)}", *cells])


def missing(rows: Group, lessons: Lessons, asked: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """The lenses and seeds whose rows are not there; the mean has one seed, for it learns nothing."""
    done = {tuple(one[name] for name in KEY) for one in rows}
    for name, seed in [("mean", 0), *product(asked.lenses, numbers(asked.seeds))]:
        count = asked.pairs if name in MINED else len(lessons.of(name, seed))
        if (name, asked.read, str(seed), str(count)) not in done:
            yield name, seed


def main() -> None:
    """Appends the rows that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--joint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--trained", default="fr")
    parser.add_argument("--read", default="de")
    parser.add_argument("--lenses", type=some_of(*LENSES), default=LENSES)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--text", type=int, default=50_000, help="sentences to mine translations of")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    check_columns(asked.out, COLUMNS)
    torch.set_num_threads(1)
    space, test = load_space(asked.joint), tested(asked.shared / "data", asked.read)
    lessons, kept = Lessons(space, asked), read_rows(asked.out)
    for name, seed in missing(kept, lessons, asked):
        pairs = lessons.of(name, seed)
        encoder = load_encoder(name, space) if name == "mean" else lessons.lens(name, seed)
        key = dict(zip(KEY, (name, asked.read, seed, len(pairs)), strict=True))
        figures = measured(encoder, test, asked.read)
        append(asked.out, [{**key, **figures, "commit": commit(), "date": today()}], COLUMNS)
        print(*key.values(), *(figures[way] for way in FIGURES), flush=True)
    gaps(read_rows(asked.out), asked.read)


if __name__ == "__main__":
    main()
