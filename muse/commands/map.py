"""muse map: map words that were not in training into a space, or a file of rows of any length."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from muse.commands.options import common_without, open_space
from muse.commands.outputs import echo
from muse.commands.sections import RenamedOption, SectionedCommand


@click.command(
    "map",
    cls=SectionedCommand,
    sections={
        "Input": ("--lang", "--vectors", "--words", "--column"),
        "What it does": ("--among", "--fit"),
        "Output": ("--out", "--vectors-only", "--float16"),
    },
    examples=(
        "muse map embeddings/aligned/fr-en --lang fr --vectors new.vec --out new-mapped.vec",
        "muse map SPACE --lang fr --vectors wiki.fr.bin --words new.txt",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--lang", required=True, metavar="LANG", help="Language of the words or rows.")
@click.option(
    "--vectors",
    required=True,
    type=Path,
    metavar="FILE",
    help="Vectors of the words, or rows, in any format.",
)
@click.option(
    "--words",
    type=Path,
    metavar="FILE",
    help="Map only these words, one on each line.  [default: all new words]",
)
@click.option(
    "--column", metavar="NAME",
    help="Of unlabelled vectors: the column or the named vector to read, where several have vectors.",
)  # fmt: skip
@click.option(
    "--among", "--into", "among", cls=RenamedOption, metavar="LANG",
    help="Map unlabelled vectors among the unchanged ones of this language, to search those where they are.",
)  # fmt: skip
@click.option("--fit", is_flag=True, help="The vectors come from another model: fit them to the space first.")
@click.option(
    "--out", type=Path, metavar="FILE",
    help="A .vec, .vec.gz or .npz file of new words; or a .npy, .parquet, .jsonl, .csv or .faiss file of all "
    "rows, which are mapped block by block.  [default: text on stdout]",
)  # fmt: skip
@click.option(
    "--vectors-only", "bare", is_flag=True,
    help="Write ids and vectors alone, without the texts and other columns of a store.",
)  # fmt: skip
@click.option("--float16", "half", is_flag=True, help="Write all rows in half precision.")
@common_without("seed", "device")
def map_words(space: Path, lang: str, vectors: Path, out: Path | None, as_json: bool, **options: Any) -> None:
    """Map words that were not in training into a SPACE.

    With a fastText .bin or a spaCy pipeline in mode floret, --words may list any strings, whose vectors are
    composed of n-grams. Unlabelled vectors go to a .npy, .parquet, .jsonl, .csv or .faiss file, however many
    there are, with the ids that they had.
    """
    from muse.errors import Contradiction
    from muse.files import write_npz, write_vectors_text
    from muse.files.plain_text import read_lines
    from muse.files.row_writers import STORE_ENDINGS, ending_of
    from muse.files.writing import check_place, check_text_name, vectors_text
    from muse.space.new_words import load_new_words, map_new_words

    if as_json and out is None:
        raise Contradiction("--json needs --out FILE for the vectors, got none; add it or leave --json out")
    if out is not None and ending_of(out) in STORE_ENDINGS:
        _stream(space, lang, vectors, out, as_json=as_json, **options)
        return
    _check_words(vectors, options)
    if out is not None:
        if out.suffix != ".npz":
            check_text_name(out, "vectors", ".vec, .vec.gz, .npz, .npy, .parquet, .jsonl, .csv or .faiss")
        check_place(out)
    asked = None if options["words"] is None else list(read_lines(options["words"]))
    loaded = open_space(space, "cpu", options["quiet"])
    mapped = map_new_words(loaded, load_new_words(loaded, lang, vectors, fit=options["fit"]), asked)
    if out is None:
        for block in vectors_text(mapped.words, mapped.matrix):
            echo(block, end="")
        return
    if out.suffix == ".npz":
        write_npz(out, mapped.words, mapped.matrix)
    else:
        write_vectors_text(out, mapped.words, mapped.matrix)
    if as_json:
        echo(json.dumps({"words": len(mapped), "out": str(out)}))
    else:
        echo(f"{len(mapped)} words in {out}")


def _check_words(vectors: Path, options: dict[str, Any]) -> None:
    """Raise BadSetting for unlabelled vectors, and Contradiction for options that are for these alone."""
    from muse.errors import BadSetting, Contradiction
    from muse.files.row_writers import STORE_ENDINGS
    from muse.files.vectors.formats import holds_items

    endings = f"{', '.join(STORE_ENDINGS[:-1])} or {STORE_ENDINGS[-1]}"
    if holds_items(vectors):
        raise BadSetting(f"{vectors}: unlabelled vectors are mapped to a {endings} file; give it as --out")
    if any(options[name] for name in ("column", "among", "half", "bare")):
        raise Contradiction(
            "--column, --among, --vectors-only and --float16 are for unlabelled vectors, which are mapped to "
            f"a {endings} file; leave them out"
        )


def _stream(space: Path, lang: str, vectors: Path, out: Path, *, as_json: bool, **options: Any) -> None:
    from muse.errors import Contradiction
    from muse.files.row_writers import STORE_ENDINGS, check_row_file
    from muse.progress import Progress
    from muse.space.new_words import StoreFiles, map_rows

    if options["fit"] or options["words"] is not None:
        raise Contradiction(
            "--fit and --words are for new words, written to a .vec or .npz file; leave them out"
        )
    if options["among"] == lang:
        raise Contradiction(f"--among needs another language than --lang, got {lang!r} twice; change one")
    files = StoreFiles(vectors, out, options["column"], options["half"], options["among"], options["bare"])
    check_row_file(out, STORE_ENDINGS, half=files.half)
    loaded = open_space(space, "cpu", options["quiet"])
    count = map_rows(loaded, lang, files, progress=Progress(quiet=options["quiet"]))
    echo(json.dumps({"rows": count, "out": str(out)}) if as_json else f"{count} rows in {out}")
