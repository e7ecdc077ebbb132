"""BgtConfig: the sizes of the Bilingual Generative Transformer, and the terms of its loss."""

from __future__ import annotations

from dataclasses import dataclass

from muse.errors import BadSetting
from muse.systems.networks.transformer import TransformerConfig
from muse.systems.pieces import SPECIALS
from muse.training.checks import beside, check_choices, check_fractions, check_least

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


@dataclass(frozen=True)
class BgtConfig:
    """The sizes, where 0 removes a part, and the terms of the loss.

    `semantic` and `language` are the dimensions of the latents. Encoder layers read word pieces; without
    layers, a sentence is a `bag`: the mean of its words' frozen rows in the space, or that of rows of word
    pieces, which begin as those of the space and are learned; the language encoders also read its length and
    its counts of the first `counted` tokens. Without `punctuation` the meaning of a bag of pieces is that of
    the others, and punctuation is left to the language encoders. Without decoder layers, each token and the
    number of tokens are predicted from the latents alone. `hidden`, `heads`, `feed_forward` and `dropout` are
    those of the layers. The first `vocabulary` tokens are predicted, and all others as <unk>.

    `prior` is the weight of the divergence after `annealing` steps, `translation` that of the translation
    loss, `smoothing` its label smoothing. `reconstruction` is the weight of the evidence lower bound; without
    it the translation loss alone is left, the paper's BilingualTrans, and there are no language latents.

    The semantic latent is inferred from one side of a pair: `sides` says whether it alternates between steps
    or is drawn for every pair. With `tokens` above 0 a batch has pairs of similar length and at most so many
    tokens a side, padding included. With `shortest` above 0, pairs with a side of fewer tokens, or of more
    than `longest`, are left out; otherwise long sentences are cut.

    The semantic latent is inferred from sentences of both languages or, where `read_from` is pivot, from the
    pivot's alone: only they are reconstructed, and only they are translated. These are the paper's
    monolingual baselines, which have no language latents: EnglishAE with neither translation nor prior,
    EnglishVAE with the prior, EnglishTrans with the translation alone.

    A sentence is translated from the mean of the semantic posterior or, where `translates` is sample, from a
    sample. The translation loss is then a bound of its own, to which the divergence of that posterior
    belongs, weighted as in the other: without reconstruction it is the paper's BGT without language
    variables, "similar to BilingualTrans, but it includes a prior over the embedding space".
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
                "with read_from=pivot there is no second language that would tell a language latent from the "
                f"semantic one, so language must be 0, got {self.language}"
            )

    def idle(self) -> dict[str, str]:
        """The settings that have no effect beside the others, each with the reason."""
        found: dict[str, str] = {}
        if not (self.encoder_layers or self.decoder_layers):
            of_layers = beside(self, "encoder_layers", "decoder_layers")
            found |= dict.fromkeys(("hidden", "heads", "feed_forward", "dropout"), of_layers)
        for cause, without_it in (("language", self.language), ("reconstruction", self.reconstruction)):
            if not without_it:
                found["counted"] = beside(self, cause)
        found |= self._idle_of_bags()
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

    def _idle_of_bags(self) -> dict[str, str]:
        if self.encoder_layers:
            return dict.fromkeys(("counted", "bag", "punctuation"), beside(self, "encoder_layers"))
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
        """The number of surface features: the length and the counts, or 0 with encoder layers."""
        return 0 if self.encoder_layers else 1 + self.counted

    def transformer(self, layers: int, *, decoder: bool = False) -> TransformerConfig:
        """The sizes of a Transformer; a decoder reads from left to right, and the latents."""
        return TransformerConfig(
            self.vocabulary, layers, self.heads, self.hidden, self.feed_forward, self.dropout,
            positions=self.longest + 2, activation="relu", causal=decoder, memory=decoder,
        )  # fmt: skip
