"""Words as a pretrained encoder knows them: vectors of a model in a folder, for both languages alike.

The folder may be of sentence-transformers, of Hugging Face's transformers, which is read with mean pooling,
or of model2vec. Words are encoded once: their vectors are kept in a folder, under a name with a digest of the
model, the words and the template: reading a gigabyte takes a second, encoding it takes minutes. Those of an
earlier run into the same folder are removed.
"""

import hashlib
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.errors import BadFile, BadSetting
from muse.files.archive import arrays_of
from muse.files.atomic import atomic_path, parents_made
from muse.files.encoder_folder import (
    MODULES,
    SETTINGS,
    TOKENIZER,
    WEIGHTS,
    check_weights,
    harmless_copy,
    inside,
    read_settings,
    refuse_adapter,
    tokenizers_tried,
)
from muse.files.source import DAMAGED, regular_bytes
from muse.files.space_folder import checksum
from muse.files.vectors.static import static_rows
from muse.optional import check_library, library
from muse.progress import Progress
from muse.vectors import Matrix

BATCH = 512  # words encoded at once
NAMED = 16  # digits of the digest that are the name of a file of encoded words
SLOT = "{word}"
PROBE = "probe"  # a text whose vector two loadings of a whole model agree on
_MODULES = "sentence_transformer.modules"
SAME = 0.01  # of its largest number
_MODEL = "a model of sentence-transformers, Hugging Face or model2vec"


@dataclass(frozen=True)
class PretrainedEncoder:
    """An encoder in a folder, and the text that it reads for a word."""

    folder: Path
    template: str = SLOT

    def check(self) -> None:
        """Raise BadFile for a folder without a whole model, BadSetting for a template without {word}."""
        if SLOT not in self.template:
            raise BadSetting(f"--encoder-template must contain {SLOT}, got {self.template!r}; add it")
        if not self.folder.is_dir():
            raise BadFile(
                f"{self.folder}: expected the folder of a model, such as SentenceTransformer.save writes; "
                "check the path"
            )
        check_library("sentence_transformers", "--encoder", "transformers")
        refuse_adapter(self.folder)
        if not any((self.folder / name).is_file() for name in ("modules.json", "config.json")):
            raise BadFile(
                f"{self.folder}: expected {_MODEL}, got no modules.json and config.json; check the path"
            )
        with harmless_copy(self.folder):
            pass

    def opened(self, device: str) -> Callable[[Sequence[str]], Matrix]:
        """What gives the vectors (n, d) of words; BadFile for a folder without a model."""
        self.check()
        with harmless_copy(self.folder) as copy:
            model = _load(self.folder, copy, device)
        return lambda words: self._encoded(words, model, Progress(quiet=True), "words")

    def encode(
        self, words: Mapping[str, Sequence[str]], *, cache: Path, device: str, progress: Progress
    ) -> list[Matrix]:
        """The vectors (n, d) of the words of each language, from `cache` or encoded.

        Raise BadFile for a folder without a model.
        """
        with harmless_copy(self.folder) as copy:
            named = (checksum(copy), self.template)
            paths = {
                language: cache
                / f"{hashlib.sha256(chr(0).join((*named, *own)).encode()).hexdigest()[:NAMED]}.npz"
                for language, own in words.items()
            }
            kept = {language: _kept(path, len(words[language])) for language, path in paths.items()}
            new = [language for language, rows in kept.items() if rows is None]
            texts = [self._text(word) for language in new for word in words[language]]
            model = _load(self.folder, copy, device, texts) if new else None
        for language in new:
            kept[language] = rows = self._encoded(words[language], model, progress, language)
            _keep(paths[language], rows)
        if new:  # the words of other vocabularies, templates and models are removed: they are large
            for path in {*cache.glob("*.npz")} - {*paths.values()}:
                with suppress(OSError):
                    path.unlink()
        return [rows for rows in kept.values() if rows is not None]

    def _text(self, word: str) -> str:
        return self.template.replace(SLOT, word)

    def _encoded(self, words: Sequence[str], model: Any, progress: Progress, language: str) -> Matrix:
        texts = [*map(self._text, words)]
        rows = []
        with progress.stage(f"encoding words ({language})", len(texts), "words") as tick:
            for begin in range(0, len(texts), BATCH):
                batch = texts[begin : begin + BATCH]
                rows.append(_vectors(model, batch, self.folder))
                tick(begin + len(batch))
        encoded = np.concatenate(rows)
        return np.where(np.isfinite(encoded).all(axis=1, keepdims=True), encoded, 0).astype(np.float32)


