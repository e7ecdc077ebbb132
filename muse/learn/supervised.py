"""Learning from pairs: the alignment that translates held-out pairs best."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from muse.alignment import Alignment
from muse.errors import NotConverged
from muse.learn.auto import Candidate
from muse.learn.criterion import MOST_FREQUENT, mean_cosine
from muse.learn.supervise.choice import Start, Supervision, choose
from muse.learn.supervise.evidence import Evidence, Maps
from muse.run.runtime import Runtime

PAIRS_STREAM = 3_000  # the number of a random stream, above those of the initialisations


def learn_from_pairs(
    evidence: Evidence,
    *,
    unsupervised: Sequence[Candidate],
    fixed: bool,
    plain: bool,
    seed: int,
    runtime: Runtime,
) -> tuple[Alignment, Supervision]:
    """The alignment chosen by cross-validation on the pairs of `evidence`, and how it was chosen.

    `unsupervised` were learned without the pairs: candidates, and starts of self-learning. `fixed` and
    `plain` as in `choose`.
    """
    starts = [
        Start(one.alignment.method, _maps(one.alignment, evidence), one.verdict.label == "failed")
        for one in unsupervised
    ]
    maps, supervision = choose(
        evidence, starts, fixed=fixed, plain=plain, seed=[seed, PAIRS_STREAM], runtime=runtime
    )
    return _alignment(maps, evidence, f"dictionary:{supervision.chosen}"), supervision


def _maps(alignment: Alignment, evidence: Evidence) -> Maps:
    """The maps of an alignment; a semi-orthogonal one into more dimensions goes into the smaller space."""
    source = torch.from_numpy(alignment.source_map).to(evidence.x)  # (k, ds)
    if alignment.target_map is None:
        return Maps.of_mapping(source)
    return Maps(source, torch.from_numpy(alignment.target_map).to(evidence.y))


def _alignment(maps: Maps, evidence: Evidence, method: str) -> Alignment:
    """The maps as an alignment with its criterion; NotConverged if they are not finite."""
    if not all(torch.isfinite(one).all() for one in maps):
        raise NotConverged("the learned maps must be finite, got NaN; the vectors may be degenerate")
    x, y = (rows[:MOST_FREQUENT] for rows in evidence.vocabulary)
    score = mean_cosine(maps.of_source(x), maps.of_target(y))
    k, d = maps.target.shape
    fixed = k == d and torch.equal(maps.target, torch.eye(d).to(maps.target))
    own, other = (one.cpu().numpy().copy() for one in maps)
    return Alignment(own, None if fixed else other, method=method, criterion=score)
