"""Word index: against a search of the definition, and in all look-ups; and the case of letters."""

import copy
import itertools
import pickle
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest

from muse.evaluation.ratings import evaluate_similarity
from muse.evaluation.words import by_part, evaluate_words, warn_of_dictionary
from muse.files import write_vectors_text
from muse.learn import bilingual
from muse.learn.bilingual import sampled
from muse.learn.multilingual import Bridge, nearest_first
from muse.learn.pair import LanguagePair
from muse.learn.supervise.training_pairs import TrainingPairs, pairs_of
from muse.lexicon import Lexicon, Pair
from muse.orthography import canonical, lowercase
from muse.ranking.lookup import neighbours
from muse.ranking.ranker import own_spelling, translate_words
from muse.report.measured import Gold
from muse.search.retrieval import Retrieval
from muse.sentences.systems.bgt.inputs import space_words
from muse.sentences.systems.cmlm.cmlm_system import glossed
from muse.space import Space
from muse.space.new_words import WordVectors, load_new_words, map_new_words
from muse.text.language_model import learn_language_model
from muse.vectors import Matrix, Vectors, WordIndex
from tests.space.test_new_words import space_of
from tests.support.spaces import plain_space

Form = Literal["NFC", "NFD"]
FORMS: tuple[Form, Form] = ("NFC", "NFD")
ALL_FORMS = list(itertools.product(FORMS, repeat=3))  # of the source, the target and the dictionary
COUNT = 40
# One letter in every form that it has, of which the first is composed, and others.
O_WITH_TWO = ["\u1ed9", "\u00f4\u0323", "\u1ecd\u0302", "o\u0323\u0302", "o\u0302\u0323"]
OTHERS = ["\u00e9", "e\u0301", "\u212b", "\u00c5", "A\u030a", "\u09df", "\u09af\u09bc", "o", "e"]
LETTERS = [*O_WITH_TWO, *OTHERS]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def written(words: list[str], form: Form) -> list[str]:
    return [normalize(form, word) for word in words]


def french(form: Form = "NFC") -> list[str]:
    """Words with accents, capitals, and some that are English too."""
    return written([f"{'É' if row % 5 == 0 else 'é'}té{row}" for row in range(COUNT)], form)


def english(form: Form = "NFC") -> list[str]:
    own = [f"naïve{row}" for row in range(COUNT)]
    own[3::4] = french()[3::4]
    return written(own, form)


def space(source: Form, target: Form) -> Space:
    rows = rng().normal(size=(COUNT, 6)).astype(np.float32)
    noisy = rows + np.random.default_rng(1).normal(0, 0.6, rows.shape).astype(np.float32)
    return plain_space(rows, noisy, french(source), english(target))


def dictionary(form: Form) -> Lexicon:
    """Word for word, further translations, a phrase, and pairs that no vocabulary knows."""
    pairs = list(zip(french(), english(), strict=True))
    pairs += [(french()[row], english()[-row]) for row in range(0, COUNT, 3)]
    pairs += [("déjà", "naïve1"), ("été1", "übel"), ("été1 été2", "naïve4")]
    of = [(normalize(form, one), normalize(form, two)) for one, two in pairs]
    return Lexicon(tuple(of), tuple(np.random.default_rng(2).random(len(of)).tolist()))


def test_the_row_is_that_of_the_word_then_the_composed_word_then_the_most_frequent() -> None:
    drawn = rng()
    words = list(dict.fromkeys("".join(drawn.choice(LETTERS, 2)) for _ in range(60)))
    index = WordIndex(words)
    asked = ["".join(pair) for pair in itertools.product(LETTERS, repeat=2)]
    found: set[str] = set()
    for word in [*asked, "", "x", "\udcff"]:
        like = [other for other in words if normalize("NFC", other) == normalize("NFC", word)]
        best = next((form for form in (word, normalize("NFC", word), *like) if form in like), None)
        assert index.entry(word) == best
        assert index.get(word, -1) == (-1 if best is None else words.index(best))
        assert (word in index) == (best is not None)
        if best is None:
            assert index.get(word) is None
            with pytest.raises(KeyError):
                index[word]
        else:
            assert index[word] == words.index(best)
            found.add("itself" if best == word else "composed" if best == normalize("NFC", word) else "other")
    assert found == {"itself", "composed", "other"}
    assert None not in index
    for twin in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        assert [twin.entry(word) for word in asked] == [index.entry(word) for word in asked]


