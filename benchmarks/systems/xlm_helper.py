"""A left-to-right model of few French sentences: alone, and with text of a near, a far or both languages.

    python -m benchmarks.systems.xlm_helper --out FILE.csv [--seeds 0-2] [--helpers alone,it,de,ru,it+ru]
        [--pieces N] [--hidden N] [--epochs N] [--batch N] [--rate R] [--dropout D] [--exponent A]
        [--shared ../shared]
    python -m benchmarks.systems.xlm_helper --out FILE.csv --table

Table 4.15 of Conneau's thesis (2019; Lample and Conneau, 2019, 5.4): Nepali beside Hindi and English. Here a
sixth of the sentences of STS-B are French, and seven twelfths are the helpers' text, the same sentences in
every language: helpers differ in nothing but the language. The other quarter is the French test. Pairs,
and all sentences that share one, stay in one part, so that no sentence of a helper has its translation in
the French text or in the test. Italian is near and shares most pieces with French; Russian is far and shares
signs, figures and the letters of foreign names.

All have one vocabulary of pieces, learned from all texts, and pass through the French text --epochs times; a
model with helpers draws every language equally (exponent 0), so that it takes as many more steps. The
perplexity is that of the test at the epoch that is best on French held out from the few sentences; the test
chooses nothing. Rows that the file has are not made again.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, numbers, row, today
from muse.files.sentence_text import read_rated_sentences
from muse.run.runtime import Runtime
from muse.run.seeds import generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.corpora import language_shares
from muse.sentences.systems.networks.masked_prediction import Predicted
from muse.sentences.systems.pieces import UNK, Pieces
from muse.sentences.systems.xlm.corpus import Sources, XlmCorpus, cut_streams, make_sources
from muse.sentences.systems.xlm.language_model import XlmConfig, XlmNetwork, following, side_by_side
from muse.sentences.systems.xlm.xlm_system import PRESETS, XlmLearner, untrained_network
from muse.sentences.training.trainer import TrainerConfig, best_epoch, train

LANGUAGE = "fr"
FEW, HELPER, PARTS = 2, 9, 12  # of twelve parts the first two are the French text, seven the helpers'
HELPERS = {"alone": (), "it": ("it",), "de": ("de",), "ru": ("ru",), "it+ru": ("it", "ru")}
SMALL = PRESETS["small"]
CONFIG = {"pieces": 2_000, "hidden": 64, "dropout": SMALL.config.dropout, "exponent": 0.0}
TRAINER = {"epochs": 40, "batch": 8, "rate": 4e-3}
KEY = ("helper", "seed")
COLUMNS = (
    *KEY, "epochs", "best", "steps", "french_pieces", "helper_pieces", "shared", "untrained", "perplexity",
    "held_out_by_epoch", "seconds", "commit", "date",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A seed, and the sizes of the models."""

    seed: int
    config: XlmConfig
    trainer: TrainerConfig


def few_and_many(data: Path, seed: int) -> tuple[dict[str, list[str]], list[str]]:
    """The training sentences of each language, and the French test."""
    text = _by_language(data / "sts")
    place = {group: random.Random(f"{seed} {group}").randrange(PARTS) for group in set(text["group"])}
    parts = [place[group] for group in text["group"]]
    french = [(part, one) for part, one in zip(parts, text[LANGUAGE], strict=True)]
    texts = {LANGUAGE: _different(one for part, one in french if part < FEW)}
    for name in ("it", "de", "ru"):
        texts[name] = _different(
            one for part, one in zip(parts, text[name], strict=True) if FEW <= part < HELPER
        )
    return texts, _different(one for part, one in french if part >= HELPER)


def _by_language(folder: Path) -> dict[str, list[str]]:
    """The sentences of STS-B in each language, by line, and the group of each line.

    Sentences of one pair are of one group, and so are those that are equal in any language.
    """
    found: dict[str, list[str]] = {}
    for name in ("en", LANGUAGE, "it", "de", "ru"):
        rated = [read_rated_sentences(folder / f"stsb-{name}-{part}.csv") for part in ("dev", "test")]
        found[name] = [
            line for part in rated for pair in zip(part.first, part.second, strict=True) for line in pair
        ]
    groups = list(range(len(found["en"])))

    def root(line: int) -> int:
        while groups[line] != line:
            line = groups[line]
        return line

    for first in range(0, len(groups), 2):
        groups[first + 1] = first
    for lines in found.values():
        seen: dict[str, int] = {}
        for line, sentence in enumerate(lines):
            one, other = sorted((root(line), root(seen.setdefault(sentence.lower(), line))))
            groups[other] = one
    return {**found, "group": [str(root(line)) for line in range(len(groups))]}


