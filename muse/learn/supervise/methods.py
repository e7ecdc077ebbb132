"""Methods: all methods of learning from pairs that are tried, with their names, simplest first.

Two train maps by gradient descent:

relaxed      Any linear map of the source, trained on the CSLS loss itself (RCSLS, Joulin et al., 2018).
contrastive  Both maps, trained to distinguish each translation from its hardest negatives: stage C1 of Li et
             al. (2022, section 3.1), with three changes. Cosines are scaled (without a scale the loss over
             200 negatives is nearly flat), the negatives are all frequent words rather than a mined list, and
             the maps begin from canonical ones and take few small steps, since they overfit within tens of
             them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from muse.learn.refine import RefineConfig
from muse.learn.supervise.cross_validation import trimmed
from muse.learn.supervise.induced import (
    GuidedTransportConfig,
    SelfLearningConfig,
    refined,
    self_learning,
    with_transport,
)
from muse.learn.supervise.linear import (
    CanonicalConfig,
    canonical,
    corrected,
    drawn_units,
    fit_whitened,
    orthogonal,
    ridge,
    with_units,
)
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.search.exact import nearest

# Chosen on en-fr, en-de, en-ru and three pairs of unlike corpora, on parts of their training lists.
SETTINGS = tuple(
    CanonicalConfig(*one)
    for one in ((0.1, 1.0), (0.3, 0.5), (0.3, 1.0), (0.5, 0.5), (0.5, 1.0), (0.7, 0.5), (0.9, 0.5))
)
PENALTIES = (0.03, 0.3, 3.0)  # of ridge regression, from hardly any to one for few pairs
CORRECTIONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # penalties of what corrects another map
RANKS = (16, 64)  # of corrections, with the penalty of those
RANKED_PENALTY = 0.3
UNITS = 2_048  # hidden units of a network
NETWORK_PENALTIES = (0.3, 1.0, 3.0)  # in mean variances of a unit
HINTED = 0.3  # the weight of a hint, as of an induced pair
LIGHT = 4_000  # the largest cut-off of the slow methods while they are tested

T = TypeVar("T")
# The flag: True for the final fit, False within cross-validation.
Fit = Callable[[TrainingPairs, bool], Maps]
Induce = Callable[[TrainingPairs, bool], TrainingPairs]
Rng = Callable[[], np.random.Generator]  # the same generator each time: methods differ by nothing else


@dataclass(frozen=True)
class RelaxedConfig:
    """Steps and rate of the descent, the neighbours k, and the most frequent words to find them among."""

    steps: int = 8
    rate: float = 10.0
    k: int = 10
    words: int = 10_000


def relaxed(evidence: TrainingPairs, config: RelaxedConfig) -> Maps:
    """The map W (dt, ds) that descends from Procrustes on the mean of -2 W x . y + r(W x) + r(y).

    r(W x) is the mean cosine to the k nearest targets, r(y) to the k nearest mapped sources (Joulin et
    al., 2018, eq. 7). A step after which the loss is higher is taken back, and the rate halved. The target
    stays as it is.
    """
    start = orthogonal(evidence).into_target()
    descent = _Descent(evidence, config)
    best, rate = start.source, config.rate
    lowest, gradient = descent(best)
    for _ in range(config.steps):
        mapping = best - rate * gradient
        loss, following = descent(mapping)
        if loss < lowest:  # not so for NaN either
            best, lowest, gradient = mapping, loss, following
        else:
            rate /= 2
    return Maps(best, start.target)


class _Descent:
    """The loss of a map W (dt, ds) and its gradient (dt, ds), for the pairs and the most frequent words.

    A word has the same neighbours in all of its pairs, so that it is looked up once, and counted.
    """

    def __init__(self, evidence: TrainingPairs, config: RelaxedConfig) -> None:
        self.x, self.y = (rows[: config.words] for rows in evidence.vocabulary)
        own, other = (torch.unique(evidence.pairs[:, side], return_counts=True) for side in (0, 1))
        self.left, self.right = evidence.x[own[0]], evidence.y[other[0]]  # (u, ds), (v, dt)
        self.left_counts, self.right_counts = own[1].to(self.x), other[1].to(self.y)
        self.cross = (evidence.right.T @ evidence.left).to(self.x)  # (dt, ds)
        self.pairs, self.k = len(evidence), config.k

    def __call__(self, mapping: Tensor) -> tuple[float, Tensor]:
        mapped, own = self.x @ mapping.T, self.left @ mapping.T
        of_x, r_x = _neighbourhood(own, self.y, self.y, self.k)
        of_y, r_y = _neighbourhood(self.right, mapped, self.x, self.k)
        # The sum over all pairs of W x . y is that over all entries of W and of sum y x^T.
        together = (self.left_counts * r_x).sum() + (self.right_counts * r_y).sum()
        loss = float(together - 2 * (mapping * self.cross).sum()) / self.pairs
        of_left = of_x.T @ (self.left_counts[:, None] * self.left)
        of_right = (self.right_counts[:, None] * self.right).T @ of_y
        return loss, (of_left + of_right - 2 * self.cross) / self.pairs


def _neighbourhood(queries: Tensor, keys: Tensor, rows: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The mean (q, d) of the `rows` of each query's k nearest keys (m, d), and the mean score (q,)."""
    found = nearest(queries, keys, k)
    return embedding_bag(found.indices, rows, mode="mean"), found.scores.mean(dim=1)


