"""Pins: the checksums of downloaded files, in the format of `sha256sum`, to detect changes."""

from __future__ import annotations

import re
from pathlib import Path

from muse.errors import BadFile
from muse.files.writing import replaced

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def read_pins(folder: Path) -> dict[str, str]:
    """The checksum of each file in the folder's SHA256SUMS; BadFile for an invalid line."""
    path = folder / SUMS
    pins: dict[str, str] = {}
    if not path.exists():
        return pins
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: expected checksums, got {error}; remove it to start a new one") from error
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise BadFile(
                f"{path}:{number}: expected a checksum and a name, got {line[:80]!r}; correct or remove it"
            )
        pins[found[2]] = found[1]
    return pins


def write_pin(folder: Path, name: str, checksum: str) -> None:
    """Add the checksum of a file to the folder's SHA256SUMS."""
    pins = {**read_pins(folder), name: checksum}
    with replaced(folder / SUMS) as stream:
        stream.write("".join(f"{pins[key]}  {key}\n" for key in sorted(pins)).encode())
