"""muse export, from the command line to files; every bad input: one line, the exit code, nothing written."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from muse.files import read_vectors
from muse.space import save_space
from tests.support.command import Command, refused, refused_leaving, tree
from tests.support.spaces import PROVENANCE, raw_rows, saved, side_to_save


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """A saved space of 39 French and 40 English words, odd ones among them."""
    saved(tmp_path / "space")
    return tmp_path / "space"


def test_text_to_a_folder(muse: Command, space: Path, tmp_path: Path) -> None:
    ended = muse("export", space, "--format", "text", "--out", tmp_path / "out", "--json", "-q")
    assert ended.code == 0
    assert ended.json == {
        "out": str(tmp_path / "out"),
        "format": "text",
        "files": [
            {"path": str(tmp_path / "out" / f"{name}.vec"), "language": name, "words": words, "left_out": 5}
            for name, words in (("en", 35), ("fr", 34))
        ],
        "not_exported": [],
    }
    assert len(read_vectors(tmp_path / "out" / "fr.vec", language="fr")) == 34


def test_one_file_says_what_is_not_in_it(muse: Command, space: Path, tmp_path: Path) -> None:
    ended = muse("export", space, "--format", "word2vec", "--out", tmp_path / "x.bin")
    assert ended.out == f"34 words of fr in {tmp_path / 'x.bin'}\n"
    assert "not exported: en; see --lang, or give a folder as --out" in ended.err
    ended = muse("export", space, "--format", "npz", "--lang", "en", "--out", tmp_path / "x.npz")
    assert ended.out == f"36 words of en in {tmp_path / 'x.npz'}\n"


def test_one_file_of_all_languages(muse: Command, tmp_path: Path) -> None:
    sides = {
        language: side_to_save(language, raw_rows(seed, 4)) for seed, language in enumerate(("en", "fr"))
    }
    words = {"en": ["the", "bread", "table", "eat"], "fr": ["le", "table", "pain", "eau"]}
    sides = {
        one: replace(side, vectors=replace(side.vectors, words=words[one])) for one, side in sides.items()
    }
    save_space(tmp_path / "space", sides, pivot="en", provenance=PROVENANCE)
    out = tmp_path / "both.vec"
    arguments = ["export", tmp_path / "space", "--shared", "--format", "text", "--max-vocab", 3, "--out", out]
    ended = muse(*arguments)
    assert (ended.out, ended.err) == (f"5 words of en-fr in {out}\n", "")
    found = read_vectors(out, language="both")
    assert list(found.words) == ["the", "le", "bread", "table", "pain"]
    english, french = (np.load(tmp_path / "space" / one / "vectors.npy") for one in ("en", "fr"))
    mean = english[2] + french[1]
    np.testing.assert_allclose(found.matrix[3], mean / np.linalg.norm(mean), atol=1e-6)
    np.testing.assert_allclose(found.matrix[1], french[0], atol=1e-6)
    refused(muse(*arguments, "--lang", "en"), "leave one of them out", code=2)


def test_torch(muse: Command, space: Path, tmp_path: Path) -> None:
    (tmp_path / "v").write_text("fr12\nen20\nfr1@@\nqq@@\n")
    ended = muse(
        "export", space, "--format", "torch", "--out", tmp_path / "t.pt", "--tables", "shared", "--vocab",
        tmp_path / "v", "--specials", "<pad>,</s>", "--json",
    )  # fmt: skip
    assert ended.json["shared"] is True
    assert ended.json["fallback"] == "mean"
    rows = {"special": 2, "word": 2, "lower": 0, "mean": 1, "normal": 1}
    side = {"languages": ["en", "fr"], "units": 6, "dimension": 8, "padding_idx": 0, "rows": rows}
    assert ended.json["tables"] == {"encoder": side, "decoder": side}
    found = torch.load(tmp_path / "t.pt", weights_only=True)
    assert found["encoder"]["names"] == ["<pad>", "</s>", "fr12", "en20", "fr1@@", "qq@@"]
    np.testing.assert_array_equal(
        found["encoder"]["weight"][2].numpy(), np.load(space / "fr" / "vectors.npy")[12]
    )
    shown = muse("export", space, "--format", "torch", "--out", tmp_path / "t.pt", "--fallback", "normal")
    assert shown.out.splitlines() == [
        "encoder: 43 x 8, fr; rows: 4 special, 39 word",
        "decoder: 44 x 8, en; rows: 4 special, 40 word",
        f"in {tmp_path / 't.pt'}",
    ]


def test_a_shared_table_of_some_languages_of_many(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "space", "fr", "de")
    arguments = ["export", tmp_path / "space", "--format", "torch", "--out", tmp_path / "t.pt", "--json"]
    every = muse(*arguments, "--tables", "shared").json
    assert every["tables"]["encoder"]["languages"] == ["en", "fr", "de"]
    two = muse(*arguments, "--tables", "shared", "--src", "fr", "--tgt", "de").json
    assert two["tables"]["encoder"]["languages"] == ["fr", "de"]
    refused(muse(*arguments), "choose one with --src or --tgt")


def test_moses(muse: Command, space: Path, tmp_path: Path) -> None:
    out = tmp_path / "phrase-table.gz"
    ended = muse("export", space, "--format", "moses", "--out", out, "--top", "3", "--json")
    with gzip.open(out, "rt", encoding="utf-8", newline="\n") as lines:
        assert sum(1 for _ in lines) == ended.json["pairs"]
    # Of the odd words, the empty one, the space, the tab and the return are no phrases.
    assert ended.json["left_out"] == 8
    assert set(ended.json["temperature"]) == {"direct", "inverse"}
    shown = muse("export", space, "--format", "moses", "--out", out, "--top", "3", "--temperature", "0.2")
    assert shown.out.splitlines()[1] == "temperature 0.2000 from fr, 0.2000 from en"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["text", "--vocab", "v"], "--vocab is for --format torch, not for text"),
        (["npz", "--src", "fr"], "--src is for --format torch or moses, not for npz"),
        (["moses", "--tables", "shared"], "--tables is for --format torch, not for moses"),
        (
            ["moses", "--lang", "fr"],
            "--lang is for --format text or word2vec or npz or parquet or sentence-transformers or spacy",
        ),
        (["torch", "--src", "en", "--tgt", "en"], "different languages, got 'en' twice"),
        (["torch", "--top", "3"], "--top is for --format moses, not for torch"),
        (["word2vec", "--temperature", "0.1"], "--temperature is for --format moses, not for word2vec"),
        (["moses", "--temperature", "0"], "0.0 is not in the range x>0"),
        (["moses", "--top", "0"], "0 is not in the range x>=1"),
        (["onnx"], "'onnx' is not one of"),
        (["torch", "--tables", "shared", "--vocab", "a", "--vocab", "b"], "got it 2 times for one shared"),
        (["torch", "--vocab", "a", "--max-vocab", "5"], "--vocab and --max-vocab exclude each other, got"),
    ],
)
def test_wrong_usage(muse: Command, space: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    before = tree(tmp_path)
    ended = muse("export", space, "--out", tmp_path / "out", "--format", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert tree(tmp_path) == before


BAD: dict[str, tuple[list[str], list[str]]] = {
    "duplicates": (["torch", "--vocab", "{}/twice"], ["twice:3: expected each unit once, got 'fr12' again"]),
    "no vocabulary": (["torch", "--vocab", "{}/nosuch"], ["nosuch: expected a file"]),
    "another script": (["torch", "--vocab", "{}/other"], ["found none of its", "check its language"]),
    "specials twice": (["torch", "--specials", "<s>,<s>"], ["special tokens must differ, got <s>, <s>"]),
    "no such language": (["moses", "--src", "de"], ["are en, fr; got 'de'"]),
    "no such language of vectors": (["text", "--lang", "de"], ["are en, fr; got 'de'"]),
}


@pytest.mark.parametrize(("arguments", "parts"), BAD.values(), ids=BAD)
def test_bad_input(
    muse: Command, space: Path, tmp_path: Path, arguments: list[str], parts: list[str]
) -> None:
    contents = {"twice": b"fr12\nen13\nfr12\n", "good": b"fr12\n", "other": "кот\nпёс\n".encode()}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    before = tree(tmp_path)
    given = [argument.format(tmp_path) for argument in arguments]
    refused(muse("export", space, "--out", tmp_path / "out", "--format", *given), *parts)
    assert tree(tmp_path) == before


NAMES = {
    "text": (["fr.vec", "fr.vec.gz", "fr.txt", "some.fr"], ["fr.npz", "fr.BIN", "fr.json.gz"]),
    "word2vec": (["fr.bin", "fr.bin.gz", "fr.w2v"], ["fr.vec", "fr.txt.gz", "fr.npz"]),
    "npz": (["fr.npz"], ["fr.vec", "fr.npy", "fr.parquet"]),
    "parquet": (["fr.parquet"], ["fr.csv", "fr.npz"]),
    "torch": (["t.pt", "t.pth", "t.bin"], ["t.npz", "t.safetensors", "t.txt"]),
    "moses": (["phrases", "phrases.txt", "phrases.gz"], ["phrases.npz", "phrases.json.gz"]),
}


@pytest.mark.parametrize("form", NAMES)
def test_a_name_that_promises_another_format_is_refused(
    muse: Command, space: Path, tmp_path: Path, form: str
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    fitting, others = NAMES[form]
    for name in others:
        arguments: list[object] = ["export", space, "--format", form, "--out", tmp_path / name]
        refused_leaving(tmp_path, muse, arguments, f"{name}: ", "file, got .", "; choose such a name")
    for name in fitting:
        assert muse("export", space, "--format", form, "--out", tmp_path / name).code == 0
        assert (tmp_path / name).stat().st_size


@pytest.mark.parametrize("form", ["text", "word2vec", "npz", "torch", "moses"])
def test_places_that_cannot_be_written(muse: Command, space: Path, tmp_path: Path, form: str) -> None:
    (tmp_path / "full").write_text("a file")
    before = tree(tmp_path)
    for out in (tmp_path / "full" / "out.x", tmp_path / "full" / "out"):
        refused(muse("export", space, "--format", form, "--out", out), "folder", "full")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("form", ["text", "word2vec", "npz", "torch", "moses"])
def test_the_folders_of_a_file_are_made(muse: Command, space: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "made" / "too" / "out.x"
    assert muse("export", space, "--format", form, "--out", out).code == 0
    assert out.stat().st_size


def test_into_the_folder_where_it_is_called(muse: Command, space: Path, here: Path) -> None:
    ended = muse("export", space, "--format", "npz", "--out", "x.npz", "--json", "-q")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["files"][0]["path"] == "x.npz"
