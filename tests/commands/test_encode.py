"""muse encode, end to end: from text and Parquet to stdout, .npy and Parquet, and every bad input."""

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from muse.sentences.loading import load_encoder
from muse.space import load_space
from tests.support.command import Command, refused, tree
from tests.support.spaces import saved

TEXT = ["fr20 fr21 nosuch.", "", "fr22", "nosuch", "fr23 fr20 fr24"]


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """A saved space en, fr, and text.txt with some French."""
    saved(tmp_path / "space")
    (tmp_path / "text.txt").write_text("\n".join(TEXT) + "\n", encoding="utf-8")
    return tmp_path / "space"


def expected(space: Path, name: str = "sif") -> np.ndarray:
    return load_encoder(name, load_space(space)).encode(TEXT, "fr").matrix


def test_to_stdout(muse: Command, space: Path) -> None:
    ended = muse("encode", space, "--lang", "fr", stdin="\n".join(TEXT))
    assert ended.code == 0
    np.testing.assert_array_equal(np.loadtxt(io.StringIO(ended.out), np.float32), expected(space))


def test_json_without_a_file_has_the_vectors(muse: Command, space: Path) -> None:
    fields = muse("encode", space, "--lang", "fr", "--json", stdin="\n".join(TEXT)).json
    np.testing.assert_allclose(fields["vectors"], expected(space), atol=1e-7)
    assert (fields["sentences"], fields["dimension"], fields["empty"]) == (5, 8, 2)
    assert (fields["tokens"], fields["unknown"], fields["encoder"]) == (9, 3, "sif[rank]")
    assert fields["seconds"] > 0


@pytest.mark.parametrize("packed", [False, True])
def test_text_to_npy(muse: Command, space: Path, packed: bool) -> None:
    source, out = space.parent / "text.txt", space.parent / "out.npy"
    if packed:
        source = source.with_name("packed")
        source.write_bytes(gzip.compress((space.parent / "text.txt").read_bytes()))
    name = "power-mean[-inf,1,3]"
    ended = muse("encode", space, "--lang", "fr", "--input", source, "--out", out, "--encoder", name)
    assert (ended.code, ended.err) == (0, "")
    np.testing.assert_array_equal(np.load(out), expected(space, name))
    assert "5 sentences" in ended.out
    assert "2 empty, 3 of 9 tokens unknown" in ended.out


def test_fit_and_save_and_use(muse: Command, space: Path) -> None:
    home = space.parent
    base = ["encode", space, "--lang", "fr", "--input", home / "text.txt", "--json"]
    name = "sif+znorm"
    first = muse(
        *base, "--encoder", name, "--fit", home / "text.txt", "--save", home / "kept", "--out", home / "a.npy"
    )
    assert first.json["encoder"] == "sif+znorm"
    second = muse(*base, "--encoder", home / "kept", "--out", home / "b.npy")
    assert second.json["encoder"] == "sif+znorm"
    np.testing.assert_array_equal(np.load(home / "a.npy"), np.load(home / "b.npy"))
    of = load_space(space)
    fitted = load_encoder(name, of).fit(TEXT, "fr")
    np.testing.assert_allclose(np.load(home / "a.npy"), fitted.encode(TEXT, "fr").matrix, atol=1e-5)


@pytest.mark.parametrize("name", ["text.txt", "a=b.txt"])
@pytest.mark.parametrize("language", ["", "fr="])
def test_the_text_to_fit_may_have_its_language_before_it(
    muse: Command, space: Path, name: str, language: str
) -> None:
    fit = space.parent / name
    fit.write_text("\n".join(TEXT), encoding="utf-8")
    more = ["--encoder", "mean+znorm", "--out", space.parent / "out.npy"]
    read = ["--lang", "fr", "--input", space.parent / "text.txt"]
    ended = muse("encode", space, *read, *more, "--fit", f"{language}{fit}")
    assert (ended.code, ended.err) == (0, "")
    fitted = load_encoder("mean+znorm", load_space(space)).fit(TEXT, "fr")
    np.testing.assert_allclose(np.load(space.parent / "out.npy"), fitted.encode(TEXT, "fr").matrix, atol=1e-5)


@pytest.mark.parametrize("fit", ["en=text.txt", "=text.txt", "fr="])
def test_the_text_to_fit_is_in_the_language(muse: Command, space: Path, fit: str) -> None:
    refused(muse("encode", space, "--lang", "fr", "--fit", fit), "--fit needs", f"got {fit!r}", code=2)


@pytest.mark.parametrize("name", ["mean", "mean&power-mean[3]"])
def test_fit_of_what_learns_nothing_is_told(muse: Command, space: Path, name: str) -> None:
    more = ["--encoder", name, "--fit", space.parent / "text.txt"]
    ended = muse("encode", space, "--lang", "fr", *more, stdin="fr20\n")
    assert ended.code == 0
    assert f"{name} learns nothing from text" in ended.err


