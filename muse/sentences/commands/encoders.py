"""Helpers of commands with a sentence encoder: its options, loading it, encoding with it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muse.commands.evaluate_tasks import named
from muse.commands.inputs import warn_if_unknown
from muse.commands.outputs import check_inputs_spared

if TYPE_CHECKING:
    from collections.abc import Callable

    from muse.progress import Progress
    from muse.search.retrieval import PairScore
    from muse.sentences.encoders.encoder import SentenceEncoder
    from muse.space import Space
    from muse.vectors import Matrix

OWN = "task"  # the value of --fit that stands for the sentences of the task itself
F = TypeVar("F", bound="Callable[..., Any]")
log = logging.getLogger(__name__)


def encoder_options(default: str) -> Callable[[F], F]:
    """Adds the options that name an encoder, by default this one, and the text it learns weights from."""
    fit = click.option(
        "--fit", "fit_files", multiple=True, metavar="LANG=FILE",
        help="Text to learn the encoder's weights from, a sentence on each line; never the test data. "
        "May be repeated.",
    )  # fmt: skip
    return lambda command: encoder_names(default)(fit(command))


def encoder_names(default: str) -> Callable[[F], F]:
    """Adds the options that name an encoder, by default this one, and its further spaces."""
    also = click.option(
        "--also", multiple=True, type=Path, metavar="SPACE",
        help="Another space for the encoder; may be repeated. One encoder reads all, several read one each.",
    )  # fmt: skip
    return lambda command: encoder_name(default)(also(command))


def encoder_name(default: str) -> Callable[[F], F]:
    """Adds the option that names an encoder, by default this one."""
    return click.option(
        "--encoder", default=default, show_default=True, metavar="NAME|FOLDER",
        help="mean, idf, sif or power-mean[-inf,1,inf], followed by any of +ngrams, +znorm, +pcr, +centre, "
        "+binary; or a saved encoder. Join several with &.",
    )  # fmt: skip


def open_encoder(
    space: Space, options: dict[str, Any], own: Mapping[str, Sequence[str]] | None = None
) -> SentenceEncoder:
    """The encoder of --encoder, fitted on the text of --fit; `own` is what `--fit task` stands for."""
    from muse.files.sentence_text import read_sentences
    from muse.progress import Progress
    from muse.sentences.loading import load_encoder
    from muse.space import load_space

    if own is None and OWN in options["fit_files"]:
        raise click.UsageError(f"--fit {OWN} is for {named('transfer')}; --fit needs LANG=FILE.")
    files = [value for value in options["fit_files"] if value != OWN]
    texts = {language: read_sentences(path) for language, path in by_language(files, "--fit")}
    for language in texts:
        space.side(language)
    if own is not None and OWN in options["fit_files"]:
        texts = {**{language: list(text) for language, text in own.items()}, **texts}
    more = [load_space(folder) for folder in options["also"]]
    for one in more:
        check_inputs_spared(one.manifest)
    encoder = load_encoder(options["encoder"], space, *more, progress=Progress(quiet=options["quiet"]))
    for language, text in texts.items():
        encoder = fitted(encoder, text, language)
    return encoder


def made_by(encoder: SentenceEncoder, options: dict[str, Any]) -> tuple[str, ...]:
    """What the signature of a score says of its encoder: its name, weights, spaces, and the text of --fit.

    Its files are read for this: call it once, before the work.
    """
    from muse.sentences.encoders.saving import weights_checksum
    from muse.sentences.loading import saved_in

    weights = "+".join(weights_checksum(folder)[:4] for folder in saved_in(options["encoder"]))
    fit = "+".join(map(_fit_name, options["fit_files"]))
    return (
        f"encoder:{encoder.name}",
        *([f"weights:{weights}"] if weights else []),
        *(f"also:{folder.resolve().name}" for folder in options["also"]),
        *([f"fit:{fit}"] if fit else []),
    )


def _fit_name(value: str) -> str:
    from muse.evaluation.score import text_name

    language, equals, path = value.partition("=")
    return f"{language}={text_name(path)}" if equals else value


def fitted(encoder: SentenceEncoder, text: Sequence[str], language: str) -> SentenceEncoder:
    """The encoder fitted on the text; warns if it learns nothing from text."""
    found = encoder.fit(text, language)
    if found is encoder:
        log.warning("%s learns nothing from text: --fit has no effect", encoder.name)
    return found


def by_language(values: Sequence[str], option: str) -> list[tuple[str, Path]]:
    """The languages and files of `LANG=FILE`, each language once; a usage error for anything else."""
    found: dict[str, Path] = {}
    for value in values:
        language, equals, path = value.partition("=")
        if not (language and equals and path):
            advice = "" if equals else f"; write its language before it, as in {option} fr={value}"
            raise click.UsageError(f"{option} needs LANG=FILE, got {value!r}{advice}.")
        if language in found:
            raise click.UsageError(f"{option} needs each language once, got {language} twice.")
        found[language] = Path(path)
    return list(found.items())


def by_language_with_default(language: str, values: Sequence[str], option: str) -> dict[str, Path]:
    """The file of each language, of `LANG=FILE` as of by_language; a FILE without one is of `language`."""
    plain, named = plain_and_named(values)
    return dict(by_language([*named, *(f"{language}={path}" for path in plain)], option))


def plain_and_named(values: Sequence[str]) -> tuple[list[str], list[str]]:
    """The file without a language, at most one, and those given as LANG=FILE."""
    # A file may have = in its name. Of several files without a language the last counts, as with any option.
    named = [value for value in values if "=" in value and not Path(value).exists()]
    return [value for value in values if value not in named][-1:], named


def encoded(encoder: SentenceEncoder, sentences: Sequence[str], language: str, progress: Progress) -> Matrix:
    """The rows (s, d') of the sentences; warns if most of their words are unknown."""
    counted = progress.through(f"encoding {language}", sentences, len(sentences), lambda _: 1, "sentences")
    found = encoder.encode(counted, language)
    warn_if_unknown(found.unknown, found.tokens, language, sentences)
    return found.matrix


def pair_scores(methods: Sequence[str], k: int | None) -> list[PairScore]:
    """One score of pairs for each method; k is 10 for csls, as for words, and 4 for margin by default."""
    from muse.search.retrieval import PairScore

    usual = {"csls": 10}
    return [PairScore(method, k=k or usual.get(method, 4)) for method in dict.fromkeys(methods)]
