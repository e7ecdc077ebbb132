"""Vectors as other programs save them: PyTorch's files, folders of static embeddings, and what is not read.

A pickle can run any code when it is loaded, so muse loads none: its message names the program and the
command that converts it. PyTorch's own reader takes tensors, lists and text out of a .pt without running
anything else. A static embedding is a folder with a tokenizer and a table of vectors, of model2vec or
sentence-transformers' StaticEmbedding: its words are the tokens that are whole words.
"""

from __future__ import annotations

import json
import logging
import pickletools
import re
import shlex
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.json_text import parse_json
from muse.files.rows import read_tensor, table_of_rows, tensor_names
from muse.files.source import DAMAGED, check_archive
from muse.files.vectors.broken import Dropped, keep_whole
from muse.files.vectors.table import Block, Table

log = logging.getLogger(__name__)

_ROWS = 10_000  # rows converted at once
_PICKLE = re.compile(
    rb"\x80[\x02-\x05]|c[A-Za-z_][\w.]*\n[A-Za-z_]\w*\n|\(i[\w.]+\n\w+\n|\([dl]p\d+\n|[}\])(]q[\0-\x05]"
)
_OLD_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_SAFE = ("torch", "collections", "_codecs", "numpy")  # whose classes torch's reader knows, some of them
_LONGEST = 1_000  # characters of a text in a .pt
_CLASS = re.compile(r"[A-Za-z_][\w.]{,99}")
_SHOWN = 40  # characters of a name in a message
_LOOKED_AT = 200  # steps of a pickle, in which its class is named
_SAVEZ = 'np.savez("vectors.npz", words=..., matrix=...)'
# What begins so, and how it is converted.
_OTHERS: dict[bytes, tuple[str, str]] = {
    b"\x89HDF\r\n\x1a\n": ("HDF5", f"read it with pandas or h5py and save {_SAVEZ}"),
    b"SQLite format 3\0": (
        "an SQLite database, as Magnitude's are",
        f"read it with its own program and save {_SAVEZ}",
    ),
    b"ARROW1": ("Arrow (Feather)", 'convert it: pandas.read_feather(...).to_parquet("vectors.parquet")'),
}
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*\"|\[\s*[\[{\"])")
_TOKENIZER, _TENSORS = "tokenizer.json", "model.safetensors"
_TABLES = ("embedding.weight", "embeddings")  # the names of sentence-transformers and of model2vec
_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK|unused\d+)\]|</?(?:s|pad|unk|mask)>")  # marked so or not
# What stands for a space in GPT-2's alphabet of bytes, whose first characters are printable, and elsewhere.
_BYTES = "Ġ"
_SPACE = "▁"  # what stands for a space in sentencepiece's


def refuse_others(path: Path, head: bytes) -> None:
    """Raise BadFile, with the way out, for a file that begins as those of programs that are not read."""
    if head.startswith(_OLD_TORCH):
        raise BadFile(
            f"{path}: expected vectors, got a pickle of a PyTorch before 1.6, which can run code and is "
            f"never loaded; where you trust it, load it with torch.load and save {_SAVEZ}"
        )
    if _PICKLE.match(head):
        raise _pickled(path, head)
    for magic, (name, advice) in _OTHERS.items():
        if head.startswith(magic):
            raise BadFile(f"{path}: expected vectors in a format that muse reads, got {name}; {advice}")
    if _JSON.match(head):
        raise BadFile(
            f"{path}: expected vectors in a format that muse reads, got JSON; read it with Python's json and "
            f"save {_SAVEZ}"
        )


def _pickled(path: Path, head: bytes) -> BadFile:
    """The error for a pickle, with the command that converts one of gensim's."""
    name = next((name for name in _named(head) if name.startswith("gensim.")), None)
    if name is None:
        return BadFile(
            f"{path}: expected vectors, got a Python pickle, which can run code and is never loaded; where "
            f"you trust it, load it in Python and save {_SAVEZ}"
        )
    # A keyed vectors' file of any gensim; that of a whole model has them as its attribute wv.
    kind = name.rpartition(".")[2]
    loaded, kind = ("", "KeyedVectors") if "Vectors" in kind else (".wv", kind)
    source, target = json.dumps(str(path)), json.dumps(str(path.with_suffix(".bin")))
    command = (
        f"from gensim.models import {kind}; "
        f"{kind}.load({source}){loaded}.save_word2vec_format({target}, binary=True)"
    )
    return BadFile(
        f"{path}: expected vectors, got a pickle of gensim ({name}), which can run code and is never loaded; "
        f"where you trust it, convert it: python -c {shlex.quote(command)}"
    )


def _named(head: bytes) -> list[str]:
    """The classes that the start of a pickle names, without running any of it."""
    names, texts = list[str](), list[str]()
    with suppress(*DAMAGED, MemoryError), _quietly():  # it is only a head
        for step, argument, _ in islice(pickletools.genops(head), _LOOKED_AT):
            if step.name == "GLOBAL":
                names.append(str(argument).replace(" ", "."))
            elif step.name == "STACK_GLOBAL" and len(texts) > 1:
                names.append(".".join(texts[-2:]))
            elif isinstance(argument, str):
                texts.append(argument)
    return [name for name in names if _CLASS.fullmatch(name)]


