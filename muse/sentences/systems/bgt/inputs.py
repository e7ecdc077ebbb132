"""Inputs of BGT: its settings and its tokens, words of the space (rows frozen) or pieces (rows learned)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from muse.errors import BadSetting
from muse.sentences.encoders.reading import Limited, Reader, Vocabulary
from muse.sentences.encoders.words import weights_from_rank
from muse.sentences.systems.networks.transformer import TransformerConfig, random_rows
from muse.sentences.systems.pieces import SPECIALS, Pieces, aligned_rows
from muse.sentences.training.checks import beside, check_choices, check_fractions, check_least
from muse.space import Space
from muse.text.tokens import Tokeniser
from muse.vectors import WordIndex

CHOICES = {
    "sides": ("steps", "pairs"), "read_from": ("both", "pivot"), "translates": ("mean", "sample"),
    "bag": ("words", "pieces"),
}  # fmt: skip
# What makes a writer of the small preset: layers, and latents as wide as these are.
OF_WRITERS = "--rate 0.001 --set encoder_layers=1 --set decoder_layers=1 --set language=256"
_FEWEST = {
    "semantic": 1, "language": 0, "encoder_layers": 0, "decoder_layers": 0, "longest": 1, "annealing": 1,
    "counted": 0, "shortest": 0, "tokens": 0, "vocabulary": len(SPECIALS) + 1,
}  # fmt: skip
OTHERS = 100  # frequent tokens that the space lacks, mostly punctuation, which get random rows
SPREAD = 10.0  # the length of the initial rows of a bag of pieces
_SAMPLED = 2_000  # sentences of each language in which they are counted


@dataclass(frozen=True)
class BgtConfig:
    """The sizes, where 0 removes a part, and the terms of the loss.

    `semantic` and `language` are the dimensions of the latents. Encoder layers read word pieces; without
    layers, a sentence is a `bag`: the mean of its words' frozen rows in the space, or of rows of word pieces,
    which are initialised by the space and learned; the language encoders also read its `features`, its length
    and its counts of the first `counted` tokens; without them they read what the semantic one reads, as in
    the paper. Without `punctuation` the meaning of a bag comes from its other pieces, and
    punctuation is left to the language encoders. Without decoder layers, each token and the number of tokens
    are predicted from the latents alone. `hidden`, `heads`, `feed_forward` and `dropout` describe the layers.
    The first `vocabulary` tokens are predicted, and all others as <unk>.

    `prior` is the weight of the divergence after `annealing` steps, `translation` the weight of the
    translation loss, `smoothing` its label smoothing. `reconstruction` is the weight of the evidence lower
    bound; without it the translation loss alone is left, the paper's BilingualTrans, and there are no
    language latents.

    The semantic latent is inferred from one side of a pair: `sides` says whether it alternates between steps
    or is drawn for every pair. With `tokens` above 0 a batch has pairs of similar length and at most that
    many tokens a side, padding included. With `shortest` above 0, pairs with a side of fewer tokens, or of
    more than `longest`, are left out; otherwise long sentences are cut.

    The semantic latent is inferred from sentences of both languages or, if `read_from` is pivot, from the
    pivot alone: only its sentences are reconstructed and translated. These are the paper's monolingual
    baselines, which have no language latents: EnglishAE with neither translation nor prior, EnglishVAE with
    the prior, EnglishTrans with the translation alone.

    A sentence is translated from the mean of the semantic posterior or, if `translates` is sample, from a
    sample. The translation loss is then a bound of its own, and includes the divergence of that posterior,
    with the same weight: without reconstruction it is the paper's BGT without language variables, "similar to
    BilingualTrans, but it includes a prior over the embedding space".
    """

    semantic: int = 256
    language: int = 32
    vocabulary: int = 4_000
    encoder_layers: int = 0
    decoder_layers: int = 0
    hidden: int = 256
    heads: int = 8
    feed_forward: int = 256
    dropout: float = 0.0
    longest: int = 100
    prior: float = 1.0
    annealing: int = 10_000
    translation: float = 1.0
    smoothing: float = 0.1
    counted: int = 200
    reconstruction: float = 1.0
    sides: str = "steps"
    tokens: int = 0
    shortest: int = 0
    read_from: str = "both"
    translates: str = "mean"
    bag: str = "words"
    punctuation: bool = True
    features: bool = True

    def __post_init__(self) -> None:
        for name, least in _FEWEST.items():
            check_least(self, least, name)
        for name in ("prior", "translation", "reconstruction"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise BadSetting(f"the weight {name} must be 0 or more, got {getattr(self, name):g}")
        check_choices(self, **CHOICES)
        check_fractions(self, "smoothing")
        if self.decoder_layers and {self.semantic, self.own} - {0, self.hidden}:
            raise BadSetting(
                "with decoder layers, semantic and language must be 0 or equal to hidden, "
                f"{self.hidden}, got {self.semantic} and {self.own}"
            )
        self.transformer(max(1, self.encoder_layers))
        self._check_terms()

    def _check_terms(self) -> None:
        """Raise BadSetting for terms of the loss that do not go together."""
        if not (self.translation or self.reconstruction):
            raise BadSetting("one of translation and reconstruction must be above 0, got 0 for both")
        if self.translates == "sample" and not self.translation:
            raise BadSetting("translates=sample needs a translation above 0, got 0; leave it out")
        if self.read_from == "pivot" and self.own:
            raise BadSetting(
                "with read_from=pivot no second language separates a language latent from the semantic one, "
                f"so language must be 0, got {self.language}"
            )

    def ineffective_settings(self) -> dict[str, str]:
        """The settings that have no effect given the others, each with the reason."""
        found: dict[str, str] = {}
        if not (self.encoder_layers or self.decoder_layers):
            of_layers = beside(self, "encoder_layers", "decoder_layers")
            found |= dict.fromkeys(("hidden", "heads", "feed_forward", "dropout"), of_layers)
        for cause, without_it in (("language", self.language), ("reconstruction", self.reconstruction)):
            if not without_it:
                found |= dict.fromkeys(("counted", "features"), beside(self, cause))
        if not self.features:
            found["counted"] = beside(self, "features")
        found |= self._ineffective_for_bags()
        if not self.prior:
            found["annealing"] = beside(self, "prior")
        if not self.translation:
            found["smoothing"] = beside(self, "translation")
        if not self.reconstruction:
            found |= dict.fromkeys(("language", "sides"), beside(self, "reconstruction"))
            if self.translates == "mean":
                of_samples = beside(self, "reconstruction", "translates")
                found |= dict.fromkeys(("prior", "annealing"), of_samples)
        if self.read_from == "pivot":
            found["sides"] = beside(self, "read_from")
        return found

    def _ineffective_for_bags(self) -> dict[str, str]:
        if self.encoder_layers:
            return dict.fromkeys(
                ("counted", "features", "bag", "punctuation"), beside(self, "encoder_layers")
            )
        return {"punctuation": beside(self, "bag")} if self.bag == "words" else {}

    @property
    def leaves_punctuation(self) -> bool:
        """Whether the semantic latent is inferred from a bag of pieces without its punctuation."""
        return not (self.punctuation or self.encoder_layers) and self.bag == "pieces"

    @property
    def own(self) -> int:
        """The dimensions of a language latent; 0 if nothing is reconstructed."""
        return self.language if self.reconstruction else 0

    @property
    def reconstructed(self) -> tuple[int, ...]:
        """The places in a pair, 0 for the pivot, of the sentences that are reconstructed."""
        return self._places((0,)) if self.reconstruction else ()

    @property
    def translated(self) -> tuple[int, ...]:
        """The places in a pair of the sentences that are generated from the meaning of the other alone."""
        return self._places((1,)) if self.translation else ()

    def _places(self, where_one_is_read: tuple[int, ...]) -> tuple[int, ...]:
        return where_one_is_read if self.read_from == "pivot" else (0, 1)

    @property
    def latents(self) -> int:
        """The number of dimensions of all latents together."""
        return self.semantic + self.own

    @property
    def surface(self) -> int:
        """The number of surface features: the length and the counts, or 0 where none are read."""
        return 1 + self.counted if self.features and not self.encoder_layers else 0

    def transformer(self, layers: int, *, decoder: bool = False) -> TransformerConfig:
        """The sizes of a Transformer; a decoder reads from left to right, and the latents."""
        return TransformerConfig(
            self.vocabulary, layers, self.heads, self.hidden, self.feed_forward, self.dropout,
            positions=self.longest + 2, activation="relu", causal=decoder, memory=decoder,
        )  # fmt: skip


class Tokens(Protocol):
    """The interface of tokens: sentences to ids; SPECIALS have the first ids."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The JSON values that restore the tokens."""

    def reader(self, language: str) -> Reader:
        """The reader of a language, which cuts long sentences."""

    def rows(self, language: str) -> Tensor | None:
        """The frozen rows (v, d) of the ids of a language; None if the network learns its own."""

    @property
    def first_rows(self) -> Tensor | None:
        """The initial rows (v, d) of a bag of ids, to be learned; None if there is no such bag."""


