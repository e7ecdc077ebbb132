"""muse export: write a space as files that other systems read."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import Finite, backend, choose_direction, common, open_space
from muse.commands.outputs import echo
from muse.commands.sections import PackageOption, RenamedOption, SectionedCommand
from muse.optional import load

if TYPE_CHECKING:
    import numpy as np

    from muse.progress import Progress
    from muse.space import Space

log = logging.getLogger(__name__)

VECTORS = ("text", "word2vec", "npz", "parquet")
SENTENCES, SPACY, SPACE, MAP = "sentence-transformers", "spacy", "space", "map"
FORMS = (*VECTORS, SENTENCES, SPACY, "torch", "moses", MAP, SPACE)
# The options that only some formats use.
OF_FORM = {
    "language": ("--lang", (*VECTORS, SENTENCES, SPACY, MAP)),
    "source": ("--src", ("torch", "moses")),
    "target": ("--tgt", ("torch", "moses")),
    "vocabularies": ("--vocab", ("torch",)),
    "tables": ("--tables", ("torch",)),
    "specials": ("--specials", ("torch",)),
    "fallback": ("--fallback", ("torch",)),
    "top": ("--top", ("moses",)),
    "temperature": ("--temperature", ("moses",)),
    "answers": ("--answers", ("moses",)),
    "among": ("--among", (MAP,)),
}


@click.command(
    cls=SectionedCommand,
    sections={
        "Output": ("--format", "--out"),
        "What it writes": ("--lang", "--among", "--max-vocab", "--encoder"),
        "Formats torch and moses": (
            "--src",
            "--tgt",
            "--tables",
            "--vocab",
            "--specials",
            "--fallback",
            "--top",
            "--temperature",
            "--answers",
            "--backend",
        ),
    },
    examples=(
        "muse export embeddings/aligned/fr-en --format text --out vectors",
        "muse export SPACE --format torch --src fr --tgt en --out tables.pt",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--format", "form", type=click.Choice(FORMS), help="Format to write; see above.  [required]")
@click.option(
    "--out", required=True, type=Path, metavar="PATH",
    help="File or folder to write; vectors go to one file per language if PATH has no suffix, "
    "spacy's to one folder per language unless --lang is given.",
)  # fmt: skip
@click.option(
    "--encoder", cls=PackageOption, package="sentences", type=Path, metavar="FOLDER",
    help="Export the word vectors of this trained encoder instead of the space's.",
)  # fmt: skip
@click.option(
    "--max-vocab", type=click.IntRange(1), metavar="N", help="Export only the N most frequent words."
)
@click.option("--lang", "language", metavar="LANG", help="Export only this language (formats of vectors).")
@click.option(
    "--among", "--into", "among", cls=RenamedOption, metavar="LANG",
    help="map: bring rows among the unchanged rows of this language.",
)  # fmt: skip
@click.option(
    "--src",
    "source",
    metavar="LANG",
    help="torch: language of the encoder. moses: source language.  [default: the language besides the pivot]",
)
@click.option(
    "--tgt",
    "target",
    metavar="LANG",
    help="torch: language of the decoder. moses: target language.  [default: the pivot]",
)
@click.option(
    "--tables", type=click.Choice(["separate", "shared"]),
    help="torch: one table for each side, or one for both.  [default: separate]",
)  # fmt: skip
@click.option(
    "--vocab", "vocabularies", multiple=True, type=Path, metavar="FILE",
    help="torch: vocabulary, a word or BPE unit on each line; repeat it for encoder and decoder.",
)  # fmt: skip
@click.option(
    "--specials",
    metavar="A,B,...",
    help="torch: special tokens, which come first.  [default: <pad>,<unk>,<s>,</s>]",
)
@click.option(
    "--fallback", type=click.Choice(["mean", "normal"]),
    help="torch: vector of a unit that is not a word: the mean of the words it occurs in, or random.  "
    "[default: mean]",
)  # fmt: skip
@click.option(
    "--top", type=click.IntRange(1), metavar="N",
    help="moses: number of translations of each word.  [default: 100]",
)  # fmt: skip
@click.option(
    "--temperature", type=Finite(0, min_open=True), metavar="X",
    help="moses: temperature of the softmax over CSLS.  [default: chosen on mutual neighbours]",
)  # fmt: skip
@click.option(
    "--answers", type=click.Choice(["all", "csls"]),
    help="moses: probabilities of translations chosen by all the evidence, where SPACE has them, or of CSLS "
    "alone.  [default: all]",
)  # fmt: skip
@backend
@common
def export(
    space: Path, form: str | None, out: Path, as_json: bool, quiet: bool, seed: int, device: str,
    **options: Any,
) -> None:  # fmt: skip
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
    import numpy as np

    if form is None:
        raise click.UsageError(f"Missing option '--format', one of {', '.join(FORMS)}.")
    given = {key: value for key, value in options.items() if value not in (None, ())}
    _check_options(form, given)
    loaded = open_space(space, device, quiet, answers=given.get("answers", "all"))
    words = _words(loaded, given)
    rng = np.random.default_rng(seed)
    write = {"torch": _torch, "moses": _moses, SENTENCES: _sentences, SPACY: _spacy, SPACE: _space, MAP: _map}
    fields, lines = write.get(form, _vectors)(words, out, given | {"form": form}, rng, loaded.progress)
    if as_json:
        echo(json.dumps({"out": str(out), "format": form, **fields}, ensure_ascii=False))
    else:
        echo("\n".join(lines))


def _check_options(form: str, given: dict[str, Any]) -> None:
    for key, (option, forms) in OF_FORM.items():
        if key in given and form not in forms:
            raise click.UsageError(f"{option} is for --format {' or '.join(forms)}, not for {form}")


def _words(space: Space, given: dict[str, Any]) -> Space:
    """The space or, with --encoder, the same words with the vectors that an encoder learned for them."""
    encoder = given.get("encoder")
    if encoder is None:
        return space
    words: Space = load("sentences.loading").learned_words(encoder, space)
    return words


def _check_pivot(space: Space, given: dict[str, Any]) -> None:
    """Raise BadSetting if an encoder has learned no vectors of the pivot, which this export needs."""
    from muse.errors import BadSetting

    if space.pivot not in space.languages:
        has, first = ", ".join(space.languages), space.languages[0]
        raise BadSetting(
            f"{given['encoder']}: --format {given['form']} needs vectors of the pivot, {space.pivot}, and "
            f"this encoder has learned those of {has} alone; train it with --text {space.pivot}=FILE too, or "
            f"export vectors, such as --format text --lang {first}"
        )


def _direction(space: Space, given: dict[str, Any]) -> tuple[str, str]:
    """The source and the target language; BadSetting if one is the pivot and has no vectors."""
    source, target = given.get("source"), given.get("target")
    if space.pivot in (source or space.pivot, target or space.pivot):
        _check_pivot(space, given)
    return choose_direction(space, source, target)


Report = tuple[dict[str, Any], list[str]]  # the fields of --json, and the lines printed without it


def _vectors(
    space: Space, out: Path, given: dict[str, Any], rng: np.random.Generator, progress: Progress
) -> Report:
    from muse.export.vector_files import export_vectors

    written = export_vectors(
        space, out, form=given["form"], language=given.get("language"), max_vocab=given.get("max_vocab"),
        progress=progress,
    )  # fmt: skip
    lines = [f"{file.words} words of {file.language} in {file.path}" for file in written]
    others = sorted(set(space.languages) - {file.language for file in written})
    if others and "language" not in given:
        log.warning("not exported: %s; see --lang, or give a folder as --out", ", ".join(others))
    return {"files": [file.as_json() for file in written], "not_exported": others}, lines


def _sentences(
    space: Space, out: Path, given: dict[str, Any], rng: np.random.Generator, progress: Progress
) -> Report:
    from muse.export.static_embedding import export_static_embedding

    languages = [given["language"]] if "language" in given else None
    written = export_static_embedding(space, out, languages=languages, max_vocab=given.get("max_vocab"))
    why = "a tokeniser would split them or they are there in another Unicode form"
    left = f", {written.left_out} left out because {why}" if written.left_out else ""
    return written.as_json(), [f"{written.words} words in {written.path}{left}"]


def _map(
    space: Space, out: Path, given: dict[str, Any], rng: np.random.Generator, progress: Progress
) -> Report:
    from muse.errors import Contradiction
    from muse.export.map_file import export_map

    language, among = given.get("language") or choose_direction(space, None, None)[0], given.get("among")
    if language == among:
        raise Contradiction(f"--among needs another language than --lang, got {among!r} twice; change one")
    written = export_map(space, out, language, among)
    k, d = written.weight.shape
    place = "" if among is None else f" among the rows of {among}"
    return written.as_json(), [f"the map of {language}, from {d} to {k} dimensions{place}, in {out}"]


def _spacy(
    space: Space, out: Path, given: dict[str, Any], rng: np.random.Generator, progress: Progress
) -> Report:
    from muse.export.spacy_folder import export_spacy

    written = export_spacy(space, out, language=given.get("language"), max_vocab=given.get("max_vocab"))
    lines = [f"{one.words} words of {one.language} in {one.path}, pipeline {one.pipeline}" for one in written]
    return {"folders": [one.as_json() for one in written]}, lines


def _space(
    space: Space, out: Path, given: dict[str, Any], rng: np.random.Generator, progress: Progress
) -> Report:
    from muse.export.vector_files import export_space

    _check_pivot(space, given)
    written = export_space(space, out, max_vocab=given.get("max_vocab"))
    return {"words": written}, [
        f"{count} words of {language} in {out}" for language, count in written.items()
    ]


def _torch(
    space: Space, out: Path, given: dict[str, Any], rng: np.random.Generator, progress: Progress
) -> Report:
    from muse.export.torch_file import TableConfig, export_torch
    from muse.space.lookup_table import SPECIALS

    specials = given.get("specials")
    config = TableConfig(
        shared=given.get("tables") == "shared",
        vocabularies=given.get("vocabularies", ()),
        specials=SPECIALS if specials is None else tuple(filter(None, specials.split(","))),
        fallback=given.get("fallback", "mean"),
        max_vocab=given.get("max_vocab"),
    )
    every = config.shared and not {"source", "target"} & set(given)
    languages = space.languages if every else _direction(space, given)
    tables = export_torch(space, out, languages=languages, config=config, rng=rng, progress=progress)
    fields = tables.as_json() | {"fallback": config.fallback}
    described = (
        {"encoder and decoder": "encoder"} if tables.shared else {"encoder": "encoder", "decoder": "decoder"}
    )
    lines = [_line(name, fields["tables"][side]) for name, side in described.items()]
    return fields, [*lines, f"in {out}"]


def _line(name: str, table: dict[str, Any]) -> str:
    rows = ", ".join(f"{count} {origin}" for origin, count in table["rows"].items() if count)
    languages = " and ".join(table["languages"])
    return f"{name}: {table['units']} x {table['dimension']}, {languages}; rows: {rows}"


def _moses(
    space: Space, out: Path, given: dict[str, Any], rng: np.random.Generator, progress: Progress
) -> Report:
    from muse.export.moses import MosesConfig, export_moses

    config = MosesConfig(**{key: given[key] for key in ("top", "temperature", "max_vocab") if key in given})
    direction = _direction(space, given)
    table = export_moses(space, out, direction=direction, config=config, rng=rng, progress=progress)
    ways = f"{table.direct:.4f} from {direction[0]}, {table.inverse:.4f} from {direction[1]}"
    return table.as_json(), [f"{table.pairs} pairs in {out}", f"temperature {ways}"]
