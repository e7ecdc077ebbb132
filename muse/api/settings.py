"""The settings of a run of `muse align`, from Python or the command line, checked before any work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch

from muse.errors import BadFile, BadSetting, Contradiction, did_you_mean
from muse.files.lexicons import check_form
from muse.files.source import cannot_open, is_stream
from muse.files.vectors.locate import locate_vectors
from muse.files.vectors.spacy import find_vectors
from muse.files.writing import check_place
from muse.learn.bilingual import MINIMUM_WORDS
from muse.learn.refine import PLAIN
from muse.learn.settings import NO_PIVOT, OPTIONS, RECIPES, AlignConfig, Given, RowArray, check_recipe
from muse.optional import load, require
from muse.progress import Progress
from muse.space import check_apart, check_language

log = logging.getLogger(__name__)

FORMER_NAMES = {
    "source_file": "src_emb", "target_file": "tgt_emb", "via_file": "via_emb", "source_words": "src_words",
    "target_words": "tgt_words", "source_texts": "src_captions", "target_texts": "tgt_captions",
    "src_texts": "src_captions", "tgt_texts": "tgt_captions", "lowercase": "lower",
}  # fmt: skip
_VECTORS = {"src_emb", "tgt_emb", "via_emb"}
_FILES = {
    "src_words", "tgt_words", "src_captions", "tgt_captions", "dictionary", "out", "into", "encoder",
    "evidence",
}  # fmt: skip
_WHOLE = {"max_vocab": 1, "seed": 0}  # the least value
_YES_OR_NO = {"lower", "resume", "force", "no_identical", "reweight", "joint"}
# Given otherwise, or found by the run:
_OF_A_RUN = ("src", "tgt", "lexicon", "scored", "hints", "frequency_ordered", "fixed_target")
KNOWN = (*(name for name in OPTIONS if name not in _OF_A_RUN), "config", *FORMER_NAMES)

OF_CALLS = ("device", "progress", "quiet", "src", "src_text", "tgt", "tgt_text", "threads", "verbose")


def settings_of(src: str | Sequence[str] | None, tgt: str | None, options: Mapping[str, Any]) -> AlignConfig:
    """The settings with these options by their names on the command line, with underscores (`src_emb`).

    An option that is None is not given. `config` has settings that the options change. Raise BadSetting for
    an unknown name and a value of another type, and Contradiction for options that exclude one another.
    """
    given = _checked_options({name: value for name, value in options.items() if value is not None})
    base = given.pop("config", AlignConfig())
    check_recipe(given.get("recipe"))
    given = {**RECIPES.get(given.get("recipe", ""), {}), **given}
    _check_agreement({"init": base.init, "refine": base.refine is not False, **given})
    if src is not None:
        given["src"] = _several("source", src)
    if not isinstance(tgt, str | None):
        raise _expected("target", "a language", tgt)
    if tgt is not None:
        given["tgt"] = tgt
    if "refine" in given:  # yes keeps the settings of refinement, no leaves out the first rounds too
        given.setdefault("rounds", (base.rounds or None) if given["refine"] else None)
        if given["refine"] is True:
            given["refine"] = base.refine or True
    config: AlignConfig = replace(base, **given)
    if given.get("reweight") and not config.moves_target:
        raise Contradiction(
            "--reweight moves the target, which several languages share; use it with one --src and no --into"
        )
    return config


def _check_agreement(options: Mapping[str, Any]) -> None:
    if options.get("init") == "identical" and options.get("no_identical"):
        raise Contradiction("--no-identical forbids --init identical; leave one of them out")
    if options.get("reweight") and options.get("refine") is False:
        raise Contradiction(
            "--reweight follows refinement, which --no-refine leaves out; leave one of them out"
        )


def _checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, checked, by their present names."""
    found: dict[str, Any] = {}
    given = dict[str, str]()  # the name that each was given by
    for name, value in options.items():
        if name not in KNOWN:
            meant = did_you_mean(name, (*KNOWN, *OF_CALLS)) or f"; choose among {', '.join(sorted(KNOWN))}"
            raise BadSetting(f"{name} is no option of muse.align{meant}")
        present = FORMER_NAMES.get(name, name)
        if present in given:
            raise BadSetting(f"{given[present]} and {name} are one option, got both; leave one of them out")
        given[present], found[present] = name, _checked(name, present, value)
    return found


