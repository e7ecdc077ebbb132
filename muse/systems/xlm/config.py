"""The settings of a cross-lingual language model: its size, what it learns, and its initialisation."""

from __future__ import annotations

from dataclasses import dataclass

from muse.errors import BadSetting
from muse.systems.networks.masked_prediction import Masking
from muse.systems.networks.transformer import TransformerConfig
from muse.systems.piece_rows import INITIAL
from muse.systems.pieces import MASK, SPECIALS
from muse.systems.sampling import BATCH_EXPONENT, language_shares
from muse.training.checks import beside, check_choices, check_least

TLM = "mlm+tlm"  # the objective that uses parallel text
OBJECTIVES = ("clm", "mlm", TLM)
POOLINGS = ("mean", "first")


@dataclass(frozen=True)
class XlmConfig:
    """The settings of a model with `pieces` word pieces, and how it is trained.

    `length`: the number of pieces in a stream, and the maximum in one side of a pair or an encoded sentence.
    `pair_tokens`: the number of pieces in a batch of pairs; a batch of streams has the trainer's batch size.
    `initial`: the initialisation of the embedding table, from the space (aligned) or random. `pooling`: the
    row of a sentence, the mean of the last states or the first of them. `warmup`: steps until the highest
    rate. `judged`: the language whose held-out text decides when to stop; all of them by default. `exponent`:
    the exponent of language sampling; 0 samples all languages equally. `share`: the share of
    pieces that mlm and tlm predict. `documents`: text has lines document<TAB>paragraph, and no stream crosses
    the end of a document.
    """

    objective: str = TLM
    pieces: int = 8_000
    layers: int = 2
    heads: int = 4
    hidden: int = 128
    length: int = 64
    pair_tokens: int = 2_048
    initial: str = "aligned"
    pooling: str = "mean"
    dropout: float = 0.1
    warmup: int = 100
    judged: str = ""
    exponent: float = BATCH_EXPONENT
    share: float = 0.15
    documents: bool = False

    def __post_init__(self) -> None:
        check_choices(self, objective=OBJECTIVES, initial=INITIAL, pooling=POOLINGS)
        if self.length < 4:
            raise BadSetting(
                f"length must be at least 4, for two pieces with <bos> and <eos>; got {self.length}"
            )
        if self.objective == TLM and self.pair_tokens < 2 * self.length:
            raise BadSetting(
                f"pair_tokens must hold the longest pair, {2 * self.length} pieces; got {self.pair_tokens}"
            )
        if self.pieces <= len(SPECIALS):
            raise BadSetting(f"pieces must be more than the {len(SPECIALS)} special ones, got {self.pieces}")
        check_least(self, 1, "warmup")
        if self.pooling == "first" and self.causal:
            raise BadSetting("the first state of clm does not depend on the sentence; set pooling=mean")
        language_shares({"any": 1}, self.exponent)  # checks it
        self.network(self.pieces, 1)  # checks the sizes
        self.masking(self.pieces)  # checks the share

    def idle(self) -> dict[str, str]:
        """The settings that have no effect beside the others, each with the reason."""
        found: dict[str, str] = {}
        if self.causal:
            found["share"] = beside(self, "objective")
        if self.objective != TLM:
            found["pair_tokens"] = beside(self, "objective")
        return found

    @property
    def causal(self) -> bool:
        """Whether it reads from left to right."""
        return self.objective == "clm"

    def network(self, vocabulary: int, languages: int) -> TransformerConfig:
        """The sizes of the Transformer, which adds a vector for each language."""
        return TransformerConfig(
            vocabulary,
            self.layers,
            self.heads,
            self.hidden,
            dropout=self.dropout,
            positions=self.length,
            causal=self.causal,
            languages=languages,
        )

    def masking(self, vocabulary: int) -> Masking:
        """How pieces are hidden: a share of them; of these 80 % masked, 10 % swapped."""
        return Masking(vocabulary, MASK, len(SPECIALS), share=self.share)