class FirstModule(NamedTuple):
    """The first module of a model: whether it has a vector for each word alone, and its folder in it."""

    is_static: bool
    path: str = ""


def module_of(folder: Path) -> FirstModule | None:
    """The first module of a model of sentence-transformers or model2vec; None in other folders."""
    if (path := folder / "modules.json").is_file():
        found = read_settings(path)
        first = found[0] if isinstance(found, list) and found else None
        if not isinstance(first, dict):
            raise BadFile(f"{path}: expected a list of modules, got others; check that the folder is whole")
        return FirstModule(
            str(first.get("type")).endswith("StaticEmbedding"), inside(path, first.get("path", ""))
        )
    path = folder / "config.json"
    settings = read_settings(path) if path.is_file() else None
    if isinstance(settings, dict) and settings.get("model_type") == "model2vec":
        return FirstModule(is_static=True)
    return None


def _kept(path: Path, count: int) -> Matrix | None:
    """The rows (n, d) of this number of words that `_keep` wrote; None without a whole file."""
    try:
        parts = arrays_of(regular_bytes(path)) if path.exists() else {}
        rows = parts.get("rows", np.zeros(0))
        fits = rows.ndim == 2 and len(rows) == count and rows.dtype == np.float32
        fits = fits and bool(np.isfinite(rows).all())
        return rows if fits else None
    except (OSError, *DAMAGED):
        return None


def _keep(path: Path, rows: Matrix) -> None:
    """Write rows, if the folder is writable; numpy's own format tells when they are damaged."""
    with suppress(OSError), parents_made(path), atomic_path(path) as partial, partial.open("wb") as file:
        np.savez(file, rows=rows)


def _load(folder: Path, copy: Path, device: str, texts: Sequence[str] = ()) -> Any:
    """The model in the copy of a folder; BadFile if it cannot be read, lacks weights, or explodes.

    The library draws weights that a file lacks at random, and goes on. Loaded twice, they differ.
    """
    with tokenizers_tried(folder, copy, texts) as end:
        models: Any = library("sentence_transformers", "--encoder", "transformers")
        end()
    first, model = (_loaded(models, folder, copy, device) for _ in range(2))
    probe = _vectors(first, [PROBE], folder)
    if not np.isfinite(probe).any():
        raise BadFile(
            f"{folder}: expected a model that encodes words as finite numbers, got nan, inf or none; copy "
            "the folder again"
        )
    within = SAME * abs(probe[np.isfinite(probe)]).max()
    if not np.allclose(probe, _vectors(model, [PROBE], folder), 0, within, equal_nan=True):
        raise BadFile(
            f"{folder}: expected the weights of the whole model, got a file that lacks some, which would be "
            "random numbers; copy the folder again"
        )
    check_weights(folder, model)
    return model


def _loaded(models: Any, folder: Path, copy: Path, device: str) -> Any:
    try:
        with _quiet():
            if any((copy / name).exists() for name in (MODULES, SETTINGS)):
                return models.SentenceTransformer(
                    str(copy), device=device, local_files_only=True, trust_remote_code=False,
                    model_kwargs={"use_safetensors": True},
                )  # fmt: skip
            # Of model2vec. The home of the modules before and after version 6.
            parts = getattr(models, "models", None) or import_module(f"{models.__name__}.{_MODULES}")
            tokenizer = import_module("tokenizers").Tokenizer.from_file(str(copy / TOKENIZER))
            static = parts.StaticEmbedding(tokenizer, embedding_weights=static_rows(folder, copy / WEIGHTS))
            return models.SentenceTransformer(modules=[static], device=device)
    except BadFile:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the library raises for a folder that it cannot read
        raise _unusable(folder, _MODEL, error) from error


def _vectors(model: Any, texts: Sequence[str], folder: Path) -> Matrix:
    """The vectors (n, d) of some texts; BadFile for a model that cannot encode them."""
    try:
        found = model.encode([*texts], batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
    except Exception as error:  # noqa: BLE001 - a tokenizer and weights that do not fit raise anything
        raise _unusable(folder, "a model that encodes words", error) from error
    return np.asarray(found, np.float32)


def _unusable(folder: Path, expected: str, error: Exception) -> BadFile:
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return BadFile(f"{folder}: expected {expected}, got {reason}; check that it is whole, and of one model")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the bars and tables that transformers shows while it loads."""
    shown: Any = import_module("transformers.utils.logging")
    level, bars = shown.get_verbosity(), shown.is_progress_bar_enabled()
    shown.set_verbosity(logging.CRITICAL)
    shown.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong is an error
            yield
    finally:
        shown.set_verbosity(level)
        if bars:
            shown.enable_progress_bar()
