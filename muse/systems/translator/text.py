"""Text: the sentences of each language as pieces, and the word-by-word translations to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.errors import Mismatch
from muse.files.sentence_text import read_sentences
from muse.space import AlignedSpace
from muse.systems.core import Core
from muse.systems.guessed_language import warn_of_another_language
from muse.systems.pieces import Pieces
from muse.systems.system import TrainingRequest
from muse.text.kneser_ney import learn_language_model
from muse.text.tokens import Tokeniser
from muse.training.hold_out import hold_out
from muse.translate import Translator

FEWEST = 20  # the smallest number of sentences of a language
_FIRST = 100  # sentences that are translated word by word before training

Direction = tuple[str, str]  # from, to


@dataclass(frozen=True, eq=False)
class Monolingual:
    """The sentences of one language, and the indices of the training (n,) and the held-out ones.

    The training ones stand in the order of their lengths. `left_out` sentences were too long.
    """

    sentences: Ragged
    training: Tensor
    held_out: Tensor
    left_out: int


def read_texts(request: TrainingRequest, core: Core) -> dict[str, list[str]]:
    """The different sentences of each language; warns of a text that seems to be in another language."""
    found = {}
    for language, path in request.texts.items():
        text = list(dict.fromkeys(line for line in read_sentences(path) if line.strip()))
        if len(text) < FEWEST:
            raise Mismatch(
                f"{path}: training needs at least {FEWEST} different sentences of {language}, got "
                f"{len(text)}; give more text"
            )
        found[language] = text
        warn_of_another_language(text, language, path, core, request.space)
    return found


def monolingual(
    language: str, text: Sequence[str], pieces: Pieces, longest: int, generator: torch.Generator
) -> Monolingual:
    """The sentences of a language of at most `longest` pieces, some drawn at random and held out.

    The training sentences are sorted by length, those of one length in a random order.
    """
    encoded = [ids for ids in pieces.encode(text) if 0 < len(ids) <= longest]
    if len(encoded) < FEWEST:
        raise Mismatch(
            f"training needs at least {FEWEST} sentences of {language} with at most {longest} pieces, got "
            f"{len(encoded)} of {len(text)}; give shorter sentences, or --set longest=N"
        )
    sentences, (training, held_out) = Ragged.of(encoded), hold_out(len(encoded), generator)
    by_length = training[sentences.lengths[training].argsort(stable=True)]
    return Monolingual(sentences, by_length, held_out, len(text) - len(encoded))


class WordByWord:
    """The sentences of the first language of a direction, translated word by word into the second.

    A language model of the second language's text chooses between the translations of a word. A sentence
    is translated when it is first needed.
    """

    def __init__(
        self,
        texts: Mapping[str, Monolingual],
        direction: Direction,
        pieces: Pieces,
        space: AlignedSpace,
        longest: int,
    ) -> None:
        source, target = direction
        tokeniser = Tokeniser(target)
        spoken = [
            [token.lower() for token in tokeniser.tokens(line)] for line in _lines(texts[target], pieces)
        ]
        model = learn_language_model(spoken)
        self._translator = Translator(space, source=source, target=target, model=model)
        self._own, self._pieces, self._longest = _parts(texts[source]), pieces, longest
        self._made: dict[int, list[int]] = {}
        self.take(torch.arange(min(_FIRST, len(self._own))))  # a text in another script is refused here

    def take(self, rows: Tensor) -> Ragged:
        """The translations of the sentences with these indices (b,), as pieces; none is empty."""
        chosen = rows.tolist()
        missing = [row for row in dict.fromkeys(chosen) if row not in self._made]
        lines = self._translator.translate([self._pieces.decode(self._own[row]) for row in missing])
        for row, ids in zip(missing, self._pieces.encode(lines), strict=True):
            self._made[row] = ids[: self._longest] or self._own[row]
        return Ragged.of([self._made[row] for row in chosen]).to(str(rows.device))


def _lines(text: Monolingual, pieces: Pieces) -> list[str]:
    return [pieces.decode(ids) for ids in _parts(text)]


def _parts(text: Monolingual) -> list[list[int]]:
    ids = text.sentences
    return [part.tolist() for part in torch.split(ids.ids, ids.lengths.tolist())]
