"""Tokens: what is kept whole, what is parted, and that a line comes back."""

import unicodedata

import pytest

from muse.text.tokens import Tokeniser, closed_up

SAMPLES = {
    "en": [
        ("Mr. Smith isn't here, is he?", ["Mr.", "Smith", "is", "not", "here", ",", "is", "he", "?"]),
        ("I'm at 12:45, 3.5 km.", ["I", "am", "at", "12:45", ",", "3.5", "km", "."]),
        ("It's Tom's, won't he?", ["It", "is", "Tom", "'s", ",", "will", "not", "he", "?"]),
        ("We're sure they've", ["We", "are", "sure", "they", "have"]),
        ("You'll; I shan't.", ["You", "will", ";", "I", "shall", "not", "."]),
        ("See http://a.org/b?c=1 or a.b@c.org!", ["See", "http://a.org/b?c=1", "or", "a.b@c.org", "!"]),
    ],
    "fr": [
        ("Qu\u2019est-ce que c'est ?", ["Qu'", "est", "ce", "que", "c'", "est", "?"]),
        ("Peut-être viendra-t-il\u202f!", ["Peut-être", "viendra", "il", "!"]),
        ("Une\u00a0: «\u00a0l'eau\u00a0»", ["Une", ":", "«", "l'", "eau", "»"]),
    ],
    "yo": [("Ọjọ́ dára, (ẹ̀kọ́) ṣe.", ["Ọjọ́", "dára", ",", "(", "ẹ̀kọ́", ")", "ṣe", "."])],
    "fa": [("می\u200cخواهم، «کتاب\u200cها»", ["می\u200cخواهم", "،", "«", "کتاب\u200cها", "»"])],
    "si": [("ශ්\u200dරී ලංකාව.", ["ශ්\u200dරී", "ලංකාව", "."])],
    "my": [("မြန်မာ စကား။", ["မြန်မာ", "စကား", "။"])],
    "xx": [("Don't l'eau 1/2.", ["Don't", "l'eau", "1/2", "."])],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "line", "expected"), [(k, *v) for k, all_ in SAMPLES.items() for v in all_]
)
def test_tokens(language: str, line: str, expected: list[str]) -> None:
    assert Tokeniser(language).tokens(line) == expected


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", '"Well," he said (at 3:30), "it is 5% of $1,000 - or 2/3."'),
        ("fr", "L'homme, qu'il a vu à 12:45, dit : « J'ai 3,5 kg ! »"),
        ("de", "Wie geht's? Das sind 3,5 Mio. Euro, oder?"),
        ("ru", "Привет, мир! Это — тест 5%."),
        ("ru", "Он сказал: «Привет, мир!» — и ушёл."),
        ("de", "Er sagte: „Hallo“, dann »Tschüss«."),
        ("en", "He said, “Hello, ‘you’,” and ‘bye’."),
        ("fr", "Il dit : « Bonjour », puis “salut”."),
        ("sv", "Han sa: ”Hej”."),
        ("hy", "Բարեւ, աշխարհ։"),
        ("hi", "हिन्दी, क़लम।"),
        ("yo", "Ọjọ́ dára, ẹ̀kọ́ ṣe."),
        ("ar", "نعم، لا؟"),
        ("fra_Latn", "L'eau d'aujourd'hui, c'est tout."),
        ("java-api", "Don't use it, please."),
    ],
)
def test_a_line_comes_back(language: str, line: str) -> None:
    tokeniser = Tokeniser(language)
    assert tokeniser.text(tokeniser.tokens(line)) == line


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "the end of it. ” he said. “ And"), ("en", "a 12 ” monitor"), ("ru", "конец » — сказал « он"),
        ("it", "fine » disse lui"), ("de", "Er sagte: „ Ja"), ("en", "the boys ’ dogs"),
    ],
)  # fmt: skip
def test_a_quotation_mark_without_a_counterpart_keeps_its_spaces(language: str, line: str) -> None:
    assert closed_up(line, language) == line


@pytest.mark.parametrize("line", ["", "   ", "\t\u2028 \u00a0"])
def test_nothing(line: str) -> None:
    tokeniser = Tokeniser("fr")
    assert tokeniser.tokens(line) == []
    assert tokeniser.text([]) == ""