@pytest.mark.parametrize("forms", ALL_FORMS, ids="-".join)
def test_a_dictionary_teaches_the_same_in_every_form(forms: tuple[Form, Form, Form]) -> None:
    def evidence(source: Form, target: Form, of: Form) -> TrainingPairs:
        sides = space(source, target)
        return pairs_of(dictionary(of), sides.vectors("fr"), sides.vectors("en"))

    found, expected = evidence(*forms), evidence("NFC", "NFC", "NFC")
    assert len(expected.pairs) == COUNT + len(range(0, COUNT, 3)) + 1
    assert found.pairs.tolist() == expected.pairs.tolist()
    for name in ("x", "y", "weights"):
        assert bool((getattr(found, name) == getattr(expected, name)).all())


@pytest.mark.parametrize("forms", ALL_FORMS, ids="-".join)
def test_the_scores_are_the_same_in_every_form(forms: tuple[Form, Form, Form]) -> None:
    source, target, of = forms
    for score in (evaluate_words, evaluate_similarity):
        found = score(space(source, target), dictionary(of), rng=rng(), gold="g").as_json()
        expected = score(space("NFC", "NFC"), dictionary("NFC"), rng=rng(), gold="g").as_json()
        assert found == expected
        assert 0.9 < expected["coverage"] < 1
    words = evaluate_words(space("NFC", "NFC"), dictionary("NFC"), rng=rng())
    assert 0 < words.p_at_1 < words.p_at_5 < 100
    assert {"identical", "different"} <= {part.name for part in words.parts}


@pytest.mark.parametrize("forms", ALL_FORMS, ids="-".join)
def test_a_typed_word_has_the_same_answers_in_every_form(forms: tuple[Form, Form, Form]) -> None:
    def answers(source: Form, target: Form, typed: Form) -> object:
        sides, words = space(source, target), written([*french()[:8], "ÉTÉ9", "l'été11", "absent"], typed)
        found = translate_words(sides, words, source="fr", target="en", top=3, retrieval=Retrieval("nn"))
        assert {one.form for one in found} <= {*french(source), None}
        near = neighbours(sides, "fr", words[1], among=["en"], top=3)["en"]
        return [[(normalize("NFC", one.target), one.score, one.mutual) for one in word] for word in found], [
            (normalize("NFC", word), score) for word, score in near
        ]

    assert answers(*forms) == answers("NFC", "NFC", "NFC")
    vectors = space(*forms[:2]).vectors
    own = own_spelling(normalize(forms[2], french()[3]), vectors("fr"), vectors("en"))
    assert vectors("en").words[own] == english(forms[1])[3]


def test_a_list_of_mixed_forms_is_read_backwards() -> None:
    pairs = [("été1", "naïve1"), ("été2", "naïve2"), ("été2", normalize("NFD", "naïve1"))]
    backward = Gold(space("NFC", "NFC"), ("fr", "en"), Lexicon(tuple(pairs)), "g").backward().lexicon
    assert backward.pairs == (("naïve1", "été1"), ("naïve2", "été2"), ("naïve1", "été2"))


def test_exact_matches_come_first() -> None:
    composed, apart = "\u00e9", "e\u0301"
    eye = np.eye(3, dtype=np.float32)
    sides = plain_space(eye, eye, ["o", apart, composed], ["o", composed, apart])
    pairs: tuple[Pair, ...] = ((composed, apart), (apart, composed), ("o", "o"))
    evidence = pairs_of(Lexicon(pairs), sides.vectors("fr"), sides.vectors("en"))
    assert evidence.pairs.tolist() == [[2, 2], [1, 1], [0, 0]]
    score = evaluate_words(sides, Lexicon(pairs), rng=rng(), retrieval=Retrieval("nn"))
    assert (score.p_at_1, score.queries, score.covered) == (100, 3, 3)
    assert [one.form for one in translate_words(sides, [apart, composed], source="fr")] == [apart, composed]


def test_a_query_in_two_forms_is_one() -> None:
    pairs = [(normalize(form, "été1"), normalize(form, "naïve1")) for form in FORMS]
    score = evaluate_words(space("NFC", "NFD"), Lexicon(tuple(pairs)), rng=rng())
    assert (score.queries, score.covered, score.coverage) == (1, 1, 1)