def _checked(name: str, present: str, value: Any) -> Any:
    if present in _VECTORS:
        vectors = given_vectors(name, value)
        return vectors if present == "tgt_emb" else _each(vectors)
    if present in _FILES:
        if not isinstance(value, str | PathLike):
            raise _expected(name, "a path", value)
        return Path(value)
    if present in _WHOLE or present in _YES_OR_NO:
        return _number(name, present, value)
    if present == "config" and not isinstance(value, AlignConfig):
        raise _expected(name, "a muse.AlignConfig", value)
    if present == "encoder_emb":
        return _paths(name, value)
    if present in (
        "encoder_template",
        "recipe",
        "backend",
        "src_column",
        "tgt_column",
        "dictionary_format",
    ) and not isinstance(value, str):
        raise _expected(name, "a string", value)
    if present == "refine" and isinstance(value, str):
        return _refinement(name, value)
    if present in ("via", "normalise", "command"):
        return _several(name, value)
    return value


def _number(name: str, present: str, value: Any) -> int | bool:
    if present in _YES_OR_NO:
        if not isinstance(value, bool | np.bool_):
            raise _expected(name, "True or False", value)
        return bool(value)
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < _WHOLE[present]:
        raise _expected(name, f"a whole number of at least {_WHOLE[present]}", value)
    return int(value)


def _refinement(name: str, value: str) -> object:
    """What `--refine` takes by name."""
    known = {"full": True, "plain": PLAIN}
    if value not in known:
        raise _expected(name, f"True, False or one of {', '.join(known)}", value)
    return known[value]


def _paths(name: str, value: object, what: str = "two paths") -> tuple[Path, ...]:
    files = value if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(file, str | PathLike) for file in files):
        raise _expected(name, what, value)
    return tuple(map(Path, files))


def _several(name: str, value: object) -> tuple[str, ...]:
    """Strings; one alone is a language, or steps with commas between them, or none of them."""
    if isinstance(value, str):
        if name == "normalise":
            return () if value.strip() == "none" else tuple(step.strip() for step in value.split(","))
        return (value,)
    if not isinstance(value, Iterable):
        raise _expected(name, "a string or several", value)
    several = tuple(value)
    if not all(isinstance(one, str) for one in several):
        raise _expected(name, "a string or several", value)
    return several


def _expected(name: str, what: str, value: object) -> BadSetting:
    return BadSetting(f"{name} must be {what}, got {value!r}")


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


def check(config: AlignConfig) -> None:
    """Raise BadSetting if the settings contradict each other, as far as that shows without reading files."""
    _check_languages(config)
    _check_files("--src", config.src_emb, config.src)
    _check_files("--via", config.via_emb, config.via)
    _check_several(config)
    _check_learning(config)


def _check_learning(config: AlignConfig) -> None:
    """Raise BadSetting if nothing can be learned so, or an initialisation would not be used."""
    init = config.init
    check_form(config.dictionary_format)
    check_form(config.evidence_format, "--evidence-format")
    if config.evidence is None and config.evidence_format is not None:
        raise Contradiction(
            "--evidence-format is the format of translations, got none; give --evidence FILE, or leave it out"
        )
    if config.encoder is None and config.encoder_template != AlignConfig.encoder_template:
        raise Contradiction(
            "--encoder-template is what an encoder reads for a word, got no encoder; give --encoder FOLDER, "
            "or leave it out"
        )
    if config.dictionary is None:
        if config.dictionary_format is not None:
            raise Contradiction(
                "--dictionary-format is the format of a dictionary, got none; give --dictionary FILE, or "
                "leave it out"
            )
        if init == "dictionary":
            raise Contradiction(
                "--init dictionary needs the pairs to learn from, got none; give --dictionary FILE"
            )
        if config.max_vocab is not None and config.max_vocab < MINIMUM_WORDS:
            raise BadSetting(
                f"--max-vocab must be at least {MINIMUM_WORDS}, with fewer words nothing is aligned "
                f"without a dictionary; got {config.max_vocab}; raise it, or give --dictionary FILE"
            )
    elif config.refine is False and init not in ("auto", "dictionary"):
        raise Contradiction(
            "--no-refine with --dictionary is Procrustes on the pairs, which needs no initialisation, "
            f"got --init {init}; leave out one of the three"
        )


