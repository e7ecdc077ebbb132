"""Re-weighting: kept only where it pays; on white and equal sides it only turns."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from muse import reweight as module
from muse.alignment import Alignment
from muse.reweight import reweight, reweighted_maps
from muse.runtime import Runtime
from tests.spaces import rotation
from tests.toys import pair


def test_white_and_equal_sides_are_only_turned() -> None:
    white = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 8)))[0]
    turn = rotation(1).astype(float)
    left, right = reweighted_maps(torch.from_numpy(white), torch.from_numpy(white @ turn.T))
    for mapping in (left, right):
        np.testing.assert_allclose((mapping @ mapping.T).numpy(), np.eye(8), atol=1e-4)
    np.testing.assert_allclose(white @ left.numpy().T, white @ turn.T @ right.numpy().T, atol=1e-4)


@pytest.mark.parametrize(
    ("plain", "weighted", "kept"), [(0.5, 0.5, False), (0.5, 0.4, False), (0.5, 0.6, True)]
)
def test_it_is_kept_only_where_it_pays(
    monkeypatch: pytest.MonkeyPatch, plain: float, weighted: float, kept: bool
) -> None:
    source, target, turn = pair(300)
    rates = iter([plain, weighted])
    monkeypatch.setattr(module, "found_again", lambda *_: next(rates))
    start = Alignment(turn, method="m")
    found = reweight(source, target, start, rng=np.random.default_rng(0), runtime=Runtime())
    assert (found is not start) == kept
    assert (found.target_map is not None) == kept
    assert found.method == "m"
