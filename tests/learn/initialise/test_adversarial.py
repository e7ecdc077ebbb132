"""Adversarial initialisation, on clouds whose rotation is known."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from muse.alignment import Alignment
from muse.errors import BadFile, Mismatch, NotConverged
from muse.learn.initialise.adversarial import (
    PAPER,
    AdversarialConfig,
    _judge,
    _Training,
    adversarial,
    orthogonality_update,
)
from muse.learn.pair import LanguagePair
from muse.progress import Progress
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import History, Runtime
from muse.vectors import Matrix, Vectors

D = 6
# Small enough for a test, otherwise the game as users play it.
QUICK = AdversarialConfig(restarts=3, survivors=1, prune_from=1, epochs=3, steps=30, hidden=64, patience=9)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    # The arrays are tiny: on a busy machine a second thread only waits.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def vectors(language: str, matrix: Matrix) -> Vectors:
    return Vectors(language, [f"{language}{row}" for row in range(len(matrix))], matrix)


def cloud(n: int = 1000, d: int = D, seed: int = 0) -> Matrix:
    """Forty clusters of falling size around random centres: no rotation but one maps it to itself."""
    rng = np.random.default_rng(seed)
    size = 1 / np.arange(1, 41)
    rows = rng.normal(size=(40, d))[rng.choice(40, n, p=size / size.sum())] + 0.3 * rng.normal(size=(n, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows - rows.mean(0), dtype=np.float32)


def rotation(d: int = D, seed: int = 1) -> Matrix:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0].astype(np.float32)


SOURCE = vectors("a", cloud())
TURN = rotation()
TARGET = vectors("b", SOURCE.matrix @ TURN.T)


def nearest(mapping: Matrix, source: Matrix = SOURCE.matrix, target: Matrix = TARGET.matrix) -> float:
    """The mean cosine of each of 300 mapped words to its nearest target: it looks at no pair."""
    mapped = source[:300] @ mapping.T
    mapped = mapped / np.maximum(np.linalg.norm(mapped, axis=1, keepdims=True), 1e-9)
    return float((mapped @ (target / np.linalg.norm(target, axis=1, keepdims=True)).T).max(1).mean())


def run(
    config: AdversarialConfig = QUICK,
    *,
    source: Vectors = SOURCE,
    target: Vectors = TARGET,
    seed: int = 0,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> list[Alignment]:
    return list(
        adversarial(
            LanguagePair(
                source, target, Runtime(checkpoint=Checkpoint(folder), progress=progress or Progress())
            ),
            lambda mapping: nearest(mapping, source.matrix, target.matrix),
            np.random.default_rng(seed),
            config=config,
        )
    )


def same(first: Iterable[Alignment], second: Iterable[Alignment]) -> bool:
    pairs = zip(first, second, strict=True)
    return all(np.array_equal(a.source_map, b.source_map) and a.criterion == b.criterion for a, b in pairs)


@pytest.mark.slow
def test_a_rotation_is_recovered_without_a_pair() -> None:
    source, turn = vectors("a", cloud(d=20)), rotation(20)
    target = vectors("b", source.matrix @ turn.T)
    config = replace(QUICK, restarts=8, survivors=2, prune_from=2, epochs=6, steps=200, hidden=200)
    best = run(config, source=source, target=target)[0]
    found = (source.matrix @ best.source_map.T @ target.matrix.T).argmax(1)
    assert (found == np.arange(len(found))).mean() > 0.5  # 0.67-0.98 over seeds; chance is 0.001
    assert best.method == "adversarial"


@pytest.mark.parametrize("dimensions", [4, 50])
def test_what_is_yielded_is_orthogonal_and_the_best_comes_first(dimensions: int) -> None:
    found = run(replace(QUICK, survivors=3, dimensions=dimensions))
    assert len(found) == 3
    assert [a.criterion for a in found] == sorted((a.criterion for a in found), reverse=True)
    for alignment in found:
        assert alignment.source_map.shape == (D, D)
        assert alignment.source_map.dtype == np.float32
        assert alignment.target_map is None
        assert alignment.orthogonality_defect < 0.05
        assert alignment.criterion == nearest(alignment.source_map)


def test_the_update_is_newton_schulz_at_one_half() -> None:
    # Singular values s become (1 + beta) s - beta s^3, singular vectors stay.
    u, v = torch.from_numpy(rotation(seed=2)), torch.from_numpy(rotation(seed=3))
    s = torch.linspace(0.5, 1.4, D)
    expected = u @ torch.diag(1.5 * s - 0.5 * s**3) @ v
    torch.testing.assert_close(orthogonality_update(u @ torch.diag(s) @ v, 0.5), expected)


def test_one_seed_gives_one_result_and_another_seed_another() -> None:
    assert same(run(seed=3), run(seed=3))
    assert not same(run(seed=3), run(seed=4))


def test_the_rng_moves_on_by_one_draw() -> None:
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    list(adversarial(LanguagePair(SOURCE, TARGET), nearest, rng, config=QUICK))
    twin.integers(2**31)
    assert rng.integers(1000) == twin.integers(1000)


def _untimed(history: History) -> list[dict[str, object]]:
    return [{**trace, "seconds": None} for trace in history.as_json()]


class Killed(Exception):
    """Stands for kill -9."""


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_resumed_run_gives_the_same_result(tmp_path: Path, after: int) -> None:
    def kill(_: str, done: int, __: object) -> None:
        if done == after:
            raise Killed

    with pytest.raises(Killed):
        run(folder=tmp_path, progress=Progress().with_callback(kill))
    resumed, whole = History(), History()
    found = run(folder=tmp_path, progress=Progress().with_callback(resumed.record))
    assert same(found, run(progress=Progress().with_callback(whole.record)))
    assert _untimed(resumed) == _untimed(whole)


def test_a_checkpoint_of_other_settings_or_vectors_is_refused(tmp_path: Path) -> None:
    run(folder=tmp_path)
    with pytest.raises(Mismatch, match="without --resume"):
        run(replace(QUICK, batch=16), folder=tmp_path)
    with pytest.raises(Mismatch, match="without --resume"):
        run(source=vectors("a", cloud(seed=9)), folder=tmp_path)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("seed", lambda _: np.array(1.0), "integer"),
        ("seed", lambda _: np.array(-1), "negative"),
        ("reported", lambda figures: figures[:, :2], "figures of the shape"),
        ("reported", lambda figures: figures[:0], "figures of the shape"),
        ("reported", lambda figures: figures * np.nan, "not finite"),
        ("mapping", lambda maps: maps * np.nan, "not finite"),
        ("best_mapping", lambda maps: 2 * maps, "far from orthogonal"),
        ("mapping", lambda maps: maps.astype(np.float64), "mapping of torch.float64"),
        ("weight0", lambda weights: weights[:, :1], "weight0 of"),
        ("weight0", lambda _: None, "'weight0'"),
        ("signature", lambda _: None, "'signature'"),
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, name: str, change: Any, said: str) -> None:
    run(folder=tmp_path)
    store = Checkpoint(tmp_path)
    saved = store.load("adversarial")
    assert saved is not None
    changed = change(saved.pop(name))
    store.save("adversarial", saved if changed is None else {**saved, name: changed})
    with pytest.raises(BadFile, match=f"must be a complete one.*{said}.*without --resume"):
        run(folder=tmp_path)


def test_the_figures_of_each_epoch_are_data(tmp_path: Path) -> None:
    history = History()
    found = run(
        replace(QUICK, prune_from=2), folder=tmp_path, progress=Progress().with_callback(history.record)
    )
    (told,) = history.as_json()
    assert told["steps"] == [1, 2, 3]
    assert max(told["figures"]["defect"]) < 0.05
    assert max(told["figures"]["criterion"]) == pytest.approx(found[0].criterion, abs=1e-3)
    assert len((Checkpoint(tmp_path).load("adversarial") or {})["mapping"]) == 1  # of three


def test_a_stalled_criterion_ends_the_game_and_halves_the_rate(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    config, rng = replace(QUICK, epochs=9, patience=2, decay=1.0), np.random.default_rng(0)
    flat = adversarial(LanguagePair(SOURCE, TARGET), lambda _: 0.5, rng, config=config)
    assert [alignment.criterion for alignment in flat] == [0.5]
    rates = [line.rpartition(" ")[2] for line in caplog.messages if line.startswith("epoch")]
    assert rates == ["1", "0.5", "0.25"]


def test_a_reckless_rate_does_not_converge() -> None:
    with pytest.raises(NotConverged, match="lower mapping_rate"):
        run(replace(QUICK, mapping_rate=1e6, epochs=1))


def test_one_broken_restart_is_dropped_and_the_rest_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(replace(QUICK, survivors=3, epochs=1), folder=tmp_path)
    store = Checkpoint(tmp_path)
    saved = store.load("adversarial")
    assert saved is not None
    saved["weight0"][0] = 1e38  # finite, but no longer after a step
    signature = str(saved["signature"]).replace("epochs=1,", "epochs=2,")
    store.save("adversarial", {**saved, "signature": np.array(signature)})
    found = run(replace(QUICK, survivors=3, epochs=2), folder=tmp_path)
    assert "dropped 1 of 3 restarts" in caplog.text
    assert len(found) == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(bad: float) -> None:
    broken = SOURCE.matrix.copy()
    broken[7, 2] = bad
    with pytest.raises(NotConverged, match="a: vectors must be finite"):
        run(source=vectors("a", broken))


def test_two_dimensions_are_refused() -> None:
    with pytest.raises(Mismatch, match="got 6 and 4"):
        run(target=vectors("b", cloud(d=4)))


def test_the_paper_begins_with_the_identity_and_takes_its_own_step() -> None:
    # W <- update(W - 0.1 G), G the gradient of the loss with swapped labels.
    config = replace(PAPER, hidden=8, batch=len(SOURCE))
    training = _Training(LanguagePair(SOURCE, TARGET), config)
    state = training.start(seed=0)
    assert torch.equal(state["mapping"][0], torch.eye(D))

    def generator() -> torch.Generator:
        return torch.Generator().manual_seed(0)

    torch.testing.assert_close(training.x, SOURCE.tensor())
    rows = SOURCE.tensor()[torch.randint(len(SOURCE), (len(SOURCE),), generator=generator())]
    mapping = torch.eye(D, requires_grad=True)
    z = rows @ mapping.T
    for layer in range(3):
        z = functional.leaky_relu(z, 0.2) if layer else z
        z = z @ state[f"weight{layer}"][0] + state[f"bias{layer}"][0]
    # Labels 1 - s and s, swapped: source words should look like target words, 0, smoothed.
    loss = -(0.2 * functional.logsigmoid(z) + 0.8 * functional.logsigmoid(-z)).mean()
    (gradient,) = torch.autograd.grad(loss, mapping)
    stepped = torch.eye(D) - 0.1 * gradient
    expected = 1.01 * stepped - 0.01 * stepped @ stepped.T @ stepped
    training._mapping_step(state, config.mapping_rate, generator())
    torch.testing.assert_close(state["mapping"][0], expected)


def test_the_rate_is_halved_when_the_criterion_drops_or_else_is_not_the_best() -> None:
    for halve_on_drop, shrink, expected in (
        (True, 0.5, [1, 0.5, 0.5, 0.5, 0.25]),
        (False, 0.5, [1, 0.5, 0.25, 0.25, 0.125]),
        (True, 1.0, [1] * 5),
    ):
        state = _Training(LanguagePair(SOURCE, TARGET), PAPER).start(seed=0)
        rates = []
        for found in (0.5, 0.3, 0.4, 0.6, 0.5):
            _judge(state, torch.tensor([found]), halve_on_drop=halve_on_drop, shrink=shrink)
            rates.append(float(state["rate"]))
        assert rates == expected
        assert float(state["best"]) == pytest.approx(0.6)


def test_the_paper_selects_an_epoch_by_the_10_000_most_frequent_words() -> None:
    config, history = replace(PAPER, epochs=2, steps=2, hidden=8), History()
    both, rng = LanguagePair(SOURCE, TARGET).recorded(history), np.random.default_rng(0)
    (found,) = adversarial(both, lambda _: 0.125, rng, config=config)
    own = both.criterion(PAPER.criterion_words or 0)
    assert max(history.as_json()[0]["figures"]["criterion"]) == pytest.approx(own(found.source_map), rel=1e-4)
    assert found.criterion == 0.125  # by which it is compared with other initialisations


@pytest.mark.slow
def test_the_settings_of_the_paper_recover_a_small_turn() -> None:
    small = torch.linalg.matrix_exp(0.15 * torch.from_numpy(TURN - TURN.T)).numpy()
    target = vectors("b", SOURCE.matrix @ small.T)
    config = replace(PAPER, epochs=4, steps=150, hidden=64, discriminator_rate=1.0, mapping_rate=0.5)
    before = float(np.linalg.norm(np.eye(D) - small))
    best = run(config, target=target)[0].source_map
    assert np.linalg.norm(best - small) < before / 2


@pytest.mark.slow
def test_two_layers_and_the_sizes_of_the_paper_run() -> None:
    weak = replace(PAPER, epochs=1, steps=20)
    strong = replace(weak, beta=0.5)  # six dimensions and few steps: a hundredth hardly holds it back
    assert run(strong)[0].orthogonality_defect < min(0.05, run(weak)[0].orthogonality_defect)


@pytest.mark.gpu
def test_the_game_runs_on_a_gpu() -> None:
    rng = np.random.default_rng(0)
    found = list(adversarial(LanguagePair(SOURCE, TARGET, Runtime("cuda")), nearest, rng, config=QUICK))
    assert found[0].orthogonality_defect < 0.05


def test_the_paper_trains_on_rows_of_any_length() -> None:
    lengths = np.linspace(1, 12, len(SOURCE)).astype(np.float32)
    unit = SOURCE.matrix / np.linalg.norm(SOURCE.matrix, axis=1, keepdims=True)
    raw = replace(SOURCE, matrix=unit, scales=lengths)
    config = replace(PAPER, steps=1, hidden=8)
    training = _Training(LanguagePair(raw, TARGET), config)
    np.testing.assert_allclose(training.x.numpy(), unit * lengths[:, None], rtol=1e-6)
    assert training.signature != _Training(LanguagePair(replace(raw, scales=None), TARGET), config).signature


def test_the_time_of_long_training_is_predicted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("muse.learn.initialise.adversarial.TIMED", 2)
    monkeypatch.setattr("muse.learn.initialise.adversarial.LONG", 30)
    caplog.set_level(logging.INFO)
    training = _Training(LanguagePair(SOURCE, TARGET), QUICK)  # three epochs of 30 steps
    training.run_epoch(training.start(0), 0, 1, lambda _: 0.0)
    assert "adversarial training: 60 steps take at most" in caplog.text
    caplog.clear()
    training = _Training(LanguagePair(SOURCE, TARGET), replace(QUICK, steps=29))
    training.run_epoch(training.start(0), 0, 1, lambda _: 0.0)
    assert "adversarial training" not in caplog.text


@pytest.mark.gpu
def test_replayed_steps_are_those_that_are_started_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def mapping(unrecorded: int) -> Tensor:
        monkeypatch.setattr("muse.learn.initialise.adversarial.UNRECORDED", unrecorded)
        training = _Training(LanguagePair(SOURCE, TARGET, Runtime("cuda")), QUICK)
        return training.run_epoch(training.start(0), 0, 1, lambda _: 0.0)[0]["mapping"].cpu()

    torch.testing.assert_close(mapping(3), mapping(QUICK.steps), rtol=1e-4, atol=1e-4)
