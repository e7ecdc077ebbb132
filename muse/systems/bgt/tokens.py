"""Tokens: how sentences are read, as words of the space with their frozen rows or as word pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from muse.encoders.reading import Limited, Reader, Vocabulary
from muse.encoders.weights import weights_from_rank
from muse.space import AlignedSpace
from muse.systems.networks.token_table import random_rows
from muse.systems.pieces import SPECIALS, Pieces
from muse.text.tokens import Tokeniser

OTHERS = 100  # tokens that the space lacks, signs above all, which get a row of their own
_LOOKED_AT = 2_000  # sentences of a language that tell which


class Tokens(Protocol):
    """What reads sentences into ids, of which the first are those of SPECIALS."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What makes it again, as JSON has it."""

    def reader(self, language: str) -> Reader:
        """What reads sentences of a language, no more than so many tokens of each."""

    def rows(self, language: str) -> Tensor | None:
        """The frozen rows (v, d) of the ids of a language; None where the layers that read them have rows."""


class SpaceWords(Tokens):
    """The words of a space, after the special tokens and the `others`, the same of every language.

    A word has its row of the space times its idf by rank, one of the others a random one: it is read, and
    is like no word.
    """

    def __init__(self, space: AlignedSpace, others: Sequence[str], longest: int) -> None:
        self._space, self._others, self._longest = space, others, longest

    @property
    def settings(self) -> Mapping[str, Any]:
        """The others."""
        return {"others": list(self._others)}

    def reader(self, language: str) -> Reader:
        """What finds the words and, where it has no word for them, the others."""
        names = [*self._others, *self._space.vectors(language).words]
        index = {name: place for place, name in enumerate(names)}
        return Limited(Vocabulary(language, index, first=len(SPECIALS)), self._longest)

    def rows(self, language: str) -> Tensor:
        """The rows (v, d), those of the special tokens and the others the same whenever they are drawn."""
        matrix = self._space.vectors(language).matrix
        n, d = matrix.shape
        weights = weights_from_rank("idf", n)[:n, None]  # (n, 1)
        drawn = random_rows(len(SPECIALS) + len(self._others), d, torch.Generator().manual_seed(0))
        return torch.cat([drawn, torch.from_numpy(matrix * weights)])


class PieceTokens(Tokens):
    """Word pieces, the same of every language."""

    def __init__(self, pieces: Pieces, longest: int) -> None:
        self._pieces, self._longest = pieces, longest

    @property
    def settings(self) -> Mapping[str, Any]:
        """The pieces."""
        return {"pieces": self._pieces.to_json()}

    def reader(self, language: str) -> Reader:
        """The reader of the pieces, cut to the longest sentence."""
        return Limited(self._pieces, self._longest)

    def rows(self, language: str) -> None:
        """None."""
        return


def made_again(settings: Mapping[str, Any], space: AlignedSpace, longest: int) -> Tokens:
    """The tokens of their settings."""
    if "pieces" in settings:
        return PieceTokens(Pieces.from_json(settings["pieces"]), longest)
    return SpaceWords(space, settings["others"], longest)


def lacking(texts: Mapping[str, Sequence[str]], space: AlignedSpace) -> list[str]:
    """The most frequent tokens of texts, in lower case, that are no words of their language in the space."""
    counts = Counter[str]()
    for language, sentences in texts.items():
        known, tokens = space.vectors(language).index, Tokeniser(language).tokens
        seen = sentences[:: max(1, len(sentences) // _LOOKED_AT)]
        found = (token.lower() for sentence in seen for token in tokens(sentence))
        counts.update(token for token in found if token not in known)
    return [token for token, _ in counts.most_common(OTHERS)]
