"""Alignment of a pair: from the vectors of two languages to a mapping and a verdict on it.

Without translations the best of several initialisations is refined, judged and re-weighted. With a lexicon
the mapping is the one that translates held-out pairs best, and is judged on them. Unlabelled vectors have no
order: they are learned from in a random one, so that the first k of them are a sample.
"""

import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from muse.alignment import Alignment, StoreMap
from muse.errors import BadSetting, Mismatch, NotConverged
from muse.files.space_manifest import Reason
from muse.learn.auto import Candidate, best, candidates, improve, initialisations, reason_for
from muse.learn.initialise.components import in_smaller_space
from muse.learn.pair import MOST_FREQUENT, LanguagePair, mean_cosine
from muse.learn.reweighting import reweight
from muse.learn.schedule import first_rounds, refinement, refines_plainly
from muse.learn.settings import AlignConfig
from muse.learn.supervise.cross_validation import ranked_apart, wilson
from muse.learn.supervise.model_selection import ChoiceConfig, Start, Supervision, are_few, choose
from muse.learn.supervise.training_pairs import Maps, TrainingPairs, pairs_of
from muse.learn.verdict import LABELS, UNSURE, Verdict, capped, judge, with_pairs
from muse.lexicon import Lexicon
from muse.normalise import Normalisation, normalise_
from muse.run.memory import peak_memory_mb
from muse.run.runtime import History, Runtime
from muse.run.seeds import AlignStream, generator
from muse.vectors import Matrix, Vectors, WordIndex

log = logging.getLogger(__name__)

MOST_ROWS = 50_000  # rows of a side that are learned from; the others are only mapped
MINIMUM_WORDS = 500  # with fewer there are too few pairs to judge an unsupervised initialisation
LEAST_HINTED = 1.0  # percent of held-out pairs of an encoder that are found, for its pairs to be believed
MANY_SURE = 200  # translations by a space that helps: with fewer, one learned without them competes
PARTS = 2  # of the progress of `learn`: initialisation, refinement


@dataclass(frozen=True)
class Learned:
    """The result of a run: the alignment, the verdict, every candidate tried, seconds by stage.

    `history` has the figures of the last refinement, `memory` the peak memory in MB at the end of each stage,
    `via` the languages of a detour, empty for a direct mapping; `supervision` is what was learned from pairs.
    `chosen` is the candidate that the alignment was made from, and `reason` why it was chosen.
    """

    alignment: Alignment
    verdict: Verdict
    candidates: tuple[Candidate, ...]
    seconds: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float | None] = field(default_factory=dict)
    history: tuple[dict[str, Any], ...] = ()
    supervision: Supervision | None = None
    via: tuple[str, ...] = ()
    chosen: Candidate | None = None
    reason: Reason | None = None


def check_pair(source: Vectors, target: Vectors, lexicon: Lexicon | None = None) -> None:
    """Raise Mismatch or BadSetting if these two cannot be aligned, before any work is done.

    With the pairs of a lexicon there may be any number of words: the pairs are judged on their own.
    """
    if source.language == target.language:
        raise BadSetting(f"source and target need different names, got {source.language!r} twice; change one")
    for side in (source, target) if lexicon is None else ():
        if len(side) < MINIMUM_WORDS:
            raise Mismatch(
                f"{side.language}: at least {MINIMUM_WORDS} {side.noun} are needed to align, got "
                f"{len(side)}; give a file with more {side.noun}, or pairs to learn from (--dictionary)"
            )


def normalise_in_place(vectors: Vectors, steps: Sequence[str]) -> tuple[Vectors, Normalisation]:
    """The vectors with the original lengths of their rows, and the fitted normalisation.

    The rows are normalised in place: for 200,000 words a second matrix would take 240 MB. They end at unit
    length, as every comparison needs them; if the steps leave them another length, or there are none, that
    is kept in `scales`. Mismatch if all are alike: centring would leave only rounding errors.
    """
    if (vectors.matrix[-1] == vectors.matrix[0]).all() and (vectors.matrix == vectors.matrix[0]).all():
        raise Mismatch(
            f"{vectors.language}: expected vectors that differ, got the same one {len(vectors)} times; check "
            "the program that wrote the file"
        )
    lengths = _lengths(vectors.matrix)
    fitted = normalise_(vectors.matrix, steps)
    if steps and steps[-1] == "unit":
        return replace(vectors, lengths=lengths), fitted
    scales = _lengths(vectors.matrix)
    normalise_(vectors.matrix, ["unit"])
    return replace(vectors, lengths=lengths, scales=scales), fitted


