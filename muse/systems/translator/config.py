"""The settings of a translation model: its sizes, how both its parts begin, the noise, and the losses."""

from __future__ import annotations

import math
from dataclasses import dataclass

from muse.errors import BadSetting
from muse.systems.networks.transformer import TransformerConfig
from muse.systems.pieces import SPECIALS
from muse.training.checks import beside, check_fractions, check_least

RANDOM, SPACE = "random", "space"
ORDERED = "ordered"


@dataclass(frozen=True)
class TranslatorConfig:
    """The settings of a model with `pieces` word pieces, and how it is trained.

    `encoder` and `decoder` say how each begins: random, space (its lookup table has the rows of the
    aligned space), or the folder of an xlm encoder, whose pieces and sizes the model then has. `attention` is
    how that of the decoder to the source begins: random or, for two parts that begin with the space, ordered:
    word by word, so that the model translates at once as the space does. `longest`:
    the maximum number of pieces of a sentence. `drop` and `blank` are the shares of words that noise
    leaves out and hides, `window` how far it moves a word. `denoising`, `back_translation` and
    `translation` (of parallel text, if given) weigh the losses; in the first `words` steps what is
    back-translated was translated word by word in the space, with a language model of the text.
    `warmup`: steps until the highest rate.
    """

    encoder: str = SPACE
    decoder: str = SPACE
    attention: str = RANDOM
    pieces: int = 8_000
    layers: int = 2
    heads: int = 4
    hidden: int = 128
    longest: int = 48
    dropout: float = 0.1
    drop: float = 0.1
    blank: float = 0.1
    window: int = 3
    denoising: float = 1.0
    back_translation: float = 1.0
    translation: float = 1.0
    words: int = 0
    warmup: int = 100

    def __post_init__(self) -> None:
        for name, least in (("warmup", 1), ("words", 0), ("window", 0), ("longest", 4)):
            check_least(self, least, name)
        check_fractions(self, "drop", "blank")
        for name in ("denoising", "back_translation", "translation"):
            if not 0 <= getattr(self, name) < math.inf:
                raise BadSetting(f"{name} must be at least 0, got {getattr(self, name):g}")
        self._check_attention()
        if self.pieces <= len(SPECIALS):
            raise BadSetting(f"pieces must be more than the {len(SPECIALS)} special ones, got {self.pieces}")
        self.network(1, 1, memory=False)

    def _check_attention(self) -> None:
        if self.attention not in (RANDOM, ORDERED):
            raise BadSetting(f"attention must be random or ordered, got {self.attention!r}")
        if self.attention == ORDERED and (self.encoder, self.decoder) != (SPACE, SPACE):
            raise BadSetting(
                f"attention=ordered needs --encoder space and --decoder space, got {self.encoder} and "
                f"{self.decoder}; leave it out, or begin both with the space"
            )
        if self.attention == ORDERED and self.heads < 2:
            raise BadSetting(f"attention=ordered needs 2 heads or more, got {self.heads}")

    def idle(self) -> dict[str, str]:
        """The settings that have no effect beside the others, each with the reason."""
        found: dict[str, str] = {}
        if not self.denoising:
            found |= dict.fromkeys(("drop", "blank", "window"), beside(self, "denoising"))
        if not self.back_translation:
            found["words"] = beside(self, "back_translation")
        return found

    def network(self, pieces: int, languages: int, *, memory: bool) -> TransformerConfig:
        """The sizes of the encoder or, with a memory, of the decoder."""
        return TransformerConfig(
            pieces, self.layers, self.heads, self.hidden, dropout=self.dropout,
            positions=self.longest + 2, causal=memory, languages=languages, memory=memory,
        )  # fmt: skip
