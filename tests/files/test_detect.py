"""One table tells what a file is, whoever asks, and what makes it readable."""

from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files.detect import DICTIONARY, KINDS, VECTORS, kind_of, open_beginning, readable_kind
from muse.files.vectors.formats import READERS

OF_DICTIONARIES = {
    "gls": b"#stripmethod=keep\n#sametypesequence=h\n\nroi\nking\n\n",
    "gettext": b'# French\nmsgid ""\nmsgstr ""\n\nmsgid "king"\nmsgstr "roi"\n',
    "cedict": "# CC-CEDICT\n國王 国王 [guo2 wang2] /king/\n女王 女王 [nu:3 wang2] /queen/\n".encode(),
    "moses": b"roi ||| king ||| 0.5 0.5 ||| 0-0\n",
}
OF_ALL = {
    "pdf": b"%PDF-1.7\n",
    "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9),
    "sqlite": b"SQLite format 3\0" + bytes(9),
    "lfs": b"version https://git-lfs.github.com/spec/v1\n",
    "pickle": b"\x80\x04\x95\x0b\0",
}


@pytest.mark.parametrize(("name", "content"), [*OF_DICTIONARIES.items(), *OF_ALL.items()])
def test_what_is_not_read_is_named_with_what_to_do(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "it's").write_bytes(content)
    kind = kind_of(tmp_path / "it's", DICTIONARY)
    assert kind.name == name
    assert (kind_of(tmp_path / "it's", VECTORS).name == name) == (name in OF_ALL)
    with open_beginning(tmp_path / "it's") as file, pytest.raises(BadFile) as caught:
        readable_kind(file, DICTIONARY)
    assert str(caught.value).startswith(f"{tmp_path / 'it'}'s: expected a dictionary ")
    assert f"got {kind.noun}; " in str(caught.value)
    assert "{" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.bgl", "x.mdx", "x.slob", "x.dsl", "x.dsl.dz"])
def test_a_name_counts_where_the_content_is_no_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x12\x34\0\1")
    assert kind_of(tmp_path / name, DICTIONARY).noun.startswith("the format of ")
    (tmp_path / name).write_text("roi\tking\n")
    assert kind_of(tmp_path / name, DICTIONARY).name == "text"


def test_a_word_that_looks_like_markup_is_one(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("<html> 0.1 -2e-3\nroi 0.1 0.2\n")
    assert kind_of(tmp_path / "x").name == "text"


def test_every_kind_is_read_or_says_what_to_do() -> None:
    read = {kind.name for kind in KINDS if VECTORS in kind.readers}
    assert read | {"text"} == READERS.keys()
    assert all(kind.readers or kind.advice for kind in KINDS)
