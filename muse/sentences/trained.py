"""The trained encoder: rows of its own for the words of a space, pooled; and its folder.

The folder holds `encoder.json` and, for each language whose rows are not those of the space, a folder with
`vectors.npy` (n, d'), row i for word i of the space. Nothing in it is a pickle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.atomic import atomic_folder
from muse.files.space_folder import VECTORS, checksum, folder_name, read_array, write_array, writing
from muse.files.space_manifest import plain
from muse.files.writing import check_folder
from muse.sentences.bags import Vocabulary
from muse.sentences.encoder import Encoded
from muse.sentences.pairs import Batch
from muse.sentences.word_tables import pooled
from muse.space import AlignedSpace
from muse.vectors import Matrix
from muse.version import __version__

ENCODER, FORMAT, FORMAT_VERSION = "encoder.json", "muse-encoder", 1


@dataclass(frozen=True, eq=False)
class TrainedEncoder:
    """What training leaves: for each of its languages the rows of the words of `space`, and how to pool them.

    `tables` has the rows (n, d') of the languages that training moved; the others' are the space's.
    `settings` say how it was trained.
    """

    name: str
    space: AlignedSpace
    languages: tuple[str, ...]
    tables: Mapping[str, Matrix]
    pooling: str = "mean"
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dimension(self) -> int:
        """The number of columns d'."""
        return int(self.table(self.languages[0]).shape[1])

    def table(self, language: str) -> Matrix:
        """The rows (n, d') of the words of a language; BadSetting where it was not trained on it."""
        if language not in self.languages:
            raise BadSetting(
                f"this encoder was trained for {', '.join(self.languages)}; got {language!r}: train another"
            )
        found = self.tables.get(language)
        return self.space.vectors(language).matrix if found is None else found

    def fit(self, sentences: Iterable[str], language: str) -> TrainedEncoder:
        """Itself: it learned from pairs, and learns nothing from text of one language."""
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences, in order; BadSetting where it has not got the language."""
        table = torch.from_numpy(self.table(language))
        bags = Vocabulary(language, self.space.vectors(language).index).bags(sentences)
        batch = Batch(torch.from_numpy(bags.ids), torch.from_numpy(bags.offsets[:-1]))
        rows = pooled(batch, table, self.pooling).numpy()  # (s, d')
        empty = int((np.diff(bags.offsets) == 0).sum())
        return Encoded(rows, empty, len(bags.ids) + bags.unknown, bags.unknown)

    def save(self, folder: Path) -> None:
        """Writes it whole or not at all; an encoder that was there before is replaced."""
        check_encoder_out(folder)
        folder = folder.resolve()
        with writing(folder), atomic_folder(folder) as partial:
            for language, rows in self.tables.items():
                (partial / folder_name(language)).mkdir()
                write_array(partial / folder_name(language) / VECTORS, rows.shape, [rows])
            sums = {name: checksum(partial / name) for name in map(_table_name, self.tables)}
            fields = {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                "muse_version": __version__,
                "name": self.name,
                "languages": self.languages,
                "dimension": self.dimension,
                "pooling": self.pooling,
                "settings": self.settings,
                "space": {name: space_checksum(self.space, name) for name in self.languages},
                "checksums": sums,
            }
            text = json.dumps(plain(fields), indent=2, allow_nan=False)
            (partial / ENCODER).write_text(text + "\n", encoding="utf-8")


def load_trained(folder: Path, space: AlignedSpace) -> TrainedEncoder:
    """The encoder saved in `folder`; Mismatch where it was trained for another space."""
    fields = _read(folder)
    for language, expected in fields["space"].items():
        if language not in space.languages or space_checksum(space, language) != expected:
            raise Mismatch(
                f"{folder}: trained for another space than this one, whose words or rows of {language} are "
                "others; use the space it was trained for, or train it again with muse train"
            )
    tables = {}
    for name, expected in fields["checksums"].items():
        if not (folder / name).is_file() or checksum(folder / name) != expected:
            raise BadFile(f"{folder / name}: expected the file that was saved, got another or none; {_AGAIN}")
    for language in fields["languages"]:
        if _table_name(language) in fields["checksums"]:
            shape = len(space.vectors(language)), fields["dimension"]
            tables[language] = read_array(folder / _table_name(language), shape)
    kept = {key: fields[key] for key in ("name", "pooling", "settings")}
    return TrainedEncoder(space=space, languages=tuple(fields["languages"]), tables=tables, **kept)


def is_encoder(folder: Path) -> bool:
    """Whether a folder holds an encoder of ours, of whatever version."""
    try:
        fields = json.loads((folder / ENCODER).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(fields, dict) and fields.get("format") == FORMAT


def check_encoder_out(folder: Path) -> None:
    """Raises BadSetting where no encoder can be written: `folder` is something else, or not to be written."""
    with writing(folder):
        empty = folder.is_dir() and not any(folder.iterdir())
        if folder.exists() and not empty and not is_encoder(folder):
            raise BadSetting(f"{folder} exists and is no encoder; choose another --out")
        check_folder(folder.resolve().parent)


def space_checksum(space: AlignedSpace, language: str) -> str:
    """The sha256 of the words and the rows of a language, in hexadecimal."""
    vectors = space.vectors(language)
    digest = hashlib.sha256("\n".join(vectors.words).encode(errors="surrogatepass"))
    digest.update(np.ascontiguousarray(vectors.matrix, dtype="<f4").data)
    return digest.hexdigest()


def _table_name(language: str) -> str:
    return f"{folder_name(language)}/{VECTORS}"


_AGAIN = "copy the whole folder again or train it again with muse train"
_FIELDS = {
    "format_version": int,
    "name": str,
    "languages": list,
    "dimension": int,
    "pooling": str,
    "settings": dict,
    "space": dict,
    "checksums": dict,
}


def _read(folder: Path) -> dict[str, Any]:
    path = folder / ENCODER
    if not is_encoder(folder):
        raise BadFile(f"{folder}: expected an encoder, found no {ENCODER} of ours; make one with muse train")
    fields: dict[str, Any] = json.loads(path.read_bytes())
    if isinstance(fields.get("format_version"), int) and fields["format_version"] > FORMAT_VERSION:
        raise BadFile(
            f"{path}: written by a newer muse (format {fields['format_version']}, this muse reads "
            f"{FORMAT_VERSION}): upgrade"
        )
    for key, kind in _FIELDS.items():
        if not isinstance(fields.get(key), kind):
            raise BadFile(
                f"{path}: expected {key} to be of type {kind.__name__}, got {fields.get(key)!r}; {_AGAIN}"
            )
    return fields
