"""Networks that are restored: with the arrays that belong to them, and in no more memory than these take."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from muse.errors import BadFile, BadSetting
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reader
from muse.sentences.encoders.saving import Saved, write_encoder
from muse.sentences.systems.network_encoder import KIND, SentenceNetwork, open_network, restored

ARRAYS = {"layer.weight": np.eye(3, dtype=np.float32), "layer.bias": np.arange(3, dtype=np.float32)}


class _Linear(SentenceNetwork):
    def __init__(self, units: int) -> None:
        super().__init__()
        self.layer = nn.Linear(units, units)
        self.dimension = units
        self.devices.add(self.layer.weight.device.type)

    devices: set[str] = set()

    def reader(self, language: str) -> Reader:
        raise NotImplementedError

    def forward(self, batch: Ragged, language: str) -> Tensor:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def _forget() -> None:
    _Linear.devices = set()


def test_a_network_gets_its_own_arrays() -> None:
    network = restored(lambda: _Linear(3), ARRAYS)
    assert not network.training
    assert torch.equal(network.layer.weight, torch.eye(3))
    assert network.layer.bias.tolist() == [0, 1, 2]
    assert _Linear.devices == {"meta", "cpu"}


@pytest.mark.parametrize("units", [2, 4, 1 << 20, 1 << 40])
def test_one_of_another_size_is_refused_before_it_takes_memory(units: int) -> None:
    with pytest.raises(ValueError, match=r"size mismatch|overflow"):
        restored(lambda: _Linear(units), ARRAYS)
    assert "cpu" not in _Linear.devices


def test_with_a_core_of_its_own_it_is_built_once() -> None:
    assert torch.equal(restored(lambda: _Linear(3), ARRAYS, backbone=True).layer.weight, torch.eye(3))
    assert _Linear.devices == {"cpu"}
    with pytest.raises(ValueError, match="size mismatch"):
        restored(lambda: _Linear(2), ARRAYS, backbone=True)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_are_missing_or_not_finite_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Missing.*" + re.escape(name)):
        restored(lambda: _Linear(3), {key: array for key, array in ARRAYS.items() if key != name})
    with pytest.raises(ValueError, match="not finite"):
        restored(lambda: _Linear(3), {**ARRAYS, name: np.full_like(ARRAYS[name], np.nan)})


def test_only_what_a_system_has_saved_is_opened_as_its_own(tmp_path: Path) -> None:
    write_encoder(tmp_path / "lens", Saved(KIND, "lens[simple:3]", {}, {"system": "lens"}, ARRAYS))
    write_encoder(tmp_path / "mean", Saved("weighted", "mean", {}))  # of no system
    network = open_network(tmp_path / "lens", "lens", "expected a lens", lambda _: _Linear(3))
    assert torch.equal(network.layer.weight, torch.eye(3))
    with pytest.raises(BadFile, match="expected a model of lens, got another.*size mismatch"):
        open_network(tmp_path / "lens", "lens", "expected a lens", lambda _: _Linear(2))
    for system, name, found in (("xlm", "lens", "lens[simple:3]"), ("lens", "mean", "mean")):
        told = re.escape(f"{tmp_path / name}: expected a {system}, got {found}")
        with pytest.raises(BadSetting, match=f"^{told}$"):
            open_network(tmp_path / name, system, f"expected a {system}", lambda _: _Linear(3))
