"""Evidence: the pairs of a dictionary as rows of both languages, and the maps learned from them.

`pairs_of` looks the pairs up; phrases become the mean of their words. `CrossMoments` are the weighted second
moments of the paired rows, all that a linear fit needs to know of them.
"""

import logging
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import HiddenLayer
from muse.errors import Mismatch
from muse.lexicon import OTHER_LANGUAGES, Lexicon, spelling_note
from muse.orthography import without_gloss
from muse.search.exact import zero_places
from muse.vectors import Vectors

log = logging.getLogger(__name__)

FLOOR = 1e-6  # of the largest eigenvalue: whitening a flat direction would blow up noise
MANY_PAIRS = 3  # pairs a word: from there on the moments are summed word by word
BLOCK = 1 << 16  # pairs at once
BLOCK_OF_UNITS = 4_096  # rows whose hidden units are in memory at once
LEAST_KNOWN = 0.5  # the share of the pairs below which a warning says that few are known


class Spread(NamedTuple):
    """The eigenvalues (d,) and eigenvectors (d, d) of a covariance C, double; shrinking keeps the latter."""

    values: Tensor
    vectors: Tensor

    def power(self, exponent: float, shrinkage: float = 0.0) -> Tensor:
        """The power of (1 - s) C + s I t, (d, d), where s is the shrinkage and t the mean eigenvalue of C."""
        values = (1 - shrinkage) * self.values + shrinkage * self.values.mean()
        powers = values.clamp_min(float(values.max()) * FLOOR) ** exponent
        found: Tensor = (self.vectors * powers) @ self.vectors.T
        return found


@dataclass(frozen=True, eq=False)
class CrossMoments:
    """The sum of the weights w of pairs, and X^T w X (ds, ds), Y^T w Y (dt, dt) and X^T w Y (ds, dt), double.

    Sums can be subtracted: the moments of all pairs but some need no product over the many that are left.
    """

    weight: float
    source: Tensor
    target: Tensor
    both: Tensor

    @classmethod
    def of(cls, left: Tensor, right: Tensor, weights: Tensor) -> "CrossMoments":
        """The moments of paired rows (p, ds) and (p, dt) with weights (p,), summed in their precision."""
        x, y = weights[:, None] * left, weights[:, None] * right
        sums = (one.double() for one in (left.T @ x, right.T @ y, left.T @ y))
        return cls(float(weights.double().sum()), *sums)

    @classmethod
    def of_many(cls, x: Tensor, y: Tensor, pairs: Tensor, weights: Tensor) -> "CrossMoments | None":
        """The moments of pairs (p, 2) of rows, where each row is in many; None where they are in few.

        The weights of a row's pairs are added first: d^2 operations for each row, and d for each pair.
        """
        (left, i), (right, j) = (torch.unique(pairs[:, side], return_inverse=True) for side in (0, 1))
        if MANY_PAIRS * (len(left) + len(right)) > len(pairs):
            return None
        a, b = x[left], y[right]  # (u, ds), (v, dt)
        of_left = weights.new_zeros(len(left)).index_add_(0, i, weights)
        of_right = weights.new_zeros(len(right)).index_add_(0, j, weights)
        reached = torch.zeros(len(left), b.shape[1]).to(b)  # (u, dt): the weighted sum of each row's partners
        for begin in range(0, len(pairs), BLOCK):
            some = slice(begin, begin + BLOCK)
            reached.index_add_(0, i[some], weights[some, None] * b[j[some]])
        sums = a.T @ (of_left[:, None] * a), b.T @ (of_right[:, None] * b), a.T @ reached
        return cls(float(weights.double().sum()), *(one.double() for one in sums))

    def __sub__(self, other: "CrossMoments") -> "CrossMoments":
        sums = ((self.source, other.source), (self.target, other.target), (self.both, other.both))
        return CrossMoments(self.weight - other.weight, *(one - two for one, two in sums))

    @cached_property
    def spreads(self) -> tuple[Spread, Spread]:
        """The spreads of both covariances."""
        x, y = (torch.linalg.eigh(one / self.weight) for one in (self.source, self.target))
        return Spread(*x), Spread(*y)

    @property
    def covariance(self) -> Tensor:
        """The covariance of the two sides, (ds, dt)."""
        return self.both / self.weight


