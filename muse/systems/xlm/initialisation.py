"""Initialisation: the model before training, its table from the aligned space or at random."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from muse.space import AlignedSpace
from muse.space.lookup_table import lookup_table
from muse.systems.networks.masked_prediction import rarity
from muse.systems.networks.token_table import initial_deviation, random_rows
from muse.systems.pieces import SPECIALS, Pieces
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


def aligned_rows(
    pieces: Pieces, languages: tuple[str, ...], space: AlignedSpace, hidden: int, seed: int
) -> Tensor:
    """The rows (v, h) of pieces, from the words that they are or are part of, as in `muse export`.

    More than h dimensions are reduced to the h principal ones; fewer are padded with zeros. The rows are
    scaled to the spread of random rows.
    """
    sides = [space.vectors(language) for language in languages]
    rng = np.random.default_rng(seed)
    found = lookup_table(sides, pieces.tokens, specials=SPECIALS, fallback="mean", rng=rng)
    rows = principal(torch.from_numpy(found.weight), hidden)
    return rows * (initial_deviation(hidden) / rows.square().mean().sqrt())


def principal(rows: Tensor, hidden: int) -> Tensor:
    """The rows (v, h) whose inner products best match those of rows (v, d) (Eckart and Young, 1936)."""
    d = rows.shape[1]
    if d <= hidden:
        return functional.pad(rows, (0, hidden - d))
    directions: Tensor = torch.linalg.eigh(rows.T @ rows).eigenvectors  # (d, d), of rising eigenvalues
    return rows @ directions[:, d - hidden :].flip(1)
