"""Words as a pretrained encoder knows them: vectors of a model in a folder, for both languages alike.

The folder may be of sentence-transformers, of Hugging Face's transformers, which is read with mean pooling,
or of model2vec. Words are encoded once: their vectors are kept in a folder, under a name with a digest of the
model, the words and the template, and sealed (`muse.files.kept`): reading a gigabyte takes a second, encoding
it takes minutes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile, BadSetting, MissingExtra
from muse.files.kept import Origin, keep_rows, read_rows
from muse.files.space_folder import checksum
from muse.installation import install_extra
from muse.progress import Progress
from muse.vectors import Matrix

BATCH = 512  # words encoded at once
NAMED = 16  # digits of the digest that are the name of a file of encoded words
SLOT = "{word}"
PICKLED = {".bin", ".pt", ".pth", ".pkl", ".ckpt"}


@dataclass(frozen=True)
class PretrainedEncoder:
    """An encoder in a folder, and the text that it reads for a word."""

    folder: Path
    template: str = SLOT

    def check(self) -> None:
        """Raise BadFile for a folder that is none, BadSetting for a template without a place for the word."""
        if SLOT not in self.template:
            raise BadSetting(
                f"--encoder-template must contain {SLOT}, got {self.template!r}; write it where the word goes"
            )
        if not self.folder.is_dir():
            raise BadFile(
                f"{self.folder}: expected the folder of a model, such as SentenceTransformer.save writes; "
                "check the path"
            )
        _require()
        _check_harmless(self.folder)

    def encode(
        self, words: Mapping[str, Sequence[str]], *, cache: Path, device: str, progress: Progress
    ) -> list[Matrix]:
        """The vectors (n, d) of the words of each language, from `cache` or encoded.

        Raise BadFile for a folder without a model.
        """
        folder = checksum(self.folder)
        origins = {language: Origin("", self._digest(folder, own)) for language, own in words.items()}
        paths = {language: cache / f"{one.digest[:NAMED]}.npy" for language, one in origins.items()}
        kept = {
            language: read_rows(path, origins[language], _of_words(len(words[language])))
            for language, path in paths.items()
        }
        new = [language for language, rows in kept.items() if rows is None]
        model = _load(self.folder, device) if new else None
        for language in new:
            kept[language] = rows = self._encoded(words[language], model, progress, language)
            with suppress(OSError):
                cache.mkdir(parents=True, exist_ok=True)
            keep_rows(paths[language], rows, origins[language])
        return [rows for rows in kept.values() if rows is not None]

    def _encoded(self, words: Sequence[str], model: Any, progress: Progress, language: str) -> Matrix:
        texts = [self.template.replace(SLOT, word) for word in words]
        rows = []
        with progress.stage(f"encoding words ({language})", len(texts), "words") as tick:
            for begin in range(0, len(texts), BATCH):
                batch = texts[begin : begin + BATCH]
                found = model.encode(batch, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
                rows.append(np.asarray(found, np.float32))
                tick(begin + len(batch))
        encoded = np.concatenate(rows)
        return np.where(np.isfinite(encoded).all(axis=1, keepdims=True), encoded, 0).astype(np.float32)

    def _digest(self, folder: str, words: Sequence[str]) -> str:
        return hashlib.sha256("\0".join((folder, self.template, *words)).encode()).hexdigest()


def _of_words(count: int) -> Callable[[Matrix], bool]:
    """Whether an array can be the vectors of this number of words."""
    return lambda rows: rows.ndim == 2 and len(rows) == count


def _require() -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise MissingExtra(
            "--encoder needs sentence-transformers, which is not installed; run "
            f"{install_extra('transformers')}"
        ) from error
    return sentence_transformers


def _load(folder: Path, device: str) -> Any:
    library = _require()
    try:
        if _is_model2vec(folder):
            static = library.models.StaticEmbedding.from_model2vec(str(folder))
            return library.SentenceTransformer(modules=[static], device=device)
        return library.SentenceTransformer(
            str(folder), device=device, local_files_only=True, trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )  # fmt: skip
    except Exception as error:  # noqa: BLE001 - whatever the library raises for a folder that it cannot read
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadFile(
            f"{folder}: expected a model of sentence-transformers, Hugging Face or model2vec, got {reason}; "
            "check that the folder is whole"
        ) from error


def _check_harmless(folder: Path) -> None:
    """Raise BadFile for a folder whose own code would run: classes that it names, and pickles, are loaded."""
    for name in ("modules.json", "router_config.json"):
        for path in folder.rglob(name):
            for named in _types(_parsed(path)):
                if not named.startswith("sentence_transformers."):
                    raise BadFile(
                        f"{path}: expected modules of sentence-transformers, got {named!r}; muse runs no "
                        "code of a folder; make vectors with the model yourself, for --encoder-emb"
                    )
    for path in sorted(folder.rglob("*")):
        if path.suffix in PICKLED and not any(path.parent.glob("*.safetensors")):
            raise BadFile(
                f"{path}: expected weights in safetensors, found a pickle, which could run code; convert the "
                "model, or make vectors with it yourself, for --encoder-emb"
            )


def _types(found: object) -> Iterator[str]:
    """The classes that a configuration names, however deep: under "type", or as values of "types"."""
    if isinstance(found, list):
        for one in found:
            yield from _types(one)
    elif isinstance(found, dict):
        for key, value in found.items():
            if key == "type":
                yield str(value)
            elif key == "types" and isinstance(value, dict):
                yield from map(str, value.values())
            else:
                yield from _types(value)


def _parsed(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadFile(f"{path}: expected JSON, got {error}; check that the folder is whole") from error


def _is_model2vec(folder: Path) -> bool:
    path = folder / "config.json"
    settings = _parsed(path) if path.exists() else None
    return isinstance(settings, dict) and settings.get("model_type") == "model2vec"
