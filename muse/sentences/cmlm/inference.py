"""Inference: fine-tuning on premises and hypotheses in different languages (section 4.3).

The paper has its premises translated by machine; here each word becomes its nearest one in the space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import Mismatch
from muse.files.nli import LABELS, Inference
from muse.neighbours import nearest
from muse.networks.batching import Ragged
from muse.networks.pair_features import pair_features
from muse.networks.transformer import draw_
from muse.progress import Progress
from muse.sentences.bags import Bags
from muse.sentences.cmlm.network import CmlmEncoder
from muse.sentences.pairs import read_bags
from muse.sentences.trainer import Learner
from muse.space import AlignedSpace
from muse.tokens import Tokeniser

_ROWS = 512  # held-out pairs encoded at once


@dataclass(frozen=True, eq=False)
class Inferences:
    """Premises and hypotheses as ids, their `labels` (n,), and the rows (p,) that train and are held out."""

    premises: Ragged
    hypotheses: Ragged
    labels: Tensor
    training: Tensor
    held_out: Tensor


class InferenceLearner(Learner):
    """Moves the encoder so that a classifier of its rows tells what follows from what."""

    def __init__(self, encoder: CmlmEncoder, pairs: Inferences, generator: torch.Generator) -> None:
        super().__init__()
        self.encoder = encoder
        self.classifier = nn.Linear(4 * encoder.dimension, len(LABELS))
        draw_(self.classifier, generator)
        self.pairs = pairs

    @property
    def examples(self) -> int:
        """The pairs to train on."""
        return len(self.pairs.training)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The cross-entropy () of the labels of pairs (b,)."""
        chosen = self.pairs.training[rows]
        return functional.cross_entropy(self._scores(chosen, generator), self.pairs.labels[chosen])

    @torch.no_grad()
    def score(self) -> float:
        """The accuracy on held-out pairs, in percent."""
        held_out = self.pairs.held_out
        told = torch.cat([self._scores(part).argmax(dim=1) for part in torch.split(held_out, _ROWS)])
        return 100 * float((told == self.pairs.labels[held_out]).float().mean())

    def _scores(self, rows: Tensor, generator: torch.Generator | None = None) -> Tensor:
        u, v = (
            self.encoder.rows(side.padded(rows), generator)
            for side in (self.pairs.premises, self.pairs.hypotheses)
        )
        scores: Tensor = self.classifier(pair_features(u, v))  # (b, labels)
        return scores


def inferences(
    text: Inference, space: AlignedSpace, languages: tuple[str, str], encoder: CmlmEncoder, progress: Progress
) -> Inferences:
    """Each pair of the pivot twice: with its premise in the other language, and with its hypothesis.

    Mismatch where the text has no pairs with known words to train on, or none to hold out.
    """
    premises, hypotheses = (list(side) for side in (text.premises, text.hypotheses))
    translated = [glossed(side, space, languages) for side in (premises, hypotheses)]
    readers = [encoder.reader(language) for language in languages]
    # The first half has the pivot's premises, the second its hypotheses.
    sides = [(premises, translated[0]), (translated[1], hypotheses)]
    orders = [readers, readers[::-1]]
    ragged = [
        _joined([read_bags(part, reader, progress) for part, reader in zip(side, order, strict=True)])
        for side, order in zip(sides, orders, strict=True)
    ]
    known = torch.stack([side.lengths > 0 for side in ragged]).all(dim=0)  # (n,)
    parts = {
        name: torch.tensor([part == name for part in text.parts] * 2) & known for name in ("train", "dev")
    }
    for name, chosen in parts.items():
        if not chosen.any():
            raise Mismatch(
                f"inference needs pairs of its {name} part with words that are known, got none of "
                f"{len(premises)} pairs; give more of them"
            )
    device = next(encoder.parameters()).device
    labels = torch.tensor(text.labels * 2, device=device)
    premise, hypothesis = (Ragged(side.ids.to(device), side.offsets.to(device)) for side in ragged)
    rows = [parts[name].nonzero()[:, 0].to(device) for name in ("train", "dev")]
    return Inferences(premise, hypothesis, labels, *rows)


def glossed(sentences: Sequence[str], space: AlignedSpace, languages: tuple[str, str]) -> list[str]:
    """The sentences of the first language, word for word in the second; unknown words stay."""
    first, second = (space.vectors(language) for language in languages)
    tokens = [[t.lower() for t in Tokeniser(languages[0]).tokens(sentence)] for sentence in sentences]
    words = sorted({token for line in tokens for token in line} & first.index.keys())
    if not words:
        return [" ".join(line) for line in tokens]
    rows = [torch.tensor(matrix) for matrix in (first.matrix[[first.index[w] for w in words]], second.matrix)]
    found = nearest(rows[0], rows[1], 1).indices[:, 0].tolist()
    gloss = {word: second.words[place] for word, place in zip(words, found, strict=True)}
    return [" ".join(gloss.get(token, token) for token in line) for line in tokens]


def _joined(bags: Sequence[Bags]) -> Ragged:
    lengths = torch.cat([torch.from_numpy(part.lengths) for part in bags])
    offsets = functional.pad(lengths.cumsum(0), (1, 0))
    return Ragged(torch.cat([torch.from_numpy(part.ids) for part in bags]), offsets)
