"""muse map: map words that were not in training into a space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from muse.commands.options import common, open_space


@click.command("map")
@click.argument("space", type=Path)
@click.option("--lang", required=True, metavar="LANG", help="Language of the words.")
@click.option(
    "--vectors", required=True, type=Path, metavar="FILE", help="Vectors of the words, in any format."
)
@click.option(
    "--words",
    type=Path,
    metavar="FILE",
    help="Map only these words, one on each line.  [default: all new words]",
)
@click.option("--fit", is_flag=True, help="Fit vectors from another model to those of the space first.")
@click.option(
    "--out", type=Path, metavar="FILE", help="A .vec, .vec.gz or .npz file.  [default: text on stdout]"
)
@common
def map_words(space: Path, lang: str, vectors: Path, out: Path | None, as_json: bool, **options: Any) -> None:
    """Map words that were not in training into a SPACE.

    With a fastText .bin or a spaCy pipeline in mode floret, --words may list any strings, whose vectors are
    composed of n-grams.
    """
    from muse.errors import BadSetting
    from muse.files import write_npz, write_vectors_text
    from muse.files.plain_text import read_lines
    from muse.files.writing import check_place, vectors_text
    from muse.space.new_words import load_new_words, map_new_words

    if as_json and out is None:
        raise BadSetting("--json needs --out FILE for the vectors, got none; add it or leave --json out")
    if out is not None:
        check_place(out)
    asked = None if options["words"] is None else list(read_lines(options["words"]))
    loaded = open_space(space, options["device"], options["quiet"])
    mapped = map_new_words(loaded, load_new_words(loaded, lang, vectors, fit=options["fit"]), asked)
    if out is None:
        for block in vectors_text(mapped.words, mapped.matrix):
            click.echo(block, nl=False)
        return
    if out.suffix == ".npz":
        write_npz(out, mapped.words, mapped.matrix)
    else:
        write_vectors_text(out, mapped.words, mapped.matrix)
    if as_json:
        click.echo(json.dumps({"words": len(mapped), "out": str(out)}))
    else:
        click.echo(f"{len(mapped)} words in {out}")
