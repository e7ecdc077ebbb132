"""Vocabulary: the vocabulary file of another system, a unit a line, in the order of its embedding table."""

from __future__ import annotations

from pathlib import Path

from muse.errors import BadFile
from muse.files.plain_text import read_lines


def read_vocabulary(path: Path | str) -> list[str]:
    r"""The units of a vocabulary, in order, without the count or score that may follow each.

    A count is a number after a space or a tab, on every line: fastBPE, subword-nmt, sentencepiece and
    fairseq write one. Duplicate units are an error: their row would be ambiguous.

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
    lines = list(read_lines(path))
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    if not lines:
        raise BadFile(f"{path}: expected a unit a line, got an empty file; check it")
    return lines


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