def _check_languages(config: AlignConfig) -> None:
    sources = config.src
    if not sources:
        raise BadSetting("at least one --src is needed, got none")
    for language in (*sources, *config.via, *([] if config.tgt is None else [config.tgt])):
        check_language(language)
    check_apart((*sources, *config.via, *([] if config.tgt is None else [config.tgt])))
    for language in sources:
        if sources.count(language) > 1:
            raise Contradiction(f"every --src must be a different language, got {language!r} twice")
    if config.tgt in sources:
        raise Contradiction(
            f"--src and --tgt must be different languages, got {config.tgt!r} twice; change one"
        )
    for language in config.via:
        if config.via.count(language) > 1 or language in (*sources, config.tgt):
            raise Contradiction(
                f"every --via must be a language besides --src and --tgt, given once; got {language!r} "
                "again; leave it out: the languages of --src serve as detours anyway"
            )


def check_files(config: AlignConfig, *, besides: Collection[str] = ()) -> None:
    """Raise BadFile for a file that is missing; the vectors of the languages `besides` may be.

    The dictionary is not among them: it is read before the vectors.
    """
    lists = config.src_words, config.tgt_words, config.src_captions, config.tgt_captions
    files = [*via_files(config), *lists, *map(find_vectors, config.encoder_emb), config.evidence]
    if not set(config.src) <= set(besides):
        files += source_files(config)
    if config.into is None and config.pivot not in besides:
        files.append(pivot_file(config))
    for file in files:
        if isinstance(file, Path):
            try:
                file.stat()
            except OSError as error:
                raise BadFile(cannot_open(file, error)) from error


def _check_several(config: AlignConfig) -> None:
    """Raise BadSetting without a target, Contradiction for options of one language beside several."""
    sources = config.src
    if config.into is not None:
        _check_addition(config)
    elif config.tgt is None:
        raise BadSetting(NO_PIVOT)
    of_one_source: tuple[tuple[str, object], ...] = (
        ("--dictionary", config.dictionary),
        ("--encoder", config.encoder),
        ("--encoder-emb", config.encoder_emb or None),
        ("--evidence", config.evidence),
        ("--src-words", config.src_words),
        ("--src-captions", config.src_captions),
        ("--src-column", config.src_column),
    )
    for option, value in of_one_source:
        if value is not None and len(sources) > 1:
            raise Contradiction(
                f"{option} needs a single --src, got {len(sources)}; align that language first, "
                "then add the others with --into"
            )
    if config.joint and (len(sources) < 2 or config.into is not None):
        raise Contradiction(
            "--joint needs at least two --src and no --into: it moves every language but the target"
        )


def _check_addition(config: AlignConfig) -> None:
    """Raise Contradiction for options of a target, which a space that grows has already."""
    for option, given in (
        ("--tgt-emb", config.tgt_emb),
        ("--tgt-words", config.tgt_words),
        ("--tgt-captions", config.tgt_captions),
        ("--tgt-column", config.tgt_column),
    ):
        if given is not None:
            raise Contradiction(f"--into uses the target's vectors in the space; omit {option}")
    if config.keeps_lengths:
        raise Contradiction(
            "--into has the target's vectors at unit length, so those of --src need it too; got "
            f"--normalise {','.join(config.normalise) or 'none'}; let it end with unit"
        )


def word_list(config: AlignConfig, language: str) -> Path | None:
    """The list of words of a language whose vectors n-grams compose, if one was given."""
    if language == config.tgt:
        return config.tgt_words
    return config.src_words if language in config.src else None


def captions(config: AlignConfig, language: str) -> Path | None:
    """The texts of the rows of a language, if they were given."""
    if language == config.tgt:
        return config.tgt_captions
    return config.src_captions if language in config.src else None


def column(config: AlignConfig, language: str) -> str | None:
    """The column of the vectors of a language, if one was given."""
    if language == config.tgt:
        return config.tgt_column
    return config.src_column if language in config.src else None


def source_files(config: AlignConfig) -> tuple[Given, ...]:
    """The vectors of each language to map; BadFile if none are found."""
    return _located(config.src_emb, config.src, "--src-emb")


def pivot_file(config: AlignConfig) -> Given:
    """The vectors of the pivot; BadFile if none are found."""
    return _located(_each(config.tgt_emb), (config.pivot,), "--tgt-emb")[0]


def files_of(config: AlignConfig, language: str) -> list[Path] | None:
    """The files that the words of a language come from; None for arrays and pipes, which are read once."""
    if language == config.tgt:
        vectors = pivot_file(config)
    else:
        vectors = source_files(config)[config.src.index(language)]
    found = [vectors, word_list(config, language), captions(config, language)]
    files = [one for one in found if isinstance(one, Path)]
    return None if isinstance(vectors, RowArray) or any(map(is_stream, files)) else files


