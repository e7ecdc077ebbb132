"""The network of a lens: the frozen core, and the lens on top of it."""

from __future__ import annotations

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader
from muse.systems.core import Core
from muse.systems.lens.config import LensConfig
from muse.systems.lens.lens import Lens
from muse.systems.network_encoder import SentenceNetwork

_PART = 64  # sentences of similar lengths at once; more than half of a mixed batch would be padding


class LensNetwork(SentenceNetwork):
    """A core, which is not saved, and one lens for all of its languages."""

    def __init__(self, core: Core, config: LensConfig) -> None:
        super().__init__()
        self.core = core
        self.lens = Lens(core.dimension, config)

    @property
    def dimension(self) -> int:
        """The number of columns d' of the lens."""
        return self.lens.dimension

    def reader(self, language: str) -> Reader:
        """The reader of the core."""
        return self.core.reader(language)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences."""
        order = batch.lengths.argsort(stable=True)  # (b,)
        matrices = (self.core.matrices(batch.take(rows), language) for rows in torch.split(order, _PART))
        found = torch.cat([self.lens(*part) for part in matrices])  # (b, d')
        return found[order.argsort()]
