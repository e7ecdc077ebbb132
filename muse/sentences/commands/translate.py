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
    "top lm lm_weight phrases glossary min_probability examples vectors ngrams fit retrieval backend listed "
    "out form"
).split()


def translate_with_model(options: TranslateOptions) -> None:
    """Translates the text on stdin."""
    from muse.files.space_folder import with_checksum
    from muse.run.runtime import pick_device
    from muse.sentences.encoders.saving import read_encoder, weights_checksum
    from muse.sentences.systems.bgt.bgt_system import BGT, Rewriting, load_bgt
    from muse.sentences.systems.translator.translator_system import Translating, load_translator

    if options.space is not None:
        raise click.UsageError("--model needs no SPACE and translates text on stdin; leave arguments out.")
    if idle := given(*_OF_WORDS):
        raise click.UsageError(f"{idle[0]} is for translation with a SPACE, not with --model; leave it out.")
    sizes = {"beam": options.beam or BEAM, "batch": options.batch or BATCH}
    folder, device = Path(str(options.translator)), pick_device(options.device)
    translator: LineWriter
    if read_encoder(folder).settings.get("system") == BGT.name:
        bgt = load_bgt(folder, device)
        direction = _direction(bgt.languages, options.src, options.tgt)
        seed = options.seed if options.sample else None
        translator = Rewriting(bgt, direction, options.style, seed, **sizes)
    elif idle := given("style", "sample"):
        raise click.UsageError(f"{idle[0]} needs a --model of muse train --encoder bgt; leave it out.")
    else:
        model = load_translator(folder, device)
        direction = _direction(model.languages, options.src, options.tgt)
        translator = Translating(model, direction, **sizes)
    drawn = "" if options.style is None else " | style"
    drawn += f" | sample:{options.seed}" if options.sample else ""
    name = with_checksum(folder.resolve().name, weights_checksum(folder))
    translate_stdin(
        translator.translate, lambda: asdict(translator.counts), language=direction[1],
        made=f"model:{name} | {'-'.join(direction)} | beam:{sizes['beam']}{drawn}",
        reference=options.reference, options=options,
    )  # fmt: skip
    warn_if_unreadable(translator.counts.unknown, translator.counts.pieces, direction[0])


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