def via_files(config: AlignConfig) -> tuple[Given, ...]:
    """The vectors of each language for detours only; BadFile if none are found."""
    return _located(config.via_emb, config.via, "--via-emb")


def _located(given: tuple[Given, ...], languages: tuple[str, ...], option: str) -> tuple[Given, ...]:
    if not given:
        return tuple(locate_vectors(language, option) for language in languages)
    return tuple(one if isinstance(one, RowArray) else find_vectors(one) for one in given)


def _each(given: Given | tuple[Given, ...] | None) -> tuple[Given, ...]:
    if given is None:
        return ()
    return given if isinstance(given, tuple) else (given,)


def _check_files(option: str, files: tuple[Given, ...], languages: tuple[str, ...]) -> None:
    if files and len(files) != len(languages):
        raise Contradiction(
            f"{option}-emb must be given once for each {option}, in the same order: got {len(files)} "
            f"files for {len(languages)} languages; give one for each, or none to search for them"
        )


@dataclass(frozen=True)
class Untrained:
    """Languages whose vectors are not there yet, and what trains them."""

    languages: Collection[str]
    train: Callable[[], object]


def untrained_of(
    config: AlignConfig, src_text: Sequence[Path], tgt_text: Path | None, *, quiet: bool
) -> Untrained:
    """The languages that have a text in place of vectors, and what trains these: `--src-text`, `--tgt-text`.

    Raise Contradiction or BadFile where the texts contradict other settings or files.
    """
    texts = _texts(config, src_text, tgt_text)
    if texts:
        require("embedding", "--src-text or --tgt-text")
    for language, text in texts.items():
        if not text.exists():
            raise BadFile(f"{text}: expected the text of {language!r}, found no such file; check its name")
        if vectors_of(language).exists():
            raise BadFile(
                f"{vectors_of(language)} is there already: expected to write the vectors of {text} to it; "
                "if they are the same, leave --src-text and --tgt-text out, else move the file away"
            )
        check_place(vectors_of(language))
        load("embedding.corpus").check_text(text)
    return Untrained(texts, lambda: _embed(texts, seed=config.seed, quiet=quiet))


def given_texts(src_text: object, tgt_text: object) -> tuple[tuple[Path, ...], Path | None]:
    """The texts of the languages to map, and of the target; BadSetting for what is no path."""
    if tgt_text is not None and not isinstance(tgt_text, str | PathLike):
        raise _expected("tgt_text", "a path", tgt_text)
    sources = () if src_text is None else _paths("src_text", src_text, "a path or several")
    return sources, None if tgt_text is None else Path(tgt_text)


def check_yes_or_no(**options: object) -> None:
    """Raise BadSetting unless all of these options are True or False."""
    for name, value in options.items():
        if not isinstance(value, bool | np.bool_):
            raise _expected(name, "True or False", value)


def _texts(config: AlignConfig, src_text: Sequence[Path], tgt_text: Path | None) -> dict[str, Path]:
    """The text of each language that has one; Contradiction if it has vectors too."""
    given = (("--src", src_text, config.src_emb), ("--tgt", tgt_text, config.tgt_emb))
    for side, text, vectors in given:
        if text and vectors:
            raise Contradiction(f"{side}-text replaces {side}-emb, got both; leave one of them out")
    if src_text and len(src_text) != len(config.src):
        raise Contradiction(
            f"--src-text must be given once for each --src, got {len(src_text)} for {len(config.src)}; give "
            "all of them, in the same order"
        )
    found = dict(zip(config.src, src_text, strict=False))
    if tgt_text is not None:
        if config.tgt is None:
            raise Contradiction("--tgt-text needs --tgt LANG; --into has the target's vectors in its space")
        found[config.tgt] = tgt_text
    return found


def vectors_of(language: str) -> Path:
    """The file of the vectors that are trained, where they are looked for by their language."""
    return Path("embeddings", f"{language}.vec")


def _embed(texts: Mapping[str, Path], *, seed: int, quiet: bool) -> None:
    """Trains the vectors of each language."""
    embedding = load("embedding.training")
    config = embedding.EmbedConfig(seed=seed, threads=torch.get_num_threads())
    for language, text in texts.items():
        made = embedding.embed(
            [text], vectors_of(language), language=language, config=config, progress=Progress(quiet=quiet)
        )
        log.info("%s words in %s, from %s tokens", f"{made.words:,}", made.out, f"{made.tokens:,}")
