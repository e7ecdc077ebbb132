"""muse induce: a bilingual dictionary from a space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from muse.commands.options import common, direction, retrievals


@click.command()
@click.argument("space", type=Path)
@click.option("--out", required=True, type=Path, metavar="FILE", help="The dictionary to write.")
@click.option(
    "--top", default=1, show_default=True, type=click.IntRange(1), help="Translations of each word."
)
@click.option("--mutual", is_flag=True, help="Keep a pair only if it is among the best both ways.")
@click.option("--max-vocab", type=click.IntRange(1), metavar="N", help="Of the N most frequent words only.")
@click.option(
    "--format", "form", default="muse", show_default=True, type=click.Choice(["muse", "tsv", "jsonl"])
)
@direction
@common
def induce(
    space: Path, out: Path, form: str, methods: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Write a bilingual dictionary from a SPACE."""
    from muse.api import pick_device
    from muse.files.lexicon_formats import write_dictionary
    from muse.induce import induce as induced
    from muse.space import load_space

    loaded = load_space(space, device=pick_device(options["device"]))
    lexicon = induced(
        loaded, source=options["source"], target=options["target"],
        top=options["top"], mutual=options["mutual"],
        max_vocab=options["max_vocab"], retrieval=retrievals(methods, options["backend"])[0],
    )  # fmt: skip
    write_dictionary(out, lexicon, form=form)
    click.echo(
        json.dumps({"pairs": len(lexicon), "out": str(out)}) if as_json else f"{len(lexicon)} pairs in {out}"
    )
