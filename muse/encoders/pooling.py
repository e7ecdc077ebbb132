"""Pooling: from the rows of a sentence's words to one row, for all sentences of Bags at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

from muse.encoders.bags import Bags
from muse.errors import BadSetting

# Rows gathered at once, 2.4 MB at d = 300, which the cache holds; of a longer sentence fewer columns at once.
GATHERED = 2048
LONGEST = 1024  # words summed at once
_HIGH = 16  # above it x^p might be 0 or infinite: the numbers are brought within -1 to 1 first
_TINY = 1e-300


def mean(bags: Bags, rows: Tensor, weights: NDArray[np.float32] | None = None) -> Tensor:
    """The means (s, d) of the rows (n, d) of each sentence's words; zeros where there is none.

    With `weights` (t,), one a word: sum_i w_i x_i / sum_i w_i.
    """
    if weights is None:
        return sums(bags, rows).div_(_per_row(bags.lengths))
    ones = torch.from_numpy(weights)[:, None]
    total = sums(Bags(np.arange(len(bags.ids)), bags.offsets, 0), ones)  # (s, 1)
    return sums(bags, rows, weights).div_(total.masked_fill_(total == 0, 1))


def sums(bags: Bags, rows: Tensor, weights: NDArray[np.float32] | None = None) -> Tensor:
    """The sums (s, d) of the rows (n, d) of each sentence's words, times `weights` (t,) where given."""
    if len(bags) and bags.lengths.max() > LONGEST:
        # In single precision a sum of a million numbers is right to two digits, one of sums to six.
        pieces, of_pieces = _in_pieces(bags)
        return sums(of_pieces, sums(pieces, rows, weights))
    # "sum" is the mode that torch reads memory fastest in, six times as fast as "mean".
    return embedding_bag(
        torch.from_numpy(bags.ids),
        rows,
        torch.from_numpy(bags.offsets),
        mode="sum",
        per_sample_weights=None if weights is None else torch.from_numpy(weights),
        include_last_offset=True,
    )


def check_powers(powers: Sequence[float]) -> tuple[float, ...]:
    """The powers, each once; BadSetting for one that has no mean of numbers of both signs."""
    for p in powers:
        if p == 0:
            raise BadSetting(
                "a power mean needs p > 0, -inf or inf, got p = 0: that is the geometric mean, the root of a "
                "product, which the negative numbers of word vectors do not have; take p = 1 or 3"
            )
        if math.isnan(p) or (p < 0 and math.isfinite(p)):
            raise BadSetting(
                f"a power mean needs p > 0, -inf or inf, got p = {p:g}: a negative power is infinite where a "
                "number is 0 and changes its sign there, and word vectors have numbers around 0; take -inf "
                "for the minimum"
            )
    if not powers:
        raise BadSetting("power means need at least one p, got none; name some, such as -inf,1,inf")
    return tuple(dict.fromkeys(float(p) for p in powers))


def power_means(bags: Bags, rows: Tensor, powers: Sequence[float]) -> Tensor:
    """The power means (s, k d) of the rows (n, d), those of k powers side by side; zeros without words.

    H_p(x) = (1/t sum_i x_i^p)^(1/p) in each dimension; the minimum for -inf, the maximum for inf
    (Rueckle et al., 2018, eq. 1). Where p is odd the root keeps the sign of the mean, sign(m) |m|^(1/p);
    where p is even signs are lost; where p is no integer, x^p is sign(x) |x|^p, as it is for odd p.
    """
    powers = check_powers(powers)
    if powers == (1.0,):
        return mean(bags, rows)
    d = rows.shape[1]
    found = torch.zeros(len(bags), len(powers) * d)
    for chosen, columns, words in _gathered(bags, rows):
        parts = [_power_mean(words, p) for p in powers if p != 1]
        places = [place for place, p in enumerate(powers) if p != 1]
        for place, part in zip(places, parts, strict=True):
            found[chosen, place * d + columns.start : place * d + columns.stop] = part
    if 1 in powers:
        found[:, powers.index(1) * d :][:, :d] = mean(bags, rows)
    return found


def _power_mean(words: Tensor, p: float) -> Tensor:
    # Of words (b, t, c), over the words of each sentence: (b, c).
    if math.isinf(p):
        return words.amax(dim=1) if p > 0 else words.amin(dim=1)
    # In double precision: a root magnifies the error of a mean near 0.
    x = words.double()
    if p <= _HIGH:
        return _root(_power(x, p).mean(dim=1), p).float()
    scale = x.abs().amax(dim=1, keepdim=True).clamp_min(_TINY)
    return (_root(_power(x / scale, p).mean(dim=1), p) * scale[:, 0]).float()


def _power(x: Tensor, p: float) -> Tensor:
    if p == 3:
        return x * x * x
    return x**p if p % 1 == 0 else _signed(x, p)


def _root(x: Tensor, p: float) -> Tensor:
    if p == 3:  # the usual one: numpy takes the cube root, sign and all, in a sixth of the time
        return torch.from_numpy(np.cbrt(x.numpy()))
    return _signed(x, 1 / p)


def _signed(x: Tensor, p: float) -> Tensor:
    return x.abs() ** p * x.sign()


def _gathered(bags: Bags, rows: Tensor) -> Iterator[tuple[Tensor, slice, Tensor]]:
    # Which b sentences of one length t, which c columns, and these of the rows of their words (b, t, c).
    order = np.argsort(bags.lengths, kind="stable")
    order = order[np.count_nonzero(bags.lengths == 0) :]
    d = rows.shape[1]
    for same in np.split(order, np.flatnonzero(np.diff(bags.lengths[order])) + 1):
        t = int(bags.lengths[same[0]]) if len(same) else 1
        step, width = max(1, GATHERED // t), max(1, min(d, GATHERED * d // t))
        for begin in range(0, len(same), step):
            chosen = same[begin : begin + step]
            places = bags.offsets[chosen][:, None] + np.arange(t)  # (b, t)
            ids = torch.from_numpy(bags.ids[places].ravel())
            for left in range(0, d, width):
                columns = slice(left, min(left + width, d))
                words = rows[:, columns].index_select(0, ids).view(len(chosen), t, -1)
                yield torch.from_numpy(chosen), columns, words


def _in_pieces(bags: Bags) -> tuple[Bags, Bags]:
    # The bags cut to LONGEST words, and, for each bag, which pieces it is in.
    counts = -(-bags.lengths // LONGEST)  # (s,)
    ends = np.cumsum(counts)
    within = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
    starts = np.repeat(bags.offsets[:-1], counts) + within * LONGEST
    pieces = Bags(bags.ids, np.append(starts, bags.offsets[-1]), 0)
    return pieces, Bags(np.arange(ends[-1]), np.insert(ends, 0, 0), 0)


def _per_row(lengths: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(np.maximum(lengths, 1)[:, None].astype(np.float32))
