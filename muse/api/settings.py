"""Options: those of `muse align`, flat as on the command line, as the Request that nests them.

Arrays: rows in memory that stand for a file of vectors in `muse.align`.

Request: the arguments of a run of `muse align`, checked as far as possible without reading files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting, Contradiction, did_you_mean
from muse.files.rows import table_of_rows
from muse.files.source import cannot_open
from muse.files.vectors.locate import locate_vectors
from muse.files.vectors.spacy import find_vectors
from muse.files.vectors.table import Table
from muse.learn.auto import ROUNDS
from muse.learn.pair import MINIMUM_WORDS, AlignConfig
from muse.learn.refine import RefineConfig
from muse.space import check_language

_NO_PIVOT = "--tgt LANG or --into SPACE is needed, got neither"
# The name of an option on the command line, with underscores, and the field of Request where it has another.
FIELDS = {
    "src_emb": "source_file", "tgt_emb": "target_file", "via_emb": "via_file", "src_words": "source_words",
    "tgt_words": "target_words", "src_texts": "source_texts", "tgt_texts": "target_texts",
    "lower": "lowercase",
}  # fmt: skip
# Those of AlignConfig.
LEARNING = ("init", "no_identical", "normalise", "refine", "reweight", "joint", "seed")
_VECTORS = {"source_file", "target_file", "via_file"}
_FILES = {"source_words", "target_words", "source_texts", "target_texts", "dictionary", "out", "into"}
_WHOLE = {"max_vocab": 1, "seed": 0}  # the least value
_YES_OR_NO = {"lowercase", "resume", "no_identical", "refine", "reweight", "joint"}


@dataclass(frozen=True, eq=False)
class RowArray:
    """Rows (n, d) in memory, in no order; row i has the id str(i), as in a file without ids."""

    rows: NDArray[Any]

    def table(self, language: str) -> Table:
        """The rows as a file yields them, so that they are checked and copied as those of a file are."""
        return table_of_rows(Path(language), self.rows)


Given = Path | RowArray


def given_vectors(name: str, given: object) -> Given | tuple[Given, ...] | None:
    """The option `name` of `muse.align`: a path, an array, or several of them; BadSetting for all else."""
    if given is None:
        return None
    if isinstance(given, (list, tuple)):
        return tuple(_one(name, one) for one in given)
    return _one(name, given)


def _one(name: str, given: object) -> Given:
    if isinstance(given, RowArray):
        return given
    if isinstance(given, (str, PathLike)):
        return Path(given)
    if not hasattr(given, "__array__"):
        raise BadSetting(_expected_array(name, type(given).__name__))
    try:
        rows = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:  # a tensor on a GPU, or of a type numpy lacks
        raise BadSetting(_expected_array(name, f"{type(given).__name__} ({error})")) from error
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or not rows.size:
        raise BadSetting(_expected_array(name, f"an array of {rows.dtype} of shape {rows.shape}"))
    return RowArray(rows)


def _expected_array(name: str, found: str) -> str:
    return (
        f"{name} must be a path or an array of n rows of d real numbers, got {found}; give "
        "the rows as a two-dimensional numpy array"
    )


@dataclass(frozen=True)
class Request:
    """What to align, from which files, and where to save it: the options of `muse.align`."""

    source: str | tuple[str, ...]
    """The language to map, or several: `--src`."""
    target: str | None = None
    """The language to map into, the pivot: `--tgt`. It may be left out with `into`."""
    source_file: Given | tuple[Given, ...] | None = None
    """The vectors of `source`, several in the same order: files, names or folders of spaCy pipelines, or
    arrays (n, d) of rows in no order: `--src-emb`. None looks them up."""
    target_file: Given | None = None
    """The vectors of `target`: `--tgt-emb`. None looks them up."""
    dictionary: Path | None = None
    """Translations to learn from, for one `source`: `--dictionary`. None learns without."""
    out: Path | None = None
    """The folder of the space: `--out`. None is `embeddings/aligned/SRC-TGT`, or `into`."""
    max_vocab: int | None = None
    """Read only this many words, the most frequent ones: `--max-vocab`. None reads all."""
    lowercase: bool = False
    """Lowercase words; the first spelling of a word wins: `--lower`."""
    resume: bool = False
    """Resume an interrupted run of the same request: `--resume`."""
    config: AlignConfig = AlignConfig()
    """How to learn: initialisation, normalisation, refinement, seed."""
    into: Path | None = None
    """A saved space that the languages are added to, in place of `target`: `--into`."""
    via: tuple[str, ...] = ()
    """Languages for detours only, which are not saved: `--via`."""
    via_file: Given | tuple[Given, ...] | None = None
    """The vectors of `via`, in the same order: `--via-emb`. None looks them up."""
    source_words: Path | None = None
    """The words of one `source`, if n-grams compose its vectors: `--src-words`. None takes the file's own."""
    target_words: Path | None = None
    """The words of `target`, if n-grams compose its vectors: `--tgt-words`. None takes the file's own."""
    source_texts: Path | None = None
    """What the rows of one `source` stand for if they have no words, a text a line: `--src-captions`. None is
    the column `text` or `sentence` of Parquet."""
    target_texts: Path | None = None
    """What the rows of `target` stand for: `--tgt-captions`."""
    command: tuple[str, ...] = ()
    """The command line, which the space records; empty if there is none."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The languages to map."""
        return (self.source,) if isinstance(self.source, str) else tuple(self.source)

    @property
    def folder(self) -> Path:
        """The folder of the space."""
        name = "-".join((*self.sources, self.pivot)) if self.into is None else ""
        return self.out or self.into or Path("embeddings", "aligned", name)

    @property
    def pivot(self) -> str:
        """The language that the others are mapped to; BadSetting if it is not known yet."""
        if self.target is None:
            raise BadSetting(_NO_PIVOT)
        return self.target

    @property
    def moves_target(self) -> bool:
        """Whether the target may be moved, which it may not if several languages share it."""
        return self.into is None and len(self.sources) == 1

    def check(self) -> None:
        """Raise BadSetting if the arguments are invalid or contradict each other."""
        self._check_languages()
        _check_files("--src", _each(self.source_file), self.sources)
        _check_files("--via", _each(self.via_file), self.via)
        self._check_several()
        self._check_learning()

    def _check_learning(self) -> None:
        """Raise BadSetting if nothing can be learned so, or an initialisation would not be used."""
        init = self.config.plan.init
        if self.dictionary is None:
            if init == "dictionary":
                raise Contradiction(
                    "--init dictionary needs the pairs to learn from, got none; give --dictionary FILE"
                )
            if self.max_vocab is not None and self.max_vocab < MINIMUM_WORDS:
                raise BadSetting(
                    f"--max-vocab must be at least {MINIMUM_WORDS}, with fewer words nothing is aligned "
                    f"without a dictionary; got {self.max_vocab}; raise it, or give --dictionary FILE"
                )
        elif self.config.refine is None and init not in ("auto", "dictionary"):
            raise Contradiction(
                "--no-refine with --dictionary is Procrustes on the pairs, which needs no initialisation, "
                f"got --init {init}; leave out one of the three"
            )

    def _check_languages(self) -> None:
        sources = self.sources
        if not sources:
            raise BadSetting("at least one --src is needed, got none")
        for language in (*sources, *self.via, *([] if self.target is None else [self.target])):
            check_language(language)
        for language in sources:
            if sources.count(language) > 1:
                raise Contradiction(f"every --src must be a different language, got {language!r} twice")
        if self.target in sources:
            raise Contradiction(
                f"--src and --tgt must be different languages, got {self.target!r} twice; change one"
            )
        for language in self.via:
            if self.via.count(language) > 1 or language in (*sources, self.target):
                raise Contradiction(
                    f"every --via must be a language besides --src and --tgt, given once; got {language!r} "
                    "again; leave it out: the languages of --src serve as detours anyway"
                )

    def check_files(self, *, besides: Collection[str] = ()) -> None:
        """Raise BadFile for a file that is missing; the vectors of the languages `besides` may be.

        The dictionary is not among them: it is read before the vectors.
        """
        lists = self.source_words, self.target_words, self.source_texts, self.target_texts
        files = [*self.via_files(), *lists]
        if not set(self.sources) <= set(besides):
            files += self.source_files()
        if self.into is None and self.pivot not in besides:
            files.append(self.pivot_file())
        for file in files:
            if isinstance(file, Path):
                try:
                    file.stat()
                except OSError as error:
                    raise BadFile(cannot_open(file, error)) from error

    def _check_several(self) -> None:
        sources = self.sources
        if self.into is None and self.target is None:
            raise BadSetting(_NO_PIVOT)
        if self.into is not None:
            for option, given in (
                ("--tgt-emb", self.target_file),
                ("--tgt-words", self.target_words),
                ("--tgt-captions", self.target_texts),
            ):
                if given is not None:
                    raise Contradiction(f"--into uses the target's vectors in the space; omit {option}")
        for option, given in (
            ("--dictionary", self.dictionary),
            ("--src-words", self.source_words),
            ("--src-captions", self.source_texts),
        ):
            if given is not None and len(sources) > 1:
                raise Contradiction(
                    f"{option} needs a single --src, got {len(sources)}; align that language first, "
                    "then add the others with --into"
                )
        if self.config.joint and (len(sources) < 2 or self.into is not None):
            raise Contradiction(
                "--joint needs at least two --src and no --into: it moves every language but the target"
            )

    def word_list(self, language: str) -> Path | None:
        """The list of words of a language whose vectors n-grams compose, if one was given."""
        if language == self.target:
            return self.target_words
        return self.source_words if language in self.sources else None

    def texts(self, language: str) -> Path | None:
        """The texts of the rows of a language, if they were given."""
        if language == self.target:
            return self.target_texts
        return self.source_texts if language in self.sources else None

    def source_files(self) -> tuple[Given, ...]:
        """The vectors of each language to map; BadFile if none are found."""
        return _located(self.source_file, self.sources, "--src-emb")

    def pivot_file(self) -> Given:
        """The vectors of the pivot; BadFile if none are found."""
        return _located(self.target_file, (self.pivot,), "--tgt-emb")[0]

    def via_files(self) -> tuple[Given, ...]:
        """The vectors of each language for detours only; BadFile if none are found."""
        return _located(self.via_file, self.via, "--via-emb")


