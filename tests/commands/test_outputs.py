"""What is read is never what is written; and a disk that is full: one line, and nothing half-written."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.commands import outputs
from muse.errors import BadFile
from muse.files.atomic import only_writer
from muse.files.writing import replaced, write_vectors_text
from muse.space import save_space
from muse.vectors import Vectors
from tests.support.command import Command, refused, refused_leaving, tree
from tests.support.spaces import PROVENANCE, raw_rows, saved, side_to_save, sides_to_save

DESTROYS = [
    "induce space --out space/manifest.json",
    "induce space --out space/fr/words.txt",
    "export space --format space --out space",
    "export space --format text --out space/en",
    "encode space --lang fr --input text.txt --out text.txt",
    "encode space --lang fr --input a.npy --out link.npy",
    "encode space --lang fr --input text.txt --save space",
    "train-lm text.txt --lang fr --out text.txt",
    "train-lm text.txt --lang fr --out ./space/../text.txt",
    "map space --lang fr --vectors a.vec --out a.vec",
    "mine space --src-lang fr --tgt-lang en --source text.txt --target other.txt --out other.txt",
    "embed text.txt --lang fr --out a.vec --model text.txt",
    "train space --encoder xlm --lang fr --text fr=text.txt --out text.txt",
    "train space --encoder x-cbow --lang fr --parallel text.txt --out space/encoder",
    "align --src fr --src-emb space/raw.vec --tgt en --tgt-emb a.vec --out space",
    "align --src fr --src-emb a.vec --tgt en --tgt-emb a.vec --out a.vec",
    "report space --out space/page.html",
]


@pytest.mark.parametrize("line", DESTROYS)
def test_an_output_that_is_an_input(muse: Command, space: Path, here: Path, line: str) -> None:
    for name in ("text.txt", "other.txt"):
        (here / name).write_text("fr20 fr21\n" * 30)
    np.save(here / "a.npy", np.ones(3))
    (here / "link.npy").symlink_to("a.npy")
    for name in ("a.vec", "space/raw.vec"):
        write_vectors_text(here / name, ["a", "b"], np.eye(2, dtype=np.float32))
    refused_leaving(here, muse, [*line.split()], "choose another --")


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("embed text.txt --lang fr --out a.vec --model ./a.vec", "--model"),
        ("encode space --lang fr --input text.txt --out a.npy --save a.npy", "--save"),
    ],
)
def test_two_outputs_of_one_name(muse: Command, space: Path, here: Path, line: str, other: str) -> None:
    (here / "text.txt").write_text("fr20 fr21\n" * 30)
    refused_leaving(
        here, muse, [*line.split()], f"--out and {other} need different names; choose another {other}"
    )


def made_of_files(folder: Path) -> None:
    """A space fr, en, with the files it was made of beside it: vectors of both languages and a dictionary."""
    raw = folder / "raw"
    raw.mkdir()
    sides = sides_to_save(plain=True)
    for language, side in sides.items():
        write_vectors_text(raw / f"{language}.vec", side.vectors.words, side.vectors.matrix)
        sides[language] = replace(side, files=(raw / f"{language}.vec",))
    (raw / "pairs.txt").write_text("fr1 en1\nfr2 en2\n")
    provenance = replace(PROVENANCE, inputs=(raw / "pairs.txt",))
    save_space(folder / "space", sides, pivot="en", provenance=provenance)
    write_vectors_text(folder / "new.vec", ["new"], np.ones((1, 8), np.float32))
    (folder / "text.txt").write_text("fr20 fr21\n" * 3)
    shutil.copy(raw / "fr.vec", raw / "pairs.reverse.txt")


OF_SPACE = [
    ("export space --format text --out raw", "the vectors of en"),
    ("export space --format moses --out raw/en.vec", "the vectors of en"),
    ("export space --format text --lang fr --out raw/fr.vec", "the vectors of fr"),
    ("map space --lang fr --vectors new.vec --out raw/fr.vec", "the vectors of fr"),
    ("induce space --out raw/pairs.txt", "a file"),
    ("induce space --both --out raw/./pairs.txt", "a file"),
    ("induce space --both --format muse --out pairs.txt", "the vectors of fr"),
    ("encode space --lang fr --input text.txt --out renamed.npy", "the vectors of fr"),
]


@pytest.mark.parametrize(("line", "what"), OF_SPACE)
def test_no_file_that_a_space_was_made_of_is_replaced(
    muse: Command, here: Path, line: str, what: str
) -> None:
    made_of_files(here)
    os.link("raw/pairs.reverse.txt", "pairs.reverse.txt")
    shutil.copy("raw/fr.vec", "renamed.npy")  # known by its content
    refused_leaving(
        here,
        muse,
        [*line.split()],
        f"--out would replace {what}, which this space was made of; choose another",
    )


def test_an_earlier_export_is_replaced(muse: Command, here: Path) -> None:
    made_of_files(here)
    for line in ("export space --format text --out out", "induce space --out pairs.txt"):
        assert muse(*line.split(), "--max-vocab", 10).code == 0
        before = tree(here)
        assert muse(*line.split()).code == 0
        assert tree(here) != before


@pytest.mark.parametrize("name", ["x" * 201, "é" * 101, "/".join(["folder"] * 600)])
def test_a_name_that_no_file_system_takes(muse: Command, here: Path, name: str) -> None:
    write_vectors_text(here / "a.vec", ["a", "b"], np.eye(2, dtype=np.float32))
    align = ["align", "--src", "fr", "--src-emb", "a.vec", "--tgt", "en", "--tgt-emb", "a.vec"]
    refused(muse(*align, "--out", name), "--out must be at most 200 bytes", "choose a shorter one")
    refused(muse(*align[:2], "x" * 101, *align[3:]), "a language needs a name of at most 100 characters")
    assert sorted(path.name for path in here.iterdir()) == ["a.vec"]


@pytest.mark.parametrize("out", ["circle", "circle/out", "/"])
@pytest.mark.parametrize(
    "line", ["induce space", "export space --format space", "export space --format text"]
)
def test_a_place_that_is_none(muse: Command, space: Path, here: Path, line: str, out: str) -> None:
    (here / "circle").symlink_to("circle")
    ended = muse(*line.split(), "--out", out)
    assert (ended.code, ended.err.count("\n"), ended.err[:6]) == (1, 1, "error:"), ended
    refused(muse(*line.replace("space", "circle", 1).split(), "--out", "out"), "circle")


PIPED = [
    "train-lm text.txt --lang fr --out pipe",
    "export space --format torch --out pipe",
    "export space --format moses --src fr --tgt en --out pipe",
    "export space --format text --lang fr --out pipe",
    "induce space --out pipe",
    "map space --lang fr --vectors a.vec --out pipe",
    "mine space --src-lang fr --tgt-lang en --source text.txt --target other.txt --out pipe",
    "encode space --lang fr --input text.txt --out pipe",
    "report space --out pipe",
    "embed text.txt --lang fr --dim 2 --epochs 1 --min-count 1 --out pipe",
    "train space --encoder x-cbow --lang fr --parallel pairs.tsv --epochs 1 --out pipe",
    "align --src fr --src-emb a.vec --tgt en --tgt-emb a.vec --init identical --out pipe",
]


@pytest.mark.parametrize("line", PIPED)
def test_a_pipe_is_not_replaced(muse: Command, space: Path, here: Path, line: str) -> None:
    for name in ("text.txt", "other.txt"):
        (here / name).write_text("fr20 fr21\n" * 30)
    (here / "pairs.tsv").write_text("".join(f"en{n} en{n + 1}\tfr{n} fr{n + 1}\n" for n in range(2, 30)))
    rows = np.random.default_rng(0).normal(size=(300, 20)).astype(np.float32)
    write_vectors_text(here / "a.vec", [f"w{n}" for n in range(300)], rows)
    os.mkfifo("pipe")
    ended = muse(*line.split(), "-q")
    assert ended.code in (1, 2) and "pipe" in ended.err, ended
    assert (here / "pipe").is_fifo()
    assert not [name for name in tree(here) if "partial" in str(name) or "pipe." in str(name)]


@pytest.mark.parametrize(
    "line",
    [
        "align --src fr --src-emb a.vec --tgt en --tgt-emb a.vec --out out",
        "train space --encoder x-cbow --lang fr --parallel pairs.tsv --epochs 1 --out out",
        "train-translator space --text fr=text.txt --text en=text.txt --epochs 0 --out out",
    ],
)
def test_two_runs_cannot_write_one_output(muse: Command, space: Path, here: Path, line: str) -> None:
    (here / "text.txt").write_text("fr20 fr21\n" * 30)
    (here / "pairs.tsv").write_text("".join(f"en{n} en{n + 1}\tfr{n} fr{n + 1}\n" for n in range(2, 30)))
    write_vectors_text(here / "a.vec", [f"w{n}" for n in range(20)], np.eye(20, dtype=np.float32))
    with only_writer(here / "out"):
        refused(muse(*line.split(), "-q"), f"another at it (process {os.getpid()} on ")


HOSTILE = "en\x1b]0;title\x07\u202e\x9b8m"  # sets the title, reverses, hides
SRC = ("--src", "fr")


@pytest.fixture
def hostile(here: Path) -> str:
    """A word with controls of a terminal, which both languages of a space have, in the current folder."""
    rows = raw_rows(0, 4)
    words = [HOSTILE, "roi", "mer", "eau"]
    sides = {one: replace(side_to_save(one, rows), vectors=Vectors(one, words, rows)) for one in ("fr", "en")}
    save_space("space", sides, pivot="en", provenance=PROVENANCE)
    return HOSTILE


def test_words_do_not_command_a_terminal(
    muse: Command, hostile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = muse("translate", "space", hostile, "--src", "fr")
    assert piped.out.count(hostile) == 2  # as asked and as answered, byte for byte
    monkeypatch.setattr(outputs, "is_terminal", lambda: True)
    for line in ("translate space {}", "translate space {} --json", "neighbours space {}"):
        shown = muse(*(part.format(hostile) for part in line.split()), *SRC)
        assert "\\u001b]0;title\\u0007\\u202e\\u009b8m" in shown.out
        assert all(character.isprintable() or character in "\n\t" for character in shown.out)
    translated = muse("translate", "space", *SRC, stdin=f"{hostile} roi\n")
    assert translated.code == 0
    assert "\x1b" not in translated.out


@pytest.mark.parametrize(
    "line", ["translate space {}x", "translate space --{}", "report {}", "encode space --lang {}"]
)
def test_messages_do_not_command_a_terminal(muse: Command, hostile: str, line: str) -> None:
    src = SRC if line.endswith("{}x") else ()
    ended = muse(*(part.format(hostile) for part in line.split()), *src)
    assert ended.code
    assert "title" in ended.err
    assert all(character.isprintable() or character == "\n" for character in ended.err)


WRITES = (
    "export space --format torch --out table.pt",
    "export space --format text --out folder",
    "export space --format npz --out folder",
    "export space --format moses --src fr --tgt en --top 5 --out table",
    "export space --format space --out copy",
    "train-lm text.txt --lang fr --out model.arpa",
    "induce space --out pairs.tsv --format tsv",
    "encode space --lang fr --input text.txt --out rows.npy",
    "report space --out page.html",
    "train space --encoder x-cbow --lang fr --parallel pairs.tsv --epochs 1 --out encoder",
)
# Commands, each in a fork that can write 200 bytes to a file; Python ignores the signal. They write no
# bytecode (-B): Python would leave it cut short, for every later process to stumble over.
LIMITED = """
import os, resource, sys
import muse.api.run, muse.sentences.systems.registry, sklearn.feature_extraction.text, torch._dynamo
from muse.cli import main
for number, line in enumerate(sys.argv[1:]):
    if os.fork():
        print("ended with", os.waitstatus_to_exitcode(os.wait()[1]), file=sys.stderr, flush=True)
        continue
    os.chdir(str(number))
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
    sys.argv = ["muse", *line.split(), "-q"]
    main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_command_on_a_full_disk(tmp_path: Path) -> None:
    for number in range(len(WRITES)):
        saved(tmp_path / str(number) / "space", plain=True)
        (tmp_path / str(number) / "text.txt").write_text("fr1 fr2 fr3\n" * 200)
        pairs = "".join(f"en{n} en{n + 1}\tfr{n} fr{n + 1}\n" for n in range(2, 30))
        (tmp_path / str(number) / "pairs.tsv").write_text(pairs)
    before = tree(tmp_path)
    ended = subprocess.run(
        [sys.executable, "-B", "-c", LIMITED, *WRITES], cwd=tmp_path, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    told = ended.stderr.splitlines()
    assert told[1::2] == ["ended with 1"] * len(WRITES), ended.stderr
    for error, line in zip(told[::2], WRITES, strict=True):
        assert error.startswith("error: ") and ("free some space" in error or "is full" in error), line
    kept = {name: content for name, content in tree(tmp_path).items() if "calibration" not in str(name)}
    assert kept == before


def test_an_error_that_is_not_of_the_disk_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="mine"), replaced(tmp_path / "x"):
        raise RuntimeError("mine")
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="expected a writable path"), replaced(tmp_path / "file" / "x"):
        pass
