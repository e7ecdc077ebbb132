"""Transformer: encoder, left-to-right model or decoder, in torch's post-norm layers, as in BERT and XLM.

Vaswani et al. (2017), with the learned positions of Devlin et al. (2019). Dropout is where Vaswani et al.
have it, after each sublayer and after the embeddings. A TokenTable has a row for every token, used as
embeddings of ids and as output scores of states.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadSetting, Mismatch
from muse.sentences.training.settings import Settings, setting


@dataclass(frozen=True)
class TransformerConfig(Settings):
    """The sizes of a Transformer; `feed_forward` is 4 x hidden by default.

    `languages` above 0 adds a vector of the language (BERT: of the segment) to each token's. `causal`: a
    position sees itself and what is before it. `memory`: every layer reads a memory too.
    """

    vocabulary: int = setting(MISSING, "tokens", least=1)
    layers: int = setting(MISSING, "layers", least=1, most=1_000)
    heads: int = setting(MISSING, "attention heads", least=1)
    hidden: int = setting(MISSING, "width of the states", least=1)
    feed_forward: int | None = setting(None, "width of the inner layers", least=1)
    dropout: float = setting(0.1, "share of values left out", least=0, below=1)
    positions: int = setting(512, "the longest sequence", least=1)
    activation: str = setting("gelu", "of the inner layers", choices=("gelu", "relu"))
    causal: bool = False
    languages: int = setting(0, "language vectors", least=0)
    memory: bool = False

    def check(self) -> None:
        """Raise BadSetting for heads of different widths."""
        if self.hidden % self.heads:
            raise BadSetting(
                f"hidden must be a multiple of heads, got {self.hidden} dimensions and {self.heads} heads"
            )


class Inputs(NamedTuple):
    """A batch: `tokens` as ids (b, t) or vectors (b, t, h), and `mask` (b, t), False at padding.

    Without a mask there is no padding. `positions` (b, t) or (t,) are 0, 1, 2, ... unless given, `languages`
    (b, t), (b, 1) or (1, 1) are all 0 unless given. `prefix` (b, n, h) is read before the tokens and has
    neither.
    """

    tokens: Tensor
    mask: Tensor | None = None
    positions: Tensor | None = None
    languages: Tensor | None = None
    prefix: Tensor | None = None


class Memory(NamedTuple):
    """The memory that a decoder attends to: `vectors` (b, m, h) and `mask` (b, m), as in Inputs."""

    vectors: Tensor
    mask: Tensor | None = None


class TransformerLayers(nn.Module):
    """The layers of a Transformer; `table` may be shared with an output or another Transformer."""

    __call__: Callable[..., Tensor]

    def __init__(
        self, config: TransformerConfig, generator: torch.Generator, table: "TokenTable | None" = None
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
        self._dropout = nn.Dropout(config.dropout)
        self._layers = nn.ModuleList(_layer(config) for _ in range(config.layers))
        draw_(self._layers, generator)
        self.table = table

    def forward(self, inputs: Inputs, memory: Memory | None = None) -> Tensor:
        """The states (b, t, h) of the tokens, without those of a prefix.

        Raises Mismatch for more tokens than positions, or if a memory is given but the config has none, or
        the other way round.
        """
        if (memory is None) == self.config.memory:
            raise Mismatch(
                f"a transformer with memory={self.config.memory} must {'' if memory is None else 'not '}"
                "be given one"
            )
        # Contiguous, for the matrix products of every layer.
        states = self.embedded(inputs).transpose(0, 1).contiguous()  # (n + t, b, h)
        k, n = len(states), len(states) - inputs.tokens.shape[1]
        causal = padding = None
        if self.config.causal:
            # Padding is at the end of a row, which causal attention never reaches.
            causal = torch.ones(k, k, dtype=torch.bool, device=states.device).triu(1)
        elif inputs.mask is not None:
            padding = _padding(functional.pad(inputs.mask, (n, 0), value=True))  # (b, k)
        for layer in self._layers:
            if memory is None:
                states = layer(states, causal, padding, is_causal=self.config.causal)
            else:
                states = layer(
                    states,
                    memory.vectors.transpose(0, 1),
                    causal,
                    tgt_key_padding_mask=padding,
                    memory_key_padding_mask=None if memory.mask is None else _padding(memory.mask),
                    tgt_is_causal=self.config.causal,
                )
        return states[n:].transpose(0, 1)

    @property
    def layers(self) -> Sequence[Any]:
        """The layers of torch, first to last."""
        return list(self._layers)

    def embedded(self, inputs: Inputs) -> Tensor:
        """The vectors (b, n + t, h) that the first layer reads, beginning with a prefix."""
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
        embedded: Tensor = self._dropout(self._norm(vectors))
        return embedded


def _layer(config: TransformerConfig) -> nn.Module:
    """One layer of torch, with dropout only where Vaswani et al. have it."""
    kind = nn.TransformerDecoderLayer if config.memory else nn.TransformerEncoderLayer
    # batch_first stays False: with it torch evaluates by another kernel, whose GELU on a GPU is approximate.
    width = config.feed_forward or 4 * config.hidden
    layer: Any = kind(config.hidden, config.heads, width, config.dropout, config.activation)
    layer.dropout = nn.Identity()  # within the feed-forward part
    layer.self_attn.dropout = 0.0
    if config.memory:
        layer.multihead_attn.dropout = 0.0
    made: nn.Module = layer
    return made


def _padding(mask: Tensor) -> Tensor:
    """The key padding mask (b, k), True where attention must not look, from a mask (b, k), True at tokens.

    A row of padding alone attends to itself, so that its states are finite, though unused.
    """
    return ~mask & mask.any(dim=1, keepdim=True)


class TokenTable(nn.Module):
    """The rows (v, d) of v tokens as vectors of h dimensions, projected if d is not h.

    `frozen` rows are not trained, only the projection is, so that an aligned space stays unchanged. They are
    not parameters and are not saved: they must be given again when the table is rebuilt.
    """

    __call__: Callable[..., Tensor]

    def __init__(
        self, rows: Tensor, hidden: int, *, frozen: bool = False, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        d = rows.shape[1]
        if frozen:
            self.register_buffer("_rows", rows, persistent=False)
        else:
            self._rows = nn.Parameter(rows.clone())
        # Nearly orthogonal columns of about unit length keep similar rows similar.
        drawn = None if d == hidden else torch.empty(d, hidden).normal_(0, d**-0.5, generator=generator)
        self._projection = None if drawn is None else nn.Parameter(drawn)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors (..., h) of ids (...)."""
        rows = nn.functional.embedding(ids, self._rows)
        return rows if self._projection is None else rows @ self._projection

    def scores(self, states: Tensor, among: slice = slice(None)) -> Tensor:
        """The score of each token for each state (..., h): the inner products (..., v) with its vector.

        `among` restricts this to a slice of the tokens.
        """
        if self._projection is not None:
            states = states @ self._projection.T  # (..., d): cheaper than to project the whole table
        return states @ self._rows[among].T


