"""Align many: several languages into one space, each on its own, over another if it fails, or jointly."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from muse.errors import BadSetting, Mismatch, MuseError, NotConverged
from muse.learn.criterion import criterion
from muse.learn.detour import Intermediate, Paths
from muse.learn.joint import Joint, refine_jointly
from muse.learn.pair import LAST_STREAM, PARTS, AlignConfig, Learned, learn
from muse.learn.verdict import judge
from muse.run.runtime import Runtime
from muse.vectors import Vectors

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Others:
    """Languages for detours only: `via` are aligned into the pivot when needed, `saved` are in its space."""

    via: Sequence[Vectors] = ()
    saved: Sequence[Intermediate] = ()


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
        total = {
            stage: sum(one.seconds.get(stage, 0.0) for one in self.languages.values()) for stage in stages
        }
        return total if self.joint_seconds is None else {**total, "joint": self.joint_seconds}


def learn_many(
    sources: Sequence[Vectors],
    target: Vectors,
    *,
    config: AlignConfig,
    runtime: Runtime,
    others: Others | None = None,
) -> LearnedMany:
    """The mappings from prepared `sources` to prepared `target`, which moves only for a single source.

    A language that fails, or is doubtful, is tried over the others (`muse.learn.detour`). Raise BadSetting if
    rows without words are to be refined jointly.
    """
    if config.joint and not all(side.ranked for side in (*sources, target)):
        raise BadSetting("--joint fits mappings to pairs of words, got rows without words; leave it out")
    many = _Many(sources, target, config, runtime)
    learned, failures = many.directly()
    learned = many.over_others(learned, others or Others())
    for language, error in failures.items():
        if language not in learned:
            raise error
    ordered = {source.language: learned[source.language] for source in sources}
    return _jointly(sources, target, ordered, config, runtime) if config.joint else LearnedMany(ordered)


@dataclass(frozen=True, eq=False)
class _Many:
    """The languages to align, and how."""

    sources: Sequence[Vectors]
    target: Vectors
    config: AlignConfig
    runtime: Runtime

    @property
    def own_config(self) -> AlignConfig:
        """The settings of each language: several share a target that does not move."""
        if len(self.sources) == 1:
            return self.config
        return self.config.into_fixed()

    def directly(self) -> tuple[dict[str, Learned], dict[str, MuseError]]:
        """What was learned for each language directly, and why others failed, which a detour may mend."""
        learned: dict[str, Learned] = {}
        failures: dict[str, MuseError] = {}
        for place, source in enumerate(self.sources, 1):
            several = len(self.sources) > 1
            if several:
                log.info(
                    "%s into %s, %d of %d", source.language, self.target.language, place, len(self.sources)
                )
            own = self._runtime_of(source.language) if several else self.runtime
            own = own.further(PARTS * (place - 1))
            try:
                learned[source.language] = learn(source, self.target, config=self.own_config, runtime=own)
            except MuseError as error:
                named = type(error)(f"{source.language} into {self.target.language}: {error}")
                failures[source.language] = named if several else error
                if not isinstance(error, (NotConverged, Mismatch)):
                    raise failures[source.language] from error
        return learned, failures

    def over_others(self, learned: dict[str, Learned], others: Others) -> dict[str, Learned]:
        """`learned` with those languages that a detour improves; what succeeds may help the next."""
        found = dict(learned)
        pending = [source for source in self.sources if _needs_detour(found.get(source.language))]
        if not pending:
            return found
        intermediates = [*self._intermediates(found), *others.saved, *self._aligned(others.via)]
        known = {over.language for over in intermediates}
        fresh = intermediates
        while pending and fresh:
            for source in pending:
                own = self._runtime_of(source.language).further(PARTS * (len(self.sources) - 1))
                paths = Paths.of(source, self.target, self.own_config, own)
                usable = [over for over in fresh if over.language != source.language]
                better = paths.better(found.get(source.language), usable)
                if better is not None:
                    found[source.language] = better
            pending = [source for source in pending if _needs_detour(found.get(source.language))]
            fresh = [over for over in self._intermediates(found) if over.language not in known]
            known |= {over.language for over in fresh}
        return found

    def _intermediates(self, learned: dict[str, Learned]) -> list[Intermediate]:
        """The languages to align that others may go over: those that did not fail."""
        if len(self.sources) == 1:
            return []
        return [
            Intermediate.of(source, learned[source.language])
            for source in self.sources
            if source.language in learned and learned[source.language].verdict.label != "failed"
        ]

    def _aligned(self, via: Sequence[Vectors]) -> list[Intermediate]:
        """The languages for detours only that do not fail into the pivot."""
        config = self.config.into_fixed().without_pairs()
        intermediates = []
        for language in via:
            log.info("%s into %s, for detours", language.language, self.target.language)
            own = self._runtime_of(language.language).further(PARTS * (len(self.sources) - 1))
            try:
                learned = learn(language, self.target, config=config, runtime=own)
            except MuseError as error:
                log.warning("%s into %s: %s", language.language, self.target.language, error)
                continue
            if learned.verdict.label != "failed":
                intermediates.append(Intermediate.of(language, learned))
        return intermediates

    def _runtime_of(self, language: str) -> Runtime:
        return replace(self.runtime, checkpoint=self.runtime.checkpoint.of(language))


def _needs_detour(learned: Learned | None) -> bool:
    """Whether a mapping is missing or not judged aligned; judged on pairs, whether it failed."""
    if learned is None:
        return True
    return learned.verdict.label in (("failed",) if learned.supervision else ("failed", "doubtful"))


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
    last = runtime.further(PARTS * len(sources) - 1)
    joint = refine_jointly([*sources, target], start, rng=rng, runtime=last)
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