class HiddenUnits(NamedTuple):
    """A layer of units max(U x + b, 0), U (h, ds) and b (h,), and the weights V (k, h) of what they add.

    These are tensors on the device of learning; a space has them as a `muse.alignment.HiddenLayer`, of numpy
    alone, which `layer` makes.
    """

    inner: Tensor
    bias: Tensor
    outer: Tensor

    def units(self, rows: Tensor) -> Tensor:
        """The units (n, h) of rows (n, ds)."""
        return torch.relu(torch.addmm(self.bias, rows, self.inner.T))

    def __call__(self, rows: Tensor) -> Tensor:
        """What is added (n, k) for rows (n, ds)."""
        blocks = [self.units(block) @ self.outer.T for block in torch.split(rows, BLOCK_OF_UNITS)]
        return torch.cat(blocks) if len(blocks) > 1 else blocks[0]

    def layer(self) -> HiddenLayer:
        """The same units for a space."""
        return HiddenLayer(*(one.cpu().numpy().copy() for one in self))


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps of both languages into a shared space: (k, ds) and (k, dt); rows become x A^T.

    `hidden` units may add to the map of the source; the target then stays as it is.
    """

    source: Tensor
    target: Tensor
    hidden: HiddenUnits | None = None

    @property
    def sides(self) -> tuple[Tensor, Tensor]:
        """The linear maps of source and target."""
        return self.source, self.target

    @classmethod
    def of_mapping(cls, mapping: Tensor) -> "Maps":
        """The maps of an orthogonal W (dt, ds): W and I, or I and W^T into the space of a smaller source."""
        d_target, d_source = mapping.shape
        if d_target > d_source:
            return cls(torch.eye(d_source).to(mapping), mapping.T.contiguous())
        return cls(mapping, torch.eye(d_target).to(mapping))

    def of_source(self, rows: Tensor) -> Tensor:
        """Source rows (n, ds) in the shared space, (n, k), of unit length."""
        mapped = rows @ self.source.T
        return normalize(mapped if self.hidden is None else mapped + self.hidden(rows))

    def of_target(self, rows: Tensor) -> Tensor:
        """Target rows (m, dt) in the shared space, (m, k), of unit length."""
        return normalize(rows @ self.target.T)

    def into_target(self) -> "Maps":
        """Maps with the same inner products that leave the target as it is: B^T A and I.

        (A x) . (B y) = (B^T A x) . y; cosines differ, because y keeps its own length.
        """
        if self.hidden is not None:
            return self
        d = self.target.shape[1]
        return Maps(self.target.T @ self.source, torch.eye(d, dtype=self.source.dtype).to(self.source.device))


@dataclass(frozen=True, eq=False)
class TrainingPairs:
    """Rows of both languages, x (n, ds) and y (m, dt), most frequent first, and pairs (p, 2) of row numbers.

    `weights` (p,) say how much each pair counts. `words` are the numbers of rows that are words; rows
    beyond them are phrases, which are learned from and never searched. `scales` (n,) and (m,) are the lengths
    of the rows that rotations are fitted to (`Vectors.scales`), None for unit length.
    `pseudo_dictionary` (q, 2) are pairs by an encoder or another program, which may be wrong, of words that
    are in none of the pairs. With `in_part` others are held out, for a test: slow methods do less.
    """

    x: Tensor
    y: Tensor
    pairs: Tensor
    weights: Tensor
    words: tuple[int, int]
    scales: tuple[Tensor, Tensor] | None = None
    pseudo_dictionary: Tensor | None = None
    in_part: bool = False

    @property
    def fitted(self) -> tuple[Tensor, Tensor]:
        """The rows (p, ds) and (p, dt) of the pairs that rotations are fitted to, double."""
        if self.scales is None:
            return self.left, self.right
        own, other = (scale[self.pairs[:, side]].double()[:, None] for side, scale in enumerate(self.scales))
        return self.left * own, self.right * other

    @property
    def left(self) -> Tensor:
        """The source rows (p, ds) of the pairs, double."""
        return self.x[self.pairs[:, 0]].double()

    @property
    def right(self) -> Tensor:
        """The target rows (p, dt) of the pairs, double."""
        return self.y[self.pairs[:, 1]].double()

    @cached_property
    def moments(self) -> CrossMoments:
        """The moments of the pairs, kept: maps of many settings are fitted to them."""
        # In single precision, at half the time: rounding is far below what the choice of pairs changes.
        merged = CrossMoments.of_many(self.x, self.y, self.pairs, self.weights)
        if merged is not None:
            return merged
        return CrossMoments.of(self.x[self.pairs[:, 0]], self.y[self.pairs[:, 1]], self.weights)

    @property
    def single(self) -> Tensor:
        """Whether each pair is one of words, not phrases: (p,) bool."""
        return (self.pairs[:, 0] < self.words[0]) & (self.pairs[:, 1] < self.words[1])

    @property
    def source_words(self) -> int:
        """The number of different source words in the pairs, phrases aside."""
        return len(torch.unique(self.pairs[self.single, 0]))

    @property
    def vocabulary(self) -> tuple[Tensor, Tensor]:
        """The rows (n, d) and (m, e) of the words of both languages, without phrases."""
        return self.x[: self.words[0]], self.y[: self.words[1]]

    def __len__(self) -> int:
        return len(self.pairs)

    def contains_no_known_word(self, found: Tensor) -> Tensor:
        """Whether neither word of each of `found` (q, 2) is in one of the pairs: (q,) bool."""
        known = [torch.isin(found[:, side], self.pairs[:, side]) for side in (0, 1)]
        return ~(known[0] | known[1])

    def only(self, kept: Tensor) -> "TrainingPairs":
        """The pairs where `kept` (p,) is true."""
        return replace(self, pairs=self.pairs[kept], weights=self.weights[kept])

    def hinted(self, pseudo_dictionary: "TrainingPairs") -> "TrainingPairs":
        """The same pairs beside a pseudo dictionary of the same vectors, without pairs of a word known here.

        Those are mostly right for words that a dictionary has: they would flatter maps that are tested on it.
        """
        more = pseudo_dictionary.pairs
        return replace(self, pseudo_dictionary=more[self.contains_no_known_word(more)])

    def plus(self, pairs: Tensor, weight: float = 1.0) -> "TrainingPairs":
        """More pairs (q, 2), each of `weight`."""
        weights = torch.full((len(pairs),), weight, dtype=self.weights.dtype).to(self.weights)
        return replace(self, pairs=torch.cat([self.pairs, pairs]), weights=torch.cat([self.weights, weights]))


def shared_weight(pairs: Tensor) -> Tensor:
    """The weights (p,) of pairs (p, 2): 1 / sqrt(c) where the source word has c translations.

    A word with many translations then counts more than one with a single one, but not c times as much.

    >>> shared_weight(torch.tensor([[0, 4], [1, 2], [0, 5], [0, 6], [0, 7]])).tolist()
    [0.5, 1.0, 0.5, 0.5, 0.5]
    """
    _, place, counts = torch.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    weights: Tensor = counts[place].float().rsqrt()
    return weights


class _Entries:
    """The rows of one language, and rows of the phrases found so far."""

    def __init__(self, vectors: Vectors, device: str) -> None:
        self.vectors, self.rows = vectors, vectors.tensor(device)
        self.scales = None if vectors.scales is None else torch.from_numpy(vectors.scales).to(device)
        self.zeros = set(zero_places(self.rows).tolist())
        self.phrases: dict[tuple[int, ...], int] = {}
        self.means: list[Tensor] = []

    def row(self, entry: str) -> int | None:
        """The row number of a word or phrase; None if a word is not in the vocabulary, or its row is zero."""
        if (row := self._own_row(entry)) is not None or " " not in entry:
            return row
        words = [self._own_row(word) for word in without_gloss(entry).split(" ")]
        known = tuple(row for row in words if row is not None)
        if len(known) < len(words):
            return None
        if known not in self.phrases:
            self.phrases[known] = len(self.vectors) + len(self.means)
            self.means.append(normalize(self.rows[list(known)].mean(dim=0), dim=0))
        return self.phrases[known]

    def _own_row(self, word: str) -> int | None:
        index = self.vectors.index
        row = index.lookup_row(word) if self.vectors.frequency_ordered else index.get(word)
        return None if row in self.zeros else row

    def all_rows(self) -> Tensor:
        return torch.cat([self.rows, torch.stack(self.means)]) if self.means else self.rows

    def all_scales(self) -> Tensor:
        """The lengths of `all_rows`, that of a phrase the mean of its words'."""
        scales = self.rows.new_ones(len(self.rows)) if self.scales is None else self.scales
        own = [scales[list(known)].mean() for known in self.phrases]
        return torch.cat([scales, torch.stack(own)]) if own else scales