def test_parquet_there_and_back(muse: Command, space: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    home = space.parent
    muse("encode", space, "--lang", "fr", "--input", home / "text.txt", "--out", home / "a.parquet")
    assert pq.read_table(home / "a.parquet").column("sentence").to_pylist() == TEXT
    base = ["encode", space, "--lang", "fr", "--input", home / "a.parquet", "--column", "sentence"]
    assert muse(*base, "--out", home / "b.npy", "--json").json["sentences"] == 5
    np.testing.assert_array_equal(np.load(home / "b.npy"), expected(space))


def test_two_spaces(muse: Command, space: Path) -> None:
    asked = ["encode", space, "--also", space, "--lang", "fr", "--json"]
    fields = muse(*asked, stdin="\n".join(TEXT)).json
    assert fields["dimension"] == 16
    np.testing.assert_allclose(fields["vectors"], np.tile(expected(space), 2), atol=1e-7)


def test_bad_input(muse: Command, space: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.npy"
    (tmp_path / "bytes.txt").write_bytes(b"fr20\n\xff\n")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "a.tex").write_text("mine")
    base = ["encode", space, "--lang", "fr", "--input", tmp_path / "text.txt", "--out", out]
    cases: list[tuple[list[object], list[str]]] = [
        ([*base, "--lang", "xx"], ["are en, fr; got 'xx'"]),
        ([*base, "--encoder", "magic"], ["an encoder must be one of mean, ", "got 'magic'"]),
        ([*base, "--encoder", tmp_path / "nosuch"], ["nosuch", "expected a saved encoder"]),
        ([*base, "--encoder", "power-mean[nan]"], ["a power must be a number"]),
        ([*base, "--encoder", "mean+znorm"], ["znorm must be fitted on text in fr", "--fit"]),
        ([*base, "--column", "x"], ["--column needs a Parquet file"]),
        ([*base, "--out", tmp_path / "out.txt"], ["out.txt", ".npy"]),
        ([*base, "--out", tmp_path / "text.txt" / "out.npy"], ["text.txt", "folder"]),
        ([*base, "--input", tmp_path / "nosuch.txt"], ["nosuch.txt: expected a file"]),
        ([*base, "--input", tmp_path / "bytes.txt"], ["bytes.txt:2: expected UTF-8"]),
        ([*base, "--fit", tmp_path / "nosuch.txt"], ["nosuch.txt: expected a file"]),
        ([*base, "--save", tmp_path / "thesis"], ["thesis exists and is not a saved encoder"]),
        (
            [*base, "--save", tmp_path / "text.txt" / "kept", "--fit", tmp_path / "nosuch.txt"],
            ["expected a folder to write in, got the file"],  # before anything is learned
        ),
        (["encode", tmp_path, "--lang", "fr"], ["expected an aligned space"]),
        (["encode", space, "--lang", "fr"], ["standard input: expected sentences to encode"]),
    ]
    before = tree(tmp_path)
    for arguments, parts in cases:
        refused(muse(*arguments, stdin=b""), *parts)
        assert tree(tmp_path) == before, arguments
    refused(muse(*base[:4], "--column", "x"), "--column is for --input, got none", code=2)


def test_bad_parquet(muse: Command, space: Path, tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"en": ["a"], "fr": ["b"]}), tmp_path / "two.parquet")
    base = ["encode", space, "--lang", "fr", "--input", tmp_path / "two.parquet"]
    base += ["--out", tmp_path / "out.npy"]
    before = tree(tmp_path)
    refused(muse(*base, "--column", "text"), "two.parquet", "text columns (en, fr), got 'text'")
    refused(muse(*base), "two.parquet", "text columns (en, fr), got none")
    assert tree(tmp_path) == before


def test_a_break_in_the_middle_leaves_nothing(muse: Command, space: Path, tmp_path: Path) -> None:
    text = b"fr20\n" * 50_000 + b"\xff\n"  # more than one block before the bad byte
    before = tree(tmp_path)
    ended = muse("encode", space, "--lang", "fr", "--out", tmp_path / "out.npy", stdin=text)
    refused(ended, "standard input:50001: expected UTF-8")
    assert tree(tmp_path) == before


def test_sentences_of_no_words_at_all(muse: Command, space: Path) -> None:
    ended = muse("encode", space, "--lang", "fr", "--json", stdin="\x00\x01\nfr20 猫\n\n")
    assert ended.code == 0
    fields = json.loads(ended.out)
    assert (fields["sentences"], fields["empty"]) == (3, 2)
