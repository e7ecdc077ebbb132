"""An option, declared once: a field of a frozen dataclass, from which everything else is made.

    class TranslateOptions(Device, Common):
        top: int = option(1, section="Output", metavar="N", least=1, help="Number of translations.")

The class checks and converts its values, wherever they come from (`OptionSet`). `muse.commands.command` makes
of it the options of a command, in sections of help; `takes` the signature of a function; `recorded` what
the manifest of a space says of it; `compared` what decides whether a space is replaced without --force;
`of_checkpoint` what a run shares with the one it resumes.
"""

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, FrozenInstanceError, dataclass, field, fields, replace
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from types import GenericAlias, MappingProxyType
from typing import Any, Literal, ParamSpec, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from muse.errors import BadSetting, Contradiction, did_you_mean
from muse.optional import require

T = TypeVar("T", bound="OptionSet")
P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
REQUIRED = inspect.Parameter.empty  # the default of what must be given
LARGEST = 1e30  # times a logarithm or a distance it is still a number of float32
LONGEST_SHOWN = 200  # characters of a wrong value
MOST_THREADS = 1_024  # more than any machine has use for; OpenMP breaks down at 100,000
# As muse.files.lexicons.formats, which help need not load.
DICTIONARY_FORMS = (
    "muse", "tsv", "csv", "xlsx", "jsonl", "parquet", "bicleaner", "lex.f2e", "lex.e2f", "kaikki", "dict.cc",
    "tei", "tmx", "tbx", "stardict", "dictd", "kindle", "hunalign", "tabfile",
)  # fmt: skip
COMMON = "Common"  # the section of the options that nearly all commands have, which comes last


class NotOfKind(ValueError):
    """A value of another kind; the message says what it is, where its repr would not."""


@dataclass(frozen=True)
class ValueKind:
    """A kind of value: what a value `must_be`, in messages; what Python `accepts`; how it is `made` of that.

    `made` raises TypeError or ValueError for all else. `typed` reads a word of the command line, and `shown`
    writes one; `metavar` stands for it in help. Where `listed`, one word has several values. `is_one` tells
    a value from several of them.
    """

    must_be: str
    accepts: Any
    made: Callable[[Any], Any]
    _: KW_ONLY
    typed: Callable[[str], Any] = str
    shown: Callable[[Any], str] = str
    metavar: str | None = None
    listed: bool = False
    is_one: Callable[[Any], bool] = lambda value: isinstance(value, str | PathLike)


