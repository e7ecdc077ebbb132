"""Cross-lingual language models: what a translation tells, what the aligned space is worth, what comes of it.

    python -m benchmarks.systems.xlm --space SPACE [--trained ENCODER-FOLDER] [--seeds 0-2]
        [--initial aligned,random]
        [--sentences N] [--pieces N] [--hidden N] [--length N] [--pair-tokens N] [--epochs N]
        [--steps N] [--batch N] [--rate R] [--out FOLDER] [--shared ../shared]

MLM + TLM over Tatoeba, English and French, from the aligned space and from random rows; the small preset but
for what these options say. Half of the training pairs are for TLM; of the other half come the texts for MLM,
which share no sentence with them. The untrained twin is the same model at step 0, which knows the frequencies
of pieces.

* words told: of the test pairs, 15 % of the pieces of both sides are hidden, and those of one side are told
  without a translation, with the true one, with one of another sentence of about the same length; the same
  blanks all three times, the mean of both directions
* Table 4.16 of the thesis: cosine and L2 of dictionary pairs in the lookup table, and P@1 by cosine among all
  words of the space; then P@1 of the pairs whose words are one piece each
* sentences: P@1 by cosine, French to English, of the mean of the last states, as it is and less the mean of
  each language, which is that of Tatoeba's training text; beside the encoders without a Transformer.
  `unseen` has the queries of which neither side stands in that text

--out keeps the model of the first seed that began aligned, as an encoder.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch

from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_search import Search
from benchmarks.support.tables import header, heading, numbers, row
from benchmarks.words.lookup_words import PAIR, cosine, distance, of_one_piece, p_at_1
from muse.files.lexicons import read_lexicon
from muse.files.sentence_text import ParallelText, read_parallel
from muse.lexicon import Lexicon
from muse.run.runtime import Runtime
from muse.run.seeds import generator_for
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.networks.masked_prediction import Predicted, rarity
from muse.sentences.systems.pieces import INITIAL, PieceReader, Pieces
from muse.sentences.systems.xlm.corpus import (
    MaskingDistribution,
    PairSource,
    Sources,
    XlmCorpus,
    make_sources,
)
from muse.sentences.systems.xlm.language_model import XlmConfig, XlmNetwork, side_by_side
from muse.sentences.systems.xlm.xlm_system import PRESETS, XlmLearner, untrained_network
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.trainer import TrainerConfig, best_epoch, train
from muse.space import Space, load_space

TEST = 1_000  # pairs
SMALL = PRESETS["small"]
Text = list[tuple[str, str]]


@dataclass(frozen=True)
class Asked:
    """The options of the command line, and the sizes that they make of the small preset."""

    space: Space
    data: Path
    seeds: Sequence[int]
    initial: Sequence[str]
    sentences: int
    config: XlmConfig
    trainer: TrainerConfig
    trained: Path | None
    out: Path | None


def read(path: Path) -> Text:
    """The pairs of a file of two columns."""
    text = read_parallel(path)
    return list(zip(text.pivot, text.other, strict=True))


def parted(asked: Asked, seed: int) -> tuple[XlmCorpus, Text]:
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
    return XlmCorpus(texts, {PAIR: ParallelText(*zip(*for_pairs, strict=True))}), test[:TEST]


def apart(pair: tuple[str, str], known: Sequence[set[str]]) -> bool:
    """Whether neither side is known."""
    return not any(sentence in side for sentence, side in zip(pair, known, strict=True))


def test_source(test: Text, pieces: Pieces, config: XlmConfig, weights: torch.Tensor) -> PairSource:
    """The test pairs, those of like length together."""
    reader = PieceReader(pieces, config.length)
    ordered = sorted(test, key=lambda pair: (len(pair[1]), pair))
    keys = torch.arange(len(test))
    sides = [reader.read([p[side] for p in ordered]).sentences for side in (0, 1)]
    pairs = Pairs(sides[0], sides[1], (keys, keys), torch.arange(0), keys, 0)
    return PairSource(PAIR, (0, 1), pairs, 0, MaskingDistribution(config.masking(len(pieces)), weights))


def beside_translations(network: XlmNetwork, source: PairSource) -> dict[str, Predicted]:
    """How hidden pieces are told without a translation, with the true one, with another's."""
    network.eval()
    generator, found = generator_for(9), dict.fromkeys(("none", "true", "shuffled"), Predicted())
    for rows in torch.split(source.pairs.held_out, 100):
        sides, others = (source.sides(part, generator) for part in (rows, rows.roll(1)))
        for place in (0, 1):
            told = network.model.predict
            found["none"] += told(side_by_side(sides[place]))
            found["true"] += told(side_by_side(sides[place], sides[1 - place].without_targets()))
            found["shuffled"] += told(side_by_side(sides[place], others[1 - place].without_targets()))
    return found


@dataclass(frozen=True)
class Exam:
    """What a network is asked, whatever it has learned by then."""

    network: XlmNetwork
    source: PairSource
    space: Space
    lexicon: Lexicon

    def cells(self) -> list[object]:
        """The figures of a row of the first table."""
        told = beside_translations(self.network, self.source).values()
        shown = (f"{t.accuracy:.1f}, {t.accuracy_at_10:.1f}, {t.perplexity:.0f}" for t in told)
        rows = {language: self.network.word_rows(self.space.vectors(language).words) for language in PAIR}
        words = self.network.word_space(self.space)
        whole = of_one_piece(self.lexicon, self.network.pieces)
        apart = distance(rows, words, self.lexicon)
        of_whole = cosine(words, whole), p_at_1(words, whole)
        return [*shown, cosine(words, self.lexicon), f"{apart:.2f}", p_at_1(words, self.lexicon), *of_whole]

    def encoder(self, label: str) -> NetworkEncoder:
        """The network as an encoder, which can be saved."""
        config, pieces = self.network.config, self.network.pieces
        settings = {"system": "xlm", "network": asdict(config), "pieces": pieces.to_json()}
        return NetworkEncoder(label, self.space, self.network.languages, self.network, settings)


