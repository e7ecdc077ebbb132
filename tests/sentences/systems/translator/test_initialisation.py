"""How a translation model begins: the states of a language model, or the rows of the space."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import Padded
from muse.sentences.systems.networks.transformer import Inputs
from muse.sentences.systems.pieces import EOS, Pieces, aligned_rows
from muse.sentences.systems.translator import seq2seq
from muse.sentences.systems.xlm.language_model import XlmNetwork
from tests.sentences.systems.xlm.test_xlm import TINY, made, pieces
from tests.support.parallel import toy_space

__all__ = ["pieces"]  # a fixture
SMALL = seq2seq.TranslatorConfig(
    "random", "random", pieces=200, layers=1, heads=2, hidden=16, longest=14, dropout=0.0
)


def begun(
    pieces: Pieces,
    folder: Path,
    config: seq2seq.TranslatorConfig,
    models: dict[str, XlmNetwork] | None = None,
) -> seq2seq.TranslatorNetwork:
    """An untrained model whose languages are the other way round than those of the language model."""
    counts = {name: torch.ones(len(pieces), dtype=torch.long) for name in ("fr", "en")}
    counts["en"][EOS] = 7
    space, pretrained = toy_space(folder / "space"), models or {}
    return seq2seq.untrained_translator(config, pieces, counts, space, pretrained, 0).eval()


@torch.no_grad()
def test_an_encoder_has_the_states_of_its_language_model(pieces: Pieces, tmp_path: Path) -> None:
    model = made(pieces, parallel=False)[0].eval()
    network = begun(pieces, tmp_path, SMALL, {"encoder": model})
    tokens = torch.tensor(pieces.encode(["fr1 fr2 fr3"]))
    mask = torch.ones_like(tokens, dtype=torch.bool)
    for number, language in enumerate(model.languages):
        languages = torch.full((1, 1), number)
        expected = model.model.transformer(Inputs(tokens, mask, languages=languages))

        found = network.memory(Padded(tokens, mask), language).vectors
        torch.testing.assert_close(found, expected)


@torch.no_grad()
def test_a_decoder_that_attends_to_nothing_predicts_as_its_language_model(
    pieces: Pieces, tmp_path: Path
) -> None:
    model = made(pieces, replace(TINY, objective="clm"), parallel=False)[0].eval()
    network = begun(pieces, tmp_path, SMALL, {"decoder": model})
    layer = network.decoder.layers[0]
    layer.multihead_attn.out_proj.weight.zero_()
    layer.multihead_attn.out_proj.bias.zero_()
    ids = torch.tensor([[2, *pieces.encode(["en1 en2 en3"])[0]]])
    state = network.decoder.embedded(Inputs(ids, languages=torch.ones(1, 1, dtype=torch.long)))
    attended = layer.self_attn(*[state.transpose(0, 1)] * 3, attn_mask=_causal(ids.shape[1]))[0]
    state = layer.norm1(state + attended.transpose(0, 1))
    state = layer.norm3(state + layer.linear2(torch.nn.functional.gelu(layer.linear1(state))))
    expected = model.model.transformer(Inputs(ids, languages=torch.zeros(1, 1, dtype=torch.long)))
    torch.testing.assert_close(state, expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(network.bias, model.model.bias)


def _causal(t: int) -> torch.Tensor:
    return torch.ones(t, t, dtype=torch.bool).triu(1)


def test_tables_from_the_space_or_at_random_each_for_its_part(pieces: Pieces, tmp_path: Path) -> None:
    space = toy_space(tmp_path / "rows")
    rows = aligned_rows(pieces, ("fr", "en"), space, 16, 0)
    network = begun(pieces, tmp_path, replace(SMALL, encoder="space"))
    ids = torch.arange(len(pieces))
    torch.testing.assert_close(network.encoder.table(ids), rows)
    assert not torch.allclose(network.decoder.table(ids), rows)
    both = begun(pieces, tmp_path, replace(SMALL, encoder="space", decoder="space"))
    torch.testing.assert_close(both.decoder.table(ids), rows)
    assert both.encoder.table is not both.decoder.table  # which part as they learn
    torch.testing.assert_close(both.bias.exp()[EOS], torch.tensor(8.0))


def test_a_language_model_must_know_the_languages(pieces: Pieces, tmp_path: Path) -> None:
    model = made(pieces, parallel=False)[0]
    counts = {name: torch.ones(len(pieces), dtype=torch.long) for name in ("en", "de")}
    space = toy_space(tmp_path / "space")
    with pytest.raises(BadSetting, match="en, fr without de"):
        seq2seq.untrained_translator(SMALL, pieces, counts, space, {"encoder": model}, 0)


def test_sizes_are_those_of_the_language_model(pieces: Pieces) -> None:
    models = {"decoder": made(pieces, parallel=False)[0]}  # length 16, of which two frame a sentence
    config = seq2seq.sized_by(models, replace(SMALL, longest=48, layers=6))
    assert (config.layers, config.hidden, config.longest) == (1, 16, 14)
    seq2seq.sized_by(models, replace(SMALL, longest=10, layers=6), ("longest", "hidden", "dropout"))
    assert seq2seq.sized_by({}, replace(SMALL, layers=6), ("layers",)).layers == 6
    for name, value, needed in (("layers", 6, "1"), ("hidden", 32, "16"), ("longest", 15, "at most 14")):
        with pytest.raises(BadSetting, match=f"{name} must be {needed}, .* of the decoder, got {value}"):
            seq2seq.sized_by(models, replace(SMALL, **{name: value}), (name,))  # type: ignore[arg-type]
