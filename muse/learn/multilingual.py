"""Alignment of several languages into one space: each directly, over another if it fails, or jointly.

A distant pair often fails where each of two shorter steps succeeds: xx resembles fr, and fr is aligned with
the pivot. On such a detour the mappings of the steps are composed, refined against the pivot and judged there
like any other. Every language that did not fail is tried, the nearest first, until a path is judged aligned;
the direct mapping stays unless a path is judged better. A language that succeeds by a detour can serve others
as one.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.errors import BadSetting, MuseError, reworded
from muse.files.space_manifest import Reason
from muse.learn.auto import Candidate, improve
from muse.learn.bilingual import PARTS, Learned, finished, learn, sampled
from muse.learn.initialise.identical import identical_strings
from muse.learn.joint import Joint, refine_jointly
from muse.learn.pair import LanguagePair
from muse.learn.schedule import refinement
from muse.learn.settings import AlignConfig
from muse.learn.verdict import NullRate, Verdict, judge
from muse.procrustes import procrustes, rotation
from muse.run.runtime import Runtime
from muse.run.seeds import AlignStream, generator
from muse.search.retrieval import Retrieval, mutual_neighbours
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)

COMPARED = 10_000  # the most frequent words whose spellings tell which language is near
FITTED = 5_000  # the most frequent words, if the path has too few dimensions to be composed


@dataclass(frozen=True)
class LearnedMany:
    """What was learned for each language, and the result of joint refinement if requested."""

    languages: dict[str, Learned]
    joint: Joint | None = None
    joint_seconds: float | None = None
    failures: Mapping[str, MuseError] = field(default_factory=dict)
    """Why other languages could not be mapped."""

    @property
    def seconds(self) -> dict[str, float]:
        """The seconds of each stage, summed over the languages."""
        total = dict[str, float]()
        for one in self.languages.values():
            for stage, seconds in one.seconds.items():
                total[stage] = total.get(stage, 0.0) + seconds
        return total if self.joint_seconds is None else {**total, "joint": self.joint_seconds}


def learn_many(
    sources: Sequence[Vectors],
    target: Vectors,
    *,
    config: AlignConfig,
    runtime: Runtime,
    via: Sequence[Vectors] = (),
    saved: "Sequence[Bridge]" = (),
) -> LearnedMany:
    """The mappings from prepared `sources` to prepared `target`, which moves only for a single source.

    A language that fails, or is doubtful, is tried over the others; `via`, which are then aligned too, and
    `saved`, which are in the target's space, are for detours only. If that fails too, the others are kept;
    raise its error if there are none. Raise BadSetting if unlabelled vectors are to be refined jointly.
    """
    if config.joint and not all(side.frequency_ordered for side in (*sources, target)):
        raise BadSetting("--joint fits mappings to pairs of words, got unlabelled vectors; leave it out")
    several = len(sources) > 1
    own_config = config.into_fixed() if several else config  # several share a target that does not move
    learned: dict[str, Learned] = {}
    failures: dict[str, MuseError] = {}
    for place, source in enumerate(sources):
        own = runtime
        if several:
            log.info("%s into %s, %d of %d", source.language, target.language, place + 1, len(sources))
            own = runtime.of(source.language)
        try:
            own = own.skip_parts(PARTS * place)
            learned[source.language] = learn(source, target, config=own_config, runtime=own)
        except MuseError as error:
            if several:
                reworded(error, f"{source.language} into {target.language}: {error}")
            failures[source.language] = error
    learned = _Detours(sources, target, own_config, runtime).improved(learned, via, saved)
    mapped = [source for source in sources if source.language in learned]
    if not mapped:
        raise next(iter(failures.values()))
    found = LearnedMany({source.language: learned[source.language] for source in mapped})
    if config.joint and len(mapped) > 1:
        found = _jointly(mapped, target, found.languages, config, runtime)
    left_out = {language: error for language, error in failures.items() if language not in learned}
    return replace(found, failures=left_out)


def _jointly(
    sources: Sequence[Vectors],
    target: Vectors,
    learned: dict[str, Learned],
    config: AlignConfig,
    runtime: Runtime,
) -> LearnedMany:
    """The languages with the mappings of joint refinement, judged again if these are kept."""
    rng = generator(config.seed, AlignStream.JOINT)
    start = {language: one.alignment.source_map for language, one in learned.items()}
    began = time.perf_counter()
    last = runtime.skip_parts(PARTS * len(sources) - 1)
    joint = refine_jointly([*sources, target], start, rng=rng, runtime=last)
    for source in sources if joint.weight else ():
        one, mapping = learned[source.language], joint.mappings[source.language]
        pair = LanguagePair(source, target, runtime)
        alignment = replace(one.alignment, source_map=mapping, criterion=pair.criterion()(mapping))
        verdict = judge(pair, alignment, rng, one.verdict.null_rate)
        learned[source.language] = replace(one, alignment=alignment, verdict=verdict)
    return LearnedMany(learned, joint, time.perf_counter() - began)


@dataclass(frozen=True, eq=False)
class _Detours:
    """The detours of the languages to align; `config` has the settings of each."""

    sources: Sequence[Vectors]
    target: Vectors
    config: AlignConfig
    runtime: Runtime

    def improved(
        self, learned: dict[str, Learned], via: Sequence[Vectors], saved: "Sequence[Bridge]"
    ) -> dict[str, Learned]:
        """`learned` with those languages that a detour improves; what succeeds may help the next."""
        found, known, fresh = dict(learned), set[str](), list[Bridge]()
        while waiting := [one for one in self.sources if _needs_detour(found.get(one.language))]:
            others = self.sources if len(self.sources) > 1 else ()
            fresh = [
                Bridge.of(one, found[one.language])
                for one in others
                if one.language in found and found[one.language].verdict.label != "failed"
            ]
            fresh = [over for over in fresh if over.language not in known]
            if not known:
                fresh += [*saved, *self._aligned(via)]
            if not fresh:
                break
            known |= {over.language for over in fresh}
            for source in waiting:
                paths = Paths.of(LanguagePair(source, self.target, self._runtime_of(source)), self.config)
                usable = [over for over in fresh if over.language != source.language]
                better = paths.best_path(found.get(source.language), usable)
                if better is not None:
                    found[source.language] = better
        return found

    def _runtime_of(self, source: Vectors) -> Runtime:
        return self.runtime.of(source.language).skip_parts(PARTS * (len(self.sources) - 1))

    def _aligned(self, via: Sequence[Vectors]) -> "list[Bridge]":
        """The languages for detours only that do not fail into the pivot."""
        config = self.config.into_fixed().without_pairs()
        intermediates = []
        for language in via:
            log.info("%s into %s, for detours", language.language, self.target.language)
            try:
                learned = learn(language, self.target, config=config, runtime=self._runtime_of(language))
            except MuseError as error:
                log.warning("%s into %s: %s", language.language, self.target.language, error)
                continue
            if learned.verdict.label != "failed":
                intermediates.append(Bridge.of(language, learned))
        return intermediates


def _needs_detour(learned: Learned | None) -> bool:
    """Whether a mapping is missing or not judged aligned; judged on pairs, whether it failed."""
    if learned is None:
        return True
    return learned.verdict.label in (("failed",) if learned.supervision else ("failed", "doubtful"))


@dataclass(frozen=True, eq=False)
class Bridge:
    """A language to go over: its vectors and its map (k, d) into the pivot's space.

    `method` and `via` say how that map was found, `aligned` whether it was judged so.
    """

    vectors: Vectors
    mapping: Matrix
    method: str = ""
    via: tuple[str, ...] = ()
    aligned: bool = True

    @property
    def language(self) -> str:
        """The name of the language."""
        return self.vectors.language

    @classmethod
    def of(cls, vectors: Vectors, learned: Learned) -> "Bridge":
        """A language as it was just learned, into a pivot that stays as it is."""
        alignment = learned.alignment
        aligned = learned.verdict.label == "aligned"
        return cls(vectors, alignment.source_map, alignment.method, learned.via, aligned)


@dataclass(frozen=True, eq=False)
class Paths:
    """What every path of a language has in common: where it begins and ends, and how it is refined."""

    pair: LanguagePair
    config: AlignConfig

    @classmethod
    def of(cls, pair: LanguagePair, config: AlignConfig) -> "Paths":
        """Paths as `learn` would begin them: for unlabelled vectors, with a sample in random order."""
        if pair.ranked:
            return cls(pair, config)
        rng = generator(config.seed, AlignStream.DETOUR_SAMPLE)
        return cls(sampled(pair, rng), config.for_unranked_rows())

    def best_path(self, direct: Learned | None, intermediates: Sequence[Bridge]) -> Learned | None:
        """The best over one of `intermediates`, or `direct` if none is judged better; None if all failed."""
        began, best = time.perf_counter(), direct
        tried: list[Candidate] = []
        for over in nearest_first(self.pair.source, intermediates):
            path = self._path_through(over, null=None if direct is None else direct.verdict.null_rate)
            if path is None:
                continue
            tried += path.candidates
            if best is None or path.verdict.confidence > best.verdict.confidence:
                best = path
            if best.verdict.label == "aligned":
                break
        if best is None:
            return None
        before = () if direct is None else direct.candidates
        seconds = {"init": 0.0, "refine": 0.0} if direct is None else direct.seconds
        if best is not direct:
            rng = generator(self.config.seed, AlignStream.DETOUR_REWEIGHTING)
            alignment = finished(self.pair, best.alignment, best.verdict, self.config, rng)
            best = replace(best, alignment=alignment)
        return replace(
            best,
            candidates=(*before, *tried),
            seconds={**seconds, "detour": seconds.get("detour", 0.0) + time.perf_counter() - began},
            memory=best.memory if direct is None else direct.memory,
        )

    def _path_through(self, over: Bridge, null: NullRate | None) -> Learned | None:
        """The path over one language, refined against the pivot and judged there; None if a step failed."""
        began, (source, target), runtime = time.perf_counter(), self.pair.sides, self.pair.runtime
        log.info("%s into %s over %s", source.language, target.language, over.language)
        config = self.config.into_fixed().without_pairs()
        try:
            step = learn(source, over.vectors, config=config, runtime=runtime.of(over.language))
        except MuseError as error:
            log.warning("%s into %s: %s", source.language, over.language, error)
            return None
        if step.verdict.label == "failed":
            log.info("%s into %s: failed", source.language, over.language)
            return None
        method = f"via {over.language}: {step.alignment.method} + {over.method}"
        start = Alignment(self._composed(step.alignment.source_map, over), method=method)
        alignment, verdict = max(self._judged(start, null), key=lambda found: found[1].confidence)
        log.info("%s: %s (%.2f)", method, verdict.label, verdict.confidence)
        candidate = Candidate(alignment, verdict, time.perf_counter() - began)
        via = (over.language, *over.via)
        return Learned(alignment, verdict, (candidate,), via=via, chosen=candidate, reason=Reason.DETOUR)

    def _composed(self, step: Matrix, over: Bridge) -> Matrix:
        """The mapping (e, d) of the path whose steps are `step` (c, d) and the map (e, c) of `over`."""
        product = torch.from_numpy(over.mapping).double() @ torch.from_numpy(step).double()
        if over.vectors.dimension >= min(product.shape):
            return np.asarray(rotation(product).numpy())
        # The path has lost dimensions that both ends have: these are fitted to the pairs that it finds.
        x, y = self.pair.rows(FITTED)
        pairs = mutual_neighbours(normalize(x @ product.T.to(x)), y, Retrieval())
        return np.asarray(procrustes(x[pairs[:, 0]], y[pairs[:, 1]]).cpu().numpy())

    def _judged(self, start: Alignment, null: NullRate | None) -> Iterator[tuple[Alignment, Verdict]]:
        """Yields the composed mapping and the refined one, each with its criterion and its verdict."""
        score, rng = self.pair.criterion(), generator(self.config.seed, AlignStream.DETOUR)
        found = [start]
        if (rounds := refinement(self.config)) is not None:
            *_, last = improve(self.pair, start, rounds, rng)
            found.append(last)
        for alignment in found:
            verdict = judge(self.pair, alignment, rng, null)
            null = verdict.null_rate
            yield replace(alignment, criterion=score(alignment.source_map)), verdict


def nearest_first(source: Vectors, intermediates: Sequence[Bridge]) -> list[Bridge]:
    """The languages to go over, those judged aligned first, then by how many words are spelt like `source`'s.

    Related languages share names, loan words and often an alphabet. It only decides which is tried first.
    """
    own = source.most_frequent(COMPARED)

    def rank(over: Bridge) -> tuple[bool, int]:
        return not over.aligned, -len(identical_strings(over.vectors.most_frequent(COMPARED), own))

    return sorted(intermediates, key=rank)
