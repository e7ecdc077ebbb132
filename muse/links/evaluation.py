"""Links measured against those that people have made: precision, recall, F1 and the alignment error rate.

Gold links are sure, S, or possible, P, of which the sure ones are part. With the found links A, precision is
|A & P| / |A|, recall |A & S| / |S|, and AER 1 - (|A & S| + |A & P|) / (|A| + |S|) (Och and Ney, 2003).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from muse.errors import BadFile, Mismatch
from muse.evaluation.score import Interval, JsonScore, Signature, percentile_interval, with_interval
from muse.files.plain_text import read_lines
from muse.links.links import read_pharaoh
from muse.vectors import Doubles

Pairs = frozenset[tuple[int, int]]
SAMPLES = 1_000  # of the bootstrap
_LINK = re.compile(r"(\d{1,9})([-p?])(\d{1,9})", re.ASCII)
_NAACL = re.compile(r"0*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP]))?(?:\s+[\d.]+)?\s*", re.ASCII)


@dataclass(frozen=True)
class GoldLinks:
    """The sure and the possible links, among which the sure ones are, of a pair of sentences."""

    sure: Pairs
    possible: Pairs


@dataclass(frozen=True)
class GoldFile:
    """The gold links of a file by the pair of sentences, from 0, and how many pairs it has or `numbered`."""

    path: Path
    links: Mapping[int, GoldLinks]
    count: int
    numbered: bool = False

    def of(self, sentences: int) -> list[GoldLinks]:
        """The links of so many pairs; Mismatch for another number, but numbered pairs may lack links."""
        lacking = self.numbered and self.count < sentences
        check_count(self.path, sentences if lacking else self.count, sentences)
        return [self.links.get(number, _gold([])) for number in range(sentences)]


def read_gold(path: Path) -> GoldFile:
    """The gold links of a file: lines of `i-j` and `ipj`, or the format of NAACL 2003.

    The latter has `sentence i j`, and S or P, on each line, counted from 1. In the former a place 0 anywhere
    says that places are counted from 0, else they are from 1.
    """
    lines = list(read_lines(path))
    if not any(map(str.strip, lines)):
        raise BadFile(f"{path}: expected gold links, got {len(lines)} empty lines; check its name")
    if any(map(_NAACL.fullmatch, lines[:100])):
        return _of_naacl(path, lines)
    found = list[list[tuple[int, str, int]]]()
    for number, line in enumerate(lines, 1):
        links = []
        for part in line.split():
            if (match := _LINK.fullmatch(part)) is None:
                raise BadFile(
                    f"{path}:{number}: expected gold links such as 1-2 or 1p2, got {part[:40]!r}; "
                    "check its format"
                )
            links.append((int(match[1]), match[2], int(match[3])))
        found.append(links)
    first = 0 if any(0 in (i, j) for links in found for i, _, j in links) else 1
    read = (_gold([(i - first, kind == "-", j - first) for i, kind, j in links]) for links in found)
    return GoldFile(path, dict(enumerate(read)), len(found))


def check_count(path: Path, got: int, sentences: int) -> None:
    """Raise Mismatch unless a file has links of so many pairs of sentences."""
    if got != sentences:
        raise Mismatch(
            f"{path}: expected links of {sentences} pairs of sentences, got {got}; use the files that belong "
            "together"
        )


def _gold(links: Sequence[tuple[int, bool, int]]) -> GoldLinks:
    sure = frozenset((i, j) for i, is_sure, j in links if is_sure)
    return GoldLinks(sure, sure | {(i, j) for i, _, j in links})


def _of_naacl(path: Path, lines: Sequence[str]) -> GoldFile:
    found: dict[int, list[tuple[int, bool, int]]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if (match := _NAACL.fullmatch(line)) is None or min(map(int, match.group(1, 2, 3))) < 1:
            raise BadFile(
                f"{path}:{number}: expected the numbers of a sentence and two words from 1, and S or P, "
                f"got {line[:40]!r}; correct the line"
            )
        sentence, i, j = (int(one) - 1 for one in match.group(1, 2, 3))
        found.setdefault(sentence, []).append((i, match[4] != "P", j))
    return GoldFile(path, {one: _gold(links) for one, links in found.items()}, max(found) + 1, numbered=True)


def check_gold(gold: Sequence[GoldLinks], lengths: Sequence[tuple[int, int]], path: Path) -> None:
    """Raise BadFile for a link beyond its sentence."""
    for number, (one, (s, t)) in enumerate(zip(gold, lengths, strict=True), 1):
        beyond = sorted((i, j) for i, j in one.possible if i >= s or j >= t)
        if beyond:
            raise BadFile(
                f"{path}:{number}: expected links of {s} and {t} words, got one of words "
                f"{beyond[0][0] + 1} and {beyond[0][1] + 1}, counted from 1; check that gold and sentences "
                "are tokenised alike"
            )


def read_links(path: Path) -> list[Pairs]:
    """The links of each line of a file in Pharaoh's format, counted from 0."""
    lines = enumerate(read_lines(path), 1)
    return [frozenset((i, j) for i, j, _ in read_pharaoh(line, f"{path}:{number}")) for number, line in lines]


