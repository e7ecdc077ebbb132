"""The space at the prompt: its words, its answers as plain types, the language found or asked for."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muse
from muse.api.results import Nearest, SpaceVerdict, TranslationTable, WordTranslations
from muse.api.space import InteractiveSpace
from muse.errors import BadFile, BadSetting, UnknownWord
from muse.ranking.query import language_of
from muse.ranking.ranker import translate_words
from muse.ranking.translations import Translation, Translations
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space import load_space as load_aligned
from tests.support.spaces import plain_space, saved

FRENCH = ["roi", "reine", "eau", "table", "été"]
ENGLISH = ["king", "queen", "water", "table", "summer"]


@pytest.fixture
def space() -> InteractiveSpace:
    """Row i of both languages is alike; "table" is a word of both."""
    rows = np.array([[5, 1, 0], [4, 3, 0], [0, 5, 1], [-5, 0, 2], [0, -4, 3]], np.float32)
    return InteractiveSpace.of(plain_space(rows, rows, FRENCH, ENGLISH))


def ranked_space(rank: int) -> InteractiveSpace:
    """A space of 200 words a language, in which "king" is the first word of en, and has a rank in fr."""
    rows = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
    words = {name: [f"{name}{row}" for row in range(200)] for name in ("fr", "en")}
    words["en"][0] = words["fr"][rank - 1] = "king"
    return InteractiveSpace.of(plain_space(rows, rows, words["fr"], words["en"]))


def test_its_words_are_counted_looked_up_and_iterated_over(space: InteractiveSpace) -> None:
    assert len(space) == 10
    assert [*space][:2] == [("fr", "roi"), ("fr", "reine")] and len([*space]) == len(space)
    assert all(key in space for key in space)
    assert all(word in space for word in ("roi", "king", "Roi", "l'été"))
    assert ("fr", "roi") in space and ("en", "roi") not in space and ("xx", "roi") not in space
    assert not any(key in space for key in ("rois", None, 3, ("fr", None), ("fr",)))


def test_a_vector_is_that_of_the_word_and_a_copy(space: InteractiveSpace) -> None:
    rows = space.vectors("fr").matrix
    np.testing.assert_array_equal(space["roi"], rows[0])
    np.testing.assert_array_equal(space["Roi"], rows[0])
    np.testing.assert_array_equal(space["fr", "table"], rows[3])
    np.testing.assert_array_equal(space[["eau", "table"]], rows[[2, 3]])  # eau is of fr alone
    np.testing.assert_array_equal(space["en", ["queen", "table"]], space.vectors("en").matrix[[1, 3]])
    assert np.linalg.norm(space["eau"]) == pytest.approx(1, abs=1e-6)
    assert space[[]].shape == space["fr", []].shape == (0, 3)
    space["roi"][:] = 0
    assert space["roi"].any()


def test_the_language_is_asked_for_where_several_have_a_word(space: InteractiveSpace) -> None:
    with pytest.raises(
        BadSetting, match=r"""'table' is a word of fr and of en; .*: space\["fr", "table"\]"""
    ):
        space["table"]
    with pytest.raises(BadSetting, match='choose one: src="fr"'):
        space.translate("table")
    with pytest.raises(BadSetting, match='choose one: lang="fr"'):
        space.neighbours("Table")
    with pytest.raises(BadSetting, match=r'choose one: \("fr", "table"\)'):
        space.similarity("roi", "table")
    with pytest.raises(BadSetting, match="got 'roi' of fr and 'queen' of en"):
        space.translate(["roi", "queen", "table"])
    with pytest.raises(BadSetting, match="got 'roi'"):
        space["roi", "reine"]


def test_an_unknown_word_is_a_key_error_with_advice(space: InteractiveSpace) -> None:
    for ask in (lambda: space["rein"], lambda: space.translate("rein"), lambda: space.neighbours("rein")):
        with pytest.raises(UnknownWord, match=r"^'rein' is in no language .*did you mean reine \(fr\)\?$"):
            ask()
    with pytest.raises(KeyError):
        space["xyzzy"]
    with pytest.raises(UnknownWord, match="'roi' is not among the 5 words of en; it is a word of fr; check"):
        space["en", "roi"]
    with pytest.raises(BadSetting, match="a word must be str, got 3"):
        space[3]  # type: ignore[index]


def test_a_word_that_is_far_more_frequent_in_one_language_is_taken_for_that_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    space = ranked_space(rank=190)
    np.testing.assert_array_equal(space["king"], space.vectors("en").matrix[0])
    assert space.translate("king", top=1).src == "en"
    assert caplog.messages == [
        "'king' is taken as a word of en, where it has rank 1, not of fr (rank 190); for that use "
        'space["fr", "king"]'
    ]
    assert space.translate("king", src="fr", top=1).src == "fr"
    close = ranked_space(rank=90)  # ten more are added to either rank
    with pytest.raises(BadSetting, match="'king' is a word of fr and of en"):
        close["king"]


def test_translations_are_pairs_that_carry_more(space: InteractiveSpace) -> None:
    found = space.translate("reine", top=3)
    assert found == translate_words(space, ["reine"], top=3)[0]
    assert [target for target, _ in found] == [one.target for one in found]
    assert (found.word, found.form, found.src, found.tgt) == ("reine", "reine", "fr", "en")
    assert found.best == found[0] and found[0].target == "queen" and found[0].mutual
    assert found[0].probability is not None and found[0].probability > (found[1].probability or 0)
    assert repr(found).startswith(f"reine (fr-en): queen {found[0].score:.3f} (")
    assert space.translate("queen", top=1)[0].target == "reine"
    assert space.translate("table", src="en", top=1)[0].target == "table"
    assert space.translate("roi", tgt="en", top=1) == space.translate("roi", src="fr", top=1)
    assert pickle.loads(pickle.dumps(found[0])).probability == found[0].probability  # noqa: S301


def test_a_list_is_answered_word_by_word(space: InteractiveSpace) -> None:
    found = space.translate(["eau", "table", "lune"], top=1)
    assert list(found) == ["eau", "table", "lune"]
    assert found["eau"][0].target == "water" and found["table"].src == "fr"
    assert found["lune"] == [] and found["lune"].best is None
    assert found["lune"].reason.startswith("'lune' is not among the 5 words of fr")
    assert repr(found).splitlines()[2] == f"lune (fr-en): {found['lune'].reason}"
    assert space.translate([]) == {}
    with pytest.raises(UnknownWord, match="'lune', 'nuit' is in no language"):
        space.translate(["lune", "nuit"])
    with pytest.raises(BadSetting, match="got 3 as number 2"):
        space.translate(["eau", 3])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"word": None}, "a word must be str, got None"),
        ({"word": "roi", "top": 2.5}, "top must be a whole number of at least 1, got 2.5"),
        ({"word": "roi", "top": 0}, "top must be at least 1"),
        ({"word": "roi", "src": "xx"}, "the languages of this space are fr, en; got 'xx'"),
        ({"word": "roi", "src": "fr", "tgt": "fr"}, "must be different languages"),
        ({"word": "roi", "retrieval": "cls"}, "a retrieval must be one of csls, nn, isf"),
        ({"word": "roi", "src": 3}, "src must be a language, got 3"),
        ({"word": b"roi"}, "words must be a list of str, got bytes"),
    ],
)
def test_wrong_options_are_told_by_name(
    space: InteractiveSpace, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadSetting, match=message):
        space.translate(**options)


def test_neighbours_are_of_the_language_of_the_word_and_leave_it_out(space: InteractiveSpace) -> None:
    found = space.neighbours("roi", top=2)
    rows = space.vectors("fr").matrix
    assert [word for word, _ in found] == ["reine", "eau"]
    assert [cosine for _, cosine in found] == pytest.approx((rows[[1, 2]] @ rows[0]).tolist(), abs=1e-6)
    assert repr(found) == f"roi (fr): reine {found[0][1]:.3f}, eau {found[1][1]:.3f}"
    assert space.neighbours("table", lang="en").lang == "en"
    with pytest.raises(BadSetting, match="got 'fr'"):
        space.neighbours("roi", "fr")  # type: ignore[arg-type]


def test_the_count_and_languages_need_no_name(space: InteractiveSpace) -> None:
    assert space.neighbours("roi", 2) == space.neighbours("roi", top=2)
    assert space.translate("roi", 2) == space.translate("roi", top=2)
    assert space.translate(["roi"], 1) == space.translate(["roi"], top=1)
    pytest.importorskip("pandas")
    assert space.dictionary("en", "fr").equals(space.dictionary(src="en", tgt="fr"))


def test_two_sentences_are_linked_and_shown(space: InteractiveSpace) -> None:
    found = space.link("La reine, le roi", "The king & queen", src="fr")
    assert {(one, two) for one, two, _ in found.pairs} >= {("reine", "queen"), ("roi", "king")}
    assert "The" in found._repr_html_() and "&amp;" in found._repr_html_()
    with pytest.raises(BadSetting, match="must be str"):
        space.link(["roi"], "king")  # type: ignore[arg-type]
    texts = ["La reine.", "Le roi, la table."], ["The queen.", "The king.", "The table."]
    blocks = space.align_texts(*texts, src="fr")
    assert [block[:2] for block in blocks] == [(["La reine."], ["The queen."]), (texts[0][1:], texts[1][1:])]


def test_similarity_is_the_cosine_in_one_language_or_two(space: InteractiveSpace) -> None:
    rows = space.vectors("fr").matrix
    assert space.similarity("roi", "reine") == pytest.approx(float(rows[0] @ rows[1]), abs=1e-6)
    assert space.similarity("roi", "king") == pytest.approx(1, abs=1e-6)
    assert space.similarity(("fr", "table"), ("en", "table")) == pytest.approx(1, abs=1e-6)


def test_three_languages_are_told_apart(tmp_path: Path) -> None:
    saved(tmp_path / "s", "fr", "de", plain=True)
    space = muse.load(tmp_path / "s")
    assert space.translate("fr7", top=1).tgt == "en"  # the pivot
    assert space.translate("fr7", tgt="de", top=1).tgt == "de"
    with pytest.raises(BadSetting, match='the languages of this space are en, fr, de; choose one: tgt="fr"'):
        space.translate("en7")
    pytest.importorskip("pandas")
    with pytest.raises(BadSetting, match='are en, fr, de; choose one: src="en"'):
        space.dictionary()
    assert set(space.dictionary(src="de").target) <= set(space.vectors("en").words)


def test_the_dictionary_is_a_table_with_probabilities(space: InteractiveSpace) -> None:
    pytest.importorskip("pandas")
    frame = space.dictionary()
    assert frame.columns.tolist() == ["source", "target", "score", "rank", "probability"]
    assert frame.source.tolist() == FRENCH and frame.target.tolist() == ENGLISH
    assert frame.probability.between(0, 1).all() and frame.probability.notna().all()
    assert space.dictionary(src="en", max_vocab=2).source.tolist() == ["king", "queen"]
    assert len(space.dictionary(top=2)) == 10
    with pytest.raises(BadSetting, match="topp .*dictionary; did you mean top"):
        space.dictionary(topp=2)
    table = space.translate(["roi", "lune"], top=2).to_frame()
    assert table.source.tolist() == ["roi", "roi", "lune"] and table["rank"].tolist()[:2] == [1, 2]
    assert table.reason[2].startswith("'lune' is not among") and table.target.isna().tolist()[2]


def test_what_a_user_gets_back_is_short(space: InteractiveSpace, tmp_path: Path) -> None:
    assert repr(space) == "Space(fr: 5 words, en: 5 words, 3 dimensions, pivot en)"
    saved(tmp_path / "s", count=1_200)
    large = muse.load(tmp_path / "s")
    assert repr(large) == "Space(en: 1,200 words, fr: 1,199 words, 8 dimensions, pivot en, aligned)"
    vectors = large.vectors("fr")
    parts = (large, large.manifest, large.sides, vectors, vectors.index, large.verdict,
             large.side("fr").normalisation, muse.induce(large, retrieval=Retrieval("nn")))  # fmt: skip
    assert all(len(repr(part)) < 1_000 for part in parts)


def test_a_card_shows_the_verdict_the_words_and_translations_and_escapes_them() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 8)).astype(np.float32)
    words = {name: [f"{name}{row}" for row in range(300)] for name in ("fr", "en")}
    for place in range(5):  # common words, after the first 200
        words["fr"][200 + place] = f"mot{'abcde'[place]}"
        words["en"][200 + place] = f"<b>{place}&"
    space = InteractiveSpace.of(plain_space(rows, rows, words["fr"], words["en"]))
    card = space._repr_html_()
    assert "no verdict recorded" in card and "fr: 300 words \u00b7 en: 300 words" in card
    for place in range(5):
        assert f"mot{'abcde'[place]}" in card and f"&lt;b&gt;{place}&amp;" in card
    assert "<b>" not in card.replace("<b>fr \u2192 en</b>", "")
    assert "&lt;b&gt;0&amp;" in space.translate("mota")._repr_html_()
    assert "<b>" not in space.translate(["mota", "motb"])._repr_html_()
    assert "<b>" not in space.neighbours("<b>1&")._repr_html_()


def test_control_characters_of_words_reach_no_terminal() -> None:
    rows = np.eye(2, dtype=np.float32)
    odd = InteractiveSpace.of(plain_space(rows, rows, ["a\x1b[8m", "b"], ["x\x1b]0;y", "z"]))
    shown = [
        odd.translate("a\x1b[8m"),
        odd.translate(["b"])["b"],
        odd.translate("b").best,
        odd.neighbours("b"),
    ]
    assert not [one for one in (*map(repr, shown), repr(muse.induce(odd))) if "\x1b" in one]
    assert "x\\u001b]0;y" in repr(shown[0])


def test_a_card_does_not_search_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muse.api.space.CHEAP", 100)
    rows = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    space = InteractiveSpace.of(
        plain_space(rows, rows, [f"m{'o' * i}t" for i in range(300)], [f"w{i}" for i in range(300)])
    )
    monkeypatch.setattr("muse.api.space.translate_words", None)
    assert "300 words" in space._repr_html_()


def test_a_space_is_loaded_and_saved(tmp_path: Path) -> None:
    saved(tmp_path / "s", plain=True)
    space = muse.load(tmp_path / "s")
    assert space.verdict == "aligned" and repr(space.verdict) == "aligned"
    space.translate("fr7")  # keeps its hubness and calibration
    card = space._repr_html_()
    assert "&#9679;</span> aligned" in card and "fr: 39 words" in card
    kept = sorted(path.relative_to(tmp_path / "s") for path in (tmp_path / "s").rglob("*"))
    assert space.save(str(tmp_path / "new" / "copy")) == tmp_path / "new" / "copy"
    copy = muse.load(tmp_path / "new" / "copy")
    assert sorted(path.relative_to(copy.folder or "") for path in (copy.folder or Path()).rglob("*")) == kept
    assert copy.manifest == space.manifest and copy.translate("fr7") == space.translate("fr7")
    assert space.save(tmp_path / "s") == tmp_path / "s"  # it is there
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(BadSetting, match="exists and is not an aligned space"):
        space.save(tmp_path / "mine")
    with pytest.raises(BadSetting, match="a space is saved to a folder, got None"):
        space.save(None)  # type: ignore[arg-type]
    saved(tmp_path / "s", "de", plain=True)  # replaces it
    with pytest.raises(BadSetting, match="its folder, but that was removed, or replaced by another space"):
        space.save(tmp_path / "later")
    assert not (tmp_path / "later").exists()


def test_what_is_no_space_is_not_loaded(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="muse.load needs the folder of a space, got 3"):
        muse.load(3)  # type: ignore[arg-type]
    saved(tmp_path / "s")
    with pytest.raises(BadSetting, match="answers must be one of all, csls; got 'cls'"):
        muse.load(tmp_path / "s", answers="cls")  # type: ignore[arg-type]
    with pytest.raises(BadFile, match="expected an aligned space, found no such folder"):
        muse.load(tmp_path / "nowhere")


def test_the_only_space_needs_no_name(here: Path) -> None:
    with pytest.raises(BadSetting, match="needs a single space in embeddings/aligned, got none"):
        muse.load()
    saved(here / "embeddings" / "aligned" / "fr-en")
    assert muse.load().languages == ("en", "fr")
    saved(here / "embeddings" / "aligned" / "de-en", "de")
    with pytest.raises(BadSetting, match="got embeddings/aligned/de-en, embeddings/aligned/fr-en"):
        muse.load()


def test_the_former_name_loads_the_same(tmp_path: Path) -> None:
    saved(tmp_path / "s")
    former = muse.load_space(tmp_path / "s", answers="csls")
    assert isinstance(former, Space) and isinstance(former, Space)
    assert former.answers_by == "csls" and isinstance(former.by_csls(), Space)
    assert former.manifest == load_aligned(tmp_path / "s").manifest


def test_the_language_of_words_without_ranks_is_asked_for(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
    words = [str(row) for row in range(200)]
    space = InteractiveSpace.of(plain_space(rows, rows[::-1], words, words[::-1]))
    unranked = {name: side.vectors for name, side in space.sides.items()}
    assert language_of(space, ["199"]) == "en"  # by its rank
    sides = {
        name: replace(side, vectors=replace(unranked[name], frequency_ordered=False))
        for name, side in space.sides.items()
    }
    with pytest.raises(BadSetting, match="'199' is a word of fr and of en"):
        language_of(replace(space, sides=sides), ["199"])


def test_what_is_no_word_is_refused_by_name(space: InteractiveSpace) -> None:
    for key in (["roi"], ("fr", ["roi"]), 3):
        with pytest.raises(BadSetting, match="a word must be str"):
            space.similarity(key, "king")  # type: ignore[arg-type]
    assert ([], "roi") not in space
    with pytest.raises(BadSetting, match="min_probability .* 'a'"):
        space.dictionary(min_probability="a")


WAY = ("fr", "en")


def answers(word: str, count: int) -> WordTranslations:
    found = [
        Translation(f"w{place}", 1 - place / 10, None if place else 0.9, mutual=not place, rank=place + 1)
        for place in range(count)
    ]
    return WordTranslations.of(Translations(word, word, found), WAY, "")


@pytest.mark.parametrize(
    "value",
    [
        Translation("king", 0.5, 0.9, mutual=True),
        answers("roi", 2),
        TranslationTable(roi=answers("roi", 2)),
        Nearest([("duc", 0.7)], "roi", "fr"),
        SpaceVerdict("aligned", 0.99, {"fr": "aligned"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_they_are_copied_and_kept_whole(value: Any) -> None:
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):  # noqa: S301
        assert again == value and type(again) is type(value)
        assert repr(again) == repr(value) and vars(again) == vars(value)


def test_a_translation_is_a_pair() -> None:
    target, score = one = Translation("king", 0.5, 0.9, mutual=True)
    assert (target, score) == one == (one.target, one.score) == ("king", 0.5)
    assert (one.probability, one.mutual, one.grade) == (0.9, True, "trusted")
    assert Translation("king", 0.5).grade is None and repr(Translation("king", 0.5)) == "king 0.500"


def test_many_answers_are_cut() -> None:
    assert repr(answers("roi", 12)).endswith("w9 0.100, 2 more")
    assert repr(answers("roi", 0)) == "roi (fr-en): no translation"
    table = TranslationTable((f"m{place}", answers(f"m{place}", 1)) for place in range(1_012))
    assert repr(table).splitlines()[-1] == "... 1,002 more words" and len(repr(table)) < 500
    assert "1,002 more words" in table._repr_html_() and len(table._repr_html_()) < 9_000
    assert repr(Nearest([("a", 0.5)] * 12, "roi", "fr")).endswith("a 0.500, 2 more")


def test_probabilities_that_are_not_known_are_left_out() -> None:
    assert repr(answers("roi", 2)) == "roi (fr-en): w0 1.000 (90 %), w1 0.900"
    assert "None" not in answers("roi", 2)._repr_html_()


def test_a_frame_has_a_row_for_each_translation() -> None:
    pytest.importorskip("pandas")
    frame = TranslationTable(roi=answers("roi", 2), lac=answers("lac", 0)).to_frame()
    assert frame.columns.tolist() == ["source", "target", "score", "rank", "probability", "mutual", "reason"]
    assert frame.source.tolist() == ["roi", "roi", "lac"] and frame.probability.notna().tolist() == [
        True,
        False,
        False,
    ]
    assert answers("roi", 2).to_frame().target.tolist() == ["w0", "w1"]
