"""Calibration of a space: how probable its translations are, found at first use and kept in its folder."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from muse.errors import Mismatch
from muse.files.atomic import atomic_path
from muse.files.json_text import parse_json
from muse.files.space_folder import calibration_name, folder_name, remove_outdated
from muse.search.calibration import WORDS, calibrate
from muse.search.probability import LEAST, Calibration
from muse.search.retrieval import Retrieval
from muse.space.aligned import AlignedSpace
from muse.space.hubness import HUBNESS_K

log = logging.getLogger(__name__)

KEPT = ("csls", HUBNESS_K)  # the retrieval whose calibration is kept: the default
SEED = 0  # of the calibration that is kept


def calibrated(
    space: AlignedSpace, source: str, target: str, *, rng: np.random.Generator, retrieval: Retrieval
) -> Calibration:
    """The calibration of translations from `source` to `target` (`muse.search.calibration`).

    It is fitted to the most frequent words of the whole space, whatever part of it is searched: a
    probability must not depend on how many words are looked up.
    """
    rows, unweighted = (space.tensor(source), space.tensor(target)), None
    if space.manifest.get("mapping") == "linear":
        unweighted = space.unweighted(source, WORDS), space.unweighted(target, WORDS)
    return calibrate(*rows, rng=rng, retrieval=retrieval, unweighted=unweighted)


def known_calibration(space: AlignedSpace, source: str, target: str) -> Calibration | None:
    """The calibration found earlier for the default retrieval, None before it was needed."""
    key = source, target
    if key not in space.calibrations and (home := space.home) is not None:
        kept = _read(_path(space, home, *key))
        if kept is not None:
            space.calibrations[key] = kept
    return space.calibrations.get(key)


def find_calibration(space: AlignedSpace, source: str, target: str) -> Calibration | None:
    """The calibration for the default retrieval: the known one, or fitted now and kept in the folder.

    None if the space is too small for one: without two pairs of mutual neighbours, or in one dimension.
    """
    known = known_calibration(space, source, target)
    if known is not None:
        return known
    with space.progress.stage(f"probabilities of {target} for {source}", 1) as tick:
        try:
            rng = np.random.default_rng(SEED)
            found = calibrated(space, source, target, rng=rng, retrieval=Retrieval(*KEPT))
        except Mismatch as error:
            log.debug("no probabilities: %s", error)
            return None
        tick(1)
    space.calibrations[source, target] = found
    if (home := space.home) is not None:
        _keep(_path(space, home, source, target), found, space.digest(source, target))
    return found


def _path(space: AlignedSpace, folder: Path, source: str, target: str) -> Path:
    return folder / folder_name(source) / calibration_name(target, space.digest(source, target))


def _read(path: Path) -> Calibration | None:
    # A broken file is as good as none: the calibration is then found again.
    try:
        read = parse_json(path.read_bytes())
        values = [float(read[one.name]) for one in fields(Calibration)]
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return None
    found = Calibration(*values)
    possible = all(map(math.isfinite, values)) and min(found.closed_set, found.open_set) >= LEAST
    return found if possible else None


def _keep(path: Path, found: Calibration, digest: str) -> None:
    try:
        with atomic_path(path) as partial:
            partial.write_text(json.dumps(asdict(found)) + "\n", encoding="utf-8")
    except OSError as error:  # a folder that is read only
        log.debug("%s: not kept, %s", path, error)
        return
    remove_outdated(path, digest)