def _flag(value: Any) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):  # numpy has its own
        raise TypeError
    return bool(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _number(value: Any) -> float:
    if isinstance(value, bool | str) or not abs(float(value)) <= LARGEST:  # nan is not
        raise ValueError
    return float(value)


def text(value: Any) -> str:
    """The value if it is a string; else a TypeError."""
    if not isinstance(value, str):
        raise TypeError
    return value


def path(value: Any) -> Path:
    """The value as a path; a TypeError for what is none."""
    return Path(fspath(value))


FLAG = ValueKind("True or False", bool, _flag)
WHOLE = ValueKind("a whole number", int, _whole, typed=int, metavar="N")
NUMBER = ValueKind("a finite number", float, _number, typed=float, shown="{:g}".format, metavar="X")
TEXT = ValueKind("a string", str, text)
PATH = ValueKind("a path", str | PathLike, path, typed=Path, metavar="FILE")
KINDS: dict[Any, ValueKind] = {bool: FLAG, int: WHOLE, float: NUMBER, str: TEXT, Path: PATH}


@dataclass(frozen=True, eq=False)
class Declaration:
    """What is declared of an option. `options_of` adds its name and what the annotation of the field says."""

    default: Any = REQUIRED
    """The value where none is given, as None never is."""
    _: KW_ONLY
    help: str = ""
    section: str = COMMON
    """The heading that it is shown under."""
    metavar: str | None = None
    flags: tuple[str, ...] = ()
    """Its names on the command line, in place of that of the field."""
    more_flags: tuple[str, ...] = ()
    """Names that are accepted as well, and not shown."""
    off: str | None = None
    """The flag that makes it False."""
    bare: Any = None
    """The value of the flag alone, where one may leave the value out."""
    argument: bool = False
    """Whether it is given by its place, without a name, on the command line."""
    positional: bool = False
    """Whether Python takes it by its place."""
    once: bool = False
    """Whether giving it twice is wrong usage; else the last one counts."""
    hidden: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    kind: ValueKind = TEXT
    """Its kind, if the annotation of the field does not tell."""
    written: bool = False
    """Whether the path is written."""
    grows: bool = False
    """Whether the path, which is read, may be replaced by what is made of it."""
    of_any_files: bool = False
    """Whether any files in the folder may be read, so that nothing is written among them."""
    presets: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Its values, in place of the default, by the value of the option that `chooses` a preset."""
    chooses: bool = False
    package: str = ""
    """The optional package that it needs: without that, it is not shown, and giving it is an error."""
    needs: str | None = None
    """The option without which it has no use."""
    group: str = ""
    """What it is among, of which one may be given."""
    only: str = ""
    """When it may be given, in the words of whoever checks it."""
    recorded: bool = False
    """Whether the manifest of a space says how it was set."""
    compared: bool = False
    """Whether a space that was made with another value is not replaced without --force."""
    checkpoint: bool = False
    """Whether a run with another value resumes none."""
    name: str = ""
    multiple: bool = False

    @property
    def flag(self) -> str:
        """Its name on the command line, for messages too."""
        return self.flags[-1] if self.flags else f"--{self.name.replace('_', '-')}"

    @property
    def shown_value(self) -> str:
        """What stands for a value in help and messages; nothing for a flag or a choice."""
        return self.metavar or ("" if self.choices else self.kind.metavar or "")

    @property
    def must_be(self) -> str:
        """What a value must be, in words."""
        if self.choices and self.kind is TEXT:
            return f"one of {', '.join(self.choices)}"
        bounds = " and ".join(f"{words} {bound:g}" for words, _, bound in self._bounds)
        one = f"{self.kind.must_be} of {bounds}" if bounds else self.kind.must_be
        return f"{one} or several" if self.multiple else one

    @property
    def accepts(self) -> Any:
        """The type of what Python accepts."""
        one: Any = Literal[self.choices] if self.choices and self.kind is TEXT else self.kind.accepts
        several = one | GenericAlias(Sequence, (one,)) if self.multiple else one
        return several if self.default is not None else several | None

    def checked(self, value: Any) -> Any:
        """The value as the option has it; BadSetting for one of another kind, or out of its range."""
        try:
            if not self.multiple:
                return self._one(value)
            alone = not isinstance(value, Iterable) or self.kind.is_one(value)
            return tuple(map(self._one, (value,) if alone else value))
        except (TypeError, ValueError) as error:
            found = str(error) if isinstance(error, NotOfKind) else repr(value)
            found = found if len(found) <= LONGEST_SHOWN else f"{found[:LONGEST_SHOWN]}..."
            raise BadSetting(f"{self.flag} must be {self.must_be}, got {found}") from None

    def _one(self, value: Any) -> Any:
        made = self.kind.made(value)
        inside = all(holds(made, bound) for _, holds, bound in self._bounds)
        if not inside or (self.choices and self.kind is TEXT and made not in self.choices):
            raise ValueError
        return made

    @property
    def _bounds(self) -> list[tuple[str, Callable[[Any, Any], bool], float]]:
        known = (
            ("at least", operator.ge, self.least), ("above", operator.gt, self.above),
            ("at most", operator.le, self.most), ("below", operator.lt, self.below),
        )  # fmt: skip
        return [(words, holds, bound) for words, holds, bound in known if bound is not None]


def _as_field(make: Callable[P, Declaration]) -> Callable[P, Any]:
    """The same function for a type checker that shall take what it returns for the field's value."""
    return make


option = _as_field(Declaration)
_fields: Any = fields  # mypy does not see that a class of options is a dataclass


@dataclass_transform(kw_only_default=True, frozen_default=True)
class OptionSet:
    """The options of a command or a function: all values are checked. Derived classes are frozen dataclasses.

    Raise BadSetting for a value of another kind, and for a required one that is not given; Contradiction for
    one that has no use without another; MissingExtra for one of a package that is not there. A field that is
    not declared by `option` is left as it is.
    """

    def __init_subclass__(cls) -> None:
        # With the methods below: compiled anew for each of fifty classes, they took a third of every start.
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)

    def __init__(self, **given: Any) -> None:
        known = {one.name: one.default for one in _fields(self)}
        if unknown := given.keys() - known.keys():
            raise TypeError(f"{type(self).__name__} has no option {', '.join(sorted(unknown))}")
        vars(self).update(known | given)
        self.__post_init__()

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise FrozenInstanceError(f"cannot change field {name!r}")

    __delattr__ = __setattr__

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((*vars(self).values(),))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({shown})"

    def __post_init__(self) -> None:
        declared = options_of(type(self))
        values, preset = dict[str, Any](), ""
        for name, one in declared.items():
            value = getattr(self, name)
            if not (value is None or isinstance(value, Declaration)):
                values[name] = one.checked(value)
                preset = str(values[name]) if one.chooses else preset
        for name, one in declared.items():
            vars(self)[name] = values.get(name, one.presets.get(preset, one.default))
        given = [one for name, one in declared.items() if is_given(self, name)]
        for name, one in declared.items():
            if getattr(self, name) is REQUIRED:
                raise BadSetting(f"{one.flag} is needed, got none")
            if one not in given:
                continue
            if one.package:
                require(one.package, one.flag)
            if one.needs is not None and (other := declared[one.needs]) not in given:
                raise Contradiction(
                    f"{one.flag} is for {other.flag}, got none; give {other.flag} {other.shown_value}, or "
                    "leave it out"
                )
            same = [two.flag for two in given if one.group and two.group == one.group]
            if len(same) > 1:
                raise Contradiction(f"{' and '.join(same)} cannot be used together; leave out all but one")


