"""The survey: best translations of the frequent words, how probable, some of them to look at."""

import numpy as np
import pytest

from muse.ranking.induction import InductionConfig, entries
from muse.report.facts import SHOWN_WORDS, survey
from muse.report.page import as_text
from tests.report.test_measured import WORDS, space


def test_it_finds_what_induce_finds() -> None:
    of = space()
    found = survey(of, "fr", "en", most=WORDS, rng=np.random.default_rng(0))
    best = {entry.source: entry.target for entry in entries(of, "fr", "en", limits=InductionConfig())}
    for entry in (*found.surest, *found.unsure, *found.drawn):
        assert best[entry.source] == entry.target
    assert found.searched == WORDS
    assert len(found.surest) == len(found.unsure) == len(found.drawn) == SHOWN_WORDS


def test_the_surest_are_surer_than_the_least_sure() -> None:
    found = survey(space(), "fr", "en", most=WORDS, rng=np.random.default_rng(0))
    sure, unsure = ([entry.probability or 0 for entry in part] for part in (found.surest, found.unsure))
    assert sure == sorted(sure, reverse=True)
    assert unsure == sorted(unsure)
    assert min(sure) >= max(unsure)
    assert found.expected is not None
    assert min(unsure) <= found.expected / 100 <= max(sure)


def test_it_keeps_to_the_most_frequent() -> None:
    found = survey(space(), "fr", "en", most=20, rng=np.random.default_rng(0))
    assert found.searched == 20
    for entry in (*found.surest, *found.drawn):
        assert entry.source == "radio" or int(entry.source.removeprefix("fr")) < 20
        assert entry.target == "radio" or int(entry.target.removeprefix("en")) < 20


def test_a_space_without_probabilities_still_has_a_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muse.ranking.induction.find_calibration", lambda *of: None)
    found = survey(space(), "fr", "en", most=WORDS, rng=np.random.default_rng(0))
    assert (found.expected, found.trusted) == (None, None)
    assert found.surest


def test_lists_of_settings_are_in_words() -> None:
    assert as_text([[1, 2], "x"]) == "1, 2, x"
