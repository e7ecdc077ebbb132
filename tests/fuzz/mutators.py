"""Mutators: from the bytes of a good file to those of a damaged one, by a random.Random.

The same ones serve the campaign, whose generator has a seed, and the tests, whose generator is hypothesis's,
so that a defect which a test finds is shrunk.
"""

import json
import random
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Files = Mapping[str, bytes]  # the content of each file of an input by its path in a folder
Mutator = Callable[[bytes, bytes, random.Random], bytes]  # of a content, and another one to splice with

_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NUMBERS = tuple(
    text.encode()
    for text in (
        "0", "-0", "-1", "1", "2", "127", "255", "65536", str(2**31 - 1), str(2**31), str(2**32), str(2**53),
        str(2**63 - 1), str(2**63), str(2**64), "1" + "0" * 30, "1" + "0" * 5000, "nan", "inf", "-inf",
        "1e308", "1e39", "1e-320", "-1e-46", "1e999", "0x10", "1_000", "٣", "+1", ".5", "1.", "true", "",
    )
)  # fmt: skip
_INTEGERS = (
    0, 1, -1, 2, 127, 128, 255, 256, 65535, 2**31 - 1, -(2**31), 2**32 - 1, 2**53, 2**63 - 1, -(2**63),
)  # fmt: skip
_TOKENS = (
    b"\0", b"\n", b"\r\n", b"\t", b" ", b'"', b",", b"{", b"[", b"\\", b"\xff", b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    "\u2028".encode(), "\u0085".encode(), "e\u0301".encode(), b"../", b"%s", b"\x1b[31m",
    b"<unk>", b"\\end\\",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.5, 2**31, 2**63, 2**64, 10**400, 1e308, 1e-320, float("nan"),
    float("inf"), "", "x", "\ud800", "x\udcff", "\0", "a\nb", "../..", "/", "é" * 300, [], {}, [[]], [None],
    [1, "x"], {"": None}, {"a": []}, json.loads("[" * 300 + "]" * 300),
)  # fmt: skip
_DEEP = 100_000
_LARGEST = 1 << 20  # of what repeating makes: a bomb if it is then compressed


def mutated(files: Files, others: Sequence[Files], drawn: random.Random) -> dict[str, bytes]:
    """The files with one to four mutations of one or more of them; `others` are inputs to splice with."""
    changed = dict(files)
    for _ in range(drawn.choice((1, 1, 1, 2, 2, 3, 4))):
        if not changed:
            break
        name = drawn.choice(sorted(changed))
        if len(changed) > 1 and drawn.random() < 0.02:
            del changed[name]
            continue
        other = drawn.choice(others)
        spliced = other.get(name) or drawn.choice([other[key] for key in sorted(other)] or [b""])
        changed[name] = _chosen(drawn)(changed[name], spliced, drawn)
    return changed


def _chosen(drawn: random.Random) -> Mutator:
    return drawn.choices(list(MUTATORS), list(MUTATORS.values()))[0]


def _place(data: bytes, drawn: random.Random) -> int:
    return drawn.randrange(len(data) + 1)


def _span(data: bytes, drawn: random.Random) -> tuple[int, int]:
    # Short slices more often than long ones.
    begin = _place(data, drawn)
    return begin, min(len(data), begin + drawn.randrange(1 << drawn.randrange(1, 11)))


def flip(data: bytes, _: bytes, drawn: random.Random) -> bytes:
    """One byte is another one, or has one bit flipped."""
    if not data:
        return data
    place = drawn.randrange(len(data))
    byte = drawn.choice((data[place] ^ (1 << drawn.randrange(8)), drawn.randrange(256)))
    return data[:place] + bytes([byte]) + data[place + 1 :]


def truncate(data: bytes, _: bytes, drawn: random.Random) -> bytes:
    """The end is missing."""
    return data[: _place(data, drawn)]


