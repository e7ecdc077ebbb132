"""Cross-lingual language models: what a translation tells, what the aligned space is worth, and a helper.

    python benchmarks/xlm.py --space SPACE [--seeds 0-2] [--parts masked,helper] [--sentences N]
        [--pieces N] [--hidden N] [--length N] [--pair-tokens N] [--epochs N] [--steps N] [--batch N]
        [--rate R] [--shared ../shared]

The model is the small preset but for what these options say.

masked: MLM + TLM over Tatoeba, English and French, from the aligned space and from random rows. Half of the
training pairs are for TLM; of the other half come the texts for MLM, which share no sentence with them. Of
the test pairs, 15 % of the pieces of both sides are hidden, and those of one side are told without a
translation, with the true one, with one of another sentence of about the same length; the same blanks all
three times, the mean of both directions. Then Table 4.16 of the thesis: cosine and L2 of dictionary pairs in
the lookup table, and P@1 by cosine among all words of the space.

helper: a left-to-right model of French from 5,000 sentences, alone and with six times as much English (near)
or German (far). Of the three languages there is text for, English shares more pieces with French; the
command prints how many. All take as many steps, those with a helper four fifths of them on its text. They
have one vocabulary of pieces, learned from the three texts, and are stopped on French text held out from the
5,000; the perplexity is that of 1,000 other French sentences.

The untrained twin is the same model at step 0, which knows the frequencies of pieces.
"""

from __future__ import annotations

import argparse
import gzip
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from pairs import SHARED
from tables import header, heading, numbers, row

from muse.evaluation.words import evaluate_words
from muse.files.lexicon_text import read_lexicon
from muse.files.parallel_text import ParallelText
from muse.lexicon import Lexicon
from muse.networks.batching import Ragged
from muse.networks.masked_prediction import Predicted, rarity
from muse.retrieval import Retrieval
from muse.runtime import Runtime
from muse.sentences.pairs import Pairs, Sentences
from muse.sentences.pieces import UNK, Pieces
from muse.sentences.seeding import generator_for
from muse.sentences.trainer import TrainerConfig, best_epoch, train
from muse.sentences.xlm.beginning import first_network
from muse.sentences.xlm.config import XlmConfig
from muse.sentences.xlm.corpus import Corpus, make_sources
from muse.sentences.xlm.exercises import following, side_by_side
from muse.sentences.xlm.learner import XlmLearner
from muse.sentences.xlm.network import PieceReader, XlmNetwork
from muse.sentences.xlm.sources import Chances, PairSource
from muse.sentences.xlm.streams import cut_streams
from muse.sentences.xlm.system import PRESETS, scheduled
from muse.space import AlignedSpace, load_space

PAIR = ("en", "fr")
TEST = 1_000  # pairs
LOW, HELPER, HELD_OUT = 5_000, 30_000, 1_000  # sentences; the paper's helper has six times its target's
SMALL = PRESETS["small"]
Text = list[tuple[str, str]]


@dataclass(frozen=True)
class Asked:
    """The options of the command line, and the sizes that they make of the small preset."""

    space: AlignedSpace
    data: Path
    seeds: Sequence[int]
    sentences: int
    config: XlmConfig
    trainer: TrainerConfig


def read(path: Path) -> Text:
    """The pairs of a file of two columns."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        pairs = (line.rstrip("\n").split("\t") for line in lines)
        return [(pair[0], pair[1]) for pair in pairs]


def parted(asked: Asked, seed: int) -> tuple[Corpus, Text]:
    """The corpus of a seed, without a sentence of the test pairs, and the test pairs."""
    folder = asked.data / "parallel"
    test = read(folder / "tatoeba.en-fr.test.tsv.gz")
    known = [{pair[side] for pair in test} for side in (0, 1)]
    pairs = [pair for pair in read(folder / "tatoeba.en-fr.train.tsv.gz") if apart(pair, known)]
    random.Random(seed).shuffle(pairs)
    for_pairs, for_text = pairs[: asked.sentences], pairs[len(pairs) // 2 :]
    known = [{pair[side] for pair in pairs[: len(pairs) // 2]} for side in (0, 1)]
    texts = {
        language: [
            [s for s in dict.fromkeys(p[side] for p in for_text) if s not in known[side]][: asked.sentences]
        ]
        for side, language in enumerate(PAIR)
    }
    return Corpus(texts, PAIR, ParallelText(*zip(*for_pairs, strict=True))), test[:TEST]


def apart(pair: tuple[str, str], known: Sequence[set[str]]) -> bool:
    """Whether neither side is known."""
    return not any(sentence in side for sentence, side in zip(pair, known, strict=True))


def test_source(test: Text, pieces: Pieces, config: XlmConfig, weights: torch.Tensor) -> PairSource:
    """The test pairs, those of like length together."""
    reader = PieceReader(pieces, config.length)
    ordered = sorted(test, key=lambda pair: (len(pair[1]), pair))
    keys = np.arange(len(test))
    sides = [Sentences.of(reader.bags([p[side] for p in ordered]), keys, "cpu") for side in (0, 1)]
    pairs = Pairs(sides[0], sides[1], torch.arange(0), torch.arange(len(test)), 0)
    return PairSource(PAIR, (0, 1), pairs, 0, Chances(config.masking(len(pieces)), weights))


def beside_translations(network: XlmNetwork, source: PairSource) -> dict[str, Predicted]:
    """How hidden pieces are told without a translation, with the true one, with another's."""
    network.eval()
    generator, found = generator_for(9), dict.fromkeys(("none", "true", "shuffled"), Predicted())
    for rows in torch.split(source.pairs.held_out, 100):
        sides, others = (source.sides(part, generator) for part in (rows, rows.roll(1)))
        for place in (0, 1):
            told = network.model.told
            found["none"] += told(side_by_side(sides[place]))
            found["true"] += told(side_by_side(sides[place], sides[1 - place].silent()))
            found["shuffled"] += told(side_by_side(sides[place], others[1 - place].silent()))
    return found


