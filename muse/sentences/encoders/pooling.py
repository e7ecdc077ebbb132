"""Pooling: one row from the rows of a sentence's words, for many sentences at once."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import Ragged

# Rows gathered at once, 2.4 MB at d = 300, which fit into the cache; longer sentences take fewer columns.
GATHERED = 2048
LONGEST = 1024  # words summed at once
_HIGH = 16  # above this power x^p might underflow or overflow, so numbers are first scaled to -1..1
_TINY = 1e-300
_CANCELLED = 1e-9  # of the largest term: a mean below is rounding, and its negative root has a pole at 0


@dataclass(frozen=True)
class Signed:
    """An even power that keeps signs, as odd ones do: sign(x) |x|^p. It is written 2s."""

    p: float

    def __str__(self) -> str:
        """The power as it is written, such as 2s."""
        return f"{self.p:g}s"


Power = float | Signed


def mean(sentences: Ragged, rows: Tensor, weights: NDArray[np.float32] | None = None) -> Tensor:
    """The means (s, d) of the rows (n, d) of each sentence's words; zeros for a sentence without words.

    With `weights` (t,), one for each word: sum_i w_i x_i / sum_i w_i.
    """
    if weights is None:
        return sums(sentences, rows).div_(sentences.lengths.clamp(min=1)[:, None].float())
    ones = torch.from_numpy(weights)[:, None]
    total = sums(Ragged(torch.arange(len(sentences.ids)), sentences.offsets), ones)  # (s, 1)
    return sums(sentences, rows, weights).div_(total.masked_fill_(total == 0, 1))


def sums(sentences: Ragged, rows: Tensor, weights: NDArray[np.float32] | None = None) -> Tensor:
    """The sums (s, d) of the rows (n, d) of each sentence's words, weighted by `weights` (t,) if given."""
    if len(sentences) and int(sentences.lengths.max()) > LONGEST:
        # In single precision, a plain sum of a million numbers has two correct digits, a sum of sums six.
        pieces, of_pieces = _in_pieces(sentences)
        return sums(of_pieces, sums(pieces, rows, weights))
    # torch's mode "sum" is six times as fast as "mean".
    return embedding_bag(
        sentences.ids,
        rows,
        sentences.offsets,
        mode="sum",
        per_sample_weights=None if weights is None else torch.from_numpy(weights),
        include_last_offset=True,
    )


def parsed_power(text: str) -> Power:
    """The power that a text such as 3, -inf or 2s names; ValueError for any other.

    >>> parsed_power("0.5"), parsed_power("2s")
    (0.5, Signed(p=2.0))
    """
    name = text.strip()
    return Signed(float(name[:-1])) if name.endswith("s") else float(name)


def listed(powers: Sequence[Power]) -> str:
    """The powers as they are written in the name of an encoder.

    >>> listed([float("-inf"), 1.0, Signed(2.0)])
    '-inf,1,2s'
    """
    return ",".join(str(p) if isinstance(p, Signed) else f"{p:g}" for p in powers)


def check_powers(powers: Sequence[Power]) -> tuple[Power, ...]:
    """The distinct powers; BadSetting for nan, for an odd power with s, and for none."""
    for p in powers:
        if isinstance(p, Signed):
            if not (math.isfinite(p.p) and p.p > 0 and p.p % 2 == 0):
                raise BadSetting(
                    f"a power followed by s must be an even number above 0, such as 2s, got {p}; "
                    "leave out the s"
                )
            continue
        if math.isnan(p):
            raise BadSetting("a power must be a number, -inf, inf or an even number with s, got nan")
    if not powers:
        raise BadSetting("power means need at least one power, got none; give some, such as -inf,1,inf")
    return tuple(dict.fromkeys(p if isinstance(p, Signed) else float(p) for p in powers))


