"""What sentence encoders on an aligned space are worth: retrieval, transfer, textual similarity, probes.

    python -m benchmarks.sentences.sentences --space fr-en=FOLDER [--space de-en=FOLDER]
        [--table retrieval,transfer,sts,probe] [--encoders "mean;idf;sif"] [--trained fr-en=ENCODER-FOLDER]
        [--runs 20] [--sentences N] [--shared ../shared]

An untrained encoder learns its weights, if it has any, from Tatoeba's training text (at most --sentences of
each language), never from a test. NAME+procrustes is NAME, rotated by Procrustes on the pairs of that text.
LASER's Tatoeba sets share sentences with that text: `unseen` has the queries of which neither side stands in
it, and is the line to compare trained encoders by. English is the pivot of every space.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.support.options import REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.rotated import SUFFIX, rotated
from benchmarks.support.sentence_measures import NOTHING, answered, read_out, sides_of, similarity
from benchmarks.support.sentence_sets import PIVOT, Aligned, SpaceOf, retrieval_sets, training
from benchmarks.support.tables import header, heading, row
from muse.evaluation.score import Hits, Interval, bootstrap_interval
from muse.files.plain_text import read_lines
from muse.progress import Progress
from muse.search.retrieval import PairScore
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.classifier import ClassifierConfig
from muse.sentences.evaluation.probing import ONE_LANGUAGE, Probe, language_probe
from muse.sentences.evaluation.transfer import TransferConfig, evaluate_transfer
from muse.sentences.loading import load_encoder
from muse.space import load_space

POWERS = ("power-mean[-inf,1,inf]", "power-mean[-inf,1,inf,3]")
UNTRAINED = "mean;idf;sif;mean+pcr;idf+pcr;" + ";".join(POWERS) + ";mean+procrustes;idf+procrustes"
PER_TABLE = {
    "retrieval": UNTRAINED,
    "transfer": ";".join(f"{name}{norm}" for name in ("mean", *POWERS) for norm in ("", "+znorm")),
    "sts": UNTRAINED,
    "probe": f"mean;mean+pcr;{POWERS[0]}",
}
RETRIEVALS = (PairScore("nn"), PairScore("csls", k=10), PairScore("margin", k=4))
LONG_ENOUGH = 5  # words of a sentence to probe


class Bench(SpaceOf):
    """A space, and the encoders that are compared over it."""

    def text(self) -> Aligned:
        """The training text: all of it."""
        return training(self.asked.shared / "data", self.other)

    def encoders(self, table: str) -> Iterator[SentenceEncoder]:
        """The untrained encoders of a table, fitted, then the trained ones of this space."""
        text = self.text()
        taught = Aligned(text.name, text.other[: self.asked.sentences], text.english[: self.asked.sentences])
        for name in (self.asked.encoders or PER_TABLE[table]).split(";"):
            plain = name.removesuffix(SUFFIX)
            encoder = load_encoder(plain, self.space)
            for language, sentences in ((self.other, taught.other), (PIVOT, taught.english)):
                encoder = encoder.fit(sentences, language) if sentences else encoder
            if plain != name and taught.other:
                encoder = rotated(encoder, taught.other, taught.english, (self.other, PIVOT))
            yield encoder
        for space, folder in self.asked.trained:
            if space == self.name:
                yield load_encoder(Path(folder), self.space)

    def rng(self) -> np.random.Generator:
        """The same draws for every row."""
        return np.random.default_rng(self.asked.seed)


def shown(value: float, interval: Interval, digits: int = 1) -> str:
    """63.1 [60.0, 66.2]."""
    return f"{value:.{digits}f} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


def retrieval(benches: Sequence[Bench]) -> None:
    """P@1 from the other language into English."""
    heading("Sentence retrieval, P@1 [95 %]")
    header(("space", "set", "queries", "encoder", *(f"P@1 {how}" for how in RETRIEVALS)))
    for bench in benches:
        text = bench.text()
        sets = retrieval_sets(bench.asked.shared / "data", bench.other)
        unseen = [one.unseen(text) for one in sets]
        for encoder in bench.encoders("retrieval"):
            for one, fresh in zip(sets, unseen, strict=True):
                hits = answered(encoder, one, bench.other, RETRIEVALS)
                for name, rows in ((one.name, np.ones_like(fresh)), (f"{one.name}, unseen", fresh)):
                    if name == one.name or not fresh.all():
                        cells = (_percent(found[rows], bench) for found in hits)
                        row([bench.name, name, int(rows.sum()), encoder.name, *cells])


def _percent(hits: Hits, bench: Bench) -> str:
    return shown(100 * float(hits.mean()), bootstrap_interval(hits, bench.rng())) if len(hits) else "none"


def transfer(benches: Sequence[Bench]) -> None:
    """Macro-F1 and accuracy, learned on English."""
    heading("Transfer from English, logistic regression [95 %]")
    header((
        "space", "task", "encoder", "d", "macro-F1 transfer", "in-language", "drop", "English", "majority",
        "accuracy transfer",
    ))  # fmt: skip
    for bench in benches:
        for task in ("AM", "AC"):
            folder = bench.asked.shared / "data" / "transfer" / task
            if not (folder / f"{bench.other}.txt").exists():
                continue
            labels = [line.strip() for line in read_lines(folder / "labels.txt")]
            config = TransferConfig(bench.asked.runs, ClassifierConfig(seed=bench.asked.seed))
            for encoder in bench.encoders("transfer"):
                rows = {
                    language: encoder.encode(read_lines(folder / f"{language}.txt"), language).matrix
                    for language in (PIVOT, bench.other)
                }
                found = evaluate_transfer(
                    rows, labels, {bench.other: NOTHING}, config=config, rng=bench.rng(), progress=Progress()
                )
                f1, accuracy = found
                row([bench.name, task, encoder.name, encoder.dimension, f1.transfer, f1.in_language,
                     f1.drop, f1.source, f1.majority, accuracy.transfer])  # fmt: skip


def sts(benches: Sequence[Bench]) -> None:
    """Spearman's and Pearson's correlation with people's ratings."""
    heading("STS-B test, correlation x 100 [95 %]")
    header(("space", "pairs", "encoder", "Spearman", "Pearson"))
    for bench in benches:
        for encoder in bench.encoders("sts"):
            for sides in sides_of(bench.other):
                score = similarity(encoder, bench.asked.shared / "data", sides)
                found = (score.spearman, score.spearman_ci95), (score.pearson, score.pearson_ci95)
                cells = [shown(100 * value, (100 * low, 100 * high)) for value, (low, high) in found]
                row([bench.name, "-".join(sides), encoder.name, *cells])


