"""Methods: all methods of learning from pairs that are tried, with their names, simplest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from muse.learn.refine import RefineConfig
from muse.learn.supervise.cross_validation import trimmed
from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.induced import (
    GuidedTransportConfig,
    SelfLearningConfig,
    refined,
    self_learning,
    with_transport,
)
from muse.learn.supervise.linear import CanonicalConfig, canonical, fit_whitened, orthogonal
from muse.learn.supervise.trained import ContrastiveConfig, RelaxedConfig, contrastive, relaxed

# Chosen on en-fr, en-de, en-ru and three pairs of unlike corpora, on parts of their training lists.
SETTINGS = tuple(
    CanonicalConfig(shrinkage, power)
    for shrinkage, power in (
        (0.1, 1.0),
        (0.3, 0.5),
        (0.3, 1.0),
        (0.5, 0.5),
        (0.5, 1.0),
        (0.7, 0.5),
        (0.9, 0.5),
    )
)
LIGHT = 4_000  # the largest cut-off of the slow methods while they are tested

Fit = Callable[[Evidence, bool], Maps]  # the flag: True for the final fit, False within cross-validation
Induce = Callable[[Evidence, bool], Evidence]
Rng = Callable[[], np.random.Generator]  # the same generator each time: methods differ by nothing else


@dataclass(frozen=True, eq=False)
class Method:
    """A way to fit maps to evidence; a `slow` one is tested on fewer words.

    `with_induced_pairs` adds the pairs that the method induced to the evidence; None if it induces none.
    """

    name: str
    fit: Fit
    slow: bool = False
    with_induced_pairs: Induce | None = None


def unfitted(name: str, maps: Maps) -> Method:
    """Maps that were learned without the pairs."""
    return Method(name, lambda _, __: maps)


def procrustes_method() -> Method:
    """Procrustes on the pairs."""
    return Method("procrustes", lambda evidence, _: orthogonal(evidence))


def whitened_method() -> Method:
    """Whitened and re-weighted maps."""
    return Method("whitened", lambda evidence, _: fit_whitened(evidence))


def canonical_method(config: CanonicalConfig) -> Method:
    """Canonical maps of one setting."""
    return Method(f"canonical:{config}", lambda evidence, _: canonical(evidence, config))


def trimmed_method(config: CanonicalConfig, rng: Rng) -> Method:
    """Canonical maps of one setting, without the pairs that the others contradict."""

    def fit(evidence: Evidence, last: bool) -> Maps:
        return canonical(trimmed(evidence, config, rng()), config)

    return Method(f"canonical:{config},trimmed", fit)


def refined_method(rng: Rng) -> Method:
    """Refinement as without pairs, from Procrustes."""

    def fit(evidence: Evidence, last: bool) -> Maps:
        config = RefineConfig() if last else RefineConfig(cutoffs=(LIGHT,))
        return refined(evidence, orthogonal(evidence).into_target(), config, rng())

    return Method("refinement", fit, slow=True)


def relaxed_method() -> Method:
    """RCSLS."""
    return Method("rcsls", lambda evidence, _: relaxed(evidence, RelaxedConfig()), slow=True)


def transport_method(config: CanonicalConfig) -> Method:
    """Canonical maps of `config` on the pairs and those that transport finds with them."""
    return _inducing(
        "transport", lambda evidence, _: with_transport(evidence, GuidedTransportConfig()), config
    )


def self_learning_method(name: str, start: Method, config: CanonicalConfig, rng: Rng) -> Method:
    """Self-learning that begins with the maps of `start` and ends with canonical maps of `config`."""

    def induce(evidence: Evidence, last: bool) -> Evidence:
        settings = SelfLearningConfig() if last else SelfLearningConfig().up_to(LIGHT)
        held = trimmed(evidence, settings.canonical, rng())
        return self_learning(held, start.fit(held, last), settings, rng())

    return _inducing(name, induce, config)


def contrastive_method(start: Method, rng: Rng) -> Method:
    """Contrastive training that begins with the maps of `start`, on the pairs that it was fitted to."""

    def fit(evidence: Evidence, last: bool) -> Maps:
        maps = start.fit(evidence, last)
        known = evidence if start.with_induced_pairs is None else start.with_induced_pairs(evidence, last)
        return contrastive(known, maps, ContrastiveConfig(), rng())

    return Method(
        "contrastive" if start.with_induced_pairs is None else f"contrastive after {start.name}",
        fit,
        slow=True,
    )


def _inducing(name: str, induce: Induce, config: CanonicalConfig) -> Method:
    induction = _Induction(induce)
    return Method(
        name,
        lambda evidence, last: canonical(induction.with_induced_pairs(evidence, last), config),
        True,
        induction.with_induced_pairs,
    )


@dataclass(frozen=True, eq=False)
class _Induction:
    """The given pairs that are confirmed and those induced, found once for each evidence."""

    induce: Induce
    known: dict[tuple[int, bool], tuple[Evidence, Evidence]] = field(default_factory=dict)

    def with_induced_pairs(self, evidence: Evidence, last: bool) -> Evidence:
        """The evidence with the induced pairs."""
        key = id(evidence), last
        if key not in self.known:
            # The evidence is kept so that its id stays its own.
            self.known[key] = evidence, self.induce(evidence, last)
        return self.known[key][1]
