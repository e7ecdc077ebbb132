"""Align many: several languages into the space of one, each on its own, then optionally jointly."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from muse.errors import MuseError
from muse.learn.criterion import criterion
from muse.learn.joint import Joint, refine_jointly
from muse.learn.pair import LAST_STREAM, AlignConfig, Learned, learn
from muse.learn.verdict import judge
from muse.run.runtime import Runtime
from muse.vectors import Vectors

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LearnedMany:
    """What was learned for each language, and the result of joint refinement if requested."""

    languages: dict[str, Learned]
    joint: Joint | None = None
    joint_seconds: float | None = None

    @property
    def seconds(self) -> dict[str, float]:
        """The seconds of each stage, summed over the languages."""
        stages = dict.fromkeys(stage for one in self.languages.values() for stage in one.seconds)
        total = {stage: sum(one.seconds[stage] for one in self.languages.values()) for stage in stages}
        return total if self.joint_seconds is None else {**total, "joint": self.joint_seconds}


def learn_many(
    sources: Sequence[Vectors], target: Vectors, *, config: AlignConfig, runtime: Runtime
) -> LearnedMany:
    """The mappings from prepared `sources` to prepared `target`, which moves only for a single source."""
    if len(sources) == 1:
        return LearnedMany({sources[0].language: learn(sources[0], target, config=config, runtime=runtime)})
    learned = {}
    for place, source in enumerate(sources, 1):
        log.info("%s into %s, %d of %d", source.language, target.language, place, len(sources))
        own = replace(runtime, checkpoint=runtime.checkpoint.of(source.language))
        try:
            learned[source.language] = learn(
                source, target, config=replace(config, reweight=False, fixed_target=True), runtime=own
            )
        except MuseError as error:
            raise type(error)(f"{source.language} into {target.language}: {error}") from error
    return _jointly(sources, target, learned, config, runtime) if config.joint else LearnedMany(learned)


def _jointly(
    sources: Sequence[Vectors],
    target: Vectors,
    learned: dict[str, Learned],
    config: AlignConfig,
    runtime: Runtime,
) -> LearnedMany:
    """The languages with the mappings of joint refinement, judged again if these are kept."""
    rng = np.random.default_rng([config.seed, LAST_STREAM, 1])
    start = {language: one.alignment.source_map for language, one in learned.items()}
    began = time.perf_counter()
    joint = refine_jointly([*sources, target], start, rng=rng, runtime=runtime)
    if joint.weight:
        for source in sources:
            one = learned[source.language]
            score = criterion(source, target, device=runtime.device)
            mapping = joint.mappings[source.language]
            alignment = replace(one.alignment, source_map=mapping, criterion=score(mapping))
            null = one.verdict.null
            verdict = judge(source, target, alignment, rng=rng, runtime=runtime, null=null)
            learned[source.language] = replace(one, alignment=alignment, verdict=verdict)
    return LearnedMany(learned, joint, time.perf_counter() - began)
