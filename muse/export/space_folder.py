"""Space folder: the words or rows of a space as a new space, for muse evaluate and all other commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from muse.normalise import normalise
from muse.space import AlignedSpace, Provenance, SideToSave, save_space


def export_space(space: AlignedSpace, out: Path, *, max_vocab: int | None = None) -> dict[str, int]:
    """The numbers of words by language, after the mapped rows (n, d) are written atomically as a space."""
    sides = {}
    for language in space.languages:
        vectors = space.vectors(language).most_frequent(max_vocab)
        rows, fitted = normalise(vectors.matrix, ["unit"])
        sides[language] = SideToSave(replace(vectors, matrix=rows), fitted)
    method = str(space.manifest.get("method", ""))
    save_space(out, sides, pivot=space.pivot, provenance=Provenance(method))
    return {language: len(side.vectors) for language, side in sides.items()}