def power_means(sentences: Ragged, rows: Tensor, powers: Sequence[Power]) -> Tensor:
    """The power means (s, k d) of the rows (n, d) for k powers, side by side; zeros without words.

    H_p(x) = (1/t sum_i x_i^p)^(1/p) in each dimension; the minimum for -inf, the maximum for inf
    (Rueckle et al., 2018, section 3). For odd p the root keeps the sign of the mean, sign(m) |m|^(1/p); for
    even p signs are lost, unless it is Signed; for that, and for a p that is not an integer, x^p is
    sign(x) |x|^p, as for odd p. The authors' code takes the real part of a complex root instead: of -2 and
    -2 it makes 1 for p = 3, and here it is -2.

    A power below 0 has poles where the x^p of both signs cancel: the paper advises against it (section 7),
    and finds -1 worst (table 4). A mean that cancels to less than a billionth of its largest term counts as
    that much. For p = 0 it is the geometric mean of the magnitudes. 0 among the words makes both 0.
    """
    powers = check_powers(powers)
    if powers == (1.0,):
        return mean(sentences, rows)
    d = rows.shape[1]
    found = torch.zeros(len(sentences), len(powers) * d)
    for chosen, columns, words in _gathered(sentences, rows):
        parts = [_power_mean(words, p) for p in powers if p != 1]
        places = [place for place, p in enumerate(powers) if p != 1]
        for place, part in zip(places, parts, strict=True):
            found[chosen, place * d + columns.start : place * d + columns.stop] = part
    if 1 in powers:
        found[:, powers.index(1) * d :][:, :d] = mean(sentences, rows)
    return found


def _power_mean(words: Tensor, power: Power) -> Tensor:
    # The power means (b, c) over the t words (b, t, c) of each sentence.
    p = power.p if isinstance(power, Signed) else power
    plain = p % 1 == 0 and not isinstance(power, Signed)
    if math.isinf(p):
        return words.amax(dim=1) if p > 0 else words.amin(dim=1)
    # In double precision: a root magnifies the error of a mean near 0.
    x = words.double()
    if p == 0:
        return x.abs().log().mean(dim=1).exp().float()
    if p < 0:
        return _negative_mean(x, p, plain)
    if p == 3:  # the most common one: numpy's signed cube root takes a sixth of the time
        return torch.from_numpy(np.cbrt((x * x * x).mean(dim=1).numpy())).float()
    scale = x.abs().amax(dim=1, keepdim=True).clamp_min(_TINY) if p > _HIGH else None
    x = x if scale is None else x / scale
    found = _signed((x**p if plain else _signed(x, p)).mean(dim=1), 1 / p)
    return (found if scale is None else found * scale[:, 0]).float()


def _negative_mean(x: Tensor, p: float, plain: bool) -> Tensor:
    # By the least magnitude, so that no term exceeds 1; 0 has an infinite term, and so the mean 0.
    scale = x.abs().amin(dim=1, keepdim=True)
    x = x / scale.clamp_min(_TINY)
    m = (x**p if plain else _signed(x, p)).mean(dim=1)
    m = m.abs().clamp_min(_CANCELLED) * torch.where(m < 0, -1.0, 1.0)
    return torch.where(scale[:, 0] > 0, _signed(m, 1 / p) * scale[:, 0], 0.0).float()


def _signed(x: Tensor, p: float) -> Tensor:
    return x.abs() ** p * x.sign()


def _gathered(sentences: Ragged, rows: Tensor) -> Iterator[tuple[Tensor, slice, Tensor]]:
    # Indices of b sentences of one length t, a slice of c columns, and these columns of the words (b, t, c).
    ids, offsets, lengths = (x.numpy() for x in (sentences.ids, sentences.offsets, sentences.lengths))
    order = np.argsort(lengths, kind="stable")
    order = order[np.count_nonzero(lengths == 0) :]
    d = rows.shape[1]
    for same in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        t = int(lengths[same[0]]) if len(same) else 1
        step, width = max(1, GATHERED // t), max(1, min(d, GATHERED * d // t))
        for begin in range(0, len(same), step):
            chosen = same[begin : begin + step]
            places = offsets[chosen][:, None] + np.arange(t)  # (b, t)
            found = torch.from_numpy(ids[places].ravel())
            for left in range(0, d, width):
                columns = slice(left, min(left + width, d))
                words = rows[:, columns].index_select(0, found).view(len(chosen), t, -1)
                yield torch.from_numpy(chosen), columns, words


def _in_pieces(sentences: Ragged) -> tuple[Ragged, Ragged]:
    # The sentences cut into pieces of at most LONGEST words, and the indices of the pieces of each sentence.
    counts = -(-sentences.lengths // LONGEST)  # (s,)
    ends = counts.cumsum(0)
    within = torch.arange(int(ends[-1])) - (ends - counts).repeat_interleave(counts)
    starts = sentences.offsets[:-1].repeat_interleave(counts) + within * LONGEST
    pieces = Ragged(sentences.ids, torch.cat([starts, sentences.offsets[-1:]]))
    return pieces, Ragged(torch.arange(int(ends[-1])), torch.cat([ends.new_zeros(1), ends]))
