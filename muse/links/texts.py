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

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.normalise import unit
from muse.progress import Progress
from muse.vectors import Matrix

LARGEST = 3  # sentences of a block on a side
_RADIUS = 8  # sentences on all sides of the path through coarser texts, among which a finer one is found
_COARSE = 400  # sentences of a text that is not made coarser
_WHOLE = 1 << 22  # pairs of sentences that are all looked at
_ROUNDS = 5  # of learning from the blocks found
_SAMPLE = 2_000  # blocks that are learned from
_SHIFTS = (7, -7, 11, -11, 23, -23, 41, -41)  # by so many blocks one side is moved, for wrong pairs
_CHUNK, _AREA = 32, 1 << 18  # sentences, and pairs of them, whose blocks are scored at once
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


@dataclass(frozen=True, eq=False)
class AlignedTexts:
    """The blocks of two texts in order: their `borders` (b + 1, 2) and `probabilities` (b,).

    Block i has the sentences from borders[i] to borders[i + 1] of source and target; one side may have none.
    """

    borders: Borders
    probabilities: Numbers


class TextRows(NamedTuple):
    """A text as vectors (n, d) and lengths (n,) of its sentences."""

    rows: Matrix
    lengths: Numbers

    def coarser(self) -> "TextRows":
        """Every two sentences as one; a short text as it is."""
        if len(self.rows) <= _COARSE:
            return self
        pairs = np.arange(0, len(self.rows), 2)
        return TextRows(np.add.reduceat(self.rows, pairs), np.add.reduceat(self.lengths, pairs))

    def backwards(self) -> "TextRows":
        """The sentences in reverse order."""
        return TextRows(self.rows[::-1], self.lengths[::-1])


class BlockSums(NamedTuple):
    """What is known of all blocks of one text: of k sentences up to each of the n + 1 borders, at k - 1.

    `rows` (K - 1 + n + 1, d) are the vectors, after K of zeros. `norms`, `apart` (the mean of 1 - cos to the
    other text's sentences) and `lengths` are (K, n + 1).
    """

    rows: Matrix
    norms: Numbers
    apart: Numbers
    lengths: Numbers


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
        apart, size, squared = self.features(z, source, target)
        w = self.weights.tolist()
        found: Numbers = apart * (w[1] + w[3] * size)
        found += w[2] * size
        found += w[4] * squared
        found += w[5] * np.sqrt(squared)
        found += w[0] + float(self.shares[kind])
        return found


