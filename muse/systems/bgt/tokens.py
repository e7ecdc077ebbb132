"""Tokens: sentences as words of the space with frozen rows, or as word pieces with learned ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from muse.encoders.reading import Limited, Reader, Vocabulary
from muse.encoders.weights import weights_from_rank
from muse.space import AlignedSpace
from muse.systems.networks.token_table import random_rows
from muse.systems.piece_rows import aligned_rows
from muse.systems.pieces import SPECIALS, Pieces
from muse.text.tokens import Tokeniser
from muse.word_index import WordIndex

OTHERS = 100  # frequent tokens that the space lacks, mostly punctuation, which get random rows
SPREAD = 10.0  # the length of a row with which a bag of pieces begins
_SAMPLED = 2_000  # sentences of each language in which they are counted


class Tokens(Protocol):
    """The interface of tokens: sentences to ids, the first of which are those of SPECIALS."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The JSON values that restore the tokens."""

    def reader(self, language: str) -> Reader:
        """The reader of a language, which cuts long sentences."""

    def rows(self, language: str) -> Tensor | None:
        """The frozen rows (v, d) of the ids of a language; None if the network learns its own."""

    @property
    def first_rows(self) -> Tensor | None:
        """The rows (v, d) with which a bag of ids begins, to be learned; None if there is no such bag."""


class SpaceWords(Tokens):
    """The words of a space, after the special tokens and the `others`, which all languages share.

    The row of a word is its row in the space times its idf by rank; the others have random rows.
    """

    def __init__(self, space: AlignedSpace, others: Sequence[str], longest: int) -> None:
        self._space, self._others, self._longest = space, others, longest
        self._readers: dict[str, Reader] = {}

    @property
    def settings(self) -> Mapping[str, Any]:
        """The list of other tokens."""
        return {"others": list(self._others)}

    def reader(self, language: str) -> Reader:
        """The reader of the words of a language and of the other tokens."""
        if language not in self._readers:  # a dictionary of all words
            names = [*self._others, *self._space.vectors(language).words]
            words = Vocabulary(language, WordIndex(names), first=len(SPECIALS))
            self._readers[language] = Limited(words, self._longest)
        return self._readers[language]

    def rows(self, language: str) -> Tensor:
        """The rows (v, d); those of special and other tokens are random but always the same."""
        matrix = self._space.vectors(language).matrix
        n, d = matrix.shape
        weights = weights_from_rank("idf", n)[:n, None]  # (n, 1)
        drawn = random_rows(len(SPECIALS) + len(self._others), d, torch.Generator().manual_seed(0))
        return torch.cat([drawn, torch.from_numpy(matrix * weights).to(drawn.device)])

    @property
    def first_rows(self) -> None:
        """None, since the rows of words are frozen."""
        return


class PieceTokens(Tokens):
    """Word pieces, which all languages share, with `first_rows` (v, d) if sentences are bags of them."""

    def __init__(self, pieces: Pieces, longest: int, first_rows: Tensor | None = None) -> None:
        self.pieces, self._longest, self._first_rows = pieces, longest, first_rows

    @property
    def settings(self) -> Mapping[str, Any]:
        """The pieces as JSON text, and the dimensions of the rows of a bag."""
        bag = {} if self._first_rows is None else {"dimension": self._first_rows.shape[1]}
        return {"pieces": self.pieces.to_json()} | bag

    def reader(self, language: str) -> Reader:
        """The reader of the pieces, cut to the longest sentence."""
        return Limited(self.pieces, self._longest)

    def rows(self, language: str) -> None:
        """None, since the network learns the rows of pieces."""
        return

    @property
    def first_rows(self) -> Tensor | None:
        """The rows (v, d) of a bag; None if layers read the pieces."""
        return self._first_rows


def bag_of_pieces(
    pieces: Pieces, languages: Sequence[str], space: AlignedSpace, longest: int, seed: int
) -> PieceTokens:
    """Pieces whose rows begin as unit-length ones of the space, times SPREAD.

    A sentence must stand out of the noise of its posterior, whose variance begins at 1: with rows of unit
    length the decoders ignore the latents for epochs.
    """
    dimension = space.vectors(space.pivot).dimension
    rows = functional.normalize(aligned_rows(pieces, languages, space, dimension, seed))
    return PieceTokens(pieces, longest, SPREAD * rows)


def restored_tokens(settings: Mapping[str, Any], space: AlignedSpace, longest: int) -> Tokens:
    """The tokens restored from their settings."""
    if "pieces" in settings:
        return restored_pieces(settings, longest)
    return SpaceWords(space, settings["others"], longest)


def restored_pieces(settings: Mapping[str, Any], longest: int) -> PieceTokens:
    """The pieces restored from their settings, with rows of zeros for those of a bag."""
    pieces = Pieces.from_json(settings["pieces"])
    bag = torch.zeros(len(pieces), settings["dimension"]) if "dimension" in settings else None
    return PieceTokens(pieces, longest, bag)


def missing_tokens(texts: Mapping[str, Sequence[str]], space: AlignedSpace) -> list[str]:
    """The most frequent lowercase tokens of texts that the space lacks in their language."""
    counts = Counter[str]()
    for language, sentences in texts.items():
        known, tokens = space.vectors(language).index, Tokeniser(language).tokens
        sample = sentences[:: max(1, len(sentences) // _SAMPLED)]
        found = (token.lower() for sentence in sample for token in tokens(sentence))
        counts.update(token for token in found if token not in known)
    return [token for token, _ in counts.most_common(OTHERS)]
