"""muse index-text: sentences for examples beside the answers of a space."""

from __future__ import annotations

import time
from pathlib import Path

import click

from muse.commands.command import command
from muse.commands.options import choose_direction
from muse.commands.outputs import Report
from muse.options import Common, Languages, OneSpace, option


class IndexTextOptions(OneSpace, Languages, Common):
    src_text: tuple[Path, ...] = option(
        (), section="Input", help="Text of --src: a file, or a folder of files; may be repeated."
    )
    tgt_text: tuple[Path, ...] = option((), section="Input", help="Text of --tgt, likewise.")
    column: str | None = option(
        None,
        section="Input",
        metavar="NAME",
        help="Column with the text in Parquet.  [default: the only one]",
    )


@command(
    "muse index-text SPACE --src-text novels.fr.txt --tgt-text novels.en.txt.gz",
    "muse index-text SPACE --src fr --src-text texts/",
)
def index_text(options: IndexTextOptions) -> Report:
    """Index sentences of your texts as examples of words.

    The texts need not be translations of one another. They may be compressed, a .tsv with the text in its
    last column, Parquet, or a folder of such files. The index is kept in SPACE, a file a language, and
    replaces an earlier one. muse translate --examples, muse serve and muse report then show sentences with a
    word and with its translation.
    """
    from muse.examples.index import write_index
    from muse.examples.lookup import index_path
    from muse.progress import Progress
    from muse.space import load_space

    if not (options.src_text or options.tgt_text):
        raise click.UsageError("Missing option '--src-text' or '--tgt-text'.")
    space, progress, begun = load_space(options.space), Progress(quiet=options.quiet), time.perf_counter()
    way = choose_direction(space, options.src, options.tgt)
    fields, lines = {}, []
    for language, texts in zip(way, (options.src_text, options.tgt_text), strict=True):
        if not texts:
            continue
        path, vectors = index_path(options.space, language), space.vectors(language)
        made = write_index(path, texts, vectors, column=options.column, progress=progress)
        fields[language] = {**made._asdict(), "path": str(path), "bytes": path.stat().st_size}
        size = f"{path.stat().st_size / 1e6:.1f} MB in {path}"
        lines.append(f"{language}: {made.sentences:,} sentences of {made.words:,} words, {size}")
    return {"languages": fields, "seconds": round(time.perf_counter() - begun, 2)}, lines