def test_a_word_is_the_same_token_wherever_it_stands() -> None:
    # Lines are tokenised by their parts, which Moses must treat as it treats the whole.
    from sacremoses import MosesTokenizer

    for line in ('He said: "no", (then) left; didn\'t he?', "A.B. has 5,000 x-rays...", "etc., and so on"):
        whole = MosesTokenizer("en").tokenize(line.replace("didn't", "did not"), escape=False)
        assert Tokeniser("en").tokens(line) == whole


FULL_STOPS = [
    ("en", "Mr. Smith left. he said no. Then No. 5 came. 7 left."),
    ("en", "See p. 12 etc. and more. (Really.) Yes. U.S. troops."),
    ("en", "We can't. Isn't it. ... and ...so. A.B. is. x. Y"),
    ("de", "Am 3. Mai kam Dr. Weiß. er ging. Das war z.B. so. Ende."),
    ("fr", "M. Dupont part. Il l'a vu. etc. ou non. S. A. R. Fin"),
]


@pytest.mark.parametrize(("language", "line"), FULL_STOPS)
def test_full_stops_within_a_line_are_as_moses_has_them(language: str, line: str) -> None:
    from sacremoses import MosesTokenizer

    written_out = line.replace("can't", "can not").replace("Isn't", "Is not")
    expected = MosesTokenizer(language).tokenize(written_out, escape=False)
    assert Tokeniser(language).tokens(line) == expected


def test_a_contraction_keeps_its_capitals() -> None:
    tokens = Tokeniser("en").tokens
    assert tokens("Can't stop. I'm HERE, it's I.")[:5] == ["Can", "not", "stop", ".", "I"]
    assert tokens("I'M HERE. IT'S I, DON'T!") == "I AM HERE . IT IS I , DO NOT !".split()
    assert Tokeniser("fr").tokens("VIENS-TU ?") == ["VIENS", "TU", "?"]


@pytest.mark.parametrize("line", ["L'été dernier, à Noël.", "Привет, мой друг"])
def test_letters_with_accents_apart_are_composed(line: str) -> None:
    apart = unicodedata.normalize("NFD", line)
    assert apart != line
    assert Tokeniser("fr").tokens(apart) == Tokeniser("fr").tokens(line)


def test_a_cache_that_overflows_forgets_and_gives_the_same_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "One two, three. One two, three."
    expected = Tokeniser("en").tokens(line)
    monkeypatch.setattr("muse.text.tokens._REMEMBERED", 2)
    small = Tokeniser("en")
    assert small.tokens(line) == expected
    assert len(small._parts) <= 2


@pytest.mark.parametrize(
    "word",
    ["chat", "chat,", "Mr.", "no.", "été;", "Straße!", "word?", "кот:", "A.", "etc.", "don", "ﬁn,", "x"],
)
@pytest.mark.parametrize("language", ["en", "fr", "de", "xx"])
def test_plain_words_are_as_moses_has_them(language: str, word: str) -> None:
    from sacremoses import MosesTokenizer

    assert Tokeniser(language).tokens(word) == MosesTokenizer(language).tokenize(word, escape=False)


def test_more_protected_numbers_than_moses_takes() -> None:
    # Moses refuses a text with over 1,000 of them, and takes time that grows with their square.
    assert Tokeniser("en").tokens("12:45. " * 5_000) == ["12:45", "."] * 5_000


def test_a_part_too_long_to_be_a_word_is_one_token() -> None:
    long = "a." * 50_000
    assert Tokeniser("en").tokens(f"x {long} y") == ["x", long, "y"]


@pytest.mark.parametrize("language", ["fr", "en", "de", "zh", "ja", "th", "xx"])
@pytest.mark.parametrize("word", ["maison", "l'eau", "今天", "กา", "12:45"])
def test_what_is_no_sign_of_any_language_is_dropped_from_a_word(language: str, word: str) -> None:
    tokeniser = Tokeniser(language)
    for sign in "\0\x01\x1b\x7f\ufeff":
        assert tokeniser.tokens(f"{word[:1]}{sign}{word[1:]}") == tokeniser.tokens(word)
        assert tokeniser.tokens(f"{sign}{word} {sign}") == tokeniser.tokens(word)