def _lengths(rows: Matrix) -> Matrix:
    """The lengths (n,) of rows (n, d)."""
    return np.asarray(np.sqrt(np.einsum("nd,nd->n", rows, rows)))


def learn(source: Vectors, target: Vectors, *, config: AlignConfig, runtime: Runtime) -> Learned:
    """The mapping from prepared `source` to prepared `target`: initialised, refined, judged, re-weighted.

    With the pairs of a lexicon (`config.lexicon`) it is chosen and judged on them instead.
    """
    check_pair(source, target, config.lexicon)
    pair = LanguagePair(source, target, runtime)
    if not pair.ranked:
        config, lexicon = config.for_unranked_rows(), config.lexicon
        rng = generator(config.seed, AlignStream.SAMPLE)
        named = set() if lexicon is None else {entry for pair in lexicon.pairs for entry in pair}
        pair = sampled(pair, rng, keep=named)
    learning = _Learning(pair, config)
    if config.lexicon is not None:
        return learning.with_pairs(config.lexicon)
    return learning.without_dictionary()


def sampled(pair: LanguagePair, rng: np.random.Generator, *, keep: Collection[str] = ()) -> LanguagePair:
    """At most MOST_ROWS rows a side in random order, the ids `keep` among them; ranked words as they are."""
    sides = list(pair.sides)
    for place, side in enumerate(sides):
        if side.frequency_ordered:
            continue
        order = rng.permutation(len(side))
        if keep and len(side) > MOST_ROWS:
            kept = WordIndex(tuple(keep))
            wanted = np.array([side.words[row] in kept for row in order.tolist()])
            order = np.concatenate([order[wanted], order[~wanted]])
        sides[place] = side.chosen(rng.permutation(order[:MOST_ROWS]) if keep else order[:MOST_ROWS])
    return replace(pair, source=sides[0], target=sides[1])


