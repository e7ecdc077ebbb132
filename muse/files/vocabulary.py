"""A vocabulary file of another system: a unit a line, in the order of that system's rows."""

from __future__ import annotations

from pathlib import Path

from muse.errors import BadFile
from muse.files.source import open_source

_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"


def read_vocabulary(path: Path | str) -> list[str]:
    r"""The units of a vocabulary, in order, without the count or score that may stand behind each.

    A count is a number after a space or a tab, on every line: fastBPE, subword-nmt, sentencepiece and
    fairseq write one. No unit may occur twice: its row would be anyone's guess.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "vocab.txt"
    ...     _ = path.write_text("the 1061396\nca@@ 7\nt 5\n")
    ...     read_vocabulary(path)
    ['the', 'ca@@', 't']
    """
    path = Path(path)
    lines = _lines(path)
    counted = all(len(line.split()) > 1 and _is_number(line.split()[-1]) for line in lines)
    places: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        unit = line.rstrip().rpartition("\t" if "\t" in line else " ")[0].rstrip() if counted else line
        if not unit.strip(" \t"):
            raise BadFile(f"{path}:{number}: expected a unit, got a blank line; remove it")
        if unit in places:
            raise BadFile(
                f"{path}:{number}: expected each unit once, got {unit!r} again, as on line {places[unit]}; "
                "remove one of the two lines"
            )
        places[unit] = number
    return list(places)


def _lines(path: Path) -> list[str]:
    with open_source(path) as source:
        data = b"".join(iter(lambda: source.read(_BLOCK), b"")).removeprefix(_BOM)
    # Split at newlines alone: a unit may hold any other sign that Python takes for the end of a line.
    lines = data.split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise BadFile(f"{path}: expected a unit a line, got an empty file; check it")
    return [_decoded(path, number, line) for number, line in enumerate(lines, 1)]


def _decoded(path: Path, number: int, line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{path}:{number}: expected UTF-8, got the byte 0x{line[error.start]:02x} in {line[:60]!r}; "
            "convert the file to UTF-8"
        ) from None


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
