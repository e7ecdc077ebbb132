"""A sequence-to-sequence model that two languages share, trained from two texts that translate nothing.

One lookup table, one encoder (bidirectional GRU), one decoder (GRU with attention), as in Lample et al.
(2018, Phrase-Based & Neural Unsupervised Machine Translation): every step de-noises a batch of each
language and translates a batch of each back, from a translation the model has just made itself.
Letters: b sentences, t positions, d dimensions, h hidden units, v words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

PAD, UNK, END = 0, 1, 2
Sentence = Sequence[int]
IGNORED = -100  # the target of a position that is padding, for cross_entropy


@dataclass(frozen=True)
class Recipe:
    """The size of the model and of a run; the same whatever the table began with."""

    hidden: int = 256
    batch: int = 32
    steps: int = 400
    warm_up: int = 150  # steps of de-noising alone, before there is anything to translate with
    rate: float = 1e-3
    table_rate: float = 1e-4  # the table has what the run is about: it moves slowly
    drop: float = 0.1
    blank: float = 0.1
    window: int = 3  # how far noise moves a word


class Translator(nn.Module):
    """The model; `starts` has the token that begins a sentence of each language, `outputs` its words."""

    def __init__(
        self, table: Tensor, starts: Mapping[str, int], outputs: Mapping[str, Tensor], hidden: int
    ) -> None:
        super().__init__()
        d = table.shape[1]
        self.starts, self.outputs = starts, outputs
        self.table = nn.Embedding(len(table), d, padding_idx=PAD, _weight=table.clone())
        self.encoder = nn.GRU(d, hidden // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(d, hidden, batch_first=True)
        self.bridge = nn.Linear(hidden, hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(2 * hidden + d, d)
        self.dropout = nn.Dropout(0.1)

    def look_up(self, ids: Tensor) -> Tensor:
        """The rows of ids (b, t), brought to a variance of about one: (b, t, d)."""
        rows: Tensor = self.table(ids)
        return rows * math.sqrt(self.table.embedding_dim)

    def encode(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The states (b, t, h), the rows (b, t, d) and the padding (b, t) of sentences (b, t)."""
        rows = self.dropout(self.look_up(ids))
        return self.encoder(rows)[0], rows, ids == PAD

    def begin(self, memory: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """The decoder's first state (1, b, h): the mean of what was encoded."""
        states, _, padding = memory
        kept = (~padding).unsqueeze(2).float()
        return torch.tanh(self.bridge((states * kept).sum(1) / kept.sum(1)))[None]

    def decode(
        self, memory: tuple[Tensor, Tensor, Tensor], ids: Tensor, state: Tensor, language: str
    ) -> tuple[Tensor, Tensor]:
        """The logits (b, t, v) of the words that follow ids (b, t) in `language`, and the state after."""
        states, rows, padding = memory
        after, state = self.decoder(self.dropout(self.look_up(ids)), state)  # (b, t, h)
        weights = self.query(after) @ states.transpose(1, 2)  # (b, t, s)
        weights = weights.masked_fill(padding[:, None], -1e9).softmax(2)
        # The rows themselves are attended to as well: what the table knows need not pass the encoder.
        seen = torch.cat([after, weights @ states, weights @ rows], 2)
        guess = self.dropout(self.out(seen))  # (b, t, d)
        return guess @ self.table.weight[self.outputs[language]].T, state

    def loss(self, source: Tensor, target: Tensor, language: str) -> Tensor:
        """The cross-entropy of sentences (b, t) of `language`, given what they are to be made from."""
        memory = self.encode(source)
        start = target.new_full((len(target), 1), self.starts[language])  # (b, 1)
        logits, _ = self.decode(memory, torch.cat([start, target[:, :-1]], 1), self.begin(memory), language)
        places = torch.searchsorted(self.outputs[language], target)
        places[target == PAD] = IGNORED
        return nn.functional.cross_entropy(logits.flatten(0, 1), places.flatten(), ignore_index=IGNORED)

    @torch.no_grad()
    def translate(self, source: Tensor, language: str, longest: int) -> list[list[int]]:
        """The greedy translations of sentences (b, t) into `language`, without the end token."""
        training = self.training
        self.eval()
        memory = self.encode(source)
        state, last = self.begin(memory), source.new_full((len(source), 1), self.starts[language])
        found = []
        for _ in range(longest):
            logits, state = self.decode(memory, last, state, language)
            last = self.outputs[language][logits.argmax(2)]  # (b, 1)
            found.append(last)
        self.train(training)
        return [row[: row.index(END)] if END in row else row for row in torch.cat(found, 1).tolist()]


def padded(sentences: Sequence[Sentence]) -> Tensor:
    """Sentences as ids (b, t), each with its end token."""
    longest = max(map(len, sentences)) + 1
    return torch.tensor([[*s, END, *[PAD] * (longest - len(s) - 1)] for s in sentences])


def noisy(sentence: Sentence, recipe: Recipe, rng: np.random.Generator) -> list[int]:
    """The sentence with words dropped, blanked out and moved by a few places."""
    kept = [word for word in sentence if rng.random() >= recipe.drop] or [sentence[0]]
    order = np.argsort(np.arange(len(kept)) + rng.uniform(0, recipe.window, len(kept)))
    return [UNK if rng.random() < recipe.blank else kept[place] for place in order]


def train(
    model: Translator,
    texts: Mapping[str, Sequence[Sentence]],
    recipe: Recipe,
    rng: np.random.Generator,
    after: Callable[[int], None],
) -> None:
    """Trains on two texts by language; `after` is called with the number of steps done."""
    others = [p for name, p in model.named_parameters() if name != "table.weight"]
    optimiser = torch.optim.Adam(others, lr=recipe.rate)
    optimiser.add_param_group({"params": [model.table.weight], "lr": recipe.table_rate})
    model.train()
    for step in range(1, recipe.steps + 1):
        optimiser.zero_grad()
        for language, text in texts.items():
            _denoise(model, language, _draw(text, recipe, rng), recipe, rng)
            if step > recipe.warm_up:
                other = next(name for name in texts if name != language)
                _translate_back(model, language, other, _draw(text, recipe, rng))
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        after(step)


def _draw(text: Sequence[Sentence], recipe: Recipe, rng: np.random.Generator) -> list[Sentence]:
    return [text[place] for place in rng.integers(len(text), size=recipe.batch)]


def _denoise(
    model: Translator, language: str, batch: Sequence[Sentence], recipe: Recipe, rng: np.random.Generator
) -> None:
    source = padded([noisy(sentence, recipe, rng) for sentence in batch])
    model.loss(source, padded(batch), language).backward()  # type: ignore[no-untyped-call]


def _translate_back(model: Translator, language: str, other: str, batch: Sequence[Sentence]) -> None:
    target = padded(batch)
    made = model.translate(target, other, target.shape[1])
    # An empty translation still has its end token to be made from.
    model.loss(padded(made), target, language).backward()  # type: ignore[no-untyped-call]