def insert(data: bytes, _: bytes, drawn: random.Random) -> bytes:
    """Random bytes, or a sign with a meaning, are in between."""
    place = _place(data, drawn)
    random_bytes = bytes(drawn.randrange(256) for _ in range(drawn.randrange(1, 9)))
    return data[:place] + drawn.choice((random_bytes, drawn.choice(_TOKENS))) + data[place:]


def delete(data: bytes, _: bytes, drawn: random.Random) -> bytes:
    """A slice is missing."""
    begin, end = _span(data, drawn)
    return data[:begin] + data[end:]


def duplicate(data: bytes, _: bytes, drawn: random.Random) -> bytes:
    """A slice is there again, at its place or at another."""
    begin, end = _span(data, drawn)
    place = drawn.choice((end, _place(data, drawn)))
    return data[:place] + data[begin:end] + data[place:]


def repeat(data: bytes, _: bytes, drawn: random.Random) -> bytes:
    """A slice is there many times over: a bomb, if the file is compressed afterwards."""
    begin, end = _span(data, drawn)
    size: int = 1 << drawn.choice((*range(4, 16), *range(4, 16), *range(4, 16), _LARGEST.bit_length() - 1))
    times = size // max(1, end - begin)
    return data[:begin] + data[begin:end] * times + data[end:]


def splice(data: bytes, other: bytes, drawn: random.Random) -> bytes:
    """The beginning of one file and the end of another."""
    return data[: _place(data, drawn)] + other[_place(other, drawn) :]


def number(data: bytes, _: bytes, drawn: random.Random) -> bytes:
    """A number in the text has a value at the boundary of a type."""
    found = list(_NUMBER.finditer(data[: 1 << 16]))
    if not found:
        return integer(data, b"", drawn)
    # Headers, in which a number is a promise, are at the beginning.
    chosen = drawn.choice((drawn.choice(found[:4]), drawn.choice(found)))
    return data[: chosen.start()] + drawn.choice(_NUMBERS) + data[chosen.end() :]


def integer(data: bytes, _: bytes, drawn: random.Random) -> bytes:
    """A binary integer has a value at the boundary of a type; headers lie so."""
    width, order = drawn.choice("bhiq"), drawn.choice("<>")
    size = struct.calcsize(width)
    value = drawn.choice(_INTEGERS) & ((1 << 8 * size) - 1)
    place = drawn.choice(
        (_place(data, drawn), _place(data[:64], drawn), _place(data[-64:], drawn) + len(data[:-64]))
    )
    return data[:place] + struct.pack(f"{order}{width.upper()}", value) + data[place + size :]


def structure(data: bytes, other: bytes, drawn: random.Random) -> bytes:
    """A value of a JSON text is of another type, missing, there twice, or nested deeply."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return drawn.choice((flip, number))(data, other, drawn)
    if drawn.random() < 0.01:
        return drawn.choice((b"[" * _DEEP, b'{"a":' * _DEEP, b"[" * _DEEP + b"]" * _DEEP))
    places = list(_places(document))
    if not places:
        return json.dumps(drawn.choice(_VALUES)).encode()
    holder, key = drawn.choice(places)
    if drawn.random() < 0.15:
        del holder[key]
    elif isinstance(holder, dict) and drawn.random() < 0.1:
        holder[drawn.choice(("", "..", "a/b", "\ud800", "x\udcff", "é", key * 50))] = holder[key]
    else:
        # Another value of the same document is the likelier to get past the first check.
        from_here = drawn.choice(places)
        holder[key] = json.loads(
            json.dumps(drawn.choice((drawn.choice(_VALUES), from_here[0].__getitem__(from_here[1]))))
        )
    return json.dumps(document, indent=2).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = (
            list(holder)
            if isinstance(holder, dict)
            else range(len(holder))
            if isinstance(holder, list)
            else ()
        )
        for key in keys:
            yield holder, key
            waiting.append(holder[key])


# Each with its weight.
MUTATORS: Mapping[Mutator, int] = {
    flip: 5, truncate: 2, insert: 4, delete: 3, duplicate: 3, repeat: 1, splice: 2, number: 5, integer: 5,
    structure: 8,
}  # fmt: skip
