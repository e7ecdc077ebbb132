"""Checks of settings: what is just within a limit passes, what is just outside is named with its value."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from muse.errors import BadSetting
from muse.sentences.training.checks import check_choices, check_fractions, check_least


def test_the_first_setting_below_the_least_value_is_named() -> None:
    settings = SimpleNamespace(layers=2, heads=1, units=0)
    check_least(settings, 1, "layers", "heads")
    check_least(settings, 0, "units")
    with pytest.raises(BadSetting, match="^heads must be at least 2, got 1$"):
        check_least(settings, 2, "layers", "heads", "units")


@pytest.mark.parametrize("value", [0.0, 0.5, 1 - 1e-9])
def test_fractions_below_one_pass(value: float) -> None:
    check_fractions(SimpleNamespace(dropout=value), "dropout")


@pytest.mark.parametrize("value", [-1e-9, 1.0, math.nan, math.inf])
def test_other_values_are_no_fractions(value: float) -> None:
    with pytest.raises(BadSetting, match=f"^drop must be at least 0 and below 1, got {value:g}$"):
        check_fractions(SimpleNamespace(blank=0.1, drop=value), "blank", "drop")


def test_a_choice_is_one_of_those_shown_or_the_empty_default() -> None:
    settings = SimpleNamespace(network="gru", optimiser="")
    check_choices(settings, network=("lstm", "gru"), optimiser=("", "adam"))
    with pytest.raises(BadSetting, match="^network must be one of lstm; got 'gru'$"):
        check_choices(settings, optimiser=("", "adam"), network=("", "lstm"))
    with pytest.raises(BadSetting, match="^optimiser must be one of adam; got ''$"):
        check_choices(settings, optimiser={"adam": 1})
