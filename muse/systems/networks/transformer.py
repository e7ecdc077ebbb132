"""Transformer: encoder, left-to-right model or decoder, in post-norm layers as BERT's and XLM's.

Vaswani et al. (2017), with the learned positions of Devlin et al. (2019): x = norm(x + attention(x)), with a
memory norm(x + attention(x, memory)), then norm(x + feed_forward(x)). Dropout is where Vaswani et al. have
it, after each part and after the embeddings, and not on the weights of the attention.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadSetting, Mismatch
from muse.systems.networks.attention import Attention, attention_mask, dropped
from muse.systems.networks.token_table import TokenTable, initial_deviation, random_rows

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"gelu": functional.gelu, "relu": functional.relu}


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a Transformer; `feed_forward` is 4 hidden where none is given.

    `languages` above 0 adds a vector of the language (BERT: of the segment) to each token's. `causal`: a
    position sees itself and what is before it. `memory`: every layer reads a memory too.
    """

    vocabulary: int
    layers: int
    heads: int
    hidden: int
    feed_forward: int | None = None
    dropout: float = 0.1
    positions: int = 512
    activation: str = "gelu"
    causal: bool = False
    languages: int = 0
    memory: bool = False

    def __post_init__(self) -> None:
        for name in ("vocabulary", "layers", "heads", "hidden", "width", "positions"):
            if getattr(self, name) < 1:
                raise BadSetting(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.hidden % self.heads:
            raise BadSetting(
                f"hidden must be a multiple of heads, got {self.hidden} dimensions and {self.heads} heads"
            )
        if not 0 <= self.dropout < 1:
            raise BadSetting(f"dropout must lie in 0..1, below 1, got {self.dropout:g}")
        if self.activation not in ACTIVATIONS:
            raise BadSetting(f"activation must be one of {', '.join(ACTIVATIONS)}; got {self.activation!r}")
        if self.languages < 0:
            raise BadSetting(f"languages must be 0 or more, got {self.languages}")

    @property
    def width(self) -> int:
        """The dimensions within the feed-forward part."""
        return 4 * self.hidden if self.feed_forward is None else self.feed_forward


class Inputs(NamedTuple):
    """A batch: `tokens`, ids (b, t) or ready vectors (b, t, h), and `mask` (b, t), False at padding.

    Without a mask there is no padding. `positions` (b, t) or (t,) are 0, 1, 2, ... unless given, `languages`
    (b, t) or (b, 1) all 0. `prefix` (b, n, h) is read before the tokens and has neither.
    """

    tokens: Tensor
    mask: Tensor | None = None
    positions: Tensor | None = None
    languages: Tensor | None = None
    prefix: Tensor | None = None


class Memory(NamedTuple):
    """What a decoder reads beside its own tokens: `vectors` (b, m, h), `mask` (b, m) as of Inputs."""

    vectors: Tensor
    mask: Tensor | None = None


class TransformerLayers(nn.Module):
    """Hidden states of tokens; `table` may be shared, with an output or another Transformer."""

    def __init__(
        self, config: TransformerConfig, generator: torch.Generator, table: TokenTable | None = None
    ) -> None:
        super().__init__()
        self.config = config
        if table is None:
            table = TokenTable(random_rows(config.vocabulary, config.hidden, generator), config.hidden)
        self._positions = nn.Parameter(random_rows(config.positions, config.hidden, generator))
        self._languages = (
            nn.Parameter(random_rows(config.languages, config.hidden, generator))
            if config.languages
            else None
        )
        self._norm = nn.LayerNorm(config.hidden)
        self._layers = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        draw_(self._layers, generator)
        self.table = table

    def forward(
        self, inputs: Inputs, memory: Memory | None = None, generator: torch.Generator | None = None
    ) -> Tensor:
        """The states (b, t, h) of the tokens, those of a prefix left out.

        With a generator, and only then, there is dropout. Mismatch for more tokens than there are positions,
        or a memory where the config has none and the other way round.
        """
        if (memory is None) == self.config.memory:
            raise Mismatch(
                f"a transformer with memory={self.config.memory} must {'' if memory is None else 'not '}"
                "be given one"
            )
        states = self._embedded(inputs, generator)  # (b, n + t, h)
        t, mask = inputs.tokens.shape[1], inputs.mask
        n = states.shape[1] - t
        if mask is not None:
            mask = attention_mask(functional.pad(mask, (n, 0), value=True), self.config.causal)
        if memory is not None and memory.mask is not None:
            memory = Memory(memory.vectors, attention_mask(memory.mask, causal=False))
        for layer in self._layers:
            states = layer(states, mask, memory, generator)
        return states[:, n:]

    def _embedded(self, inputs: Inputs, generator: torch.Generator | None) -> Tensor:
        tokens, positions, languages = inputs.tokens, inputs.positions, inputs.languages
        if positions is None:
            t = tokens.shape[1]
            if t > self.config.positions:
                raise Mismatch(
                    f"a sequence must have at most {self.config.positions} tokens, got {t}; cut it"
                )
            positions = torch.arange(t, device=tokens.device)
        vectors = self.table(tokens) if tokens.dim() == 2 else tokens  # (b, t, h)
        vectors = vectors + functional.embedding(positions, self._positions)
        if self._languages is not None:
            no_language = torch.zeros(1, dtype=torch.long, device=tokens.device)
            vectors = vectors + functional.embedding(
                no_language if languages is None else languages, self._languages
            )
        if inputs.prefix is not None:
            vectors = torch.cat([inputs.prefix.to(vectors.dtype), vectors], dim=1)
        return dropped(self._norm(vectors), self.config.dropout, generator)


class _Layer(nn.Module):
    """One layer: attention to the sequence, to the memory where there is one, then feed-forward."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self._config = config
        self._attention = Attention(config.hidden, config.heads)
        self._attention_norm = nn.LayerNorm(config.hidden)
        if config.memory:
            self._memory = Attention(config.hidden, config.heads)
            self._memory_norm = nn.LayerNorm(config.hidden)
        self._wide = nn.Linear(config.hidden, config.width)
        self._narrow = nn.Linear(config.width, config.hidden)
        self._norm = nn.LayerNorm(config.hidden)

    def forward(
        self, states: Tensor, seen: Tensor | None, memory: Memory | None, generator: torch.Generator | None
    ) -> Tensor:
        """The next states (b, t, h); `seen` and the memory's mask are as of `attention_mask`."""
        share, causal = self._config.dropout, self._config.causal and seen is None
        read = self._attention(states, states, seen, causal)
        states = self._attention_norm(states + dropped(read, share, generator))
        if memory is not None:
            read = self._memory(states, memory.vectors, memory.mask)
            states = self._memory_norm(states + dropped(read, share, generator))
        thought = self._narrow(ACTIVATIONS[self._config.activation](self._wide(states)))
        out: Tensor = self._norm(states + dropped(thought, share, generator))
        return out


def draw_(module: nn.Module, generator: torch.Generator) -> None:
    """Draws the weights of all linear maps in it anew, from the generator; their biases become 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            # By its smaller side, the hidden one: the wide part's maps start as the others do.
            nn.init.normal_(part.weight, 0, initial_deviation(min(part.weight.shape)), generator=generator)
            if part.bias is not None:
                nn.init.zeros_(part.bias)


def parameter_count(build: Callable[[torch.Generator], nn.Module]) -> int:
    """The parameters of what `build` makes, frozen ones too, shared ones once; nothing is allocated.

    >>> config = TransformerConfig(vocabulary=30522, layers=12, heads=12, hidden=768, languages=2)
    >>> parameter_count(lambda generator: Transformer(config, generator))  # BERT base, without its pooler
    108891648
    """
    with torch.device("meta"):
        return sum(p.numel() for p in build(torch.Generator()).parameters())
