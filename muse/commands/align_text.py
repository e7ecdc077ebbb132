"""Helpers of muse align: vectors trained on the texts of --src-text and --tgt-text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path("embeddings")  # where muse align looks for vectors by their language


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that name texts."""
    for option in (
        click.option(
            "--tgt-text", type=Path, metavar="FILE",
            help="Instead of --tgt-emb: text, on which muse embed trains embeddings/LANG.vec first.",
        ),
        click.option(
            "--src-text", type=Path, multiple=True, metavar="FILE",
            help="Instead of --src-emb: texts of --src, in the same order, on which muse embed trains "
            "embeddings/LANG.vec first. Not --src-texts, the texts of rows.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def check_texts(options: dict[str, Any]) -> dict[str, Path]:
    """The text of each language that has one; an error where they contradict other options or files."""
    from muse.embedding.corpus import check_text
    from muse.errors import BadFile, Contradiction
    from muse.files.writing import check_place

    source, target, sources = options["src_text"], options["tgt_text"], options["sources"]
    for side, given, other in (("--src", source, options["src_emb"]), ("--tgt", target, options["tgt_emb"])):
        if given and other:
            raise Contradiction(f"{side}-text replaces {side}-emb, got both; leave one of them out")
    if source and len(source) != len(sources):
        raise Contradiction(
            f"--src-text must be given once for each --src, got {len(source)} for {len(sources)}; give all "
            "of them, in the same order"
        )
    if target and options["target"] is None:
        raise Contradiction("--tgt-text needs --tgt LANG; --into has the target's vectors in its space")
    found = dict(zip(sources, source, strict=False))
    found |= {options["target"]: target} if target else {}
    for language, text in found.items():
        if not text.exists():
            raise BadFile(f"{text}: expected the text of {language!r}, found no such file; check its name")
        if vectors_of(language).exists():
            raise BadFile(
                f"{vectors_of(language)} is there already: expected to write the vectors of {text} to it; "
                "if they are the same, leave --src-text and --tgt-text out, else move the file away"
            )
        check_place(vectors_of(language))
        check_text(text)
    return found


def vectors_of(language: str) -> Path:
    """The file of the vectors that are trained."""
    return FOLDER / f"{language}.vec"


def embed_texts(texts: dict[str, Path], *, seed: int, quiet: bool) -> None:
    """Trains the vectors of each language."""
    import torch

    from muse.embedding import EmbedConfig, embed
    from muse.progress import Progress

    config = EmbedConfig(seed=seed, threads=torch.get_num_threads())
    for language, text in texts.items():
        made = embed(
            [text], vectors_of(language), language=language, config=config, progress=Progress(quiet=quiet)
        )
        if not quiet:
            click.echo(f"{made.words:,} words in {made.out}, from {made.tokens:,} tokens", err=True)
