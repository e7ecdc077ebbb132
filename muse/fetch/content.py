"""Content: whether a downloaded file is complete and of the expected kind, before it gets its name."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import IO, cast

from muse.errors import BadFile
from muse.files import read_lexicon

BLOCK = 1 << 20
AGAIN = "nothing was kept: download it again, or try --mirror"


def check_content(path: Path, name: str, kind: str) -> None:
    """Raise BadFile if `path` is not a complete file of the given kind; `name` is its final name."""
    with path.open("rb") as file:
        head = file.read(512).lstrip().lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        raise BadFile(f"{name}: expected {kind}, got a web page; {AGAIN}")
    if kind == "dictionary":
        _check_dictionary(path, name)
    else:
        _check_vectors(path, name)


def _check_dictionary(path: Path, name: str) -> None:
    try:
        read_lexicon(path)
    except BadFile as error:
        raise BadFile(f"{name}: expected a dictionary ({error}); {AGAIN}") from error


def _check_vectors(path: Path, name: str) -> None:
    try:
        with _opened(path, name) as file:
            first = file.readline(100).split()
            if len(first) != 2 or not all(field.isdigit() for field in first):
                raise BadFile(f"{name}: expected two numbers in line 1, got something else; {AGAIN}")
            lines = sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b""))
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(f"{name}: expected a complete file, got a broken one ({error}); {AGAIN}") from error
    if lines < int(first[0]):
        raise BadFile(f"{name}: expected {int(first[0])} words, got {lines}; {AGAIN}")


def _opened(path: Path, name: str) -> IO[bytes]:
    # Reading a .gz to its end verifies its checksum.
    return cast("IO[bytes]", gzip.open(path, "rb")) if name.endswith(".gz") else path.open("rb")
