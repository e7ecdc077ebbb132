"""Locate: the vectors of a language for which no file was given."""

import os
from pathlib import Path

from muse.errors import BadFile, did_you_mean
from muse.files.space_folder import folder_name

SUFFIXES = (".vec", ".vec.gz", ".vec.zip", ".txt", ".txt.gz", ".bin", ".npz")
STEMS = ("{}", "wiki.{}", "cc.{}.300")  # plain, and as fastText's two collections name them
# Beside the package in a checkout; an installed wheel brings none.
SAMPLE = Path(__file__).resolve().parents[3] / "embeddings" / "sample"


def locate_vectors(language: str, option: str = "--src-emb or --tgt-emb") -> Path:
    """The file with the vectors of `language`; BadFile that lists the folders searched if there is none.

    `option` is that which would have named it.

    Searched in turn: `embeddings/` and `embeddings/raw/` of the working directory, `$MUSE_EMBEDDINGS`,
    the sample vectors where muse runs from a checkout.
    """
    folder_name(language)  # refuses names such as ../fr with a message of their own
    folders = search_path()
    for folder in folders:
        for stem in STEMS:
            for suffix in SUFFIXES:
                path = folder / f"{stem.format(language)}{suffix}"
                if path.is_file():
                    return path
    known, here = known_languages(), Path.cwd()
    # In a checkout the samples are in a folder of the working directory.
    searched = [str(one.relative_to(here) if one.is_relative_to(here) else one) for one in folders]
    several = "; repeat the option for several languages" if "," in language else ""
    meant = "" if several else did_you_mean(language, known)
    raise BadFile(
        f"no vectors for {language!r}: expected a file such as {language}.vec or {language}.vec.gz in "
        f"{', '.join(searched)}, found vectors for {', '.join(known) or 'no language'} there"
        f"{meant}{' Else' if meant else ';'} give a file as {option}, set MUSE_EMBEDDINGS, or download "
        f"published vectors: muse fetch vectors {language}{several}"
    )


def known_languages() -> list[str]:
    """The languages that `locate_vectors` finds, sorted."""
    names = (path.name for folder in search_path() if folder.is_dir() for path in folder.iterdir())
    return sorted({language for name in names if (language := _language(name))})


def _language(name: str) -> str:
    # cc.fr.300.vec is of fr, though a language may be called cc.fr.300: plain names come last.
    for stem in reversed(STEMS):
        for suffix in SUFFIXES:
            before, after = f"{stem}{suffix}".split("{}")
            if name.startswith(before) and name.endswith(after):
                return name[len(before) : len(name) - len(after)]
    return ""


def search_path() -> list[Path]:
    """The folders searched for vectors, in order."""
    here = Path("embeddings")
    named = [Path(folder) for folder in os.environ.get("MUSE_EMBEDDINGS", "").split(os.pathsep) if folder]
    samples = [SAMPLE] if SAMPLE.is_dir() else []
    return [here, here / "raw", *named, *samples]
