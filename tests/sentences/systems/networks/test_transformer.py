"""Transformer: its definition, padding, prefix, memory, sizes; and decoding step by step."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from muse.errors import BadSetting, Mismatch
from muse.run.seeds import generator_for, torch_seeded
from muse.sentences.systems.networks import transformer
from muse.sentences.systems.networks.transformer import Inputs, Memory, TransformerConfig, TransformerLayers
from muse.sentences.systems.writing import Incremental

SMALL = transformer.TransformerConfig(vocabulary=20, layers=2, heads=2, hidden=8, positions=9, languages=2)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def network(config: transformer.TransformerConfig = SMALL) -> transformer.TransformerLayers:
    made = transformer.TransformerLayers(config, generator())
    with torch.no_grad():  # away from the start, where biases are 0 and norms do nothing
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.empty_like(parameter).normal_(generator=generator(1)))
    return made.double().eval()


def tokens(b: int = 3, t: int = 6) -> Tensor:
    return torch.randint(0, 20, (b, t), generator=generator(2))


def attended(x: Tensor, read: Tensor, seen: Tensor, attention: nn.MultiheadAttention) -> Tensor:
    """Softmax head by head and row by row, x (q, h), read (k, h), seen (q, k)."""
    weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    query, key, value = (rows @ w.T + b for rows, w, b in zip((x, read, read), weights, biases, strict=True))
    size, rows = attention.head_dim, []
    for i in range(len(x)):
        heads_of_row = []
        for head in range(attention.num_heads):
            one = slice(head * size, (head + 1) * size)
            scores = [math.exp(float(query[i, one] @ k[one]) / math.sqrt(size)) for k in key]
            scores = [score * bool(seen[i, j]) for j, score in enumerate(scores)]
            mixed = sum((score * v[one] for score, v in zip(scores, value, strict=True)), torch.zeros(size))
            heads_of_row.append(mixed / sum(scores))
        rows.append(attention.out_proj(torch.cat(heads_of_row)))
    return torch.stack(rows)


@pytest.mark.parametrize(("causal", "memory"), [(False, False), (True, False), (True, True)])
def test_a_network_is_its_definition(causal: bool, memory: bool) -> None:
    made = network(replace(SMALL, layers=1, causal=causal, memory=memory)).requires_grad_(False).eval()
    ids = tokens(2, 5)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    vectors = torch.randn(2, 4, 8, generator=generator()).double()
    states = made(transformer.Inputs(ids, mask), transformer.Memory(vectors) if memory else None)
    start = made.table(ids) + made.get_parameter("_positions")[:5] + made.get_parameter("_languages")[0]
    layer = made.get_submodule("_layers.0")
    part = dict(layer.named_modules())
    for row in range(2):
        t = int(mask[row].sum())
        x = made.get_submodule("_norm")(start[row, :t])
        seen = torch.ones(t, t).tril() if causal else torch.ones(t, t)
        x = part["norm1"](x + attended(x, x, seen, part["self_attn"]))
        if memory:
            read = attended(x, vectors[row], torch.ones(t, 4), part["multihead_attn"])
            x = part["norm2"](x + read)
        wide = torch.nn.functional.gelu(part["linear1"](x))
        x = part["norm3" if memory else "norm2"](x + part["linear2"](wide))
        torch.testing.assert_close(states[row, :t], x)


@pytest.mark.parametrize("causal", [False, True])
def test_padding_changes_no_row(causal: bool) -> None:
    made, ids = network(replace(SMALL, causal=causal)), tokens()
    padded = torch.cat([ids, tokens(3, 3)], dim=1)
    mask = torch.arange(9).expand(3, 9) < 6
    torch.testing.assert_close(made(transformer.Inputs(padded, mask))[:, :6], made(transformer.Inputs(ids)))


def test_a_row_of_padding_is_finite_with_its_gradient() -> None:
    made = network()
    mask = torch.tensor([[True] * 6, [False] * 6, [True] * 2 + [False] * 4])
    states = made(transformer.Inputs(tokens(), mask))
    states.sum().backward()  # type: ignore[no-untyped-call]
    assert states.isfinite().all()
    assert all(p.grad is None or p.grad.isfinite().all() for p in made.parameters())


@pytest.mark.parametrize("place", range(6))
def test_a_later_token_changes_no_earlier_state_of_a_causal_network(place: int) -> None:
    ids = tokens(1)
    other = ids.clone()
    other[0, place] = (ids[0, place] + 1) % 20
    for causal in (True, False):
        made = network(replace(SMALL, causal=causal))
        moved = (made(transformer.Inputs(ids)) - made(transformer.Inputs(other))).abs().amax(
            dim=(0, 2)
        ) > 1e-9  # (t,)
        assert moved.tolist() == [not causal or at >= place for at in range(6)]


def test_positions_and_languages() -> None:
    made, ids = network(), tokens()
    plain = made(transformer.Inputs(ids))
    torch.testing.assert_close(made(transformer.Inputs(ids, positions=torch.arange(6))), plain)
    torch.testing.assert_close(made(transformer.Inputs(ids, languages=torch.zeros_like(ids))), plain)
    assert (
        made(transformer.Inputs(ids, languages=torch.ones(3, 1, dtype=torch.long))) - plain
    ).abs().max() > 1e-3
    # Where all positions are one, an encoder does not know the order of its tokens.
    same = torch.zeros(6, dtype=torch.long)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    torch.testing.assert_close(
        made(transformer.Inputs(ids[:, order], positions=same)),
        made(transformer.Inputs(ids, positions=same))[:, order],
    )


def test_ready_vectors_and_a_prefix() -> None:
    made, ids = network(), tokens()
    vectors = made.table(ids)
    torch.testing.assert_close(made(transformer.Inputs(vectors)), made(transformer.Inputs(ids)))
    # A prefix is as tokens before the sequence, without positions: so take theirs off.
    positions = made.get_parameter("_positions")
    language = made.get_parameter("_languages")[0]
    whole = transformer.Inputs(ids, positions=torch.tensor([0, 1, 0, 1, 2, 3]))
    prefix = vectors[:, :2] + positions[:2] + language
    mask = torch.ones(3, 4, dtype=torch.bool)
    for given in (None, mask):
        torch.testing.assert_close(
            made(transformer.Inputs(ids[:, 2:], given, prefix=prefix)), made(whole)[:, 2:]
        )


def test_a_decoder_reads_the_memory_that_is_no_padding() -> None:
    made = network(replace(SMALL, memory=True, causal=True))
    memory = torch.randn(3, 4, 8, generator=generator()).double()
    mask = torch.arange(4).expand(3, 4) < 2
    states = made(transformer.Inputs(tokens()), transformer.Memory(memory, mask))
    torch.testing.assert_close(states, made(transformer.Inputs(tokens()), transformer.Memory(memory[:, :2])))
    assert (states - made(transformer.Inputs(tokens()), transformer.Memory(memory))).abs().max() > 1e-3
    with pytest.raises(Mismatch, match="must be given"):
        made(transformer.Inputs(tokens()))
    with pytest.raises(Mismatch, match="must not be given"):
        network()(transformer.Inputs(tokens()), transformer.Memory(memory))


@pytest.mark.parametrize("memory", [False, True])
def test_dropout_is_torch_s_in_training_mode_alone_and_not_within_a_sublayer(memory: bool) -> None:
    made, inputs = network(replace(SMALL, dropout=0.5, memory=memory)), transformer.Inputs(tokens())
    read = transformer.Memory(torch.randn(3, 4, 8, generator=generator()).double()) if memory else None
    assert torch.equal(made.eval()(inputs, read), made(inputs, read))
    made.train()
    found = []
    for seed in (3, 3, 4):
        with torch_seeded(seed):
            found.append(made(inputs, read))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
    # After the embeddings and after each sublayer; torch's layers have it in two more places.
    shares = [m.p for m in made.modules() if isinstance(m, nn.Dropout)]
    assert shares == [0.5] * (1 + 2 * (3 if memory else 2))
    assert {m.dropout for m in made.modules() if isinstance(m, nn.MultiheadAttention)} == {0.0}


def test_a_table_is_tied_projected_and_frozen() -> None:
    rows = torch.randn(20, 5, generator=generator())
    table = transformer.TokenTable(rows, 8, frozen=True, generator=generator())
    ids, states = tokens(), torch.randn(3, 8, generator=generator())
    torch.testing.assert_close(table.scores(states), states @ table(torch.arange(20)).T)
    assert table(ids).shape == (3, 6, 8)
    table.scores(table(ids)).sum().backward()  # type: ignore[no-untyped-call]
    assert [name for name, _ in table.named_parameters()] == ["_projection"] == [*table.state_dict()]
    torch.testing.assert_close(table.scores(states, slice(3, 9)), table.scores(states)[:, 3:9])
    torch.testing.assert_close(transformer.TokenTable(rows, 5)(ids), rows[ids])
    # Near words stay near: cosines before and after differ by what a random map of 2,000 dimensions does.
    wide = transformer.TokenTable(rows, 2000, generator=generator())(torch.arange(20))
    rows, wide = torch.nn.functional.normalize(rows), torch.nn.functional.normalize(wide)
    before, after = rows @ rows.T, wide @ wide.T
    assert float((before - after).detach().abs().max()) < 0.15


def test_bad_settings() -> None:
    with pytest.raises(BadSetting, match="multiple of heads, got .* and 3 heads"):
        replace(SMALL, heads=3)


def test_a_sequence_longer_than_the_positions() -> None:
    with pytest.raises(Mismatch, match="at most 9 tokens, got 10"):
        network()(transformer.Inputs(tokens(1, 10)))


SIZES = TransformerConfig(30, 2, 4, 16, positions=9, causal=True, languages=2, memory=True)


def decoder() -> TransformerLayers:
    return TransformerLayers(SIZES, generator_for(0)).eval()


@torch.no_grad()
def test_states_are_those_of_the_full_pass_and_a_memory_may_be_padded() -> None:
    layers, generator = decoder(), generator_for(1)
    mask = torch.tensor([[True] * 5, [True] * 2 + [False] * 3, [True] * 4 + [False]])
    memory = Memory(torch.randn(3, 5, 16, generator=generator), mask)
    tokens = torch.randint(30, (3, 7), generator=generator)
    language = torch.ones(1, 1, dtype=torch.long)
    expected = layers(Inputs(tokens, languages=language), memory)
    found = Incremental(layers, memory, language)
    states = torch.stack([found.step(tokens[:, place]) for place in range(7)], dim=1)
    torch.testing.assert_close(states, expected, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_kept_translations_go_on_from_what_they_were() -> None:
    layers, generator = decoder(), generator_for(2)
    memory = Memory(torch.randn(1, 4, 16, generator=generator).repeat(3, 1, 1))
    tokens, more = torch.randint(30, (3, 4), generator=generator), torch.tensor([3, 7, 9])
    language, rows = torch.zeros(1, 1, dtype=torch.long), torch.tensor([2, 0, 2])
    found = Incremental(layers, memory, language)
    for place in range(4):
        found.step(tokens[:, place])
    found.keep(rows)
    expected = layers(Inputs(torch.cat([tokens[rows], more[:, None]], 1), languages=language), memory)
    torch.testing.assert_close(found.step(more), expected[:, -1], atol=1e-5, rtol=1e-4)
