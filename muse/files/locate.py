"""Locate: the vectors of a language for which no file was given."""

from __future__ import annotations

import os
from pathlib import Path

from muse.errors import BadFile

SUFFIXES = (".vec", ".vec.gz", ".vec.zip", ".txt", ".txt.gz", ".bin", ".npz")
STEMS = ("{}", "wiki.{}", "cc.{}.300")  # plain, and as fastText's two collections name them
# Beside the package in a checkout; an installed wheel brings none.
SAMPLE = Path(__file__).resolve().parents[2] / "embeddings" / "sample"


def locate_vectors(language: str) -> Path:
    """The file with the vectors of `language`; BadFile that lists the folders searched if there is none.

    Searched in turn: `embeddings/` and `embeddings/raw/` of the working directory, `$MUSE_EMBEDDINGS`,
    the sample vectors where muse runs from a checkout.
    """
    folders = search_path()
    for folder in folders:
        for stem in STEMS:
            for suffix in SUFFIXES:
                path = folder / f"{stem.format(language)}{suffix}"
                if path.is_file():
                    return path
    raise BadFile(
        f"no vectors for {language!r}: expected a file such as {language}.vec or {language}.vec.gz in "
        f"{', '.join(map(str, folders))}; give it as --src-emb or --tgt-emb, or set MUSE_EMBEDDINGS"
    )


def search_path() -> list[Path]:
    """The folders searched for vectors, in order."""
    here = Path("embeddings")
    named = [Path(folder) for folder in os.environ.get("MUSE_EMBEDDINGS", "").split(os.pathsep) if folder]
    samples = [SAMPLE] if SAMPLE.is_dir() else []
    return [here, here / "raw", *named, *samples]
