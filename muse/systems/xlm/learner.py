"""The learner: batches of streams in a sampled language, alternating with batches of pairs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from muse.systems.networks.masked_prediction import Predicted
from muse.systems.sampling import BATCH_EXPONENT, draw_languages, language_shares
from muse.systems.xlm.network import XlmModel
from muse.systems.xlm.sources import TextSource
from muse.training.learner import Learner
from muse.training.seeding import generator_for, generator_of


class XlmLearner(Learner):
    """Trains a model with CLM, with MLM, or with MLM and TLM in turn.

    Its examples are those of the stream sources, followed by those of the pair sources. It is scored on the
    `judged` sources, by default the streams of all languages.
    """

    def __init__(
        self,
        model: XlmModel,
        streams: Sequence[TextSource],
        pairs: Sequence[TextSource] = (),
        judged: Sequence[str] = (),
        exponent: float = BATCH_EXPONENT,
    ) -> None:
        super().__init__()
        self.model = model
        self._judged = judged or [source.name for source in streams]
        self._reported = judged or [source.name for source in (*streams, *pairs)]
        self._kinds = [kind for kind in (streams, pairs) if kind]
        self._sources, self._exponent = [*streams, *pairs], exponent
        self._begins = [0, *accumulate(source.examples for source in self._sources)]

    @property
    def examples(self) -> int:
        """The number of streams and pairs."""
        return self._begins[-1]

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """One batch for every `size` examples of the order (n,): streams, alternating with pairs if any.

        Each batch is from one source, sampled by its share p^a / sum p^a of the examples of its kind.
        """
        generator = generator_of(order)
        count = max(1, len(order) // size)
        drawn = [self._drawn(kind, count, generator) for kind in self._kinds]
        endless = {source.name: source.batches(size, generator) for source in self._sources}
        begins = {source.name: begin for source, begin in zip(self._sources, self._begins, strict=False)}
        names = [drawn[turn % len(drawn)][turn] for turn in range(count)]
        return [begins[name] + next(endless[name]) for name in names]

    def _drawn(self, sources: Sequence[TextSource], count: int, generator: torch.Generator) -> list[str]:
        sizes = {source.name: source.examples for source in sources}
        return draw_languages(language_shares(sizes, self._exponent), count, generator)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of a batch (b,) of one source."""
        place = bisect_right(self._begins, int(rows[0])) - 1
        batch = self._sources[place].masked_batch(rows - self._begins[place], generator)
        return self.model.loss(batch)

    def score(self) -> float:
        """100 / the mean perplexity of held-out pieces over all judged sources."""
        found = self._predicted(self._judged).values()
        return 100 * len(found) / sum(part.perplexity for part in found)

    def predictions(self) -> dict[str, Predicted]:
        """How well held-out pieces of each source are predicted, or of the judged ones if they were named.

        The mask is the same every time.
        """
        return self._predicted(self._reported)

    def _predicted(self, names: Sequence[str]) -> dict[str, Predicted]:
        self.model.eval()
        device, found = str(self.model.bias.device), {}
        for number, source in enumerate(self._sources):
            if source.name not in names:
                continue
            batches = source.held_out(generator_for(0, number, device=device))
            found[source.name] = sum(map(self.model.predict, batches), Predicted())
        return found
