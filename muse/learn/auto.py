"""Auto: try initialisations, the cheap ones first, until one is judged aligned; else use the best.

Which these are, and in which order, differs between words and rows in no order. Each is refined, by pairs of
words or by transport of rows, and judged.
"""

import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from muse.alignment import Alignment
from muse.errors import Mismatch, NotConverged
from muse.files.json_text import parse_json
from muse.files.space_manifest import Reason
from muse.learn.initialise.adversarial import PAPER, AdversarialConfig, adversarial
from muse.learn.initialise.clusters import ClustersConfig, centroids_of, clusters
from muse.learn.initialise.components import Initialiser, in_common_dimensions
from muse.learn.initialise.features import FeaturesConfig, features
from muse.learn.initialise.gromov import GromovConfig, gromov
from muse.learn.initialise.identical import IdenticalConfig, identical
from muse.learn.initialise.similarity import SimilarityConfig, similarity
from muse.learn.pair import Criterion, LanguagePair
from muse.learn.refine import refine
from muse.learn.schedule import RefinementConfig, first_rounds
from muse.learn.settings import AlignConfig
from muse.learn.transport import TransportConfig, refine_by_transport
from muse.learn.verdict import LABELS, NullRate, Verdict, judge, null_agreement
from muse.run.checkpoint import Arrays
from muse.run.runtime import History
from muse.run.seeds import AlignStream, Stream, generator, of_initialisation, of_verdict

log = logging.getLogger(__name__)

CENTROIDS = 1_500
CRITERION_WORDS = 4_000
MIN_GAIN_TO_CONTINUE = 0.1  # of the verdict's gain: a refinement that adds less is not followed by another
GIVE_UP_BELOW = 0.05  # the gain after the first refinement; the lowest that led to a right mapping was 0.2
MAX_NONORTHOGONALITY = 1.0  # of a mapping from a checkpoint: only a damaged file is farther from a rotation


def improve(
    pair: LanguagePair, initial: Alignment, config: RefinementConfig, rng: np.random.Generator
) -> Iterator[Alignment]:
    """Yields the Alignments of `refine` or `refine_by_transport`, by the settings; the last counts.

    That of plain refinement is the one of the round with the highest criterion, as the paper selects models.
    """
    if isinstance(config, TransportConfig):
        yield from refine_by_transport(pair, initial, config, rng)
        return
    found = refine(pair, initial, config, rng)
    if not config.plain:
        yield from found
        return
    score = pair.criterion()
    scored = [replace(one, criterion=score(one.source_map)) for one in found]
    yield from scored
    yield max(scored, key=lambda one: one.criterion)


