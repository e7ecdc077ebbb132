"""Loading what is not a space, not ours to read, or no longer what was saved."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, MuseError
from muse.files.space_manifest import input_file, is_space, plain, read_manifest
from muse.space import load_space
from tests.support.spaces import saved

FILES = [
    f"{language}/{name}"
    for language in ("en", "fr")
    for name in ("words.txt", "vectors.npy", "mapping.npy", "means.npy")
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    saved(tmp_path / "s")
    return tmp_path / "s"


def change(folder: Path, **entries: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **entries}), encoding="utf-8")


def flip(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("spoil", [flip, lambda data: data[:-1], lambda data: b"", lambda data: data + b"\n"])
def test_a_file_that_changed_is_named(folder: Path, name: str, spoil: Any) -> None:
    path = folder / name
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(BadFile, match=rf"{name}: expected the saved file \(sha256 \w{{8}}\), got"):
        load_space(folder)


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_missing_is_named(folder: Path, name: str, check: bool) -> None:
    (folder / name).unlink()
    with pytest.raises(BadFile, match=rf"{name}: expected a file of an aligned space, got No such file"):
        load_space(folder, check=check)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: b"", lambda data: data[:20]])
def test_without_check_a_cut_file_is_still_named(folder: Path, name: str, spoil: Any) -> None:
    path = folder / name
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(BadFile, match=rf"{name}: expected"):
        load_space(folder, check=False)


def test_no_pickle_is_ever_opened(folder: Path) -> None:
    evil = np.array([{"a": 1}], dtype=object)
    np.save(folder / "fr" / "vectors.npy", evil, allow_pickle=True)
    with pytest.raises(BadFile, match="fr/vectors.npy: expected an array, found a broken file"):
        load_space(folder, check=False)


def test_shapes_must_fit_the_manifest(folder: Path) -> None:
    np.save(folder / "fr" / "mapping.npy", np.eye(8))
    with pytest.raises(
        BadFile, match=r"mapping.npy: expected float32 of shape \(8, 8\) .* got float64 of shape \(8, 8\)"
    ):
        load_space(folder, check=False)
    np.save(folder / "fr" / "vectors.npy", np.zeros((3, 8), np.float32))
    with pytest.raises(
        BadFile, match=r"vectors.npy: expected float32 of shape \(39, 8\) .* of shape \(3, 8\)"
    ):
        load_space(folder, check=False)
    (folder / "fr" / "words.txt").write_bytes(b"\xff\n")
    with pytest.raises(BadFile, match=r"words.txt: expected UTF-8"):
        load_space(folder, check=False)
    (folder / "fr" / "words.txt").write_bytes(b"a\nb\n")
    with pytest.raises(BadFile, match=r"words.txt: expected 39 lines, got 2"):
        load_space(folder, check=False)
    (folder / "fr" / "words.txt").write_text("".join(f"fr{row % 30}\n" for row in range(39)))
    with pytest.raises(BadFile, match=r"words.txt: expected 39 different lines, got 30"):
        load_space(folder, check=False)


def test_the_spaces_that_are_there_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    for wrong in ("roi", ".", "./file"):
        with pytest.raises(
            BadFile, match=rf"expected an aligned space.*; the spaces here are {folder.name}$"
        ):
            load_space(wrong)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_a_pipe_named_as_a_manifest_is_no_space_and_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    Path("piped").mkdir()
    os.mkfifo("piped/manifest.json")
    with pytest.raises(BadFile, match=f"the spaces here are {folder.name}$"):
        load_space("mistyped")
    with pytest.raises(BadFile, match="a pipe or a device"):
        load_space("piped")
    with pytest.raises(BadFile, match="expected an aligned space, found no manifest.json in it"):
        load_space("piped/manifest.json")


def test_what_is_no_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # no space is near
    with pytest.raises(BadFile, match="none: expected an aligned space, found no such folder"):
        load_space(tmp_path / "none")
    with pytest.raises(BadFile, match=r"expected an aligned space, found no manifest.json in it"):
        load_space(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match=r"file: expected an aligned space, found no manifest.json in it"):
        load_space(tmp_path / "file")
    for other in ("{}", "[]", "3", '{"format": "webapp"}'):
        (tmp_path / "manifest.json").write_text(other)
        with pytest.raises(BadFile, match=r"expected an aligned space, found another manifest.json"):
            load_space(tmp_path)
        assert not is_space(tmp_path)


@pytest.mark.parametrize("text", [b"", b"{", b'{"format": "muse-space",', b"\xff\xfe", b"[" * 100_000])
def test_a_manifest_that_is_not_json(folder: Path, text: bytes) -> None:
    (folder / "manifest.json").write_bytes(text)
    with pytest.raises(BadFile, match=r"manifest.json: expected JSON, got"):
        load_space(folder)
    assert not is_space(folder)


def test_a_newer_format(folder: Path) -> None:
    change(folder, format_version=3, languages="unheard of")
    with pytest.raises(BadFile, match=rf"{folder}/manifest.json: written by a newer muse \(format 3, .* 2\)"):
        load_space(folder)
    assert is_space(folder)


COMMAND = ["muse", "align", "--src", "fr", "--out", "my space"]
FORMER: list[tuple[Any, str]] = [
    ({"fr": {"command": COMMAND}, "en": {}}, "muse align --src fr --out 'my space' --force$"),
    ({"fr": {"command": "muse"}, "en": []}, r"muse align \.\.\. --force$"),
    ("unheard of", r"muse align \.\.\. --force$"),
]


@pytest.mark.parametrize(("languages", "command"), FORMER)
def test_a_former_format_is_refused_with_the_command_that_makes_the_space_again(
    folder: Path, languages: Any, command: str
) -> None:
    change(folder, format_version=1, languages=languages)
    with pytest.raises(BadFile, match=rf"earlier muse \(format 1, .* 2\); make the space again: {command}"):
        load_space(folder)
    assert is_space(folder)


@pytest.mark.parametrize("key", ["format_version", "pivot", "dimension", "languages", "checksums"])
@pytest.mark.parametrize("value", [None, 1.5])
def test_a_missing_or_odd_entry_is_named(folder: Path, key: str, value: object) -> None:
    change(folder, **{key: value})
    with pytest.raises(BadFile, match=rf"manifest.json: expected {key}.*, got {value}"):
        load_space(folder)


LANGUAGES: list[tuple[Any, str]] = [
    ({"fr": {}, "en": {}}, "expected languages.fr.words, got None"),
    ({"fr": 3}, "expected languages.fr to be of type dict, got 3"),
    ({"fr": {"words": 1, "normalisation": []}}, "expected the pivot among the languages"),
    ({"..": {"words": 1, "normalisation": []}}, "a language needs a name"),
    ({"en": {"words": 40, "normalisation": ["whiten"]}}, "a normalisation step must be"),
    ({"en": {"words": 40, "normalisation": [["unit"]]}}, "normalisation to be of type str, got"),
    ({"en": {"words": -1, "normalisation": []}}, "expected languages.en.words to be at least 1, got -1"),
]


@pytest.mark.parametrize(("languages", "message"), LANGUAGES)
def test_odd_languages(folder: Path, languages: Any, message: str) -> None:
    change(folder, languages=languages)
    with pytest.raises(MuseError, match=message):
        load_space(folder)


def test_the_manifest_cannot_lead_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "en").rename(tmp_path / "outside")
    entry = {"words": 40, "normalisation": ["unit", "centre", "unit"]}
    change(folder, languages={"../outside": entry}, pivot="../outside")
    with pytest.raises(BadFile, match="%2Foutside/words.txt: expected a file"):
        load_space(folder, check=False)
    with pytest.raises(BadSetting, match="a language needs a name"):
        change(folder, languages={"..": entry}, pivot="..")
        load_space(folder, check=False)


def test_an_extra_file_does_not_matter(folder: Path) -> None:
    (folder / "report.html").touch()
    assert load_space(folder).languages == ("en", "fr")


def test_plain() -> None:
    values = {1: [np.int64(3), np.float32(0.5), np.nan, float("inf")], "x": (True, None, Path("a/b"))}
    assert plain(values) == {"1": [3, 0.5, None, None], "x": [True, None, "a/b"]}
    json.dumps(plain(values), allow_nan=False)


def test_the_checksum_of_a_folder_is_that_of_its_files_and_their_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "vocab").mkdir(parents=True)
        (tmp_path / name / "vocab" / "vectors").write_bytes(b"rows")
    one, two = (input_file(tmp_path / name).sha256 for name in ("one", "two"))
    assert one == two
    (tmp_path / "two" / "vocab" / "vectors").rename(tmp_path / "two" / "vectors")
    assert input_file(tmp_path / "two").sha256 not in (None, one)
    (tmp_path / "one" / "vocab" / "vectors").write_bytes(b"Rows")
    assert input_file(tmp_path / "one").sha256 not in (None, one)


ODD: list[tuple[dict[str, Any], str]] = [
    *(({key: "text"}, f"{key} to be of type") for key in ("verdict", "settings", "inputs", "supervision")),
    ({"candidates": ["text"]}, "candidates to be of type dict, got 'text'"),
    (
        {"candidates": [{"history": [{"steps": ["1"]}]}]},
        "candidates.history.steps to be of type float, got '1'",
    ),
    ({"verdict": {"label": 3}}, "verdict.label to be of type str, got 3"),
    ({"verdict": {"confidence": "high"}}, "verdict.confidence to be of type float, got 'high'"),
    ({"verdict": {"confidence": 1e400}}, "verdict.confidence to be of type float, got inf"),
    ({"verdict": {"agreement": 1e400}}, "verdict.agreement to be of type figure, got inf"),
    ({"settings": {"deep": [{"x": 1e400}]}}, "settings.deep.x to be of type figure, got inf"),
    ({"dimension": 0}, "dimension to be at least 1, got 0"),
    ({"inputs": [{}]}, "inputs.path, got None"),
    ({"seed": True}, "seed to be of type int, got True"),
    ({"checksums": {"en/words.txt": 7}}, "checksums.en/words.txt to be of type str, got 7"),
]


@pytest.mark.parametrize(("entries", "message"), ODD)
def test_what_the_manifest_may_have_is_of_its_type(
    folder: Path, entries: dict[str, Any], message: str
) -> None:
    change(folder, **entries)
    with pytest.raises(BadFile, match=f"manifest.json: expected {message}"):
        load_space(folder)


def test_a_manifest_is_read_as_it_was_written(folder: Path) -> None:
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    read_manifest(folder).write(folder)
    assert (folder / "manifest.json").read_text(encoding="utf-8") == text
    change(folder, inputs=[{"path": "fr\udcff.vec", "sha256": None}], of_a_later_muse=1)
    assert [file.name for file in read_manifest(folder).inputs] == ["fr?.vec"]