def test_phrases_of_one_meaning_are_one_row() -> None:
    sides = space("NFC", "NFD")
    pairs = [(normalize(form, "été1 été2"), "naïve1") for form in FORMS]
    assert pairs_of(Lexicon(tuple(pairs)), sides.vectors("fr"), sides.vectors("en")).pairs.tolist() == 2 * [
        [COUNT, 1]
    ]


def test_words_that_two_languages_share_are_counted_in_any_form() -> None:
    assert by_part(["été"], [["\u00c9te\u0301"]], np.array([True]), rng())[0].name == "identical"
    rows = np.eye(2, dtype=np.float32)
    intermediates = [
        Bridge(Vectors(name, written(words, "NFD"), rows), rows)
        for name, words in (("de", ["été", "x"]), ("it", ["été", "là"]))
    ]
    ordered = nearest_first(Vectors("fr", ["été", "là"], rows), intermediates)
    assert [one.language for one in ordered] == ["it", "de"]


def test_named_rows_are_kept_in_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bilingual, "MOST_ROWS", 4)
    side = Vectors("a", french("NFD"), np.eye(COUNT, dtype=np.float32), frequency_ordered=False)
    found = sampled(LanguagePair(side, side), rng(), keep=set(french()[20:24])).source
    assert set(found.words) == set(french("NFD")[20:24])


@pytest.mark.parametrize("form", FORMS)
def test_new_words_are_found_in_a_file_of_another_form(form: Form, tmp_path: Path) -> None:
    words, other = french(), FORMS[form == "NFC"]
    rows = rng().normal(0.3, 2, (COUNT, 8)).astype(np.float32)
    made = space_of(tmp_path, rows[:30], written(words[:30], form))
    write_vectors_text(tmp_path / "all.vec", written(words, other), rows)
    new = load_new_words(made, "fr", tmp_path / "all.vec")
    assert all(new.has(normalize(form, word)) for word in words)
    np.testing.assert_allclose(new.rows(written(words[:30], form)), made.vectors("fr").matrix, atol=1e-5)
    assert list(map_new_words(made, new).words) == written(words[30:], other)


def test_a_model_that_composes_any_word_gives_a_known_one_its_own_vector() -> None:
    words, rows = french(), np.eye(COUNT, dtype=np.float32)
    known = dict(zip(words, rows, strict=True))  # as fastText's: any other string has a row too

    def raw(asked: Sequence[str]) -> Matrix:
        return np.stack([known.get(word, -rows[0]) for word in asked])

    found = WordVectors(Path("x.bin"), words, lambda _: True, raw).rows([*french("NFD"), "absent"])
    assert np.array_equal(found, np.vstack([rows, -rows[:1]]))


@pytest.mark.parametrize("form", FORMS)
def test_a_model_composes_unknown_words_from_n_grams_in_the_form_of_its_own(form: Form) -> None:
    asked = list[str]()

    def raw(words: Sequence[str]) -> Matrix:
        asked.extend(words)
        return np.zeros((len(words), 1), np.float32)

    words = [*french(form), "absent", normalize(FORMS[form == "NFC"], "là")]  # hardly a text is pure
    vectors = WordVectors(Path("x.bin"), words, lambda _: True, raw)
    unknown = ["inouï", "plat", "\u09df"]  # the last is in neither form, and stays
    vectors.rows([*written(unknown[:2], "NFC"), *written(unknown[:2], "NFD"), unknown[2]])
    assert asked == [*2 * written(unknown[:2], form), unknown[2]]


@pytest.mark.parametrize(("vocabulary", "text"), list(itertools.product(FORMS, repeat=2)))
def test_text_is_read_in_every_form(vocabulary: Form, text: Form) -> None:
    sides, line, composed = space(vocabulary, "NFC"), normalize(text, "été1 Été2 absent"), space("NFC", "NFC")
    reading, expected = (
        space_words(of, ["fr"], ["."], longest=9).readers["fr"].read([given])
        for of, given in ((sides, line), (composed, "été1 été2"))
    )
    assert reading.sentences.ids.tolist() == expected.sentences.ids.tolist()
    assert (reading.unknown, expected.unknown) == (1, 0)
    assert glossed([line], sides, ("fr", "en")) == glossed(["été1 été2 absent"], composed, ("fr", "en"))
    bengali = plain_space(np.eye(2, dtype="f"), np.eye(2, dtype="f"), ["\u09af\u09bca", "x"], ["one", "two"])
    assert glossed(["\u09dfa"], bengali, ("fr", "en")) == ["one"]
    model = learn_language_model([written(["été1", "été2"], vocabulary)], order=2)
    known = [model.words.index(normalize(vocabulary, word)) for word in ("été1", "été2")]
    assert model.ids(line.split()).tolist() == [*known, model.words.index("<unk>")]