@dataclass(frozen=True, eq=False)
class _Learning:
    """Two languages, and how a mapping between them is learned."""

    pair: LanguagePair
    config: AlignConfig

    def without_dictionary(self) -> Learned:
        """What is learned without known translations, or with a pseudo dictionary if there is one.

        Its pairs choose, as those of a dictionary do, unless even the best maps translate hardly any that
        were held out: then they are as good as random.
        """
        config, alone = self.config, None
        if config.pseudo_dictionary is None:
            return self._without_pairs()
        began = time.perf_counter()
        evidence = self._pairs(config.pseudo_dictionary)
        try:
            alone = self._without_pairs()
        except (NotConverged, Mismatch) as error:
            log.warning("without the pairs of the encoder or program: %s", error)
        learned = self._judged_on_pairs(evidence, alone, began, config.pseudo_dictionary)
        found = learned.supervision
        if found is not None and found.tested and wilson(found.right, found.tested)[0] >= LEAST_HINTED:
            return learned
        log.warning("the pairs of the encoder or program do not help (%s); learned without", found)
        if alone is not None and (alone.verdict.label == "aligned" or config.init != "auto"):
            return alone
        return replace(self, config=replace(config, pseudo_dictionary=None))._without_pairs()

    def with_pairs(self, lexicon: Lexicon) -> Learned:
        """The alignment chosen on the pairs; of few, one learned without them is a candidate."""
        began, alone, config = time.perf_counter(), None, self.config
        evidence = self._pairs(lexicon)  # first: it may know no pair
        asked, few = config.init not in ("auto", "dictionary"), are_few(evidence)
        few = few and (config.help_from is None or evidence.source_words < MANY_SURE)
        if config.refine and (asked or (few and config.init == "auto")):
            try:
                check_pair(*self.pair.sides)
                alone = self.without_dictionary()
            except (NotConverged, Mismatch) as error:
                log.warning("without the dictionary: %s", error)
        # Many pairs tell what a pseudo dictionary is worth; where they are few, it told that itself.
        believed = alone is not None and alone.reason is Reason.PAIRS
        if config.pseudo_dictionary is not None and (believed or not few):
            evidence = evidence.hinted(self._pairs(config.pseudo_dictionary))
        return self._judged_on_pairs(evidence, alone, began, lexicon)

    def _pairs(self, lexicon: Lexicon) -> TrainingPairs:
        return pairs_of(lexicon, *self.pair.sides, device=self.pair.runtime.device)

    def _without_pairs(self) -> Learned:
        began, config, history = time.perf_counter(), self.config, History()
        tried = tuple(candidates(self.pair, initialisations(config), config))
        initialised, memory = time.perf_counter(), {"init": peak_memory_mb()}
        pair = replace(self.pair, runtime=self.pair.runtime.skip_parts()).recorded(history)
        rng = generator(config.seed, AlignStream.REFINEMENT)
        chosen = best(tried)
        alignment, verdict = replace(self, pair=pair)._refined(chosen, rng)
        alignment = finished(pair, alignment, verdict, config, rng)
        seconds = {"init": initialised - began, "refine": time.perf_counter() - initialised}
        memory["refine"] = peak_memory_mb()
        return Learned(
            alignment, verdict, tried, seconds, memory, tuple(history.as_json()),
            chosen=chosen, reason=reason_for(tried, chosen),
        )  # fmt: skip

    def _refined(self, start: Candidate, rng: np.random.Generator) -> tuple[Alignment, Verdict]:
        """The refined `start` with its verdict, or `start` itself if its own verdict is better.

        Plain refinement, as in the paper, counts whatever the verdict.
        """
        config, found, score = self.config, start.alignment, self.pair.criterion()
        # Unlabelled vectors that failed after all first rounds: refinement would only repeat them. Words,
        # which have counterparts, may still recover.
        if first_rounds(config) and not config.frequency_ordered and start.verdict.label == "failed":
            return replace(found, criterion=score(found.source_map)), start.verdict
        if (rounds := refinement(config)) is not None:
            *_, found = improve(self.pair, found, rounds, rng)
        if not np.isfinite(found.source_map).all():
            raise NotConverged("the refined mapping must be finite, got NaN; the vectors may be degenerate")
        verdict = judge(self.pair, found, rng, start.verdict.null_rate)  # which depends on the vectors alone
        if not refines_plainly(config) and LABELS.index(verdict.label) < LABELS.index(start.verdict.label):
            log.info("refined: %s (%.2f), so the initial mapping is kept", verdict.label, verdict.confidence)
            found, verdict = start.alignment, start.verdict
        if first_rounds(config) and start.verdict.label == "failed":
            verdict = capped(verdict, UNSURE)  # refinement confirms its own mistakes
        return replace(found, criterion=score(found.source_map)), verdict

    def _judged_on_pairs(
        self, evidence: TrainingPairs, alone: Learned | None, began: float, given: Lexicon
    ) -> Learned:
        """The alignment that translates held-out pairs best, `alone` among the candidates.

        `evidence` has those of the `given` pairs that both vocabularies know and that weigh more than 0.
        """
        config, runtime = self.config, self.pair.runtime
        initialised, memory = time.perf_counter(), {"init": peak_memory_mb()}
        fixed = config.fixed_target or not config.reweights
        how = ChoiceConfig(fixed=fixed, plain=not config.refine, regress=not config.frequency_ordered)
        alignment, supervision = learn_from_pairs(
            evidence, _starts(alone), how, seed=config.seed, runtime=runtime.skip_parts()
        )
        weighed = len(given) if given.weights is None else sum(weight > 0 for weight in given.weights)
        left_out = weighed - supervision.pairs
        supervision = replace(supervision, noun=self.pair.source.noun, left_out=left_out)
        rng = generator(config.seed, AlignStream.PAIRS_VERDICT)
        null = None if alone is None else alone.verdict.null_rate  # depends on the vectors alone
        verdict = judge(self.pair, alignment, rng, null)
        chance = None if self.pair.ranked else supervision.chance / 100
        counted = self._counted(supervision)
        verdict = with_pairs(verdict, *counted, len(supervision.candidates), chance)
        candidate = Candidate(alignment, verdict, time.perf_counter() - initialised)
        seconds = {"init": initialised - began, "refine": time.perf_counter() - initialised}
        memory["refine"] = peak_memory_mb()
        return Learned(
            alignment, verdict, (*(() if alone is None else alone.candidates), candidate),
            seconds, memory, () if alone is None else alone.history, supervision=supervision,
            chosen=candidate, reason=Reason.PAIRS,
        )  # fmt: skip

    def _counted(self, supervision: Supervision) -> tuple[int, int]:
        """The words right and tested that the verdict counts; of words, those that are tested apart."""
        maps, ranks = supervision.held_out, supervision.ranks
        if maps is None or ranks is None or not self.pair.ranked:
            return supervision.right, supervision.tested
        words = [
            [side.words[row].casefold() for row in of]
            for side, of in zip(self.pair.sides, maps.pairs.T, strict=True)
        ]
        found = ranked_apart(ranks, maps, np.array(words[0]) == np.array(words[1]))
        return found.right, len(found.words)