@dataclass(frozen=True)
class Words:
    """Dictionary pairs in a lookup table: mean cosine, mean L2 distance, P@1."""

    cosine: float
    distance: float
    p_at_1: float


def words(network: XlmNetwork, space: AlignedSpace, lexicon: Lexicon) -> Words:
    """What the lookup table is worth as word vectors."""
    rows = {language: network.word_rows(space.vectors(language).words) for language in PAIR}
    return measured(rows, network.word_space(space), lexicon)


def measured(rows: Mapping[str, torch.Tensor], space: AlignedSpace, lexicon: Lexicon) -> Words:
    """The same of rows (n, d) of the words of a space, and the space of these rows at unit length."""
    en, fr = (space.vectors(language).index for language in PAIR)
    found = [(fr[x], en[y]) for x, y in lexicon.pairs if x in fr and y in en]
    x, y = (rows[name][[pair[side] for pair in found]] for side, name in enumerate(PAIR[::-1]))
    score = evaluate_words(
        space, lexicon, rng=np.random.default_rng(0), source="fr", target="en", retrieval=Retrieval("nn")
    )
    cosine = float(torch.nn.functional.cosine_similarity(x, y).mean())
    return Words(cosine, float((x - y).norm(dim=1).mean()), score.p_at_1)


def masked(asked: Asked) -> None:
    """Prints the tables of MLM + TLM."""
    lexicon = read_lexicon(asked.data / "dictionaries" / "fr-en.5000-6500.txt")
    own = {language: torch.tensor(asked.space.vectors(language).matrix) for language in PAIR}
    print(f"The rows of the space: {measured(own, asked.space, lexicon)}.\n")
    header(COLUMNS)
    curves = []
    for seed in asked.seeds:
        corpus, test = parted(asked, seed)
        pieces = Pieces.learned(corpus.sentences, asked.config.pieces, generator_for(seed, 2))
        for initial in ("aligned", "random"):
            config = replace(asked.config, initial=initial)
            sources = make_sources(config, corpus, pieces, seed=seed, runtime=Runtime())
            network = first_network(config, pieces, sources.counts, asked.space, seed)
            weights = rarity(torch.stack(list(sources.counts.values())).sum(dim=0))
            exam = Exam(network, test_source(test, pieces, config, weights), asked.space, lexicon)
            began = time.process_time()
            row([initial, seed, "untrained", *exam.cells(), 0])
            learner = XlmLearner(network.model, sources.streams, sources.pairs)
            epochs = train(learner, scheduled(asked.trainer, config), seed=seed, runtime=Runtime())
            seconds = round(time.process_time() - began)
            row([initial, seed, f"epoch {best_epoch(epochs).number}", *exam.cells(), seconds])
            curves.append((initial, seed, epochs))
    print("\nHeld-out perplexity by epoch, from before training, the mean of en, fr and pairs:\n")
    header(["initial", "seed", "perplexity"])
    for initial, seed, epochs in curves:
        row([initial, seed, " ".join(f"{100 / epoch.score:.0f}" for epoch in epochs)])


COLUMNS = (
    "initial",
    "seed",
    "model",
    *(f"{beside}: top-1, top-10, perplexity" for beside in ("none", "true", "shuffled")),
    "cosine",
    "L2",
    "P@1",
    "seconds",
)


@dataclass(frozen=True)
class Exam:
    """What a network is asked, whatever it has learned by then."""

    network: XlmNetwork
    source: PairSource
    space: AlignedSpace
    lexicon: Lexicon

    def cells(self) -> list[object]:
        """The figures of a row of the table."""
        told = beside_translations(self.network, self.source).values()
        at = words(self.network, self.space, self.lexicon)
        shown = (f"{t.accuracy:.1f}, {t.accuracy_at_10:.1f}, {t.perplexity:.0f}" for t in told)
        return [*shown, f"{at.cosine:.3f}", f"{at.distance:.2f}", at.p_at_1]


