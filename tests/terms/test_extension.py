"""Units as entries: those of two texts stand behind the words of a space, which stay as they were."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muse
from muse.embedding.corpus import write_corpus
from muse.errors import Contradiction, Mismatch
from muse.files import write_vectors_text
from muse.files.space_manifest import Manifest
from muse.ranking.derived import write_derived
from muse.ranking.ranker import translate_words
from muse.space import SideToSave, Space, load_space, save_space, space_of_saved
from muse.space.derived import AnswerTable, write_answers
from muse.terms.evidence import FEATURES
from muse.terms.extension import add_units, with_units
from muse.terms.glossary import TermConfig
from muse.terms.model import TermModel
from muse.terms.units import UnitConfig
from muse.translate.text import Translator, sure_units
from tests.support.spaces import PROVENANCE
from tests.terms.conftest import COMPOSED, IDIOMS, WORDS

UNITS = UnitConfig(edge=0, association=0.2)


def model() -> TermModel:
    """What is enough to tell the translations of these texts."""
    weights = np.zeros((2, len(FEATURES)))
    weights[:, [FEATURES.index(one) for one in ("csls by contexts", "covered", "covering")]] = 4, 2, 2
    return TermModel(weights.ravel(), -6.0)


CONFIG = TermConfig(units=UNITS, answers=UNITS, model=model())


@pytest.fixture(scope="module")
def chosen(world: Path) -> Space:
    """The space with a third language, and answers that were chosen at random."""
    known, rng = load_space(world / "space"), np.random.default_rng(0)
    sides = {one: SideToSave(side.vectors, side.normalisation) for one, side in known.sides.items()}
    third = sides["aa"].vectors
    sides["cc"] = SideToSave(type(third)("cc", [f"cc{i}" for i in range(WORDS)], third.matrix),
                             sides["aa"].normalisation)  # fmt: skip

    def derive(folder: Path, manifest: Manifest) -> Manifest:
        for one in ("aa", "cc"):
            for way in ((one, "bb"), ("bb", one)):
                counts = rng.integers(1, 5, WORDS)
                rising = np.sort(rng.random(counts.sum()).astype(np.float32))
                columns = np.concatenate([rng.permutation(WORDS)[:count] for count in counts])
                pointers = np.append(0, counts.cumsum())
                shares = np.concatenate([own[::-1] for own in np.split(rising, pointers[1:-1])])
                write_answers(folder, way, AnswerTable(pointers, columns, shares, shares, {"by": "chance"}))
        write_derived(space_of_saved(folder, manifest), folder)
        return manifest

    save_space(world / "chosen", sides, pivot="bb", provenance=PROVENANCE, derive=derive)
    return load_space(world / "chosen")


@pytest.fixture(scope="module")
def extended(world: Path, chosen: Space) -> Space:
    """The same with the units of both texts."""
    add_units(chosen, world / "extended", _texts(world), CONFIG)
    return load_space(world / "extended")


def _texts(world: Path) -> dict[str, list[Path]]:
    return {language: [world / language] for language in ("aa", "bb")}


def _of_words(space: Space) -> list[object]:
    """All that a space says of its words."""
    found: list[object] = []
    for one, two in (("aa", "bb"), ("bb", "aa"), ("cc", "bb"), ("bb", "cc")):
        words, others = space.single_words(one), len(space.single_words(two))
        table, hubness = space.answers(one, two), space.hubness(one, two)
        assert table is not None and hubness is not None
        table = table.only(len(words), others)
        found += [words.words, words.matrix.tolist(), hubness[: len(words)].tolist(), table.report]
        found += [side.tolist() for side in (table.pointers, table.columns, table.csls, table.probability)]
    return found


def test_nothing_changes_for_words(chosen: Space, extended: Space) -> None:
    assert len(extended.units("aa")) > len(COMPOSED) and not extended.units("cc")
    assert _of_words(extended) == _of_words(chosen)
    for way in (("aa", "bb"), ("bb", "cc")):
        words = chosen.single_words(way[0]).words
        before, after = (translate_words(space, words, source=way[0], target=way[1], top=1)
                         for space in (chosen, extended))  # fmt: skip
        assert [found.best for found in after] == [found.best for found in before]


def test_units_are_looked_up_as_words_are(extended: Space) -> None:
    for pair in COMPOSED:
        words = " ".join(f"aa{one}" for one in pair)
        (found,) = translate_words(extended, [words], source="aa", target="bb", top=1)
        assert found.form == words.replace(" ", "_")
        assert found.best and found.best.target == "_".join(f"bb{one}" for one in pair)
        assert found.best.probability


def test_in_text_the_longest_unit_wins(extended: Space) -> None:
    translator = Translator(extended, source="aa", target="bb")
    assert translator.translate(["Aa7 aa9 aa11 aa13."]) == ["Bb7 bb9 bb11 bb13."]


def test_in_text_units_win_that_are_as_sure_as_their_words_together(extended: Space) -> None:
    def sureness(entries: list[str]) -> float:
        found = translate_words(extended, entries, source="aa", target="bb", top=1)
        return float(np.prod([one.best.probability or 0.0 if one.best else 0.0 for one in found]))

    units = extended.units("aa")
    sure = [unit for unit in units if sureness([unit]) >= sureness(unit.split("_"))]
    assert sure_units(extended, "aa", "bb") == sure and 0 < len(sure) < len(units)


def test_units_are_replaced_when_text_is_added(world: Path, chosen: Space, extended: Space) -> None:
    lines = (world / "aa").read_text().splitlines()
    (world / "more").write_text("\n".join([*lines, *["aa100 aa101"] * 30]))
    texts = {**_texts(world), "aa": [world / "more"]}
    places = [add_units(space, world / f"again{number}", texts, CONFIG)
              for number, space in enumerate((chosen, extended))]  # fmt: skip
    anew, again = places
    assert "aa100_aa101" in anew.units("aa") and "aa100_aa101" not in extended.units("aa")
    for language in ("aa", "bb", "cc"):
        assert anew.vectors(language).words == again.vectors(language).words
        np.testing.assert_array_equal(anew.vectors(language).matrix, again.vectors(language).matrix)
    assert _of_words(again) == _of_words(chosen)


def test_a_text_in_another_language_is_refused(world: Path, chosen: Space) -> None:
    texts = {"aa": [world / "bb"], "bb": [world / "aa"]}
    with pytest.raises(Mismatch, match="expected words of the vocabulary"):
        add_units(chosen, world / "wrong", texts)
    assert not (world / "wrong").exists()


def test_vectors_get_units_behind_their_words(world: Path, tmp_path: Path) -> None:
    idioms = []
    for language in ("aa", "bb"):
        words = load_space(world / "space").vectors(language)
        raw = replace(words, matrix=3 * words.matrix)
        corpus = write_corpus([world / language], tmp_path / language, language=language)
        found = with_units(raw, corpus, CONFIG)
        np.testing.assert_array_equal(found.matrix[:WORDS], raw.matrix)
        np.testing.assert_allclose(np.linalg.norm(found.matrix[WORDS:], axis=1), 3, rtol=1e-4)
        units = (world / f"{language}.units").read_text().splitlines()[:IDIOMS]
        idioms.append(found.matrix[[found.index[unit.replace(" ", "_")] for unit in units]])
    assert (idioms[0] @ idioms[1].T).argmax(axis=1).tolist() == [*range(IDIOMS)]  # by what stands around


def test_align_adds_the_units_of_corpora(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((600, 16)).astype(np.float32)
    given: dict[str, Any] = {"init": "similarity", "refine": False, "reweight": False, "answers": "csls"}
    for name in ("aa", "bb"):
        words = [f"{name}{one}" for one in range(600)]
        write_vectors_text(tmp_path / f"{name}.vec", words, rows)
        lines = [
            f"{' '.join(rng.choice(words, 4))} {name}500 {name}501 {rng.choice(words)}" for _ in range(400)
        ]
        (tmp_path / name).write_text("\n".join(lines))
    given |= {"src_emb": tmp_path / "aa.vec", "tgt_emb": tmp_path / "bb.vec", "out": tmp_path / "space"}
    space = muse.align(
        "aa", "bb", src_corpus=tmp_path / "aa", tgt_corpus=tmp_path / "bb", quiet=True, **given
    )
    assert "aa500_aa501" in space.units("aa") and "bb500_bb501" in space.units("bb")
    assert space.translate("aa500 aa501").form == "aa500_aa501"
    with pytest.raises(Contradiction, match="src_corpus must be given once for each src"):
        muse.align("aa", "bb", src_corpus=tmp_path / "aa", force=True, quiet=True, **given)
