"""Saving whole or not at all, whatever goes wrong; and loading a space that others replace."""

import errno
import hashlib
import json
import multiprocessing
import os
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.api.settings import check, settings_of
from muse.errors import BadFile, BadSetting, Mismatch, MuseError, NotConverged
from muse.files.space_folder import write_array
from muse.files.space_manifest import InputFile, read_manifest
from muse.installation import __version__
from muse.search.retrieval import Retrieval
from muse.space import Provenance, check_addition, check_out, load_space, loading, save_space
from muse.space import saving as space_saving
from muse.space.saving import copy_space
from tests.support.spaces import PROVENANCE, best, derived, raw_rows, saved, side_to_save, sides_to_save


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def save(folder: Path, **changes: Any) -> None:
    save_space(folder, **{"sides": sides_to_save(), "pivot": "en", "provenance": PROVENANCE, **changes})


def test_the_files_of_a_space(tmp_path: Path) -> None:
    saved(tmp_path / "a" / "b" / "s", "fra_Latn")
    names = {"words.txt", "vectors.npy", "mapping.npy", "means.npy"}
    assert contents(tmp_path / "a" / "b" / "s").keys() == {
        "manifest.json",
        *(f"en/{name}" for name in names),
        *(f"fra_Latn/{name}" for name in names),
    }
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["s"]


def test_the_manifest_says_how_it_was_made(tmp_path: Path) -> None:
    source = tmp_path / "fr.vec"
    source.write_bytes(b"the file")
    sides = sides_to_save()
    sides["fr"] = replace(sides["fr"], files=(source, tmp_path / "gone"))
    provenance = replace(PROVENANCE, inputs=(source,), more={"candidates": [{"method": "x"}]})
    save(tmp_path / "s", sides=sides, provenance=provenance)
    manifest = load_space(tmp_path / "s").manifest
    digest = hashlib.sha256(b"the file").hexdigest()
    assert (manifest.format, manifest.format_version) == ("muse-space", 2)
    assert manifest.muse_version == __version__
    assert manifest.pivot == "en"
    assert manifest.dimension == 8
    assert manifest.mapping == "orthogonal"
    french = manifest.languages["fr"]
    assert (french.language, french.role, french.words) == ("fr", "source", 39)
    assert french.normalisation == ("unit", "centre", "unit")
    assert french.files == (InputFile(str(source), digest), InputFile(str(tmp_path / "gone")))
    assert manifest.languages["en"].role == "pivot"
    assert manifest.inputs == (InputFile(str(source), digest),)
    assert [one.name for one in manifest.candidates] == ["x"]
    assert (manifest.method, manifest.seed, manifest.criterion) == ("gromov", 7, 0.5)
    assert (manifest.settings, manifest.verdict.fields) == ({"rounds": 5}, {"label": "aligned"})
    files = contents(tmp_path / "s")
    del files["manifest.json"]
    assert manifest.checksums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def test_settings_may_be_objects_and_figures_not_a_number(tmp_path: Path) -> None:
    settings = {
        "retrieval": Retrieval(),
        "path": Path("x"),
        "k": np.float32(0.5),
        "steps": ("a", np.arange(2)),
    }
    save(tmp_path / "s", provenance=Provenance("x", settings, criterion=float("nan")))
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["criterion"] is None
    assert manifest["settings"] == {
        "retrieval": {"method": "csls", "k": 10, "beta": 30.0, "backend": "auto"},
        "path": "x",
        "k": 0.5,
        "steps": ["a", [0, 1]],
    }


