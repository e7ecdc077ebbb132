"""Learning from pairs: the maps that translate held-out pairs best, and the verdict these pairs give."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from muse.alignment import Alignment
from muse.errors import NotConverged
from muse.learn.auto import Candidate
from muse.learn.criterion import MOST_FREQUENT, mean_cosine
from muse.learn.supervise.choice import Supervision, choose
from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.gather import gather
from muse.learn.verdict import judge, with_pairs
from muse.lexicon import Lexicon
from muse.run.runtime import Runtime
from muse.vectors import Vectors

FEW = 1_000  # with fewer source words in the pairs, unsupervised initialisations are candidates too
PAIRS_STREAM = 3_000  # the number of a random stream, above those of the initialisations
IDENTITY = 1e-6  # a target map this close to I does not move the target


@dataclass(frozen=True)
class PairsConfig:
    """What learning from pairs may do: with `fixed` the target does not move; `plain` is Procrustes alone."""

    fixed: bool = False
    plain: bool = False


@dataclass(frozen=True)
class Supervised:
    """What was learned from pairs: the alignment with its verdict, and how its learner was chosen."""

    candidate: Candidate
    supervision: Supervision


def are_few(lexicon: Lexicon, source: Vectors, target: Vectors) -> bool:
    """Whether the pairs are so few that unsupervised initialisations may know more than they teach."""
    known = {left for left, right in lexicon.pairs if left in source.index and right in target.index}
    return len(known) < FEW


def learn_from_pairs(
    source: Vectors,
    target: Vectors,
    lexicon: Lexicon,
    *,
    unsupervised: Sequence[Candidate],
    config: PairsConfig,
    seed: int,
    runtime: Runtime,
) -> Supervised:
    """The alignment chosen by cross-validation on the pairs of `lexicon`; Mismatch if none is known.

    `unsupervised` are alignments learned without the pairs: candidates, and starts of self-learning.
    """
    began, stream = time.perf_counter(), [seed, PAIRS_STREAM]
    evidence = gather(lexicon, source, target, device=runtime.device)
    starts = {one.alignment.method: _maps(one.alignment, evidence) for one in unsupervised}
    maps, supervision = choose(
        evidence, starts, fixed=config.fixed, plain=config.plain, seed=stream, runtime=runtime
    )
    alignment = _alignment(maps, evidence, f"dictionary:{supervision.chosen}")
    null = unsupervised[0].verdict.null if unsupervised else None  # depends on the vectors alone
    rng = np.random.default_rng([*stream, 2])
    verdict = judge(source, target, alignment, rng=rng, runtime=runtime, null=null)
    verdict = with_pairs(verdict, supervision.right, supervision.tested, supervision.chance / 100)
    return Supervised(Candidate(alignment, verdict, time.perf_counter() - began), supervision)


def _maps(alignment: Alignment, evidence: Evidence) -> Maps:
    """The maps of an alignment; a semi-orthogonal one into more dimensions goes into the smaller space."""
    source = torch.from_numpy(alignment.source_map).to(evidence.x)  # (k, ds)
    if alignment.target_map is not None:
        return Maps(source, torch.from_numpy(alignment.target_map).to(evidence.y))
    if source.shape[0] > source.shape[1]:
        return Maps(torch.eye(source.shape[1]).to(source), source.T.contiguous())
    return Maps(source, torch.eye(source.shape[0]).to(source))


def _alignment(maps: Maps, evidence: Evidence, method: str) -> Alignment:
    """The maps as an alignment with its criterion; NotConverged if they are not finite."""
    if not all(torch.isfinite(one).all() for one in maps):
        raise NotConverged("the learned maps must be finite, got NaN; the vectors may be degenerate")
    x, y = (rows[:MOST_FREQUENT] for rows in evidence.vocabulary)
    score = mean_cosine(maps.of_source(x), maps.of_target(y))
    k, d = maps.target.shape
    fixed = k == d and bool((maps.target - torch.eye(d).to(maps.target)).abs().max() < IDENTITY)
    own, other = (one.cpu().numpy().copy() for one in maps)
    return Alignment(own, None if fixed else other, method=method, criterion=score)
