"""Derived: what using a space needs beside its vectors, computed once by whoever writes the space."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from muse.files.space_folder import derived_name
from muse.ranking.probability import find_calibration, write_calibration
from muse.space import Space
from muse.space.derived import ANSWERS, hubness_file, write_hubness


def write_derived(space: Space, folder: Path, languages: Iterable[str] | None = None) -> None:
    """Write the hubness and calibration of languages, all but the pivot, against the pivot to a folder.

    Both take long, hubness less where it was written with the answers by all the evidence. These have
    probabilities of their own: beside them the rest is found in memory by who asks for CSLS. So is all
    between two others.
    """
    others = [one for one in space.languages if one != space.pivot]
    for language in others if languages is None else languages:
        way = language, space.pivot
        lacking = [one for one in (way, way[::-1]) if not (folder / derived_name(ANSWERS, *one)).exists()]
        if lacking and not (folder / hubness_file(way, approximate=False)).exists():
            approximate = space.is_approximate(*way)
            write_hubness(folder, way, space.find_hubness(*way), approximate=approximate)
        for source, target in lacking:
            if (found := find_calibration(space, source, target)) is not None:
                write_calibration(folder, source, target, found)