def options_of(cls: type[OptionSet]) -> Mapping[str, Declaration]:
    """The options of a class by name: those that it declares, and then those of its bases."""
    hashable: Any = cls  # which mypy does not see of a class whose instances may be none
    return _options_of(hashable)


@cache
def _options_of(cls: Any) -> Mapping[str, Declaration]:
    found, declared = dict[str, Declaration](), {one.name: one.default for one in fields(cls)}
    for owner in cls.__mro__:
        for name in owner.__dict__.get("__annotations__", {}):
            if isinstance(one := declared[name], Declaration) and name not in found:
                found[name] = _bound(one, name, owner)
    return MappingProxyType(found)


def _bound(declared: Declaration, name: str, owner: type) -> Declaration:
    """The option with its name, and the kind, choices and number of values that its annotation tells."""
    if declared.kind is not TEXT:
        several = str(owner.__annotations__[name]).startswith("tuple[") and not declared.kind.listed
        return replace(declared, name=name, multiple=several)
    # Of this field alone: others may have types that are imported for a type checker only.
    alone = type(owner.__name__, (), {"__annotations__": {name: owner.__annotations__[name]}})
    alone.__module__ = owner.__module__
    annotation = get_type_hints(alone)[name]
    if get_origin(annotation) not in (tuple, Literal):
        annotation = next((one for one in get_args(annotation) if one is not type(None)), annotation)
    multiple = get_origin(annotation) is tuple
    one = get_args(annotation)[0] if multiple else annotation
    choices = get_args(one) if get_origin(one) is Literal else declared.choices
    return replace(declared, name=name, multiple=multiple, choices=choices, kind=KINDS.get(one, TEXT))


def is_given(options: OptionSet, name: str) -> bool:
    """Whether an option has another value than its default."""
    return bool(getattr(options, name) != options_of(type(options))[name].default)


def given_only(options: OptionSet, only: str) -> list[str]:
    """The options, as on the command line, that were given and are for this alone."""
    declared = options_of(type(options))
    return [one.flag for name, one in declared.items() if one.only == only and is_given(options, name)]


def check_names(function: Callable[..., Any], given: Iterable[str]) -> None:
    """Raise BadSetting if a function of muse takes no parameter of one of these names."""
    known = sorted(inspect.signature(function).parameters)
    for name in given:
        if name not in known:
            meant = did_you_mean(name, known) or f"; choose among {', '.join(known)}"
            raise BadSetting(f"{name} is no option of muse.{function.__name__}{meant}")


def part(options: OptionSet, cls: type[T]) -> T:
    """The options of a base class alone."""
    return cls(**{one.name: getattr(options, one.name) for one in _fields(cls)})


def recorded(options: OptionSet) -> dict[str, Any]:
    """The values that a manifest records, by name; None for an option without the one that it needs."""
    return {
        name: getattr(options, name) if one.needs is None or is_given(options, one.needs) else None
        for name, one in options_of(type(options)).items()
        if one.recorded
    }


def of_checkpoint(options: OptionSet) -> dict[str, Any]:
    """The values that a run must share with the one that it resumes, by name."""
    declared = options_of(type(options))
    return {name: getattr(options, name) for name, one in declared.items() if one.checkpoint}


def departures(options: OptionSet) -> tuple[str, ...]:
    """The recorded options that are set otherwise than the chosen preset has them."""
    declared = options_of(type(options))
    (preset,) = (getattr(options, name) for name, one in declared.items() if one.chooses)
    return tuple(
        name
        for name, value in preset_of(type(options), preset).items()
        if declared[name].recorded and getattr(options, name) != value
    )