# A word as one writes it, as another does, and what differs.
RESPELLED = (
    ("l'ami", "l\u2019ami", "apostrophes"),
    ("o\u02bbzbek", "o'zbek", "apostrophes"),
    ('\u05e6\u05d4"\u05dc', "\u05e6\u05d4\u05f4\u05dc", "apostrophes"),
    ("\u0643\u062a\u0627\u0628", "\u0643\u0650\u062a\u064e\u0627\u0628", "vowel signs"),
    ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd", "vowel signs"),
    ("\u0643\u062a\u0627\u0628", "\u0643\u062a\u0640\u0640\u0627\u0628", "tatweel"),
    ("\u0643\u062a\u0627\u0628", "\ufedb\ufe98\ufe8e\ufe8f", "presentation forms"),
    ("fin", "\ufb01n", "presentation forms"),
    ("\u0219tiin\u021ba", "\u015ftiin\u0163a", "cedillas"),
    ("ku\u015f", "ku\u0219", "cedillas"),
    ("\u0627\u0633\u0644\u0627\u0645", "\u0625\u0633\u0644\u0627\u0645", "hamza"),
    ("\u0627\u0644\u0642\u0631\u0627\u0646", "\u0627\u0644\u0642\u0631\u0622\u0646", "hamza"),
    ("\u0645\u0633\u0626\u0648\u0644", "\u0645\u0633\u0624\u0648\u0644", "seats of hamzas"),
    ("\u0634\u0626\u0648\u0646", "\u0634\u0624\u0648\u0646", "seats of hamzas"),
    ("\u0647\u064a\u0626\u0629", "\u0647\u064a\u0623\u0629", "seats of hamzas"),
    ("\u0642\u0631\u0627\u0621\u0629", "\u0642\u0631\u0627\u0626\u0629", "seats of hamzas"),
    ("\u0634\u064a\u0621", "\u0634\u0626", "seats of hamzas"),
    ("\u0633\u064a\u0626", "\u0633\u064a\u0621", "seats of hamzas"),
    ("\u0642\u0631\u0622\u0646", "\u0642\u0631\u0621\u0627\u0646", "seats of hamzas"),
    ("\u0645\u0633\u0624\u0648\u0644", "\u0645\u0633\u06cc\u0654\u0648\u0644", "seats of hamzas"),
    ("\u06a9\u062a\u0627\u0628", "\u0643\u062a\u0627\u0628", "Persian ye and kaf"),
    ("\u0639\u0644\u06cc", "\u0639\u0644\u064a", "Persian ye and kaf"),
    ("\u0915\u094d\u0937", "\u0915\u094d\u200d\u0937", "joiners"),
    (
        "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "joiners",
    ),
    ("\u0d05\u0d35\u0d7b", "\u0d05\u0d35\u0d28\u0d4d\u200d", "joiners"),
    ("\u03bf\u03b4\u03cc\u03c2", "\u03bf\u03b4\u03cc\u03c3", "final sigma"),
    ("Tokyo", "\uff34\uff4f\uff4b\uff59\uff4f", "full width"),
    ("\u30ac\u30b9", "\uff76\uff9e\uff7d", "full width"),
    ("Donau", "Do\u00adnau", "soft hyphens"),
    ("week-end", "week\u2010end", "hyphens"),
    ("week-end", "week\u2011end", "hyphens"),
    ("\u0451\u043b\u043a\u0430", "\u0435\u043b\u043a\u0430", "\u0451 and \u0435"),
    ("\u0401\u0436", "\u0415\u0436", "\u0451 and \u0435"),
    ("\u0432\u0441\u0435\u0308", "\u0432\u0441\u0435", "\u0451 and \u0435"),
    ("shalom", "\u200eshalom\u200b", "invisible marks"),
    ("\u05d1\u05d9\u05ea-\u05e1\u05e4\u05e8", "\u05d1\u05d9\u05ea\u05be\u05e1\u05e4\u05e8", "hyphens"),
    ("Bose-Einstein", "Bose\u2013Einstein", "hyphens"),
    ("\u0645\u0626\u0629", "\u0645\u0627\u0626\u0629", "\u0645\u0627\u0626\u0629 and \u0645\u0626\u0629"),
    (
        "\u062b\u0644\u0627\u062b\u0645\u0626\u0629",
        "\u062b\u0644\u0627\u062b\u0645\u0627\u0626\u0629",
        "\u0645\u0627\u0626\u0629 and \u0645\u0626\u0629",
    ),
    ("c\u0153ur", "coeur", "ligatures"),
    ("\u0152dipe", "OEdipe", "ligatures"),
    ("encyclop\u00e6dia", "encyclopaedia", "ligatures"),
    ("\u0133s", "ijs", "ligatures"),
    ("Stra\u00dfe", "Strasse", "\u00df and ss"),
    ("STRA\u1e9eE", "STRASSE", "\u00df and ss"),
    ("\u0627\u0645\u0644", "\u0623\u064e\u0645\u064e\u0644", "several ways"),
    ("\u0645\u0633\u0626\u0648\u0644", "\u0645\u064e\u0633\u0624\u0648\u0644", "several ways"),
    ("\u0634\u06cc\u0621", "\u0634\u0626", "several ways"),
)


