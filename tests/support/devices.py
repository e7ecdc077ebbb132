"""A pretended GPU: tensors on the CPU that refuse what CUDA would refuse, for machines without one.

A tensor is on the pretended GPU if its storage is marked, so views and parameters are there with it. Code
that asks for device "cuda" gets marked tensors, whose `device` is cuda:0, and the same numbers as on the CPU.
What no pretence can show: speed, memory, kernels that CUDA lacks, and the last digits of its products.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, TypeGuard

import faiss
import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from muse.learn.initialise import adversarial

MARK = "is_pretended"
MOVES = ("to", "cpu", "cuda", "type_as")
EITHER = ("copy_", "__set__", "type", "_has_compatible_shallow_copy_type")  # CUDA copies, or only looks
NO_SCALARS = ("cat", "stack")  # elsewhere, a number on the CPU may meet a tensor on the GPU
PACKING = "_pack_padded_sequence"
PACKED = (PACKING, "_pad_packed_sequence", "lstm")
TO_NUMPY = ("numpy", "__array__")


class RefusedByCuda(AssertionError):
    """What CUDA would have refused."""


class Generator(torch.Generator):
    """A generator that remembers the device it was made for."""

    is_pretended: bool

    def __new__(cls, device: torch.device | str = "cpu") -> "Generator":
        made: Generator = super().__new__(cls, "cpu")  # type: ignore[call-arg]
        made.is_pretended = _is_cuda(device)
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """Where CUDA would have it."""
        return torch.device("cuda", 0) if self.is_pretended else torch.device("cpu")


class PretendedGpu(TorchFunctionMode):
    """Within it, "cuda" is a device.

    `arrivals` counts what is made or moved there, `copied_back` has the entries of each copy to the CPU.
    """

    def __init__(self) -> None:
        super().__init__()
        self.arrivals = 0
        self.copied_back: list[int] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The result of `func`, on the device where CUDA would have it; RefusedByCuda as CUDA would."""
        kwargs, name = dict(kwargs or {}), _name(func)
        if name in ("device", "_parse_to") and not list(_tensors(args)):  # these make no tensor
            return func(*args, **kwargs)
        if name in ("device", "is_cuda") and on_gpu(args[0]):
            return torch.device("cuda", 0) if name == "device" else True
        _check(name, args, kwargs)
        target = _target(name, args, kwargs)
        found = func(*map(_here, args), **{key: _here(value) for key, value in kwargs.items()})
        if name in MOVES and on_gpu(args[0]) != target:
            self.copied_back += [] if target else [found.numel()]
            found = found.clone() if found is args[0] else found
        elif name == "tolist" and on_gpu(args[0]):
            self.copied_back.append(args[0].numel())
        if target:
            self.arrivals += 1
            for tensor in _tensors(found[:1] if name == PACKING else found):  # sizes stay on the CPU
                setattr(tensor.untyped_storage(), MARK, True)
        return found


@contextmanager
def pretended_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[PretendedGpu]:
    """A machine with a GPU, as far as the code can tell."""
    with monkeypatch.context() as patch, PretendedGpu() as gpu:
        patch.setattr(torch, "Generator", Generator)
        patch.setattr(torch.cuda, "is_available", lambda: True)
        patch.setattr(torch.backends.cudnn, "is_acceptable", lambda _: False)
        for name in ("get_rng_state", "set_rng_state", "manual_seed", "synchronize"):
            patch.setattr(torch.cuda, name, lambda *_: None)
        patch.setattr(adversarial, "_recorded", lambda step, _: step)  # a graph is of kernels: none are here
        yield gpu


class GpuIndexFlatIP:
    """What muse uses of the index of faiss on a GPU, which takes tensors of that GPU and gives such."""

    def __init__(self, resources: object, dimension: int, config: SimpleNamespace) -> None:
        assert config.device == 0
        self.dimension, self.keys = dimension, torch.empty(0)

    def add(self, keys: Tensor) -> None:
        assert keys.is_cuda and keys.is_contiguous() and keys.shape[1] == self.dimension
        self.keys = keys

    def search(self, queries: Tensor, k: int) -> tuple[Tensor, Tensor]:
        assert queries.is_cuda and queries.is_contiguous()
        found = (queries @ self.keys.T).topk(k, dim=1)
        return found.values, found.indices