@dataclass(frozen=True)
class ContrastiveConfig:
    """Steps, pairs a step, the rate relative to the size of the entries, the scale of cosines, the words."""

    steps: int = 10
    batch: int = 1_024
    rate: float = 0.03
    scale: float = 20.0
    words: int = 6_000


def contrastive(
    evidence: TrainingPairs, start: Maps, config: ContrastiveConfig, rng: np.random.Generator
) -> Maps:
    """The maps after descent on the cross-entropy of each pair against negatives of both sides.

    For a pair (x, y): -log e^s(x,y) / (e^s(x,y) + sum_y' e^s(x,y') + sum_x' e^s(x',y)), s the scaled
    cosine, y' and x' the frequent words that are no known translation (Li et al., 2022, eq. 4).
    """
    sides = [_keys(evidence, side, config.words) for side in (0, 1)]
    (x, a), (y, b) = sides  # (n, ds), (p,): the place of each pair's word among the keys
    # Scaled so that mapped rows have length 1 on average.
    lengths = (
        torch.linalg.vector_norm(rows @ own.T, dim=1).mean()
        for rows, own in zip((x, y), start.sides, strict=True)
    )
    maps = [(own / length).requires_grad_() for own, length in zip(start.sides, lengths, strict=True)]
    rates = [{"params": [one], "lr": config.rate * float(one.detach().std())} for one in maps]
    optimiser = torch.optim.Adam(rates, betas=(0.9, 0.99))
    for _ in range(config.steps):
        batch = torch.from_numpy(rng.permutation(len(a))[: config.batch]).to(a.device)
        mapped = Maps(maps[0], maps[1])
        loss = _loss(mapped.of_source(x), mapped.of_target(y), (a, b), batch, config.scale)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return Maps(maps[0].detach(), maps[1].detach())


def _loss(u: Tensor, v: Tensor, pairs: tuple[Tensor, Tensor], batch: Tensor, scale: float) -> Tensor:
    """The mean cross-entropy of a batch (c,) of the pairs (p,) of rows of u (n, k) and v (m, k)."""
    a, b = pairs
    left, right = scale * u[a[batch]], v[b[batch]]
    positive = (left * right).sum(dim=1)  # (c,)
    target_negatives = (left @ v.T).masked_fill_(_known(a, b, batch, len(v)), -torch.inf)  # (c, m)
    source_negatives = (scale * right @ u.T).masked_fill_(_known(b, a, batch, len(u)), -torch.inf)  # (c, n)
    negatives = torch.logaddexp(
        *(torch.logsumexp(one, dim=1) for one in (target_negatives, source_negatives))
    )
    return (torch.logaddexp(positive, negatives) - positive).mean()


