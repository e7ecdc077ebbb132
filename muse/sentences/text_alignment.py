"""Texts in order: blocks of sentences that translate each other in two whole texts, 1:0 to 3:3.

The best sequence of blocks is found by dynamic programming (Gale and Church, 1993) over sentence vectors,
from coarse to fine, in time linear in the length (Vecalign; Thompson and Koehn, 2019). The log odds of a
block of h source and k target sentences are

    log P(h, k) + w . (1, u, g, u g, delta^2, |delta|)

The vector of a side is the sum of the vectors of its sentences. u tells how far apart the two sides are:

    z = (1 - cos(x, y)) / mean of 1 - cos(x, y') and 1 - cos(x', y) over all y' and x'

(Vecalign, equation 2) less the mean of z between sentences at random, in standard deviations. delta is the
difference of lengths a and b in characters (Gale and Church, section 3.1), (b - c a) / sqrt(v (c a + b) / 2),
and g the logarithm of their mean: what is apart by chance is so by less in long sentences than in short ones.

P, c, v and w are learned from the two texts: from the blocks found, and w from the same blocks paired wrongly
as well, by logistic regression, in several rounds. What was learned from other texts is where this begins,
and counts as much as some blocks do: it decides alone about a text of a few sentences.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.normalise import unit
from muse.progress import Progress
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.loading import load_encoder
from muse.space import Space
from muse.vectors import Matrix

LARGEST = 3  # sentences of a block on a side
_RADIUS = 8  # sentences on all sides of the path through coarser texts, among which a finer one is found
_COARSE = 400  # sentences of a text that is not made coarser
_WHOLE = 1 << 22  # pairs of sentences that are all looked at
_ROUNDS = 5  # of learning from the blocks found
_SAMPLE = 2_000  # blocks that are learned from
_SHIFTS = (7, -7, 11, -11, 23, -23, 41, -41)  # by so many blocks one side is moved, for wrong pairs
_CHUNK, _AREA = 32, 1 << 18  # sentences, and pairs of them, whose blocks are scored at once
_CHUNK_OF_NORMS = 4_096  # sentences
_GRID = 64  # sentences of each text, spread over it, that tell what is at random
_FARTHEST = 25.0  # of delta^2: beyond this, a length says no more
_COARSE_SHARE = -2.4  # the logarithm of that of each kind of block
_IMPOSSIBLE, _TINY = -1e30, 1e-12
_CHI_SQUARED = 0.4549  # the median, of one degree of freedom
# Gale and Church, table 5, with each deletion alike; of larger blocks, which they have not, each is rarer.
_SHARES = {(1, 1): 0.89, (1, 0): 0.005, (0, 1): 0.005, (1, 2): 0.0445, (2, 1): 0.0445, (2, 2): 0.0055}
_RARE = 0.001
_VARIANCE, _DEVIATION = 2.0, 0.25  # of lengths (6.8 for Gale and Church), and of z
_TYPICAL = 50.0  # characters of a sentence
_WEIGHTS = np.array([-1.5, -2.4, -1.2, -0.35, -0.06, -0.7])
_PRIOR = 20.0  # the number of blocks as much as which these count
_NEWTON, _LEAST_PRIOR = 20, 1e-6  # steps, and the information on a feature that is always 0

_TOKEN = re.compile(r"\w+|[^\w\s]")
_COLUMNS = 256  # that the tokens of both texts share
_OWN = 0.35  # how long their part of a vector is, beside the other

Numbers = NDArray[np.floating[Any]]
Borders = NDArray[np.int64]
Band = tuple[Borders, Borders]  # the first and last target border that each source border may have, (n + 1,)


class Block(NamedTuple):
    """The sentences of each side from one place to another, none perhaps, and how probable the block is."""

    source: tuple[int, int]
    target: tuple[int, int]
    probability: float


class TextRows(NamedTuple):
    """A text as vectors (n, d), lengths (n,), and paragraphs (n,), counted from 0, of its sentences.

    `borders` (n + 1,) are those between its sentences in the text that it is made of.
    """

    rows: Matrix
    lengths: Numbers
    paragraphs: Borders
    borders: Borders

    def coarser(self) -> "TextRows":
        """Every two sentences of a paragraph as one; a short text as it is."""
        if len(self.rows) <= _COARSE:
            return self._replace(borders=np.arange(len(self.rows) + 1))
        first = np.searchsorted(self.paragraphs, self.paragraphs)
        pairs = np.flatnonzero((np.arange(len(self.rows)) - first) % 2 == 0)
        rows, lengths = (np.add.reduceat(of, pairs) for of in (self.rows, self.lengths))
        return TextRows(rows, lengths, self.paragraphs[pairs], np.append(pairs, len(self.rows)))


class BlockSums(NamedTuple):
    """What is known of all blocks of one text: of k sentences up to each of the n + 1 borders, at k - 1.

    `rows` (n, d) are the vectors. `norms`, `apart` (the mean of 1 - cos to the other text's sentences),
    `lengths`, and `paragraphs` (-1: of several) are (K, n + 1).
    """

    rows: Matrix
    norms: Numbers
    apart: Numbers
    lengths: Numbers
    paragraphs: Borders

    def part(self, begin: int, end: int) -> "BlockSums":
        """The same of the sentences between two borders."""
        arrays = (np.array([one[begin : end + 1] for one in of]) for of in self[1:])
        return BlockSums(self.rows[begin:end], *arrays)

    def backwards(self) -> "BlockSums":
        """The same of the text in reverse order."""
        arrays = (np.array([np.roll(one[::-1], k) for k, one in enumerate(of, 1)]) for of in self[1:])
        return BlockSums(self.rows[::-1], *arrays)


class Model(NamedTuple):
    """What scores blocks: log `shares` (K + 1, K + 1) of their kinds, `weights`, the `ratio` c of lengths and
    their `variance` v, and `centre` and `deviation` of z at random.
    """

    shares: Numbers
    weights: Numbers
    ratio: float
    variance: float
    centre: float
    deviation: float

    def features(self, z: Numbers, source: Numbers, target: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """u, g and delta^2 of blocks with these z and lengths."""
        scaled = self.ratio * source
        mean = (scaled + target) / 2
        squared = np.minimum((target - scaled) ** 2 / (self.variance * mean), _FARTHEST)
        return (z - self.centre) / self.deviation, np.log(mean / _TYPICAL), squared

    def odds(self, kind: tuple[int, int], z: Numbers, source: Numbers, target: Numbers) -> Numbers:
        """The log odds of blocks of a kind."""
        u, g, squared = self.features(z, source, target)
        w = self.weights.tolist()
        first = w[0] + float(self.shares[kind])
        return np.asarray(u * (w[1] + w[3] * g) + w[2] * g + w[4] * squared + w[5] * np.sqrt(squared) + first)


def align_texts(
    source: Matrix,
    target: Matrix,
    lengths: tuple[Numbers, Numbers],
    paragraphs: tuple[Sequence[int], Sequence[int]] | None = None,
    *,
    largest: int = LARGEST,
    progress: Progress | None = None,
) -> list[Block]:
    """The most probable blocks of two texts, whose sentences have vectors (n, d), (m, d), zeros if unknown.

    The `lengths` (n,) and (m,) are characters. A block has up to `largest` sentences on each side, and if the
    `paragraphs` (n,) and (m,) of the sentences are given, counted from 0, those of one paragraph alone. Its
    probability is the share of all sequences of blocks near the best one that have it, by their odds.
    """
    if largest < 1:
        raise BadSetting(f"--largest must be a whole number of at least 1, got {largest}")
    shapes = (source.shape[:1], target.shape[:1]), (lengths[0].shape, lengths[1].shape)
    if source.ndim != 2 or target.ndim != 2 or source.shape[1] != target.shape[1] or shapes[0] != shapes[1]:
        raise Mismatch(
            f"texts must have vectors (n, d), (m, d) and lengths (n,), (m,), got arrays of shapes "
            f"{source.shape}, {target.shape}, {lengths[0].shape}, {lengths[1].shape}"
        )
    n, m = len(source), len(target)
    if not n or not m:
        alone = [(place, place + 1) for place in range(n + m)]
        return [Block(one, (0, 0), 1) if n else Block((0, 0), one, 1) for one in alone]
    numbers = paragraphs or ([0] * n, [0] * m)
    whole = [
        TextRows(rows.astype(np.float32, copy=False), np.maximum(sizes, 1), np.asarray(own), np.arange(n + m))
        for rows, sizes, own in zip((source, target), lengths, numbers, strict=True)
    ]
    levels = [whole]
    while math.prod(len(text.rows) for text in levels[-1]) > _WHOLE:
        coarser = [text.coarser() for text in levels[-1]]
        if all(len(one.rows) == len(two.rows) for one, two in zip(coarser, levels[-1], strict=True)):
            break  # every paragraph is one sentence
        levels.append(coarser)
    band = _of_paragraphs(*levels[-1])
    passes = len(levels) + 2
    with (progress or Progress(quiet=True)).stage("aligning", passes, "passes") as tick:
        while levels:
            level = levels.pop()
            sides = sides_of(level, largest)
            first = first_model(level, sides)
            # Of coarse sentences, a run that lacks a counterpart must not be dearer than to merge it.
            coarse = first._replace(shares=np.full_like(first.shares, _COARSE_SHARE))
            borders, _ = best_blocks(sides, band, first if level is whole else coarse)
            if level is not whole:
                band = _band(
                    np.stack([text.borders[borders[:, side]] for side, text in enumerate(level)], axis=1)
                )
            tick(passes - 2 - len(levels))
        model = _learned_in_rounds(sides, band, borders, first)
        borders, odds = best_blocks(sides, band, model)
        tick(passes - 1)
        shares = probabilities_of(sides, band, model, borders, odds).tolist()
    blocks = zip(pairwise(borders.tolist()), shares, strict=True)
    return [Block((i, i_end), (j, j_end), share) for ((i, j), (i_end, j_end)), share in blocks]


def _of_paragraphs(source: TextRows, target: TextRows) -> Band:
    """The borders between which the paragraphs of the sentences around each source border are."""
    begin = np.searchsorted(target.paragraphs, np.append(0, source.paragraphs))
    end = np.searchsorted(
        target.paragraphs, np.append(source.paragraphs, source.paragraphs[-1]), side="right"
    )
    return begin, end


def align_sentences(
    space: Space,
    languages: tuple[str, str],
    texts: tuple[Sequence[str], Sequence[str]],
    *,
    encoder: SentenceEncoder | str | Path = "idf",
    largest: int = LARGEST,
) -> list[Block]:
    """The blocks of two texts, given by their sentences, by an encoder, its name, or its folder."""
    fitted = load_encoder(encoder, space) if isinstance(encoder, str | Path) else encoder
    for text, language in zip(texts, languages, strict=True):
        fitted = fitted.fit(text, language)
    one, two = (fitted.encode(text, language).matrix for text, language in zip(texts, languages, strict=True))
    vectors, lengths = text_vectors((one, two), texts)
    return align_texts(*vectors, lengths, largest=largest, progress=space.progress)


def text_vectors(
    encoded: tuple[Matrix, Matrix], sentences: tuple[Sequence[str], Sequence[str]]
) -> tuple[tuple[Matrix, Matrix], tuple[Numbers, Numbers]]:
    """The vectors (n, d), (m, d) and lengths (n,), (m,) of two texts, from the rows of an encoder.

    A vector is the unit row times the square root of the length, as if of a sum of independent words. Beside
    it are the tokens that both texts have, names, numbers and signs above all, as columns that several share
    (the hashing of Weinberger et al., 2009), weighted by their idf.
    """
    lengths = [np.array([max(len(one.strip()), 1) for one in text], np.float64) for text in sentences]
    own = _shared_tokens(sentences)
    squares = [np.mean(np.square(rows).sum(axis=1) / size) for rows, size in zip(own, lengths, strict=True)]
    scale = _OWN / np.sqrt(max(np.mean(squares), _TINY))
    x, y = (
        np.concatenate([unit(rows) * np.sqrt(size)[:, None], more * scale], axis=1).astype(np.float32)
        for rows, size, more in zip(encoded, lengths, own, strict=True)
    )
    return (x, y), (lengths[0], lengths[1])


def _shared_tokens(sentences: tuple[Sequence[str], Sequence[str]]) -> tuple[Matrix, Matrix]:
    """The tokens that both texts have as columns (n, c), (m, c): each has one, a sign and its idf."""
    texts = [[_TOKEN.findall(sentence.lower()) for sentence in text] for text in sentences]
    first, second = (Counter(token for found in text for token in set(found)) for text in texts)
    total = len(texts[0]) + len(texts[1]) + 1
    places = dict[str, tuple[int, float]]()
    for token in first.keys() & second.keys():
        code, idf = zlib.crc32(token.encode(errors="replace")), np.log(total / (first[token] + second[token]))
        places[token] = code % _COLUMNS, idf if code & 1 << 16 else -idf
    own = np.zeros((len(texts[0]), _COLUMNS), np.float32), np.zeros((len(texts[1]), _COLUMNS), np.float32)
    for rows, text in zip(own, texts, strict=True):
        for row, found in zip(rows, text, strict=True):
            for token in found:
                if token in places:
                    place, weight = places[token]
                    row[place] += weight
    return own


def _window(rows: Numbers, begin: int, end: int, largest: int) -> Numbers:
    """The rows (b + K - 1, ...) up to each border from begin to end, and those before; then zeros."""
    lacking = np.zeros((max(largest - begin, 0), *rows.shape[1:]), rows.dtype)
    return np.concatenate([lacking, rows[max(begin - largest, 0) : end - 1]])


def _sums(window: Numbers, largest: int) -> Iterator[Numbers]:
    """The sums (b, ...) of 1, 2, ... K sentences up to each border of a window."""
    total = window[largest - 1 :]
    yield total
    for k in range(1, largest):
        total = total + window[largest - 1 - k : len(window) - k]
        yield total


def sides_of(texts: Sequence[TextRows], largest: int) -> tuple[BlockSums, BlockSums]:
    """What is known of the blocks of two texts, of up to `largest` sentences."""
    norms = [_norms(text.rows, largest) for text in texts]
    means = [text.rows.T @ (1 / own[0, 1:]) / len(text.rows) for text, own in zip(texts, norms, strict=True)]
    found = []
    for text, norm, mean in zip(texts, norms, means[::-1], strict=True):
        count = len(text.rows) + 1
        dots, lengths = (
            np.array([*_sums(_window(of, 0, count, largest), largest)], np.float32)
            for of in (text.rows @ mean, text.lengths)
        )
        numbers = np.full((largest, count), -1)
        for k in range(1, min(largest, count - 1) + 1):
            first, last = text.paragraphs[: count - k], text.paragraphs[k - 1 :]
            numbers[k - 1, k:] = np.where(first == last, first, -1)
        apart, lengths = np.maximum(1 - dots / norm, 1e-6), np.maximum(lengths, 1)
        found.append(BlockSums(text.rows, norm, apart, lengths, numbers))
    return found[0], found[1]


def _norms(rows: Matrix, largest: int) -> Matrix:
    """The norms (K, n + 1) of the sums of 1, 2, ... K sentences up to each border."""
    count, found = len(rows) + 1, list[list[Matrix]]()
    for begin in range(0, count, _CHUNK_OF_NORMS):
        window = _window(rows, begin, min(begin + _CHUNK_OF_NORMS, count), largest)
        found.append([np.sqrt(np.einsum("nd,nd->n", one, one)) for one in _sums(window, largest)])
    return np.maximum(np.concatenate(found, axis=1), _TINY)


def first_model(texts: Sequence[TextRows], sides: tuple[BlockSums, BlockSums]) -> Model:
    """What is known before any block: shares and weights of other texts, and z of a grid of sentences."""
    largest = len(sides[0].norms)
    shares = np.full((largest + 1, largest + 1), _RARE)
    for (h, k), share in _SHARES.items():
        if max(h, k) <= largest:
            shares[h, k] = share
    shares[0, 2:], shares[2:, 0], shares[0, 0] = 0, 0, 0
    places = [np.unique(np.linspace(1, len(text.rows), _GRID).astype(np.int64)) for text in texts]
    x, y = (unit(side.rows[place - 1]) for side, place in zip(sides, places, strict=True))
    z = _distance(x @ y.T, sides[0].apart[0][places[0]][:, None], sides[1].apart[0][places[1]])
    count = z.size + _GRID
    centre = (z.sum() + _GRID) / count
    deviation = np.sqrt((((z - centre) ** 2).sum() + _GRID * _DEVIATION**2) / count)
    ratio = float(np.median(texts[1].lengths) / np.median(texts[0].lengths))
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(shares), _IMPOSSIBLE)
    return Model(logs, _WEIGHTS, ratio, _VARIANCE, float(centre), float(deviation))


def _distance(cos: Numbers, source: Numbers, target: Numbers) -> Numbers:
    """Vecalign, equation 2: z of pairs with this cosine, whose sides are so far from sentences at random."""
    return 2 * (1 - cos) / (source + target)


def _band(borders: Borders) -> Band:
    """The borders within the radius of a path, by source border."""
    n, m = borders[-1]
    rows = np.arange(n + 1)
    first = np.searchsorted(borders[1:, 0], np.maximum(rows - _RADIUS, 0))
    last = np.searchsorted(borders[:-1, 0], np.minimum(rows + _RADIUS, n), side="right") - 1
    return np.maximum(borders[first, 1] - _RADIUS, 0), np.minimum(borders[last + 1, 1] + _RADIUS, m)


def _chunks(
    sides: tuple[BlockSums, BlockSums], band: Band, model: Model
) -> Iterator[tuple[range, int, Numbers]]:
    """Source borders, the first target border, and the log odds (K, K + 1, r, c) of the blocks up to them."""
    source, target = sides
    begin, end = band
    largest, n, stop = len(source.norms), len(begin) - 1, 1
    has_paragraphs = source.paragraphs.max() > 0
    while (start := stop) <= n:
        stop = min(start + _CHUNK, n + 1)
        while stop > start + 1 and (stop - start) * (end[stop - 1] - begin[start] + 1) > _AREA:
            stop = start + (stop - start) // 2
        left, right = int(begin[start]), int(end[stop - 1]) + 1
        dots = _window(source.rows, start, stop, largest) @ _window(target.rows, left, right, largest).T
        odds = np.full((largest, largest + 1, stop - start, right - left), model.shares[1, 0], np.float32)
        odds[1:, 0] = _IMPOSSIBLE
        for h, some in enumerate(_sums(dots, largest)):
            for k, dot in enumerate(_sums(some.T, largest)):
                norms = source.norms[h, start:stop, None] * target.norms[k, left:right]
                z = _distance(dot.T / norms, source.apart[h, start:stop, None], target.apart[k, left:right])
                sizes = source.lengths[h, start:stop, None], target.lengths[k, left:right]
                odds[h, k + 1] = model.odds((h + 1, k + 1), z, *sizes)
                if has_paragraphs:
                    one, two = source.paragraphs[h, start:stop, None], target.paragraphs[k, left:right]
                    odds[h, k + 1][(one != two) | (one < 0)] = _IMPOSSIBLE
        yield range(start, stop), left, odds


def _forward(
    sides: tuple[BlockSums, BlockSums], band: Band, model: Model, add: np.ufunc
) -> tuple[list[Numbers], list[NDArray[np.int8]]]:
    """The log odds of all blocks up to each pair of borders in the band, and the last block of the best ones.

    They are added over sequences by `add`: np.maximum for the best, np.logaddexp for all. A block is
    h (K + 1) + k, of h + 1 and k sentences, or -1 for a target sentence alone.
    """
    begin, end = band
    largest, gap = len(sides[0].norms), model.shares[0, 1]
    totals, last = [gap * np.arange(end[0] + 1.0)], [np.full(end[0] + 1, -1, np.int8)]
    for borders, left, odds in _chunks(sides, band, model):
        for row, i in enumerate(borders):
            start, width = int(begin[i]), int(end[i] - begin[i]) + 1
            found = np.full((largest, largest + 1, width), _IMPOSSIBLE)
            for h in range(min(largest, i)):
                # The totals at borders from start - K on.
                before, first = totals[i - h - 1], int(begin[i - h - 1]) - start + largest
                window = np.full(width + largest, _IMPOSSIBLE)
                low, high = max(first, 0), min(first + len(before), width + largest)
                window[low:high] = before[low - first : high - first]
                for k in range(largest + 1):
                    found[h, k] = window[largest - k : largest - k + width]
            found += odds[:, :, row, start - left : start - left + width]
            flat = found.reshape(-1, width)
            gaps = gap * np.arange(width)
            best = add.reduce(flat, axis=0) - gaps
            total = add.accumulate(best)
            totals.append(total + gaps)
            last.append(np.where(total > best, -1, flat.argmax(axis=0)).astype(np.int8))
    return totals, last


def best_blocks(sides: tuple[BlockSums, BlockSums], band: Band, model: Model) -> tuple[Borders, Numbers]:
    """The borders (b + 1, 2) of the best blocks, and their log odds (b,)."""
    totals, last = _forward(sides, band, model, np.maximum)
    i, j = len(totals) - 1, int(band[1][-1])
    borders, largest = [(i, j)], len(sides[0].norms)
    while i or j:
        kind = int(last[i][j - band[0][i]])
        h, k = (0, 1) if kind < 0 else (kind // (largest + 1) + 1, kind % (largest + 1))
        i, j = i - h, j - k
        borders.append((i, j))
    found = np.array(borders[::-1])
    return found, np.diff([totals[i][j - band[0][i]] for i, j in found])


def _learned_in_rounds(
    sides: tuple[BlockSums, BlockSums], band: Band, borders: Borders, first: Model
) -> Model:
    """The model learned in rounds from these blocks; of a long text, from those in the middle."""
    matched = np.flatnonzero(np.diff(borders, axis=0).all(axis=1))
    if (surplus := (len(matched) - _SAMPLE) // 2) > 0:
        borders = borders[matched[surplus] : matched[-surplus - 1] + 2]
        (i, j), (n, m) = borders[0], borders[-1]
        source, target = sides[0].part(i, n), sides[1].part(j, m)
        low, high = (np.clip(one[i : n + 1], j, m) - j for one in band)
        sides, band, borders = (source, target), (low, high), borders - borders[0]
    for _ in range(_ROUNDS):
        borders, _ = best_blocks(sides, band, _learned(sides, borders, first))
    return _learned(sides, borders, first)


def _learned(sides: tuple[BlockSums, BlockSums], borders: Borders, first: Model) -> Model:
    """The model of the blocks found, among which the first one counts as _PRIOR blocks."""
    kinds = np.diff(borders, axis=0)
    matched = np.flatnonzero(kinds.all(axis=1))
    if len(matched) < 2:  # no other block is there for wrong pairs
        return first
    counts = _PRIOR * np.exp(first.shares)
    np.add.at(counts, (kinds[:, 0], kinds[:, 1]), 1)
    (x, far_x, a), (y, far_y, b) = (
        _blocks(side, borders[matched + 1, text], kinds[matched, text]) for text, side in enumerate(sides)
    )
    share = len(matched) / (len(matched) + _PRIOR)
    ratio = first.ratio ** (1 - share) * np.exp(share * np.median(np.log(b / a)))
    squared = 2 * (b - ratio * a) ** 2 / (ratio * a + b)
    variance = (1 - share) * _VARIANCE + share * np.median(squared) / _CHI_SQUARED
    with np.errstate(divide="ignore"):
        shares = np.maximum(np.log(counts / counts.sum()), _IMPOSSIBLE)
    model = first._replace(shares=shares, ratio=float(ratio), variance=float(variance))
    shifts = [0, *(shift for shift in _SHIFTS if shift % len(matched))]
    features = list[Numbers]()
    for shift in shifts:
        cos, moved = (x * np.roll(y, shift, axis=0)).sum(axis=1), (np.roll(far_y, shift), np.roll(b, shift))
        u, g, squared = model.features(_distance(cos, far_x, moved[0]), a, moved[1])
        features.append(np.stack([np.ones_like(u), u, g, u * g, squared, np.sqrt(squared)], axis=1))
    return model._replace(weights=_regression(features[0], np.concatenate(features[1:]), first.weights))


def _blocks(side: BlockSums, ends: Borders, sizes: Borders) -> tuple[Matrix, Numbers, Numbers]:
    """The unit vectors (b, d) of blocks, how far they are from the other text, and their lengths (b,)."""
    rows = np.zeros((len(ends), side.rows.shape[1]), side.rows.dtype)
    for k in range(len(side.norms)):
        rows += side.rows[np.maximum(ends - 1 - k, 0)] * (sizes > k)[:, None]
    return unit(rows), side.apart[sizes - 1, ends], side.lengths[sizes - 1, ends]


def _regression(right: Numbers, wrong: Numbers, first: Numbers) -> Numbers:
    """The weights (f,) that tell right from wrong by features (p, f), (q, f), both sides weighed alike.

    Logistic regression by Newton's method, with a normal prior around the first weights that has the
    information of _PRIOR rows.
    """
    x = np.concatenate([right, wrong])
    is_right = np.arange(len(x)) < len(right)
    weighed = np.where(is_right, 1.0, len(right) / len(wrong))
    prior = np.diag(_PRIOR / 4 * np.average(x**2, axis=0, weights=weighed) + _LEAST_PRIOR)
    found = np.zeros_like(first)  # where the curvature is largest, so that no step goes too far
    for _ in range(_NEWTON):
        odds = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        slope = x.T @ (weighed * (is_right - odds)) - prior @ (found - first)
        curve = (x * (weighed * odds * (1 - odds))[:, None]).T @ x + prior
        found = found + np.linalg.solve(curve, slope)
    return found


def probabilities_of(
    sides: tuple[BlockSums, BlockSums],
    band: Band,
    model: Model,
    borders: Borders,
    odds: Numbers,
) -> Numbers:
    """The probabilities (b,) of blocks with these log odds, by the forward and the backward sums."""
    before, _ = _forward(sides, band, model, np.logaddexp)
    m = borders[-1, 1]
    mirrored = m - band[1][::-1], m - band[0][::-1]
    after, _ = _forward((sides[0].backwards(), sides[1].backwards()), mirrored, model, np.logaddexp)
    left = np.array([before[i][j - band[0][i]] for i, j in borders[:-1]])
    right = np.array([after[i][j - mirrored[0][i]] for i, j in borders[-1] - borders[1:]])
    return np.asarray(np.exp(np.minimum(left + odds + right - before[-1][-1], 0)))
