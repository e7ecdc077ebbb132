"""The time of a line grows with its length, whatever sign it repeats: growth is measured, not seconds."""

import gc
import string
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from muse.text.segmentation import Segmenter
from muse.text.tokens import Tokeniser, closed_up
from muse.text.written import TranslatedToken, joined_line, written_tokens
from tests.support.growth import is_linear

QUOTES = "“”„‘’‚«»‹›"
APOSTROPHES = ["'", "l'", "'s", "n't", "-il", "'a ", "a' "]
SIGNS = [
    *(string.punctuation + QUOTES + "¡¿…—–·•°²€§،؛؟۔।။។、。「」《》（），！：？"),
    *("\u200c\u200d\ufe0f\u0301\u200b\u00ad\ufeff😀🏽🇫日あアก가𠀀Σ\x00\x1b\x85\x1c\u2028\ufdd0٣1aAเ"),
    *("<a ", "<a", "</a>", "<a>", "<!--", "<!-- ", "-->", '="', "<a b=", '<a b="', "{{", "}}", "%(", "%d"),
    *("\\\\", "c:\\", "a/", "/a", "./", "..", "--", "a_", "a.b", "a@", "@a", "#a", "http://", "http://!"),
    *("www.!", "1,", "1.", "1:", "a=", "a.txt/", "&a;", "R&", ":-)", "n°", "C++", *APOSTROPHES),
]
SHAPES = ("{}", "{} ", "a{} b ")


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """The garbage collector pauses for longer the more other tests have left."""
    gc.disable()
    yield
    gc.enable()


def there_and_back(language: str) -> Callable[[str], object]:
    """A line to tokens and back, in every way there is."""
    tokeniser = Tokeniser(language, {"学", "日本", "しま", "เก"})
    tokeniser.tokens("Warm up: it's 2, <b>été</b> 日本. ไทย")  # compiles the patterns
    tokeniser.text(["a", ",", "b"])

    def run(line: str) -> None:
        tokeniser.tokens(line)
        found = written_tokens(tokeniser, line)
        tokeniser.text([token.text for token in found])
        joined_line([TranslatedToken(one.written, one, i % 2 == 0) for i, one in enumerate(found)], tokeniser)

    return run


@pytest.mark.parametrize("quote", QUOTES)
def test_quotation_marks_that_nothing_closes(quote: str) -> None:
    for language in ("en", "de"):

        def run(line: str, language: str = language) -> None:
            closed_up([(line, "")], language)

        assert is_linear(run, f"{quote} ", 2_000)


def test_a_line_of_spaces_that_are_none_of_ascii() -> None:
    for space in "\x85\x1c\u2028":
        assert is_linear(partial(written_tokens, Tokeniser("fr")), space, 2_000)


def test_words_that_no_vocabulary_has() -> None:
    judge = Segmenter("zh", {"学", "日本"})
    for run in ("学", "日本学", "字", "𠀀"):
        assert is_linear(judge.words, run, 100)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["fr", "en", "de", "zh", "th", "ja"])
def test_every_sign_many_times(language: str) -> None:
    run = there_and_back(language)
    of_language = {"fr": SIGNS, "en": [*APOSTROPHES, *QUOTES], "de": [*APOSTROPHES, *QUOTES]}
    signs = of_language.get(language, [sign for sign in SIGNS if not sign.isascii()])
    slow = [text for sign in signs for shape in SHAPES if not is_linear(run, text := shape.format(sign), 100)]
    assert not slow