def pretended_faiss(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Makes the installed faiss one for GPUs; what it makes to work there is appended to the list."""
    made: list[object] = []

    class Resources:
        def __init__(self) -> None:
            made.append(self)

    for name, part in (
        ("StandardGpuResources", Resources),
        ("GpuIndexFlatConfig", SimpleNamespace),
        ("GpuIndexFlatIP", GpuIndexFlatIP),
    ):
        monkeypatch.setattr(faiss, name, part, raising=False)
    monkeypatch.setitem(sys.modules, "faiss.contrib.torch_utils", ModuleType("torch_utils"))
    return made


def on_gpu(tensor: Tensor) -> bool:
    """Whether the tensor is on the pretended GPU."""
    return hasattr(tensor.untyped_storage(), MARK)


def _target(name: str, args: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether the result is on the GPU: where it was asked for, or else where the arguments are."""
    asked = [one for one in (*args, *kwargs.values()) if _is_device(one)]
    if asked or name in ("cpu", "cuda"):
        return name == "cuda" or any(map(_is_cuda, asked))
    if name in EITHER:
        return on_gpu(args[0])
    if name in MOVES and (others := list(_tensors((args[1:], kwargs)))):
        return on_gpu(others[0])
    return any(map(on_gpu, _tensors((args, kwargs))))


def _check(name: str, args: Any, kwargs: Mapping[str, Any]) -> None:
    """Raise RefusedByCuda where CUDA would refuse these arguments."""
    if name in TO_NUMPY and on_gpu(args[0]):
        raise RefusedByCuda("numpy cannot read a tensor on the GPU: call .cpu() first")
    generator = kwargs.get("generator")
    if generator is not None and getattr(generator, MARK, False) != _target(name, args, kwargs):
        raise RefusedByCuda(f"{name}: the generator is not on the device of the result")
    if name in (*MOVES, *EITHER):
        return
    tensors = list(_tensors((args, kwargs)))
    if name in ("__getitem__", "__setitem__") and on_gpu(args[0]):
        tensors = [args[0], *_tensors(args[2:])]  # CUDA takes row numbers from the CPU
    elif name in PACKED and isinstance(args[1], Tensor):
        tensors = list(_tensors((args[0], args[2:])))
        if on_gpu(args[1]):
            raise RefusedByCuda("the lengths of packed sequences must be on the CPU")
    there = [on_gpu(one) for one in tensors if one.dim() or on_gpu(one) or name in NO_SCALARS]
    if any(there) and not all(there):
        shapes = [(*one.shape, "cuda" if on_gpu(one) else "cpu") for one in tensors]
        raise RefusedByCuda(f"{name}: all tensors must be on one device, got {shapes}")


def _name(func: Callable[..., Any]) -> str:
    """The name of a function or method; of the property for one that reads a property."""
    name: str = func.__name__
    return str(getattr(func.__self__, "__name__", name)) if name == "__get__" else name  # type: ignore[attr-defined]


def _is_device(value: object) -> TypeGuard[torch.device | str]:
    return isinstance(value, torch.device) or (
        isinstance(value, str) and value.split(":")[0] in ("cpu", "cuda")
    )


def _is_cuda(value: object) -> bool:
    return _is_device(value) and torch.device(value).type == "cuda"


def _here(value: Any) -> Any:
    """The same argument for a machine without a GPU."""
    return "cpu" if _is_cuda(value) else value


def _tensors(value: Any) -> Iterator[Tensor]:
    """Every tensor in nested tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        yield from () if value.is_sparse else (value,)
    elif isinstance(value, Mapping):
        yield from _tensors(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _tensors(one)
