"""Running text: what is kept, what is copied, what the language model changes, by a beam."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from muse.errors import BadSetting
from muse.evaluation.translation import quality
from muse.ranking.ranker import Ranker
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.new_words import NewWords, WordVectors
from muse.text.language_model import LanguageModel, learn_language_model
from muse.translate.text import Options, TextConfig, Translator, best_path
from muse.vectors import Matrix
from tests.support.spaces import plain_space

PAIRS = {
    "le": "the", "l": "the", "chat": "cat", "mange": "eats", "il": "he", "est": "is", "un": "a",
    "week": "week", "end": "end", "homme": "man", "je": "i", "tom": "thomas", "d": "of", "à": "to",
    "aujourd": "day", "hui": "today",
}  # fmt: skip
EXTRA = ["tom", "kitten"]  # English words that no French word is for


def toy(noise: float = 0.0) -> Space:
    """A space in which every French word lies on its translation."""
    english = list(dict.fromkeys([*PAIRS.values(), *EXTRA]))
    rows = np.eye(len(english), dtype=np.float32)
    rows[english.index("kitten"), english.index("cat")] = noise
    french = np.stack([rows[english.index(word)] for word in PAIRS.values()])
    return plain_space(french, rows, list(PAIRS), english)


def translate(line: str, **options: object) -> str:
    config = TextConfig(Retrieval("nn"))
    return Translator(toy(), config=config, **options).translate([line])[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Le chat mange.", "The cat eats."),
        ("LE CHAT MANGE !", "THE CAT EATS!"),
        ("L'homme est à Zanzibar, 3,5 km.", "The man is to Zanzibar, 3,5 km."),
        ("Il mange. Le chat est...", "He eats. The cat is..."),
        ("Il mange? Tom est… Tom mange... Tom", "He eats? Thomas is… Thomas eats... Thomas"),
        ("il mange aujourd'hui", "he eats today"),
        ("le tom homme, à Tom Homme", "the thomas man, to Tom Homme"),
        ("je", "I"),
        ("le week-end", "the week-end"),
        ("un chat-huant", "a chat-huant"),
        ("Le Chat", "The Cat"),
        ("il mange le Chat Homme", "he eats the Chat Homme"),
        ("un homme, 12 d", "a man, 12 of"),
        ("un homme, 12 min", "a man, 12 min"),
        ("il est Tom", "he is Tom"),
        ("TOM", "THOMAS"),
        ("\u00ab Il est à 12:45 \u00bb (un chat).", "\u00abHe is to 12:45\u00bb (a cat)."),
        ("", ""),
        ("  ", "  "),
        ("?", "?"),
        ("zzz YYY Xxx", "zzz YYY Xxx"),
    ],
)
def test_what_is_kept(line: str, expected: str) -> None:
    assert translate(line) == expected


def test_a_line_for_a_line_and_the_counts() -> None:
    translator = Translator(toy(), config=TextConfig(Retrieval("nn")))
    assert translator.translate(["le chat", "", "il zzz 3 !"]) == ["the cat", "", "he zzz 3!"]
    assert (translator.counts.words, translator.counts.copied) == (4, 1)


@pytest.mark.parametrize("method", ["csls", "nn", "isf"])
def test_the_language_model_chooses_among_the_nearest(method: str) -> None:
    space = toy(noise=3.0)  # kitten is beside cat
    model = learn_language_model([["the", "kitten", "eats"]] * 5 + [["a", "cat"]] * 5, order=2)
    lines = ["Le chat mange.", "Un chat."]
    weights: list[tuple[float, list[str]]] = [
        (0.0, ["The cat eats.", "A cat."]),
        (0.3, ["The kitten eats.", "A cat."]),
    ]
    for weight, expected in weights:
        config = TextConfig(Retrieval(method), top=2, weight=weight)
        assert Translator(space, model=model, config=config).translate(lines) == expected


class Vowels:
    """Vectors of any string: that of le if it begins with a vowel, else that of chat."""

    def __init__(self, space: Space) -> None:
        self.rows, self.index = space.vectors("fr").matrix, space.vectors("fr").index
        self.asked: list[str] = []

    def __call__(self, words: Sequence[str]) -> Matrix:
        self.asked += words
        return self.rows[[self.index["le" if word[0] in "aeiou" else "chat"] for word in words]]


def test_unknown_words_from_their_n_grams() -> None:
    space = toy()
    vowels = Vowels(space)
    new = NewWords("fr", WordVectors(Path("x.bin"), [], lambda _: True, vowels), lambda matrix: matrix)
    translator = Translator(space, new_words=new, config=TextConfig(Retrieval("nn")))
    # Zora, inside a sentence, is a name; the first word may be any.
    assert translator.translate(["Azzz zzz, le Zora est zzz-zz."]) == ["The cat, the Zora is cat."]
    assert sorted(vowels.asked) == ["azzz", "zzz", "zzz-zz"]


FOREIGN = {
    "zh": ("我=I 喜欢=like 猫=cat 和=and", {
        "我喜欢R&D和C++。": "I like R&D and C++。",
        "“猫”和‘猫’": "“cat” and ‘cat’",
        "猫（猫）100%猫": "cat （cat）100% cat",
    }),
    "ja": ("猫=cat は=is の=of コーヒー=coffee", {
        "「猫」は『猫』": "「cat」 is 『cat』",
        "20%のｺｰﾋｰ": "20% of coffee",
    }),
    "ar": ("أنا=I أحب=love كتاب=book مسؤول=responsible", {
        "أَنَا أُحِبُّ كِتاب": "I love book",
        "انا احب كتـــاب، مسئول": "I love book، responsible",
        "\u200fﻛﺘﺎﺏ\u200f": "\u200fbook\u200f",
    }),
    "he": ("צה״ל=IDF כלב=dog צה=wrong ל=wrong", {'צה"ל, "כלב" ד"ר': 'IDF, "dog" ד"ר'}),
    "ru": ("ёлка=tree все=all", {"ЕЛКА, всё": "TREE, all"}),
    "fa": ("می‌خواهم=want کتاب=book", {"كتاب میخواهم": "book want"}),
    "hi": ("बिल्ली=cat", {"बिल्\u200dली": "cat"}),
    "el": ("οδός=street", {"οδόσ": "street"}),
    "de": ("Straße=street heißen=called", {
        "die Strasse heissen": "die street called", "Strasse heissen": "Street called", "HEISSEN": "CALLED",
    }),
    "fr": ("Paris=Paris est=is", {"Paris est": "Paris is", "paris est": "paris is"}),
    "es": ("cœur=heart", {"coeur, COEUR": "heart, HEART"}),
}  # fmt: skip


@pytest.mark.parametrize("language", FOREIGN)
def test_words_of_a_text_are_found_as_the_vocabulary_spells_them(language: str) -> None:
    if language in ("zh", "ja"):
        pytest.importorskip("icu4py")
    words, lines = FOREIGN[language]
    pairs = dict(pair.split("=") for pair in words.split())
    english = list(dict.fromkeys(pairs.values()))
    rows = np.eye(len(english), dtype=np.float32)
    own = rows[[english.index(word) for word in pairs.values()]]
    sides = plain_space(own, rows, list(pairs), english).sides
    foreign = replace(sides["fr"], vectors=replace(sides["fr"].vectors, language=language))
    space = Space({language: foreign, "en": sides["en"]}, "en")
    translator = Translator(space, source=language, config=TextConfig(Retrieval("nn")))
    assert translator.translate(list(lines)) == list(lines.values())


def test_settings() -> None:
    for options, message in (
        ({"top": 0}, "--top must be at least 1, got 0"),
        ({"beam": 0}, "--beam must be at least 1"),
        ({"weight": -1.0}, "--lm-weight must be a finite number, at least 0, got -1.0"),
        ({"weight": float("nan")}, "--lm-weight must be a finite number"),
    ):
        with pytest.raises(BadSetting, match=message):
            TextConfig(**options)
    with pytest.raises(BadSetting, match="are fr, en; got 'xx'"):
        Translator(toy(), source="xx")


def test_another_script_is_refused_at_the_beginning_alone() -> None:
    translator = Translator(toy())
    with pytest.raises(BadSetting, match="Latin script, got text in Cyrillic"):
        translator.translate(["", "Привет, как дела сегодня?"])
    translator = Translator(toy())
    assert translator.translate([""]) == [""]
    assert translator.translate(["le chat"]) == ["the cat"]
    assert translator.translate(["Привет"]) == ["Привет"]


def test_a_few_letters_in_another_script_settle_nothing() -> None:
    translator = Translator(toy())
    assert translator.translate(["Привет 15"]) == ["Привет 15"]
    assert translator.translate(["123"]) == ["123"]
    with pytest.raises(BadSetting, match="got text in Cyrillic"):
        translator.translate(["Как дела сегодня, мир?"])


def test_quality() -> None:
    pytest.importorskip("sacrebleu")
    lines = ["the cat eats a big mouse .", "he is here today and now"] * 10
    bleu, chrf = quality(lines, lines, made="csls:10 | fr-en")
    assert [bleu.value, chrf.value] == pytest.approx([100, 100])
    assert bleu.signature.startswith("nrefs:1|bs:1000|seed:")
    assert "tok:13a" in bleu.signature
    assert " | csls:10 | fr-en | muse " in bleu.signature
    worse = [line.replace("cat", "dog") for line in lines]
    found = quality(worse, lines)[0]
    assert found.ci95[0] <= found.value <= found.ci95[1] < 100
    assert str(found).startswith(f"BLEU = {found.value:.2f} [")


def test_bleu_counts_characters_where_words_are_not_apart() -> None:
    pytest.importorskip("sacrebleu")
    lines = ["我喜欢猫和狗，也喜欢鸟。", "你好，今天天气很好。"] * 5
    almost = [line.replace("很", "真") for line in lines]
    assert quality(almost, lines, language="zh")[0].value > 60
    assert quality(almost, lines)[0].value < 60
    assert "tok:zh" in quality(lines, lines, language="zho_Hans")[0].signature


def test_choices_say_what_is_kept() -> None:
    translator = Translator(toy(), config=TextConfig(Retrieval("nn"), top=2))
    found = translator.choices("L'homme est Tom, 3 km")
    assert [one.token for one in found] == ["L'", "homme", "est", "Tom", ",", "3", "km"]
    assert [one.form for one in found] == ["le", "homme", "est", "tom", None, None, None]
    assert [one.kept for one in found] == [False, False, False, True, True, True, True]
    assert [answer.target for answer in found[0].options][:1] == ["The"]
    assert [(answer.target, answer.mutual) for answer in found[1].options][:1] == [("man", True)]
    assert found[-1].options == ()


def test_every_entry_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    space, looked_up = toy(), Counter[str]()
    of_words = Ranker.of_words

    def counted(self: Ranker, words: Mapping[str, Tensor]) -> Any:
        looked_up["-".join(self.direction)] += len(words)
        return of_words(self, words)

    monkeypatch.setattr(Ranker, "of_words", counted)
    translator = Translator(space, config=TextConfig(Retrieval("nn"), top=2))
    choices = translator.choices("le chat mange le chat")
    assert looked_up["-".join(space.direction())] == 3
    assert translator.translate(["le chat mange le chat"]) == ["the cat eats the cat"]
    assert looked_up["-".join(space.direction())] == 3
    assert [one.options[0].target for one in choices] == ["the", "cat", "eats", "the", "cat"]


def test_a_word_has_the_capitals_that_the_language_model_has_it_with_alone() -> None:
    model = learn_language_model([["the", "Cat", "Eats"]] * 5 + [["eats"]], order=2)
    assert (model.cased["cat"], "eats" in model.cased) == ("Cat", False)
    assert Translator(toy(), model=model).translate(["le chat mange"]) == ["the Cat eats"]


MODEL = learn_language_model([list(text) for text in ("abca", "abcc", "bca", "ccab", "abcab")], order=3)


def options(seed: int, length: int, k: int = 3) -> list[Options]:
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.normal(size=(length, k)).astype(np.float32))[:, ::-1]
    return [Options([str(c) for c in rng.choice(list("abcz"), k, replace=False)], row) for row in scores]


def total(path: tuple[int, ...], tried: list[Options], model: LanguageModel, weight: float) -> float:
    words = [option.words[place] for place, option in zip(path, tried, strict=True)]
    lexical = sum(float(option.scores[place]) for place, option in zip(path, tried, strict=True))
    return lexical + weight * model.log_probability(words)


@pytest.mark.parametrize("weight", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_the_best_sentence(seed: int, weight: float) -> None:
    tried = options(seed, 5)
    best = max(product(range(3), repeat=5), key=lambda path: total(path, tried, MODEL, weight))
    assert best_path(tried, MODEL, weight=weight, beam=3**5) == list(best)


def test_a_narrow_beam_is_no_better_and_weight_none_takes_the_first() -> None:
    for seed in range(5):
        tried = options(seed, 6)
        wide, narrow = (tuple(best_path(tried, MODEL, weight=1, beam=beam)) for beam in (3**6, 1))
        assert total(narrow, tried, MODEL, 1) <= total(wide, tried, MODEL, 1) + 1e-5
        assert best_path(tried, MODEL, weight=0, beam=2) == [0] * 6


def test_nothing_and_one_option() -> None:
    assert best_path([], MODEL, weight=1, beam=3) == []
    assert best_path([Options(["a"], np.zeros(1, np.float32))], MODEL, weight=1, beam=3) == [0]


PHRASES = {
    "un chat": [("a cat", 0.6), ("one cat", 0.4)], "un chat mange": [("dinner", 0.9)],
    "il est": [("it is", 0.8), ("there is", 0.2)], "l' homme": [("the man", 1.0)],
    "mange": [("devours", 0.7), ("eats", 0.3)], "zut": [("darn", 0.5)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Un chat est le chat.", "A cat is the cat."),
        ("Un chat mange.", "Dinner."),  # the longest
        ("UN CHAT, il mange !", "A CAT, he devours!"),
        ("L'homme: zut", "The man: darn"),  # a word that only the table has
        ("il est, un chat\u00a0?", "it is, a cat?"),
    ],
)
def test_phrases_of_a_table_are_translated_whole(line: str, expected: str) -> None:
    assert translate(line, phrases=PHRASES) == expected


def test_a_model_chooses_among_phrases_of_several_words() -> None:
    model = learn_language_model([["there", "is", "one", "cat"]] * 5 + [["it", "was", "a", "dog"]], order=3)
    line, config = "Il est un chat", TextConfig(Retrieval("nn"), weight=1.0)
    found = Translator(toy(), model=model, phrases=PHRASES, config=config).translate([line])
    # By brute force: every sequence of options, with its probability by the model and by the table.
    options = [PHRASES["il est"], PHRASES["un chat"]]
    best = max(
        product(*options),
        key=lambda path: (
            sum(0.12 * np.log(share) for _, share in path)
            + model.log_probability(" ".join(words for words, _ in path).split())
        ),
    )
    assert found == [" ".join(words for words, _ in best).capitalize()] == ["There is one cat"]