def probe(benches: Sequence[Bench]) -> None:
    """Accuracy of reading length, content, order and language."""
    heading("Probes, accuracy [95 %], logistic regression")
    header(("space", "probe", "encoder", "accuracy", "chance", "classes", "tested"))
    for bench in benches:
        text = bench.text()
        # What comes after the sentences that the encoders have learned from.
        rest = slice(bench.asked.sentences, bench.asked.sentences + 20_000)
        sides = {
            language: [line for line in sentences[rest] if len(line.split()) >= LONG_ENOUGH]
            for language, sentences in ((PIVOT, text.english), (bench.other, text.other))
        }
        tasks = list(_tasks(sides, bench))
        for encoder in bench.encoders("probe"):
            for name, task in tasks:
                seed = bench.asked.seed
                score = read_out(encoder, task, ClassifierConfig(seed=seed), seed=seed)
                row([bench.name, name, encoder.name, shown(score.accuracy, score.ci95), score.chance,
                     score.classes, score.tested])  # fmt: skip


def _tasks(sides: dict[str, list[str]], bench: Bench) -> Iterator[tuple[str, Probe]]:
    for language, sentences in sides.items():
        for name, make in ONE_LANGUAGE.items():
            yield f"{name}, {language}", make(sentences, language, 5_000, bench.rng())
    yield "language", language_probe(sides, 5_000, bench.rng())


TABLES = {"retrieval": retrieval, "transfer": transfer, "sts": sts, "probe": probe}


def named(value: str) -> tuple[str, str]:
    """The two sides of fr-en=FOLDER."""
    name, equals, folder = value.partition("=")
    if not (name and equals and folder):
        raise SystemExit(f"expected fr-en=FOLDER, got {value!r}")
    return name, folder


def main() -> None:
    """Prints the tables."""
    asked = command_line(
        __doc__, space=(REPEATED, "fr-en=FOLDER"), trained=(REPEATED, "fr-en=FOLDER"), table=",".join(TABLES),
        encoders=(str, "instead of each table's own, with ; between"), runs=(20, "subsamples of transfer"),
        sentences=(100_000, "to learn weights and rotations from"), seed=0, threads=int, shared=SHARED,
    )  # fmt: skip
    asked.trained = [*map(named, asked.trained)]
    if asked.threads:
        torch.set_num_threads(asked.threads)
    benches = [Bench(name, load_space(folder), asked) for name, folder in map(named, asked.space)]
    for table in asked.table.split(","):
        TABLES[table](benches)


if __name__ == "__main__":
    main()
