"""What muse translate does with --model: text by a translation model, a batch of sentences at a time."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import given
from muse.commands.translate_stdin import translate_stdin

if TYPE_CHECKING:
    from muse.systems.translator.network import TranslatorNetwork

BEAM, BATCH = 4, 32
_OF_WORDS = ("top", "lm", "lm_weight", "vectors", "ngrams", "fit", "method", "backend")


def translate_with_model(space: Path | None, options: dict[str, Any], *, as_json: bool) -> None:
    """Translates the text on stdin."""
    from muse.run.runtime import pick_device
    from muse.systems.translator.translation import ModelTranslator, load_translator

    _check(space)
    model = load_translator(options["translator"], pick_device(options["device"]))
    direction = _direction(model, options["source"], options["target"])
    beam = options["beam"] or BEAM
    translator = ModelTranslator(model, direction, beam=beam, batch=options["batch"] or BATCH)
    translate_stdin(
        translator,
        lambda: asdict(translator.counts),
        made=f"model:{options['translator'].name} | {'-'.join(direction)} | beam:{beam}",
        reference=options["reference"],
        as_json=as_json,
    )


def _check(space: Path | None) -> None:
    """Raise UsageError for what a model has no use for."""
    if space is not None:
        raise click.UsageError("--model needs no SPACE and translates text on stdin; leave arguments out.")
    if idle := given(*_OF_WORDS):
        raise click.UsageError(f"{idle[0]} is for translation with a SPACE, not with --model; leave it out.")


def _direction(model: TranslatorNetwork, source: str | None, target: str | None) -> tuple[str, str]:
    """The two languages; where the model has only two, one of them says the other."""
    if source is None and target is None:
        raise click.UsageError(f"--model needs --src LANG, one of {', '.join(model.languages)}.")
    for named in (source, target):
        if len(model.languages) == 2 and named in model.languages:
            (other,) = (language for language in model.languages if language != named)
            source, target = source or other, target or other
    if source is None or target is None:
        raise click.UsageError(f"--model needs --src and --tgt, two of {', '.join(model.languages)}.")
    return source, target
