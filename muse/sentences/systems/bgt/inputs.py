"""Inputs of BGT: its settings and its tokens, words of the space (rows frozen) or pieces (rows learned)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.sentences.encoders.reading import Limited, Reader, Vocabulary
from muse.sentences.encoders.words import weights_from_rank
from muse.sentences.systems.networks.transformer import TransformerConfig, random_rows
from muse.sentences.systems.pieces import SPECIALS, Pieces
from muse.sentences.training.settings import Settings, Unused, setting
from muse.space import Space
from muse.text.tokens import Tokeniser
from muse.vectors import WordIndex

# What makes a writer of the small preset: layers, and latents as wide as these are.
OF_WRITERS = "--rate 0.001 --set encoder_layers=1 --set decoder_layers=1 --set language=256"
MOST_OTHER_TOKENS = 100  # frequent tokens that the space lacks, mostly punctuation, which get random rows
SPREAD = 10.0  # the length of the initial rows of a bag of pieces
SENTENCES_COUNTED = 2_000  # sentences of each language in which they are counted


@dataclass(frozen=True)
class BgtConfig(Settings):
    """The sizes, where 0 removes a part, and the terms of the loss.

    Encoder layers read word pieces; without layers, a sentence is a `bag`: the mean of its words' frozen rows
    in the space, or of rows of word pieces, which begin as those of the space and are learned. The first
    `vocabulary` tokens are predicted, and all others as <unk>. Without `reconstruction` the translation loss
    alone is left, the paper's BilingualTrans, and there are no language latents.

    `read_from` pivot makes the paper's monolingual baselines: EnglishAE with neither translation nor prior,
    EnglishVAE with the prior, EnglishTrans with the translation alone. If `translates` is sample, the
    translation loss is a bound of its own, with the divergence of its posterior: without reconstruction the
    paper's BGT without language variables.
    """

    semantic: int = setting(256, "dimensions of the latent of meaning", least=1)
    language: int = setting(32, "dimensions of that of a language; 0: none", least=0)
    vocabulary: int = setting(4_000, "tokens that are predicted", above=len(SPECIALS))
    encoder_layers: int = setting(0, "Transformer layers; 0: bags", least=0)
    decoder_layers: int = setting(0, "the same of the decoder; 0: the latents alone predict", least=0)
    hidden: int = setting(256, "width of the layers")
    heads: int = setting(8, "attention heads")
    feed_forward: int = setting(256, "width of the inner layers")
    dropout: float = setting(0.0, "share of values left out")
    longest: int = setting(100, "tokens of a sentence that are read", least=1)
    prior: float = setting(1.0, "weight of the divergence from the prior", least=0)
    annealing: int = setting(10_000, "steps until that weight", least=1)
    translation: float = setting(1.0, "weight of the translation loss", least=0)
    smoothing: float = setting(0.1, "label smoothing of that loss", least=0, below=1)
    counted: int = setting(
        200,
        "tokens whose counts a language encoder sees: signs and frequent words; or of pieces, characters "
        "and those merged first",
        least=0,
    )
    reconstruction: float = setting(1.0, "weight of the evidence lower bound; 0: BilingualTrans", least=0)
    sides: str = setting(
        "steps",
        "which side the meaning is read from: by steps, or drawn for pairs",
        choices=("steps", "pairs"),
    )
    tokens: int = setting(0, "the most tokens of a side in a batch; 0: `batch` pairs", least=0)
    shortest: int = setting(0, "pairs with a shorter side are left out; 0: none", least=0)
    read_from: str = setting(
        "both", "whose sentences the meaning is read from: both, or the pivot's", choices=("both", "pivot")
    )
    translates: str = setting(
        "mean", "whether a translation is written from the mean, or from a sample", choices=("mean", "sample")
    )
    bag: str = setting(
        "words",
        "without encoder layers: the mean of learned rows of pieces, or of frozen ones of words",
        choices=("words", "pieces"),
    )
    punctuation: bool = setting(
        True, "whether it counts in the meaning of a bag of pieces; the language latents always read it"
    )
    features: bool = setting(
        True, "whether the language latents of a bag also read its length and those counts"
    )

    def check(self) -> None:
        """Raise BadSetting for latents that do not fit the layers, and for terms that do not go together."""
        if self.decoder_layers and {self.semantic, self.own} - {0, self.hidden}:
            raise BadSetting(
                "with decoder layers, semantic and language must be 0 or equal to hidden, "
                f"{self.hidden}, got {self.semantic} and {self.own}"
            )
        self.transformer(max(1, self.encoder_layers))
        if not (self.translation or self.reconstruction):
            raise BadSetting("one of translation and reconstruction must be above 0, got 0 for both")
        if self.translates == "sample" and not self.translation:
            raise BadSetting("translates=sample needs a translation above 0, got 0; leave it out")
        if self.read_from == "pivot" and self.own:
            raise BadSetting(
                "with read_from=pivot no second language separates a language latent from the semantic one, "
                f"so language must be 0, got {self.language}"
            )

    def unused(self) -> tuple[Unused | None, ...]:
        """What only layers, bags, latents or terms of the loss have that are left out."""
        layers = self.encoder_layers or self.decoder_layers
        of_samples = self.reconstruction or self.translates == "sample"
        words = self.bag == "words" and not self.encoder_layers
        return (
            None if layers else Unused("hidden heads feed_forward dropout", "encoder_layers decoder_layers"),
            None if self.language else Unused("counted features", "language"),
            None if self.reconstruction else Unused("counted features", "reconstruction"),
            None if self.features else Unused("counted", "features"),
            Unused("counted features bag punctuation", "encoder_layers") if self.encoder_layers else None,
            Unused("punctuation", "bag") if words else None,
            None if self.prior else Unused("annealing", "prior"),
            None if self.translation else Unused("smoothing", "translation"),
            None if self.reconstruction else Unused("language sides", "reconstruction"),
            None if of_samples else Unused("prior annealing", "reconstruction translates"),
            Unused("sides", "read_from") if self.read_from == "pivot" else None,
        )

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
        places = (0, 1) if self.read_from == "both" else (0,)
        return places if self.reconstruction else ()

    @property
    def translated(self) -> tuple[int, ...]:
        """The places in a pair of the sentences that are generated from the meaning of the other alone."""
        places = (0, 1) if self.read_from == "both" else (1,)
        return places if self.translation else ()

    def transformer(self, layers: int, *, decoder: bool = False) -> TransformerConfig:
        """The sizes of a Transformer; a decoder reads from left to right, and the latents."""
        return TransformerConfig(
            self.vocabulary, layers, self.heads, self.hidden, self.feed_forward, self.dropout,
            positions=self.longest + 2, activation="relu", causal=decoder, memory=decoder,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Tokens:
    """Sentences to ids, of which SPECIALS have the first, and the rows of these.

    `settings` are the JSON values that restore the tokens, `readers` those of each language, which cut long
    sentences. `rows` are frozen, (v, d) for each language; `first_rows` (v, d) are the initial ones of a
    bag of `pieces`; without either, the network learns rows of its own.
    """

    settings: Mapping[str, Any]
    readers: Mapping[str, Reader]
    rows: Mapping[str, Tensor] = field(default_factory=dict)
    first_rows: Tensor | None = None
    pieces: Pieces | None = None


def space_words(space: Space, languages: Sequence[str], others: Sequence[str], longest: int) -> Tokens:
    """The words of a space, after the special tokens and the `others`, which all languages share.

    The row of a word is its row in the space times its idf by rank; special and other tokens have random
    rows, which are always the same.
    """
    readers, rows = dict[str, Reader](), dict[str, Tensor]()
    for language in languages:
        vectors = space.vectors(language)
        index = WordIndex([*others, *vectors.words])
        readers[language] = Limited(Vocabulary(language, index, first=len(SPECIALS)), longest)
        n, d = vectors.matrix.shape
        weights = weights_from_rank("idf", n)[:n, None]  # (n, 1)
        drawn = random_rows(len(SPECIALS) + len(others), d, torch.Generator().manual_seed(0))
        rows[language] = torch.cat([drawn, torch.from_numpy(vectors.matrix * weights).to(drawn.device)])
    return Tokens({"others": list(others)}, readers, rows)


def piece_tokens(
    pieces: Pieces, languages: Sequence[str], longest: int, first_rows: Tensor | None = None
) -> Tokens:
    """Word pieces, which all languages share, with `first_rows` (v, d) if sentences are bags of them."""
    bag = {} if first_rows is None else {"dimension": first_rows.shape[1]}
    readers = dict.fromkeys(languages, Limited(pieces, longest))
    return Tokens({"pieces": pieces.to_json()} | bag, readers, first_rows=first_rows, pieces=pieces)


def restored_tokens(
    settings: Mapping[str, Any], space: Space | None, languages: Sequence[str], longest: int
) -> Tokens:
    """The tokens restored from their settings, those of words for a space; a bag has rows of zeros."""
    if "pieces" not in settings:
        if space is None:
            raise KeyError("pieces")
        return space_words(space, languages, settings["others"], longest)
    pieces = Pieces.from_json(settings["pieces"])
    bag = torch.zeros(len(pieces), settings["dimension"]) if "dimension" in settings else None
    return piece_tokens(pieces, languages, longest, bag)


def missing_tokens(texts: Mapping[str, Sequence[str]], space: Space) -> list[str]:
    """The most frequent lowercase tokens of texts that the space lacks in their language."""
    counts = Counter[str]()
    for language, sentences in texts.items():
        known = space.vectors(language).index
        tokens = Tokeniser(language, known).tokens
        sample = sentences[:: max(1, len(sentences) // SENTENCES_COUNTED)]
        found = (token.lower() for sentence in sample for token in tokens(sentence))
        counts.update(token for token in found if token not in known)
    return [token for token, _ in counts.most_common(MOST_OTHER_TOKENS)]
