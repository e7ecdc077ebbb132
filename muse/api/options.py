"""Options: those of `muse align`, flat as on the command line, as the Request that nests them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from muse.api.arrays import given_vectors
from muse.api.request import Request
from muse.errors import BadSetting, Contradiction, did_you_mean
from muse.learn.pair import AlignConfig
from muse.learn.plan import ROUNDS
from muse.learn.refine import RefineConfig

# The name of an option on the command line, with underscores, and the field of Request where it has another.
FIELDS = {
    "src_emb": "source_file", "tgt_emb": "target_file", "via_emb": "via_file", "src_words": "source_words",
    "tgt_words": "target_words", "src_texts": "source_texts", "tgt_texts": "target_texts",
    "lower": "lowercase",
}  # fmt: skip
# Those of AlignConfig.
LEARNING = ("init", "no_identical", "normalise", "refine", "reweight", "joint", "seed")
OWN = tuple(field.name for field in fields(Request) if field.name not in ("source", "target"))
KNOWN = (*OWN, *FIELDS, *LEARNING)

_VECTORS = {"source_file", "target_file", "via_file"}
_FILES = {"source_words", "target_words", "source_texts", "target_texts", "dictionary", "out", "into"}
_WHOLE = {"max_vocab": 1, "seed": 0}  # the least value
_YES_OR_NO = {"lowercase", "resume", "no_identical", "refine", "reweight", "joint"}


def request_of(source: str | Sequence[str], target: str | None, options: Mapping[str, Any]) -> Request:
    """The request with these options; an option that is None is not given.

    Names are those of the command line, with underscores (`src_emb`), and of the fields of `Request`
    (`source_file`); what is learned with may be nested in `config` as well, which the options change. Raise
    BadSetting for an unknown name and a value of another type, and Contradiction for options that exclude
    one another.
    """
    given = _named({name: value for name, value in options.items() if value is not None})
    learning = {name: given.pop(name) for name in LEARNING if name in given}
    base = given.pop("config", AlignConfig())
    _check_agreement({"init": base.plan.init, "refine": base.refine is not None, **learning})
    config = _config(base, learning)
    sources = source if isinstance(source, str) else _several("source", source)
    if not isinstance(target, str | None):
        raise _expected("target", "a language", target)
    request = Request(sources, target, config=config, **given)
    if learning.get("reweight") and not request.moves_target:
        raise Contradiction(
            "--reweight moves the target, which several languages share; use it with one --src and no --into"
        )
    return request


def _check_agreement(options: Mapping[str, Any]) -> None:
    if options.get("init") == "identical" and options.get("no_identical"):
        raise Contradiction("--no-identical forbids --init identical; leave one of them out")
    if options.get("reweight") and options.get("refine") is False:
        raise Contradiction(
            "--reweight follows refinement, which --no-refine leaves out; leave one of them out"
        )


def _named(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, checked, by the fields of Request."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name not in KNOWN:
            raise BadSetting(
                f"{name} is no option of muse.align{did_you_mean(name, KNOWN) or f'; choose among {_all()}'}"
            )
        field = FIELDS.get(name, name)
        if field in found:
            raise BadSetting(f"{name} and {field} are one option, got both; leave one of them out")
        found[field] = _checked(name, field, value)
    return found


def _all() -> str:
    return ", ".join(sorted(KNOWN))


def _checked(name: str, field: str, value: Any) -> Any:
    if field in _VECTORS:
        return given_vectors(name, value)
    if field in _FILES:
        if not isinstance(value, str | PathLike):
            raise _expected(name, "a path", value)
        return Path(value)
    if field in _WHOLE:
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < _WHOLE[field]:
            raise _expected(name, f"a whole number of at least {_WHOLE[field]}", value)
        return int(value)
    if field in _YES_OR_NO:
        if not isinstance(value, bool | np.bool_):
            raise _expected(name, "True or False", value)
        return bool(value)
    if field == "config" and not isinstance(value, AlignConfig):
        raise _expected(name, "a muse.AlignConfig", value)
    if field in ("via", "normalise", "command"):
        return _several(name, value)
    return value


def _several(name: str, value: object) -> tuple[str, ...]:
    """Strings; one alone is a language, or steps with commas between them."""
    if isinstance(value, str):
        return tuple(step.strip() for step in value.split(",")) if name == "normalise" else (value,)
    if not isinstance(value, Iterable):
        raise _expected(name, "a string or several", value)
    several = tuple(value)
    if not all(isinstance(one, str) for one in several):
        raise _expected(name, "a string or several", value)
    return several


def _expected(name: str, what: str, value: object) -> BadSetting:
    return BadSetting(f"{name} must be {what}, got {value!r}")


def _config(base: AlignConfig, options: Mapping[str, Any]) -> AlignConfig:
    """The settings of `base` with those given as options in their place."""
    plan: dict[str, Any] = {"init": options["init"]} if "init" in options else {}
    if "no_identical" in options:
        plan["identical"] = not options["no_identical"]
    own = {name: options[name] for name in ("reweight", "joint", "seed") if name in options}
    if "normalise" in options:
        own["steps"] = options["normalise"]
    if "refine" in options:
        refined = options["refine"]
        own["refine"] = (base.refine or RefineConfig()) if refined else None
        plan["rounds"] = (base.plan.rounds or ROUNDS) if refined else ()
    return replace(base, plan=replace(base.plan, **plan), **own)
