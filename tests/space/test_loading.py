"""Loading a space that others replace: the old one or the new one, never some files of each."""

import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.errors import BadFile
from muse.files.space_manifest import read_manifest
from muse.space import load_space, loading, save_space
from tests.support.spaces import PROVENANCE, best, side_to_save


def save(folder: Path, version: int) -> None:
    """A space whose languages both have rows of this version."""
    rows = 1 + version * np.eye(9, 8, dtype=np.float32)
    sides = {name: side_to_save(name, rows) for name in ("fr", "en")}
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)


def test_a_space_that_is_replaced_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "space", 1)
    load, replaced = loading._load_side, list[str]()

    def load_late(folder: Path, manifest: Any, language: str, **rest: Any) -> object:
        if language == "en" and not replaced:
            replaced.append(language)
            save(tmp_path / "space", 2)
        return load(folder, manifest, language, **rest)

    monkeypatch.setattr(loading, "_load_side", load_late)
    for check in (True, False):
        replaced.clear()
        space = load_space(tmp_path / "space", check=check)
        assert replaced
        np.testing.assert_array_equal(space.vectors("fr").matrix, space.vectors("en").matrix)


@pytest.mark.parametrize("name", ["vectors.npy", "mapping.npy"])
def test_numbers_that_are_not_finite(tmp_path: Path, name: str) -> None:
    save(tmp_path / "space", 1)
    path = tmp_path / "space" / "fr" / name
    array = np.load(path)
    array[-1, -1] = np.nan
    np.save(path, array)
    read_manifest(tmp_path / "space").write(tmp_path / "space")
    with pytest.raises(BadFile, match=rf"fr/{name}: expected finite numbers, got nan or inf"):
        load_space(tmp_path / "space")


def _first_translation(folder: Path) -> str:
    """What a process of its own finds; at the top, where `spawn` can import it."""
    return best(load_space(folder), "été", source="fr", target="en", top=1)[0][0]


@pytest.mark.slow
def test_a_spawned_process_answers_whatever_threads_its_parent_has(tmp_path: Path) -> None:
    save(tmp_path / "space", 1)
    torch.ones(300, 300) @ torch.ones(300, 300)  # torch's threads run by now
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(_first_translation, [tmp_path / "space"]).get(120)
    assert found == _first_translation(tmp_path / "space")
