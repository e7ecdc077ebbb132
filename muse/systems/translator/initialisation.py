"""Initialisation: how encoder and decoder begin, each at random, from the space, or from a language model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.space import AlignedSpace
from muse.systems.networks.token_table import random_rows
from muse.systems.networks.transformer import TransformerLayers
from muse.systems.piece_rows import aligned_rows
from muse.systems.pieces import Pieces
from muse.systems.translator.config import ORDERED, RANDOM, SPACE, TranslatorConfig
from muse.systems.translator.network import TranslatorNetwork
from muse.systems.translator.ordered import attend_in_order
from muse.systems.xlm.network import XlmNetwork
from muse.systems.xlm.tuning import open_xlm
from muse.training.seeding import generator_for

SIZES = ("pieces", "layers", "heads", "hidden", "longest")  # the settings that language models decide


@dataclass(frozen=True, eq=False)
class Pretrained:
    """The language models that a config names, by the part that each begins."""

    models: Mapping[str, XlmNetwork]

    @property
    def pieces(self) -> Pieces | None:
        """Their pieces, if there are any models."""
        return next((model.pieces for model in self.models.values()), None)

    def sized(self, config: TranslatorConfig) -> TranslatorConfig:
        """The config with the sizes of the models."""
        for model in self.models.values():
            own = model.config
            longest = min(config.longest, own.length - 2)
            return replace(
                config, pieces=own.pieces, layers=own.layers, heads=own.heads, hidden=own.hidden,
                longest=longest,
            )  # fmt: skip
        return config

    def check_sizes(self, config: TranslatorConfig, named: Collection[str]) -> None:
        """Raise BadSetting if a setting that was `named` is another than that of the models."""
        own = self.sized(config)
        for name in SIZES:
            given, needed = getattr(config, name), getattr(own, name)
            if name in named and given != needed:
                most = "at most " if name == "longest" else ""
                raise BadSetting(
                    f"{name} must be {most}{needed}, as in the language model of the "
                    f"{' and '.join(self.models)}, got {given}; leave it out, or train such a language model"
                )

    def label(self, part: str, given: str) -> str:
        """How a part begins, in a word: random, space, or the objective of its model."""
        return self.models[part].config.objective if part in self.models else given


def open_pretrained(config: TranslatorConfig, space: AlignedSpace) -> Pretrained:
    """The language models of a config; BadSetting if two do not fit each other."""
    given = {"encoder": config.encoder, "decoder": config.decoder}
    models = {
        part: open_xlm(Path(name), space) for part, name in given.items() if name not in (RANDOM, SPACE)
    }
    if len(models) == 2 and not _alike(models["encoder"], models["decoder"]):
        raise BadSetting(
            f"encoder and decoder must begin with models of the same pieces and sizes, got {config.encoder} "
            f"and {config.decoder}; train both on the same text with the same --seed"
        )
    return Pretrained(models)


def _alike(one: XlmNetwork, other: XlmNetwork) -> bool:
    sizes = [(x.config.layers, x.config.heads, x.config.hidden, x.config.length) for x in (one, other)]
    return sizes[0] == sizes[1] and one.pieces.tokens == other.pieces.tokens


def untrained_translator(
    config: TranslatorConfig,
    pieces: Pieces,
    counts: Mapping[str, Tensor],
    space: AlignedSpace,
    pretrained: Pretrained,
    seed: int,
) -> TranslatorNetwork:
    """The network before training; `counts` (v,) are those of the pieces in the text of each language.

    The output bias begins with the logarithms of the counts, or is that of the decoder's model.
    """
    generator, languages = generator_for(seed, 0), tuple(counts)
    rows = {RANDOM: random_rows(len(pieces), config.hidden, generator_for(seed, 1))}
    if SPACE in (config.encoder, config.decoder):
        rows[SPACE] = aligned_rows(pieces, languages, space, config.hidden, seed)
    tables = [rows.get(name, rows[RANDOM]) for name in (config.encoder, config.decoder)]
    network = TranslatorNetwork(config, pieces, languages, (tables[0], tables[1]), generator)
    table = torch.stack(list(counts.values()))  # (languages, v)
    network.only_written_with(table)
    with torch.no_grad():
        network.bias.copy_(table.sum(dim=0).clamp(min=1).log())
    for part, model in pretrained.models.items():
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
