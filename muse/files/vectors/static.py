"""Static embeddings: folders with a tokenizer and a table of vectors, whose words are tokens.

Those of model2vec and of sentence-transformers' StaticEmbedding, of which the tokens that are whole words are
read, and of sentence-transformers' WordEmbeddings, whose tokens are words.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.detect import VECTORS, open_beginning, readable_kind
from muse.files.json_text import parse_json
from muse.files.source import DAMAGED, check_ratio, regular_bytes
from muse.files.vectors.arrays import read_tensor, tensor_names
from muse.files.vectors.pytorch import read_torch
from muse.files.vectors.table import Table, words_table

log = logging.getLogger(__name__)

# Tensors that are read.
_OF_WORDS = "emb_layer.weight"
_TABLES = ("embedding.weight", "embeddings", _OF_WORDS)  # of sentence-transformers, model2vec, WordEmbeddings
_ADDED = ("mapping", "weights")  # by model2vec
_CONTEXTUAL = (
    ": expected a static embedding, got a model that reads whole sentences; give it as --encoder, or make "
    "vectors of words with it yourself"
)
_MODULES = (".StaticEmbedding", ".WordEmbeddings")
# Marked so or not.
_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK|unused\d+)\]|</?(?:s|pad|unk|mask)>|PADDING_TOKEN")
_BYTES, _SPACE = "Ġ▁"  # what stands for a space in GPT-2's alphabet of bytes, and in sentencepiece's


def static_table(path: Path) -> Table:
    """The table of the whole words of a static embedding; BadFile for another model."""
    folder = _static_folder(path)
    rows = static_rows(path, folder / "model.safetensors")
    words = next(folder.glob("*tokenizer_config.json"), None) if _has_words(folder) else None
    places = _whole_words(folder / "tokenizer.json") if words is None else _vocabulary(words)
    if places and max(places.values()) >= len(rows):
        raise BadFile(
            f"{path}: expected a vector for each token, got {len(rows)} and the number "
            f"{max(places.values())}; save the model again"
        )
    return words_table(path, list(places), rows[list(places.values())])


def _has_words(folder: Path) -> bool:
    return (folder / "wordembedding_config.json").is_file()


def _vocabulary(file: Path) -> dict[str, int]:
    """The words that a tokenizer of whole words knows, each with its place."""
    settings = _parsed(file)
    words = settings.get("vocab") if isinstance(settings, dict) else None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadFile(
            f"{file}: expected a list of words as `vocab`, got another content; save the model again"
        )
    return {word: place for place, word in enumerate(words) if not _SPECIAL.fullmatch(word)}


def _static_folder(path: Path) -> Path:
    """The folder with the tokenizer and the vectors: the one given, or one in it."""
    if not (path / "modules.json").is_file():
        return path
    modules = _parsed(path / "modules.json")
    found = [module for module in modules if isinstance(module, dict)] if isinstance(modules, list) else []
    static = [module for module in found if str(module.get("type")).endswith(_MODULES)]
    if not static:
        raise BadFile(f"{path}{_CONTEXTUAL}")
    name = str(static[0].get("path", "")).strip("./")
    if name and name not in {inner.name for inner in path.iterdir() if inner.is_dir()}:
        raise BadFile(
            f"{path}: expected the folder {name[:40]!r} in it, as modules.json says, found none; save the "
            "model again"
        )
    return path / name


def static_rows(path: Path, file: Path) -> NDArray[Any]:
    """The vector of each token (n, d); model2vec may share rows among tokens, and weight them."""
    tensors, older = dict[str, NDArray[Any]](), file.with_name("pytorch_model.bin")
    if file.is_file():
        tensors = {name: read_tensor(file, name) for name in tensor_names(file) if name in _TABLES + _ADDED}
    elif _has_words(file.parent) and older.is_file():
        with open_beginning(older) as opened:
            readable_kind(opened, VECTORS)
        tensors[_OF_WORDS] = read_torch(older, _OF_WORDS)
    else:
        raise BadFile(f"{path}: expected vectors in {file.name}, found no such file; save the model again")
    table = next((name for name in _TABLES if name in tensors), None)
    if table is None:
        raise BadFile(f"{path}{_CONTEXTUAL}")
    rows, shared, weights = tensors[table], tensors.get("mapping"), tensors.get("weights")
    tokenizer = file.with_name("tokenizer.json")
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in "fiu":
        raise BadFile(f"{file}: expected a vector for each token, got {rows.dtype} of shape {rows.shape}")
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is dropped
        rows = rows.astype(np.float32)
        if shared is not None:
            fits = shared.ndim == 1 and shared.dtype.kind in "iu" and len(shared)
            if not fits or not 0 <= shared.min() <= shared.max() < len(rows):
                raise BadFile(f"{file}: expected rows of {table} in mapping, got others; save the model")
            size = file.stat().st_size + (tokenizer.stat().st_size if tokenizer.is_file() else 0)
            check_ratio(path, len(shared) * rows[:1].nbytes, size)
            rows = rows[shared]
        if weights is not None:
            if weights.shape != rows.shape[:1] or weights.dtype.kind != "f":
                raise BadFile(
                    f"{file}: expected a weight for each token, got {weights.shape}; save the model again"
                )
            rows *= weights.astype(np.float32)[:, None]
    return rows


def _whole_words(file: Path) -> dict[str, int]:
    """The tokens that are whole words, in the order of their numbers, which are those of their vectors."""
    try:
        settings = _parsed(file)
        model, added = settings["model"], settings.get("added_tokens") or []
        special = {str(token["content"]) for token in added if token.get("special")}
        special.add(model.get("unk_token"))
        vocabulary = model["vocab"]
        if isinstance(vocabulary, list):  # a Unigram model has the score of each
            vocabulary = {token: place for place, (token, _) in enumerate(vocabulary)}
        vocabulary = {**vocabulary, **{str(token["content"]): token["id"] for token in added}}
        if not all(type(place) is int and place >= 0 for place in vocabulary.values()):
            raise ValueError("numbers of tokens that are none")
        own = [token for token in vocabulary if token not in special and not _SPECIAL.fullmatch(token)]
        tokens = sorted(own, key=vocabulary.__getitem__)
        words = _unmarked(tokens, model)
    except (*DAMAGED, KeyError) as error:
        raise BadFile(f"{file}: expected a tokenizer's vocabulary, got another content ({error})") from error
    found: dict[str, int] = {}
    for token, word in zip(tokens, words, strict=True):
        if word:
            found.setdefault(word, vocabulary[token])
    if len(found) < len(vocabulary):
        log.warning(
            "%s: read the %d of %d tokens that are words; pieces of words and special tokens are left out",
            file.parent, len(found), len(vocabulary),
        )  # fmt: skip
    return found


def _unmarked(tokens: Sequence[str], model: Mapping[str, Any]) -> list[str]:
    """The word that each token is, without the mark of a word; the empty string for a piece of a word."""
    end, inner = model.get("end_of_word_suffix"), model.get("continuing_subword_prefix")
    for mark in (_SPACE, _BYTES):
        if any(token.startswith(mark) for token in tokens):
            words = [token[1:] if token.startswith(mark) else "" for token in tokens]
            return [*map(_of_bytes, words)] if mark == _BYTES else words
    if end:
        return [token.removesuffix(end) if token.endswith(end) else "" for token in tokens]
    return ["" if inner and token.startswith(inner) else token for token in tokens]


def _of_bytes(token: str) -> str:
    """The text of a token in the alphabet of GPT-2, where each byte is a printable character."""
    try:
        return bytes(_ALPHABET[sign] for sign in token).decode()
    except (KeyError, UnicodeDecodeError):
        return ""


# Printable Latin-1 stands for itself, the others for the characters from 256 on, in order.
_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_ALPHABET = {chr(byte): byte for byte in _PRINTABLE} | {
    chr(256 + place): byte for place, byte in enumerate(sorted({*range(256)} - {*_PRINTABLE}))
}


def _parsed(file: Path) -> Any:
    try:
        return parse_json(regular_bytes(file), "surrogatepass")
    except (OSError, ValueError) as error:
        raise BadFile(f"{file}: expected JSON, got {error}; save the model again") from error
