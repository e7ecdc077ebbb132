"""Loading a space that others replace: the old one or the new one, never some files of each."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from muse.errors import BadFile
from muse.files.space_folder import checksum
from muse.space import load_space, loading, save_space
from tests.support.spaces import PROVENANCE, best, side_to_save, sides_to_save


def save(folder: Path, version: int) -> None:
    """A space whose languages both have rows of this version."""
    rows = 1 + version * np.eye(9, 8, dtype=np.float32)
    sides = {name: side_to_save(name, rows) for name in ("fr", "en")}
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)


def test_a_space_that_is_replaced_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "space", 1)
    load, replaced = loading._load_side, list[str]()

    def load_late(folder: Path, language: str, *rest: object) -> object:
        if language == "en" and not replaced:
            replaced.append(language)
            save(tmp_path / "space", 2)
        return load(folder, language, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "_load_side", load_late)
    for check in (True, False):
        replaced.clear()
        space = load_space(tmp_path / "space", check=check)
        assert replaced
        np.testing.assert_array_equal(space.vectors("fr").matrix, space.vectors("en").matrix)


@pytest.mark.slow
def test_every_load_during_replacements_is_one_version(tmp_path: Path) -> None:
    save(tmp_path / "space", 0)
    ended = threading.Event()

    def replace() -> None:
        for version in range(40):
            save(tmp_path / "space", version % 7)
        ended.set()

    writer = threading.Thread(target=replace)
    writer.start()
    while not ended.is_set():
        space = load_space(tmp_path / "space")
        np.testing.assert_array_equal(space.vectors("fr").matrix, space.vectors("en").matrix)
    writer.join()


def test_a_file_that_changes_under_its_name_is_still_refused(tmp_path: Path) -> None:
    save(tmp_path / "space", 1)
    (tmp_path / "space" / "fr" / "words.txt").write_text("other\n")
    with pytest.raises(BadFile, match="expected the saved file"):
        load_space(tmp_path / "space")


def test_what_is_found_of_a_space_is_not_kept_in_the_next(tmp_path: Path) -> None:
    save_space(tmp_path / "space", sides_to_save(), pivot="en", provenance=PROVENANCE)
    old = load_space(tmp_path / "space")
    assert old.home == tmp_path / "space"
    save(tmp_path / "space", 1)
    before = {path: checksum(path) for path in (tmp_path / "space").rglob("*") if path.is_file()}
    best(old, "fr20", source="fr", target="en")
    assert old.home != tmp_path / "space"
    assert before == {path: checksum(path) for path in (tmp_path / "space").rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["vectors.npy", "mapping.npy"])
def test_numbers_that_are_not_finite(tmp_path: Path, name: str) -> None:
    save(tmp_path / "space", 1)
    path = tmp_path / "space" / "fr" / name
    array = np.load(path)
    array[-1, -1] = np.nan
    np.save(path, array)
    manifest = tmp_path / "space" / "manifest.json"
    noted = json.loads(manifest.read_text())
    noted["checksums"][f"fr/{name}"] = checksum(path)
    manifest.write_text(json.dumps(noted))
    with pytest.raises(BadFile, match=rf"fr/{name}: expected finite numbers, got nan or inf"):
        load_space(tmp_path / "space")


@pytest.mark.parametrize("how", ["overwritten", "cut short"])
def test_a_mapped_space_that_is_overwritten_in_place_is_refused_at_its_next_use(
    tmp_path: Path, how: str
) -> None:
    save(tmp_path / "space", 1)
    save(tmp_path / "other", 2)
    mapped, inside = load_space(tmp_path / "space"), load_space(tmp_path / "space", into_memory=True)
    right = best(inside, "été", source="fr", target="en")
    assert best(mapped, "été", source="fr", target="en") == right
    path = tmp_path / "space" / "en" / "vectors.npy"
    if how == "overwritten":
        path.write_bytes((tmp_path / "other" / "en" / "vectors.npy").read_bytes())
    else:
        os.truncate(path, 200)
    for use in (lambda: best(mapped, "été", source="fr", target="en"), lambda: mapped.vectors("en")):
        with pytest.raises(BadFile, match="en/vectors.npy: .* found it overwritten in place"):
            use()
    assert mapped.vectors("fr")
    assert best(inside, "été", source="fr", target="en") == right  # nothing of it is on disk
    assert mapped.home is inside.home is None


def test_files_that_change_while_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "space", 1)
    save(tmp_path / "other", 2)
    load = loading._load_side

    def load_late(folder: Path, language: str, *rest: object) -> object:
        loaded = load(folder, language, *rest)  # type: ignore[arg-type]
        (folder / language / "vectors.npy").write_bytes(
            (tmp_path / "other" / language / "vectors.npy").read_bytes()
        )
        return loaded

    monkeypatch.setattr(loading, "_load_side", load_late)
    with pytest.raises(BadFile, match="found its files changed while they were read"):
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
