"""CMLM: words told by a neighbour, retrieval before and after translations join in, language in the vectors.

    python -m benchmarks.systems.cmlm --space FOLDER [--trained ENCODER-FOLDER] [--seeds 0-2]
        [--set KEY=VALUE]
        [--epochs N] [--batch N] [--rate R] [--never] [--novels 3] [--paragraphs N] [--pairs N]
        [--corrections "pcr;centre"] [--sentences N] [--probed N] [--threads N] [--shared ../shared]
        [--inferences]
    python -m benchmarks.systems.cmlm --paper

It learns from the novels of both languages (neighbours), then from these and Tatoeba's training pairs
together. The last --novels of each language, by name, are held out of all of that: the first table is of
their words, which are hidden at random (31 %), among the 10,000 most frequent of their language. --paragraphs
takes so many from the beginning of each novel, for a quick look.

* true       told by the vector of the passage before: a paragraph, or a part of one of more than 32 words
* shuffled   by that of a passage half the text away
* none       by the rest of the sentence alone, from the same model
* never      the same, from a model that never saw a neighbour: a masked language model of the same size

With --inferences, it learns from SICK's inferences after both stages. The table is of retrieval alone,
after each stage.

Corrections (pcr, centre) learn from Tatoeba's training text, never from the sentences measured. `unseen` has
the queries of which neither side stands in that text. Nothing was chosen by these tables.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.sentences.sentences import shown
from benchmarks.support.options import REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_measures import answered, read_out
from benchmarks.support.sentence_sets import PIVOT, retrieval_sets, training
from benchmarks.support.sick import official
from benchmarks.support.tables import header, heading, numbers, row
from benchmarks.systems.cmlm_bench import Bench, job, part_novels, write_pairs
from muse.evaluation.score import bootstrap_interval
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.run.seeds import generator_for
from muse.search.retrieval import PairScore
from muse.sentences.encoders.composed import Corrected, Correction
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.evaluation.classifier import ClassifierConfig
from muse.sentences.evaluation.probing import Probe, language_probe
from muse.sentences.loading import load_encoder
from muse.sentences.systems.cmlm.cmlm_system import (
    CMLM,
    CONDITIONS,
    CmlmLearner,
    CmlmTraining,
    NeighbourPairs,
    find_neighbours,
    predict_parts,
    prepare,
)
from muse.sentences.systems.cmlm.predictor import Cmlm, CmlmEncoder, Words
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.networks.masked_prediction import Predicted
from muse.sentences.systems.pieces import SPECIALS
from muse.sentences.training.optimising import Schedule
from muse.sentences.training.trainer import train
from muse.space import load_space

RETRIEVALS = (PairScore("nn"), PairScore("csls", k=10))
PASSAGES = 4_000  # of the test novels of a language
Cells = list[object]


class Tables(NamedTuple):
    """The rows of the three tables, printed when all is measured."""

    words: list[Cells]
    retrieval: list[Cells]
    language: list[Cells]


def main() -> None:
    """Measures everything, then prints the tables."""
    options = parsed()
    torch.set_num_threads(options.threads)
    if options.paper:
        paper()
        return
    space = load_space(options.space)
    other = next(name for name in space.languages if name != PIVOT)
    tables = Tables([], [], [])
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(space, other, Path(folder), options, training(options.shared / "data", other))
        write_pairs(bench)
        test = {name: part_novels(bench, name) for name in (other, PIVOT)}
        for encoder in () if options.inferences else untrained(bench):
            measure(encoder, bench, "", tables)
        for seed in numbers(options.seeds):
            one_seed(bench, test, seed, tables)
    show(tables)


def one_seed(
    bench: Bench, test: Mapping[str, Mapping[str, Sequence[str]]], seed: int, tables: Tables
) -> None:
    """The model of one seed: before it learns, after CMLM, after CMLM and translations; and its twin."""
    if bench.asked.inferences:
        with_inferences(bench, seed, tables)
        return
    made = prepare(job(bench, seed, {}))
    network = made.model.encoder
    texts = {
        name: find_neighbours(
            novels, network.words.readers[name], network.longest, "cpu", Progress(quiet=True)
        )
        for name, novels in test.items()
    }
    for name in ("untrained", *made.stages):
        if name != "untrained":
            made.stage(name)
        encoder = NetworkEncoder(name, bench.space, (bench.other, PIVOT), network)
        for cells in words_told(made, texts, name, seed):
            note(tables.words, cells)
        measure(encoder, bench, str(seed), tables)
    if bench.asked.never:
        never = prepare(job(bench, seed, {"projections": 0}))
        never.stage("cmlm")
        for cells in words_told(never, texts, "cmlm", seed, ("none",)):
            note(tables.words, [*cells[:3], "never", *cells[4:]])


def with_inferences(bench: Bench, seed: int, tables: Tables) -> None:
    """The rows of retrieval after each stage, the last of inferences, of one seed."""
    made = prepare(job(bench, seed, {}, official(bench.data)))
    for stage in made.stages:
        made.stage(stage)
        encoder = NetworkEncoder(stage, bench.space, (bench.other, PIVOT), made.model.encoder)
        note_retrieval(encoder, bench, str(seed), retrieved(encoder, bench), tables)


def words_told(
    made: CmlmTraining,
    texts: Mapping[str, NeighbourPairs],
    name: str,
    seed: int,
    conditions: Sequence[str] = CONDITIONS,
) -> Iterator[Cells]:
    """How the hidden words of the test novels were told, and what the true neighbour is worth."""
    for language, text in texts.items():
        told = {
            how: predict_parts(made.model, text, language, how, share=made.job.config.share, most=PASSAGES)
            for how in conditions
        }
        for how, parts in told.items():
            found = sum(parts, start=Predicted())
            gain = "" if how == conditions[0] else gained(told[conditions[0]], parts)
            loss = f"{found.loss:.3f}"
            yield [seed, language, name, how, found.accuracy, found.accuracy_at_10, loss, gain, found.targets]


def gained(best: Sequence[Predicted], others: Sequence[Predicted]) -> str:
    """The nats a word that the first save, with the interval of 95 % of parts drawn again (paired)."""
    targets = np.array([part.targets for part in best])
    saved = np.array([other.nats - part.nats for part, other in zip(best, others, strict=True)])
    drawn = np.random.default_rng(0).integers(len(targets), size=(2_000, len(targets)))
    low, high = np.percentile(saved[drawn].sum(axis=1) / targets[drawn].sum(axis=1), [2.5, 97.5])
    return f"{saved.sum() / targets.sum():.4f} [{low:.4f}, {high:.4f}]"


def untrained(bench: Bench) -> Iterator[SentenceEncoder]:
    """What every trained row is held against: mean, SIF, and X-CBOW where there is one."""
    for name in ("mean", "sif"):
        encoder = load_encoder(name, bench.space)
        for language, sentences in _taught(bench):
            encoder = encoder.fit(sentences, language)
        yield encoder
    if bench.asked.trained is not None:
        yield load_encoder(bench.asked.trained, bench.space)


def measure(encoder: SentenceEncoder, bench: Bench, seed: str, tables: Tables) -> None:
    """The rows of an encoder in the tables of retrieval and of language."""
    probe = _probe(bench)
    for correction in ("", *bench.asked.corrections.split(";")):
        corrected = encoder
        if correction:
            kind, _, option = correction.rstrip("]").partition("[")
            corrected = Corrected(encoder, Correction.parse(kind, option))
            for language, sentences in _taught(bench):
                corrected = corrected.fit(sentences, language)
        found = retrieved(corrected, bench)
        if not correction:
            note_retrieval(encoder, bench, seed, found, tables)
        read = read_out(corrected, probe, ClassifierConfig(seed=0))
        told = shown(read.accuracy, read.ci95)
        note(tables.language, [seed, corrected.name, told, *(_percent(hits[0]) for hits in found)])


def retrieved(encoder: SentenceEncoder, bench: Bench) -> list[list[NDArray[np.bool_]]]:
    """Of LASER's set and Tatoeba's test, which queries (q,) find their translation, by each retrieval."""
    sets = retrieval_sets(bench.data, bench.other)[:2]
    return [answered(encoder, one, bench.other, RETRIEVALS) for one in sets]


def note_retrieval(
    encoder: SentenceEncoder, bench: Bench, seed: str, found: list[list[NDArray[np.bool_]]], tables: Tables
) -> None:
    """The rows of an encoder in the table of retrieval, of all queries and of those not learned from."""
    for one, hits in zip(retrieval_sets(bench.data, bench.other), found, strict=False):
        fresh = one.unseen(bench.text)
        for name, rows in ((one.name, np.ones_like(fresh)), (f"{one.name}, unseen", fresh)):
            cells = [_percent(part[rows]) for part in hits]
            note(tables.retrieval, [seed, encoder.name, name, int(rows.sum()), *cells])


def paper() -> None:
    """One step of the paper's sizes on random ids: two pairs of 256, 80 of them hidden in each."""
    preset, pairs = CMLM.presets["paper"], 2
    config, language = preset.config, PIVOT
    words = Words(config.pieces, {}, {language: range(len(SPECIALS), config.pieces)})
    encoder = CmlmEncoder(config, words, generator_for(0))
    counts = torch.ones(config.pieces)
    generator = generator_for(1)
    shape = (pairs + 1, config.longest)
    ids = torch.randint(len(SPECIALS), config.pieces, shape, generator=generator)
    first = torch.arange(pairs)
    text = NeighbourPairs(Ragged.of(ids.tolist()), torch.stack([first, first + 1], dim=1))
    corpus = {language: text}, {language: text}
    learner = CmlmLearner(Cmlm(encoder, config, counts, generator), corpus, config.share)
    trainer = replace(preset.trainer, epochs=1, batch=pairs, precision="float32", schedule=Schedule())
    began = time.perf_counter()
    last = train(learner, trainer, seed=0, runtime=Runtime())[-1]
    seconds, peak = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    kept, trained = (sum(part.numel() for part in net.parameters()) for net in (encoder, learner))
    heading("CMLM, `paper` preset: one step on random data, float32")
    header(("parameters kept", "trained", "pairs", "pieces", "loss, nats", "seconds", "peak memory, GiB"))
    row([f"{kept:,}", f"{trained:,}", pairs, ids.numel(), last.loss, seconds, peak])