@dataclass(frozen=True)
class Untrained:
    """Languages whose vectors are not there yet, and what trains them."""

    languages: Collection[str]
    train: Callable[[], object]


def _located(
    given: Given | tuple[Given, ...] | None, languages: tuple[str, ...], option: str
) -> tuple[Given, ...]:
    if given is None:
        return tuple(locate_vectors(language, option) for language in languages)
    return tuple(one if isinstance(one, RowArray) else find_vectors(one) for one in _each(given))


def _each(given: Given | tuple[Given, ...] | None) -> tuple[Given, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, tuple) else (given,)


def _check_files(option: str, files: tuple[Given, ...], languages: tuple[str, ...]) -> None:
    if files and len(files) != len(languages):
        raise Contradiction(
            f"{option}-emb must be given once for each {option}, in the same order: got {len(files)} "
            f"files for {len(languages)} languages; give one for each, or none to search for them"
        )


OWN = tuple(field.name for field in fields(Request) if field.name not in ("source", "target"))
KNOWN = (*OWN, *FIELDS, *LEARNING)


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
    given = dict[str, str]()  # the name that each field was given by
    for name, value in options.items():
        if name not in KNOWN:
            raise BadSetting(
                f"{name} is no option of muse.align{did_you_mean(name, KNOWN) or f'; choose among {_all()}'}"
            )
        field = FIELDS.get(name, name)
        if field in given:
            raise BadSetting(f"{given[field]} and {name} are one option, got both; leave one of them out")
        given[field], found[field] = name, _checked(name, field, value)
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
