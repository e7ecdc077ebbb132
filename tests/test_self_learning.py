"""Self-learning: the CSLS table by its formula, survivors as masking draws them, a mapping mended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from muse.alignment import Alignment
from muse.runtime import Runtime
from muse.self_learning import RUNNERS_UP, SelfLearningConfig, _survivors, csls_table, induce, self_learning
from tests.test_neighbours import random_rows
from tests.test_retrieval import csls
from tests.toys import pair


@pytest.mark.parametrize("k", [1, 10, 99])
def test_the_table_is_csls(k: int) -> None:
    x, y = random_rows(0, 30), random_rows(1, 23)
    np.testing.assert_allclose(csls_table(x @ y.T, k).numpy(), csls(x, y, k), atol=5e-6)


@pytest.mark.parametrize("keep", [0.1, 0.3, 0.8])
def test_survivors_are_those_of_entrywise_masking(keep: float) -> None:
    row = torch.linspace(1, 0, 200)  # the best column is the first: the column chosen is its rank
    rows, draws = 20_000, torch.Generator().manual_seed(0)
    chosen, best = _survivors(row.repeat(rows, 1), keep, draws)
    assert not best.any()
    mask = torch.rand(rows, 200, generator=draws) < keep
    masked = torch.where(mask, row, -1.0).argmax(dim=1)
    for rank in range(5):
        shares = [float((ranks == rank).float().mean()) for ranks in (chosen, masked)]
        exact = keep * (1 - keep) ** rank
        error = 4 * (exact * (1 - exact) / rows) ** 0.5  # four standard errors
        assert shares == pytest.approx([exact, exact], abs=error)


def test_the_least_draw_is_the_last_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    # torch.rand is 0 once in 2^24 draws: a run of self-learning in ten meets that.
    monkeypatch.setattr(torch, "rand", lambda rows, **_: torch.zeros(rows))
    chosen, _ = _survivors(torch.linspace(1, 0, 200).repeat(3, 1), 0.1, torch.Generator())
    assert chosen.tolist() == [RUNNERS_UP - 1] * 3


def test_all_survive_in_the_end() -> None:
    table = torch.rand(9, 7, generator=torch.Generator().manual_seed(1))
    chosen, best = _survivors(table, 1.0, torch.Generator())
    assert torch.equal(chosen, table.argmax(dim=1))
    assert torch.equal(chosen, best)


def test_pairs_of_both_directions() -> None:
    x, y = random_rows(2, 12), random_rows(3, 9)
    pairs, objective = induce(x, y, keep=1.0, k=10, draws=torch.Generator())
    table = csls(x, y, 10)
    forward = [(row, int(column)) for row, column in enumerate(table.argmax(axis=1))]
    backward = [(int(row), column) for column, row in enumerate(table.argmax(axis=0))]
    assert [tuple(row) for row in pairs.tolist()] == forward + backward
    cosines = (x @ y.T).numpy()
    expected = [np.mean([cosines[at] for at in part]) for part in (forward, backward)]
    assert objective == pytest.approx(np.mean(expected), abs=1e-6)


def test_a_mapping_far_off_is_mended_and_a_seed_repeats_it() -> None:
    source, target, turn = pair(300)
    rng = np.random.default_rng(0)
    noisy = np.linalg.qr(turn + rng.normal(0, 0.15, turn.shape))[0].astype(np.float32)
    noisy *= np.sign((noisy * turn).sum(axis=0))
    config = replace(SelfLearningConfig(), keep=0.5, max_rounds=30)
    ends = [
        self_learning(
            source,
            target,
            Alignment(noisy, method="x"),
            config=config,
            rng=np.random.default_rng(1),
            runtime=Runtime(),
        )
        for _ in range(2)
    ]
    assert np.array_equal(ends[0].source_map, ends[1].source_map)
    assert ends[0].method == "x"
    assert np.abs(ends[0].source_map - turn).max() < 0.05