def note(table: list[Cells], cells: Cells) -> None:
    """Adds a row to a table, and tells it: the tables come at the end."""
    table.append(cells)
    print(*cells, sep=" | ", file=sys.stderr, flush=True)


def show(tables: Tables) -> None:
    """Prints the three tables."""
    heading("CMLM: hidden words of held-out novels")
    header((
        "seed", "language", "trained by", "neighbour", "top-1", "top-10", "loss (nats)", "true saves [95 %]",
        "words",
    ))  # fmt: skip
    for cells in tables.words:
        row(cells)
    print("\n### CMLM: retrieval, P@1 [95 %]\n")
    header(("seed", "encoder", "set", "queries", *(f"P@1 {how}" for how in RETRIEVALS)))
    for cells in tables.retrieval:
        row(cells)
    print(
        "\n### CMLM: which language, read by a classifier (chance 50), and P@1 nn, before and after removal\n"
    )
    header(("seed", "encoder", "language [95 %]", "P@1 tatoeba (LASER)", "P@1 tatoeba test"))
    for cells in tables.language:
        row(cells)


def _percent(hits: np.ndarray) -> str:
    return shown(100 * float(hits.mean()), bootstrap_interval(hits, np.random.default_rng(0)))


def _taught(bench: Bench) -> list[tuple[str, list[str]]]:
    most = bench.asked.sentences
    return [(bench.other, bench.text.other[:most]), (PIVOT, bench.text.english[:most])]


def _probe(bench: Bench) -> Probe:
    # What comes after the sentences that the corrections have learned from.
    rest = slice(bench.asked.sentences, bench.asked.sentences + bench.asked.probed)
    sides = {bench.other: bench.text.other[rest], PIVOT: bench.text.english[rest]}
    return language_probe(sides, bench.asked.probed, np.random.default_rng(0))


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    asked = command_line(
        __doc__, paper=(False, "one step of the paper preset, and no more"), space=Path, trained=Path,
        seeds="0-2", epochs=int, batch=int, rate=float, set=REPEATED, novels=3, paragraphs=int, shared=SHARED,
        inferences=(False, "learn from these last, and measure retrieval alone"),
        never=(False, "train the model without neighbours too"), sentences=10_000, probed=4_000, threads=2,
        pairs=(int, "of translations; all unless given"), corrections="pcr;pcr[centred];centre",
    )  # fmt: skip
    if asked.space is None and not asked.paper:
        sys.exit("--space is needed without --paper")
    return asked


if __name__ == "__main__":
    main()
