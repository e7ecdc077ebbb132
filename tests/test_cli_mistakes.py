"""Mistakes of newcomers, and how what they read is worded: what was wrong, and what to do instead.

This table is where the wording of errors is checked; other tests match their class, and what was found.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from muse.files.vectors import locate
from tests.support.command import Command, tree
from tests.support.spaces import saved
from tests.support.toys import raw_pair, write_vec


class Mistake(NamedTuple):
    """What is typed, the exit code, and parts of the message that must be there."""

    typed: str
    code: int
    parts: tuple[str, ...]


def usage(typed: str, *parts: str) -> Mistake:
    return Mistake(typed, 2, parts)


def wrong(typed: str, *parts: str) -> Mistake:
    return Mistake(typed, 1, parts)


MISTAKES = [
    # of names: commands, options, values
    usage("algin --src fr", "No such command 'algin'", "'align'"),
    usage("align --scr fr", "No such option '--scr'", "'--src'"),
    usage("align --normalize unit", "'--normalise'"),
    usage("align fr en", "Languages are options, such as --src fr --tgt en; got fr en without one."),
    usage("align --src fr", "--tgt"),
    usage("align", "Missing option '--src'"),
    usage("align --src fr --tgt en --seed -1", "-1 is not in the range x>=0"),
    usage("align --src fr --tgt en --device tpu", "'tpu' is not one of 'auto', 'cpu', 'cuda'"),
    usage("align --src fr --tgt en --init identical --no-identical", "--no-identical forbids"),
    usage("align --src fr --tgt en --reweight --no-refine", "--reweight follows refinement"),
    usage("evaluate space --dictionary d --retrieval magic", "'magic' is not one of 'csls'"),
    usage("align --src fr --tgt en --init gromo", "'gromo' is not one of 'auto', 'gromov'"),
    usage("align --src fr --tgt en --init dictionary", "--init dictionary needs the pairs to learn from"),
    usage("align --src fr --into space --joint", "--joint needs at least two --src and no --into"),
    usage("train space --encoder sp --lang fr --out x", "sp needs --parallel to train on, got none"),
    usage("map space --lang fr --vectors fr.vec --json", "--json needs --out FILE"),
    usage("align --src fr --tgt en --max-vocab 50k", "'50k' is not a valid whole number"),
    usage("align --src fr --tgt en --src-emb https://host/x.vec", "a file on this machine is needed",
          "https://host/x.vec", "download it first"),
    wrong("align --src fr --tgt en --normalise units", "unit, centre", "'units'"),
    usage("evaluate space --task sentence", "'sentence' is not one of"),
    usage("evaluate space", "Missing option '--dictionary'"),
    usage("evaluate space --dictionary gold.txt --encoder mean",
          "--encoder is for --task sentences, mining, sts, relatedness, nli, transfer, probe or links, "
          "not for words"),
    usage("translate space fr20 --to en", "No such option '--to'"),
    usage("induce space", "Missing option '--out'"),
    usage("induce space --out x.txt --top 0", "0 is not in the range x>=1"),
    usage("export space --out x", "Missing option '--format', one of text, word2vec, npz, parquet,"),
    usage("export space --format csv --out x", "'csv' is not one of 'text'"),
    usage("fetch fr", "such as vectors fr en, or dictionary fr-en, got fr; --list shows all"),
    usage("fetch vectors", "got vectors;"),
    # of languages
    wrong("align --src fra --tgt en", "no vectors for 'fra'", "found vectors for en, fr there",
          "did you mean fr?", "--src-emb", "muse fetch"),
    wrong("align --src FR --tgt en", "did you mean fr?"),
    wrong("align --src fr,de --tgt en", "repeat the option for several languages"),
    usage("align --src fr --tgt fr", "got 'fr' twice; change one"),
    usage("translate space fr20 --src fr --tgt fr", "different languages, got 'fr' twice"),
    wrong("induce space --out x --tgt xx", "are en, fr; got 'xx'"),
    wrong("translate space fr20 --src french", "are en, fr; got 'french'; did you mean fr?"),
    wrong("translate space en20", "it is a word of en; check --src and --tgt"),
    wrong("fetch vectors french", "158 languages, by codes such as fr, got 'french'",
          "muse fetch --list names them all; did you mean fr?"),
    wrong("fetch dictionary en_fr", "got 'en_fr'; did you mean en-fr?"),
    wrong("fetch dictionary fr-en", "--accept-non-commercial"),
    wrong("fetch vectors fr --mirror localhost", "http://", "add it"),
    wrong("encode space --lang fr --encoder maen --out x.npy --input text", "did you mean mean?"),
    # of files
    wrong("align --src fr --tgt en --src-emb nosuch.vec", "nosuch.vec: expected a file", "check the path"),
    wrong("align --src fr --tgt en --src-emb embeddings", "embeddings: expected a file, got a folder"),
    wrong("align --src fr --tgt en --src-emb space", "space: expected a file, got a space"),
    wrong("align --src fr --tgt en --src-emb text", "text:1: expected a word and its numbers"),
    wrong("align --src fr --tgt en --src-emb empty", "empty: expected content, got an empty file"),
    wrong("align --src fr --tgt en --dictionary alone.csv", "alone.csv:1: expected two words", "a tab"),
    wrong("align --src fr --tgt en --dictionary latin1", "latin1:1: expected UTF-8", "convert"),
    wrong("align --src fr --tgt en --out text", "text exists and is not an aligned space"),
    wrong("align --src fr --into text", "text: expected an aligned space", "(it is a file)",
          "the spaces here are space"),
    wrong("translate fr20", "fr20: expected an aligned space, found no such folder",
          "the spaces here are space"),
    wrong("evaluate fr.vec --dictionary gold.txt", "(it is a file)", "the spaces here are space"),
    wrong("evaluate space --dictionary space", "got a space or encoder that muse has saved; give a file"),
    wrong("encode space --lang fr --encoder space --input text --out x.npy",
          "expected a saved encoder, found an aligned space"),
    wrong("induce space --out text/x.txt", "text: expected a folder to write in, got the file",
          "choose another folder"),
    wrong("induce space --out d.parquet", "pairs are written to a .txt, .tsv, .csv, .xlsx or .jsonl file"),
    wrong("mine space --src-lang fr --tgt-lang en --source text --target text --out pairs.xlsx",
          "pairs.xlsx: pairs are written to a .tsv or .tsv.gz file, got .xlsx"),
    wrong("map space --lang fr --vectors fr.vec --out new.json", "a .vec, .vec.gz, .npz, .npy, .parquet"),
    wrong("train-lm text --lang en --out en.bin", "en.bin: n-grams are written to a .arpa or .arpa.gz file"),
    wrong("embed text --lang en --out en.bin", "en.bin: vectors are written to a .vec or .vec.gz file"),
    wrong("embed fr.vec --lang fr --out x.vec", "expected text, got mostly numbers", "muse align"),
    wrong("embed space --lang fr --out x.vec", "space: expected text, got a folder with manifest.json"),
    wrong("serve space --host 0.0.0.0", "--allow-remote"),
]  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a newcomer: vectors where they are found, a space, and other files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locate, "SAMPLE", tmp_path / "none")
    monkeypatch.delenv("MUSE_EMBEDDINGS", raising=False)
    saved(tmp_path / "space")
    (tmp_path / "embeddings").mkdir()
    source, target, _ = raw_pair()
    for folder in (tmp_path / "embeddings", tmp_path):
        write_vec(folder / "fr.vec", source)
        write_vec(folder / "en.vec", target)
    for name, content in (
        ("gold.txt", b"fr20 en20\n"), ("text", b"It was a dark night.\n" * 9), ("empty", b""),
        ("alone.csv", b"fr20\n"), ("latin1", "fr20 \u00e9t\u00e9\n".encode("latin-1")),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.typed)
def test_a_mistake_is_explained(muse: Command, here: Path, mistake: Mistake) -> None:
    for package, command in (("uvicorn", "serve"), ("requests", "fetch")):
        if mistake.typed.startswith(command):
            pytest.importorskip(package)
    before = tree(here).keys()
    ended = muse(*mistake.typed.split())
    assert (ended.code, ended.out) == (mistake.code, ""), ended.err
    assert ended.err.splitlines()[-1].startswith("error: " if mistake.code == 1 else "Error: ")
    assert len(ended.errors) == (mistake.code == 1)
    for part in mistake.parts:
        assert part in ended.err
    written = tree(here).keys() - before
    kept = re.compile(r"space/fr/calibration\.en\.[0-9a-f]{8}\.json")
    assert all(map(kept.fullmatch, written))  # what a space keeps of what it has measured


def test_windows_ends_of_lines_are_no_mistake(muse: Command, here: Path) -> None:
    (here / "gold.txt").write_bytes(b"fr20 en20\r\nfr21 en21\r\n")
    assert muse("evaluate", "space", "--dictionary", "gold.txt", "--json").json["covered"] == 2


def test_a_dictionary_the_other_way_round_is_noticed(muse: Command, here: Path) -> None:
    (here / "gold.txt").write_text("en20 fr20\nen21 fr21\nen22 fr22\nfr23 en23\n")
    ended = muse("evaluate", "space", "--dictionary", "gold.txt")
    assert ended.code == 0
    assert "seems to be from en to fr: swap --src and --tgt" in ended.err


def test_text_in_another_language_is_noticed(muse: Command, here: Path) -> None:
    (here / "text").write_text("fr20 fr21 fr22\n")
    ended = muse("encode", "space", "--lang", "en", "--input", "text", "--out", "x.npy")
    assert ended.code == 0
    assert "3 of 3 tokens without a vector: is the text in en?" in ended.err


def test_a_missing_library_is_named_with_its_remedy(
    muse: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "requests", None)
    ended = muse("fetch", "vectors", "fr")
    assert ended.code == 1
    assert "install" in ended.err and ended.err.rstrip().endswith("requests")
