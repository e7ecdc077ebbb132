"""What commands with a sentence encoder share: its options, loading it, encoding with it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muse.commands.inputs import warn_if_unknown
from muse.commands.options import named, open_space
from muse.commands.paths import check_inputs_spared
from muse.options import OneSpace, option

if TYPE_CHECKING:
    from muse.evaluation.score import Signature
    from muse.progress import Progress
    from muse.sentences.encoders.encoder import SentenceEncoder
    from muse.space import Space
    from muse.vectors import Matrix

OWN = "task"  # the value of --fit that stands for the sentences of the task itself
log = logging.getLogger(__name__)


def encoder_option(default: str) -> Any:
    """The option that names an encoder, by default this one."""
    return option(
        default, section="Encoder", metavar="NAME|FOLDER",
        help="mean, idf, sif or power-mean[-inf,1,inf], followed by any of +ngrams, +znorm, +pcr, +centre, "
        "+binary; or the folder of a saved or pretrained encoder. Join several with &.",
    )  # fmt: skip


def also_option() -> Any:
    """The option for further spaces of an encoder."""
    return option(
        (), section="Encoder", metavar="SPACE",
        help="Another space for the encoder; may be repeated. One encoder reads all, several read one each.",
    )  # fmt: skip


def language_option(text: str, **more: Any) -> Any:
    """The option for the one language of a task, with this help; `more` is what else is declared of it."""
    return option(**more, section="Input", metavar="LANG", more_flags=("--src",), once=True, help=text)


class EncoderOptions(OneSpace):
    """A space, and an encoder on it with the text that it learns weights from."""

    encoder: str = encoder_option("mean")
    also: tuple[Path, ...] = also_option()
    fit: tuple[str, ...] = option(
        (), section="Encoder", metavar="LANG=FILE",
        help="Text to learn the encoder's weights from, a sentence on each line; never the test data. "
        "May be repeated.",
    )  # fmt: skip


def load_with_spaces(options: Any, space: Space) -> SentenceEncoder:
    """The encoder that the options name, unfitted."""
    from muse.progress import Progress
    from muse.sentences.loading import load_encoder
    from muse.space import load_space

    more = [load_space(folder) for folder in options.also]
    for one in more:
        check_inputs_spared(one.manifest)
    return load_encoder(options.encoder, space, *more, progress=Progress(quiet=options.quiet))


class OpenedEncoder(NamedTuple):
    """A space, the encoder that measures or mines on it, and what signatures say of how it was made."""

    space: Space
    encoder: SentenceEncoder
    made: tuple[str, ...]

    def rows(self, sentences: Sequence[str], language: str, progress: Progress | None = None) -> Matrix:
        """The rows (s, d') of the sentences; warns if most of their words are unknown."""
        shown = progress or self.space.progress
        counted = shown.through(f"encoding {language}", sentences, len(sentences), lambda _: 1, "sentences")
        found = self.encoder.encode(counted, language)
        warn_if_unknown(found.unknown, found.tokens, language, sentences)
        return found.matrix

    def signature(self, languages: Sequence[str], retrieval: str, gold: str, *more: str) -> Signature:
        """The signature of a score from the first to the last of the languages."""
        from muse.evaluation.score import space_signature

        direction = (languages[0], languages[-1])
        return space_signature(
            self.space, *direction, retrieval=retrieval, gold=gold, more=(*self.made, *more)
        )


def open_encoder(
    options: Any, *languages: str, space: Space | None = None, own: Mapping[str, Sequence[str]] | None = None
) -> OpenedEncoder:
    """What `EncoderOptions` name: the space, unless it is open, with these languages, and the encoder.

    The encoder is fitted on the text of --fit; `own` is what `--fit task` stands for. Its files are read for
    the signature too, before the work.
    """
    from muse.evaluation.score import text_name
    from muse.sentences.encoders.saving import is_encoder, weights_checksum
    from muse.sentences.files.sentence_text import read_sentences
    from muse.sentences.loading import saved_in

    if own is None and OWN in options.fit:
        raise click.UsageError(f"--fit {OWN} is for {named('transfer')}; --fit needs LANG=FILE.")
    space = space or open_space(options.space, "cpu", options.quiet)
    for language in languages:
        space.side(language)
    files = by_language([value for value in options.fit if value != OWN], "--fit")
    texts: dict[str, Sequence[str]] = {language: read_sentences(path) for language, path in files}
    for language in texts:
        space.side(language)
    if own is not None and OWN in options.fit:
        texts = {**own, **texts}
    encoder = load_with_spaces(options, space)
    for language, text in texts.items():
        encoder = fitted(encoder, list(text), language)
    # The name of a pretrained one has the checksum of its weights.
    saved = [folder for folder in saved_in(options.encoder) if is_encoder(folder)]
    weights = "+".join(weights_checksum(folder)[:4] for folder in saved)
    named_text = (value.partition("=") for value in options.fit)
    fit = "+".join(f"{name}={text_name(path)}" if equals else name for name, equals, path in named_text)
    also = [f"also:{folder.resolve().name}" for folder in options.also]
    made = (f"encoder:{encoder.name}", weights and f"weights:{weights}", *also, fit and f"fit:{fit}")
    return OpenedEncoder(space, encoder, tuple(filter(None, made)))


def fitted(encoder: SentenceEncoder, text: Sequence[str], language: str) -> SentenceEncoder:
    """The encoder fitted on the text; warns if it learns nothing from text."""
    found = encoder.fit(text, language)
    if found is encoder:
        log.warning("%s learns nothing from text: --fit has no effect", encoder.name)
    return found


def by_language(values: Sequence[str], name: str) -> list[tuple[str, Path]]:
    """The languages and files of `LANG=FILE`, each language once; a usage error for anything else."""
    found: dict[str, Path] = {}
    for value in values:
        language, equals, path = value.partition("=")
        if not (language and equals and path):
            advice = "" if equals else f"; write its language before it, as in {name} fr={value}"
            raise click.UsageError(f"{name} needs LANG=FILE, got {value!r}{advice}.")
        if language in found:
            raise click.UsageError(f"{name} needs each language once, got {language} twice.")
        found[language] = Path(path)
    return list(found.items())


def by_language_with_default(language: str, values: Sequence[str], name: str) -> dict[str, Path]:
    """The file of each language, of `LANG=FILE` as of by_language; a FILE without one is of `language`."""
    plain, named = plain_and_named(values)
    return dict(by_language([*named, *(f"{language}={path}" for path in plain)], name))


def plain_and_named(values: Sequence[str]) -> tuple[list[str], list[str]]:
    """The file without a language, at most one, and those given as LANG=FILE."""
    # A file may have = in its name. Of several files without a language the last counts, as with any option.
    named = [value for value in values if "=" in value and not Path(value).exists()]
    return [value for value in values if value not in named][-1:], named
