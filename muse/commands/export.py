"""muse export: write a space as files that other systems read."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from muse.commands.command import command
from muse.commands.options import choose_direction, open_space
from muse.commands.outputs import Report
from muse.errors import counted
from muse.optional import load
from muse.options import Backend, Common, Device, OneSpace, Seed, Threads, is_given, option, options_of

if TYPE_CHECKING:
    from muse.progress import Progress
    from muse.space import Space

log = logging.getLogger(__name__)

VECTORS = ("text", "word2vec", "npz", "parquet")
SENTENCES, SPACY, SPACE, MAP = "sentence-transformers", "spacy", "space", "map"
FORMS = (*VECTORS, SENTENCES, SPACY, "torch", "moses", MAP, SPACE)
OF_TABLES = "Formats torch and moses"


class ExportOptions(OneSpace, Common, Seed, Device, Threads, Backend):
    """The options of `muse export`; `only` names the formats that have a use for one."""

    format: str | None = option(
        None, section="Output", choices=FORMS, help="Format to write; see above.  [required]"
    )
    out: Path = option(
        section="Output", metavar="PATH", written=True,
        help="File or folder to write; vectors go to one file per language if PATH has no suffix, "
        "spacy's to one folder per language unless --lang is given.",
    )  # fmt: skip
    lang: str | None = option(
        None, section="What it writes", metavar="LANG", only=" ".join((*VECTORS, SENTENCES, SPACY, MAP)),
        help="Export only this language (formats of vectors).",
    )  # fmt: skip
    among: str | None = option(
        None, section="What it writes", metavar="LANG", only=MAP,
        help="map: bring rows among the unchanged rows of this language.",
    )  # fmt: skip
    max_vocab: int | None = option(
        None, section="What it writes", least=1, help="Export only the N most frequent words."
    )
    shared: bool = option(
        False, section="What it writes", only=" ".join((*VECTORS, "torch")),
        help="One file or table for all languages, as XLM reads it; a word of several has the mean of its "
        "vectors.",
    )  # fmt: skip
    encoder: Path | None = option(
        None, section="What it writes", metavar="FOLDER", package="sentences",
        help="Export the word vectors of this trained encoder instead of the space's.",
    )  # fmt: skip
    src: str | None = option(
        None, section=OF_TABLES, metavar="LANG", only="torch moses",
        help="torch: language of the encoder. moses: source language.  [default: the language besides the "
        "pivot]",
    )  # fmt: skip
    tgt: str | None = option(
        None, section=OF_TABLES, metavar="LANG", only="torch moses",
        help="torch: language of the decoder. moses: target language.  [default: the pivot]",
    )  # fmt: skip
    tables: Literal["separate", "shared"] | None = option(
        None, section=OF_TABLES, only="torch",
        help="torch: one table for each side, or one for both.  [default: separate]",
    )  # fmt: skip
    vocab: tuple[Path, ...] = option(
        (), section=OF_TABLES, only="torch",
        help="torch: a unit on each line, vocab.yml, vocab.json or tokenizer.json; repeat it for encoder and "
        "decoder.",
    )  # fmt: skip
    specials: str | None = option(
        None, section=OF_TABLES, metavar="A,B,...", only="torch",
        help="torch: special tokens, which come first.  [default: <pad>,<unk>,<s>,</s>]",
    )  # fmt: skip
    fallback: Literal["mean", "normal"] | None = option(
        None, section=OF_TABLES, only="torch",
        help="torch: vector of a unit that is not a word: the mean of the words it occurs in, or random.  "
        "[default: mean]",
    )  # fmt: skip
    top: int | None = option(
        None, section=OF_TABLES, least=1, only="moses",
        help="moses: number of translations of each word.  [default: 100]",
    )  # fmt: skip
    text_pairs: Path | None = option(
        None, section=OF_TABLES, only="moses", package="links",
        help="moses: sentence pairs (a table of two columns, a TMX) from which phrases are extracted.",
    )  # fmt: skip
    longest: int | None = option(
        None, section=OF_TABLES, metavar="N", least=1, only="moses", needs="text_pairs", package="links",
        help="moses: most words of a phrase.  [default: 5]",
    )  # fmt: skip
    temperature: float | None = option(
        None, section=OF_TABLES, above=0, only="moses",
        help="moses: temperature of the softmax over CSLS.  [default: chosen on mutual neighbours]",
    )  # fmt: skip
    answers: Literal["all", "csls"] | None = option(
        None, section=OF_TABLES, only="moses",
        help="moses: probabilities of translations chosen by all the evidence, where SPACE has them, or of "
        "CSLS alone.  [default: all]",
    )  # fmt: skip


@command(
    "muse export embeddings/aligned/fr-en --format text --out vectors",
    "muse export SPACE --format torch --src fr --tgt en --out tables.pt",
)
def export(options: ExportOptions) -> Report:
    """Write a SPACE as files for other systems.

    \b
    text                   .vec, a word on each line       gensim, fastText
    word2vec               the same in binary              gensim, word2vec
    npz                    arrays words and matrix         numpy
    parquet                columns word and vector         pandas, Polars
    torch                  encoder and decoder tables      torch.load
    moses                  phrase table, both directions   Moses
    sentence-transformers  a folder                        SentenceTransformer
    spacy                  a folder per language           spacy.load
    map                    .safetensors or .onnx           numpy, ONNX Runtime
    space                  a folder                        muse
    """  # noqa: D301 - click reads \b as the character
    form = options.format
    if form is None:
        raise click.UsageError(f"Missing option '--format', one of {', '.join(FORMS)}.")
    for name, one in options_of(ExportOptions).items():
        if one.only and is_given(options, name) and form not in one.only.split():
            forms = " or ".join(one.only.split())
            raise click.UsageError(f"{one.flag} is for --format {forms}, not for {form}")
    loaded = open_space(options.space, options.device, options.quiet, answers=options.answers or "all")
    if options.encoder is not None:
        loaded = load("sentences.loading").learned_words(options.encoder, loaded)
    write = {"torch": _torch, "moses": _moses, SENTENCES: _sentences, SPACY: _spacy, SPACE: _space, MAP: _map}
    fields, lines = write.get(form, _vectors)(loaded, options, loaded.progress)
    return {"out": str(options.out), "format": form, **fields}, lines


def _check_pivot(space: Space, options: ExportOptions) -> None:
    """Raise BadSetting if an encoder has learned no vectors of the pivot, which this export needs."""
    from muse.errors import BadSetting

    if space.pivot not in space.languages:
        has, first = ", ".join(space.languages), space.languages[0]
        raise BadSetting(
            f"{options.encoder}: --format {options.format} needs vectors of the pivot, {space.pivot}, and "
            f"this encoder has learned those of {has} alone; train it with --text {space.pivot}=FILE too, or "
            f"export vectors, such as --format text --lang {first}"
        )


def _direction(space: Space, options: ExportOptions) -> tuple[str, str]:
    """The source and the target language; BadSetting if one is the pivot and has no vectors."""
    if space.pivot in (options.src or space.pivot, options.tgt or space.pivot):
        _check_pivot(space, options)
    return choose_direction(space, options.src, options.tgt)


def _vectors(space: Space, options: ExportOptions, progress: Progress) -> Report:
    from muse.errors import Contradiction
    from muse.export.vector_files import export_vectors

    if options.shared and options.lang is not None:
        raise Contradiction("--shared is for all languages, got --lang too; leave one of them out")
    written = export_vectors(
        space, options.out, form=options.format or "", language=options.lang, max_vocab=options.max_vocab,
        shared=options.shared, progress=progress,
    )  # fmt: skip
    lines = [f"{counted(file.words, 'word')} of {file.language} in {file.path}" for file in written]
    others = sorted(set(space.languages) - {file.language for file in written})
    if others and options.lang is None and not options.shared:
        log.warning("not exported: %s; see --lang, or give a folder as --out", ", ".join(others))
    return {"files": [file.as_json() for file in written], "not_exported": others}, lines


def _sentences(space: Space, options: ExportOptions, progress: Progress) -> Report:
    from muse.export.static_embedding import export_static_embedding

    languages = None if options.lang is None else [options.lang]
    written = export_static_embedding(space, options.out, languages=languages, max_vocab=options.max_vocab)
    why = "a tokeniser would split them or they are there in another Unicode form"
    left = f", {written.left_out} left out because {why}" if written.left_out else ""
    return written.as_json(), [f"{counted(written.words, 'word')} in {written.path}{left}"]


def _map(space: Space, options: ExportOptions, progress: Progress) -> Report:
    from muse.errors import Contradiction
    from muse.export.map_file import export_map

    language, among = options.lang or choose_direction(space)[0], options.among
    if language == among:
        raise Contradiction(f"--among needs another language than --lang, got {among!r} twice; change one")
    written = export_map(space, options.out, language, among)
    k, d = written.weight.shape
    place = "" if among is None else f" among the rows of {among}"
    return written.as_json(), [f"the map of {language}, from {d} to {k} dimensions{place}, in {options.out}"]


def _spacy(space: Space, options: ExportOptions, progress: Progress) -> Report:
    from muse.export.spacy_folder import export_spacy

    written = export_spacy(space, options.out, language=options.lang, max_vocab=options.max_vocab)
    lines = [
        f"{counted(one.words, 'word')} of {one.language} in {one.path}, pipeline {one.pipeline}"
        for one in written
    ]
    return {"folders": [one.as_json() for one in written]}, lines


def _space(space: Space, options: ExportOptions, progress: Progress) -> Report:
    from muse.export.vector_files import export_space

    _check_pivot(space, options)
    written = export_space(space, options.out, max_vocab=options.max_vocab)
    return {"words": written}, [
        f"{counted(count, 'word')} of {language} in {options.out}" for language, count in written.items()
    ]


def _torch(space: Space, options: ExportOptions, progress: Progress) -> Report:
    import numpy as np

    from muse.export.torch_file import TableConfig, export_torch
    from muse.space.lookup_table import SPECIALS

    specials = options.specials
    config = TableConfig(
        shared=options.shared or options.tables == "shared",
        vocabularies=options.vocab,
        specials=SPECIALS if specials is None else tuple(filter(None, specials.split(","))),
        fallback=options.fallback or "mean",
        max_vocab=options.max_vocab,
    )
    every = config.shared and options.src is None and options.tgt is None
    languages = space.languages if every else _direction(space, options)
    rng = np.random.default_rng(options.seed)
    tables = export_torch(space, options.out, languages=languages, config=config, rng=rng, progress=progress)
    fields = tables.as_json() | {"fallback": config.fallback}
    described = (
        {"encoder and decoder": "encoder"} if tables.shared else {"encoder": "encoder", "decoder": "decoder"}
    )
    lines = [_line(name, fields["tables"][side]) for name, side in described.items()]
    return fields, [*lines, f"in {options.out}"]


def _line(name: str, table: dict[str, Any]) -> str:
    rows = ", ".join(f"{count} {origin}" for origin, count in table["rows"].items() if count)
    languages = " and ".join(table["languages"])
    return f"{name}: {table['units']} x {table['dimension']}, {languages}; rows: {rows}"


def _moses(space: Space, options: ExportOptions, progress: Progress) -> Report:
    import numpy as np

    from muse.export.moses import MosesConfig, export_moses

    config = MosesConfig(options.top or MosesConfig.top, options.temperature, options.max_vocab)
    direction = _direction(space, options)
    rng, extracted = np.random.default_rng(options.seed), None
    if options.text_pairs is not None:
        more = {} if options.longest is None else {"longest": options.longest}
        extracted = load("links.phrases").count_text(space, direction, options.text_pairs, **more)
    table = export_moses(
        space, options.out, direction=direction, config=config, rng=rng, counted=extracted, progress=progress
    )
    ways = f"{table.direct:.4f} from {direction[0]}, {table.inverse:.4f} from {direction[1]}"
    return table.as_json(), [f"{counted(table.pairs, 'pair')} in {options.out}", f"temperature {ways}"]
