"""A portable map: without muse, by numpy or by ONNX Runtime, it does what `muse map` does."""

import json
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting
from muse.export.map_file import export_map
from muse.space import Space
from muse.space.store_projection import map_into_store
from muse.vectors import Matrix
from tests.support.command import Command
from tests.support.spaces import raw_rows, saved, saved_with_store_map


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Space:
    return saved(tmp_path_factory.mktemp("map") / "space")


def rows() -> Matrix:
    """Rows to map, one of them zeros."""
    found = raw_rows(9, 30)
    found[4] = 0
    return found


def by_numpy(path: Path, given: Matrix) -> Matrix:
    """The rows (n, d) as the page says that a .safetensors map is applied."""
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(path, "numpy") as file:
        steps, means = file.metadata()["steps"].split(","), 0
        found = given.astype(np.float32)
        for step in steps:
            if step == "unit":
                found = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-15)
            else:
                found, means = found - file.get_tensor(f"mean.{means}"), means + 1
        mapped = found @ file.get_tensor("weight").T
        if "hidden.inner" in file.keys():  # noqa: SIM118
            inner, bias, outer = (file.get_tensor(f"hidden.{name}") for name in ("inner", "bias", "outer"))
            mapped += np.maximum(found @ inner.T + bias, 0) @ outer.T
        found = mapped
        shifts = sorted(name for name in file.keys() if name.startswith("shift."))  # noqa: SIM118
        for shift in [None, *shifts]:
            found = found if shift is None else found + file.get_tensor(shift)
            found = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-15)
    return np.asarray(found * given.any(axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("language", ["fr", "en"])
def test_numpy_applies_the_map(space: Space, tmp_path: Path, language: str) -> None:
    written = export_map(space, tmp_path / "map.safetensors", language)
    found = by_numpy(tmp_path / "map.safetensors", rows())
    np.testing.assert_allclose(found, space.map_words(language, rows()), atol=1e-6)
    assert written.metadata["pivot"] == "en"


@pytest.mark.parametrize("language", ["fr", "en"])
def test_onnx_runtime_applies_the_map(space: Space, tmp_path: Path, language: str) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    export_map(space, tmp_path / "map.onnx", language)
    session = runtime.InferenceSession(tmp_path / "map.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(["mapped"], {"vectors": rows()})
    np.testing.assert_allclose(found, space.map_words(language, rows()), atol=1e-6)
    assert session.get_modelmeta().custom_metadata_map["language"] == language


@pytest.mark.parametrize("units", [None, 0, 5])
def test_a_map_into_a_store_is_that_of_muse(space: Space, tmp_path: Path, units: int | None) -> None:
    space = space if units is None else saved_with_store_map(tmp_path / "space", units)
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    expected = map_into_store(space, "fr", rows(), "en")
    for name in ("map.safetensors", "map.onnx"):
        assert export_map(space, tmp_path / name, "fr", "en").as_json()["into"] == "en"
    np.testing.assert_allclose(by_numpy(tmp_path / "map.safetensors", rows()), expected, atol=1e-6)
    session = runtime.InferenceSession(tmp_path / "map.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(["mapped"], {"vectors": rows()})[0], expected, atol=1e-6)


def test_by_command(muse: Command, space: Space, tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    out = tmp_path / "map.safetensors"
    told = json.loads(muse("export", space.folder, "--format", "map", "--out", out, "--json").out)
    assert (told["language"], told["from"], told["to"]) == ("fr", 8, 8)
    np.testing.assert_allclose(by_numpy(out, rows()), space.map_words("fr", rows()), atol=1e-6)


def test_other_names_and_languages_are_refused(space: Space, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"map.bin: a map is a .safetensors or .onnx file"):
        export_map(space, tmp_path / "map.bin", "fr")
    with pytest.raises(BadSetting, match="de"):
        export_map(space, tmp_path / "map.safetensors", "de")
    assert not list(tmp_path.iterdir())
