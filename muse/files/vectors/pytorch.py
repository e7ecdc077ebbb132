"""Files of torch.save: one matrix, perhaps with a list of words or with the rows of words.

The pickle in such a file says what is in it, and a pickle can run any code when it is loaded. So neither
pickle nor torch.load reads it: the instructions that tensors, lists, dictionaries and text are made of are
carried out here, and a file with any other is refused.
"""

import math
import pickletools
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.payloads import id_name
from muse.files.source import DAMAGED, check_archive, check_ratio
from muse.files.vectors.table import Table, item_ids, items_table, words_table

_DTYPES = {
    "Double": "f8", "Float": "f4", "Half": "f2", "BFloat16": "bfloat16", "Long": "i8", "Int": "i4",
    "Short": "i2", "Char": "i1", "Byte": "u1", "Bool": "b1",
}  # fmt: skip
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_VALUE = ("BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES", "BININT", "LONG1", "BINFLOAT")
_TAKEN = {  # values from the stack; 0: all from the last mark on
    "APPEND": 1, "APPENDS": 0, "BUILD": 1, "REDUCE": 2, "SETITEM": 2, "SETITEMS": 0, "TUPLE": 0, "TUPLE1": 1,
    "TUPLE2": 2, "TUPLE3": 3,
}  # fmt: skip


def torch_table(path: Path) -> Table:
    """The table of a .pt with one matrix, and of its words if it has a list of as many texts.

    Words may also be the keys of vectors, or of the numbers of the rows. Raise BadFile if it is not clear
    which are the vectors, and for Python objects.
    """
    found = _loaded(path)
    values = list(found.values()) if isinstance(found, Mapping) else found
    values = list(values) if isinstance(values, list | tuple) else [values]
    tensors = [value for value in values if isinstance(value, np.ndarray)]
    if (
        isinstance(found, Mapping)
        and len(tensors) == len(values)
        and len({one.shape for one in tensors}) == 1
    ):
        if tensors[0].ndim == 1 and len(tensors[0]):
            check_ratio(path, sum(one.nbytes for one in tensors), path.stat().st_size)  # they may be one
            return words_table(path, [*map(str, found)], _numbers(np.stack(tensors)))
    matrices = [one for one in tensors if one.ndim == 2]
    lists = [words for value in values if (words := _words(value))]
    fitting = [words for words in lists if len(matrices) == 1 and len(words) == len(matrices[0])]
    if len(matrices) != 1 or bool(lists) > bool(fitting) or any(words != fitting[0] for words in fitting):
        shapes = ", ".join(" x ".join(map(str, one.shape)) for one in matrices)
        lengths = " and ".join(str(len(words)) for words in lists)
        raise BadFile(
            f"{path}: expected one matrix, and a list of as many words, got {shapes or 'none'} with lists of "
            f'{lengths or "no"} words; save them as torch.save({{"words": [...], "vectors": matrix}}, path)'
        )
    matrix = _numbers(matrices[0])
    if isinstance(found, Mapping) and (own := id_name(map(str, found))) and own in found:
        ids = found[own].tolist() if isinstance(found[own], np.ndarray) else found[own]
        if isinstance(ids, list | tuple) and len(ids) == len(matrix):
            return items_table(path, matrix, item_ids(ids, lambda place: f"{path}: row {place}"))
    return words_table(path, fitting[0], matrix) if fitting else items_table(path, matrix)


def read_torch(path: Path, name: str) -> NDArray[Any]:
    """The tensor of this name in a file of torch.save; BadFile without."""
    found = _loaded(path)
    if not isinstance(found, Mapping) or not isinstance(found.get(name), np.ndarray):
        raise BadFile(f"{path}: expected the tensor {name}, found none; save the model again")
    return _numbers(found[name])