def _on_centroids(initialise: Initialiser) -> Initialiser:
    """The initialisation on the centroids of both sides, for rows in no order."""

    def run(pair: LanguagePair, score: Criterion, rng: np.random.Generator) -> Iterator[Alignment]:
        count = min(CENTROIDS, min(map(len, pair.sides)) // 6)
        x, y = (centroids_of(side, count, rng) for side in pair.sides)
        for found in initialise(LanguagePair(x, y, pair.runtime), score, rng):
            yield replace(found, method=f"{found.init}:clusters")

    return run


KNOWN: dict[str, Initialiser] = {
    # Pairs of words are fitted in all dimensions; all else compares spaces of one dimension.
    **{
        f"gromov:{prior}": in_common_dimensions(partial(gromov, config=GromovConfig(priors=(prior,))))
        for prior in GromovConfig().priors
    },
    "features": in_common_dimensions(partial(features, config=FeaturesConfig())),
    "similarity": in_common_dimensions(partial(similarity, config=SimilarityConfig())),
    "adversarial": in_common_dimensions(partial(adversarial, config=AdversarialConfig())),
    "adversarial-paper": in_common_dimensions(partial(adversarial, config=PAPER)),
    "clusters": partial(clusters, config=ClustersConfig()),
    "identical": partial(identical, config=IdenticalConfig()),
}
# Adversarial training is not among them: it is slow, and solved no pair of languages on which all others had
# failed (results/align/initialisations.md).
AUTO = ("gromov:rank", "features", "gromov:length", "identical", "gromov:none", "similarity")
# Beside pairs that an encoder gives: the first solves most pairs of like vectors, and identical strings most
# of the others that are solved at all; the rest take minutes.
AUTO_HINTED = ("gromov:rank", "identical")
KNOWN_OF_ROWS: dict[str, Initialiser] = {
    "clusters": KNOWN["clusters"],
    "gromov:clusters": _on_centroids(KNOWN["gromov:none"]),
    "adversarial": KNOWN["adversarial"],
}
AUTO_OF_ROWS = ("clusters",)


def initialisations(config: AlignConfig) -> list[tuple[str, Initialiser]]:
    """The initialisations to try in turn, each with its name."""
    known, auto = (KNOWN, AUTO) if config.frequency_ordered else (KNOWN_OF_ROWS, AUTO_OF_ROWS)
    names: Sequence[str] = auto if config.pseudo_dictionary is None else AUTO_HINTED
    if config.init != "auto":
        return [(name, found) for name, found in known.items() if name.split(":")[0] == config.init]
    return [(name, known[name]) for name in names if not (config.no_identical and name == "identical")]


@dataclass(frozen=True)
class Candidate:
    """An initialisation that was tried: the alignment after the first rounds, the verdict, the time it took.

    `history` has the figures of its stages, step by step.
    """

    alignment: Alignment
    verdict: Verdict
    seconds: float
    history: tuple[dict[str, Any], ...] = ()

    def as_record(self) -> dict[str, object]:
        """The fields of the manifest: the ones of `--json`, the orthogonality defect and the history."""
        defect = float(f"{self.alignment.orthogonality_defect:.3g}")
        return {**self.as_json(), "orthogonality_defect": defect, "history": self.history}

    def as_json(self) -> dict[str, object]:
        """The fields that `--json` shows."""
        verdict = {key: value for key, value in asdict(self.verdict).items() if key != "label"}
        return {
            "init": self.alignment.init,
            "method": self.alignment.method,
            "criterion": round(self.alignment.criterion, 4),
            "verdict": self.verdict.label,
            **verdict,
            "seconds": round(self.seconds, 2),
        }


def candidates(
    pair: LanguagePair, initialisers: Sequence[tuple[str, Initialiser]], config: AlignConfig
) -> Iterator[Candidate]:
    """Yields a Candidate for each initialisation, up to and including the first judged aligned.

    An initialisation that fails is logged and skipped; raise NotConverged only if all fail; if there was
    just one, its own error is raised. Each has its own random generator, whichever others ran, so a run
    resumed from its checkpoints ends with the same result.
    """
    score = pair.criterion(CRITERION_WORDS)
    null = null_agreement(pair, generator(config.seed, AlignStream.NULL))
    failures: list[str] = []
    for name, initialise in initialisers:
        began, history = time.perf_counter(), History()
        stream = of_initialisation(name, auto=config.init == "auto")
        trial = _Trial(pair.recorded(history), score, null, config, history, stream)
        try:
            with pair.runtime.progress.stage(name, 0):
                alignment, verdict = trial.run(name, initialise)
        except (NotConverged, Mismatch) as error:
            if len(initialisers) == 1:
                raise
            log.warning("%s: %s", name, error)
            failures.append(f"{name}: {error}")
            continue
        log.info("tried %s: %s (confidence %.2f)", name, verdict.label, verdict.confidence)
        log.debug("%s: criterion %.4f", name, alignment.criterion)
        yield Candidate(alignment, verdict, time.perf_counter() - began, tuple(history.as_json()))
        if verdict.label == "aligned":
            return
    if len(failures) == len(initialisers):
        raise NotConverged(f"all initialisations failed: {'; '.join(failures)}")


def reason_for(tried: Sequence[Candidate], chosen: Candidate) -> Reason:
    """Why `chosen` is the best of those tried, for the manifest."""
    if chosen.verdict.label == "aligned":
        return Reason.FIRST_ALIGNED
    if len(tried) == 1:
        return Reason.ONLY
    leading = max(one.alignment.criterion for one in tried)
    return Reason.CRITERION if chosen.alignment.criterion == leading else Reason.VERDICT


def best(tried: Sequence[Candidate]) -> Candidate:
    """The candidate with the best verdict, aligned before doubtful; of equals, the highest criterion."""
    return max(tried, key=lambda one: _quality(one.alignment, one.verdict))


def _quality(alignment: Alignment, verdict: Verdict) -> tuple[int, float]:
    # A wrong mapping can have the higher criterion, so that counts among mappings of one label alone.
    return LABELS.index(verdict.label), alignment.criterion


@dataclass(frozen=True)
class _Trial:
    """What an initialisation is tried with: the languages, the criterion, the null of verdicts, and so on."""

    pair: LanguagePair
    score: Criterion
    null: NullRate
    config: AlignConfig
    history: History
    stream: Stream

    def run(self, name: str, initialise: Initialiser) -> tuple[Alignment, Verdict]:
        """The alignment of an initialisation that is judged best, from its checkpoint if there is one."""
        checkpoint, stage = self.pair.runtime.checkpoint, f"start-{name}"
        if (arrays := checkpoint.load(stage)) is not None:
            with checkpoint.complete():
                kept = self._read(arrays)
                self.history.restore(parse_json(str(arrays["history"])))
            return kept, self._judge(kept)
        found: list[tuple[Alignment, Verdict]] = []
        rng = generator(self.config.seed, self.stream)
        initials = initialise(self.pair, self.score, rng)
        for judged in (one for initial in initials for one in self._refined(initial, rng)):
            found.append(judged)
            if judged[1].label == "aligned":
                break
        if not found:
            raise Mismatch("the vectors lack what this initialisation needs; try another --init")
        chosen = max(found, key=lambda pair: _quality(*pair))
        saved = {
            "mapping": chosen[0].source_map,
            "method": np.array(chosen[0].method),
            "criterion": np.array(chosen[0].criterion),
            "history": np.array(json.dumps(self.history.as_json())),
        }
        checkpoint.save(stage, saved)
        return chosen

    def _refined(self, initial: Alignment, rng: np.random.Generator) -> Iterator[tuple[Alignment, Verdict]]:
        """Yields the alignment and the verdict after each of the refinements, until the gain stops rising."""
        rounds = first_rounds(self.config)
        # Words are given up after any refinement, rows after all.
        patience = 1 if self.config.frequency_ordered else len(rounds)
        if not rounds:
            yield self._judged(initial)
        current, gain = initial, -np.inf
        for number, config in enumerate(rounds):
            *_, current = improve(self.pair, current, config, rng)
            alignment, verdict = self._judged(current)
            yield alignment, verdict
            # The first refinement ends where it stalls: only those after it can be compared.
            least = gain + MIN_GAIN_TO_CONTINUE if number > 0 else GIVE_UP_BELOW
            if number + 1 >= patience and verdict.gain < least:
                return
            gain = max(gain, verdict.gain)

    def _judged(self, alignment: Alignment) -> tuple[Alignment, Verdict]:
        if not np.isfinite(alignment.source_map).all():
            raise NotConverged("the mapping must be finite, got NaN; the vectors may be degenerate")
        alignment = replace(alignment, criterion=self.score(alignment.source_map))
        return alignment, self._judge(alignment)

    def _judge(self, alignment: Alignment) -> Verdict:
        return judge(self.pair, alignment, generator(self.config.seed, of_verdict(self.stream)), self.null)

    def _read(self, arrays: Arrays) -> Alignment:
        """The alignment in the arrays of a checkpoint; LookupError, TypeError or ValueError without one."""
        mapping = np.asarray(arrays["mapping"], dtype=np.float32)
        if mapping.shape != (self.pair.target.dimension, self.pair.source.dimension):
            raise ValueError(f"a mapping of the shape {mapping.shape}")
        kept = Alignment(mapping, method=str(arrays["method"]), criterion=float(arrays["criterion"].item()))
        if not (kept.orthogonality_defect < MAX_NONORTHOGONALITY and np.isfinite(kept.criterion)):
            raise ValueError(f"a mapping that is no rotation, or the criterion {kept.criterion}")
        return kept
