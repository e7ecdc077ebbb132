"""The plan for rows: initialisations that need no words, wide neighbourhoods first, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from muse.alignment import Alignment
from muse.errors import BadSetting
from muse.learn.auto import AUTO, AUTO_OF_ROWS, KNOWN_OF_ROWS, initialisations
from muse.learn.initialise import INITIALISATIONS
from muse.learn.pair import LanguagePair
from muse.learn.schedule import ROUNDS, ROUNDS_OF_ROWS, first_rounds, refinement
from muse.learn.settings import AlignConfig
from muse.learn.transport import TransportConfig, refine_by_transport
from muse.learn.verdict import judge
from muse.options import departures
from tests.support.spaces import rotation
from tests.support.toys import mixture


def test_words_are_tried_as_before() -> None:
    assert AlignConfig().frequency_ordered
    assert [name for name, _ in initialisations(AlignConfig())] == list(AUTO)


def test_rows_are_tried_without_ranks_and_refined_by_transport() -> None:
    plan = AlignConfig().for_unranked_rows()
    assert [name for name, _ in initialisations(plan)] == list(AUTO_OF_ROWS)
    assert first_rounds(plan) == ROUNDS_OF_ROWS
    assert {type(config) for config in first_rounds(plan)} == {TransportConfig}
    assert first_rounds(AlignConfig(refine=False).for_unranked_rows()) == ()  # --no-refine
    assert plan.for_unranked_rows() == plan


@pytest.mark.parametrize("init", INITIALISATIONS)
def test_an_initialisation_is_used_or_refused(init: str) -> None:
    usable = {"auto", "dictionary", *(name.split(":")[0] for name in KNOWN_OF_ROWS)}
    if init not in usable:
        match = f"--init {init} needs words, most frequent first, got unlabelled"
        with pytest.raises(BadSetting, match=match):
            AlignConfig(init=init).for_unranked_rows()
        return
    names = [name for name, _ in initialisations(AlignConfig(init=init).for_unranked_rows())]
    assert init in ("auto", "dictionary") or [name.split(":")[0] for name in names] == [init]


def test_the_settings_of_rows() -> None:
    config = AlignConfig().for_unranked_rows()
    assert (config.reweights, config.frequency_ordered) == (False, False)
    assert refinement(config) is not None
    assert refinement(AlignConfig(refine=False).for_unranked_rows()) is None
    assert config.for_unranked_rows() == config


def test_rows_are_judged_on_a_scale_of_their_own_and_the_right_mapping_stands_out() -> None:
    a, b, turn = mixture(1_000, seed=1)
    right, wrong = (
        judge(LanguagePair(a, b), Alignment(mapping, method="x"), rng=np.random.default_rng(0), null=0.5)
        for mapping in (turn, rotation(9, 24))
    )
    assert (right.null, wrong.null) == (0.5, 0.5)
    assert right.gain > wrong.gain + 0.5
    assert wrong.label == "failed"


def test_gromov_of_rows_matches_their_centroids() -> None:
    source, target, turn = mixture(seed=1)
    ((name, initialise),) = initialisations(AlignConfig(init="gromov").for_unranked_rows())
    score, rng = LanguagePair(source, target).criterion(), np.random.default_rng(0)
    (found,) = initialise(LanguagePair(source, target), score, rng)
    assert found.method == name == "gromov:clusters"
    config = TransportConfig(rounds=20, rows=700)
    *_, refined = refine_by_transport(LanguagePair(source, target), found, config=config, rng=rng)
    assert (source.matrix @ refined.source_map.T * (source.matrix @ turn.T)).sum(axis=1).mean() > 0.8


def test_a_recipe_is_its_parts_but_for_what_is_given() -> None:
    whole = AlignConfig(recipe="muse")
    assert (whole.normalise, whole.refine, first_rounds(whole), whole.reweights) == ((), "plain", (), False)
    assert departures(whole) == ()
    other = AlignConfig(recipe="muse", normalise=("unit",), refine=True)
    assert (other.init, other.normalise, first_rounds(other)) == ("adversarial-paper", ("unit",), ROUNDS)
    assert departures(other) == ("normalise", "refine")
    assert replace(whole, seed=1).init == "adversarial-paper"
    with pytest.raises(BadSetting, match="--recipe .*'vecmap'"):
        AlignConfig(recipe="vecmap")