def _known(own: Tensor, other: Tensor, batch: Tensor, count: int) -> Tensor:
    """Whether each of `count` words of the other side translates each word of a batch, (c, count)."""
    found = torch.zeros(len(batch), count, dtype=torch.bool, device=own.device)
    # Word by word: to compare each of the batch with every pair takes far more than the pairs that match.
    ordered, pairs = own.sort()
    begin = torch.searchsorted(ordered, own[batch])  # (c,)
    counts = torch.searchsorted(ordered, own[batch], right=True) - begin  # (c,)
    place = torch.arange(len(batch), device=own.device).repeat_interleave(counts)
    nth = torch.arange(len(place), device=own.device) - (counts.cumsum(0) - counts)[place]
    found[place, other[pairs[begin[place] + nth]]] = True
    return found


def _keys(evidence: TrainingPairs, side: int, words: int) -> tuple[Tensor, Tensor]:
    """The rows of the most frequent words and those of the pairs, and each pair's place among them."""
    rows, own = (evidence.x, evidence.y)[side], evidence.pairs[:, side]
    frequent = torch.arange(min(words, evidence.words[side]), device=own.device)
    kept = torch.unique(torch.cat([frequent, own]))
    return rows[kept], torch.searchsorted(kept, own.contiguous())


@dataclass(frozen=True, eq=False)
class Method:
    """A way to fit maps to evidence; a `slow` one is tested on fewer words.

    `with_induced_pairs` adds the pairs that the method induced to the evidence; None if it induces none.
    """

    name: str
    fit: Fit
    slow: bool = False
    with_induced_pairs: Induce | None = None


PROCRUSTES = Method("procrustes", lambda evidence, _: orthogonal(evidence))
WHITENED = Method("whitened", lambda evidence, _: fit_whitened(evidence))
RCSLS = Method("rcsls", lambda evidence, _: relaxed(evidence, RelaxedConfig()), slow=True)


def unfitted(name: str, maps: Maps) -> Method:
    """Maps that were learned without the pairs."""
    return Method(name, lambda _, __: maps)


def ridge_method(penalty: float) -> Method:
    """Ridge regression with one penalty."""
    return Method(f"ridge:{penalty:g}", lambda evidence, _: ridge(evidence, penalty))


def corrected_method(start: Method, penalty: float, rank: int | None = None) -> Method:
    """The maps of `start` and a ridge regression of what they leave, into a target that does not move."""

    def fit(evidence: TrainingPairs, last: bool) -> Maps:
        return corrected(evidence, start.fit(evidence, last).into_target().source, penalty, rank)

    name = f"{start.name}+ridge:{penalty:g}"
    return Method(name if rank is None else f"{name},rank:{rank}", fit, start.slow)


def _once(
    make: Callable[[TrainingPairs, bool], T], known: Iterable[tuple[TrainingPairs, T]] = ()
) -> Callable[[TrainingPairs, bool], T]:
    """The function, which keeps what it makes of an evidence; `known` is what it made before, of parts."""
    kept = {(id(evidence), False): (evidence, made) for evidence, made in known}

    def once(evidence: TrainingPairs, last: bool) -> T:
        key = id(evidence), last
        if key not in kept:
            # The evidence is kept so that its id stays its own.
            kept[key] = evidence, make(evidence, last)
        return kept[key][1]

    return once


def fitted_once(method: Method, known: Iterable[tuple[TrainingPairs, Maps]] = ()) -> Method:
    """The method, which keeps what it fitted to an evidence: corrections of many penalties begin with it.

    `known` are maps that it fitted before, to parts of the evidence.
    """
    return replace(method, fit=_once(method.fit, known))


