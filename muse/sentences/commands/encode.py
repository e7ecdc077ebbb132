"""muse encode: one vector for each sentence."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.command import command
from muse.commands.inputs import STDIN, Sampled, lines_on_stdin, warn_if_unknown
from muse.commands.outputs import Report, echo
from muse.commands.paths import check_inputs_spared
from muse.options import Clustered, Common, OneSpace, Threads, option
from muse.sentences.commands import encoders

if TYPE_CHECKING:
    from muse.sentences.encoders.encoder import SentenceEncoder, Write


class EncodeOptions(OneSpace, Clustered, Threads, Common):
    lang: str = option(section="Input", metavar="LANG", help="Language of the sentences.")
    input: Path | None = option(None, section="Input", help="Text, or a Parquet file.  [default: stdin]")
    column: str | None = option(
        None, section="Input", metavar="NAME", needs="input", help="Column of a Parquet --input."
    )
    # The best without training, text or n-grams (benchmarks/results/sentences/without-training.md); idf is a
    # little better at finding translations. With +ngrams both gain, but they must be learned first.
    encoder: str = encoders.encoder_option("sif")
    also: tuple[Path, ...] = encoders.also_option()
    fit: str | None = option(
        None, section="Encoder", metavar="FILE|LANG=FILE",
        help="Text in --lang to learn the encoder's weights from.",
    )  # fmt: skip
    out: Path | None = option(
        None, section="Output", written=True, help="A .npy or .parquet file.  [default: text on stdout]"
    )
    save: Path | None = option(
        None, section="Output", metavar="FOLDER", written=True,
        help="Save the encoder, with what it learned from --fit.",
    )  # fmt: skip


@command(
    "muse encode embeddings/aligned/fr-en --lang fr --input text.fr --out text.npy",
    "echo 'le roi est mort' | muse encode SPACE --lang fr --encoder mean",
)
def encode(options: EncodeOptions) -> Report:
    """Encode sentences as vectors that all languages share.

    Each line is a sentence. One without a known word becomes a row of zeros.
    """
    from muse.errors import Contradiction
    from muse.files.row_writers import check_row_file
    from muse.sentences.encoders.saving import check_out

    began = time.perf_counter()
    if options.ray is not None and (options.input is None or options.out is None):
        raise Contradiction("--ray needs --input and --out, which several machines read and write; give both")
    if options.out is not None and options.ray is None:
        check_row_file(options.out)
    if options.save is not None:
        check_out(options.save)
    vectors: list[list[float]] = []
    encoder, fields = _encoded(options, vectors) if options.ray is None else _on_cluster(options)
    fields |= {"dimension": encoder.dimension, "encoder": encoder.name}
    out = None if options.out is None else str(options.out)
    fields |= {"out": out, "seconds": time.perf_counter() - began}
    shown = "{sentences} sentences in {out}: {dimension} numbers each, {encoder}; {empty} empty, "
    shown += "{unknown} of {tokens} tokens unknown" + ("; {truncated} cut short" * bool(fields["truncated"]))
    return (fields, [shown.format(**fields)]) if out is not None else (fields | {"vectors": vectors}, [])


def _encoded(options: EncodeOptions, vectors: list[list[float]]) -> tuple[SentenceEncoder, dict[str, Any]]:
    """The encoder and counts; without --out, rows are printed or, for --json, added to `vectors`."""
    from muse.progress import Progress
    from muse.sentences.encoders.encoder import encode_stream, stream_sentences
    from muse.sentences.encoders.reading import blocks

    if options.input is None:
        lines = lines_on_stdin()
    else:
        rest = blocks(stream_sentences(options.input, options.column))
        lines = chain([next(rest, [])], rest)  # errors in the file are reported before the space is loaded
    sentences = Sampled(lines)
    counted = Progress(quiet=options.quiet).through("encoding", sentences, 0, len, "sentences")
    encoder = _encoder(options)
    with _writer(options, encoder.dimension, vectors) as write:
        counts = encode_stream(encoder, counted, options.lang, write, name=str(options.input or STDIN))
    warn_if_unknown(counts["unknown"], counts["tokens"], options.lang, sentences.sample)
    return encoder, dict[str, Any](counts)


def _on_cluster(options: EncodeOptions) -> tuple[SentenceEncoder, dict[str, Any]]:
    from muse.cluster.run import Run, files_as_settings, spaces_as_settings
    from muse.progress import Progress
    from muse.sentences.on_cluster import Text, encode, encoder_as_settings

    encoder, source, out = _encoder(options), Path(str(options.input)), Path(str(options.out))
    spaces = (options.space, *options.also)
    settings = {
        "command": "encode", "encoder": encoder_as_settings(encoder), "language": options.lang,
        "column": options.column, "spaces": spaces_as_settings(*spaces),
        "input": files_as_settings(source),
    }  # fmt: skip
    run = Run(out, str(options.ray), settings, Progress(quiet=options.quiet))
    return encoder, encode(encoder, spaces, Text(source, options.lang, options.column), run)


def _encoder(options: EncodeOptions) -> SentenceEncoder:
    from muse.sentences.encoders.encoder import stream_sentences
    from muse.space import load_space

    text = None
    if options.fit is not None:
        named = encoders.by_language_with_default(options.lang, [options.fit], "--fit")
        if options.lang not in named:
            raise click.UsageError(
                f"--fit needs FILE or {options.lang}=FILE, a text in the --lang, got {options.fit!r}."
            )
        text = list(stream_sentences(named[options.lang]))
    space = load_space(options.space)
    check_inputs_spared(space.manifest)
    space.side(options.lang)  # whose message names a language that was meant
    encoder = encoders.load_with_spaces(options, space)
    if text is not None:
        encoder = encoders.fitted(encoder, text, options.lang)
    encoder.encode([], options.lang)  # reports what is missing before a file is begun
    if options.save is not None:
        encoder.save(options.save)
    return encoder


@contextmanager
def _writer(options: EncodeOptions, dimension: int, vectors: list[list[float]]) -> Iterator[Write]:
    # Writes rows to a file, into `vectors`, or as text to stdout.
    from muse.files.parquet import SENTENCE
    from muse.files.row_writers import RowFormat, store_writer

    if options.out is not None:
        with store_writer(options.out, dimension, RowFormat(label=SENTENCE)) as write:
            yield write
    elif options.as_json:
        yield lambda _, rows: vectors.extend(rows.tolist())
    else:
        numbers = " ".join(["%.9g"] * dimension)
        yield lambda _, rows: echo("\n".join(numbers % tuple(row) for row in rows.tolist()))