def helper(asked: Asked) -> None:
    """Prints the table of the left-to-right model of few sentences."""
    columns = (
        "helper",
        "seed",
        "most epochs",
        "epochs",
        "best",
        "untrained",
        "perplexity",
        "seconds",
        "held out, by epoch",
    )
    for seed in asked.seeds:
        texts, test = low_resource(asked, seed)
        pieces = Pieces.learned(texts, asked.config.pieces, generator_for(seed, 2))
        print(f"Seed {seed}: {shared_pieces(texts, pieces)}\n")
        header(columns)
        for name, more in (("alone", ()), ("en, near", ("en",)), ("de, far", ("de",))):
            corpus = Corpus({language: [texts[language]] for language in ("fr", *more)})
            config = replace(asked.config, objective="clm", initial="random")
            sources = make_sources(config, corpus, pieces, seed=seed, runtime=Runtime())
            network = first_network(config, pieces, sources.counts, None, seed)
            streams = Ragged.of(list(cut_streams(pieces.encode(test, framed=False), config.length)))
            before, began = perplexity(network, streams), time.process_time()
            learner = XlmLearner(network.model, sources.streams, judged=("fr",))
            trainer = of_as_many_steps(asked.trainer, learner.examples)
            epochs = train(learner, scheduled(trainer, config), seed=seed, runtime=Runtime())
            curve = " ".join(f"{100 / epoch.score:.0f}" for epoch in epochs)
            row([name, seed, trainer.epochs, len(epochs) - 1, best_epoch(epochs).number, before,
                 perplexity(network, streams), round(time.process_time() - began), curve])  # fmt: skip


def of_as_many_steps(trainer: TrainerConfig, examples: int) -> TrainerConfig:
    """The trainer with so many more epochs as these are shorter where there are few examples."""
    steps = max(1, trainer.examples_in_epoch(examples) // trainer.batch)
    return replace(trainer, epochs=max(trainer.epochs, trainer.epochs * trainer.steps // steps))


def low_resource(asked: Asked, seed: int) -> tuple[dict[str, list[str]], list[str]]:
    """The sentences of each language, and those of French that are held out from all."""
    folder, rng = asked.data / "parallel", random.Random(seed)
    test = [pair[1] for pair in read(folder / "tatoeba.en-fr.test.tsv.gz")][:HELD_OUT]
    sides = {"fr": ("en-fr", 1, LOW), "en": ("en-fr", 0, HELPER), "de": ("en-de", 1, HELPER)}
    texts = {}
    for language, (name, side, count) in sides.items():
        found = list(dict.fromkeys(pair[side] for pair in read(folder / f"tatoeba.{name}.train.tsv.gz")))
        texts[language] = rng.sample(
            [s for s in found if s not in set(test)] if language == "fr" else found, count
        )
    return texts, test


def shared_pieces(texts: Mapping[str, Sequence[str]], pieces: Pieces) -> str:
    """How many of the pieces that French text has are pieces of the helpers' text too, in percent."""
    seen = {
        language: Counter(piece for ids in pieces.encode(text, framed=False) for piece in ids)
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
    told = (network.model.told(side_by_side(following(streams.padded(rows), 0))) for rows in parts)
    return sum(told, Predicted()).perplexity


PARTS: dict[str, Callable[[Asked], None]] = {"masked": masked, "helper": helper}


def options() -> tuple[Asked, list[str]]:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path, required=True, help="an aligned space fr-en")
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--sentences", type=int, default=80_000, help="pairs, and sentences a side, at most")
    for name, kind in (("epochs", int), ("steps", int), ("batch", int), ("rate", float)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(SMALL.trainer, name))
    for name in ("pieces", "hidden", "length", "pair_tokens"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(SMALL.config, name))
    parser.add_argument("--shared", type=Path, default=SHARED)
    given = parser.parse_args()
    config = replace(
        SMALL.config,
        **{name: getattr(given, name) for name in ("pieces", "hidden", "length", "pair_tokens")},
    )
    trainer = replace(
        SMALL.trainer, epochs=given.epochs, steps=given.steps, batch=given.batch, rate=given.rate
    )
    asked = Asked(
        load_space(given.space), given.shared / "data", numbers(given.seeds), given.sentences, config, trainer
    )
    return asked, given.parts.split(",")


def main() -> None:
    """Prints the tables of the parts asked for."""
    torch.set_num_threads(1)
    asked, parts = options()
    for part in parts:
        heading(f"Cross-lingual language models: {part}")
        PARTS[part](asked)


if __name__ == "__main__":
    main()