@dataclass(frozen=True)
class Tables:
    """The rows of the tables that are printed when all is measured."""

    search: Search
    sentences: list[list[object]] = field(default_factory=list)
    curves: list[list[object]] = field(default_factory=list)

    def note(self, name: str, encoder: SentenceEncoder) -> None:
        """Adds the rows of an encoder to the table of sentences."""
        self.sentences.extend([name, *cells] for cells in self.search.rows(encoder))

    def show(self) -> None:
        """Prints them."""
        print("\nSentences, P@1 (the number of queries):\n")
        header(["encoder", "correction", *self.search.columns])
        for cells in self.sentences:
            row(cells)
        print("\nHeld-out perplexity by epoch, from before training, the mean of en, fr and pairs:\n")
        header(["initial", "seed", "perplexity"])
        for cells in self.curves:
            row(cells)


TRAINER = {"epochs": int, "steps": int, "batch": int, "rate": float}
CONFIG = {"pieces": int, "hidden": int, "length": int, "pair_tokens": int}
COLUMNS = (
    "initial",
    "seed",
    "model",
    *(f"{beside}: top-1, top-10, perplexity" for beside in ("none", "true", "shuffled")),
    "cosine (centred)",
    "L2",
    "P@1 (centred)",
    "cosine, one piece",
    "P@1, one piece",
    "seconds",
)


def run(asked: Asked) -> None:
    """Prints all tables."""
    lexicon = read_lexicon(asked.data / "dictionaries" / "fr-en.5000-6500.txt")
    found = cosine(asked.space, lexicon), p_at_1(asked.space, lexicon)
    print(f"The rows of the space: cosine {found[0]}, P@1 {found[1]}.\n")
    tables = Tables(Search(asked.data, PAIR[1]))
    for encoder in tables.search.plain(asked.space, asked.trained):
        tables.note(encoder.name, encoder)
    header(COLUMNS)
    for seed in asked.seeds:
        corpus, test = parted(asked, seed)
        pieces = Pieces.learned(corpus.sentences, asked.config.pieces, generator_for(seed, 2))
        sources = make_sources(asked.config, corpus, pieces, seed=seed, runtime=Runtime())
        weights = rarity(torch.stack(list(sources.counts.values())).sum(dim=0))
        source = test_source(test, pieces, asked.config, weights)
        for initial in asked.initial:
            config = replace(asked.config, initial=initial)
            network = untrained_network(config, pieces, sources.counts, asked.space, seed)
            one_model(asked, seed, Exam(network, source, asked.space, lexicon), sources, tables)
    tables.show()


def one_model(asked: Asked, seed: int, exam: Exam, sources: Sources, tables: Tables) -> None:
    """Trains a model, and prints what it was and what it is then."""
    network, began = exam.network, time.process_time()
    name = f"xlm, {network.config.initial}, seed {seed}"
    row([network.config.initial, seed, "untrained", *exam.cells(), 0])
    tables.note(f"{name}, untrained", exam.encoder(name))
    learner = XlmLearner(network.model, sources.streams, sources.pairs)
    trainer = asked.trainer.with_warmup(network.config.warmup)
    epochs = train(learner, trainer, seed=seed, runtime=Runtime())
    seconds = round(time.process_time() - began)
    row([network.config.initial, seed, f"epoch {best_epoch(epochs).number}", *exam.cells(), seconds])
    tables.note(name, exam.encoder(name))
    curve = " ".join(f"{100 / epoch.score:.0f}" for epoch in epochs)
    tables.curves.append([network.config.initial, seed, curve])
    if asked.out is not None and seed == asked.seeds[0] and network.config.initial == "aligned":
        exam.encoder(name).save(asked.out)


def options() -> Asked:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path, required=True, help="an aligned space fr-en")
    parser.add_argument("--trained", type=Path, help="an encoder for this space, such as x-cbow")
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--initial", default=",".join(INITIAL))
    parser.add_argument("--sentences", type=int, default=80_000, help="pairs, and sentences a side, at most")
    for name, kind in TRAINER.items():
        parser.add_argument(f"--{name}", type=kind, default=getattr(SMALL.trainer, name))
    for name, kind in CONFIG.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, default=getattr(SMALL.config, name))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--shared", type=Path, default=SHARED)
    given = parser.parse_args()
    config = replace(SMALL.config, **{name: getattr(given, name) for name in CONFIG})
    trainer = replace(SMALL.trainer, **{name: getattr(given, name) for name in TRAINER})
    return Asked(
        load_space(given.space), given.shared / "data", numbers(given.seeds), given.initial.split(","),
        given.sentences, config, trainer, given.trained, given.out,
    )  # fmt: skip


def main() -> None:
    """Prints the tables."""
    torch.set_num_threads(1)
    asked = options()
    heading("Cross-lingual language models: words told, words, sentences")
    run(asked)


if __name__ == "__main__":
    main()