def test_the_same_space_gives_the_same_bytes(tmp_path: Path) -> None:
    save(tmp_path / "a")
    save(tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.parametrize(
    "language", ["java-api", "fra_Latn", "a/b", "../up", "...", "ü 語", "c%2F", "\0", "-x"]
)
def test_any_name_of_a_language_will_do(tmp_path: Path, language: str) -> None:
    space = saved(tmp_path / "s", language)
    assert space.languages == ("en", language)
    assert len(space.vectors(language)) == 39
    assert space.bias(language, "en", Retrieval()) is not None
    assert [path.name for path in tmp_path.iterdir()] == ["s"]
    assert len(list((tmp_path / "s").iterdir())) == 3


@pytest.mark.parametrize("language", ["", ".", "..", "manifest.json", "\ud800"])
def test_names_that_no_folder_can_have(tmp_path: Path, language: str) -> None:
    with pytest.raises(BadSetting, match="a language needs a name that is valid for a folder"):
        saved(tmp_path / "s", language)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("word", ["a\nb", "\n", "\ud800"])
def test_a_word_that_no_line_can_hold(tmp_path: Path, word: str) -> None:
    sides = sides_to_save()
    words = [*sides["fr"].vectors.words[:-1], word]
    sides["fr"] = replace(sides["fr"], vectors=replace(sides["fr"].vectors, words=words))
    with pytest.raises(Mismatch, match=r"fr: expected words that fit on a line .* \(word 39\)"):
        save(tmp_path / "deep" / "s", sides=sides)
    assert list(tmp_path.iterdir()) == []


def test_sides_must_fit_each_other(tmp_path: Path) -> None:
    sides = sides_to_save()
    with pytest.raises(BadSetting, match="the pivot must be one of en, fr; got 'de'"):
        save(tmp_path / "s", pivot="de")
    with pytest.raises(Mismatch, match=r"de: expected a mapping of shape \(8, 5\), .* shape \(5, 5\)$"):
        save(tmp_path / "s", sides={**sides, "de": side_to_save("de", raw_rows(0, 9, 5))})
    with pytest.raises(Mismatch, match=r"fr: .* got one of shape \(8, 5\)"):
        save(
            tmp_path / "s", sides={**sides, "fr": replace(sides["fr"], mapping=np.zeros((8, 5), np.float32))}
        )
    with pytest.raises(Mismatch, match="de: a space needs at least one word"):
        empty = replace(sides["fr"], vectors=sides["fr"].vectors.most_frequent(0))
        save(tmp_path / "s", sides={**sides, "de": empty})
    assert list(tmp_path.iterdir()) == []


def test_a_mapping_that_broke_down_is_not_saved(tmp_path: Path) -> None:
    broken = replace(sides_to_save()["fr"], mapping=np.full((8, 8), np.nan, np.float32))
    with pytest.raises(NotConverged, match="fr: mapped vectors must be finite"):
        save(tmp_path / "deep" / "s", sides={**sides_to_save(), "fr": broken})
    assert list(tmp_path.iterdir()) == []


NO_SPACE = {
    "thesis.tex": "years of work",
    "manifest.json": '{"format": "webapp"}',
    "manifest.json ": "{",
    "": "",
}


@pytest.mark.parametrize("name", NO_SPACE)
def test_what_is_no_space_is_left_alone(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    if name:
        out.mkdir()
    (out / name.strip()).write_text(NO_SPACE[name])
    before = contents(tmp_path)
    for attempt in (check_out, save):
        with pytest.raises(BadSetting, match=r"out exists and is not an aligned space; choose another --out"):
            attempt(out)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", ["nothing", "folder", "space", "link"])
def test_a_space_takes_the_place_of_an_empty_folder_or_another_space(tmp_path: Path, there: str) -> None:
    out, real = tmp_path / "s", tmp_path / ("real" if there == "link" else "s")
    if there == "folder":
        out.mkdir()
    elif there != "nothing":
        saved(real, "de")
    if there == "link":
        out.symlink_to(real)
    check_out(str(out))
    check_out(out / "deep")
    assert saved(out, "fr").languages == ("en", "fr")
    assert out.is_symlink() == (there == "link")
    assert {path.name for path in tmp_path.iterdir()} == {"s", real.name}


def test_check_out_looks_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadSetting, match="needs a writable folder, but .*file is not; choose another --out"):
        check_out(tmp_path / "file" / "deep" / "s")
    monkeypatch.setattr("os.access", lambda *_: False)  # the tests may run as root, who may write anywhere
    with pytest.raises(BadSetting, match="needs a writable folder"):
        check_out(tmp_path / "a" / "s")
    with pytest.raises(BadFile, match="File name too long"):
        check_out(tmp_path / ("x" * 300))


FAULTS: list[tuple[BaseException, type[BaseException], str]] = [
    (OSError(errno.ENOSPC, "No space left on device"), MuseError, "the disk is full .*choose another place"),
    (OSError(errno.EDQUOT, "Disk quota exceeded"), MuseError, "the disk is full"),
    (OSError(errno.EIO, "Input/output error"), MuseError, "Input/output error"),
    (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    (MemoryError(), MemoryError, "^$"),
]


@pytest.mark.parametrize("call", range(6))  # two sides with three arrays each
@pytest.mark.parametrize(
    ("fault", "kind", "message"), FAULTS, ids=["full", "quota", "broken", "ctrl-c", "memory"]
)
def test_a_fault_leaves_what_was_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: int,
    fault: BaseException,
    kind: type[BaseException],
    message: str,
) -> None:
    saved(tmp_path / "s", "de")
    before = contents(tmp_path)
    calls: list[Path] = []

    def failing(path: Path, *rest: Any) -> None:
        calls.append(path)
        if len(calls) > call:
            path.write_bytes(b"a part of it")
            raise fault
        write_array(path, *rest)

    monkeypatch.setattr("muse.files.space_folder.write_array", failing)
    for name in ("s", "new"):
        calls.clear()
        with pytest.raises(kind, match=message):
            save(tmp_path / name)
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_rows_are_written_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "whole")
    monkeypatch.setattr(space_saving, "CHUNK", 7)
    save(tmp_path / "chunks")
    whole, chunks = load_space(tmp_path / "whole"), load_space(tmp_path / "chunks")
    for language in ("en", "fr"):
        np.testing.assert_allclose(
            chunks.vectors(language).matrix, whole.vectors(language).matrix, atol=1e-7, rtol=0
        )


