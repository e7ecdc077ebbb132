"""Vocabularies of other systems: their units, in the order of their embedding tables."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from muse.errors import BadFile
from muse.files.detect import is_number, open_beginning
from muse.files.json_text import parse_json, yaml_item, yaml_string
from muse.files.plain_text import marked_encoding, read_lines

_OF_YAML = re.compile(r"\s+\d{1,9}")  # behind a unit and a colon
_NUMBERED = re.compile(r"(\d{1,9})[\t ](.*\S)")


def read_vocabulary(path: Path | str) -> list[str]:
    r"""The units of a vocabulary, in order, without the count or score that may follow each.

    A count is a number after a space or a tab, on every line: fastBPE, subword-nmt, sentencepiece and
    fairseq write one. Marian's vocab.yml, vocab.json and tokenizer.json number the units, in any order.
    Duplicate units are an error: their row would be ambiguous.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "vocab.txt"
    ...     _ = path.write_text("the 1061396\nca@@ 7\nt 5\n")
    ...     read_vocabulary(path)
    ['the', 'ca@@', 't']
    """
    return numbered_vocabulary(Path(path))[0]


def numbered_vocabulary(path: Path) -> tuple[list[str], bool]:
    """The units of a vocabulary, likewise, and whether the file numbers them."""
    with open_beginning(path) as file:
        if b"\0" in file.head[:512] and not marked_encoding(file.head):
            raise BadFile(
                f"{path}: expected a vocabulary as text, got bytes; if it is a model of sentencepiece: "
                "spm_export_vocab --model=FILE --output=OUT.vocab"
            )
    lines = list(read_lines(path))
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    if not lines:
        raise BadFile(f"{path}: expected a unit a line, got an empty file; check it")
    if lines[0].startswith("#version"):
        raise BadFile(
            f"{path}: expected a unit a line, got merges of byte pairs; give the vocabulary beside them, "
            "vocab.json or vocab.txt"
        )
    if (numbers := _of_json(lines, path) or _of_yaml(lines) or _behind_numbers(lines)) is not None:
        return _in_order(numbers, path), True
    counted = all(len(line.split()) > 1 and is_number(line.split()[-1].encode()) for line in lines)
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
    return list(places), False


def _of_json(lines: Sequence[str], path: Path) -> dict[str, Any] | None:
    """The numbers of the units in vocab.json or tokenizer.json; None of what is no JSON."""
    if not lines[0].lstrip().startswith(("{", "[")):
        return None
    try:
        found = parse_json("\n".join(lines))
    except ValueError:
        return None
    more: object = []
    if isinstance(found, dict) and isinstance(found.get("model"), dict):
        found, more = found["model"].get("vocab"), found.get("added_tokens")
    if isinstance(found, list):  # of pieces, or of pieces with their scores
        pieces = [one[0] if isinstance(one, list) and one else one for one in found]
        found = {str(one): place for place, one in enumerate(pieces) if isinstance(one, str)}
    if not isinstance(found, dict) or not found:
        raise BadFile(f"{path}: expected the units and their numbers, got other JSON; give a vocab.json")
    added = [one for one in more if isinstance(one, dict)] if isinstance(more, list) else []
    return {str(one.get("content")): one.get("id") for one in added} | found


def _behind_numbers(lines: Sequence[str]) -> dict[str, Any] | None:
    """The numbers of the units if they are those of the lines, from 0, and stand before them."""
    found = [_NUMBERED.fullmatch(line) for line in lines]
    units = {one[2]: place for place, one in enumerate(found) if one and one[1] == str(place)}
    return units if len(units) == len(lines) > 1 else None


def _of_yaml(lines: Sequence[str]) -> dict[str, Any] | None:
    """The numbers of the units in YAML, as Marian writes it; None of lines that do not number them all."""
    items = [yaml_item(line) for line in lines]
    if None not in items and (units := [*filter(None, items)]) and len({*units}) == len(units):
        return {unit: place for place, unit in enumerate(units)}
    filled = [line.strip().rpartition(":") for line, item in zip(lines, items, strict=True) if item != ""]
    found = {yaml_string(unit.strip()): int(n) for unit, _, n in filled if unit and _OF_YAML.fullmatch(n)}
    return found if sorted(found.values()) == [*range(len(filled))] else None


def _in_order(numbers: Mapping[str, Any], path: Path) -> list[str]:
    """The units by their numbers; BadFile unless these are those from 0 on."""
    by = {number: unit for unit, number in numbers.items() if isinstance(number, int)}
    missing = next((place for place in range(len(numbers)) if place not in by), None)
    if missing is not None:
        raise BadFile(
            f"{path}: expected units with the numbers from 0 to {len(numbers) - 1}, each once, got none with "
            f"{missing}; give the whole vocabulary"
        )
    return [by[place] for place in range(len(numbers))]