def random_rows(tokens: int, hidden: int, generator: torch.Generator | None) -> Tensor:
    """Random rows (v, h) with the standard deviation of all weights."""
    return torch.empty(tokens, hidden).normal_(0, initial_deviation(hidden), generator=generator)


def initial_deviation(hidden: int) -> float:
    """The standard deviation of initial weights, sqrt(2 / 5 h) (Nguyen and Salazar, 2019).

    At BERT's sizes this is close to its 0.02; it also works for narrow networks.
    """
    return math.sqrt(2 / (5 * hidden))


def draw_(module: nn.Module, generator: torch.Generator) -> None:
    """Initialises all linear maps in the module: weights drawn from the generator, biases 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            _draw_one_(part.weight, part.bias, generator)
        elif isinstance(part, nn.MultiheadAttention):
            hidden = part.embed_dim
            for weight in torch.split(part.in_proj_weight.detach(), [hidden, 2 * hidden]):
                _draw_one_(weight, part.in_proj_bias, generator)


def _draw_one_(weight: Tensor, bias: Tensor | None, generator: torch.Generator) -> None:
    # The smaller side is the hidden one, so feed-forward maps start with the same deviation as the others.
    nn.init.normal_(weight, 0, initial_deviation(min(weight.shape)), generator=generator)
    if bias is not None:
        nn.init.zeros_(bias)
