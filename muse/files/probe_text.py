"""Probe text: sentences with the class and the part of each, in the columns of SentEval's probing tasks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from muse.errors import BadFile
from muse.files.plain_text import read_lines

PARTS = ("tr", "va", "te")  # training, model selection, test
_COLUMNS = 3


@dataclass(frozen=True)
class ProbeText:
    """Sentences (n,), the class of each, and its part: one of PARTS."""

    parts: tuple[str, ...]
    labels: tuple[str, ...]
    sentences: tuple[str, ...]


def read_probe_text(path: Path | str) -> ProbeText:
    """The lines `part<TAB>class<TAB>sentence` of a file.

    Raise BadFile, naming the line, for a line of other columns or parts, and for a part without sentences.
    """
    rows: list[tuple[str, str, str]] = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != _COLUMNS or fields[0] not in PARTS or not fields[1].strip():
            raise BadFile(
                f"{path}:{number}: expected part, class and sentence, separated by tabs, and "
                f"{', '.join(PARTS)} as part; got {line[:60]!r}; correct the line"
            )
        rows.append((fields[0], fields[1].strip(), fields[2]))
    missing = [part for part in PARTS if part not in {row[0] for row in rows}]
    if missing:
        raise BadFile(
            f"{path}: expected sentences of the parts {', '.join(PARTS)}, found none of "
            f"{', '.join(missing)}; check the file"
        )
    if len({row[1] for row in rows}) < 2:
        raise BadFile(f"{path}: expected two classes or more, got {rows[0][1]!r} alone; check the file")
    parts, labels, sentences = zip(*rows, strict=True)
    return ProbeText(parts, labels, sentences)