def network_methods(start: Method, rng: Rng) -> list[Method]:
    """The maps of `start` with what hidden units add to them, for each penalty, fitted together."""

    def networks(evidence: TrainingPairs, last: bool) -> list[Maps]:
        mapping = start.fit(evidence, last).into_target().source
        units = drawn_units(mapping.shape[1], UNITS, rng())
        return with_units(evidence, mapping, units, NETWORK_PENALTIES)

    def fit(place: int, evidence: TrainingPairs, last: bool) -> Maps:
        return fitted(evidence, last)[place]

    fitted = _once(networks)
    return [
        Method(f"{start.name}+network:{penalty:g}", partial(fit, place), start.slow)
        for place, penalty in enumerate(NETWORK_PENALTIES)
    ]


def canonical_method(config: CanonicalConfig) -> Method:
    """Canonical maps of one setting."""
    return Method(f"canonical:{config}", lambda evidence, _: canonical(evidence, config))


def trimmed_method(config: CanonicalConfig, rng: Rng) -> Method:
    """Canonical maps of one setting, without the pairs that the others contradict."""
    return Method(
        f"canonical:{config},trimmed",
        lambda evidence, _: canonical(trimmed(evidence, config, rng()), config),
    )


def refined_method(rng: Rng) -> Method:
    """Refinement as without pairs, from Procrustes."""

    def fit(evidence: TrainingPairs, last: bool) -> Maps:
        config = RefineConfig() if last else RefineConfig(cutoffs=(LIGHT,))
        return refined(evidence, orthogonal(evidence).into_target(), config, rng())

    return Method("refinement", fit, slow=True)


def transport_method(config: CanonicalConfig, *, frequency_ordered: bool = True) -> Method:
    """Canonical maps of `config` on the pairs and those that transport finds with them."""
    settings = GuidedTransportConfig() if frequency_ordered else GuidedTransportConfig.for_unranked_rows()
    return _inducing("transport", lambda evidence, _: with_transport(evidence, settings), config)


def hinted_method(config: CanonicalConfig) -> Method:
    """Canonical maps of `config` on the pairs and the pseudo dictionary."""

    def induce(evidence: TrainingPairs, _: bool) -> TrainingPairs:
        more = evidence.pseudo_dictionary
        return evidence if more is None else evidence.plus(more, HINTED)

    return _inducing("pairs and hints", induce, config)


def self_learning_method(
    name: str, start: Method, config: CanonicalConfig, rng: Rng, *, frequency_ordered: bool = True
) -> Method:
    """Self-learning that begins with the maps of `start` and ends with canonical maps of `config`."""

    def induce(evidence: TrainingPairs, last: bool) -> TrainingPairs:
        settings = SelfLearningConfig()
        if not frequency_ordered:
            settings = settings.for_unranked_rows(settings.cutoffs[-1] if last else LIGHT)
        elif not last:
            settings = settings.up_to(LIGHT)
        held = trimmed(evidence, settings.canonical, rng())
        return self_learning(held, start.fit(held, last), settings, rng())

    return _inducing(name, induce, config)


def contrastive_method(start: Method, rng: Rng) -> Method:
    """Contrastive training that begins with the maps of `start`, on the pairs that it was fitted to."""
    induce = start.with_induced_pairs

    def fit(evidence: TrainingPairs, last: bool) -> Maps:
        maps = start.fit(evidence, last)
        known = evidence if induce is None else induce(evidence, last)
        return contrastive(known, maps, ContrastiveConfig(), rng())

    return Method("contrastive" if induce is None else f"contrastive after {start.name}", fit, slow=True)


def _inducing(name: str, induce: Induce, config: CanonicalConfig) -> Method:
    """Canonical maps on the confirmed pairs and those induced, which are found once for each evidence."""
    induced = _once(induce)
    return Method(name, lambda evidence, last: canonical(induced(evidence, last), config), True, induced)