@pytest.mark.parametrize(("one", "two", "kind"), RESPELLED)
def test_a_word_in_another_spelling_is_found_and_its_class_named(one: str, two: str, kind: str) -> None:
    for known, asked in ((one, two), (two, one)):
        index = WordIndex(["x", "y\u0301", known])
        assert index.respelled(asked) == (2, kind)
        assert (index.lookup_row(asked), index.get(asked)) == (2, None)
        # Exactly so comes first.
        assert WordIndex([known, asked]).lookup_row(asked) == 1


def test_the_classes_are_tried_in_order_and_the_most_frequent_word_comes_first() -> None:
    book, marked, long = "\u0643\u062a\u0628", "\u0643\u064f\u062a\u064f\u0628", "\u0643\u062a\u0640\u0628"
    other = "\u0643\u064e\u062a\u064e\u0628"
    assert WordIndex([long, other, marked]).respelled(book) == (1, "vowel signs")
    assert WordIndex([long, book, marked]).respelled(other) == (1, "vowel signs")
    assert WordIndex([long]).respelled(other) == (0, "several ways")


@pytest.mark.parametrize("asked", ["", "\u0640", "\u00ad", "\u200d", "xy", "\U0001f469\U0001f467", "\udcff"])
def test_marks_alone_and_other_words_are_not_found(asked: str) -> None:
    index = WordIndex(["\u064e", "\u00ad\u00ad", "x", "\U0001f469\u200d\U0001f467", "\ufeff"])
    assert index.lookup_row(asked) is None


def test_a_hamza_that_is_left_out_comes_before_one_with_another_seat() -> None:
    asked, bare, seated = (
        "\u0645\u0633\u0624\u0648\u0644",
        "\u0645\u0633\u0648\u0648\u0644",
        "\u0645\u0633\u0626\u0648\u0644",
    )
    assert WordIndex([seated, bare]).respelled(asked) == (1, "hamza")
    assert WordIndex([seated]).lookup_row(bare) is None
    assert WordIndex(["\u0633\u0648\u0621"]).lookup_row("\u0633\u064a\u0621") is None  # evil, and bad


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        *((asked, "glosses") for asked in (
            "cat (animal)", "cat [masc.]", "cat {f}", "cat {f} <zool.> [fam.]", "(the) cat", "cat(s)",
            "cat (of (any) house)", "cat sb./sth.", "jdn./etw. cat", "cat f.", "cat m./f.", "cat, qqn.",
            "cat m", "cat noun", "cat\u00b9", "\u25aa cat", "\u2018cat\u2019",
            "2. cat", "adj. cat", "n. m. cat", "cat;", "cat qc. \u00e0 qn.", "cat qc \u00e0 qn",
            "cat \u00e0 qn. qc.", "cat sth to sb", "jdn. an etw. cat", "sb. / sth. cat", "cat&nbsp;(animal)",
            "cat\uff08\u52d5\u7269\uff09", "cat\u3010zool\u3011",
        )),
        ("&#99;at", "entities"),
        ("\u00adcat (animal)", "several ways"),
        # To look for sth. is a verb of its own, and QC Quebec.
        *((asked, None) for asked in (
            "cat (animal", "cat so", "cat for sth.", "cat QC", "sb. / sth.", "cat n/a", "cat 5 f.",
            "(cat)", "sb./sth.", "[]",
        )),
    ],
)  # fmt: skip
def test_a_gloss_is_no_part_of_a_word_that_is_known_without_it(asked: str, kind: str | None) -> None:
    index = WordIndex(["dog", "cat"])
    assert index.respelled(asked) == (None if kind is None else (1, kind))
    assert WordIndex(["cat", asked]).lookup_row(asked) == 1
    assert WordIndex([asked]).lookup_row("cat") in (None, 0 if kind == "several ways" else None)


