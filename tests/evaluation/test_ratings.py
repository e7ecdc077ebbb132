"""Rated pairs as people have them: two texts and a number, in whatever columns."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, Mismatch
from muse.evaluation.ratings import RATED, evaluate_similarity, read_rated, read_rated_words
from tests.support.spaces import plain_space

PAIRS = [
    ("A man, he plays.", "A man is playing.", 4.5),
    ("Two dogs run.", "A cat.", 0.0),
    ("Snow.", "It snows.", 5.0),
]
Line = Callable[[int, str, str, float], list[object]]
COLUMNS: Mapping[str, Line] = {
    "as documented": lambda n, a, b, r: [a, b, r],
    "the rating before": lambda n, a, b, r: [r, a, b],
    "two ratings": lambda n, a, b, r: [a, b, r, r],
    "ids before": lambda n, a, b, r: [n, f"pair-{n}", a, b, r],
    "the STS benchmark": lambda n, a, b, r: ["main-captions", "MSRvid", "2012test", f"{n + 1:04}", r, a, b],
    "a rating between": lambda n, a, b, r: [a, r, b],
}


@pytest.mark.parametrize("between", "\t,;")
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_rated_sentences_by_what_the_columns_hold(tmp_path: Path, columns: Line, between: str) -> None:
    rows = [[str(cell) for cell in columns(n, *pair)] for n, pair in enumerate(PAIRS)]
    quoted = [[f'"{cell}"' if between in cell else cell for cell in row] for row in rows]
    text = "".join(f"{between.join(row)}\n" for row in quoted)
    named = [f"Spalte {place}" for place in range(len(rows[0]))]
    crlf = f"\ufeff{text}".replace("\n", "\r\n")
    for name, content in (("x.csv", text), ("x.txt", crlf), ("x.tsv", f"{between.join(named)}\n{text}")):
        (tmp_path / name).write_text(content, newline="")
        assert [*zip(*read_rated(tmp_path / name), strict=True)] == PAIRS


def test_ratings_that_are_missing_are_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [*PAIRS[:2], ("x", "y", ""), ("v", "w", "N/A"), PAIRS[2]]
    (tmp_path / "x").write_text("".join(f"{a}\t{b}\t{r}\n" for a, b, r in rows))
    assert [*zip(*read_rated(tmp_path / "x"), strict=True)] == PAIRS
    assert f"left out 2 rows without a rating, the first is {tmp_path / 'x'}:3" in caplog.text
    objects = [
        {"id": n, "score": r or None, "sentence2": b, "sentence1": a} for n, (a, b, r) in enumerate(rows)
    ]
    objects[1]["score"], objects[3] = 0, {"sentence1": "v", "sentence2": "w"}
    (tmp_path / "x").write_text("".join(f"{json.dumps(one)}\n" for one in objects))
    assert [*zip(*read_rated(tmp_path / "x"), strict=True)] == PAIRS


WORDS = {
    "MUSE": "king\tqueen\t8.58\nday\tnight\t5,5\n",
    "WordSim-353": "Word 1,Word 2,Human (mean)\nking,queen,8.58\nday,night,5.5\n",
    "SimLex-999": "word1\tword2\tPOS\tSimLex999\tconc(w1)\nking\tqueen\tN\t8.58\t4\nday\tnight\tN\t5.5\t3\n",
    "MEN": "king queen 8.58\nday night 5.5\n",
    "RG-65": "king;queen;8.58\nday;night;5.5\n",
    "names of one's own": "Wort A;Wort B;Ø\nking;queen;8,58\nday;night;5,5\n",
    "twice": "king\tqueen\t8.58\nday\tnight\t5.5\nking\tqueen\t3\n",
    "swapped": "8.58 king queen\n5.5 day night\n",
}


@pytest.mark.parametrize("kind", WORDS)
def test_rated_words(tmp_path: Path, kind: str) -> None:
    space = plain_space(
        np.eye(4, dtype=np.float32),
        np.eye(4, dtype=np.float32),
        ["king", "day", "a", "b"],
        ["queen", "night", "c", "d"],
    )
    (tmp_path / "x").write_text(WORDS[kind])
    for languages in (("fr", "en"), ("fr", "fr")):
        found = read_rated_words(tmp_path / "x", space, languages)
        assert (found.pairs, found.scores) == ((("king", "queen"), ("day", "night")), (8.58, 5.5))
    found = read_rated_words(tmp_path / "x", space, ("en", "fr"))
    assert found.pairs == (("queen", "king"), ("night", "day"))


def test_similarity_within_a_language(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    words = [f"w{letter}" for letter in "abcdefghijkl"]
    space = plain_space(rows, rows[::-1].copy(), words, [*words[:4], *(word.upper() for word in words[4:])])
    pairs = [(words[i], words[j], float(rows[i] @ rows[j])) for i in range(4) for j in range(4, 12)]
    pairs += [(words[0], words[3], 0.5)]
    (tmp_path / "x").write_text("".join(f"{a},{b},{r}\n" for a, b, r in pairs))
    rated = read_rated_words(tmp_path / "x", space, ("fr", "fr"))
    score = evaluate_similarity(space, rated, rng=np.random.default_rng(0), source="fr", target="fr")
    assert (score.covered, score.signature.direction) == (33, "fr-fr")
    assert score.spearman > 0.9
    with pytest.raises(Mismatch, match="its words are of one language: give --src fr --tgt fr"):
        evaluate_similarity(space, rated, rng=np.random.default_rng(0))


WRONG = {
    "no ratings": (
        "a b\tc d\ne f\tg h\n",
        ":1: expected 3 columns, sentence, second sentence, rating, got 2",
    ),
    "three texts": (
        "a b\tc d\te f\t3\n",
        ":1: expected 3 columns, .* got 4 .* name the columns in a first row",
    ),
    "a rating out of words": (
        "a b\tc d\t3\na b\tc d\tfour\n",
        ":2: expected a number as the rating, got 'four'",
    ),
    "none rated": ("sentence1\tsentence2\tscore\na\tb\t\n", "got 1 row without a rating"),
    "a memory": ("<tmx version='1'><body/></tmx>", "expected a table .* got a translation memory"),
    "a dictionary of lists": ('{"a": 1, "b": 2}\n', ":1: expected 3 columns"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_has_no_ratings(tmp_path: Path, kind: str) -> None:
    text, message = WRONG[kind]
    (tmp_path / "x").write_text(text)
    with pytest.raises(BadFile, match=message):
        read_rated(tmp_path / "x", RATED)
