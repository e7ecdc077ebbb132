"""A left-to-right model of few French sentences: alone, and with much text of a near or a far language.

    python benchmarks/xlm_helper.py [--seeds 0-2] [--helpers alone,en,de] [--pieces N] [--hidden N]
        [--epochs N] [--patience N] [--batch N] [--rate R] [--dropout D] [--exponent A] [--shared ../shared]

5,000 sentences of French, alone and with six times as much English (near) or German (far), as in the paper
(Lample and Conneau, 2019, 5.4). Of the three languages there is text for, English shares more pieces with
French; the command prints how many. All have one vocabulary of pieces, learned from the three texts, the same
settings, and the same end: when --patience passes through the French text have not bettered the perplexity of
French held out from the 5,000. An epoch passes through it once; a model with a helper draws
its two languages by p^A, with the exponent 0 each half of the time (the paper: 0.7), so that its epochs have
twice the steps. The perplexity is that of 1,000 other French sentences, at the best epoch, which they do not
choose. The untrained twin knows the frequencies of pieces.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from pairs import SHARED
from sentence_sets import retrieval_sets, training
from tables import header, heading, numbers, row

from muse.encoders.ragged import Ragged
from muse.run.runtime import Runtime
from muse.systems.networks.masked_prediction import Predicted
from muse.systems.pieces import UNK, Pieces
from muse.systems.sampling import language_shares
from muse.systems.xlm.config import XlmConfig
from muse.systems.xlm.corpus import Sources, XlmCorpus, make_sources
from muse.systems.xlm.initialisation import untrained_network
from muse.systems.xlm.learner import XlmLearner
from muse.systems.xlm.masked_batches import following, side_by_side
from muse.systems.xlm.network import XlmNetwork
from muse.systems.xlm.streams import cut_streams
from muse.systems.xlm.system import PRESETS, scheduled
from muse.training.seeding import generator_for
from muse.training.trainer import TrainerConfig, best_epoch, train

FEW, LANGUAGE = 5_000, "fr"
HELPER, TEST = 30_000, 1_000  # sentences; the paper's helper has six times its target's
HELPERS = {"alone": (), "en": ("en",), "de": ("de",)}  # none, near, far
SMALL = PRESETS["small"]
CONFIG = {"pieces": 2_000, "hidden": 64, "dropout": SMALL.config.dropout, "exponent": 0.0}
TRAINER = {"epochs": 60, "patience": 4, "batch": 8, "rate": 4e-3}
COLUMNS = (
    "helper",
    "seed",
    "epochs",
    "best",
    "steps until then",
    "French pieces seen",
    "untrained",
    "perplexity",
    "seconds",
    "held out, by epoch",
)


@dataclass(frozen=True)
class Asked:
    """A seed, the helpers, and the sizes of the models."""

    seed: int
    helpers: Sequence[str]
    config: XlmConfig
    trainer: TrainerConfig


def few_and_many(data: Path, seed: int) -> tuple[dict[str, list[str]], list[str]]:
    """The sentences of each language, and those of French that are held out from all."""
    rng = random.Random(seed)
    test = next(one for one in retrieval_sets(data, LANGUAGE) if one.name == "tatoeba test").other[:TEST]
    french, german = training(data, LANGUAGE), training(data, "de")
    apart = [sentence for sentence in dict.fromkeys(french.other) if sentence not in set(test)]
    texts = {LANGUAGE: rng.sample(apart, FEW)}
    for language, text in (("en", french.english), ("de", german.other)):
        texts[language] = rng.sample(list(dict.fromkeys(text)), HELPER)
    return texts, test


def through_the_french(trainer: TrainerConfig, exponent: float, sources: Sources) -> TrainerConfig:
    """The trainer with epochs that pass through the French text once, however much else they draw."""
    sizes = {source.name: source.examples for source in sources.streams}
    share = language_shares(sizes, exponent)[LANGUAGE]
    return replace(trainer, steps=round(sizes[LANGUAGE] / share / trainer.batch))


def shared_pieces(texts: Mapping[str, Sequence[str]], pieces: Pieces) -> str:
    """How many of the pieces that French text has are pieces of the helpers' text too, in percent."""
    seen = {
        language: Counter(piece for ids in pieces.encode(text) for piece in ids)
        for language, text in texts.items()
    }
    french = set(seen["fr"]) - {UNK}
    shares = {name: 100 * len(french & set(seen[name])) / len(french) for name in ("en", "de")}
    return "pieces of French text that a helper's text has: " + ", ".join(
        f"{name} {share:.1f} %" for name, share in shares.items()
    )


@torch.no_grad()
def perplexity(network: XlmNetwork, streams: Ragged) -> float:
    """That of streams of French, which has the number 0."""
    network.eval()
    parts = torch.split(torch.arange(len(streams)), 32)
    told = (network.model.predict(side_by_side(following(streams.take(rows).padded(), 0))) for rows in parts)
    return sum(told, Predicted()).perplexity


def one_model(
    texts: Mapping[str, list[str]], test: Sequence[str], pieces: Pieces, asked: Asked
) -> list[object]:
    """The figures of a model of these texts."""
    sources = make_sources(
        asked.config,
        XlmCorpus({language: [text] for language, text in texts.items()}),
        pieces,
        seed=asked.seed,
        runtime=Runtime(),
    )
    network = untrained_network(asked.config, pieces, sources.counts, None, asked.seed)
    streams = Ragged.of(list(cut_streams(pieces.encode(test), asked.config.length)))
    before, began = perplexity(network, streams), time.process_time()
    learner = XlmLearner(network.model, sources.streams, judged=(LANGUAGE,), exponent=asked.config.exponent)
    trainer = through_the_french(asked.trainer, asked.config.exponent, sources)
    epochs = train(learner, scheduled(trainer, asked.config.warmup), seed=asked.seed, runtime=Runtime())
    best = best_epoch(epochs).number
    seen = best * int(sources.counts[LANGUAGE].sum())
    curve = " ".join(f"{100 / epoch.score:.1f}" for epoch in epochs)
    return [
        len(epochs) - 1,
        best,
        best * trainer.steps,
        f"{seen:,}",
        before,
        perplexity(network, streams),
        round(time.process_time() - began),
        curve,
    ]


def options() -> tuple[Path, list[Asked]]:
    """What the command line asks for: the data, and what to do of each seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--helpers", default=",".join(HELPERS))
    for name, default in (CONFIG | TRAINER).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--shared", type=Path, default=SHARED)
    given = vars(parser.parse_args())
    config = replace(
        SMALL.config, objective="clm", initial="random", **{name: given[name] for name in CONFIG}
    )
    trainer = replace(SMALL.trainer, **{name: given[name] for name in TRAINER})
    helpers = given["helpers"].split(",")
    runs = [Asked(seed, helpers, config, trainer) for seed in numbers(given["seeds"])]
    return given["shared"] / "data", runs


def main() -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    data, runs = options()
    heading("Cross-lingual language models: few sentences and a helper")
    for asked in runs:
        texts, test = few_and_many(data, asked.seed)
        pieces = Pieces.learned(texts, asked.config.pieces, generator_for(asked.seed, 2))
        print(f"Seed {asked.seed}: {shared_pieces(texts, pieces)}\n")
        header(COLUMNS)
        for name in asked.helpers:
            of_these = {language: texts[language] for language in (LANGUAGE, *HELPERS[name])}
            row([name, asked.seed, *one_model(of_these, test, pieces, asked)])
        print()


if __name__ == "__main__":
    main()
