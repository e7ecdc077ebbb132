"""BGT's Transformer: its latents, its translations, its paraphrases, and the exchange of style.

    python -m benchmarks.systems.bgt_writes --space FOLDER
        [--systems "bgt;bilingualtrans;no-prior;no-language"]
        [--pairs 30000] [--epochs 3] [--set KEY=VALUE ...] [--sentences 200] [--examples 8] [--seed 0]
        [--keep FOLDER] [--threads 1] [--shared ../shared]
    python -m benchmarks.systems.bgt_writes --space FOLDER --trained ENCODER     # of muse train --device cuda

Trained on Tatoeba's pairs, one layer a side. Printed: P@1 on LASER's set and Spearman's correlation on STS-B
by the semantic means, and by the language means; BLEU and chrF of the translations of --sentences test pairs
both ways, a beam of 4; and of what is written in the style of another sentence (the next of the test set):

* content kept   cosine of what is written with its source less that with the style, by SIF vectors of the
                 space, which the model has not seen; the words alone decide
* length         correlation of the length written with that of the style, and with that of the source
* end            share that ends with the style's last sign, where source and style end differently

A paraphrase is written with the mean of the prior as language latent; of it the share that is the source
itself, and the cosine with the source and with another sentence.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_search import answered
from benchmarks.support.sentence_sets import PIVOT, Aligned, retrieval_sets, training
from benchmarks.support.tables import header, heading, row
from benchmarks.systems.bgt_settings import effective
from muse.evaluation.score import Signature
from muse.evaluation.translation import quality
from muse.files.sentence_text import read_rated_sentences
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.search.retrieval import PairScore
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.sts import evaluate_sts
from muse.sentences.loading import load_encoder
from muse.sentences.systems.bgt.bgt_system import language_latents
from muse.sentences.systems.bgt.generation import Rewriting
from muse.sentences.systems.bgt.latent_network import BgtNetwork
from muse.sentences.systems.line_writer import LineWriter
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.space import AlignedSpace, load_space

NOTHING = Signature("", "")
SETTINGS = {
    "encoder_layers": "1", "decoder_layers": "1", "hidden": "256", "semantic": "256", "language": "256",
    "feed_forward": "256", "heads": "4", "vocabulary": "4000", "dropout": "0.1", "tokens": "2500",
    "shortest": "3", "longest": "40", "sides": "pairs", "annealing": "2000",
}  # fmt: skip
SYSTEMS = {
    "bgt": {},
    "bilingualtrans": {"reconstruction": "0"},
    "no-prior": {"prior": "0"},
    "no-language": {"language": "0"},
}


def trained(
    space: AlignedSpace, text: Aligned, other: str, settings: dict[str, str], asked: argparse.Namespace
) -> NetworkEncoder:
    """A model of the pairs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.tsv"
        pairs = zip(text.english[: asked.pairs], text.other, strict=False)
        path.write_text("".join(f"{en}\t{one}\n" for en, one in pairs), encoding="utf-8")
        request = TrainingRequest(
            space, other, Path(folder) / "out", parallel=(path,), settings=settings,
            trainer={"epochs": asked.epochs, "rate": asked.rate, "patience": asked.epochs or 1},
            seed=asked.seed,
        )  # fmt: skip
        made = train_system("bgt", request, Runtime("cpu", Progress(quiet=not sys.stderr.isatty())))
        for epoch in made.fitted.epochs:
            print(epoch, file=sys.stderr, flush=True)
        if not isinstance(made.encoder, NetworkEncoder):
            raise TypeError("a bgt is a network")
        return made.encoder


def latents(name: str, encoder: SentenceEncoder, other: str, shared: Path) -> None:
    """A row of what vectors are worth."""
    text = retrieval_sets(shared / "data", other)[0]
    (hits,) = answered(encoder, text, other, [PairScore("nn")])
    cells: list[object] = [name, 100 * float(hits.mean())]
    rated = {
        language: read_rated_sentences(shared / "data" / "sts" / f"stsb-{language}-test.csv")
        for language in (PIVOT, other)
    }
    for first, second in ((PIVOT, PIVOT), (other, other), (other, PIVOT)):
        x = encoder.encode(rated[first].first, first).matrix
        y = encoder.encode(rated[second].second, second).matrix
        score = evaluate_sts(x, y, np.array(rated[first].ratings), NOTHING, rng=np.random.default_rng(0))
        cells.append(100 * score.spearman)
    row(cells)