def preset_of(cls: type[OptionSet], preset: str) -> dict[str, Any]:
    """The values that a preset sets, by name."""
    return {name: one.presets[preset] for name, one in options_of(cls).items() if preset in one.presets}


def takes(cls: type[OptionSet], *without: str) -> Callable[[F], F]:
    """A decorator of a function that takes options as `**options`: its signature has every one by name."""

    def named(function: F) -> F:
        own = inspect.signature(function)
        made = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        for name, one in options_of(cls).items():
            if name not in {*without, *own.parameters}:
                place: Any = "POSITIONAL_OR_KEYWORD" if one.positional else "KEYWORD_ONLY"
                place = getattr(inspect.Parameter, place)
                made.append(inspect.Parameter(name, place, default=one.default, annotation=one.accepts))
        setattr(function, "__signature__", own.replace(parameters=sorted(made, key=lambda one: one.kind)))  # noqa: B010
        return function

    return named


# Options that nearly every command has


class Seed(OptionSet):
    """The random seed."""

    seed: int = option(0, least=0, help="Random seed.", compared=True, checkpoint=True)


class Device(OptionSet):
    """What computes."""

    device: Literal["auto", "cpu", "cuda"] = option("auto", help="Device to compute on.")


class Threads(OptionSet):
    """How many threads compute."""

    threads: int | None = option(
        None, least=1, most=MOST_THREADS, help="Number of CPU threads.  [default: all]"
    )


class Backend(OptionSet):
    """The library that searches."""

    backend: Literal["auto", "torch", "faiss"] = option(
        "auto", section="Advanced", presets={"muse": "faiss"},
        help="Library for exact neighbour search: the same results, at another speed. auto is torch.",
    )  # fmt: skip


class OneSpace(OptionSet):
    """A space, which may be left out where there is one alone."""

    space: Path = option(argument=True)


class Languages(OptionSet):
    """Two languages of a space."""

    src: str | None = option(
        None, section="Input", metavar="LANG", more_flags=("--lang", "--src-lang"),
        help="Source language.  [default: the language besides the pivot; if --tgt is that, the pivot]",
    )  # fmt: skip
    tgt: str | None = option(
        None, section="Input", metavar="LANG", more_flags=("--tgt-lang",),
        help="Target language.  [default: the pivot; if --src is the pivot, the other language]",
    )  # fmt: skip


class OwnTranslations(OptionSet):
    """A dictionary of the user's."""

    glossary: Path | None = option(
        None, section="What it does",
        help="Your own translations of words and terms, any dictionary file; they win over the space's.",
    )  # fmt: skip


class Retrieved(Backend):
    """How neighbours are looked up."""

    retrieval: Literal["csls", "nn", "isf"] = option(
        "csls", section="Advanced", once=True, help="Search by CSLS, nearest neighbour or inverted softmax."
    )


class Searched(OptionSet):
    """Exact or approximate search."""

    search: Literal["auto", "exact", "approximate"] = option(
        "auto", section="Advanced",
        help="How to search; auto is approximate for more than 80,000 by 80,000. The recall is measured.",
    )  # fmt: skip


class Answered(OptionSet):
    """How translations are ranked."""

    answers: Literal["all", "csls"] = option(
        "all", section="Advanced",
        help="Translations chosen by all the evidence, where SPACE has them, or by CSLS alone, as in the "
        "papers.",
    )  # fmt: skip


class Clustered(OptionSet):
    """A Ray cluster that a command runs on."""

    ray: str | None = option(
        None, package="cluster", section="Advanced", metavar="ADDRESS",
        help="Run on a Ray cluster: local (started here), auto, HOST:PORT or ray://HOST:PORT. --out is then "
        "a folder of Parquet files; run the same command again to resume.",
    )  # fmt: skip


class DictionaryForm(OptionSet):
    """The format of a dictionary, where it should not be recognised."""

    dictionary_format: str | None = option(
        None, section="Advanced", choices=DICTIONARY_FORMS, metavar="NAME", needs="dictionary",
        help=f"Format of --dictionary: {', '.join(DICTIONARY_FORMS)}.  [default: recognised by its content]",
    )  # fmt: skip


class Common(OptionSet):
    """What every command prints, and where."""

    as_json: bool = option(False, flags=("--json",), help="Print one JSON object on stdout.")
    quiet: bool = option(False, flags=("-q", "--quiet"), help="Print only errors on stderr.")
    verbose: bool = option(False, flags=("-v", "--verbose"), help="Print more on stderr.")


class RunOptions(Common, Device, Threads):
    """How a command computes, and what it prints."""
