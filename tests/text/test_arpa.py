"""ARPA files: what was written comes back, and everything that can be wrong with one."""

import gzip
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile
from muse.text.arpa import read_arpa, write_arpa
from muse.text.language_model import learn_language_model

SMALL = """
\\data\\
ngram 1=6
ngram 2=4
ngram 3=2

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.3
-0.7\t</s>
-0.6\tthe\t-0.4
-0.9\tcat\t-0.2
-1.1\tdog

\\2-grams:
-0.2\t<s> the\t-0.15
-0.35\tthe cat\t-0.1
-0.5\tthe dog
-0.25\tcat </s>

\\3-grams:
-0.12\t<s> the cat
-0.08\tthe cat </s>

\\end\\
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "small.arpa"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["model.arpa", "model.arpa.gz"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_what_is_written_comes_back(tmp_path: Path, name: str, order: int) -> None:
    model = learn_language_model([["l'", "été"], ["l'", "eau"], ["x\u00a0y", "\u2028"]], order=order)
    write_arpa(tmp_path / name, model)
    again = read_arpa(tmp_path / name)
    assert list(again.words) == list(model.words)
    for level, expected in zip(again.levels, model.levels, strict=True):
        assert (level.keys == expected.keys).all()
        assert np.allclose(level.log_p, expected.log_p, atol=1e-5)
        assert np.allclose(level.backoff, expected.backoff, atol=1e-5)


def test_by_hand(tmp_path: Path) -> None:
    model = read_arpa(written(tmp_path, SMALL))
    # p(dog | <s> the) is not there: backoff(<s> the) p(dog | the); </s> has no backoff after dog.
    expected = -0.2 + (-0.15 - 0.5) + -0.7
    assert model.log_probability(["the", "dog"]) / math.log(10) == pytest.approx(expected, abs=1e-6)


def test_sums_with_an_impossible_word_are_finite(tmp_path: Path) -> None:
    model = read_arpa(written(tmp_path, SMALL.replace("-99\t<s>", "-inf\t<s>")))
    as_usual = read_arpa(written(tmp_path, SMALL))
    for sentence in (["the", "dog"], ["<s>", "dog"]):
        found = model.log_probability(sentence)
        assert math.isfinite(found)
        assert found == as_usual.log_probability(sentence)


def test_a_model_without_unknown_words(tmp_path: Path) -> None:
    model = read_arpa(written(tmp_path, SMALL.replace("-1.5\t<unk>\n", "").replace("1=6", "1=5")))
    unknown = model.levels[0].log_p[model.index["<unk>"]]
    assert unknown == pytest.approx(-1.1 * math.log(10), abs=1e-5)


def replace(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


BROKEN: dict[str, tuple[Callable[[str], str], str]] = {
    "prose": (lambda _: "It was a dark night.\n" * 2000, r":1001: expected the line \\data\\"),
    "no lines": (lambda _: "\n\n", r"small.arpa:2: expected the line .* got the end of the file"),
    "KenLM's binary": (lambda _: "mmap lm http://kheafield.com/code format version 5\n", "ARPA"),
    "counts": (replace("ngram 2=4", "ngram two=4"), r":4: expected 'ngram 2=COUNT'"),
    "no counts": (replace("ngram 1=6\nngram 2=4\nngram 3=2\n", ""), r":4: expected 'ngram 1=COUNT'"),
    "too few": (replace("ngram 2=4", "ngram 2=5"), r":21: expected a log-probability, 2 words"),
    "too many": (replace("ngram 2=4", "ngram 2=3"), r":19: expected \\3-grams: after 3"),
    "cut off": (lambda text: text[:150], "small.arpa:"),
    "no end": (replace("\\end\\", ""), r"expected \\end\\ .* the end of the file"),
    "no number": (replace("-0.35\tthe", "zero\tthe"), r":17: .* got 'zero"),
    "nan": (replace("-0.35\tthe", "nan\tthe"), r":17: expected a log-probability"),
    "infinite weight": (replace("the cat\t-0.1", "the cat\tinf"), r":17: expected a log-probability"),
    "a probability above 1": (replace("-0.35\tthe", "0.35\tthe"), r":17: expected a log-probability"),
    "too many words": (replace("the cat\t-0.1", "the cat\t-0.1 dog"), r":17: expected a log-probability"),
    "two lines with too few words": (
        replace("the dog\n-0.25\tcat </s>", "dog\n-0.25\tcat"),
        r":18: expected a log-probability, 2 words",
    ),
    "one line with too few words": (
        replace("the dog\n", "dog\n"),
        r":18: expected a log-probability, 2 words",
    ),
    "a line without words": (replace("\tdog\n\n", "\n\n"), r":13: expected a log-probability, 1 words"),
    "an unknown word": (replace("the cat\t-0.1", "the cow\t-0.1"), r":17: expected a number, 2 known"),
    "twice": (replace("the dog\n-0.25", "the cat\n-0.25"), "no duplicate n-grams"),
    "a word twice": (replace("-1.1\tdog", "-1.1\tcat"), r":18: .* 2 known words"),
    "no first words": (replace("the cat </s>", "dog cat </s>"), "the prefix of every n-gram"),
    "no <s>": (replace("-99\t<s>\t-0.3", "-99\ts\t-0.3"), "small.arpa"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_files(tmp_path: Path, fault: str) -> None:
    change, message = BROKEN[fault]
    with pytest.raises(BadFile, match=message):
        read_arpa(written(tmp_path, change(SMALL)))


def test_other_broken_files(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="it does not exist"):
        read_arpa(tmp_path / "nosuch")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(SMALL.encode())[:60])
    with pytest.raises(BadFile, match="download it again"):
        read_arpa(tmp_path / "cut.gz")
    (tmp_path / "latin").write_bytes(SMALL.replace("dog", "chîen").encode("latin-1"))
    with pytest.raises(BadFile, match="expected UTF-8"):
        read_arpa(tmp_path / "latin")
    with pytest.raises(BadFile, match="latin"):
        write_arpa(tmp_path / "latin" / "x.arpa", learn_language_model([["a"]]))
