"""Plan: which initialisations are tried in turn, and how each is refined, for words and for rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from muse.alignment import Alignment
from muse.errors import BadSetting
from muse.learn.criterion import Criterion
from muse.learn.dimensions import Initialiser, in_common_dimensions
from muse.learn.improve import Improvement
from muse.learn.initialise import INITIALISATIONS
from muse.learn.initialise.adversarial import adversarial
from muse.learn.initialise.adversarial_config import PAPER, AdversarialConfig
from muse.learn.initialise.clusters import ClustersConfig, centroids_of, clusters
from muse.learn.initialise.features import FeaturesConfig, features
from muse.learn.initialise.gromov import GromovConfig, gromov
from muse.learn.initialise.identical import IdenticalConfig, identical
from muse.learn.initialise.similarity import SimilarityConfig, similarity
from muse.learn.refine import FIRST_ROUNDS, RefineConfig
from muse.learn.transport import TransportConfig
from muse.lexicon import Lexicon
from muse.run.runtime import Runtime
from muse.vectors import Vectors

# A few rounds on the most frequent words are enough for most initial mappings. The others get many rounds, on
# more words and whatever the objective: these succeed from a few percent of right pairs (RESULTS.md). They
# come in blocks, so that a mapping that does not get better is given up after the first one.
MANY_ROUNDS = RefineConfig(cutoffs=(5_000,), max_rounds=10, patience=10)
ROUNDS = (FIRST_ROUNDS, MANY_ROUNDS, MANY_ROUNDS, MANY_ROUNDS)
# Rows that are not of words: blocks of many rounds. A right mapping may need all, and its gain rises late.
FAR = TransportConfig(rounds=50)
ROUNDS_OF_ROWS: tuple[Improvement, ...] = (FAR,) * 6
CENTROIDS = 1_500


@dataclass(frozen=True)
class Plan:
    """Which initialisations to try, and how each is refined.

    `identical` lets auto fall back on identical strings; `lexicon` are pairs to learn from as well (None:
    there are none), and with the `init` dictionary from them alone. `rounds` are the refinements of an
    initial mapping, in order, until it is judged aligned. `ranked` is whether it is for words, most frequent
    first, or for rows in no order.
    """

    init: str = "auto"
    identical: bool = True
    lexicon: Lexicon | None = None
    rounds: tuple[Improvement, ...] = ROUNDS
    ranked: bool = True

    def __post_init__(self) -> None:
        check_init(self.init)

    def of_rows(self) -> Plan:
        """The plan for rows in no order; BadSetting if its initialisation needs words."""
        usable = dict.fromkeys(("auto", *(name.split(":")[0] for name in KNOWN_OF_ROWS)))
        if self.init not in (*usable, "dictionary"):
            raise BadSetting(
                f"--init {self.init} needs words, most frequent first, got rows without words; choose one of "
                f"{', '.join(usable)}"
            )
        return replace(self, rounds=ROUNDS_OF_ROWS if self.rounds else (), ranked=False)

    def initialisations(self) -> list[tuple[str, Initialiser]]:
        """The initialisations to try in turn, each with its name."""
        known, auto = (KNOWN, AUTO) if self.ranked else (KNOWN_OF_ROWS, AUTO_OF_ROWS)
        if self.init != "auto":
            return [(name, found) for name, found in known.items() if name.split(":")[0] == self.init]
        return [(name, known[name]) for name in auto if self.identical or name != "identical"]


def check_init(init: str) -> None:
    """Raise BadSetting if `init` is unknown."""
    if init not in INITIALISATIONS:
        raise BadSetting(f"--init must be one of {', '.join(INITIALISATIONS)}; got {init!r}")


def _with(initialise: Callable[..., Iterator[Alignment]], config: object) -> Initialiser:
    """An initialisation with its own config."""
    return lambda x, y, score, rng, run: initialise(
        x, y, config=config, criterion=score, rng=rng, runtime=run
    )


def _on_centroids(initialise: Initialiser) -> Initialiser:
    """The initialisation on the centroids of both sides, for rows in no order."""

    def run(
        source: Vectors, target: Vectors, score: Criterion, rng: np.random.Generator, runtime: Runtime
    ) -> Iterator[Alignment]:
        count = min(CENTROIDS, min(len(source), len(target)) // 6)
        x, y = (centroids_of(side, count, rng) for side in (source, target))
        for found in initialise(x, y, score, rng, runtime):
            yield replace(found, method=f"{found.init}:clusters")

    return run


KNOWN: dict[str, Initialiser] = {
    # Pairs of words are fitted in all dimensions; all else compares spaces of one dimension.
    **{
        f"gromov:{prior}": in_common_dimensions(_with(gromov, GromovConfig(priors=(prior,))))
        for prior in GromovConfig().priors
    },
    "features": in_common_dimensions(_with(features, FeaturesConfig())),
    "similarity": in_common_dimensions(_with(similarity, SimilarityConfig())),
    "adversarial": in_common_dimensions(_with(adversarial, AdversarialConfig())),
    "adversarial-paper": in_common_dimensions(_with(adversarial, PAPER)),
    "clusters": _with(clusters, ClustersConfig()),
    "identical": _with(identical, IdenticalConfig()),
}
# Adversarial training is not among them: it is slow, and solved no pair of languages on which all others had
# failed (RESULTS.md, "Which initialisation does it take?").
AUTO = ("gromov:rank", "features", "gromov:length", "identical", "gromov:none", "similarity")
KNOWN_OF_ROWS: dict[str, Initialiser] = {
    "clusters": KNOWN["clusters"],
    "gromov:clusters": _on_centroids(KNOWN["gromov:none"]),
    "adversarial": KNOWN["adversarial"],
}
AUTO_OF_ROWS = ("clusters",)
