"""The verdict: whether an alignment is right, judged without a dictionary by how well it predicts itself.

A right mapping can be learned from a few of its pairs and then predicts the others; a wrong one only
reproduces the pairs it was fitted to. So we take the mutual CSLS neighbours of the mapping, fit Procrustes
to 4d of them (at most half), drawn at random, and count how many of the held-out pairs the fitted mapping
recovers.

How many a wrong mapping recovers depends on the vectors (.1 if 300 directions have equal variance, .8 if a
few of them have nearly all) and on how it was learned: repeated refinement confirms its mistakes. The
baseline ("null") is therefore measured for each pair of languages, by the same rounds of refinement, on
vectors of the same spectra and marginals in which no word has a counterpart. The verdict rests on the log
of the odds ratio of the two rates; benchmarks/align/verdict.py calibrates it.

Unlabelled vectors (`Vectors.frequency_ordered` is False) have no counterparts even if the mapping is right,
only neighbours of similar texts. There the mapping and the baseline, a random mapping, first go through the
same rounds of transport, after which only a right one predicts itself better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.pair import LanguagePair
from muse.learn.refine import FIRST_ROUNDS, rounds
from muse.learn.transport import TransportConfig, mapping_by_transport
from muse.normalise import normalise
from muse.procrustes import both_mapped, eigenpairs, gram, procrustes, rotation
from muse.search.exact import nearest
from muse.search.retrieval import Retrieval, mutual_neighbours, recovered

FITTED_PAIRS_PER_DIMENSION = 4  # with 2 a half-right mapping passed, with half of all pairs it failed
DRAWS = 3
NULL_DRAWS = 2
CROWDED = 0.6  # a null that no pair of languages has reached: .57 at most
FEW_WORDS = 1_000
UNTELLING = 0.9  # a null beside which no agreement convinces: the vectors have hardly any directions
# A neighbour, and a median cosine with it beyond which words are alike; of real ones .7.
NEAR, ALIKE = 10, 0.9
MORE_DRAWS = 4  # of the null, where it is crowded or of few words
FLOOR = 0.01  # rates are clipped to 0.01 and 0.99: beyond, their odds rest on a handful of pairs
LEAST_OWN = 0.3  # of the words: with fewer, the two vocabularies are of one language
TWO_KINDS = 0.75  # of the variance of cosines between two parts: .6 to .7 of right pairs
LABELS = ("failed", "doubtful", "aligned")  # from worst to best
ALIGNED, FAILED = 0.8, 0.2  # confidence at or above, and below
P_AT_1 = (1, 3)  # the prior of the P@1 of a mapping of words, Beta(1, 3): its mean is .25
LEAST_GOOD = 0.06  # of it: self-learning from a few pairs brings some percent of the words wherever it ends
SURELY_GOOD = 0.12  # to be aligned although the vectors do not agree: held-out words are frequent ones
LEAST_TESTED = 30  # held-out words that convince although the vectors do not agree
UNSURE = 0.79  # the highest confidence that is not aligned
TINY = 1e-300  # of a probability, for its logarithm
LEAST_CHANCE = 1e-4  # a chance of 0 on few words only means that it was too small to see


@dataclass(frozen=True)
class Scale:
    """How many rows of each side are compared, and the logistic curve from log odds ratio to confidence.

    At `middle` right and wrong are equally likely.
    """

    rows: int
    middle: float
    slope: float


# The most frequent words: rarer ones reduce the contrast, and cost time.
OF_WORDS = Scale(2_000, 0.9, 4.0)
OF_ROWS = Scale(5_000, 0.55, 10.0)
# What a mapping of rows goes through before it is judged, and a random one for the baseline.
ROW_REFINEMENT = TransportConfig(rounds=8)
LEAST_NULL_OF_ROWS = 0.2  # right mappings recover .25 to .5, and random ones that collapse nearly nothing


class NullRate(NamedTuple):
    """The share of held-out pairs that a wrong mapping recovers, and the spread of its log odds."""

    rate: float
    spread: float = 0.0


class _Agreement(NamedTuple):
    """The share of held-out pairs recovered, how many there were a draw, and their mean cosines (p,).

    The cosine of a pair that no draw held out is nan.
    """

    rate: float
    held_out: int
    cosines: NDArray[np.float64] = np.empty(0)

    @property
    def variance(self) -> float:
        """The sampling variance of the log odds of the rate."""
        rate = min(max(self.rate, FLOOR), 1 - FLOOR)
        return 1 / (max(self.held_out, 1) * rate * (1 - rate))


@dataclass(frozen=True)
class Verdict:
    """`label` is aligned, doubtful or failed; `confidence` (0 to 1) that the mapping is right.

    `agreement` is the share of held-out mutual pairs recovered, `null` the share that a wrong mapping
    of such vectors recovers, `mutual` the share of source words with a mutual neighbour, `null_spread` the
    standard deviation of the log odds of `null` over its draws.
    """

    label: str
    confidence: float
    agreement: float
    mutual: float
    null: float = 0.0
    null_spread: float = 0.0

    @property
    def gain(self) -> float:
        """The log of the odds ratio of agreement and null, from which the confidence is computed."""
        return log_odds(self.agreement) - log_odds(self.null)

    @property
    def null_rate(self) -> NullRate:
        """The null that it was judged by, which depends on the vectors alone."""
        return NullRate(self.null, self.null_spread)


def judge(
    pair: LanguagePair, alignment: Alignment, rng: np.random.Generator, null: NullRate | None = None
) -> Verdict:
    """The verdict on `alignment`; it uses no dictionary.

    `null` comes from `null_agreement`, and is measured here if it is not given: it depends on the vectors
    alone.
    """
    scale = OF_WORDS if pair.ranked else OF_ROWS
    x, y = _rows(pair, scale.rows)
    own = torch.from_numpy(alignment.source_map).to(x.device)
    with pair.runtime.progress.stage("judging", 0):
        if scale is OF_ROWS:
            # A dictionary may have weighted directions too; the relaxation starts from a rotation.
            agreement, pairs = _relaxed_agreement(x, y, rotation(own.double()), rng)
        else:
            if alignment.target_map is None:
                mapped, keys = both_mapped(x, y, own)
            else:
                mapped, keys = x @ own.T, y @ torch.from_numpy(alignment.target_map).to(y.device).T
                keys = normalize(keys)
            pairs = mutual_neighbours(normalize(mapped), keys, Retrieval())
            agreement = _own_agreement(x, y, pairs, rng, _own_words(pair, scale.rows))
    if null is None:
        null = null_agreement(pair, rng)
    confidence = _confidence(agreement, null, scale)
    figures = (round(one, 4) for one in (confidence, agreement.rate, len(pairs) / len(x), *null))
    return Verdict(_label(confidence), *figures)


def _confidence(agreement: _Agreement, null: NullRate, scale: Scale) -> float:
    """The confidence in a gain; what speaks for it is moderated by its variance (MacKay, 1992)."""
    gain = log_odds(agreement.rate) - log_odds(null.rate)
    variance = scale.slope**2 * (agreement.variance + null.spread**2)
    odds = scale.slope * (gain - scale.middle)
    if odds > 0:
        odds /= math.sqrt(1 + math.pi / 8 * variance)
    return min(1 / (1 + math.exp(-odds)), UNSURE if null.rate >= UNTELLING else 1.0)


def _own_words(pair: LanguagePair, count: int) -> Tensor | None:
    """Which of the most frequent source words (n,) no target word is spelled like.

    None where hardly any is, as in two texts of one language.
    """
    words, others = (side.words[:count] for side in pair.sides)
    known = {*others}
    own = torch.tensor([word not in known for word in words])
    return own if float(own.double().mean()) >= LEAST_OWN else None


def _rows(pair: LanguagePair, count: int) -> tuple[Tensor, Tensor]:
    """The most frequent rows (n, d) and (m, e), of unit length, as they are judged.

    Raw rows are centred too: the verdict is calibrated on rows that are, and a rotation that is right for raw
    ones is right for them.
    """
    x, y = (
        rows if side.scales is None else torch.from_numpy(normalise(rows.cpu().numpy())[0]).to(rows.device)
        for side, rows in zip(pair.sides, pair.rows(count), strict=True)
    )
    return x, y


def with_pairs(
    verdict: Verdict, right: int, tested: int, methods: int = 1, chance: float | None = None
) -> Verdict:
    """The verdict where `right` of `tested` held-out words were translated correctly.

    The odds of `verdict`, which alone cannot convince, times the Bayes factor of a P@1 of at least LEAST_GOOD
    against a lower one, by the prior Beta(1, 3). Where the vectors alone are not aligned, these are only if
    the same holds of SURELY_GOOD, on LEAST_TESTED words or more. Unlabelled vectors, whose counterparts are
    hard to find even by a right mapping, give the `chance` (a rate): there the factor is of any P@1 against
    that one. The factor belongs to the best of several `methods`, whose number multiplies the chance of a
    large one: a factor above 1 is divided by their number, down to 1.
    """
    if not tested:
        return verdict
    a, b = P_AT_1
    prior = min(max(verdict.confidence, FAILED), ALIGNED)

    def confidence(factor: float) -> float:
        if factor > 0:
            factor = max(0.0, factor - math.log(methods))
        odds = math.log(prior / (1 - prior)) + factor
        return 1 / (1 + math.exp(-min(max(odds, -50), 50)))

    if chance is not None:
        rate = min(max(chance, LEAST_CHANCE), 0.5)
        factor = _log_beta(right + a, tested - right + b) - _log_beta(a, b)
        return _judged(
            verdict, confidence(factor - right * math.log(rate) - (tested - right) * math.log1p(-rate))
        )
    good, sure = (
        confidence(_log_odds_above(least, a + right, b + tested - right) - _log_odds_above(least, a, b))
        for least in (LEAST_GOOD, SURELY_GOOD)
    )
    if verdict.confidence >= ALIGNED:
        return _judged(verdict, good)
    return _judged(verdict, min(good, max(sure, UNSURE) if tested >= LEAST_TESTED else UNSURE))


def capped(verdict: Verdict, confidence: float) -> Verdict:
    """The verdict, no surer than `confidence`, by which it can become doubtful, but not failed."""
    return _judged(verdict, min(verdict.confidence, max(confidence, FAILED)))


def _judged(verdict: Verdict, confidence: float) -> Verdict:
    confidence = round(confidence, 4)
    return replace(verdict, label=_label(confidence), confidence=confidence)


def _log_odds_above(least: float, a: int, b: int) -> float:
    """The log odds that a P@1 distributed as Beta(a, b) is at least so high."""
    below, above = (f(a, b, least) for f in (scipy.special.betainc, scipy.special.betaincc))
    return math.log(max(above, TINY)) - math.log(max(below, TINY))


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def log_odds(rate: float) -> float:
    """log(r / (1 - r)) of a rate r, kept finite."""
    rate = min(max(rate, FLOOR), 1 - FLOOR)
    return math.log(rate / (1 - rate))


def null_agreement(pair: LanguagePair, rng: np.random.Generator) -> NullRate:
    """The agreement of a refined mapping that must be wrong, on synthetic vectors like these two.

    Both are rotated to their principal axes, which a wrong mapping matches at best, and every coordinate
    of the target is shuffled over its words: this keeps spectra and marginals, but no correspondence. It is
    the mean of several draws where these may differ much: of few words, and of vectors with so few directions
    that even wrong mappings predict themselves. Where only clusters of words can be told apart it is at least
    UNTELLING: shuffled coordinates form no clusters.
    For unlabelled vectors it is the largest agreement of NULL_DRAWS random mappings after refinement.
    """
    scale = OF_WORDS if pair.ranked else OF_ROWS
    x, y = _rows(pair, scale.rows)
    with pair.runtime.progress.stage("baseline of the verdict", 0):
        if scale is OF_ROWS:
            found = [LEAST_NULL_OF_ROWS]
            for _ in range(NULL_DRAWS):
                drawn = torch.from_numpy(rng.standard_normal((y.shape[1], x.shape[1])))
                found.append(_relaxed_agreement(x, y, rotation(drawn.to(x.device)), rng)[0].rate)
            return NullRate(max(found))
        own, other = _principal(x), _principal(y)
        rates = [_null_draw(own, other, rng)]
        if rates[0] > CROWDED or min(len(x), len(y)) < FEW_WORDS:
            rates += [_null_draw(own, other, rng) for _ in range(MORE_DRAWS)]
        odds = np.array([log_odds(one) for one in rates])
        rate, spread = float(scipy.special.expit(odds.mean())), float(odds.std(ddof=min(1, len(odds) - 1)))
        return NullRate(max(rate, UNTELLING) if max(map(_likeness, (x, y))) > ALIKE else rate, spread)


def _likeness(rows: Tensor) -> float:
    """The median cosine of rows (n, d) with their NEAR-th neighbour among them; 0 of fewer rows."""
    return float(nearest(rows, rows, NEAR + 1).scores[:, -1].median()) if len(rows) > NEAR else 0.0


def _null_draw(own: Tensor, other: Tensor, rng: np.random.Generator) -> float:
    """The agreement of a mapping refined from rows (n, d) along their axes to shuffled ones (m, e)."""
    order = np.argsort(rng.random(tuple(other.shape)), axis=0)  # (m, e)
    shuffled = normalize(other.gather(0, torch.from_numpy(order).to(other.device)))
    axis_to_axis = torch.eye(other.shape[1], own.shape[1], device=own.device)
    *_, (mapping, _) = rounds(own, shuffled, axis_to_axis, FIRST_ROUNDS, rng)
    pairs = mutual_neighbours(*both_mapped(own, shuffled, mapping), Retrieval())
    return _agreement(own, shuffled, pairs, NULL_DRAWS, rng).rate


def _relaxed_agreement(
    x: Tensor, y: Tensor, mapping: Tensor, rng: np.random.Generator
) -> tuple[_Agreement, Tensor]:
    """The agreement of a mapping (e, d) after ROW_REFINEMENT, and its mutual neighbours (p, 2)."""
    mapping = mapping_by_transport(x, y, mapping, ROW_REFINEMENT, rng)
    pairs = mutual_neighbours(*both_mapped(x, y, mapping), Retrieval())
    return _agreement(x, y, pairs, DRAWS, rng), pairs


def _principal(rows: Tensor) -> Tensor:
    """The rows (n, d) along their principal axes, widest first, with the longer tail of each positive."""
    rotated = rows @ eigenpairs(gram(rows))[1].float()
    return torch.where((rotated**3).sum(dim=0) < 0, -rotated, rotated)


def _own_agreement(
    x: Tensor, y: Tensor, pairs: Tensor, rng: np.random.Generator, own: Tensor | None
) -> _Agreement:
    """The agreement of the pairs of the `own` words (n,), or the lower one of these without copies.

    Foreign words in a text, and rows copied from the other side, predict one another by a mapping that
    translates no other word; the others have to predict themselves alone.
    """
    among = None if own is None else own[pairs[:, 0].cpu()]
    found = _agreement(x, y, pairs, DRAWS, rng, among)
    border = _border(found.cosines)
    if math.isinf(border):
        return found
    fitted = pairs if among is None else pairs[among.to(pairs.device)]
    mapped, keys = both_mapped(x, y, procrustes(x[fitted[:, 0]], y[fitted[:, 1]]))
    if float(((mapped @ keys.T).amax(dim=1) > border).double().mean()) > 1 - LEAST_OWN:
        return found  # nearly all words are of the higher kind: the mapping has only not found them yet
    others = torch.from_numpy(found.cosines <= border)  # nan are neither
    return min(found, _agreement(x, y, pairs, DRAWS, rng, others), key=lambda one: one.rate)


def _border(cosines: NDArray[np.float64]) -> float:
    """Otsu's border (1979) between two kinds of cosines (p,); infinite where they are of one kind."""
    known = np.sort(cosines[~np.isnan(cosines)])
    if len(known) < 2 or np.ptp(known) == 0:
        return math.inf
    below = np.arange(1, len(known))
    sums, above = np.cumsum(known)[:-1], len(known) - below
    between = below * above * (sums / below - (known.sum() - sums) / above) ** 2 / len(known) ** 2
    best = int(between.argmax())
    return float(known[best]) if between[best] > TWO_KINDS * known.var() else math.inf


