"""Classification: the label that a trained network gives each pair of sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from muse.encoders.encoder import SentenceEncoder, check_trained_for
from muse.errors import BadSetting
from muse.files.nli import LABELS
from muse.progress import Progress
from muse.systems.network_encoder import NetworkEncoder
from muse.systems.nli.pair_classes import PairNetwork
from muse.training.pairs import read_text

Classes = NDArray[np.int64]
_ROWS = 256  # pairs classified at once


def classify(
    encoder: SentenceEncoder,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    language: str,
    *,
    progress: Progress,
) -> Classes:
    """The index (p,) in LABELS of each pair's label; -1 if a sentence of the pair has no known word.

    BadSetting if the encoder has no classifier of inferences, or was not trained for the language.
    """
    network = _classifier(encoder)
    check_trained_for(encoder, language)
    reader = network.reader(language)
    first, second = (read_text(side, reader, progress).sentences for side in (premises, hypotheses))
    known = ((first.lengths > 0) & (second.lengths > 0)).nonzero()[:, 0]
    device = network.device
    found = torch.full((len(premises),), -1)
    with torch.no_grad():
        for rows in torch.split(known, _ROWS) if len(known) else ():  # of nothing, there would be one part
            one, other = (side.take(rows).to(device) for side in (first, second))
            found[rows] = network.logits(one, other, (language, language)).argmax(dim=1).cpu()
    labels: Classes = found.numpy()
    return labels


def _classifier(encoder: SentenceEncoder) -> PairNetwork:
    """The network of an encoder that was trained on inferences."""
    network = encoder.network if isinstance(encoder, NetworkEncoder) else None
    if not (isinstance(network, PairNetwork) and network.classes == len(LABELS)):
        raise BadSetting(
            f"inference needs an encoder that was trained with --nli, such as infersent, x-bilstm, lens, "
            f"cmlm or xlm; {encoder.name} has no classifier of {', '.join(LABELS)}"
        )
    return network.eval()
