"""Every bad input through the command line: one line that says why, the exit code, nothing written."""

import errno
import gzip
import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.api import inputs
from muse.api import run as api
from muse.errors import NotConverged
from muse.files import space_folder
from muse.learn import multilingual
from tests.support.command import Command, Ended, align_arguments, tree
from tests.support.spaces import saved
from tests.support.toys import raw_pair, write_vec

Write = Callable[[Path], object]


def good(files: Path, *more: object) -> list[object]:
    files_and_out = files / "fr.vec", files / "en.vec", files / "out"
    return align_arguments(*files_and_out, "--init", "similarity", *more)


def refused(ended: Ended, *parts: str) -> None:
    """One line says what is wrong, and the exit code is that of the user's errors."""
    assert ended.code == 1, ended.err
    assert ended.out == ""
    assert len(ended.errors) == 1
    assert ended.err.splitlines() == ended.errors
    for part in parts:
        assert part in ended.errors[0]


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def change_line(number: int, text: str) -> Write:
    """What replaces one line of the file, counted from 1."""

    def write(path: Path) -> None:
        changed = lines(path)
        changed[number - 1] = text
        path.write_text("\n".join(changed) + "\n", encoding="utf-8")

    return write


def change_fields(number: int, change: Callable[[list[str]], list[str]]) -> Write:
    def write(path: Path) -> None:
        fields = lines(path)[number - 1].split(" ")
        change_line(number, " ".join(change(fields)))(path)

    return write


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def truncated_gz(path: Path) -> None:
    packed = gzip.compress(path.read_bytes())
    path.write_bytes(packed[: len(packed) // 2])


def zeros(path: Path) -> None:
    write_vec(path, replace(raw_pair()[0], matrix=np.zeros((600, 20), np.float32)))


def few(path: Path) -> None:
    write_vec(path, raw_pair(499)[0])


BAD_VECTORS: dict[str, tuple[Write, list[str]]] = {
    "missing": (Path.unlink, ["fr.vec: expected a file, but it does not exist"]),
    "empty": (lambda path: path.write_bytes(b""), ["fr.vec: expected content, got an empty file"]),
    "directory": (directory, ["fr.vec: expected a file, got a folder"]),
    "far too few words": (change_line(1, "700 20"), ["fr.vec: expected 700 words", "got 600"]),
    "far too many words": (change_line(1, "500 20"), ["fr.vec:", "500"]),
    "header lies on dimension": (change_line(1, "600 21"), ["fr.vec:2: "]),
    "no words": (change_line(1, "0 20"), ["fr.vec:1: "]),
    "truncated": (truncated_gz, ["fr.vec: ", "download it again"]),
    "zeros": (zeros, ["fr.vec: ", "zeros"]),
    "prose": (lambda path: path.write_text("It was a dark night.\n" * 9), ["fr.vec:1: "]),
    "few": (few, ["fr: at least 500 words are needed to align, got 499; give a file"]),
}


@pytest.mark.parametrize("name", BAD_VECTORS)
def test_bad_vectors(muse: Command, files: Path, name: str) -> None:
    write, parts = BAD_VECTORS[name]
    write(files / "fr.vec")
    before = tree(files)
    refused(muse(*good(files)), *parts)
    assert tree(files) == before


@pytest.mark.slow
def test_a_line_with_too_many_numbers(muse: Command, files: Path) -> None:
    # With a header the extra number belongs to the word, as "route 66" has one; the file is then read.
    change_fields(42, lambda fields: [fields[0], "x", *fields[1:]])(files / "fr.vec")
    assert muse(*good(files)).code == 0
    assert "fr40 x" in (files / "out" / "fr" / "words.txt").read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize("content", [b"", b"\0" * 99, b"PK\3\4 and no more", bytes(range(256)) * 9])
def test_a_bin_that_is_no_model(muse: Command, files: Path, content: bytes) -> None:
    (files / "fr.bin").write_bytes(content)
    before = tree(files)
    arguments = align_arguments(files / "fr.bin", files / "en.vec", files / "out")
    refused(muse(*arguments), "fr.bin")
    assert tree(files) == before


WRONG_SETTINGS = {
    "too few words": ("--max-vocab 99", ["--max-vocab must be at least 500", "got 99; raise it"]),
    "nothing to resume": ("--resume", ["--resume needs the checkpoints of a killed run", "omit --resume"]),
    "an unknown step": ("--normalise unit,center", ["--normalise", "'unit,center'"]),
    "none and a step": ("--normalise none,unit", ["--normalise", "'none,unit'"]),
    "no GPU": ("--device cuda", ["--device cuda needs a CUDA GPU", "--device cpu"]),
}


@pytest.mark.parametrize("name", WRONG_SETTINGS)
def test_wrong_settings(muse: Command, files: Path, name: str) -> None:
    given, parts = WRONG_SETTINGS[name]
    if "cuda" in given and torch.cuda.is_available():
        pytest.skip("here is a GPU")
    before = tree(files)
    refused(muse(*good(files, *given.split())), *parts)
    assert tree(files) == before


BAD_DICTIONARIES = {
    "missing": (None, ["gold.txt: expected a file"]),
    "empty": (b"", ["gold.txt: expected content"]),
    "blank": (b"\n\n", ["gold.txt: expected at least one pair"]),
    "one word": (b"fr1 en1\nfr2\n", ["gold.txt:2: expected two words"]),
    "not UTF-8": (b"fr1 en1\nfr2 \xff\n", ["gold.txt:2: expected UTF-8"]),
    "no pair known": (b"chat cat\nchien dog\n", ["0 of 2", "--lower"]),
    "wrong way": (b"en1 fr1\n", ["0 of 1", "order"]),
}


@pytest.mark.parametrize("name", BAD_DICTIONARIES)
def test_bad_dictionaries(muse: Command, files: Path, name: str) -> None:
    content, parts = BAD_DICTIONARIES[name]
    if content is not None:
        (files / "gold.txt").write_bytes(content)
    before = tree(files)
    refused(muse(*good(files, "--init", "dictionary", "--dictionary", files / "gold.txt")), *parts)
    assert tree(files) == before


@pytest.mark.slow
def test_an_empty_out_is_taken(muse: Command, files: Path) -> None:
    (files / "out").mkdir()
    assert muse(*good(files)).code == 0
    assert (files / "out" / "manifest.json").is_file()


def no_training(*_: Any, **__: Any) -> None:
    raise AssertionError("trained before everything was checked")


@pytest.mark.parametrize("language", ["..", "manifest.json", "\udcff"])
def test_a_language_that_no_folder_can_be_called(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(inputs, "read_vectors", no_training)
    before = tree(files)
    refused(muse(*good(files, "--src", language)), "a language needs a name that is valid for a folder")
    assert tree(files) == before


@pytest.mark.parametrize("word", ["two\nlines"])
def test_a_word_that_cannot_be_saved_is_told_before_training(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    source = raw_pair()[0]
    np.savez(files / "fr.npz", words=np.array([*source.words[:-1], word]), matrix=source.matrix)
    monkeypatch.setattr(multilingual, "learn", no_training)
    before = tree(files)
    refused(
        muse(*align_arguments(files / "fr.npz", files / "en.vec", files / "out", "--init", "similarity")),
        "fr",
        "word",
    )
    assert tree(files) == before


def test_folders_made_for_a_run_that_breaks_down_go_again(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: Any, **__: Any) -> None:
        raise NotConverged("the mapping must be finite, got NaN")

    monkeypatch.setattr(multilingual, "learn", break_down)
    before = tree(files)
    refused(muse(*good(files, "--out", files / "a" / "b" / "out")), "must be finite")
    assert tree(files) == before


@pytest.mark.slow
def test_a_resumed_run_that_fails_leaves_the_checkpoint_as_it_was(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def break_down(*_: Any, **__: Any) -> None:
        raise NotConverged("the mapping must be finite, got NaN")

    with monkeypatch.context() as patched:
        patched.setattr(api, "save_space", killed)
        assert muse(*good(files)).code == 130
    kept = tree(files)
    assert [name for name in kept if name.endswith(".npz")]
    with monkeypatch.context() as patched:
        patched.setattr(multilingual, "learn", break_down)
        refused(muse(*good(files, "--resume")), "must be finite")
    assert tree(files) == kept
    assert muse(*good(files, "-q", "--resume")).code == 0
    assert not (files / ".out.checkpoint").exists()


@pytest.mark.parametrize("place", range(6))  # three arrays of each language
def test_a_full_disk_leaves_no_half_of_a_space(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr(multilingual, "learn", _learned)  # the disk fills up whatever was learned
    written = space_folder.write_array
    calls: list[Path] = []

    def write(path: Path, *rest: Any) -> None:
        calls.append(path)
        if len(calls) > place:
            path.write_bytes(b"the first half")
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        written(path, *rest)

    monkeypatch.setattr(space_folder, "write_array", write)
    before = tree(files)
    ended = muse(*good(files, "-q"))
    refused(ended, "out", "the disk is full")
    left = {name: data for name, data in tree(files).items() if not name.startswith(".out.checkpoint")}
    assert left == before  # what was learned may stay, for --resume


def _learned(source: Any, target: Any, **_: Any) -> Any:
    from muse.alignment import Alignment
    from muse.learn.bilingual import Learned
    from muse.learn.verdict import Verdict

    return Learned(
        Alignment(np.eye(20, dtype=np.float32), method="similarity", criterion=0.5),
        Verdict("aligned", 1.0, 1.0, 1.0),
        (),
        {"init": 0.0, "refine": 0.0},
    )


def test_repeated_words_are_counted_aloud(muse: Command, files: Path) -> None:
    for number in (5, 8):
        change_fields(number, lambda fields: ["fr0", *fields[1:]])(files / "fr.vec")
    ended = muse(*good(files, "--json"))
    assert ended.code == 0
    assert ended.json["words"] == {"fr": 598, "en": 600}
    assert [line for line in ended.err.splitlines() if "dropped 2 duplicate words (fr)" in line]
    kept = (files / "out" / "fr" / "words.txt").read_text(encoding="utf-8").split("\n")
    assert kept.count("fr0") == 1
    assert kept[0] == "fr0"


def test_ctrl_c_leaves_no_half_of_a_space(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(multilingual, "learn", _learned)
    monkeypatch.setattr(space_folder, "write_array", interrupt)
    ended = muse(*good(files))
    assert ended.code == 130
    assert ended.out == ""
    assert ended.errors == []
    assert [name for name in tree(files) if not name.startswith(".out.checkpoint")] == ["en.vec", "fr.vec"]


def test_no_memory_left(muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    before = tree(files)
    monkeypatch.setattr(inputs, "read_vectors", fail)
    refused(muse(*good(files)), "memory", "--max-vocab")
    assert tree(files) == before


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory", True),
        ("CUDA out of memory. Tried to allocate 20.00 GiB", True),
        ("Storage size calculation overflowed with sizes=[9, 9]", True),
        ("mat1 and mat2 shapes cannot be multiplied", False),
    ],
)
def test_what_torch_has_no_memory_for_is_told_and_no_other_fault_hidden(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch, error: str, told: bool
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError(error)

    monkeypatch.setattr(inputs, "read_vectors", fail)
    if told:
        refused(muse(*good(files)), "memory", "--batch")
    else:
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            muse(*good(files))


def test_judged_failed(muse: Command, files: Path) -> None:
    rng = np.random.default_rng(0)
    for language in ("fr", "en"):
        rows = rng.normal(size=(600, 50)).astype(np.float32)
        vectors = replace(raw_pair(600, 50)[0], matrix=rows, words=[f"{language}{i}" for i in range(600)])
        write_vec(files / f"{language}.vec", vectors)
    ended = muse(*good(files, "--no-identical", "--no-refine", "--json"))
    assert ended.code == 3
    assert ended.json["verdict"] == "failed"
    assert ended.json["confidence"] < 0.2
    assert (files / "out" / "manifest.json").is_file()  # made, for whoever wants to look


def test_a_good_run_for_people(muse: Command, files: Path) -> None:
    ended = muse(*good(files))
    assert ended.code == 0
    assert "learned from    the vectors alone\nverdict         aligned" in ended.out
    assert not re.search("initialisation|criterion", ended.out + ended.err)
    more = muse(*good(files, "--verbose"))
    assert re.search("^initialisation  similarity$", more.out, re.MULTILINE)
    assert re.search("^criterion       0[.]", more.out, re.MULTILINE)
    assert "signature       csls:10 | fr-en" in ended.out
    assert sorted(path.name for path in files.iterdir()) == ["en.vec", "fr.vec", "out"]
    assert muse(*good(files, "-q")).err == ""


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("export", "  npz                    arrays words and matrix         numpy"),
        ("evaluate", "  sts          Correlation of cosines with rated sentence pairs."),
        ("fetch", "  muse fetch vectors fr en"),
    ],
)
def test_a_table_in_help_keeps_its_lines(muse: Command, command: str, line: str) -> None:
    shown = muse(command, "--help").out
    assert line in shown.splitlines()
    assert "\\b" not in shown
    assert "\b" not in shown


def test_the_glossary_is_part_of_the_package(muse: Command) -> None:
    ended = muse("--glossary")
    assert ended.code == 0
    assert "### CSLS" in ended.out
    assert "](" not in ended.out  # links that lead nowhere in a terminal
    assert all("muse --glossary" in " ".join(muse(*one, "--help").out.split()) for one in ((), ("align",)))


@pytest.fixture
def space(tmp_path: Path) -> Path:
    saved(tmp_path / "space")
    (tmp_path / "gold.txt").write_text("fr20 en20\nfr21 en21\n")
    return tmp_path / "space"


def uses(space: Path) -> dict[str, list[object]]:
    return {
        "evaluate": ["evaluate", space, "--dictionary", space.parent / "gold.txt"],
        "induce": ["induce", space, "--out", space.parent / "induced.txt"],
        "translate": ["translate", space, "fr20"],
    }


def newer(space: Path) -> None:
    manifest = json.loads((space / "manifest.json").read_text(encoding="utf-8"))
    (space / "manifest.json").write_text(json.dumps(manifest | {"format_version": 99}))


def tampered(space: Path) -> None:
    path = space / "fr" / "vectors.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


BROKEN: dict[str, tuple[Write, str]] = {
    "newer": (newer, "99"),
    "tampered": (tampered, "vectors.npy"),
    "no manifest": (lambda space: (space / "manifest.json").unlink(), "manifest.json"),
    "no JSON": (lambda space: (space / "manifest.json").write_text("{"), "manifest.json"),
    "a file gone": (lambda space: (space / "en" / "words.txt").unlink(), "words.txt"),
}


@pytest.mark.parametrize("use", ["evaluate", "induce", "translate"])
@pytest.mark.parametrize("name", BROKEN)
def test_broken_spaces(muse: Command, space: Path, use: str, name: str) -> None:
    write, part = BROKEN[name]
    write(space)
    before = tree(space.parent)
    refused(muse(*uses(space)[use]), "space", part)
    assert tree(space.parent) == before


def test_a_space_in_a_folder_of_another_account(
    muse: Command, space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(path: Any) -> bool:
        return isinstance(path, str | os.PathLike) and str(space) in os.fsdecode(path)

    asked, opened = os.stat, io.open

    def stat(path: Any, **others: Any) -> os.stat_result:
        if closed(path):
            raise PermissionError(13, "Permission denied", str(path))
        return asked(path, **others)

    def open_(path: Any, *others: Any, **more: Any) -> Any:
        if closed(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *others, **more)

    monkeypatch.setattr("os.stat", stat)  # root may look into every folder
    monkeypatch.setattr("io.open", open_)
    ended = muse(*uses(space)["translate"])
    refused(ended, f"{space}", "expected", "got Permission denied; c")
    assert "Errno" not in ended.err


def test_a_gold_dictionary_that_covers_nothing(muse: Command, space: Path) -> None:
    (space.parent / "gold.txt").write_text("chat cat\n")
    refused(muse(*uses(space)["evaluate"]), "none of 1 pair")
    (space.parent / "gold.txt").write_text("en20 fr20\n")
    refused(muse(*uses(space)["evaluate"]), "swap --src and --tgt")


@pytest.mark.parametrize("method", ["csls", "nn", "isf"])
def test_every_retrieval(muse: Command, space: Path, method: str) -> None:
    score = muse(*uses(space)["evaluate"], "--retrieval", method, "--json").json
    assert score["signature"].startswith(method)
    assert (score["queries"], score["covered"], score["coverage"]) == (2, 2, 1.0)
    assert (
        len(muse("translate", space, "fr20", "--retrieval", method, "--json").json["translations"]["fr20"])
        == 10
    )


@pytest.mark.parametrize("command", ["induce", "translate"])
@pytest.mark.parametrize("second", ["nn", "csls"])
def test_where_one_retrieval_is_used_a_second_is_refused(
    muse: Command, space: Path, command: str, second: str
) -> None:
    before = tree(space.parent)
    ended = muse(*uses(space)[command], "--retrieval", "csls", "--retrieval", second)
    assert (ended.code, ended.out) == (2, "")
    assert f"--retrieval takes one value, got csls, {second}; leave one." in ended.err
    assert tree(space.parent) == before
