"""Masked batches: inputs and answers from streams (CLM, MLM) and from pairs of translations (TLM)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from muse.encoders.ragged import Padded
from muse.systems.networks.masked_prediction import Masking, hide, left_to_right
from muse.systems.networks.transformer import Inputs


class MaskedSide(NamedTuple):
    """Text of one language: input `ids` (b, t), where a prediction is `asked`, `right` ids, and `mask`."""

    ids: Tensor
    asked: Tensor
    right: Tensor
    mask: Tensor
    language: int

    def silent(self) -> MaskedSide:
        """The same text as context only, with nothing to predict."""
        return self._replace(asked=torch.zeros_like(self.asked))


class MaskedBatch(NamedTuple):
    """The inputs, where a prediction is `asked` (b, t), and the right `answers` (p,)."""

    inputs: Inputs
    asked: Tensor
    answers: Tensor


class Hiding(NamedTuple):
    """How pieces are hidden: drawn by `generator`, more often with larger `weights` (v,)."""

    masking: Masking
    weights: Tensor
    generator: torch.Generator


def masked(text: Padded, language: int, hiding: Hiding) -> MaskedSide:
    """The text with pieces hidden: MLM."""
    cloze = hide(text.ids, hiding.masking, hiding.generator, hiding.weights)
    return MaskedSide(cloze.ids, cloze.asked, text.ids, text.mask, language)


def following(text: Padded, language: int) -> MaskedSide:
    """The unchanged text, in which each piece predicts the next one: CLM."""
    cloze = left_to_right(*text)
    return MaskedSide(cloze.ids, cloze.asked, text.ids.roll(-1, dims=1), text.mask, language)


def side_by_side(*sides: MaskedSide) -> MaskedBatch:
    """The masked batch of one side, or of two that attend to each other (TLM); positions restart at 0."""
    device = sides[0].ids.device
    widths = [side.ids.shape[1] for side in sides]
    languages = torch.tensor([side.language for side in sides], device=device)
    asked = torch.cat([side.asked for side in sides], dim=1)
    inputs = Inputs(
        torch.cat([side.ids for side in sides], dim=1),
        torch.cat([side.mask for side in sides], dim=1),
        torch.cat([torch.arange(width, device=device) for width in widths]),
        languages.repeat_interleave(torch.tensor(widths, device=device))[None],
    )
    return MaskedBatch(inputs, asked, torch.cat([side.right for side in sides], dim=1)[asked])