def pairs_of(lexicon: Lexicon, source: Vectors, target: Vectors, *, device: str = "cpu") -> TrainingPairs:
    """The pairs of `lexicon` that both vocabularies know, of normalised `source` and `target`.

    A pair weighs what the lexicon says (`Lexicon.weights`), divided by the square root of the number of
    translations of its source word. Raise Mismatch if no pair is known, all that are weigh 0, or the columns
    seem to be swapped.
    """
    sides = _Entries(source, device), _Entries(target, device)
    rows = [(sides[0].row(left), sides[1].row(right)) for left, right in lexicon.pairs]
    known = [place for place, pair in enumerate(rows) if None not in pair]
    _check_known(lexicon, len(known), source, target)
    given = lexicon.weights or (1.0,) * len(lexicon)
    known = [place for place in known if given[place] > 0]
    if not known:
        raise Mismatch(
            "at least one known pair of the dictionary must weigh more than 0, got 0 for each; check their "
            "probabilities"
        )
    pairs = torch.tensor([rows[place] for place in known]).to(device)  # (p, 2)
    own = torch.tensor([given[place] for place in known]).to(device)
    weights = own * shared_weight(pairs)
    scaled = any(side.scales is not None for side in sides)
    return TrainingPairs(
        sides[0].all_rows(), sides[1].all_rows(), pairs, weights, (len(source), len(target)),
        (sides[0].all_scales(), sides[1].all_scales()) if scaled else None,
    )  # fmt: skip