@dataclass(frozen=True)
class LinkScore(JsonScore):
    """AER, precision, recall and F1 of links in percent; `ci95` is the interval of AER over sentences."""

    aer: float
    ci95: Interval
    precision: float
    precision_ci95: Interval
    recall: float
    recall_ci95: Interval
    f1: float
    f1_ci95: Interval
    sentences: int
    signature: Signature

    def __str__(self) -> str:
        rest = ", ".join(
            f"{name} {with_interval(value, ci95)}"
            for name, value, ci95 in (
                ("precision", self.precision, self.precision_ci95), ("recall", self.recall, self.recall_ci95),
                ("F1", self.f1, self.f1_ci95),
            )
        )  # fmt: skip
        return f"AER = {with_interval(self.aer, self.ci95)} | {self.signature}\n{rest}"


def counts_of(found: Sequence[Pairs], gold: Sequence[GoldLinks]) -> Doubles:
    """For each pair of sentences |A|, |S|, |A & P| and |A & S|: (q, 4)."""
    both = zip(found, gold, strict=True)
    rows = [(len(a), len(g.sure), len(a & g.possible), len(a & g.sure)) for a, g in both]
    return np.array(rows, np.float64).reshape(-1, 4)


def figures(counts: Doubles) -> Doubles:
    """AER, precision, recall and F1 in percent (..., 4) of sums of counts (..., 4).

    >>> figures(np.array([4.0, 2.0, 3.0, 2.0])).round(1).tolist()
    [16.7, 75.0, 100.0, 85.7]
    """
    a, s, possible, sure = np.moveaxis(counts, -1, 0)
    precision, recall = possible / np.maximum(a, 1), sure / np.maximum(s, 1)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    aer = 1 - (possible + sure) / np.maximum(a + s, 1)
    return np.asarray(100 * np.stack([aer, precision, recall, f1], axis=-1))


def score_links(counts: Doubles, rng: np.random.Generator, signature: Signature) -> LinkScore:
    """The score of counts (q, 4), with intervals by resampling the sentences (Efron, 1979)."""
    values = figures(counts.sum(axis=0))
    sampled = figures(_resampled(counts, rng))
    aer, precision, recall, f1 = (
        (round(float(values[place]), 2), _rounded(percentile_interval(sampled[:, place])))
        for place in range(4)
    )
    return LinkScore(*aer, *precision, *recall, *f1, len(counts), signature)


@dataclass(frozen=True)
class ComparedLinks:
    """The difference of two AERs of the same sentences, its interval, and how probable it is by chance."""

    difference: float
    ci95: Interval
    p: float

    def __str__(self) -> str:
        return f"AER {self.difference:+.1f} [{self.ci95[0]:+.1f}, {self.ci95[1]:+.1f}], p = {self.p:.3f}"


def compare_links(counts: Doubles, others: Doubles, rng: np.random.Generator) -> ComparedLinks:
    """How the AER of counts (q, 4) differs from that of others, by a paired bootstrap (Koehn, 2004)."""
    both = np.concatenate([counts, others], axis=1)
    sampled = _resampled(both, rng)
    apart = figures(sampled[:, :4])[:, 0] - figures(sampled[:, 4:])[:, 0]
    found = float(figures(counts.sum(axis=0))[0] - figures(others.sum(axis=0))[0])
    tail = (1 + min(int((apart <= 0).sum()), int((apart >= 0).sum()))) / (1 + SAMPLES)
    return ComparedLinks(round(found, 2), _rounded(percentile_interval(apart)), round(min(1.0, 2 * tail), 3))


def _resampled(counts: Doubles, rng: np.random.Generator) -> Doubles:
    """The sums (SAMPLES, k) of counts (q, k) of as many sentences drawn with replacement."""
    times = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=SAMPLES)  # (SAMPLES, q)
    return np.asarray(times @ counts)


def _rounded(interval: Interval) -> Interval:
    return round(interval[0], 2), round(interval[1], 2)
