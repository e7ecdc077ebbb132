"""A glossary in text: the longest terms win, with the capitals of the text, whatever else is known."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.lexicon import Lexicon
from muse.ranking.translations import Translation, Translations
from muse.search.retrieval import Retrieval
from muse.text.language_model import learn_language_model
from muse.translate.glossary import Glossary, probable_ones, with_probable
from muse.translate.text import TextConfig, Translator
from tests.translate.test_text import toy

TERMS = (
    ("chat", "feline"), ("chat mange", "cat food"), ("US", "America"), ("Haus", "house"),
    ("le tom", "Mr tom"), ("USB 3.0", "fast bus"),
    ("l'homme à", "mankind to"), ("zzz", "sleep"), ("12 km", "7 miles"),
)  # fmt: skip


def translate(line: str, terms: Any = TERMS, *, config: dict[str, Any] | None = None, **given: Any) -> str:
    made = TextConfig(Retrieval("nn"), glossary=Lexicon(tuple(terms)), **(config or {}))
    return Translator(toy(), config=made, **given).translate([line])[0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Le chat est un chat.", "The feline is a feline."),
        ("il chat mange, chat", "he cat food, feline"),
        ("CHAT MANGE !", "CAT FOOD!"),
        ("le US, us, Us", "the America, us, Us"),  # us is a word of its own
        ("un Haus. Haus, haus", "a house. House, haus"),
        ("il est Le Tom", "he is Mr tom"),  # a name of several words would be copied
        ("un USB 3.0 à 12 km !", "a fast bus to 7 miles!"),  # and so would numbers and units
        ("L’homme à zzz", "Mankind to sleep"),
    ],
)
def test_terms_win_with_the_capitals_of_the_text(line: str, expected: str) -> None:
    assert translate(line) == expected


def test_of_terms_that_overlap_the_first_wins_and_then_the_longest() -> None:
    rng = np.random.default_rng(0)
    every = ["".join(letters) for count in (1, 2, 3) for letters in product("abc", repeat=count)]
    for _ in range(50):
        terms = {key: key.upper() for key in rng.choice(every, 6, replace=False).tolist()}
        made = Glossary(Lexicon(tuple((" ".join(key), to) for key, to in terms.items())), "fr")
        text = "".join(rng.choice(list("abc"), 12))
        place, found, expected = 0, [], []
        while place < len(text):
            term = made.at(text, place)
            found.append(term.translations)
            longest = max((key for key in terms if text.startswith(key, place)), key=len, default="")
            expected.append((terms[longest],) if longest else ())
            assert term.tokens == max(1, len(longest))
            place += term.tokens
        assert found == expected


def test_a_language_model_and_a_phrase_table_choose_among_the_translations_of_a_term_alone() -> None:
    model = learn_language_model([["the", "kitten", "eats"]] * 9 + [["the", "puss", "eats"]] * 2, order=2)
    phrases = {"le chat": [("the kitten", 1.0)], "chat": [("kitten", 1.0)]}
    config = {"weight": 5.0}
    both = (("chat", "feline"), ("chat", "puss"))
    assert (
        translate("le chat mange", both[:1], model=model, phrases=phrases, config=config) == "the feline eats"
    )
    assert translate("le chat mange", both, model=model, config=config) == "the puss eats"
    assert translate("le chat mange", both) == "the feline eats"


def test_letters_without_spaces_are_a_term_however_they_are_segmented() -> None:
    made = Glossary(Lexicon((("人工智能", "AI"),)), "zh")
    for tokens in (["人工智能"], ["人工", "智能"], ["人", "工智", "能"]):
        assert made.at([*tokens, "好"], 0) == (len(tokens), ("AI",), True)
    assert made.at(["人工智", "能力"], 0).translations == ()


def test_a_doubtful_word_is_left_as_it_is_and_counted() -> None:
    phrases = {"chat": [("cat", 0.6), ("puss", 0.4)], "un homme": [("a man", 0.5)], "mange": [("eats", 1.0)]}
    for least, expected, doubtful in (
        (0.5, "A cat, a man.", 0), (0.55, "A cat, un homme.", 1), (0.7, "A chat, un homme.", 2),
    ):  # fmt: skip
        config = TextConfig(Retrieval("nn"), min_probability=least, glossary=Lexicon((("zz", "a"),)))
        translator = Translator(toy(), phrases=phrases, config=config)
        assert translator.translate(["Zz chat, un homme."]) == [expected]
        assert (translator.counts.doubtful, translator.counts.terms) == (doubtful, 1)
        assert translator.counts.copied == doubtful
    with pytest.raises(BadSetting, match="needs probabilities, got none: they need CSLS"):
        translator.translate(["le chat"])


def test_words_lose_what_is_doubtful_and_have_the_terms_first() -> None:
    found = Translations("chat", "chat", [Translation("cat", 0.4, 0.8), Translation("feline", 0.2, 0.3)])
    assert [one.target for one in with_probable(found, 0.5)] == ["cat"]
    assert with_probable(found, 0.9).reason.startswith(
        "no translation has a probability of 0.9 (best: cat 0.400"
    )
    assert probable_ones(found, 0) == list(found)
    preferred = Glossary(Lexicon(TERMS), "fr").preferred(found)
    assert [(one.target, one.probability, one.rank) for one in preferred] == [
        ("feline", 1, 1),
        ("cat", 0.8, 2),
    ]
    unknown = Glossary(Lexicon(TERMS), "fr").preferred(Translations("ZZZ", None))
    assert (unknown.form, unknown[0].target) == ("ZZZ", "sleep")