class SpaceWords(Tokens):
    """The words of a space, after the special tokens and the `others`, which all languages share.

    The row of a word is its row in the space times its idf by rank; the others have random rows.
    """

    def __init__(self, space: Space, others: Sequence[str], longest: int) -> None:
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
        """The rows (v, d); special and other tokens have random ones, which are always the same."""
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
    pieces: Pieces, languages: Sequence[str], space: Space, longest: int, seed: int
) -> PieceTokens:
    """Pieces whose rows are initialised by unit-length rows of the space, times SPREAD.

    A sentence must stand out from the noise of its posterior, whose initial variance is 1: with rows of unit
    length the decoders ignore the latents for epochs.
    """
    dimension = space.vectors(space.pivot).dimension
    rows = functional.normalize(aligned_rows(pieces, languages, space, dimension, seed))
    return PieceTokens(pieces, longest, SPREAD * rows)


def restored_tokens(settings: Mapping[str, Any], space: Space, longest: int) -> Tokens:
    """The tokens restored from their settings."""
    if "pieces" in settings:
        return restored_pieces(settings, longest)
    return SpaceWords(space, settings["others"], longest)


def restored_pieces(settings: Mapping[str, Any], longest: int) -> PieceTokens:
    """The pieces restored from their settings; a bag has rows of zeros."""
    pieces = Pieces.from_json(settings["pieces"])
    bag = torch.zeros(len(pieces), settings["dimension"]) if "dimension" in settings else None
    return PieceTokens(pieces, longest, bag)


def missing_tokens(texts: Mapping[str, Sequence[str]], space: Space) -> list[str]:
    """The most frequent lowercase tokens of texts that the space lacks in their language."""
    counts = Counter[str]()
    for language, sentences in texts.items():
        known = space.vectors(language).index
        tokens = Tokeniser(language, known).tokens
        sample = sentences[:: max(1, len(sentences) // _SAMPLED)]
        found = (token.lower() for sentence in sample for token in tokens(sentence))
        counts.update(token for token in found if token not in known)
    return [token for token, _ in counts.most_common(OTHERS)]