@contextmanager
def _quietly() -> Iterator[None]:
    # Of damaged and of old files, readers warn of what then is refused or right.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def is_torch(path: Path) -> bool:
    """Whether a file is one that torch.save wrote, in its format since 1.6."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.rpartition("/")[2] == "data.pkl" for name in archive.namelist())
    except DAMAGED:
        return False  # opening it as a .zip reports the error


def torch_table(path: Path) -> Table:
    """The table of a .pt with one matrix, and of its words if it has a list of as many texts.

    Words may also be the keys of vectors, or of the numbers of the rows. Raise BadFile if it is not clear
    which are the vectors, and for Python objects.
    """
    found = _loaded(path)
    values = list(found.values()) if isinstance(found, Mapping) else found
    values = list(values) if isinstance(values, list | tuple) else [values]
    matrices = [value for value in values if _is_tensor(value) and value.ndim == 2]
    if isinstance(found, Mapping) and values and not matrices and all(map(_is_row, values)):
        if len({len(value) for value in values}) == 1:
            return _table(path, list(map(str, found)), np.stack([_array(path, value) for value in values]))
    if len(matrices) != 1:
        raise _unclear(path, f"{len(matrices)} of them")
    matrix = _array(path, matrices[0])
    lists = [words for value in values if (words := _words(value)) and len(words) == len(matrix)]
    if not lists:
        if any(_words(value) for value in values):
            raise _unclear(path, f"{len(matrix)} rows and another number of words")
        return table_of_rows(path, matrix)
    if any(words != lists[0] for words in lists):
        raise _unclear(path, f"{len(lists)} lists of words")
    return _table(path, lists[0], matrix)


def _unclear(path: Path, found: str) -> BadFile:
    return BadFile(
        f"{path}: expected one matrix, and a list of as many words, got {found}; save them as "
        'torch.save({"words": [...], "vectors": matrix}, path)'
    )


def _loaded(path: Path) -> Any:
    import torch  # not above: files are read, and completed on the command line, without it

    try:
        check_archive(path)
        _check_steps(path)
        with _quietly():
            return torch.load(path, map_location="cpu", weights_only=True)
    except BadFile:
        raise
    except Exception as error:  # noqa: BLE001 - whatever torch raises for what is not its own or damaged
        if isinstance(error, UnpicklingError):
            raise _with_objects(path) from error
        raise BadFile(
            f"{path}: expected a .pt of tensors and lists, got a broken one; save it again"
        ) from error


def _check_steps(path: Path) -> None:
    """Raise BadFile for classes that are not torch's, and for text that its reader would search for hours."""
    with zipfile.ZipFile(path) as archive, _quietly():
        (name,) = [name for name in archive.namelist() if name.rpartition("/")[2] == "data.pkl"]
        for step, argument, _ in pickletools.genops(archive.read(name)):
            if step.name == "GLOBAL" and re.split(r"[. ]", str(argument))[0] not in _SAFE:
                raise _with_objects(path)
            if isinstance(argument, str | bytes) and len(argument) > _LONGEST:
                raise BadFile(
                    f"{path}: expected words of at most {_LONGEST} characters, got {len(argument)}; save "
                    "the others alone"
                )


def _with_objects(path: Path) -> BadFile:
    return BadFile(
        f"{path}: expected a .pt of tensors and lists, got one with Python objects, which can run code; save "
        "plain tensors, lists and text in it"
    )


def _is_tensor(value: object) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _is_row(value: Any) -> bool:
    return _is_tensor(value) and value.ndim == 1 and len(value) > 0


def _array(path: Path, tensor: Any) -> NDArray[Any]:
    """The numbers of a tensor; BadFile if it has no numbers of its own, or more than the file has."""
    import torch

    plain = tensor.layout == torch.strided and tensor.device.type == "cpu" and not tensor.is_quantized
    if not plain or tensor.is_complex():
        raise BadFile(
            f"{path}: expected a dense tensor of real numbers, got another kind; save tensor.to_dense()"
        )
    if tensor.numel() * tensor.element_size() > min(tensor.untyped_storage().nbytes(), path.stat().st_size):
        raise BadFile(f"{path}: expected a tensor with its numbers, got a part of them; save tensor.clone()")
    array: NDArray[Any] = tensor.detach().float().numpy()
    return array


def _words(value: object) -> list[str] | None:
    """The words in a list, or in a dictionary of the numbers of their rows; None if it is neither."""
    if isinstance(value, list | tuple) and value and all(isinstance(word, str) for word in value):
        return list(value)
    if isinstance(value, Mapping) and value and all(type(row) is int for row in value.values()):
        if sorted(value.values()) == list(range(len(value))):
            return [str(word) for word in sorted(value, key=lambda word: int(value[word]))]
    return None