@pytest.mark.slow
def test_saving_holds_no_second_copy_in_memory(tmp_path: Path) -> None:
    sides = sides_to_save(count=60_000, dimension=64)  # 15 MB each
    tracemalloc.start()
    try:
        save(tmp_path / "s", sides=sides)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.9 * sides["en"].vectors.matrix.nbytes


@pytest.mark.parametrize("other", ["FR", "Fr"])
def test_names_that_some_disks_take_for_one_are_refused(tmp_path: Path, other: str) -> None:
    sides = sides_to_save("fr", other)
    with pytest.raises(BadSetting, match=f"got 'fr' and '{other}'"):
        save_space(tmp_path / "space", sides, pivot="en", provenance=PROVENANCE)
    save_space(tmp_path / "space", sides_to_save("fr"), pivot="en", provenance=PROVENANCE)
    with pytest.raises(BadSetting, match=f"got 'fr' and '{other}'"):
        check_addition(tmp_path / "space", [other])
    with pytest.raises(BadSetting, match=f"got 'fr' and '{other}'"):
        check(settings_of(src="fr", tgt=other))


def save_seeded(folder: Path, version: int) -> None:
    """A space whose languages both have rows of this version."""
    rows = 1 + version * np.eye(9, 8, dtype=np.float32)
    sides = {name: side_to_save(name, rows) for name in ("fr", "en")}
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)


def test_a_space_that_is_replaced_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_seeded(tmp_path / "space", 1)
    load, replaced = loading._load_side, list[str]()

    def load_late(folder: Path, manifest: Any, language: str, **rest: Any) -> object:
        if language == "en" and not replaced:
            replaced.append(language)
            save_seeded(tmp_path / "space", 2)
        return load(folder, manifest, language, **rest)

    monkeypatch.setattr(loading, "_load_side", load_late)
    for checked in (True, False):
        replaced.clear()
        space = load_space(tmp_path / "space", check=checked)
        assert replaced
        np.testing.assert_array_equal(space.vectors("fr").matrix, space.vectors("en").matrix)


@pytest.mark.parametrize("name", ["vectors.npy", "mapping.npy"])
@pytest.mark.parametrize("factor", [np.nan, np.inf, 3, 1e30])
def test_numbers_that_cannot_be(tmp_path: Path, name: str, factor: float) -> None:
    save_seeded(tmp_path / "space", 1)
    path = tmp_path / "space" / "fr" / name
    array = np.load(path)
    array[-1] = array[-1] * factor if np.isfinite(factor) else factor
    np.save(path, array)
    read_manifest(tmp_path / "space").write(tmp_path / "space")
    if name == "mapping.npy" and np.isfinite(factor):  # of new words, whose rows get the length 1
        load_space(tmp_path / "space")
        return
    with pytest.raises(
        BadFile, match=rf"fr/{name}: expected finite numbers( in rows of length 1 or 0)?, got"
    ):
        load_space(tmp_path / "space")


def _first_translation(folder: Path) -> str:
    """What a process of its own finds; at the top, where `spawn` can import it."""
    return best(load_space(folder), "été", source="fr", target="en", top=1)[0][0]


@pytest.mark.slow
def test_a_spawned_process_answers_whatever_threads_its_parent_has(tmp_path: Path) -> None:
    save_seeded(tmp_path / "space", 1)
    torch.ones(300, 300) @ torch.ones(300, 300)  # torch's threads run by now
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(_first_translation, [tmp_path / "space"]).get(120)
    assert found == _first_translation(tmp_path / "space")


@pytest.mark.skipif(os.name == "nt", reason="pipes")
@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize(
    "name", ["manifest.json", "fr/words.txt", "en/vectors.npy", "fr/mapping.npy", "fr/means.npy"]
)
def test_a_pipe_or_a_device_in_a_space_is_not_waited_for(name: str, device: bool, tmp_path: Path) -> None:
    saved(tmp_path / "space")
    path = tmp_path / "space" / name
    path.unlink()
    path.symlink_to("/dev/zero") if device else os.mkfifo(path)
    reads: list[Callable[[], object]] = [
        lambda: load_space(tmp_path / "space"), lambda: load_space(tmp_path / "space", check=False),
        lambda: load_space(tmp_path / "space", into_memory=True),
        lambda: copy_space(tmp_path / "copy", tmp_path / "space"),
    ]  # fmt: skip
    for read in reads:
        with pytest.raises(BadFile, match="pipe or a device"):
            read()
    assert not (tmp_path / "copy").exists()


@pytest.mark.skipif(os.name == "nt", reason="pipes")
@pytest.mark.parametrize("name", ["hubness.en.npy", "calibration.en.json"])
def test_a_pipe_among_what_was_derived_is_not_used(name: str, tmp_path: Path) -> None:
    saved(tmp_path / "space", plain=True)
    derived(tmp_path / "space")
    path = tmp_path / "space" / "fr" / name
    path.unlink()
    os.mkfifo(path)
    for into_memory in (False, True):
        space = load_space(tmp_path / "space", into_memory=into_memory)
        assert best(space, "fr20", source="fr", target="en")
    copy_space(tmp_path / "copy", tmp_path / "space")
    assert not (tmp_path / "copy" / "fr" / name).exists()