def _agreement(
    x: Tensor, y: Tensor, pairs: Tensor, draws: int, rng: np.random.Generator, among: Tensor | None = None
) -> _Agreement:
    """The mean share of held-out pairs that a mapping fitted to a draw of the others recovers.

    Where only some pairs are `among` them (p,), the random numbers drawn are those of all.
    """
    among = torch.ones(len(pairs), dtype=torch.bool) if among is None else among
    count = int(among.sum())
    fitted = min(FITTED_PAIRS_PER_DIMENSION * min(x.shape[1], y.shape[1]), count // 2)
    if fitted == 0:
        return _Agreement(0.0, 0)
    rates, cosines = [], torch.full((draws, len(pairs)), torch.nan)
    for draw in range(draws):
        shuffled = torch.from_numpy(rng.permutation(len(pairs)))
        shuffled = shuffled[among[shuffled]]
        known, held_out = (pairs[part.to(pairs.device)] for part in (shuffled[:fitted], shuffled[fitted:]))
        mapped, keys = both_mapped(x, y, procrustes(x[known[:, 0]], y[known[:, 1]]))
        rates.append(float(recovered(mapped, keys, held_out).double().mean()))
        cosines[draw, shuffled[fitted:]] = (mapped[held_out[:, 0]] * keys[held_out[:, 1]]).sum(dim=1).cpu()
    return _Agreement(float(np.mean(rates)), count - fitted, cosines.nanmean(dim=0).double().numpy())


def _label(confidence: float) -> str:
    if confidence >= ALIGNED:
        return "aligned"
    return "failed" if confidence < FAILED else "doubtful"
