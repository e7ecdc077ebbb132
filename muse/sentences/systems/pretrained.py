"""Pretrained: the encoder in a Hugging Face folder as it is, without training.

A sentence is the mean of the last states of its pieces, without those that the model expects around them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.backbone import Backbone, open_backbone, restored_backbone
from muse.sentences.systems.network_encoder import NetworkEncoder, SentenceNetwork
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.space import Space

PRETRAINED = "pretrained"


class PretrainedNetwork(SentenceNetwork):
    """A backbone, which is not saved, and the mean over its pieces."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone, self.dimension, self.reader = backbone, backbone.dimension, backbone.reader

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, K) of sentences."""
        return masked_mean(*self.backbone.matrices(batch, language))


def is_pretrained(folder: Path) -> bool:
    """Whether a folder has a model as Hugging Face's libraries save it."""
    return (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))


def pretrained(folder: Path, space: Space) -> NetworkEncoder:
    """The encoder in a folder, for all languages of a space."""
    backbone = open_backbone(space, folder)
    settings = {"system": PRETRAINED, "backbone": dict(backbone.settings)}
    label = f"{PRETRAINED}[{backbone.name}]"
    return NetworkEncoder(label, space, tuple(space.languages), PretrainedNetwork(backbone), settings)


def restored_pretrained(settings: Mapping[str, Any], space: Space) -> SentenceNetwork:
    """The network of a saved one; Mismatch if the weights in its folder have changed."""
    return PretrainedNetwork(restored_backbone(settings["backbone"], space))
