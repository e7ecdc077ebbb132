"""Small spaCy pipelines with vectors, made by spaCy itself, and loading what muse wrote."""

import tarfile
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.vectors import Matrix

spacy = pytest.importorskip("spacy", reason="the vectors of pipelines need spaCy")

FLORET = {"minn": 2, "maxn": 4, "hash_count": 2, "hash_seed": 7, "bow": "<", "eow": ">"}


def of_words(folder: Path, words: Sequence[str], rows: Matrix, alike: Mapping[str, str] = {}) -> Path:  # noqa: B006
    """The folder of a pipeline with these words and rows (n, d), and words that share the row of another."""
    from spacy.vectors import Vectors

    nlp = spacy.blank("xx")
    for word in (*words, *alike):
        nlp.vocab.strings.add(word)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=rows, keys=list(words))
    for word, other in alike.items():
        nlp.vocab.vectors.add(word, row=list(words).index(other))
    return _saved(nlp, folder)


def of_ngrams(folder: Path, strings: Sequence[str], rows: Matrix, **settings: Any) -> Path:
    """The folder of a pipeline in mode floret with the rows (r, d) of hashed n-grams, and strings."""
    from spacy.vectors import Vectors

    nlp = spacy.blank("xx")
    for word in strings:
        nlp.vocab.strings.add(word)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, mode="floret", data=rows, **{**FLORET, **settings})
    return _saved(nlp, folder)


def _saved(nlp: Any, folder: Path) -> Path:
    folder.mkdir(parents=True)
    nlp.to_disk(folder)
    return folder


def load(folder: Path) -> Any:
    """What spacy.load makes of a folder, without the warnings of files that it leaves open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spacy.load(folder)


def packaged(folder: Path, pipeline: Path, name: str = "xx_toy_md") -> Path:
    """A package of the pipeline as spaCy makes them, whose code must not run."""
    inner = folder / name / f"{name}-1.0.0"
    for path in sorted(pipeline.rglob("*")):
        target = inner / path.relative_to(pipeline)
        if path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    (folder / name / "__init__.py").write_text("raise RuntimeError('imported')\n")
    return folder / name


def wheel(path: Path, package: Path) -> Path:
    """The package as a wheel, with its metadata."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(package.rglob("*")):
            archive.write(file, file.relative_to(package.parent))
        archive.writestr(f"{package.name}-1.0.0.dist-info/METADATA", f"Name: {package.name}\n")
    return path


def sdist(path: Path, package: Path) -> Path:
    """The package as a source distribution."""
    with tarfile.open(path, "w:gz") as archive:
        archive.add(package, f"{package.name}-1.0.0/{package.name}")
    return path


def random_rows(count: int, dimension: int = 8, seed: int = 0) -> Matrix:
    """Rows (n, d) of nothing in particular."""
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