def _different(lines: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(lines))


def through_the_french(trainer: TrainerConfig, exponent: float, sources: Sources) -> TrainerConfig:
    """The trainer with epochs that pass through the French text once, however much else they draw."""
    sizes = {source.name: source.examples for source in sources.streams}
    share = language_shares(sizes, exponent)[LANGUAGE]
    return replace(trainer, steps=round(sizes[LANGUAGE] / share / trainer.batch))


def shared_pieces(texts: Mapping[str, Sequence[str]], pieces: Pieces) -> float:
    """The percentage of the pieces of French text, as often as they occur, that a helper's text has."""
    seen = {
        language: Counter(piece for ids in pieces.encode(text) for piece in ids)
        for language, text in texts.items()
    }
    there = {piece for language, counts in seen.items() if language != LANGUAGE for piece in counts} - {UNK}
    french = seen[LANGUAGE]
    return 100 * sum(count for piece, count in french.items() if piece in there) / french.total()


@torch.no_grad()
def perplexity(network: XlmNetwork, streams: Ragged) -> float:
    """That of streams of French, which has the number 0."""
    network.eval()
    parts = torch.split(torch.arange(len(streams)), 32)
    told = (network.model.predict(side_by_side(following(streams.take(rows).padded(), 0))) for rows in parts)
    return sum(told, Predicted()).perplexity


def one_model(
    texts: Mapping[str, list[str]], test: Sequence[str], pieces: Pieces, asked: Asked
) -> dict[str, object]:
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
    epochs = train(learner, trainer.with_warmup(asked.config.warmup), seed=asked.seed, runtime=Runtime())
    counts = {language: int(found.sum()) for language, found in sources.counts.items()}
    return {
        "epochs": len(epochs) - 1, "best": best_epoch(epochs).number,
        "steps": (len(epochs) - 1) * trainer.steps, "french_pieces": counts.pop(LANGUAGE),
        "helper_pieces": sum(counts.values()), "shared": shared_pieces(texts, pieces), "untrained": before,
        "perplexity": perplexity(network, streams),
        "held_out_by_epoch": " ".join(f"{100 / epoch.score:.1f}" for epoch in epochs),
        "seconds": round(time.process_time() - began), "commit": commit(), "date": today(),
    }  # fmt: skip


def show(rows: Sequence[dict[str, str]]) -> None:
    """Prints the perplexity by helper, mean over seeds with each."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for one in rows:
        found[one["helper"]].append(one)
    header(["helper", "its pieces of French, %", "perplexity", "by seed", "best epoch"])
    for name, some in found.items():
        values = [float(one["perplexity"]) for one in some]
        shared = float(np.mean([float(one["shared"]) for one in some]))
        bests = ", ".join(one["best"] for one in some)
        row([name, shared, float(np.mean(values)), ", ".join(f"{one:.1f}" for one in values), bests])


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--helpers", default=",".join(HELPERS))
    for name, default in (CONFIG | TRAINER).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--table", action="store_true", help="print the table of the rows there are")
    parser.add_argument("--shared", type=Path, default=SHARED)
    return parser.parse_args()


def made(given: argparse.Namespace, seed: int) -> Iterator[Row]:
    """The rows of a seed that the file lacks."""
    chosen = {name: getattr(given, name) for name in CONFIG}
    config = replace(SMALL.config, objective="clm", initial="random", **chosen)
    trainer = replace(
        SMALL.trainer, patience=given.epochs, **{name: getattr(given, name) for name in TRAINER}
    )
    asked = Asked(seed, config, trainer)
    texts, test = few_and_many(given.shared / "data", seed)
    pieces = Pieces.learned(texts, config.pieces, generator_for(seed, 2))
    done = {tuple(one[name] for name in KEY) for one in read_rows(given.out)}
    for name in given.helpers.split(","):
        if (name, str(seed)) not in done:
            of_these = {language: texts[language] for language in (LANGUAGE, *HELPERS[name])}
            yield {"helper": name, "seed": seed, **one_model(of_these, test, pieces, asked)}


def main() -> None:
    """Makes the rows that are missing, and prints the table."""
    torch.set_num_threads(1)
    given = options()
    for seed in [] if given.table else numbers(given.seeds):
        for one in made(given, seed):
            append(given.out, [one], COLUMNS)
    show(read_rows(given.out))


if __name__ == "__main__":
    main()
