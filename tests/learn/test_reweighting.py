"""Re-weighting: kept where a direction is noise on one side; not where all are alike."""

import numpy as np
import torch

from muse.alignment import Alignment
from muse.learn.pair import LanguagePair
from muse.learn.reweighting import _rival, reweight
from muse.learn.supervise.linear import orthogonal
from muse.learn.supervise.training_pairs import TrainingPairs
from muse.normalise import normalise
from muse.search.retrieval import Retrieval, best_targets, recovered
from muse.vectors import Matrix, Vectors
from tests.support.spaces import rotation
from tests.support.toys import strangers

D, WORDS = 40, 1_500


def sides(noise: Matrix) -> tuple[Vectors, Vectors, Matrix]:
    """Two noisy views of one cloud, the second turned, and the turn; column i has noise of scale noise[i]."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(WORDS, D))
    turn = rotation(1, D)
    x, y = (signal + rng.normal(size=signal.shape) * noise for _ in range(2))
    views = {"xx": x, "yy": y @ turn.T}
    source, target = (
        Vectors(name, [f"{name}{i}" for i in range(WORDS)], normalise(rows.astype(np.float32))[0])
        for name, rows in views.items()
    )
    return source, target, turn


def reweighted(noise: Matrix) -> tuple[Alignment, Alignment]:
    source, target, turn = sides(noise)
    start = Alignment(turn, method="m")
    return start, reweight(LanguagePair(source, target), start, rng=np.random.default_rng(0))


def test_it_is_kept_where_some_directions_are_of_one_side_alone() -> None:
    noise = np.array([2.5] * 4 + [0.4] * 36)
    start, found = reweighted(noise)
    assert found.method == "m"
    assert found.target_map is not None
    assert found_by(found, noise) > found_by(start, noise) + 0.05


def found_by(alignment: Alignment, noise: Matrix) -> float:
    """The share of words translated rightly: word i of either side is the same."""
    source, target, _ = sides(noise)
    left = normalise(source.matrix @ alignment.source_map.T, ["unit"])[0]
    target_map = np.eye(D) if alignment.target_map is None else alignment.target_map
    right = normalise((target.matrix @ target_map.T).astype(np.float32), ["unit"])[0]
    best = best_targets(torch.from_numpy(left), torch.from_numpy(right), Retrieval()).numpy()
    return float((best == np.arange(WORDS)).mean())


def test_the_rotation_stays_where_all_directions_are_alike() -> None:
    start, found = reweighted(np.full(D, 0.6))
    assert found is start


def test_a_pair_is_recovered_by_the_fit_to_the_other_half_alone() -> None:
    # Pairs of words that have nothing to do with each other: only a fit that has seen them recovers them.
    x, y = (side.tensor() for side in strangers(60, 40))
    pairs = torch.arange(60)[:, None].expand(60, 2).clone()
    seen = TrainingPairs(x, y, pairs, torch.ones(60), (60, 60))
    maps = orthogonal(seen)
    assert float(recovered(maps.of_source(x), maps.of_target(y), pairs).double().mean()) > 0.7
    found = _rival("the rotation", orthogonal, seen, torch.arange(60) % 2).found
    assert float(found.double().mean()) < 0.2
