"""Broken words: every format drops a few and counts them, and is refused where they are many."""

import logging
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, Mismatch
from muse.files import read_vectors, subword_vectors
from muse.files.vectors.fasttext import load_fasttext
from muse.vectors import Matrix

SURROGATE = b"\xed\xa0\x80"  # half a pair, as some programs write it
BROKEN = {
    "surrogate": b"ab" + SURROGATE,
    "pair": b"\xed\xa0\xbd\xed\xb8\x80",  # both halves, each as UTF-8 (CESU-8)
    "cut": "日本".encode()[:-1],
    "byte": b"a\xffb",
    "latin": b"caf\xe9s",
    "overlong": b"\xc0\xaf",
    "empty": b"",
}
TOLD = {"cut": "1 word that ends inside a character", "empty": "1 empty word"}


def _rows(count: int) -> Matrix:
    return np.random.default_rng(count).normal(0, 1, (count, 3)).astype(np.float32)


def _text(path: Path, words: Sequence[bytes], rows: Matrix) -> None:
    _glove(path, words, rows)
    path.write_bytes(b"%d %d\n" % rows.shape + path.read_bytes())


def _glove(path: Path, words: Sequence[bytes], rows: Matrix) -> None:
    lines = [b"%s %r %r %r\n" % (word, *row.tolist()) for word, row in zip(words, rows, strict=True)]
    path.write_bytes(b"".join(lines))


def _windows(path: Path, words: Sequence[bytes], rows: Matrix) -> None:
    _text(path, words, rows)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b" \r\n").replace(b" ", b"\t"))


def _word2vec(path: Path, words: Sequence[bytes], rows: Matrix) -> None:
    entries = [b"%s %s\n" % (word, row.tobytes()) for word, row in zip(words, rows, strict=True)]
    path.write_bytes(b"%d %d\n" % rows.shape + b"".join(entries))


def _without_newlines(path: Path, words: Sequence[bytes], rows: Matrix) -> None:
    entries = [b"%s %s" % (word, row.tobytes()) for word, row in zip(words, rows, strict=True)]
    path.write_bytes(b"%d %d\n" % rows.shape + b"".join(entries))


def _npz(path: Path, words: Sequence[bytes], rows: Matrix) -> None:
    np.savez(path.with_suffix(".npz"), words=np.array(words), matrix=rows)
    path.with_suffix(".npz").rename(path)


def _parquet(path: Path, words: Sequence[bytes], rows: Matrix) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    column = arrow.array(words, arrow.binary()).view(arrow.string())
    parquet.write_table(arrow.table({"word": column, "vector": list(rows)}), path)


