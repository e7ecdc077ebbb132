"""Numbers on the command line: a range, and no nan or infinity."""

from __future__ import annotations

import click
import pytest

from muse.cli import commands
from muse.commands.numbers import Finite


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "NaN", "x", "", "-1"])
def test_what_is_no_finite_number_in_range(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Finite(0).convert(text, None, None)


def test_numbers() -> None:
    assert [Finite(0).convert(text, None, None) for text in ("0", "1e-3", "5")] == [0, 1e-3, 5]
    assert Finite().convert("-2.5", None, None) == -2.5


def test_no_option_takes_nan_or_any_number_of_threads() -> None:
    for command in commands.commands.values():
        for option in command.params:
            assert isinstance(option.type, Finite) or not isinstance(option.type, click.types.FloatParamType)
            if option.name == "threads":
                with pytest.raises(click.BadParameter):
                    option.type.convert("100000", option, None)
