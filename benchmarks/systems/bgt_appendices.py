"""Appendices A and B of BGT's paper: where the decoder reads the sentence, and how large a batch is.

    python -m benchmarks.systems.bgt_appendices --space SPACE --out FILE.csv
        [--places "word;attention;logit;word + logit"] [--tokens 0,1000] [--set hidden=64]
        [--pairs 15000] [--epochs 5] [--rate 0.001] [--seeds 0-2] [--shared ../shared]

EnglishTrans, as there: from the vector of an English sentence a decoder of one Transformer layer writes the
French one. The encoder is a bag of pieces, or layers by --set. The vector goes, after a linear map, to every
embedding that the decoder reads (word), to the attention of its layer, or beside the states that the scores
are made of (logit). With --tokens a batch has so many a side, with 0 256 pairs. A row has the held-out loss
of the best epoch, with label smoothing, processor seconds an epoch, and Pearson's correlation x 100 of STS
2012 to 2016 with their mean, whose interval takes the years as independent. Rows that the file has are not
made again.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple
from unittest import mock

import torch
from torch import Tensor, nn

from benchmarks.sentences.sentences import named
from benchmarks.sentences.senteval import YEARS
from benchmarks.support.kept_rows import Row, interval_columns, read_rows, with_interval
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import beside_english, training
from benchmarks.support.tables import append_rows, commit, numbers, today
from benchmarks.systems.bgt_rows import TEXT, effective, mean_over_years, over_years
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.systems.bgt import bgt_system
from muse.sentences.systems.bgt.latent_network import BgtNetwork, Decoder, Scores
from muse.sentences.systems.networks.transformer import (
    Inputs,
    Memory,
    TransformerConfig,
    TransformerLayers,
    draw_,
)
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.space import Space, load_space

PLACES = ("word", "attention", "logit", "word + attention", "word + logit", "attention + logit",
          "word + attention + logit")  # fmt: skip
SIZES = {"hidden": "64", "semantic": "64", "feed_forward": "64", "vocabulary": "1000", "bag": "pieces"}
ENGLISH_TRANS = {"decoder_layers": "1", "read_from": "pivot", "reconstruction": "0"}
KEY = ("places", "tokens", "encoder_layers", "pairs", "epochs", "rate", "seed")
COLUMNS = (*KEY, "steps", "epoch_s", "loss", *YEARS, *interval_columns("sts"), "commit", "date")


class PlacedLayers(TransformerLayers):
    """The layers of a decoder, which read the sentence's vector, their memory, in the given places only."""

    def __init__(self, config: TransformerConfig, places: str, generator: torch.Generator) -> None:
        super().__init__(replace(config, memory="attention" in places), generator)
        self._word = nn.Linear(config.hidden, config.hidden, bias=False) if "word" in places else None
        if self._word is not None:
            draw_(self._word, generator)

    def forward(self, inputs: Inputs, memory: Memory | None = None) -> Tensor:
        """The states (b, t, h)."""
        if memory is not None and self._word is not None:
            inputs = inputs._replace(tokens=self.table(inputs.tokens) + self._word(memory.vectors))
        return super().forward(inputs, memory if self.config.memory else None)


class ScoresOfStates(Scores):
    """Scores of the first h columns, the states without the vector beside them."""

    def forward(self, states: Tensor) -> Tensor:
        """The scores (..., v) of states (..., h + k)."""
        return super().forward(states[..., : self._map.in_features])


def placed(places: str) -> type[BgtNetwork]:
    """The network whose decoders read the vector in these places."""

    class Placed(BgtNetwork):
        def _decoder(
            self, place: int, latents: int, generator: torch.Generator, *, counts: bool = False
        ) -> Decoder:
            config = self.config
            sizes = config.transformer(config.decoder_layers, decoder=True)
            kind, width = (Scores, latents) if "logit" in places else (ScoresOfStates, 0)
            scores = kind(config.hidden + width, config.vocabulary, None, generator)
            return Decoder(scores, PlacedLayers(sizes, places, generator))

    return Placed


class Asked(NamedTuple):
    """A row that is asked for."""

    places: str
    tokens: int
    seed: int


def measured(one: Asked, space: Space, text: Path, asked: argparse.Namespace) -> Row:
    """The row."""
    own = dict(map(named, asked.set))
    settings = effective({**SIZES, **ENGLISH_TRANS, **own, "tokens": str(one.tokens)})
    request = TrainingRequest(
        space, beside_english(space), text.with_name("out"), parallel=(text,), settings=settings,
        trainer={"epochs": asked.epochs, "rate": asked.rate}, seed=one.seed,
    )  # fmt: skip
    # The seconds of an epoch are the processor's: others may run beside this.
    with (
        mock.patch.object(bgt_system, "BgtNetwork", placed(one.places)),
        mock.patch("time.perf_counter", time.process_time),
    ):
        trained = train_system("bgt", request, Runtime(progress=Progress()))
    scores = over_years(trained.encoder, asked.shared / "data")
    mean = mean_over_years(scores)
    return {
        **one._asdict(), "encoder_layers": settings.get("encoder_layers", "0"), "pairs": asked.pairs,
        "epochs": asked.epochs, "rate": f"{asked.rate:g}", "steps": trained.epochs[-1].steps,
        "epoch_s": fmean([epoch.seconds for epoch in trained.epochs[1:]] or [0.0]),
        "loss": -trained.best.score, **{score.name: score.value for score in scores},
        **with_interval("sts", mean.value, mean.ci95), "commit": commit(), "date": today(),
    }  # fmt: skip


def main() -> None:
    """Makes the rows that are missing."""
    asked = command_line(
        __doc__, space=NEEDED, out=NEEDED, places=(";".join(PLACES), "with ; between"), tokens="0",
        set=(REPEATED, "a setting of the network"), pairs=15_000, epochs=5, rate=1e-3, seeds="0-2",
        shared=SHARED,
    )  # fmt: skip
    torch.set_num_threads(1)
    space = load_space(asked.space)
    learned = training(asked.shared / "data", beside_english(space))
    layers = dict(map(named, asked.set)).get("encoder_layers", "0")
    same = (layers, str(asked.pairs), str(asked.epochs), f"{asked.rate:g}")
    done = {tuple(row[name] for name in KEY) for row in read_rows(asked.out)}
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / TEXT
        lines = list(zip(learned.english, learned.other, strict=True))[: asked.pairs]
        text.write_text("".join(f"{en}\t{other}\n" for en, other in lines), encoding="utf-8")
        wanted = product(numbers(asked.seeds), asked.places.split(";"), numbers(asked.tokens))
        for seed, places, tokens in wanted:
            if (places, str(tokens), *same, str(seed)) not in done:
                row = measured(Asked(places, tokens, seed), space, text, asked)
                append_rows(asked.out, COLUMNS, [row])


if __name__ == "__main__":
    main()
