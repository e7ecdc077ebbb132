"""muse translate --model: the text on stdin, translated or rewritten by a model in place of a space."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muse.commands.inputs import translate_stdin, warn_if_unreadable
from muse.commands.options import given

if TYPE_CHECKING:
    from muse.commands.translate import TranslateOptions
    from muse.sentences.systems.writing import LineWriter

BEAM, BATCH = 4, 32
_OF_WORDS = (
    *("top", "lm", "lm_weight", "vectors", "ngrams", "fit", "retrieval", "backend", "listed", "out", "form"),
)
Made = tuple["LineWriter", tuple[str, str]]  # with its direction


def translate_with_model(options: TranslateOptions) -> None:
    """Translates the text on stdin."""
    from muse.files.space_folder import with_checksum
    from muse.sentences.encoders.saving import read_encoder, weights_checksum
    from muse.sentences.systems.bgt.bgt_system import BGT

    if options.space is not None:
        raise click.UsageError("--model needs no SPACE and translates text on stdin; leave arguments out.")
    if idle := given(*_OF_WORDS):
        raise click.UsageError(f"{idle[0]} is for translation with a SPACE, not with --model; leave it out.")
    sizes = {"beam": options.beam or BEAM, "batch": options.batch or BATCH}
    folder = Path(str(options.translator))
    make = _rewriter if read_encoder(folder).settings.get("system") == BGT.name else _translator
    translator, direction = make(folder, sizes, options)
    drawn = "" if options.style is None else " | style"
    drawn += f" | sample:{options.seed}" if options.sample else ""
    model = with_checksum(folder.resolve().name, weights_checksum(folder))
    translate_stdin(
        translator.translate, lambda: asdict(translator.counts), language=direction[1],
        made=f"model:{model} | {'-'.join(direction)} | beam:{sizes['beam']}{drawn}",
        reference=options.reference, options=options,
    )  # fmt: skip
    warn_if_unreadable(translator.counts.unknown, translator.counts.pieces, direction[0])


def _translator(folder: Path, sizes: dict[str, int], options: TranslateOptions) -> Made:
    from muse.run.runtime import pick_device
    from muse.sentences.systems.translator.translator_system import Translating, load_translator

    if idle := given("style", "sample"):
        raise click.UsageError(f"{idle[0]} needs a --model of muse train --encoder bgt; leave it out.")
    model = load_translator(folder, pick_device(options.device))
    direction = _direction(model.languages, options.src, options.tgt)
    return Translating(model, direction, **sizes), direction


def _rewriter(folder: Path, sizes: dict[str, int], options: TranslateOptions) -> Made:
    from muse.run.runtime import pick_device
    from muse.sentences.systems.bgt.bgt_system import Rewriting, load_bgt

    model = load_bgt(folder, pick_device(options.device))
    direction = _direction(model.languages, options.src, options.tgt)
    seed = options.seed if options.sample else None
    return Rewriting(model, direction, options.style, seed, **sizes), direction


def _direction(languages: tuple[str, ...], source: str | None, target: str | None) -> tuple[str, str]:
    """The two languages, unchecked; where the model has only two, one of them says the other."""
    if source is None and target is None:
        raise click.UsageError(f"--model needs --src LANG, one of {', '.join(languages)}.")
    if len(languages) == 2:
        first, second = languages
        source = source or (second if target == first else first)
        target = target or (second if source == first else first)
    if source is None or target is None:
        raise click.UsageError(f"--model needs --src and --tgt, two of {', '.join(languages)}.")
    return source, target
