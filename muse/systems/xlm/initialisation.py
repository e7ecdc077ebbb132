"""Initialisation: the model before training, its table from the aligned space or at random."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from muse.space import AlignedSpace
from muse.systems.networks.masked_prediction import rarity
from muse.systems.networks.token_table import random_rows
from muse.systems.piece_rows import aligned_rows
from muse.systems.pieces import Pieces
from muse.systems.xlm.config import XlmConfig
from muse.systems.xlm.network import XlmModel, XlmNetwork
from muse.training.seeding import generator_for


def untrained_network(
    config: XlmConfig, pieces: Pieces, counts: Mapping[str, Tensor], space: AlignedSpace | None, seed: int
) -> XlmNetwork:
    """The network before training, with the bias of every piece set by how often it is masked.

    `counts` (v,) are the counts of the pieces in the text of each language; `space` gives aligned rows.
    """
    generator, languages = generator_for(seed, 0), tuple(counts)
    if config.initial == "random" or space is None:
        rows = random_rows(len(pieces), config.hidden, generator)
    else:
        rows = aligned_rows(pieces, languages, space, config.hidden, seed)
    model = XlmModel(config, rows, len(languages), generator)
    total = torch.stack(list(counts.values())).sum(dim=0)  # (v,)
    with torch.no_grad():
        asked = total if config.causal else total * rarity(total)
        model.bias.copy_(asked.clamp(min=1).log())
    return XlmNetwork(config, pieces, languages, model)
