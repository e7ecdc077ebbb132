"""Pairs of SICK's test part in French and German: our translations (benchmarks/sick), SICK's own labels.

Of the 330 pairs translated, those of the official test part are used: 160.
"""

from __future__ import annotations

import csv
from pathlib import Path

TRANSLATIONS = Path(__file__).parent / "sick"
LANGUAGES = ("en", "fr", "de")
_COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "entailment_judgment", "SemEval_set")


def written(sick: Path, folder: Path) -> dict[str, Path]:
    """The same pairs in every language, as files in the columns of SICK; all are of its test part."""
    labelled = {one["pair_ID"]: one for one in _rows(sick)}
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for language in LANGUAGES:
        path = folder / f"sick.{language}.txt"
        translated = _rows(TRANSLATIONS / f"{'fr' if language == 'en' else language}.tsv")
        lines = ["\t".join(_COLUMNS)]
        for one in translated:
            original = labelled[one["pair_ID"]]
            if original["SemEval_set"] == "TEST":
                cells = original if language == "en" else original | one
                lines.append("\t".join(cells[name] for name in _COLUMNS))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        found[language] = path
    return found


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