def _check_known(lexicon: Lexicon, known: int, source: Vectors, target: Vectors) -> None:
    """Raise Mismatch if no pair is known, or more are with the columns swapped; warns if few are."""
    ranked = source.frequency_ordered and target.frequency_ordered
    if not known:
        what, case = ("vocabularies", " and the letters' case (--lower)") if ranked else ("lists of ids", "")
        raise Mismatch(
            f"at least one pair of the dictionary must be in both {what}, got 0 of {len(lexicon)}; check the "
            f"order of the languages{case}"
        )
    swapped = lexicon.known(target.index, source.index)
    if 2 * known < swapped:
        # A few words that both languages spell alike are known: learning from these would take minutes.
        raise Mismatch(
            f"the dictionary must have {source.language} first, but seems to have {target.language}: "
            f"{known} of {len(lexicon)} pairs are known, and {swapped} with the columns swapped; swap "
            "them, or --src and --tgt"
        )
    few, case = known < LEAST_KNOWN * len(lexicon), ""
    if ranked:
        if respelled := lexicon.respelled(source.index, target.index):
            log.info("%s; the spelling of the vocabularies is learned from", spelling_note(respelled))
        own = known - respelled.total()
        if others := lexicon.in_another_case(own, source.words, target.words):
            lowered = lexicon.known(*(set(map(str.lower, side.words)) for side in (source, target))) - own
            advice = "use --lower" if 2 * lowered > others else "write them as the vectors do"
            case = f"; {others} more differ in upper and lower case alone: {advice}"
        elif why := lexicon.doubt(source.index, target.index):
            log.warning(OTHER_LANGUAGES, source.language, target.language, why)
            return
    if case or few:
        what = "words" if ranked else "ids"
        log.warning(
            "only %d of %d pairs of the dictionary are of known %s%s", known, len(lexicon), what, case
        )
