"""Dictionaries on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse.errors import BadFile, Mismatch
from muse.files import read_lexicon
from muse.files.cells import stripped
from muse.lexicon import Lexicon
from tests.files.test_lexicon_formats import write_dictionary


def _read(folder: Path, content: str | bytes) -> Lexicon:
    path = folder / "en-fr.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_lexicon(path)


@pytest.mark.parametrize(
    "content",
    [
        "cat chat\ndog chien\n",
        "cat\tchat\ndog\tchien\n",
        "cat   chat\n\n  \ndog\t chien",
        "\ufeffcat chat\r\ndog\tchien\r\n",
        "cat chat\ndog chien\ncat chat\n",
        "cat\t\tchat\n dog chien \n",
    ],
)
def test_every_spelling_of_the_same_pairs(tmp_path: Path, content: str) -> None:
    assert _read(tmp_path, content) == Lexicon((("cat", "chat"), ("dog", "chien")))


def test_phrases_and_other_spaces(tmp_path: Path) -> None:
    lexicon = _read(tmp_path, "new york\tnew york\na\u00a0b \u2028c\n\x85 x\n")
    assert lexicon.pairs == (("new york", "new york"), ("a\u00a0b", "\u2028c"), ("\x85", "x"))


def test_scores(tmp_path: Path) -> None:
    lexicon = _read(tmp_path, "cat\tchat\t0.5\nnew york\tny\t-1e-3\n")
    assert lexicon == Lexicon((("cat", "chat"), ("new york", "ny")), (0.5, -0.001))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("cat chat\nnew york ny\n", [":2: expected two words, got 3 fields ('new york ny')", "or a tab"]),
        ("cat chat\ncat\n", [":2: expected two words, got 1 field ("]),
        ("cat\t\n", [":1: expected two words, got 1 field ("]),
        ("cat,chat\ndog\n", [":1: expected two words, got 1 field"]),
        ("cat chat\n# made by hand\n", [":2: expected two words, got 4 fields", "remove the line if"]),
        ("# French\tEnglish\tscore\n", [":1: expected two words, got 3 fields", "if it is a comment"]),
        ("a\tb\tc\n", [":1: expected two words, got 3 fields"]),
        ("a\tb\t1\na\tc\tnan\n", [":2: expected a finite number as the third field, got 'nan'"]),
        ("a\tb\t-inf\n", [":1: expected a finite number as the third field, got '-inf'"]),
        ("a\tb\t1\t2\n", [":1: expected two words, got 4 fields"]),
        (
            "a\tb\t1\nc\td\n",
            ["expected a score for every pair or for none, got 1 for 2", "such as that of 'c' and 'd'"],
        ),
        (b"cat chat\n\xe9t\xe9 summer\n", [":2: expected UTF-8, got the byte 0xe9"]),
        ("", ["expected content, got an empty file"]),
        ("\n \n", ["expected at least one pair of words, got only blank lines"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: str | bytes, parts: list[str]) -> None:
    with pytest.raises(BadFile) as caught:
        _read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "en-fr.txt"))
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        ("cat chat\n# animals\n", ":2: read as the pair '#' and 'animals'; remove the line if it is a"),
        ("# a list\tby hand\ncat\tchat\n#animals\tmore\n#\tx\n",
         ":1: read as the pair '# a list' and 'by hand'; remove it and the 2 others that begin with # if"),
        ("# #\n#cat #chat\n# 1\t# 1\ncat #\n", None),
        ('{"source": "#", "target": "number"}\n', None),
        ("source\ttarget\n#\tnumber\n", None),
    ],
)  # fmt: skip
def test_a_pair_that_looks_like_a_comment_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str, warning: str | None
) -> None:
    lexicon = _read(tmp_path, content)
    assert len(lexicon) == len(content.splitlines()) - content.startswith("source")  # it counts all the same
    assert len(caplog.messages) == (warning is not None)
    assert all(message.startswith(f"{tmp_path / 'en-fr.txt'}{warning}") for message in caplog.messages)


def test_written_as_muse_does(tmp_path: Path) -> None:
    write_dictionary(tmp_path / "x.txt", Lexicon((("cat", "chat"), ("new york", "ny"))))
    assert (tmp_path / "x.txt").read_bytes() == b"cat chat\nnew york\tny\n"


WORD = st.text(st.characters(blacklist_characters="\t\n\r", blacklist_categories=["Cs"]), min_size=1).filter(
    lambda word: word == stripped(word)
)


def test_phrases_that_end_in_a_number_survive(tmp_path: Path) -> None:
    lexicon = Lexicon((("F1", "Formula 1"), ("toile", "web 0.5")))
    write_dictionary(tmp_path / "x.txt", lexicon)
    assert read_lexicon(tmp_path / "x.txt") == lexicon


@given(st.lists(st.tuples(WORD, WORD), min_size=1, max_size=10, unique=True))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_words_survive(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("any") / "x.txt"
    write_dictionary(path, Lexicon(tuple(pairs)))
    assert read_lexicon(path).pairs == tuple(pairs)


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\rb", "", " a", "\ud800"])
def test_words_that_would_not_come_back(tmp_path: Path, word: str) -> None:
    with pytest.raises(Mismatch, match=r"expected words that this format can represent, got .*\(pair 2\)"):
        write_dictionary(tmp_path / "x.txt", Lexicon((("a", "b"), ("c", word))))
    assert list(tmp_path.iterdir()) == []
