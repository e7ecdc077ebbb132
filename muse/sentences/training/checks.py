"""Checks of settings, each with one wording: the least value, a fraction, a choice, why one has no effect.

The names are those of attributes, which users see as names of --set.
"""

from __future__ import annotations

from collections.abc import Collection

from muse.errors import BadSetting


def check_least(settings: object, least: int, *names: str) -> None:
    """Raise BadSetting for the first of these settings that is below `least`."""
    for name in names:
        if getattr(settings, name) < least:
            raise BadSetting(f"{name} must be at least {least}, got {getattr(settings, name)}")


def check_fractions(settings: object, *names: str) -> None:
    """Raise BadSetting for the first of these settings that is not in [0, 1)."""
    for name in names:
        if not 0 <= getattr(settings, name) < 1:
            raise BadSetting(f"{name} must be at least 0 and below 1, got {getattr(settings, name):g}")


def check_choices(settings: object, /, **choices: Collection[str]) -> None:
    """Raise BadSetting for the first setting with a value that is not among its choices.

    An empty choice, which stands for the default, is not listed.
    """
    for name, allowed in choices.items():
        if (value := getattr(settings, name)) not in allowed:
            raise BadSetting(f"{name} must be one of {', '.join(filter(None, allowed))}; got {value!r}")


def beside(settings: object, *causes: str) -> str:
    """Why another setting has no effect, and what to do: because of the values of these settings.

    >>> from types import SimpleNamespace
    >>> beside(SimpleNamespace(objective="clm"), "objective")
    'with objective=clm; leave it out, or change objective'
    """
    values = ((name, getattr(settings, name)) for name in causes)
    shown = (f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in values)
    return f"with {' and '.join(shown)}; leave it out, or change {' or '.join(causes)}"


def without(option: str) -> str:
    """Why a setting has no effect, and what to do: because this option is not given.

    >>> without("--nli")
    'without --nli; leave it out, or give --nli'
    """
    return f"without {option}; leave it out, or give {option}"