def _table(path: Path, words: Sequence[str], matrix: NDArray[Any]) -> Table:
    if not matrix.size:
        raise BadFile(f"{path}: expected at least one word and one number, got none; save it again")
    dropped = Dropped()

    def block(begin: int) -> Block:
        return keep_whole(path, words[begin : begin + _ROWS], matrix[begin : begin + _ROWS], dropped)

    blocks = (block(begin) for begin in range(0, len(words), _ROWS))
    return Table(path, matrix.shape[1], len(words), blocks, dropped=dropped)


def is_static(path: Path) -> bool:
    """Whether this is the folder of a model with a tokenizer, which may be a static embedding."""
    return path.is_dir() and any((path / name).is_file() for name in ("modules.json", _TOKENIZER))


def static_table(path: Path) -> Table:
    """The table of the whole words of a static embedding; BadFile for another model."""
    folder = _static_folder(path)
    rows = _static_rows(path, folder / _TENSORS)
    places = _whole_words(folder / _TOKENIZER)
    if places and not 0 <= max(places.values()) < len(rows):
        raise BadFile(
            f"{path}: expected a vector for each token, got {len(rows)} and the number "
            f"{max(places.values())}; save the model again"
        )
    return _table(path, list(places), rows[list(places.values())])


def _static_folder(path: Path) -> Path:
    """The folder with the tokenizer and the vectors: the one given, or one in it."""
    if not (path / "modules.json").is_file():
        return path
    modules = _parsed(path / "modules.json")
    found = [module for module in modules if isinstance(module, dict)] if isinstance(modules, list) else []
    static = [module for module in found if str(module.get("type")).endswith(".StaticEmbedding")]
    if not static:
        raise _contextual(path)
    name = str(static[0].get("path", "")).strip("./")
    if name and name not in {inner.name for inner in path.iterdir() if inner.is_dir()}:
        raise BadFile(
            f"{path}: expected the folder {name[:_SHOWN]!r} in it, as modules.json says, found none; save "
            "the model again"
        )
    return path / name


def _contextual(path: Path) -> BadFile:
    return BadFile(
        f"{path}: expected a static embedding, got a model that reads whole sentences; give it as --encoder, "
        "or make vectors of words with it yourself"
    )


def _static_rows(path: Path, file: Path) -> NDArray[Any]:
    """The vector of each token (n, d); model2vec may share rows among tokens, and weight them."""
    if not file.is_file():
        raise BadFile(f"{path}: expected vectors in {file.name}, found no such file; save the model again")
    names = tensor_names(file)
    table = next((name for name in _TABLES if name in names), None)
    if table is None:
        raise _contextual(path)
    rows = read_tensor(file, table)
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in "fiu":
        raise BadFile(f"{file}: expected a vector for each token, got {rows.dtype} of shape {rows.shape}")
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is dropped
        rows = rows.astype(np.float32)
    shared = read_tensor(file, "mapping") if "mapping" in names else None
    weights = read_tensor(file, "weights") if "weights" in names else None
    if shared is not None:
        if (
            shared.ndim != 1
            or shared.dtype.kind not in "iu"
            or not len(shared)
            or not (0 <= shared.min() <= shared.max() < len(rows))
        ):
            raise BadFile(f"{file}: expected rows of {table} in mapping, got others; save the model again")
        rows = rows[shared]
    if weights is not None:
        if weights.shape != rows.shape[:1] or weights.dtype.kind != "f":
            raise BadFile(
                f"{file}: expected a weight for each token, got {weights.shape}; save the model again"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            rows *= weights.astype(np.float32)[:, None]
    return rows


def _whole_words(file: Path) -> dict[str, int]:
    """The tokens that are whole words, in the order of their numbers, which are those of their vectors."""
    try:
        settings = _parsed(file)
        model, added = settings["model"], settings.get("added_tokens") or []
        special = {str(token["content"]) for token in added if token.get("special")}
        special |= {str(model[name]) for name in ("unk_token",) if model.get(name) is not None}
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
    if any(token.startswith(_SPACE) for token in tokens):
        return [token[1:] if token.startswith(_SPACE) else "" for token in tokens]
    if any(token.startswith(_BYTES) for token in tokens):
        return [_of_bytes(token[1:]) if token.startswith(_BYTES) else "" for token in tokens]
    if end:
        return [token.removesuffix(end) if token.endswith(end) else "" for token in tokens]
    if inner:
        return ["" if token.startswith(inner) else token for token in tokens]
    return list(tokens)


def _of_bytes(token: str) -> str:
    """The text of a token in the alphabet of GPT-2, where each byte is a printable character."""
    try:
        return bytes(_ALPHABET[sign] for sign in token).decode()
    except (KeyError, UnicodeDecodeError):
        return ""


def _alphabet() -> dict[str, int]:
    # Printable Latin-1 stands for itself, the others for the characters from 256 on, in order.
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


_ALPHABET = _alphabet()


def _parsed(file: Path) -> Any:
    try:
        return parse_json(file.read_bytes(), halves=True)
    except (OSError, ValueError) as error:
        raise BadFile(f"{file}: expected JSON, got {error}; save the model again") from error
