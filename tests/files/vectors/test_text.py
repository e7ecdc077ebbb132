"""Text vectors: what is read, what is refused with which words; the reader of numbers, bit by bit."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import muse.files.vectors.text as text_module
from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors, write_vectors_text
from muse.files.vectors.text import MARGIN, plain_numbers, with_margins
from muse.vectors import Vectors

HARD_WORDS = [
    "new york", "route 66", "a\u00a0b", "\u00a0", "\u0085", "\u2028", "x\u2029y", "\u200b", "zero\u200dwidth",
    "👩‍👩‍👧", "e\u0301", "\u3000", "\ufeff", "a\x0bb", "a\x1cb", "tab\tinside", "0.5", "1e5", "nan", "-",
    "日本 語", "\x00", "l'", "\\",
]  # fmt: skip


def _read(folder: Path, content: str | bytes, **options: object) -> Vectors:
    path = folder / "tiny.vec"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_vectors(path, language="xx", **options)  # type: ignore[arg-type]


def _refused(folder: Path, content: str | bytes, *parts: str, **options: object) -> str:
    """The message of a file refused, with the parts it must hold; it begins with the path."""
    with pytest.raises(BadFile) as caught:
        _read(folder, content, **options)
    message = str(caught.value)
    for part in parts:
        assert part in message, message
    assert message.startswith(str(folder / "tiny.vec") + ":")
    assert "; " in message  # what to do
    return message


@pytest.mark.parametrize(
    "content",
    [
        "2 3\nthe 0.1 0.2 0.3\ncat -1.5 2 3e-5\n", "the 0.1 0.2 0.3\ncat -1.5 2 3e-5\n",
        "2 3\r\nthe 0.1 0.2 0.3\r\ncat -1.5 2 3e-5\r\n", "2 3 \nthe 0.1 0.2 0.3 \ncat -1.5 2 3e-5 \n",
        "2 3\nthe 0.1 0.2 0.3\ncat -1.5 2 3e-5", "2\t3\nthe\t0.1\t0.2\t0.3\ncat\t-1.5\t2\t3e-5\n",
        "the  0.1   0.2 0.3  \ncat -1.5 2  3e-5\n", "2 3\n\nthe 0.1 0.2 0.3\n\ncat -1.5 2 3e-5\n\n \n",
        "\ufeff2 3\nthe 0.1 0.2 0.3\ncat -1.5 2 3e-5\n", "\ufeffthe 0.1 0.2 0.3\ncat -1.5 2 3e-5\n",
        "2 3\nthe .1 +0.2 00.3\ncat -15e-1 2. 0.00003\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("block", [1, 7, 1 << 18])
def test_every_spelling_of_the_same_table(
    tmp_path: Path, content: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_module, "BLOCK", block)
    vectors = _read(tmp_path, content)
    assert vectors.words == ("the", "cat")
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix.tolist() == np.array([[0.1, 0.2, 0.3], [-1.5, 2, 3e-5]], np.float32).tolist()
    assert (vectors.language, vectors.repeated) == ("xx", 0)


@pytest.mark.parametrize("dimension", [1, 2, 17, 300])
@pytest.mark.parametrize("form", ["%.3f", "%.5g", "%.6f", "%.9g", "%.17g", "%.4e", "%d"])
def test_values_are_those_of_float(tmp_path: Path, dimension: int, form: str) -> None:
    rng = np.random.default_rng(dimension)
    tokens = [[form % x for x in row] for row in (rng.normal(0, 3, (60, dimension))).tolist()]
    lines = [f"w{i} {' '.join(row)}\n" for i, row in enumerate(tokens)]
    vectors = _read(tmp_path, f"60 {dimension}\n" + "".join(lines))
    expected = np.array([[float(token) for token in row] for row in tokens]).astype(np.float32)
    assert np.array_equal(vectors.matrix.view(np.uint32), expected.view(np.uint32))


def test_words_of_any_kind_survive(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).normal(0, 1, (len(HARD_WORDS), 5)).astype(np.float32)
    write_vectors_text(tmp_path / "hard.vec", HARD_WORDS, matrix)
    vectors = read_vectors(tmp_path / "hard.vec", language="xx")
    assert list(vectors.words) == HARD_WORDS
    assert np.array_equal(vectors.matrix, matrix)


WORDS = st.lists(
    st.text(st.characters(blacklist_characters="\n", blacklist_categories=["Cs"]), min_size=1).filter(
        lambda word: word == word.strip(" \t\r")
    ),
    min_size=1,
    max_size=12,
    unique=True,
)


@given(WORDS, st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_any_words_survive_or_are_refused_on_writing(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], dimension: int, seed: int
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.vec"
    rng = np.random.default_rng(seed)
    matrix = (rng.normal(0, 1, (len(words), dimension)) * 10.0 ** rng.integers(-12, 12)).astype(np.float32)
    try:
        write_vectors_text(path, words, matrix)
    except Mismatch:
        assert any(" " in word or "\t" in word for word in words)
        return
    vectors = read_vectors(path, language="xx")
    assert list(vectors.words) == words
    assert np.array_equal(vectors.matrix, matrix)


def test_a_first_line_of_two_integers_is_a_header_and_nothing_else_is(tmp_path: Path) -> None:
    assert _read(tmp_path, "2 1\n3 4\n5 6\n").words == ("3", "5")
    assert _read(tmp_path, "2 0.5\n3 4\n").words == ("2", "3")
    assert _read(tmp_path, "2 3 4\n5 6 7\n").words == ("2", "5")


def test_without_a_header_the_first_lines_vote(tmp_path: Path) -> None:
    vectors = _read(tmp_path, "route 66 0.1 0.2\nthe 0.1 0.2\nof 0.3 0.4\n")
    assert vectors.words == ("route 66", "the", "of")
    assert vectors.dimension == 2


def test_the_first_of_equal_words_is_kept(tmp_path: Path) -> None:
    vectors = _read(tmp_path, "3 1\na 1\nb 2\na 3\n")
    assert (vectors.words, vectors.matrix.tolist(), vectors.repeated) == (("a", "b"), [[1], [2]], 1)


def test_case_is_kept_unless_asked(tmp_path: Path) -> None:
    content = "4 1\nthe 1\nThe 2\nÉTÉ 3\nété 4\n"
    assert _read(tmp_path, content).words == ("the", "The", "ÉTÉ", "été")
    lower = _read(tmp_path, content, lowercase=True)
    assert (lower.words, lower.matrix.tolist(), lower.repeated) == (("the", "été"), [[1], [3]], 2)


def test_max_vocab_counts_the_words_kept_and_reads_no_further(tmp_path: Path) -> None:
    content = "9 1\na 1\nA 2\nb 3\nc broken\n"
    assert _read(tmp_path, content, max_vocab=2).words == ("a", "A")
    lower = _read(tmp_path, content, max_vocab=2, lowercase=True)
    assert (lower.words, lower.repeated) == (("a", "b"), 1)
    _refused(tmp_path, content, "expected 9 words of 1 numbers as line 1 says, got 4", max_vocab=4)


def test_lower_case_by_the_rules_of_the_language(tmp_path: Path) -> None:
    path = tmp_path / "tr.vec"
    path.write_text("3 1\nI 1\n\u0131 2\n\u0130Y\u0130 3\n", encoding="utf-8")
    assert read_vectors(path, language="tr", lowercase=True).words == ("\u0131", "iyi")


@pytest.mark.parametrize("wrong", [0, -1])
def test_max_vocab_below_one_is_a_bad_setting(tmp_path: Path, wrong: int) -> None:
    with pytest.raises(BadSetting, match=f"max_vocab must be at least 1.*got {wrong}"):
        _read(tmp_path, "a 1\n", max_vocab=wrong)


def test_some_zero_rows_are_fine_and_all_are_not(tmp_path: Path) -> None:
    assert _read(tmp_path, "a 0 0\nb 1 0\n").matrix.tolist() == [[0, 0], [1, 0]]
    _refused(tmp_path, "a 0 0\nb 0.0 -0\n", "got only zeros")


GOOD = "the 0.1 0.2 0.3\n"


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (
            "2 3\n" + GOOD + "cat 0.1 0.2\n",
            ["vec:3: expected 3 numbers after the word, got 2 (word 'cat')", "incomplete"],
        ),
        ("2 3\n" + GOOD + "cat\n", ["vec:3: expected 3 numbers after the word, got 0 (word 'cat')"]),
        (
            "2 3\n" + GOOD + "cat 0.1 0.2 0.3 0.4\n",
            ["vec:3: expected 3 numbers after the word, got 4 (word 'cat')"],
        ),
        ("1 3\ncat 1 2 3 4\n", ["vec:2: expected 3 numbers after the word, got 4"]),
        (GOOD + "cat 0.1 0.2\n", ["vec:2: expected 3 numbers after the word, got 2"]),
        (
            GOOD + "cat 0.1 0.2 0.3the 0.1 0.2 0.3\n",
            ["vec:2: expected 3 numbers after the word, got 5 (word 'cat')"],
        ),
        ("2 3\n" + GOOD + " 0.1 0.2 0.3\n", ["vec:3: expected a word before the 3 numbers, got none"]),
        (
            "2 3\n" + GOOD + "cat 0.1 x2 0.3\n",
            ["vec:3: expected a finite number in place 2", "got 'x2' (word 'cat')"],
        ),
        ("2 3\n" + GOOD + "cat 0.1 1_0 0.3\n", ["vec:3: expected a finite number in place 2", "got '1_0'"]),
        ("2 3\n" + GOOD + "cat 0.1 --1 0.3\n", ["vec:3: expected a finite number in place 2", "got '--1'"]),
        ("2 3\n" + GOOD + "cat nan 0.2 0.3\n", ["vec:3: expected a finite number in place 1", "got 'nan'"]),
        ("2 3\n" + GOOD + "cat 0.1 0.2 -inf\n", ["vec:3: expected a finite number in place 3", "got '-inf'"]),
        ("2 3\n" + GOOD + "cat 0.1 0.2 1e39\n", ["vec:3: expected a finite number in place 3", "got '1e39'"]),
        ("2 3\n" + GOOD, ["expected 2 words of 3 numbers as line 1 says, got 1", "incomplete"]),
        (
            "1 3\n" + GOOD + "cat 0.1 0.2 0.3\n",
            ["vec:3: expected the end after 1 words as line 1 says, got another line", "or correct line 1"],
        ),
        (
            "2 4\n" + GOOD + "cat 0.1 0.2 0.3\n",
            ["vec:2: expected 4 numbers after the word as line 1 says, got 3 in all of the first lines"],
        ),
        (
            "2 2\n" + GOOD + "cat 0.1 0.2 0.3\n",
            ["vec:2: expected 2 numbers after the word, got 3", "first line"],
        ),
        ("0 3\n", ["vec:1: expected at least 1 word and 1 number a word, got 0 and 3"]),
        ("3 0\na\nb\nc\n", ["vec:1: expected at least 1 word and 1 number a word, got 3 and 0"]),
        ("2 3\n", ["expected 2 words", "got 0"]),
        ("\n\n", ["vec:1: expected a word and its numbers, got only blank lines"]),
        ("hello world\n", ["vec:1: expected a word and its numbers, got 'hello world'"]),
        (
            "\x00\x01\x02\x03",
            [
                "vec:1: expected a word and its numbers",
                "give word vectors (text, word2vec or fastText .bin, ",
            ],
        ),
        ("", ["expected content, got an empty file"]),
        (
            b"2 3\n" + GOOD.encode() + b"caf\xe9 0.1 0.2 0.3\n",
            ["vec:3: expected UTF-8, got the byte 0xe9", "caf"],
        ),
        (
            b"2 3\n" + GOOD.encode() + b"new caf\xe9 0.1 0.2 0.3\n",
            ["vec:3: expected UTF-8, got the byte 0xe9"],
        ),
        (b"2 3\ncaf\xe9 0.1 0.2 0.3\n" + GOOD.encode(), ["vec:2: expected UTF-8"]),
        ("9" * 5000 + " 3\n" + GOOD, ["vec:"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: str | bytes, parts: list[str]) -> None:
    _refused(tmp_path, content, *parts)


def test_a_number_too_many_in_every_line_is_the_headers_fault(tmp_path: Path) -> None:
    # 0 and 1 among decimals: one such line alone holds a phrase, "route 66".
    lines = [f"w{i} {i % 2} 0.1 0.2\n" for i in range(30)]
    _refused(
        tmp_path, "30 2\n" + "".join(lines), "vec:2: expected 2 numbers after the word as line 1 says, got 3"
    )
    assert _read(tmp_path, "30 3\n" + "".join(lines)).words[:2] == ("w0", "w1")
    lines[3] = "plain 0.1 0.2\n"
    assert _read(tmp_path, "30 2\n" + "".join(lines)).words[:4] == ("w0 0", "w1 1", "w2 0", "plain")
    few = [f"route {i} 0.1 0.2\n" for i in range(4)]
    assert _read(tmp_path, "4 2\n" + "".join(few)).words == ("route 0", "route 1", "route 2", "route 3")


def test_what_the_header_check_would_refuse_is_not_written(tmp_path: Path) -> None:
    words = [f"page {i}" for i in range(30)]
    matrix = np.full((30, 2), 0.5, np.float32)
    with pytest.raises(Mismatch, match="got 'page 0'"):
        write_vectors_text(tmp_path / "pages.vec", words, matrix)
    words[19] = "end"
    write_vectors_text(tmp_path / "pages.vec", words, matrix)
    assert list(read_vectors(tmp_path / "pages.vec", language="xx").words) == words


def test_the_line_counts_across_blocks_and_the_first_fault_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"w{i} 0.1 0.2\n" for i in range(2000)]
    lines[1500:1800] = ["w1500 0.1\n", *["w1501 x 0.2\n"] * 299]
    for block in (50, 1000, 1 << 18):
        monkeypatch.setattr(text_module, "BLOCK", block)
        _refused(
            tmp_path, "2000 2\n" + "".join(lines), "tiny.vec:1502: ", "got 1 (word 'w1500')",
            "(300 of 2,000 words are broken, and at most one in 10 is left out)",
        )  # fmt: skip
    assert len(_read(tmp_path, "2000 2\n" + "".join(lines), max_vocab=1500)) == 1500


@pytest.mark.parametrize(
    "header", ["999999999999999999 3", "3 999999999999999999", "999999999999999999 999999999999999999"]
)
def test_a_lying_header_takes_no_memory(tmp_path: Path, header: str) -> None:
    tracemalloc.start()
    _refused(tmp_path, f"{header}\n" + GOOD * 2, "expected")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_a_file_without_lines_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tiny.vec"
    path.write_text("a " + "0.5 " * (text_module.BLOCK // 2))
    monkeypatch.setattr(text_module, "LONGEST_LINE", text_module.BLOCK)
    with pytest.raises(BadFile, match="bytes without an end of line"):
        read_vectors(path, language="xx")


def test_a_line_longer_than_a_block_is_read(tmp_path: Path) -> None:
    row = np.random.default_rng(0).normal(0, 1, 150_000).round(4)
    line = " ".join(f"{x:.4f}" for x in row)
    assert len(line) > 4 * text_module.BLOCK
    vectors = _read(tmp_path, f"a {line}\nb {line}\n")
    assert np.array_equal(vectors.matrix, np.array([row, row], np.float32))


def test_memory_is_the_matrix_and_little_more(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).normal(0, 1, (20_000, 60)).astype(np.float32)
    write_vectors_text(tmp_path / "big.vec", [f"w{i}" for i in range(len(matrix))], matrix, decimals=5)
    tracemalloc.start()
    vectors = read_vectors(tmp_path / "big.vec", language="xx")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert vectors.matrix.nbytes == matrix.nbytes
    assert peak < 2 * matrix.nbytes + 12e6  # the room guessed for a header, the words, and some blocks


def test_the_matrix_grows_where_the_guess_was_low(tmp_path: Path) -> None:
    long, short = "w" * 5000, [f"w{i} 1\n" for i in range(3000)]
    content = "".join(f"{long}{i} 1\n" for i in range(20)) + "".join(short)
    vectors = _read(tmp_path, content)
    assert vectors.matrix.shape == (3020, 1)
    assert vectors.matrix.flags.owndata and vectors.matrix.flags.c_contiguous


def test_a_line_that_is_no_word_for_most_of_its_length(tmp_path: Path) -> None:
    (tmp_path / "x.vec").write_text("the 0.1 0.2\nnew" + " york" * (1 << 14) + " 0.3 0.4\n")
    with pytest.raises(
        BadFile, match=r"x\.vec:2: expected 2 numbers after the word, got 81923 bytes before them"
    ):
        read_vectors(tmp_path / "x.vec", language="en")


def test_lines_that_begin_with_a_space_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "".join(f" w{number} 0.5 {number}\n" for number in range(100))
    singly = list[bytes]()
    monkeypatch.setattr(text_module, "read_line", lambda line, where: singly.append(line))
    found = _read(tmp_path, content)
    assert found.words == tuple(f"w{number}" for number in range(100))
    np.testing.assert_array_equal(found.matrix, [[0.5, number] for number in range(100)])
    assert singly == []


def test_what_all_lines_have_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [f"w{place} 0.5 {place / 8}" for place in range(6)]
    for first in (0, 1):
        content = "\n".join(f"{place} {row}" for place, row in enumerate(rows, first))
        assert _read(tmp_path, content).words[0] == f"{first} w0"
        assert f"every word begins with a number, as of its row, such as '{first} w0'" in caplog.messages[-1]
    assert _read(tmp_path, "\n".join(row.replace(" ", ": ", 1) for row in rows)).words[0] == "w0:"
    assert "every word ends with a colon, such as 'w0:'" in caplog.messages[-1]
    assert _read(tmp_path, "\n".join(f'"{row}'.replace(" ", '" ', 1) for row in rows)).words[0] == '"w0"'
    assert "every word is in quotation marks, such as '\"w0\"'" in caplog.messages[-1]
    caplog.clear()
    assert len(_read(tmp_path, "\n".join([*rows, "7 up 1.5 2.5", "note: 1.5 2.5"]))) == 8
    assert len(_read(tmp_path, "0 a 1.5 2.5\n1 b 2.5 1.5\n")) == 2  # two words may be so
    assert caplog.messages == []


@pytest.mark.parametrize("begin", ["", "5 3\n", "5 2\n"])
@pytest.mark.parametrize("counts", [(90, 40, 7, 7, 0), (1, 2, 3, 4, 5)])
def test_counts_between_words_and_numbers_are_named(tmp_path: Path, begin: str, counts: list[int]) -> None:
    content = begin + "".join(f"w{place} {count} 0.5 -1e-3\n" for place, count in enumerate(counts))
    with pytest.raises(
        BadFile, match=r"tiny.vec: expected the numbers of a vector .* got a count or rank .*second"
    ):
        _read(tmp_path, content)


@pytest.mark.parametrize("first", ["1", "0", "7", "0.5"])
def test_whole_numbers_of_vectors_are_no_counts(tmp_path: Path, first: str) -> None:
    content = "".join(f"w{place} {first} 0.5 {place}.5\n" for place in range(6))
    assert _read(tmp_path, content).matrix.shape == (6, 3)
    content = "".join(f"w{place} {place} 2 3\n" for place in range(6))
    assert _read(tmp_path, content).matrix.shape == (6, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("roi 0,5 1,5\nreine 0,1 -2,5\n", "got 'roi 0,5 1,5'; write numbers with a decimal point"),
        ("word,d1,d2\nroi,0.5,1.5\n", "commas between the columns: put spaces in their place"),
        ("source\ttarget\tscore\trank\nroi\tking\t0.5\t1\nmer\tsea\t0.5\t1\n", "give it as --dictionary"),
    ],
)
def test_text_that_other_programs_lay_out_otherwise(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        _read(tmp_path, content)


Floats = NDArray[np.float32]


def _decimals(tokens: list[str]) -> tuple[Floats, NDArray[np.bool_]]:
    """The values and the oddness of tokens, each between two spaces."""
    lengths = np.array([len(token) for token in tokens])
    ends = MARGIN + np.cumsum(lengths + 1)
    block = (" " + " ".join(tokens) + "\n").encode()
    return plain_numbers(with_margins(block), ends - lengths, ends)


def _assert_same_bits(values: Floats, tokens: list[str]) -> None:
    expected = np.array([float(token) for token in tokens]).astype(np.float32)
    assert np.array_equal(values.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("decimals", range(15))
def test_every_number_of_decimals_gives_the_bits_of_float(decimals: int) -> None:
    rng = np.random.default_rng(decimals)
    numbers = np.concatenate([rng.uniform(-9.9, 9.9, 3000), rng.normal(0, 10.0 ** -rng.integers(0, 9, 3000))])
    tokens = [f"{x:.{decimals}f}" for x in numbers if abs(x) < 9.4]
    tokens = [token if "." in token else token + "." for token in tokens]
    values, odd = _decimals(tokens)
    assert not odd.any()
    _assert_same_bits(values, tokens)


@pytest.mark.parametrize("form", ["%.5g", "%.9g", "%.17g", "%r", "%d", "%.3e"])
def test_forms_of_mixed_length_are_right_or_odd(form: str) -> None:
    rng = np.random.default_rng(7)
    tokens = [form % x for x in (rng.normal(0, 0.3, 5000) * 10.0 ** rng.integers(-6, 3, 5000)).tolist()]
    values, odd = _decimals(tokens)
    plain = np.flatnonzero(~odd)
    _assert_same_bits(values[plain], [tokens[i] for i in plain])


def test_halfway_cases_round_once() -> None:
    # Numbers whose digits lie next to the middle of two float32: where rounding twice would show.
    rng = np.random.default_rng(3)
    low = rng.uniform(0.01, 9, 4000).astype(np.float32)
    middle = (low.astype(np.float64) + np.nextafter(low, np.float32(10)).astype(np.float64)) / 2
    tokens = [f"{x:.14f}" for x in middle]
    values, odd = _decimals(tokens)
    assert not odd.any()
    _assert_same_bits(values, tokens)


@given(st.lists(st.floats(-9.5, 9.5), min_size=1, max_size=40), st.integers(1, 14))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_floats_in_fixed_point(numbers: list[float], decimals: int) -> None:
    tokens = [f"{x:.{decimals}f}" for x in numbers]
    values, odd = _decimals(tokens)
    plain = np.flatnonzero(~odd)
    assert all(abs(float(tokens[i])) >= 10 for i in np.flatnonzero(odd))
    _assert_same_bits(values[plain], [tokens[i] for i in plain])


@given(st.lists(st.text("0123456789.-+e/:xX", min_size=1, max_size=20), min_size=1, max_size=30))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_what_is_taken_for_plain_is_a_number(tokens: list[str]) -> None:
    values, odd = _decimals(tokens)
    plain = np.flatnonzero(~odd)
    _assert_same_bits(values[plain], [tokens[i] for i in plain])


@pytest.mark.parametrize(
    "token",
    ["1", "12.5", ".5", "-.5", "+0.5", "1e-5", "0.1e5", "nan", "inf", "0.12a4", "0.1-2", "-", "", "0..1"],
)
def test_other_forms_are_odd(token: str) -> None:
    _, odd = _decimals(["0.25", token, "0.5"])
    assert odd.tolist() == [False, True, False]


def test_the_zero_keeps_its_sign() -> None:
    values, _ = _decimals(["-0.00000", "0.00000"])
    assert np.signbit(values).tolist() == [True, False]