def _numbers(array: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # what is not finite then is reported
        return np.asarray(array, np.float32)


def _loaded(path: Path) -> Any:
    """What was saved; BadFile for all but tensors, lists, dictionaries and text."""
    try:
        check_archive(path)
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            (name,) = [name for name in names if name.rpartition("/")[2] == "data.pkl"]
            folder = name.removesuffix("data.pkl")
            order = f"{folder}byteorder"
            big = order in names and archive.read(order) == b"big"
            return _Unpickled(archive, folder, ">" if big else "<").read()
    except _ObjectError as error:
        raise BadFile(
            f"{path}: expected a .pt of tensors and lists, got one with Python objects, which can run code "
            f"({str(error)[:80]}); save plain tensors, lists and text in it"
        ) from None
    except _TensorError as error:
        raise BadFile(f"{path}: expected {error}") from None
    except (*DAMAGED, MemoryError, RecursionError) as error:
        raise BadFile(f"{path}: expected a .pt of tensors and lists, got a broken one; save it") from error


class _ObjectError(Exception):
    """What is neither a tensor nor a list, a dictionary or text."""


class _TensorError(Exception):
    """A tensor that is not dense, or of other numbers than real ones."""


@dataclass
class _Unpickled:
    """What the instructions of the pickle in a folder of an archive have made so far."""

    archive: zipfile.ZipFile
    folder: str
    order: str  # of the bytes of a number, as numpy has it
    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)
    storages: dict[str, NDArray[Any]] = field(default_factory=dict)
    copies: int = 0  # bytes and items that may yet be made of what is there

    def read(self) -> Any:
        """What was saved, tensors as arrays."""
        content = self.archive.read(f"{self.folder}data.pkl")
        self.copies = len(content)
        for instruction, argument, _ in pickletools.genops(content):
            self._follow(instruction.name, argument)
        return self.stack.pop()

    def _follow(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS or name.startswith(_VALUE):
            self.stack.append(_CONSTANTS.get(name, argument))
        elif name in ("EMPTY_LIST", "EMPTY_DICT"):
            self.stack.append([] if name == "EMPTY_LIST" else {})
        elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self.memo[len(self.memo) if argument is None else argument] = self.stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            self.stack.append(self.memo[argument])
        elif name == "MARK":
            self.marks.append(len(self.stack))
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            self.stack.append(_function(".".join(self._taken(2)) if argument is None else argument))
        elif name == "BINPERSID":
            self.stack.append(self._storage(self.stack.pop()))
        elif name in _TAKEN:
            self._combine(name, self._taken(_TAKEN[name] or len(self.stack) - self.marks.pop()))
        elif name not in ("PROTO", "FRAME", "STOP"):
            raise _ObjectError(name)

    def _combine(self, name: str, parts: list[Any]) -> None:
        """Do what takes these values, but for BUILD, of what a dictionary has beside its items."""
        if name.startswith("TUPLE"):
            self.stack.append(tuple(parts))
        elif name == "REDUCE":
            self.stack.append(made := parts[0](*parts[1]))
            self.copies -= len(made) if isinstance(made, bytes | tuple) else 0
            if self.copies < 0:
                raise _ObjectError("copies of one text")
        elif name.startswith("APPEND"):
            self.stack[-1].extend(parts)
        elif name.startswith("SETITEM"):
            if not all(map(_is_key, parts[::2])):
                raise _ObjectError("a key")
            self.stack[-1].update(zip(parts[::2], parts[1::2], strict=True))

    def _taken(self, count: int) -> list[Any]:
        begin = len(self.stack) - count
        if begin < 0:
            raise IndexError(count)
        parts, self.stack[begin:] = self.stack[begin:], []
        return parts

    def _storage(self, named: Sequence[Any]) -> NDArray[Any]:
        """The numbers (n,) that tensors are views of."""
        _, dtype, name, *_ = named
        if dtype not in _DTYPES.values():
            raise _ObjectError("a storage")
        if name not in self.storages:
            content = self.archive.read(f"{self.folder}data/{name}")
            brief = dtype == "bfloat16"  # the upper half of a float
            numbers = np.frombuffer(content, self.order + ("u2" if brief else dtype))
            self.storages[name] = (numbers.astype("u4") << 16).view("f4") if brief else numbers
        return self.storages[name]


def _is_key(value: object) -> bool:
    """Whether a key is looked up at once: tuples of tuples and integers of one hash take hours."""
    return isinstance(value, str | bytes | float | None) or isinstance(value, int) and abs(value) < 1 << 64


def _function(name: str) -> Any:
    """What a name in a pickle stands for: a function of ours, or the type of a storage."""
    module, _, own = name.replace(" ", ".").rpartition(".")
    known: dict[str, Callable[..., Any]] = {
        "collections.OrderedDict": lambda: {}, "_codecs.encode": lambda text, _: text.encode("latin1"),
        "torch.Size": tuple, "torch._utils._rebuild_tensor_v2": _tensor,
        "torch._utils._rebuild_parameter": lambda tensor, *_: tensor,
        "torch._utils._rebuild_tensor_v3": _tensor_of_others,
    }  # fmt: skip
    if (found := known.get(f"{module}.{own}")) is not None:
        return found
    if module == "torch" and own.removesuffix("Storage") in _DTYPES:
        return _DTYPES[own.removesuffix("Storage")]
    if module == "torch.storage" and own == "UntypedStorage":  # of `_tensor_of_others`
        return _DTYPES["Byte"]
    if module == "torch" and re.fullmatch(r"(float|uint)\d\w*", own):
        return own
    if module == "torch._utils" or own.endswith("Storage"):
        raise _TensorError("a dense tensor of real numbers, got others; save tensor.to_dense()")
    raise _ObjectError(name)


def _tensor(
    storage: NDArray[Any], offset: int, shape: Sequence[int], strides: Sequence[int], *_: object
) -> NDArray[Any]:
    """The view of a storage that is a tensor, without more numbers than the storage has."""
    last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    if not (min(offset, *shape, *strides) >= 0 and max(last + 1, math.prod(shape)) <= len(storage)):
        raise _TensorError("a tensor with its numbers, got a part of them; save tensor.clone()")
    steps = [stride * storage.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, steps, writeable=False)


def _tensor_of_others(*arguments: Any) -> NDArray[Any]:
    """Nothing: raises an error that names the type of the numbers, one that has no storage of its own."""
    raise _TensorError(f"a tensor of usual numbers, got {str(arguments[6])[:80]}; save tensor.float()")


def _words(value: object) -> list[str | bytes] | None:
    """The words in a list, or in a dictionary of the numbers of their rows; None if it is neither."""
    if isinstance(value, list | tuple) and value and all(isinstance(word, str | bytes) for word in value):
        return list(value)
    if isinstance(value, Mapping) and value and all(type(row) is int for row in value.values()):
        if sorted(value.values()) == list(range(len(value))):
            return [str(word) for word in sorted(value, key=lambda word: int(value[word]))]
    return None