def finished(
    pair: LanguagePair, alignment: Alignment, verdict: Verdict, config: AlignConfig, rng: np.random.Generator
) -> Alignment:
    """The refined alignment, re-weighted and in the smaller space where the target may move."""
    # --no-refine asks for the initial mapping unchanged; where it failed, there are no pairs to tune it to.
    if config.reweights and config.refine and verdict.label != "failed":
        alignment = reweight(pair, alignment, rng)
    return alignment if config.fixed_target else in_smaller_space(alignment)


def _starts(alone: Learned | None) -> list[Candidate]:
    """The alignment learned without the pairs, and the one of identical strings if that is another."""
    if alone is None:
        return []
    alignment = alone.alignment
    if alone.reason is Reason.PAIRS:
        alignment = replace(alignment, method="hints")
    found = Candidate(alignment, alone.verdict, sum(alone.seconds.values()))
    others = [one for one in alone.candidates if one.alignment.init == "identical"]
    return [found, *(one for one in others if one.alignment.method != found.alignment.method)]


def learn_from_pairs(
    evidence: TrainingPairs,
    unsupervised: Sequence[Candidate],
    config: ChoiceConfig,
    *,
    seed: int,
    runtime: Runtime,
) -> tuple[Alignment, Supervision]:
    """The alignment chosen by cross-validation on the pairs of `evidence`, and how it was chosen.

    `unsupervised` were learned without the pairs: candidates, and starts of self-learning. Raise NotConverged
    if the maps are not finite.
    """
    starts = [
        Start(one.alignment.method, _maps(one.alignment, evidence), one.verdict.label == "failed")
        for one in unsupervised
    ]
    maps, supervision = choose(evidence, starts, config, seed=[seed, *AlignStream.PAIRS], runtime=runtime)
    stored = None if supervision.into_store is None else supervision.into_store.maps
    learned = [*maps.sides, *(() if stored is None else (stored.source, *(stored.hidden or ())))]
    if not all(torch.isfinite(one).all() for one in learned):
        raise NotConverged("the learned maps must be finite, got NaN; the vectors may be degenerate")
    x, y = (rows[:MOST_FREQUENT] for rows in evidence.vocabulary)
    k, d = maps.target.shape
    fixed = k == d and torch.equal(maps.target, torch.eye(d).to(maps.target))
    own, other = (one.cpu().numpy().copy() for one in maps.sides)
    store = None
    if stored is not None and fixed:
        hidden = None if stored.hidden is None else stored.hidden.layer()
        store = StoreMap(stored.source.cpu().numpy().copy(), hidden)
    score = mean_cosine(maps.of_source(x), maps.of_target(y))
    method = f"dictionary:{supervision.chosen}"
    return Alignment(own, None if fixed else other, method, score, store), supervision


def _maps(alignment: Alignment, evidence: TrainingPairs) -> Maps:
    """The maps of an alignment; a semi-orthogonal one into more dimensions goes into the smaller space."""
    source = torch.from_numpy(alignment.source_map).to(evidence.x)  # (k, ds)
    if alignment.target_map is None:
        return Maps.of_mapping(source)
    return Maps(source, torch.from_numpy(alignment.target_map).to(evidence.y))
