"""Masked prediction: tokens are hidden and predicted from the rest, the one task of CMLM, MLM and TLM.

Devlin et al. (2019), with the subsampling of Lample and Conneau (2019, section 3.3). Reading left to right
(CLM) is the same task with other targets: each position predicts the token after it. The ids below
`specials` are special tokens, never hidden and never put in; nor are those from `vocabulary` on.
"""

import math
from dataclasses import astuple, dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

MASKED, SWAPPED = 0.8, 0.1  # shares of the hidden tokens that become the mask, and any ordinary token


class Masking(NamedTuple):
    """A `share` of the tokens of each row, but at least one, is hidden; most become the token `mask`."""

    vocabulary: int
    mask: int = 4
    specials: int = 5
    share: float = 0.15


class Cloze(NamedTuple):
    """A masked batch: input `ids` (b, t), `target_mask` (b, t), True at positions to predict, `answers` (p,).

    states[target_mask] are the p states that predict the answers, in order.
    """

    ids: Tensor
    target_mask: Tensor
    answers: Tensor


def hide(ids: Tensor, masking: Masking, generator: torch.Generator, weights: Tensor | None = None) -> Cloze:
    """The ids (b, t) masked: tokens drawn without replacement, by their `weights` (v,)."""
    target_mask = _drawn(ids, masking, generator, weights)
    fate = torch.rand(ids.shape, generator=generator, device=ids.device)  # (b, t)
    others = torch.randint(
        masking.specials, masking.vocabulary, ids.shape, generator=generator, device=ids.device
    )
    read = torch.where(target_mask & (fate < MASKED), masking.mask, ids)
    swapped = target_mask & (fate >= MASKED) & (fate < MASKED + SWAPPED)
    return Cloze(torch.where(swapped, others, read), target_mask, ids[target_mask])


def left_to_right(ids: Tensor, mask: Tensor) -> Cloze:
    """The batch for a causal network: each token (b, t) except the last of a row predicts the next one."""
    target_mask = functional.pad(mask[:, 1:], (0, 1), value=False)
    return Cloze(ids, target_mask, ids[:, 1:][mask[:, 1:]])


def rarity(counts: Tensor) -> Tensor:
    """The weights 1 / sqrt(f) (v,) of tokens that occur f times, from counts (v,); 1 for unseen tokens.

    >>> rarity(torch.tensor([0, 1, 4])).tolist()
    [1.0, 1.0, 0.5]
    """
    return counts.clamp(min=1).to(torch.get_default_dtype()).rsqrt()


def _drawn(ids: Tensor, masking: Masking, generator: torch.Generator, weights: Tensor | None) -> Tensor:
    """Which tokens are hidden (b, t): with the least e / w, e exponential (Efraimidis, Spirakis, 2006)."""
    ordinary = (ids >= masking.specials) & (ids < masking.vocabulary)
    keys = torch.empty(ids.shape, device=ids.device).exponential_(generator=generator)
    if weights is not None:
        keys = keys / weights[ids]
    ranks = keys.masked_fill(~ordinary, torch.inf).argsort(dim=1).argsort(dim=1)  # (b, t)
    tokens = ordinary.sum(dim=1, keepdim=True)  # (b, 1)
    return ordinary & (ranks < (masking.share * tokens).round().long().clamp(min=1))


def prediction_loss(scores: Tensor, answers: Tensor) -> Tensor:
    """The mean cross-entropy (), in nats, of the answers (p,) under scores (p, v); 0 without answers."""
    return functional.cross_entropy(scores.float(), answers) if len(answers) else scores.sum()


@dataclass(frozen=True)
class Predicted:
    """The numbers of tokens to predict, of those ranked first and in the first ten, and the total nats."""

    targets: int = 0
    nats: float = 0.0
    first: int = 0
    first_ten: int = 0

    def __add__(self, other: "Predicted") -> "Predicted":
        return Predicted(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def accuracy(self) -> float:
        """The share of tokens that ranked first, in percent."""
        return self._percent(self.first)

    @property
    def accuracy_at_10(self) -> float:
        """The share of tokens among the first ten, in percent."""
        return self._percent(self.first_ten)

    @property
    def loss(self) -> float:
        """The mean cross-entropy, in nats a token."""
        return self.nats / self.targets if self.targets else math.nan

    @property
    def perplexity(self) -> float:
        """The exponential of the loss."""
        return math.exp(min(self.loss, 700.0))  # above that, exp overflows

    def _percent(self, hits: int) -> float:
        return 100 * hits / self.targets if self.targets else math.nan


@torch.no_grad()
def predicted(scores: Tensor, answers: Tensor) -> Predicted:
    """The counts of answers (p,) that scores (p, v) predict; in a tie the answer ranks last."""
    right = scores.gather(1, answers[:, None])  # (p, 1)
    ranks = (scores >= right).sum(dim=1)  # (p,) 1 where the answer comes first
    nats = functional.cross_entropy(scores.float(), answers, reduction="sum")
    return Predicted(len(answers), float(nats), int((ranks == 1).sum()), int((ranks <= 10).sum()))
