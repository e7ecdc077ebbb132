"""A portable map by numpy or ONNX Runtime; vectors as gensim, numpy and muse itself read them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.export.map_file import export_map
from muse.export.vector_files import FORMS, WrittenFile, export_vectors
from muse.files import read_vectors
from muse.space import Space
from muse.space.store_projection import map_into_store
from muse.vectors import Matrix
from tests.evaluation.test_words import noisy_space
from tests.support.command import Command, tree
from tests.support.spaces import plain_space, raw_rows, saved, saved_with_store_map


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Space:
    return saved(tmp_path_factory.mktemp("map") / "space")


def rows() -> Matrix:
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


SPACE = noisy_space(0)


def export(out: Path, form: str, space: Space = SPACE, **options: Any) -> list[WrittenFile]:
    return export_vectors(space, out, form=form, **options)


@pytest.mark.parametrize(("form", "suffix"), [("text", ".vec"), ("text", ".vec.gz"), ("word2vec", ".bin")])
@pytest.mark.parametrize("language", ["fr", "en"])
def test_gensim_reads_the_words_and_the_bits(tmp_path: Path, form: str, suffix: str, language: str) -> None:
    models = pytest.importorskip("gensim.models")
    path = tmp_path / f"vectors{suffix}"
    export(path, form, language=language)
    found = models.KeyedVectors.load_word2vec_format(path, binary=form == "word2vec")
    assert found.index_to_key == list(SPACE.vectors(language).words)
    np.testing.assert_array_equal(found.vectors, SPACE.vectors(language).matrix)


def test_numpy_reads_npz_without_pickle(tmp_path: Path) -> None:
    export(tmp_path / "fr.npz", "npz")
    with np.load(tmp_path / "fr.npz", allow_pickle=False) as found:
        assert found["words"].tolist() == SPACE.vectors("fr").words
        np.testing.assert_array_equal(found["matrix"], SPACE.vectors("fr").matrix)


@pytest.mark.parametrize("form", FORMS)
def test_we_read_every_language_of_a_folder(tmp_path: Path, form: str) -> None:
    space = saved(tmp_path / "s", "fr", "de")
    written = export(tmp_path / "new" / "out", form, space)
    assert [file.language for file in written] == ["en", "fr", "de"]
    for file in written:
        assert file.path == tmp_path / "new" / "out" / f"{file.language}{FORMS[form].suffix}"
        ours, again = space.vectors(file.language), read_vectors(file.path, language=file.language)
        assert len(again) == file.words == len(ours) - file.left_out
        for word, row in zip(again.words, again.matrix, strict=True):
            np.testing.assert_array_equal(row, ours.matrix[ours.index[word]])


@pytest.mark.parametrize(("form", "left"), [("text", 5), ("word2vec", 5), ("npz", 4)])
def test_words_that_a_form_cannot_hold_are_left_out_and_counted(
    tmp_path: Path, form: str, left: int, caplog: pytest.LogCaptureFixture
) -> None:
    space = saved(tmp_path / "s")  # its words are "two words", " ", "", a return, a tab, and good ones
    (written,) = export(tmp_path / "fr.x", form, space)
    assert written.left_out == left
    assert written.words == len(space.vectors("fr")) - left
    assert f"left out {left} words that {form} cannot represent" in caplog.text


def test_a_file_holds_the_source_unless_told(tmp_path: Path) -> None:
    assert export(tmp_path / "x.vec", "text")[0].language == "fr"
    assert export(tmp_path / "x.vec", "text", language="en")[0].language == "en"
    with pytest.raises(BadSetting, match="got en, fr, de"):
        export(tmp_path / "x.vec", "text", saved(tmp_path / "s", "fr", "de"))
    without_pivot = Space({"fr": SPACE.side("fr")}, "en")  # of an encoder that did not learn it
    assert export(tmp_path / "x.vec", "text", without_pivot)[0].language == "fr"


def test_a_folder_with_one_language_keeps_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    export(tmp_path, "text", language="en", max_vocab=7)
    assert sorted(tree(tmp_path)) == ["en.vec", "mine.txt"]
    assert len(read_vectors(tmp_path / "en.vec", language="en")) == 7


def test_a_language_with_a_name_that_is_a_path(tmp_path: Path) -> None:
    space = Space({"../a": SPACE.side("fr"), "en": SPACE.side("en")}, "en")
    written = export(tmp_path / "out", "npz", space)
    assert [file.path.name for file in written] == ["..%2Fa.npz", "en.npz"]
    assert {path.parent for path in (file.path for file in written)} == {tmp_path / "out"}


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="the languages of this space are fr, en; got 'de'"):
        export(tmp_path / "x", "text", language="de")
    with pytest.raises(BadSetting, match="npz cannot be compressed further"):
        export(tmp_path / "x.npz.gz", "npz")
    with pytest.raises(BadSetting, match="a format of vectors must be one of"):
        export(tmp_path / "x", "word3vec")
    (tmp_path / "full").touch()
    with pytest.raises(BadFile, match="expected a folder to write in, got the file"):
        export(tmp_path / "full" / "x.vec", "text")
    (tmp_path / "full").unlink()
    phrases = plain_space(raw_rows(0, 2), raw_rows(1, 2), ["a b", "c d"], ["a b", "c d"])
    with pytest.raises(Mismatch, match="words of fr that text can represent, got none"):
        export(tmp_path / "x", "text", phrases)
    assert not tree(tmp_path)


@pytest.mark.parametrize("there", [False, True])
def test_languages_are_written_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    if there:
        export(tmp_path / "out", "text", language="en")
    before = tree(tmp_path)
    write = FORMS["text"].write

    def first_alone(path: Path, *arguments: Any, **step: Any) -> None:
        if path.name == "en.vec":
            raise OSError("the disk is full")
        write(path, *arguments, **step)

    monkeypatch.setitem(FORMS, "text", FORMS["text"]._replace(write=first_alone))
    with pytest.raises((BadFile, BadSetting, OSError), match="the disk is full"):
        export(tmp_path / "out", "text")
    assert tree(tmp_path) == before
