"""Learning: hidden words predicted from a neighbour's vector, alone or with retrieval of translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from muse.run.runtime import Runtime
from muse.systems.cmlm.neighbours import Documents, NeighbourPairs, Parted, find_neighbours
from muse.systems.cmlm.network import Cmlm, CmlmEncoder
from muse.systems.networks.masked_prediction import Masking, Predicted, hide, predicted, prediction_loss
from muse.systems.pieces import MASK
from muse.training.learner import Learner
from muse.training.seeding import generator_for
from muse.training.two_sides import PairLearner

CONDITIONS = ("true", "shuffled", "none")  # the neighbour that held-out words are predicted from
HELD_OUT = 1_000  # pairs of neighbours of a language, at most, that an epoch is scored on
_ROWS = 64  # held-out pairs predicted at once: their scores of all words are large


@dataclass(frozen=True, eq=False)
class NeighbourCorpus:
    """Neighbours of each language, to learn from and held out."""

    training: Mapping[str, NeighbourPairs]
    held_out: Mapping[str, NeighbourPairs]

    def counts(self, words: int) -> Tensor:
        """How often each of so many words (v,) is in what is learned from."""
        ids = torch.cat([text.passages.ids for text in self.training.values()])
        return torch.bincount(ids, minlength=words)


def read_corpus(texts: Mapping[str, Parted], encoder: CmlmEncoder, runtime: Runtime) -> NeighbourCorpus:
    """The neighbours in the documents of each language, as the encoder reads them."""

    def read(name: str, documents: Documents) -> NeighbourPairs:
        words, longest = encoder.words.readers[name], encoder.longest
        return find_neighbours(documents, words, longest, runtime.device, runtime.progress)

    return NeighbourCorpus(
        {name: read(name, text.training) for name, text in texts.items()},
        {name: read(name, text.held_out) for name, text in texts.items()},
    )


class CmlmLearner(Learner):
    """Learns to predict the hidden words of passages from their neighbours: L_CMLM."""

    def __init__(self, model: Cmlm, corpus: NeighbourCorpus, share: float) -> None:
        super().__init__()
        self.model = model
        self._corpus, self._share = corpus, share
        ends = torch.tensor([len(text) for text in corpus.training.values()]).cumsum(0)
        self._ends = ends  # (languages,): of each the number of its first pair is the end of the one before
        self._languages = list(corpus.training)

    @property
    def examples(self) -> int:
        """The pairs of neighbours of all languages."""
        return int(self._ends[-1])

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """Batches of one language each, those of every language spread over the whole epoch."""
        language = self._language(order)  # (n,)
        placed: list[tuple[float, Tensor]] = []
        for number in range(len(self._languages)):
            parts = torch.split(order[language == number], size)
            placed += [((place + 0.5) / len(parts), part) for place, part in enumerate(parts) if len(part)]
        return [part for _, part in sorted(placed, key=lambda one: one[0])]

    def most_batches(self, examples: int, size: int) -> int:
        """One more for each language but one, whose last batch may not be full."""
        return super().most_batches(examples, size) + len(self._languages) - 1

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The mean cross-entropy () of words hidden in pairs (b,) of one language, half of them swapped."""
        number = int(self._language(rows[:1].cpu()))
        name = self._languages[number]
        text = self._corpus.training[name]
        pairs = text.pairs[rows - (int(self._ends[number]) - len(text))]  # (b, 2)
        swapped = torch.rand(len(rows), generator=generator, device=rows.device) < 0.5
        pairs = torch.where(swapped[:, None], pairs.flip(1), pairs)
        read = text.passages.take(pairs[:, 1]).padded()
        asked = self.model.encoder.words.asked[name]
        cloze = hide(read.ids, _masking(asked, self._share), generator)
        neighbours = text.passages.take(pairs[:, 0]).padded()
        scores = self.model(cloze, read.mask, neighbours, asked)  # (p, a)
        return prediction_loss(scores, cloze.answers - asked.start)

    def score(self) -> float:
        """The hidden words of held-out documents that come first, in percent."""
        return self.predictions().accuracy

    def hits(self) -> int:
        """The hidden words of held-out documents that come first."""
        return self.predictions().first

    def predictions(self) -> Predicted:
        """How the words of the first held-out pairs are predicted from their true neighbours."""
        texts = self._corpus.held_out.items()
        return sum(
            (
                predict(self.model, text, name, "true", share=self._share, most=HELD_OUT)
                for name, text in texts
            ),
            start=Predicted(),
        )

    def _language(self, rows: Tensor) -> Tensor:
        return torch.bucketize(rows, self._ends, right=True)


class Cotrained(Learner):
    """L_CMLM + alpha L_br, on as many translations a step as neighbours (section 4.2)."""

    def __init__(self, words: CmlmLearner, bitext: PairLearner, alpha: float) -> None:
        super().__init__()
        self.words, self.bitext = words, bitext
        self._alpha = alpha

    @property
    def examples(self) -> int:
        """The pairs of neighbours."""
        return self.words.examples

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """Those of the neighbours."""
        return self.words.batches(order, size)

    def most_batches(self, examples: int, size: int) -> int:
        """That of the neighbours."""
        return self.words.most_batches(examples, size)

    def check_batch(self, size: int) -> None:
        """Raises BadSetting where it is too small for translations, of which a step has as many."""
        self.bitext.check_batch(size)

    def fewest(self, processes: int) -> int:
        """That of the translations, of which a step has as many."""
        return self.bitext.fewest(processes)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The sum () for neighbours (b,) and for translations drawn from all, as many."""
        drawn = torch.randint(self.bitext.examples, rows.shape, generator=generator, device=rows.device)
        return self.words.loss(rows, generator) + self._alpha * self.bitext.loss(drawn, generator)

    def score(self) -> float:
        """P@1 of held-out translations."""
        return self.bitext.score()

    def hits(self) -> int:
        """The held-out translations found at rank 1."""
        return self.bitext.hits()


def predict(
    model: Cmlm, text: NeighbourPairs, language: str, condition: str, *, share: float, most: int | None = None
) -> Predicted:
    """How the hidden words of the second of each pair are predicted, of the first `most` pairs or of all.

    The neighbour is the `true` one, that of a pair half the text away (`shuffled`), or `none`. The words
    hidden are the same at every call.
    """
    return sum(predict_parts(model, text, language, condition, share=share, most=most), start=Predicted())


@torch.no_grad()
def predict_parts(
    model: Cmlm, text: NeighbourPairs, language: str, condition: str, *, share: float, most: int | None = None
) -> list[Predicted]:
    """The same of parts of the pairs, which hold the same words whatever the condition: to be compared."""
    pairs = text.pairs[:most]
    first = pairs[:, 0].roll(len(pairs) // 2) if condition == "shuffled" else pairs[:, 0]
    order = text.passages.lengths[pairs[:, 1]].argsort(stable=True)  # similar lengths together
    asked = model.encoder.words.asked[language]
    generator = generator_for(0, device=pairs.device.type)
    model.eval()
    parts = []
    for rows in torch.split(order, _ROWS):
        read = text.passages.take(pairs[rows, 1]).padded()
        cloze = hide(read.ids, _masking(asked, share), generator)
        neighbours = None if condition == "none" else text.passages.take(first[rows]).padded()
        scores = model(cloze, read.mask, neighbours, asked)
        parts.append(predicted(scores, cloze.answers - asked.start))
    return parts


def _masking(asked: range, share: float) -> Masking:
    """Words of one language alone are hidden and put in, and of these the ones that may be asked for."""
    return Masking(vocabulary=asked.stop, mask=MASK, specials=asked.start, share=share)
