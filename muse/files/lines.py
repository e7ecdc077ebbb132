"""Lines of bytes, block by block, in linear time, and with a bound on how long one may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from muse.errors import BadFile

BLOCK = 1 << 16
LONGEST = 1 << 26  # of text: a book without an end of line still is one


def blocks_of_lines(
    read: Callable[[int], bytes], name: object, *, longest: int = LONGEST
) -> Iterator[list[bytes]]:
    r"""The lines of a stream without their \n, in blocks of all that were read; the last may have none.

    Raise BadFile for a line of more than `longest` bytes; `name` is the file in its message.
    """
    number, begun, waiting = 1, list[bytes](), 0  # of the line that is still incomplete
    while data := read(BLOCK):
        first, *others = data.split(b"\n")
        begun.append(first)
        waiting += len(first)
        if waiting > longest:
            raise BadFile(
                f"{name}:{number}: expected a line of at most {longest} bytes, got a longer one; check "
                "that it is the file you mean"
            )
        if not others:
            continue
        *whole, rest = others
        yield [b"".join(begun), *whole]
        number += len(others)
        begun, waiting = [rest], len(rest)
    if last := b"".join(begun):
        yield [last]
