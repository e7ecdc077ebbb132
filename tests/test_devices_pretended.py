"""The pretended GPU itself: it refuses what CUDA refuses, and nothing else."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from muse.errors import MissingExtra
from muse.run.runtime import pick_device
from muse.search.exact import nearest
from tests.support.devices import Generator, RefusedByCuda, pretended_faiss, pretended_gpu


def test_the_pretended_gpu_is_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_gpu(monkeypatch):
        assert pick_device("auto") == "cuda"


MISTAKES: dict[str, Callable[[Tensor, Tensor], object]] = {
    "a sum": lambda there, here: there + here,
    "a product": lambda there, here: here @ there,
    "a gather": lambda there, here: here.gather(0, there.long()),
    "rows of the CPU by numbers on the GPU": lambda there, here: here[there.long()],
    "an assignment": lambda there, here: there.__setitem__(0, here[0]),
    "an output": lambda there, here: torch.mm(there, there, out=here),
    "a list": lambda there, here: torch.cat([there, here]),
    "a list of numbers": lambda there, here: torch.stack([there[0, 0], here[0, 0]]),
    "numpy": lambda there, here: there.numpy(),
    "numpy of a view": lambda there, here: np.asarray(there.T[1:]),
    "numpy of a new tensor": lambda there, here: torch.zeros_like(there).numpy(),
    "numpy of a parameter": lambda there, here: torch.nn.Parameter(there).detach().numpy(),
    "a module": lambda there, here: torch.nn.Linear(2, 2).to("cuda")(here),
    "a generator": lambda there, here: torch.rand(2, generator=torch.Generator("cuda")),
    "a generator of the CPU": lambda there, here: torch.rand(2, device="cuda", generator=torch.Generator()),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_pretended_gpu_refuses(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_gpu(monkeypatch):
        there, here = torch.eye(2, device="cuda"), torch.eye(2)
        with pytest.raises(RefusedByCuda):
            MISTAKES[name](there, here)


def test_the_pretended_gpu_lets_pass_what_cuda_does(monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_gpu(monkeypatch) as gpu:
        there, here = torch.eye(2, device="cuda"), torch.eye(2)
        assert there.device == torch.device("cuda", 0)
        assert there.is_cuda and not here.is_cuda and not there.cpu().is_cuda
        assert (there * here[0, 0])[here.long()[0]].is_cuda  # a number, and row numbers, of the CPU
        assert here.to(there).is_cuda and here.copy_(there).device.type == "cpu"
        drawn = torch.rand(2, device="cuda", generator=torch.Generator("cuda").manual_seed(1))
        assert there.cpu() is not there and there.to("cuda") is there
        assert gpu.copied_back == [4, 4]
    assert torch.equal(drawn, torch.rand(2, generator=Generator().manual_seed(1)))


def test_faiss_on_a_gpu_searches_without_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pretended_faiss(monkeypatch)
    rows = torch.from_numpy(np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32))
    bias = torch.linspace(-1, 1, 50)
    expected = [nearest(rows[:9], rows, 3, bias=one) for one in (None, bias)]
    with pretended_gpu(monkeypatch) as gpu:
        there = rows.to("cuda")
        before = len(gpu.copied_back)
        found = [
            nearest(there[:9], there, 3, bias=None if one is None else one.to("cuda"), backend="faiss")
            for one in (None, bias)
        ]
        assert max(gpu.copied_back[before:], default=0) < len(rows)  # a count at most, and no rows
        assert all(one.indices.is_cuda and one.scores.is_cuda for one in found)
        indices = [one.indices.cpu() for one in found]
        assert len(made) == 1  # it takes a second, so all searches share it
    for one, other in zip(indices, expected, strict=True):
        assert torch.equal(one, other.indices)


def test_faiss_without_a_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_gpu(monkeypatch):
        rows = torch.eye(3, device="cuda")
        with pytest.raises(MissingExtra, match="faiss-gpu"):
            nearest(rows, rows, 1, backend="faiss")