def align_texts(
    source: Matrix,
    target: Matrix,
    lengths: tuple[Numbers, Numbers],
    *,
    largest: int = LARGEST,
    progress: Progress | None = None,
) -> AlignedTexts:
    """The most probable blocks of two texts, whose sentences have vectors (n, d), (m, d), zeros if unknown.

    The `lengths` (n,) and (m,) are characters. A block has up to `largest` sentences on each side. Its
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
        borders = np.arange(n + m + 1)[:, None] * [n > 0, m > 0]
        return AlignedTexts(borders, np.ones(n + m))
    source, target = source.astype(np.float32), target.astype(np.float32)
    levels = [[TextRows(source, np.maximum(lengths[0], 1.0)), TextRows(target, np.maximum(lengths[1], 1.0))]]
    while len(levels[-1][0].rows) * len(levels[-1][1].rows) > _WHOLE:
        levels.append([text.coarser() for text in levels[-1]])
    # Every pair of borders of the coarsest texts, then those near the path.
    sizes = [len(text.rows) for text in levels[-1]]
    band = np.zeros(sizes[0] + 1, np.int64), np.full(sizes[0] + 1, sizes[1])
    with (progress or Progress(quiet=True)).stage("aligning", len(levels) + 2, "passes") as tick:
        for done, level in enumerate(reversed(levels), 1):
            if done > 1:
                finer = [len(text.rows) for text in level]
                scale = [1 + (now > before) for now, before in zip(finer, sizes, strict=True)]
                band, sizes = _band(np.minimum(borders * scale, finer)), finer
            sides = sides_of(level, largest)
            first = first_model(level, sides)
            # Of coarse sentences, a run that lacks a counterpart must not be dearer than to merge it.
            model = (
                first
                if level is levels[0]
                else first._replace(shares=np.full_like(first.shares, _COARSE_SHARE))
            )
            borders, odds = best_blocks(sides, band, model)
            tick(done)
        model = _learned_in_rounds(sides, band, borders, first)
        borders, odds = best_blocks(sides, band, model)
        tick(len(levels) + 1)
        return AlignedTexts(borders, probabilities_of(levels[0], sides, band, model, borders, odds))


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


def _sums(padded: Numbers, largest: int) -> Iterator[Numbers]:
    """The sums (n + 1, ...) of 1, 2, ... sentences up to each border, of which `padded` has K in front."""
    total = padded[largest - 1 :]
    yield total
    for k in range(1, largest):
        total = total + padded[largest - 1 - k : len(padded) - k]
        yield total


def _padded(array: Numbers, largest: int) -> Numbers:
    return np.concatenate([np.zeros((largest, *array.shape[1:]), array.dtype), array])


def sides_of(texts: list[TextRows], largest: int) -> tuple[BlockSums, BlockSums]:
    """What is known of the blocks of two texts, of up to `largest` sentences."""
    found = []
    units = [unit(text.rows).mean(axis=0) for text in texts]
    for text, mean in zip(texts, units[::-1], strict=True):
        rows = _padded(text.rows, largest)
        norms = [np.maximum(np.sqrt(np.einsum("nd,nd->n", s, s)), _TINY) for s in _sums(rows, largest)]
        dots = _sums(_padded(text.rows @ mean, largest), largest)
        apart = [np.maximum(1 - dot / norm, 1e-6) for dot, norm in zip(dots, norms, strict=True)]
        sizes = [np.maximum(size, 1.0) for size in _sums(_padded(text.lengths, largest), largest)]
        arrays = (np.array(one, np.float32) for one in (norms, apart, sizes))
        found.append(BlockSums(rows, *arrays))
    return found[0], found[1]


def first_model(texts: list[TextRows], sides: tuple[BlockSums, BlockSums]) -> Model:
    """What is known before any block: shares and weights of other texts, and z of a grid of sentences."""
    largest = len(sides[0].norms)
    shares = np.full((largest + 1, largest + 1), _RARE)
    for (h, k), share in _SHARES.items():
        if max(h, k) <= largest:
            shares[h, k] = share
    shares[0, 2:], shares[2:, 0], shares[0, 0] = 0, 0, 0
    places = [np.unique(np.linspace(1, len(text.rows), _GRID).astype(np.int64)) for text in texts]
    x, y = (unit(side.rows[largest - 1 + place]) for side, place in zip(sides, places, strict=True))
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
    while (start := stop) <= n:
        stop = min(start + _CHUNK, n + 1)
        while stop > start + 1 and (stop - start) * (end[stop - 1] - begin[start] + 1) > _AREA:
            stop = start + (stop - start) // 2
        left, right = int(begin[start]), int(end[stop - 1]) + 1
        dots = source.rows[start : stop + largest - 1] @ target.rows[left : right + largest - 1].T
        odds = np.full((largest, largest + 1, stop - start, right - left), model.shares[1, 0], np.float32)
        odds[1:, 0] = _IMPOSSIBLE
        for h, some in enumerate(_sums(dots, largest)):
            for k, dot in enumerate(_sums(some.T, largest)):
                norms = source.norms[h, start:stop, None] * target.norms[k, left:right]
                z = _distance(dot.T / norms, source.apart[h, start:stop, None], target.apart[k, left:right])
                sizes = source.lengths[h, start:stop, None], target.lengths[k, left:right]
                odds[h, k + 1] = model.odds((h + 1, k + 1), z, *sizes)
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
        parts = ((sides[0], i, n), (sides[1], j, m))
        source, target = (
            BlockSums(
                side.rows[begin : end + len(side.norms)], *(one[:, begin : end + 1] for one in side[1:])
            )
            for side, begin, end in parts
        )
        low, high = (np.clip(one[i : n + 1], j, m) - j for one in band)
        sides, band, borders = (source, target), (low, high), borders - borders[0]
    for _ in range(_ROUNDS):
        borders, _ = best_blocks(sides, band, _learned(sides, borders, first))
    return _learned(sides, borders, first)


def _learned(sides: tuple[BlockSums, BlockSums], borders: Borders, first: Model) -> Model:
    """The model of the blocks found, among which the first one counts as _PRIOR blocks."""
    kinds = np.diff(borders, axis=0)
    matched = np.flatnonzero(kinds.all(axis=1))
    if not len(matched):
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
    if len(shifts) == 1:
        return model
    return model._replace(weights=_regression(features[0], np.concatenate(features[1:]), first.weights))


def _blocks(side: BlockSums, ends: Borders, sizes: Borders) -> tuple[Matrix, Numbers, Numbers]:
    """The unit vectors (b, d) of blocks, how far they are from the other text, and their lengths (b,)."""
    largest = len(side.norms)
    rows = np.zeros((len(ends), side.rows.shape[1]), side.rows.dtype)
    for k in range(largest):
        rows += side.rows[ends + largest - 1 - k] * (sizes > k)[:, None]
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
    texts: list[TextRows],
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
    after, _ = _forward(
        sides_of([text.backwards() for text in texts], len(sides[0].norms)), mirrored, model, np.logaddexp
    )
    left = np.array([before[i][j - band[0][i]] for i, j in borders[:-1]])
    right = np.array([after[i][j - mirrored[0][i]] for i, j in borders[-1] - borders[1:]])
    return np.asarray(np.exp(np.minimum(left + odds + right - before[-1][-1], 0)))
