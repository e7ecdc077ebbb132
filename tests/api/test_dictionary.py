"""Dictionaries in Python: what muse.induce gives and writes, and what muse.evaluate measures against."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muse
from muse.api.settings import settings_of
from muse.api.space import InteractiveSpace
from muse.errors import BadFile, BadSetting, Contradiction, Mismatch, UnknownWord
from muse.exchange import lexicon_from
from muse.files import read_lexicon
from muse.lexicon import Lexicon
from muse.ranking.induction import InductionConfig, entries
from tests.support.spaces import plain_space, saved

PAIRS = [("roi", "king"), ("reine", "queen"), ("eau", "water"), ("lune", "moon"), ("nuit", "night")]


@pytest.fixture
def space() -> InteractiveSpace:
    rows = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    return InteractiveSpace.of(plain_space(rows, rows, *([pair[side] for pair in PAIRS] for side in (0, 1))))


def test_the_dictionary_has_what_the_command_would_write(space: InteractiveSpace, tmp_path: Path) -> None:
    found = muse.induce(space, out=tmp_path / "fr-en.tsv")
    assert list(found.pairs) == PAIRS
    expected = [*entries(space, limits=InductionConfig(), rng=np.random.default_rng(0))]
    assert found.probabilities == tuple(entry.probability for entry in expected)
    written = read_lexicon(tmp_path / "fr-en.tsv")
    assert written.pairs == found.pairs and written.probabilities == pytest.approx(
        found.probabilities, rel=1e-5
    )
    assert repr(found) == "Lexicon(5 pairs: roi king, reine queen, eau water, ...)"


def test_its_options_are_those_of_the_command(space: InteractiveSpace, tmp_path: Path) -> None:
    back = muse.induce(space, src="en", top=2, max_vocab=3, out=tmp_path / "pairs.txt")
    assert {source for source, _ in back.pairs} == {"king", "queen", "water"} and len(back) == 6
    assert (tmp_path / "pairs.txt").read_text(encoding="utf-8").split("\n")[0].startswith("king roi")
    muse.induce(space, out=str(tmp_path / "named.txt"), format="jsonl", answers="csls", mutual=True)
    assert (tmp_path / "named.txt").read_text(encoding="utf-8").startswith('{"source": "roi"')
    listed = muse.induce(space, words=["Nuit", "eau", "lac"])
    assert listed.pairs == (("eau", "water"), ("nuit", "night"))
    with pytest.raises(BadSetting, match="pairs are written to a .txt, .tsv, .csv, .xlsx or .jsonl file"):
        muse.induce(space, out="pairs.npz")
    with pytest.raises(UnknownWord, match="'lac' is not among the 5 words of fr"):
        muse.induce(space, words=["lac"])
    saved(tmp_path / "s", plain=True)
    assert len(muse.induce(tmp_path / "s")) == 39


def test_pairs_that_a_format_cannot_hold_are_left_out_of_the_file_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = np.eye(3, dtype=np.float32)
    odd = InteractiveSpace.of(plain_space(rows, rows, ["a", "b\tc", "d"], ["x", "y", "z"]))
    assert len(muse.induce(odd, out=tmp_path / "o.tsv")) == 3
    assert len(read_lexicon(tmp_path / "o.tsv")) == 2
    assert caplog.messages == [
        f"{tmp_path / 'o.tsv'}: left out 1 pair that the format tsv cannot hold; jsonl can"
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topp": 1}, "topp is no option of muse.induce; did you mean top"),
        ({"top": 2.5}, "top .* 2.5"),
        ({"src": "xx"}, "the languages of this space are fr, en; got 'xx'"),
        ({"out": "x.tsv", "format": "doc"}, "a dictionary format must be one of"),
        ({"min_probability": 2}, "min_probability .* 2"),
        ({"mutual": "yes"}, "mutual .* 'yes'"),
        ({"src_max": 0}, "src_max .* 0"),
        ({"out": 3}, "out must be the name of a file, got 3"),
        ({"seed": -1}, "seed .* -1"),
        ({"answers": "cls"}, "answers .* 'cls'"),
    ],
)
def test_wrong_options_are_told_by_name(
    space: InteractiveSpace, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadSetting, match=message):
        muse.induce(space, **options)
    assert not Path("x.tsv").exists()


def test_a_space_is_measured_against_any_kind_of_dictionary(space: InteractiveSpace, tmp_path: Path) -> None:
    wrong = [*PAIRS[:3], ("lune", "night"), ("soleil", "sun")]
    (tmp_path / "gold.txt").write_text("".join(f"{one} {other}\n" for one, other in wrong), encoding="utf-8")
    for given in (
        wrong,
        tmp_path / "gold.txt",
        str(tmp_path / "gold.txt"),
        Lexicon(tuple(wrong)),
        dict(wrong),
    ):
        score = muse.evaluate(space, given)
        assert (score.p_at_1, score.covered, score.queries) == (75, 4, 5)
    assert "| gold:gold.txt@" in str(muse.evaluate(space, tmp_path / "gold.txt").score)
    assert repr(score).startswith("P@1 = 75.0 [") and repr(score).endswith("P@10 = 100.0, 4 of 5 words")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(wrong, columns=["source", "target"])
    assert muse.evaluate(space, frame).p_at_1 == 75
    assert muse.evaluate(space, frame.set_axis(["fr", "en"], axis=1)).p_at_1 == 75
    with pytest.raises(Mismatch, match="needs the columns source and target"):
        muse.evaluate(space, frame.set_axis(["target", "src"], axis=1))


def test_the_direction_of_a_dictionary_is_found_unless_it_is_given(
    space: InteractiveSpace, caplog: pytest.LogCaptureFixture
) -> None:
    turned = [(english, french) for french, english in PAIRS]
    assert muse.evaluate(space, turned).signature.direction == "en-fr"
    assert muse.evaluate(space, PAIRS).signature.direction == "fr-en"
    mixed = [*turned, ("roi", "king")]
    assert muse.evaluate(space, mixed, src="fr").covered == 1
    assert caplog.messages == ["the dictionary seems to be from en to fr: swap src and tgt"]


@pytest.mark.parametrize("given", [3, None, [], [("roi",)], [("roi", 3)], ["roi king"], "roi"])
def test_what_is_no_dictionary_is_refused(space: InteractiveSpace, given: Any) -> None:
    with pytest.raises(
        BadFile if given == "roi" else BadSetting, match="expected a file|a dictionary must be"
    ):
        muse.evaluate(space, given)


def test_the_format_of_a_dictionary_may_be_given(space: InteractiveSpace, tmp_path: Path) -> None:
    (tmp_path / "pairs").write_text("king roi 0.5\nqueen reine 0.5\n", encoding="utf-8")
    assert lexicon_from(tmp_path / "pairs", form="lex.f2e").pairs == (("roi", "king"), ("reine", "queen"))
    with pytest.raises(BadSetting, match=r"^dictionary_format must be one of muse, .* got 'moses'"):
        muse.evaluate(space, tmp_path / "pairs", dictionary_format="moses")
    with pytest.raises(Contradiction, match="--dictionary-format .* --dictionary FILE"):
        settings_of(src="fr", tgt="en", dictionary_format="csv")
    with pytest.raises(BadSetting, match="--dictionary-format .*lex.f2e.* 'moses'"):
        settings_of(src="fr", tgt="en", dictionary=tmp_path / "pairs", dictionary_format="moses")


def test_what_is_no_space_is_refused() -> None:
    for ask in (lambda: muse.induce(3), lambda: muse.evaluate(None, PAIRS)):  # type: ignore[arg-type]
        with pytest.raises(BadSetting, match="expected a space or its folder, got"):
            ask()
    assert lexicon_from(PAIRS).pairs == tuple(PAIRS)
