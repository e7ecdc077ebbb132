"""Decimals: fast vectorised parsing of plain numbers ("-0.01234"), with exactly the results of float().

A number is a sign or none, one digit, a point and up to 14 digits. Its digits make an integer below 2^53 and
the divisor is a power of ten below 10^22: both are exact in float64, so the one division rounds once and
gives the float64 that float() gives (Clinger 1990). Eight digits are read as one 64-bit word: three
multiplications join neighbouring digits, then pairs, then fours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]
Octets = NDArray[np.uint64]  # eight bytes in each

MARGIN = 16  # a number is read in windows of 16 bytes up to its end: the text is padded by as much
_LONGEST = 14  # digits after the point
_MINUS, _POINT, _ZERO = (np.uint8(ord(sign)) for sign in "-.0")


def _each(byte: int) -> np.uint64:
    octet: np.uint64 = np.uint64(byte * 0x0101010101010101)
    return octet


# For k decimals, the bytes to keep of the last octet, and of the one before it.
_KEEP_LAST = np.array([(2**64 - 1) & ~(2 ** (64 - 8 * min(k, 8)) - 1) for k in range(15)], np.uint64)
_KEEP_FIRST = np.array([0] * 8 + [(2**64 - 1) & ~(2 ** (64 - 8 * k) - 1) for k in range(7)], np.uint64)
_POWERS = 10.0 ** np.arange(15)


class Numbers(NamedTuple):
    """The parsed numbers of a block."""

    values: NDArray[np.float32]  # (f,)
    odd: NDArray[np.bool_]  # (f,) True if the number is not plain, so that its value is meaningless


def with_margins(block: bytes) -> Bytes:
    """The bytes of a block padded before and after, to a whole number of 64-bit words."""
    text = np.zeros(MARGIN + (len(block) + 7) // 8 * 8 + MARGIN, np.uint8)
    text[MARGIN : MARGIN + len(block)] = np.frombuffer(block, np.uint8)
    return text


def plain_numbers(text: Bytes, starts: Places, ends: Places) -> Numbers:
    """The numbers at text[starts:ends]; `text` comes from `with_margins`, `starts` and `ends` are (f,)."""
    negative = text[starts] == _MINUS
    point = starts + negative + 1
    lead = text[point - 1] - _ZERO  # any byte but a digit wraps round to more than 9
    decimals = ends - point - 1
    odd = (lead > 9) | (text[point] != _POINT) | (decimals < 0) | (decimals > _LONGEST)
    np.clip(decimals, 0, _LONGEST, out=decimals)
    fraction, wrong = _fractions(text, ends, decimals)
    odd |= wrong
    scale = _POWERS[decimals]
    digits = lead * scale
    digits += fraction
    scale *= 1.0 - 2.0 * negative  # the sign goes to the divisor, for the sake of -0.0
    return Numbers((digits / scale).astype(np.float32), odd)


def _fractions(text: Bytes, ends: Places, decimals: Places) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    # The integers in the last `decimals` bytes before `ends`, and whether any byte is no digit.
    octets = text.view("<u8")
    low, wrong = _eight_digits(_window(octets, ends), _KEEP_LAST[decimals])
    if decimals.max(initial=0) <= 8:
        return low, wrong
    high, also_wrong = _eight_digits(_window(octets, ends - 8), _KEEP_FIRST[decimals])
    return high * 1e8 + low, wrong | also_wrong


def _window(octets: Octets, ends: Places) -> Octets:
    # The 8 bytes before each end, combined from two aligned octets.
    place = ends >> 3
    shift = (ends & 7).astype(np.uint64) << np.uint64(3)
    window: Octets = octets[place - 1] >> shift
    # Shifting in two steps: a shift by 64 at once is undefined.
    window |= (octets[place] << np.uint64(1)) << (np.uint64(63) - shift)
    return window


def _eight_digits(window: Octets, keep: Octets) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    digits = window ^ _each(0x30)
    digits &= keep
    # Adding 0x76 sets the highest bit of every byte above 9, unless it is already set.
    wrong = ((digits + _each(0x76)) | digits) & _each(0x80)
    for factor, width, mask in _JOIN:
        digits *= factor
        digits >>= width
        digits &= mask
    return digits.view(np.int64).astype(np.float64), wrong != 0


# Multiplying by 10 * 2^8 + 1 adds ten times each byte to the next one; likewise for pairs and fours.
_JOIN = (
    (np.uint64(10 * 2**8 + 1), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100 * 2**16 + 1), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10000 * 2**32 + 1), np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
)
