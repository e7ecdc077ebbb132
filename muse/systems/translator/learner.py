"""The learner: denoising, back-translation while it learns, and translation where there is parallel text.

Lample et al. (2018, Phrase-Based & Neural Unsupervised Machine Translation, section 3), as Conneau (2019,
section 4.3.4) trains a pretrained Transformer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.systems.pieces import BOS, EOS
from muse.systems.translator.generation import generate
from muse.systems.translator.network import TranslatorNetwork
from muse.systems.translator.noise import Noise
from muse.systems.translator.text import Direction, Monolingual, WordByWord
from muse.training.learner import Learner
from muse.training.pairs import Pairs
from muse.training.seeding import generator_of

_AT_ONCE = 50  # held-out sentences
_SORTED = 50  # batches that are sorted by length together


@dataclass(frozen=True, eq=False)
class TrainingText:
    """The text of each language, pairs with the pivot by language, and translations word by word.

    `by_words` has the sentences of the first language of a direction in the second.
    """

    pivot: str
    texts: Mapping[str, Monolingual]
    pairs: Mapping[str, Pairs] = field(default_factory=dict)
    by_words: Mapping[Direction, WordByWord] = field(default_factory=dict)

    @property
    def directions(self) -> list[Direction]:
        """From and to the pivot."""
        others = [language for language in self.texts if language != self.pivot]
        return [way for other in others for way in ((self.pivot, other), (other, self.pivot))]


class TranslatorLearner(Learner):
    """Every step has a batch of each language to restore from noise, and one in each direction to translate.

    What is translated into a language is the model's own translation of that language's text, made with the
    parameters of this step: back-translation. The score is the share of the pieces of held-out text that the
    model predicts from its own translation of them or, with parallel text, from the true one, in percent.
    """

    def __init__(self, network: TranslatorNetwork, text: TrainingText, noise: Noise) -> None:
        super().__init__()
        self.network = network
        self._text, self._noise = text, noise
        self._step = 0

    @property
    def examples(self) -> int:
        """The number of training sentences of the language with the most."""
        return max(len(text.training) for text in self._text.texts.values())

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """Batches of similar lengths: of every 50 batches of the order (n,), sorted, in a random order."""
        found: list[Tensor] = []
        generator = generator_of(order)
        for some in torch.split(order, _SORTED * size):
            batches = torch.split(some.sort().values, size)
            found += [batches[place] for place in torch.randperm(len(batches), generator=generator).tolist()]
        return found

    def begin(self, step: int) -> None:
        """Remembers the step, since the first ones translate word by word."""
        self._step = step

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The weighted sum () of the losses; a language with less text repeats it, at the same lengths."""
        config, total = self.network.config, torch.zeros((), device=rows.device)
        chosen = {
            name: text.training[rows * len(text.training) // self.examples]
            for name, text in self._text.texts.items()
        }
        if config.denoising:
            total = total + config.denoising * self._denoising(chosen, generator)
        if config.back_translation:
            total = total + config.back_translation * self._back_translation(chosen)
        if config.translation and self._text.pairs:
            total = total + config.translation * self._translation(rows, generator)
        return total

    def _denoising(self, chosen: Mapping[str, Tensor], generator: torch.Generator) -> Tensor:
        losses = []
        for language, rows in chosen.items():
            batch = self._text.texts[language].sentences.take(rows)
            noisy = self._noise(batch, generator)
            losses.append(self.network.loss(_framed(noisy), _framed(batch), (language, language)))
        return torch.stack(losses).sum()

    def _back_translation(self, chosen: Mapping[str, Tensor]) -> Tensor:
        losses = []
        for source, target in self._text.directions:
            rows, way = chosen[target], (target, source)
            batch = _framed(self._text.texts[target].sentences.take(rows))
            if self._step <= self.network.config.words and way in self._text.by_words:
                made = _framed(self._text.by_words[way].take(rows))
            else:
                made = self._translated(batch, way)
            losses.append(self.network.loss(made, batch, (source, target)))
        return torch.stack(losses).sum()

    def _translation(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        losses = []
        for language, pairs in self._text.pairs.items():
            places = torch.randint(len(pairs.training), rows.shape, generator=generator, device=rows.device)
            for source, target, way in _both_ways(pairs, pairs.training[places], self._text.pivot, language):
                losses.append(self.network.loss(source, target, way))
        return torch.stack(losses).sum()

    def _translated(self, batch: Ragged, direction: Direction) -> Ragged:
        """The model's own translations of a batch, without dropout."""
        training = self.network.training
        self.network.eval()
        made = generate(self.network, batch, direction)
        self.network.train(training)
        return made

    def score(self) -> float:
        """The percentage of the held-out pieces that are predicted."""
        hits, count = self.predicted()
        return 100 * hits / count

    @torch.no_grad()
    def predicted(self) -> tuple[int, int]:
        """The numbers of held-out pieces that are predicted, and of all."""
        self.network.eval()
        hits = count = 0
        for source, target, direction in self._held_out():
            scores, answers = self.network.predictions(source, target, direction)
            hits += int((scores.argmax(dim=1) == answers).sum())
            count += len(answers)
        return hits, count

    def _held_out(self) -> Iterator[tuple[Ragged, Ragged, Direction]]:
        for language, pairs in self._text.pairs.items():
            for rows in torch.split(pairs.held_out, _AT_ONCE):
                yield from _both_ways(pairs, rows, self._text.pivot, language)
        if self._text.pairs:
            return
        for source, target in self._text.directions:
            text = self._text.texts[target]
            for rows in torch.split(text.held_out, _AT_ONCE):
                batch = _framed(text.sentences.take(rows))
                yield self._translated(batch, (target, source)), batch, (source, target)


def _framed(sentences: Ragged) -> Ragged:
    return sentences.framed(BOS, EOS)


def _both_ways(
    pairs: Pairs, rows: Tensor, pivot: str, language: str
) -> Iterator[tuple[Ragged, Ragged, Direction]]:
    """The pairs with these indices (b,) as source and target, in both directions."""
    ours, theirs = pairs.pivot.take(rows), pairs.other.take(rows)
    yield ours, theirs, (pivot, language)
    yield theirs, ours, (language, pivot)
