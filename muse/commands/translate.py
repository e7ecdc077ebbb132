"""muse translate: words in another language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from muse.commands.options import common, direction, retrievals


@click.command()
@click.argument("space", type=Path)
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option(
    "--top", default=10, show_default=True, type=click.IntRange(1), help="Translations of each word."
)
@direction
@common
def translate(
    space: Path, words: tuple[str, ...], top: int, methods: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """The best translations of each WORD, with their scores."""
    from muse.api import pick_device
    from muse.space import load_space
    from muse.translate import translate_words

    loaded = load_space(space, device=pick_device(options["device"]))
    found = translate_words(
        loaded, words, source=options["source"], target=options["target"], top=top,
        retrieval=retrievals(methods, options["backend"])[0],
    )  # fmt: skip
    if as_json:
        click.echo(json.dumps({"translations": found}, ensure_ascii=False))
        return
    for word, candidates in found.items():
        click.echo(f"{word}\t" + "  ".join(f"{target} {score:.3f}" for target, score in candidates))