def test_pairs_in_another_spelling_are_learned_from_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    arabic = [f"\u0643\u062a\u0627\u0628{row}" for row in range(COUNT)]
    rows = rng().normal(size=(COUNT, 6)).astype(np.float32)
    sides = plain_space(rows, rows, arabic, english())
    marked = [word.replace("\u062a", "\u062a\u064e") for word in arabic]
    pairs = [*zip(marked[:12], english()[:12], strict=True), (arabic[12], english()[12])]
    lexicon = Lexicon((*pairs, (f"\u0625{arabic[0]}", "x")))
    caplog.set_level("INFO")
    found = pairs_of(lexicon, sides.vectors("fr"), sides.vectors("en"))
    assert found.pairs.tolist() == [[row, row] for row in range(13)]
    counted(caplog, "vowel signs", sides, lexicon)
    score = evaluate_words(sides, lexicon, rng=rng(), source="fr", target="en")
    assert (score.queries, score.covered) == (14, 13)


def counted(caplog: pytest.LogCaptureFixture, name: str, sides: Space, lexicon: Lexicon) -> None:
    """Asserts that twelve pairs were told to differ so, when they were learned from and are looked up."""
    said = f"12 pairs differ in {name} alone; the spelling of the vocabularies is"
    assert caplog.messages == [f"{said} learned from"]
    caplog.clear()
    warn_of_dictionary(sides, lexicon, "fr", "en")
    assert caplog.messages == [f"{said} looked up"]


def test_pairs_with_glosses_are_learned_from_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    rows = rng().normal(size=(COUNT, 6)).astype(np.float32)
    french = [f"chat{row}" for row in range(COUNT)]
    sides = plain_space(rows, rows, french, english())
    glossed = [f"{word} {{m}} [fam.]" for word in french]
    phrase = (f"{french[12]} {french[13]} (ensemble)", english()[14])
    lexicon = Lexicon((*zip(glossed[:12], english()[:12], strict=True), phrase, ("x (y)", english()[0])))
    caplog.set_level("INFO")
    found = pairs_of(lexicon, sides.vectors("fr"), sides.vectors("en"))
    assert found.pairs.tolist() == [*([row, row] for row in range(12)), [COUNT, 14]]
    counted(caplog, "glosses", sides, lexicon)
    score = evaluate_words(sides, lexicon, rng=rng(), source="fr", target="en")
    assert (score.queries, score.covered) == (14, 12)


@pytest.mark.parametrize(
    ("language", "word", "lower"),
    [
        ("tr", "ISIRMAK", "\u0131s\u0131rmak"),
        ("tur_Latn", "\u0130STANBUL", "istanbul"),
        ("az", "I\u0307y", "iy"),
        ("en", "ISTANBUL", "istanbul"),
        ("el", "\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3", "\u03bf\u03b4\u03bf\u03c2 \u03c3\u03b1\u03c2"),
        ("lt", "\u00cc", "i\u0307\u0300"),
        ("lt", "J\u0303", "j\u0307\u0303"),
        ("lt", "VILNIUS \u0116\u012e", "vilnius \u0117\u012f"),
        ("fr", "\u00c9T\u00c9", "\u00e9t\u00e9"),
    ],
)
def test_lower_case_is_a_matter_of_the_language(language: str, word: str, lower: str) -> None:
    assert lowercase(word, language) == lower
    assert lowercase(lower, language) == lower


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("line", ["Não é possível", "한국어 문장", "कक़ ड़", "آدم", "Ｆull ﬁn ½"])
def test_encodings_and_white_space_make_no_difference(line: str, form: Literal["NFC", "NFD"]) -> None:
    written = f"\u3000{unicodedata.normalize(form, line)}\t".replace(" ", " \u00a0\u2009 ")
    assert canonical(written) == canonical(line) == unicodedata.normalize("NFC", line)


@pytest.mark.parametrize(("one", "two"), [("ﬁn", "fin"), ("été", "ete"), ("Été", "été"), ("a b", "ab")])
def test_other_letters_are_another_sentence(one: str, two: str) -> None:
    assert canonical(one) != canonical(two)