WRITERS: dict[str, Callable[[Path, Sequence[bytes], Matrix], None]] = {
    "text": _text, "glove": _glove, "windows": _windows, "word2vec": _word2vec,
    "without newlines": _without_newlines, "npz": _npz, "parquet": _parquet,
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_broken_word_is_dropped_and_counted(
    tmp_path: Path, writer: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    words, rows = [b"the", b"new", BROKEN[kind], "été".encode(), b"end"], _rows(5)
    WRITERS[writer](tmp_path / "x", words, rows)
    read = read_vectors(tmp_path / "x", language="en")
    assert read.words == ("the", "new", "été", "end")
    np.testing.assert_array_equal(read.matrix, rows[[0, 1, 3, 4]])
    (warning,) = caplog.messages
    assert TOLD.get(kind, "1 word that is not UTF-8") in warning
    assert warning.startswith(f"{tmp_path / 'x'}: dropped 1 ")
    assert warning.isprintable()


@pytest.mark.parametrize("writer", WRITERS)
def test_broken_words_of_all_kinds_are_one_warning(
    tmp_path: Path, writer: str, caplog: pytest.LogCaptureFixture
) -> None:
    words = [b"w%d" % place for place in range(120)]
    words[:30] = ["é".encode() + b"%d" % place for place in range(30)]
    words[5:12] = BROKEN.values()
    rows = _rows(120)
    rows[50, 1] = np.nan
    rows[51, 0] = -np.inf
    WRITERS[writer](tmp_path / "x", words, rows)
    read = read_vectors(tmp_path / "x", language="en")
    whole = np.setdiff1d(np.arange(120), [*range(5, 12), 50, 51])
    assert list(read.words) == [words[place].decode() for place in whole]
    np.testing.assert_array_equal(read.matrix, rows[whole])
    (warning,) = caplog.messages
    for part in (
        "5 words that are not UTF-8, the first is ab\\xed\\xa0\\x80 (",
        "1 word that ends inside a character",
        "1 empty word (",
        "2 words whose numbers are broken, the first is w50 (",
    ):
        assert part in warning


@pytest.mark.parametrize("writer", WRITERS)
def test_what_follows_the_wanted_words_is_not_looked_at(
    tmp_path: Path, writer: str, caplog: pytest.LogCaptureFixture
) -> None:
    words, rows = [b"the", b"\xff", b"new", b"end", *[b"\xff"] * 4], _rows(8)
    rows[-1] = np.nan
    WRITERS[writer](tmp_path / "x", words, rows)
    for wanted, dropped in ((1, 0), (2, 1), (3, 1)):
        caplog.clear()
        read = read_vectors(tmp_path / "x", language="en", max_vocab=wanted)
        assert read.words == ("the", "new", "end")[:wanted]
        assert ["dropped 1 word that" in message for message in caplog.messages] == [True] * dropped
    with pytest.raises(BadFile, match="expected UTF-8"):
        read_vectors(tmp_path / "x", language="en")


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", ["surrogate", "byte", "empty"])
def test_many_broken_words_are_refused_with_their_share(tmp_path: Path, writer: str, kind: str) -> None:
    words = ["é".encode() + b"%d" % place for place in range(200)]
    words[10:30] = [BROKEN[kind] if kind == "empty" else BROKEN[kind] + b"%d" % i for i in range(20)]
    WRITERS[writer](tmp_path / "x", words, _rows(200))
    assert len(read_vectors(tmp_path / "x", language="en")) == 180
    words[30] = BROKEN[kind]
    WRITERS[writer](tmp_path / "x", words, _rows(200))
    with pytest.raises(BadFile, match=r"\(21 of 200 words are broken, and at most one in 10 is left out\)$"):
        read_vectors(tmp_path / "x", language="en")


@pytest.mark.parametrize("writer", WRITERS)
def test_another_encoding_is_refused_where_utf_8_would_be_beyond_ascii(tmp_path: Path, writer: str) -> None:
    words = [b"mot%d" % place for place in range(300)]
    words[::50] = ["déjà vu".replace(" ", "_").encode("latin-1") + b"%d" % place for place in range(6)]
    WRITERS[writer](tmp_path / "x", words, _rows(300))
    with pytest.raises(BadFile, match=r"expected UTF-8.*\(6 words are not UTF-8, 0 others not ASCII\)$"):
        read_vectors(tmp_path / "x", language="en")
    words[1:13:2] = ["à".encode() + b"%d" % place for place in range(6)]
    WRITERS[writer](tmp_path / "x", words, _rows(300))
    assert len(read_vectors(tmp_path / "x", language="en")) == 294


def test_a_file_of_garbage_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muse.files.vectors.text.BLOCK", 1 << 12)
    good, bad = [b"w%d 0.5 0.%d\n" % (i, i) for i in range(100)], [b"x 0.5\n"] * 20_000
    (tmp_path / "x.vec").write_bytes(b"".join(good + bad))
    with pytest.raises(BadFile, match=r"x\.vec:101: .* \([\d,]+ of (\d{3}|[12],\d{3}) words are broken"):
        read_vectors(tmp_path / "x.vec", language="en")


@pytest.mark.parametrize("writer", ["text", "word2vec", "without newlines"])
@pytest.mark.parametrize("off", [-1, 1])
def test_a_header_that_is_off_by_one(
    tmp_path: Path, writer: str, off: int, caplog: pytest.LogCaptureFixture
) -> None:
    words, rows = [b"w%d" % place for place in range(20)], _rows(20)
    WRITERS[writer](tmp_path / "x", words, rows)
    content = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(content.replace(b"20 3\n", b"%d 3\n" % (20 + off), 1))
    read = read_vectors(tmp_path / "x", language="en")
    assert len(read) == 20
    np.testing.assert_array_equal(read.matrix, rows)
    assert caplog.messages == [f"{tmp_path / 'x'}: line 1 says {20 + off} words, got 20, and all were read"]
    (tmp_path / "x").write_bytes(content.replace(b"20 3\n", b"%d 3\n" % (20 + 2 * off), 1))
    with pytest.raises(BadFile, match=r"as line 1 says, got "):
        read_vectors(tmp_path / "x", language="en")
    assert len(read_vectors(tmp_path / "x", language="en", max_vocab=15)) == 15


def test_a_shortened_file_is_told_the_right_first_line(tmp_path: Path) -> None:
    _text(tmp_path / "x", [b"w%d" % place for place in range(20)], _rows(20))
    content = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(content.replace(b"20 3", b"2000000 3", 1))
    with pytest.raises(BadFile, match=r"got 20"):
        read_vectors(tmp_path / "x", language="en")


@pytest.mark.parametrize("dimension", [2, 4, 299])
def test_a_dimension_that_no_line_has(tmp_path: Path, dimension: int) -> None:
    _text(tmp_path / "x", [b"w%d" % place for place in range(20)], _rows(20))
    content = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(content.replace(b"20 3", b"20 %d" % dimension, 1))
    with pytest.raises(BadFile, match=rf"x:2: expected {dimension} numbers .* got 3 .*correct line 1"):
        read_vectors(tmp_path / "x", language="en")


LINES = {
    "no word": (b" 0.5 0.25 0.125\n", "1 empty word (line 5)"),
    "no word, a tab": (b"\t0.5\t0.25\t0.125\n", "1 empty word (line 5)"),
    "numbers alone": (b"0.5 0.25 0.125\n", "1 empty word (line 5)"),
    "too few": (b"cat 0.5 0.25\n", "1 word whose numbers are broken, cat (line 5)"),
    "too many": (b"cat 0.5 0.25 0.125 0.5\n", "1 word whose numbers are broken, cat (line 5)"),
    "no number": (b"cat 0.5 x 0.125\n", "1 word whose numbers are broken, cat (line 5)"),
    "nan": (b"cat 0.5 nan 0.125\n", "1 word whose numbers are broken, cat (line 5)"),
    "too large": (b"cat 0.5 1e40 0.125\n", "1 word whose numbers are broken, cat (line 5)"),
    "two lines in one": (
        b"cat 0.5 0.25 0.1dog 0.5 0.25 0.1\n",
        "1 word whose numbers are broken, cat (line 5)",
    ),
}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("writer", ["text", "glove"])
def test_a_broken_line_is_dropped_and_named(
    tmp_path: Path, writer: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    words, rows = [b"w%d" % place for place in range(20)], _rows(20)
    WRITERS[writer](tmp_path / "x", words, rows)
    lines = (tmp_path / "x").read_bytes().splitlines(keepends=True)
    lines[4], told = LINES[kind]
    (tmp_path / "x").write_bytes(b"".join(lines))
    read = read_vectors(tmp_path / "x", language="en")
    left = 3 if writer == "text" else 4
    np.testing.assert_array_equal(read.matrix, np.delete(rows, left, axis=0))
    assert caplog.messages == [f"{tmp_path / 'x'}: dropped {told}"]


def test_a_file_without_words_is_named_as_that(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"40 3\n" + b" 0.5 0.25 0.125\n" * 40)
    with pytest.raises(BadFile, match=r"x:2: expected a word before the 3 numbers, got none"):
        read_vectors(tmp_path / "x", language="en")
    (tmp_path / "x").write_bytes(b"40 3\n")
    with pytest.raises(BadFile, match=r"got 0"):
        read_vectors(tmp_path / "x", language="en")
    (tmp_path / "x").write_bytes(b"2 2\nthe 0,5 0,25\nof 1,5 2\n")
    with pytest.raises(BadFile, match=r"x:2: .*got '0,5' .*write numbers with a decimal point"):
        read_vectors(tmp_path / "x", language="en")


@pytest.mark.slow
def test_broken_lines_take_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(b"the 1 2\n" * 30 + b"of\xa0 1\n" * 20_000)
    monkeypatch.setattr("muse.files.vectors.text._KEPT_FREE", 1)  # given back before anything is read
    tracemalloc.start()
    with pytest.raises(BadFile, match=r"x:31: expected 2 numbers"):
        read_vectors(tmp_path / "x", language="en")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 7e6


def test_without_a_header_a_last_line_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    _glove(tmp_path / "x", [b"w%d" % place for place in range(20)], _rows(20))
    content = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(content[:-1])  # the end of the line alone
    assert len(read_vectors(tmp_path / "x", language="en")) == 20
    (tmp_path / "x").write_bytes(content[:-30])
    with pytest.raises(BadFile, match=r"x:20: expected 3 numbers .*incomplete"):
        read_vectors(tmp_path / "x", language="en")


def test_repeated_and_zero_rows_are_no_broken_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    words, rows = [b"a", b"b", b"a", "a\u00a0b".encode(), b"new york"], _rows(5)
    rows[1] = 0
    _text(tmp_path / "x", words, rows)
    read = read_vectors(tmp_path / "x", language="en")
    assert (read.words, read.repeated) == (("a", "b", "a\u00a0b", "new york"), 1)
    np.testing.assert_array_equal(read.matrix, rows[[0, 1, 3, 4]])
    assert not caplog.messages


def _fasttext(path: Path, words: Sequence[bytes]) -> Path:
    """A model of these words: the library reads text of any bytes."""
    import fasttext

    text = path.with_suffix(".txt")
    text.write_bytes(b"\n".join([b" ".join(words)] * 3))
    settings = {"dim": 3, "epoch": 1, "minCount": 1, "bucket": 50, "thread": 1, "verbose": 0}
    fasttext.train_unsupervised(str(text), **settings).save_model(str(path))
    return path


def test_a_fasttext_model_with_words_that_are_no_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = [f"é{place}".encode() for place in range(30)] + [b"ab" + SURROGATE, "日本".encode()[:-1], b"\xff"]
    path = _fasttext(tmp_path / "x.bin", words)
    read = read_vectors(path, language="ko")
    assert set(read.words) == {"</s>", *(f"é{place}" for place in range(30))}
    (warning,) = caplog.messages
    assert "2 words that are not UTF-8, the first is " in warning
    assert "1 word that ends inside a character" in warning
    np.testing.assert_array_equal(read.matrix, subword_vectors(path, read.words))
    assert load_fasttext(path).words() == list(read.words)
    assert len(read_vectors(path, language="ko", max_vocab=5)) == 5


def test_words_with_one_vector_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    words, rows = [b"w%d" % place for place in range(100)], _rows(100)
    rows[40:90] = rows[7]
    rows[95:] = 0  # of which another warning speaks
    for writer in WRITERS.values():
        caplog.clear()
        writer(tmp_path / "x", words, rows)
        assert len(read_vectors(tmp_path / "x", language="en")) == 100
        assert caplog.messages == [
            f"{tmp_path / 'x'}: 50 of 100 words with the vector of another word, 50 of them with that of "
            "'w7'; as translations they cannot be told apart"
        ]
        caplog.clear()
        assert len(read_vectors(tmp_path / "x", language="en", max_vocab=41)) == 41
        assert not caplog.messages  # two that are alike are few


KEYS = ["/c/en/king", "/c/fr/roi", "/c/fr/reine", "/c/de/könig", "/c/fr/à_côté", "/c/en/queen", "/c/fr/"]


@pytest.mark.parametrize("writer", WRITERS)
def test_keys_of_several_languages_give_the_words_of_the_wanted_one(tmp_path: Path, writer: str) -> None:
    rows = _rows(len(KEYS))
    WRITERS[writer](tmp_path / "x", [key.encode() for key in KEYS], rows)
    read = read_vectors(tmp_path / "x", language="fr")
    assert read.words == ("roi", "reine", "à_côté")
    np.testing.assert_array_equal(read.matrix, rows[[1, 2, 4]])
    assert read_vectors(tmp_path / "x", language="en", max_vocab=1).words == ("king",)
    with pytest.raises(Mismatch, match=r"expected words of fra, .* \(de, en, fr\); call the language what"):
        read_vectors(tmp_path / "x", language="fra")


def test_parts_of_speech_are_no_part_of_keys(tmp_path: Path) -> None:
    keys = ["/c/fr/roi/n", "/c/fr/n", "/c/fr/km/h", "/c/en/king/n/wn/person", "/c/en/and/or"]
    _text(tmp_path / "x", [key.encode() for key in keys], _rows(len(keys)))
    assert read_vectors(tmp_path / "x", language="fr").words == ("roi", "n", "km/h")
    assert read_vectors(tmp_path / "x", language="en").words == ("king", "and/or")


@pytest.mark.parametrize("sign", [":", "/", "_"])
def test_short_prefixes_are_keys_where_all_words_have_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, sign: str
) -> None:
    caplog.set_level(logging.INFO)
    words, rows = [f"{'fr' if place % 2 else 'en'}{sign}w{place}".encode() for place in range(40)], _rows(40)
    _text(tmp_path / "x", words, rows)
    read = read_vectors(tmp_path / "x", language="fr")
    assert read.words[:2] == ("w1", "w3")
    np.testing.assert_array_equal(read.matrix, rows[1::2])
    assert "the words are keys of languages (en, fr), of which those of fr are read" in caplog.text
    words[3] = b"fr"
    _text(tmp_path / "x", words, rows)
    assert read_vectors(tmp_path / "x", language="fr").words[:2] == (f"en{sign}w0", f"fr{sign}w1")


def test_keys_in_alphabetical_order_are_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _text(tmp_path / "x", [b"/c/fr/a", b"/c/fr/b", b"/c/fr/c"], _rows(3))
    assert read_vectors(tmp_path / "x", language="fr").words == ("a", "b", "c")
    assert "in alphabetical order; the most frequent first is better" in caplog.text
