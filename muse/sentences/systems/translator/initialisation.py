"""Initialisation of encoder and decoder: each at random, from the space, or from a language model.

With attention in order, a model translates word by word before it has learned anything. A Transformer is slow
to learn which word of the source each word of a translation stands for, and where both lookup tables are
aligned little else is missing: the row of what it attends to is close to the row of the translation. Here the
last dimensions, as many as one head has, hold positions alone, and the others hold pieces. In the decoder's
last layer every head compares positions and copies pieces. The decoder's positions are the encoder's, one
further: piece i is predicted where piece i - 1 is read. Every parameter is then learned.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.systems.networks.transformer import TransformerLayers, random_rows
from muse.sentences.systems.pieces import Pieces, aligned_rows
from muse.sentences.systems.translator.seq2seq import (
    ORDERED,
    RANDOM,
    SPACE,
    TranslatorConfig,
    TranslatorNetwork,
)
from muse.sentences.systems.xlm.language_model import XlmNetwork
from muse.sentences.systems.xlm.tuning import open_xlm
from muse.space import Space

POSITIONS = 2.0  # the scale of positions relative to pieces
SHARPNESS = 2.0  # of attention, squared in the product of queries and keys
COPIED = 4.0  # the scale of copied states relative to the decoder's own
GAIN = 4.0  # of the last norm, so that rows count for more than the frequencies of pieces
BIAS = 0.2  # of the logarithms of the counts


def untrained_translator(
    config: TranslatorConfig,
    pieces: Pieces,
    counts: Mapping[str, Tensor],
    space: Space,
    pretrained: Mapping[str, XlmNetwork],
    seed: int,
) -> TranslatorNetwork:
    """The network before training; `counts` (v,) are the counts of pieces in the text of each language.

    The output bias is initialised with the logarithms of the counts, or copied from the decoder's model.
    """
    generator, languages = generator_for(seed, *TrainingStream.FIRST), tuple(counts)
    rows = {RANDOM: random_rows(len(pieces), config.hidden, generator_for(seed, *TrainingStream.SECOND))}
    if SPACE in (config.encoder, config.decoder):
        rows[SPACE] = aligned_rows(pieces, languages, space, config.hidden, seed)
    tables = [rows.get(name, rows[RANDOM]) for name in (config.encoder, config.decoder)]
    network = TranslatorNetwork(config, pieces, languages, (tables[0], tables[1]), generator)
    table = torch.stack(list(counts.values()))  # (languages, v)
    network.only_written_with(table)
    with torch.no_grad():
        network.bias.copy_(table.sum(dim=0).clamp(min=1).log())
    for part, model in pretrained.items():
        layers = network.encoder if part == "encoder" else network.decoder
        copy_layers(model.model.transformer, layers, [_number(model, name) for name in languages])
        if part == "decoder":
            network.bias.data.copy_(model.model.bias.data)
    if config.attention == ORDERED:
        attend_in_order(network)
    return network


def _number(model: XlmNetwork, language: str) -> int:
    if language not in model.languages:
        raise BadSetting(
            f"the language models must know every language of the text, got one of "
            f"{', '.join(model.languages)} without {language}"
        )
    return model.languages.index(language)


def open_pretrained(config: TranslatorConfig, space: Space) -> dict[str, XlmNetwork]:
    """The language models of a config, by the part that each initialises; BadSetting if two do not fit."""
    models = {part: open_xlm(folder, space) for part, folder in config.folders().items()}
    if len(models) == 2 and _sizes(models["encoder"]) != _sizes(models["decoder"]):
        raise BadSetting(
            f"encoder and decoder must have models of the same pieces and sizes, got {config.encoder} "
            f"and {config.decoder}; train both on the same text with the same --seed"
        )
    return models


def _sizes(model: XlmNetwork) -> tuple[object, ...]:
    own = model.config
    return own.layers, own.heads, own.hidden, own.length, model.pieces.tokens


def sized_by(
    models: Mapping[str, XlmNetwork], config: TranslatorConfig, named: Collection[str] = ()
) -> TranslatorConfig:
    """The config with the sizes of the models; BadSetting if a setting that was `named` differs from them."""
    if not models:
        return config
    own = next(iter(models.values())).config
    sizes = {name: getattr(own, name) for name in ("pieces", "layers", "heads", "hidden")}
    sizes["longest"] = min(config.longest, own.length - 2)
    for name, needed in sizes.items():
        given = getattr(config, name)
        if name in named and given != needed:
            most = "at most " if name == "longest" else ""
            raise BadSetting(
                f"{name} must be {most}{needed}, as in the language model of the {' and '.join(models)}, "
                f"got {given}; leave it out, or train such a language model"
            )
    return replace(config, **sizes)


def copy_layers(model: TransformerLayers, part: TransformerLayers, languages: Sequence[int]) -> None:
    """Gives an encoder or a decoder the parameters of a language model; attention to a memory stays as it is.

    `languages` are the numbers in the model of the part's languages.
    """
    given, own = model.state_dict(), part.state_dict()
    for name, value in given.items():
        if name == "_languages":
            own[name] = value[list(languages)]
        elif name == "_positions":
            own[name] = value[: len(own[name])]
        elif part.config.memory and ".norm2." in name:
            # In a decoder's layer the second norm belongs to the memory, the third to the feed-forward part.
            own[name.replace(".norm2.", ".norm3.")] = value
        else:
            own[name] = value
    part.load_state_dict(own)


@torch.no_grad()
def attend_in_order(network: TranslatorNetwork) -> None:
    """Sets the parameters of a network before training; encoder and decoder have rows of one space."""
    hidden, heads = network.config.hidden, network.config.heads
    of_pieces = torch.arange(hidden) < hidden - hidden // heads  # (h,)
    encoder, decoder = (part.state_dict() for part in (network.encoder, network.decoder))  # not copies
    for part in (encoder, decoder):
        rows = part["table._rows"]  # (v, h)
        spread = float(rows.square().mean().sqrt())
        rows[:, ~of_pieces] = 0.0
        rows *= spread / float(rows[:, of_pieces].square().mean().sqrt())
        part["_positions"][:, of_pieces] = 0.0
        part["_languages"].zero_()
    encoder["_positions"] *= POSITIONS
    decoder["_positions"][:-1] = encoder["_positions"][1:]
    positions = torch.eye(hidden)[~of_pieces].repeat(heads, 1)  # (h, h), the same for every head
    copied = torch.diag(of_pieces.float())
    layer = network.decoder.layers[-1]
    layer.multihead_attn.in_proj_weight.copy_(
        torch.cat([SHARPNESS * positions, SHARPNESS * positions, copied])
    )
    layer.multihead_attn.out_proj.weight.copy_(COPIED * torch.eye(hidden))
    layer.norm3.weight.fill_(GAIN)
    network.bias.mul_(BIAS)