class Written:
    """What a model writes of test sentences."""

    def __init__(
        self, network: BgtNetwork, other: str, texts: dict[str, list[str]], judge: SentenceEncoder
    ) -> None:
        self.network, self.other, self.texts, self.judge = network, other, texts, judge

    def of(self, lines: Sequence[str], direction: tuple[str, str], style: str | None = None) -> list[str]:
        """What is written of lines."""
        return LineWriter(Rewriting(self.network, direction, style), beam=4).translate(lines)

    def translations(self) -> list[object]:
        """BLEU and chrF, into English and out of it."""
        cells: list[object] = []
        for source, target in ((self.other, PIVOT), (PIVOT, self.other)):
            made = self.of(self.texts[source], (source, target))
            cells += [score.value for score in quality(made, self.texts[target], made="bgt")]
        return cells

    def styles(self) -> list[object]:
        """Content kept, correlations of lengths, and the share of ends taken, in English."""
        sources = self.texts[PIVOT]
        styles = [*sources[1:], sources[0]]
        made = [
            self.of([source], (PIVOT, PIVOT), style)[0] for source, style in zip(sources, styles, strict=True)
        ]
        kept = self._cosines(made, sources) - self._cosines(made, styles)
        lengths = [np.array([len(line.split()) for line in lines]) for lines in (made, styles, sources)]
        three = zip(made, sources, styles, strict=True)
        ends = [one[-1:] == style[-1:] for one, source, style in three if source[-1:] != style[-1:]]
        taken = 100 * float(np.mean(ends)) if ends else float("nan")
        return [
            f"{kept.mean():.3f}", *(f"{np.corrcoef(lengths[0], other)[0, 1]:.2f}" for other in lengths[1:]),
            taken, len(ends),
        ]  # fmt: skip

    def paraphrases(self) -> list[object]:
        """The share copied, and the cosine with the source, of paraphrases in English."""
        sources = self.texts[PIVOT]
        made = self.of(sources, (PIVOT, PIVOT))
        copied = 100 * float(np.mean([one == source for one, source in zip(made, sources, strict=True)]))
        shuffled = self._cosines(made, [*sources[1:], sources[0]])
        return [copied, f"{self._cosines(made, sources).mean():.3f}", f"{shuffled.mean():.3f}"]

    def _cosines(self, made: Sequence[str], others: Sequence[str]) -> np.ndarray:
        x, y = (self.judge.encode(list(lines), PIVOT).matrix for lines in (made, others))
        lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
        found: np.ndarray = (x * y).sum(axis=1) / np.where(lengths == 0, 1, lengths)
        return found

    def examples(self, count: int) -> None:
        """Prints sentences with what is written of them."""
        print("\n| source | en-fr | paraphrase | style | in that style |\n| --- | --- | --- | --- | --- |")
        sources = self.texts[PIVOT]
        for place in range(count):
            source, style = sources[place], sources[-1 - place]
            row([
                source, self.of([source], (PIVOT, self.other))[0], self.of([source], (PIVOT, PIVOT))[0],
                style, self.of([source], (PIVOT, PIVOT), style)[0],
            ])  # fmt: skip


def main() -> None:
    """Prints the tables."""
    asked = parsed()
    torch.set_num_threads(asked.threads)
    space = load_space(asked.space)
    other = next(name for name in space.languages if name != PIVOT)
    data = asked.shared / "data"
    text, test = training(data, other), retrieval_sets(data, other)[1]
    drawn = np.random.default_rng(0).permutation(len(test.english))[: asked.sentences].tolist()
    texts = {PIVOT: [test.english[i] for i in drawn], other: [test.other[i] for i in drawn]}
    judge = load_encoder("sif", space).fit(text.english[:20_000], PIVOT)
    given = dict(one.split("=", 1) for one in asked.set)
    for name in [asked.trained.name] if asked.trained else asked.systems.split(";"):
        if asked.trained:
            encoder = load_encoder(asked.trained, space)
        else:
            encoder = trained(space, text, other, effective({**SETTINGS, **given, **SYSTEMS[name]}), asked)
        if not isinstance(encoder, NetworkEncoder):
            raise TypeError("a bgt is a network")
        if asked.keep is not None:
            encoder.save(asked.keep / name)
        network = encoder.network
        if not isinstance(network, BgtNetwork):
            raise TypeError("a bgt has its network")
        heading(f"BGT's Transformer: {name}")
        header(("vectors", "P@1", f"STS {PIVOT}", f"STS {other}", f"STS {other}-{PIVOT}"))
        latents("semantic", encoder, other, asked.shared)
        if network.config.own:
            latents("language", language_latents(encoder), other, asked.shared)
        written = Written(network, other, texts, judge)
        print()
        header(("BLEU to en", "chrF", f"BLEU to {other}", "chrF", "copied", "cosine: source", "another"))
        row([*written.translations(), *written.paraphrases()])
        if network.config.own:
            print()
            header(("content kept", "length: style", "length: source", "end taken, %", "of"))
            row(written.styles())
            written.examples(asked.examples)


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--systems", default="bgt;bilingualtrans;no-prior;no-language")
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--examples", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to save what is trained")
    parser.add_argument("--trained", type=Path, metavar="FOLDER", help="measure this, train nothing")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shared", type=Path, default=SHARED)
    return parser.parse_args()


if __name__ == "__main__":
    main()
