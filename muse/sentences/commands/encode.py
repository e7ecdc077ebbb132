"""muse encode: one vector for each sentence."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.inputs import STDIN, Sampled, lines_on_stdin, warn_if_unknown
from muse.commands.options import cluster, common_without
from muse.commands.outputs import check_inputs_spared, echo
from muse.commands.sections import SectionedCommand
from muse.sentences.commands.encoders import by_language_with_default, encoder_names, fitted

if TYPE_CHECKING:
    from muse.sentences.encoders.encoder import SentenceEncoder, Write

log = logging.getLogger(__name__)

# The best without training, text or n-grams (benchmarks/results/sentences/without-training.md); idf is a
# little better at finding translations. With +ngrams both gain, but they must be learned first.
UNTRAINED = "sif"


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--lang", "--input", "--column"),
        "Encoder": ("--encoder", "--also", "--fit"),
        "Output": ("--out", "--save"),
        "Advanced": ("--ray",),
    },
    examples=(
        "muse encode embeddings/aligned/fr-en --lang fr --input text.fr --out text.npy",
        "echo 'le roi est mort' | muse encode SPACE --lang fr --encoder mean",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--lang", required=True, metavar="LANG", help="Language of the sentences.")
@encoder_names(UNTRAINED)
@click.option(
    "--input", "source", type=Path, metavar="FILE", help="Text, or a Parquet file.  [default: stdin]"
)
@click.option("--column", metavar="NAME", help="Column of a Parquet --input.")
@click.option("--out", type=Path, metavar="FILE", help="A .npy or .parquet file.  [default: text on stdout]")
@click.option(
    "--fit", metavar="FILE|LANG=FILE",
    help="Text in --lang to learn the encoder's weights from.",
)  # fmt: skip
@click.option(
    "--save", type=Path, metavar="FOLDER", help="Save the encoder, with what it learned from --fit."
)
@cluster
@common_without("seed", "device")
def encode(
    space: Path, lang: str, source: Path | None, out: Path | None, as_json: bool, **options: Any
) -> None:
    """Encode sentences as vectors that all languages share.

    Each line is a sentence. One without a known word becomes a row of zeros.
    """
    from muse.progress import Progress
    from muse.sentences.encoders.encoder import encode_stream

    began = time.perf_counter()
    if options["address"] is not None:
        fields = _on_cluster(space, lang, source, out, options)
        fields["seconds"] = time.perf_counter() - began
        echo(json.dumps(fields) if as_json else _shown(fields))
        return
    _check_places(out, options["save"])
    sentences = Sampled(_sentences(source, options["column"]))
    counted = Progress(quiet=options["quiet"]).through("encoding", sentences, 0, len, "sentences")
    encoder = _encoder(space, lang, options)
    kept: list[list[float]] = []
    with _writer(out, encoder.dimension, kept if as_json else None) as write:
        counts = encode_stream(encoder, counted, lang, write, name=str(source or STDIN))
    warn_if_unknown(counts.unknown, counts.tokens, lang, sentences.sample)
    fields = {
        **asdict(counts), "dimension": encoder.dimension, "encoder": encoder.name,
        "seconds": time.perf_counter() - began, "out": None if out is None else str(out),
    }  # fmt: skip
    if as_json:
        echo(json.dumps(fields if out is not None else fields | {"vectors": kept}))
    elif out is not None:
        echo(_shown(fields))


def _shown(fields: dict[str, Any]) -> str:
    shown = "{sentences} sentences in {out}: {dimension} numbers each, {encoder}; {empty} empty, "
    shown += "{unknown} of {tokens} tokens unknown"
    return (shown + ("; {truncated} cut short" if fields["truncated"] else "")).format(**fields)


def _on_cluster(
    space: Path, lang: str, source: Path | None, out: Path | None, options: dict[str, Any]
) -> dict[str, Any]:
    from muse.cluster.run import Run, files_as_settings, spaces_as_settings
    from muse.errors import Contradiction
    from muse.progress import Progress
    from muse.sentences.on_cluster import Text, encode, encoder_as_settings

    if source is None or out is None:
        raise Contradiction("--ray needs --input and --out, which several machines read and write; give both")
    _check_places(None, options["save"])
    encoder = _encoder(space, lang, options)
    spaces = (space, *options["also"])
    settings = {
        "command": "encode", "encoder": encoder_as_settings(encoder), "language": lang,
        "column": options["column"], "spaces": spaces_as_settings(*spaces),
        "input": files_as_settings(source),
    }  # fmt: skip
    run = Run(out, options["address"], settings, Progress(quiet=options["quiet"]))
    found = encode(encoder, spaces, Text(source, lang, options["column"]), run)
    return {**found, "dimension": encoder.dimension, "encoder": encoder.name, "out": str(out)}


def _check_places(out: Path | None, save: Path | None) -> None:
    from muse.files.row_writers import check_row_file
    from muse.sentences.encoders.saving import check_out

    if out is not None:
        check_row_file(out)
    if save is not None:
        check_out(save)


def _sentences(source: Path | None, column: str | None) -> Iterator[list[str]]:
    from muse.errors import Contradiction
    from muse.sentences.encoders.encoder import stream_sentences
    from muse.sentences.encoders.reading import blocks

    if source is None:
        if column is not None:
            raise Contradiction("--column needs --input with a Parquet file, got none; leave it out")
        return lines_on_stdin()
    rest = blocks(stream_sentences(source, column))
    return chain([next(rest, [])], rest)  # errors in the file are reported before the space is loaded


def _encoder(space: Path, lang: str, options: dict[str, Any]) -> SentenceEncoder:
    from muse.progress import Progress
    from muse.sentences.loading import load_encoder
    from muse.space import load_space

    text = None if options["fit"] is None else _fit_text(options["fit"], lang)
    spaces = [load_space(folder) for folder in (space, *options["also"])]
    for one in spaces:
        check_inputs_spared(one.manifest)
    spaces[0].side(lang)  # whose message names a language that was meant
    encoder = load_encoder(options["encoder"], *spaces, progress=Progress(quiet=options["quiet"]))
    if text is not None:
        encoder = fitted(encoder, text, lang)
    encoder.encode([], lang)  # reports what is missing before a file is begun
    if options["save"] is not None:
        encoder.save(options["save"])
    return encoder


def _fit_text(fit: str, lang: str) -> list[str]:
    from muse.sentences.encoders.encoder import stream_sentences

    file = by_language_with_default(lang, [fit], "--fit").get(lang)
    if file is None:
        raise click.UsageError(f"--fit needs FILE or {lang}=FILE, a text in the --lang, got {fit!r}.")
    return list(stream_sentences(file))


@contextmanager
def _writer(out: Path | None, dimension: int, kept: list[list[float]] | None) -> Iterator[Write]:
    # Writes rows to a file, into `kept`, or as text to stdout.
    from muse.files.row_writers import row_writer

    if out is not None:
        with row_writer(out, dimension) as write:
            yield write
    elif kept is not None:
        yield lambda _, rows: kept.extend(rows.tolist())
    else:
        numbers = " ".join(["%.9g"] * dimension)
        yield lambda _, rows: echo("\n".join(numbers % tuple(row) for row in rows.tolist()))
