"""BGT: what its semantic latent holds and what its language latents do, with and without its parts.

    python -m benchmarks.systems.bgt --space fr-en=FOLDER [--x-cbow ENCODER-FOLDER]
        [--table kept,probes,years,paper] [--out FILE.csv]
        [--rows "mean;bgt"] [--pairs 40000] [--epochs N] [--rate X] [--set annealing=N] [--seeds 0-2]
        [--probe-size 2000] [--keep FOLDER] [--threads N] [--shared ../shared]

All settings are those of the `small` preset but what a row or --set names; bags of words are trained for 5
epochs with a rate of 0.003. With fewer pairs than all there are fewer steps: --set annealing=N keeps the
share of the prior that they reach. A row is trained once for each seed, on so many of Tatoeba's training
pairs, and shows the mean over the seeds, with the lowest and the highest. The sentences that are probed
come after those pairs in the random order of that text: no BGT has learned from them. X-CBOW is one that
was trained before, on all of that text, and SIF learned its weights from the pairs. Retrieval is by cosine,
from the other language into English; the textual similarities are Pearson's correlations on the test part
of STS-B. Language latents come from a network for each language: that these can be told apart is in their
making, and the probe of the language says it of the semantic latent alone. A column of probes is of one
language, whose own latents a row of language latents has there. What is probed, and how it differs from the
paper's: bgt_probes.py. The years are STS 2012 to 2016, whose rows go to --out. Encoders stay in the folder
--keep, and are used again.
"""

import resource
import time
from collections.abc import Iterable
from itertools import tee
from pathlib import Path

import torch

from benchmarks.sentences.sentences import LONG_ENOUGH, named
from benchmarks.sentences.senteval import COLUMNS, YEARS, scored
from benchmarks.support.kept_rows import append
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_measures import answered, read_out, sides_of, similarity
from benchmarks.support.sentence_sets import PIVOT, retrieval_sets, training
from benchmarks.support.tables import header, heading, numbers, over_seeds, row
from benchmarks.systems.bgt_probes import PAPER, tasks
from benchmarks.systems.bgt_rows import ROWS, Bench, Row, mean_over_years, over_years, rows
from muse.run.runtime import Runtime
from muse.run.seeds import generator_for
from muse.search.retrieval import PairScore
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.evaluation.classifier import ClassifierConfig
from muse.sentences.systems.bgt.bgt_system import PRESETS, BgtLearner
from muse.sentences.systems.bgt.inputs import piece_tokens
from muse.sentences.systems.bgt.latent_network import BgtNetwork
from muse.sentences.systems.pieces import SPECIALS, Pieces
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.trainer import TrainerConfig, train
from muse.space import load_space


def kept(bench: Bench, all_rows: Iterable[Row]) -> None:
    """Retrieval, textual similarity and divergences."""
    heading("BGT: retrieval, textual similarity, divergence from the prior in nats; mean (range) over seeds")
    learned, _ = bench.text()
    found = retrieval_sets(bench.asked.shared / "data", bench.other)[0]
    fresh = found.unseen(training(bench.asked.shared / "data", bench.other))
    header((
        "encoder", f"P@1 {found.name}, {len(fresh)}", f"unseen, {int(fresh.sum())}",
        *(f"STS {first}-{second}" for first, second in sides_of(bench.other)),
        "KL semantic en", f"KL semantic {bench.other}", "KL language en", f"KL language {bench.other}",
    ))  # fmt: skip
    for one in all_rows:
        hits = [answered(encoder, found, bench.other, [PairScore("nn")])[0] for encoder in one.encoders]
        cells = [over_seeds([100 * float(hit.mean()) for hit in hits])]
        cells.append(over_seeds([100 * float(hit[fresh].mean()) for hit in hits]))
        for sides in sides_of(bench.other):
            scores = [similarity(encoder, bench.asked.shared / "data", sides) for encoder in one.encoders]
            cells.append(over_seeds([100 * score.pearson for score in scores]))
        nats = [over_seeds(list(values)) for values in zip(*one.nats, strict=True)]
        row([one.name, *cells, *nats, *["-"] * (4 - len(nats))])


def probes(bench: Bench, all_rows: Iterable[Row]) -> None:
    """What a linear classifier reads out of the rows."""
    heading("BGT: accuracy of linear probes; mean (range) over seeds")
    _, fresh = bench.text()
    size = bench.asked.probe_size
    sides = {
        language: [line for line in text[: 10 * size] if len(line.split()) >= LONG_ENOUGH]
        for language, text in ((PIVOT, fresh.english), (bench.other, fresh.other))
    }
    found = dict(tasks(sides, size, bench.rng))
    header(("encoder", *(f"{name}, {task.classes} classes" for name, task in found.items())))
    row(["chance", *(100 / task.classes for task in found.values())])
    for one in all_rows:
        if one.name == "sif" or one.name.startswith("without"):
            continue
        config = ClassifierConfig(strengths=(0.1, 1.0))
        row([one.name, *(
            over_seeds([read_out(of, task.probe, config, split=task.parts).accuracy for of in one.encoders])
            for task in found.values()
        )])  # fmt: skip
    if bench.other == "fr":
        for name, figures in PAPER.items():
            row([name, *(figures.get(task, "-") for task in found)])


def years(bench: Bench, all_rows: Iterable[Row]) -> None:
    """STS 2012 to 2016, as `muse evaluate sentences --suite` has it."""
    heading("BGT: STS 2012 to 2016, Pearson x 100; mean (range) over seeds")
    header(("encoder", *YEARS, "mean"))
    for one in all_rows:
        cells = []
        for seed, encoder in zip(numbers(bench.asked.seeds), one.encoders, strict=True):
            scores = over_years(encoder, bench.asked.shared / "data")
            scores = [*scores, mean_over_years(scores)]
            found = {score.name: score.as_json() for score in scores}
            append(bench.asked.out, scored(found, one.name, seed), COLUMNS)
            cells.append([score.value for score in scores])
        row([one.name, *map(over_seeds, zip(*cells, strict=True))])


def paper(bench: Bench) -> None:
    """One step of the paper's sizes on random ids."""
    heading("BGT, `paper` preset: one step on random data")
    config, pairs, length = PRESETS["paper"].config, 8, 25
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(len(SPECIALS), config.vocabulary, (2, pairs, length), generator=generator)
    offsets, keys = torch.arange(0, pairs * length + 1, length), torch.arange(pairs)
    sides = [Ragged(side.flatten(), offsets) for side in ids]
    languages = (PIVOT, bench.other)
    tokens = piece_tokens(Pieces.learned({PIVOT: ["no text"]}, 20, generator), [], config.longest)
    network = BgtNetwork(config, languages, tokens, generator_for(0))
    text = Pairs(sides[0], sides[1], (keys, keys), keys, keys, 0)
    trainer = TrainerConfig(epochs=1, batch=pairs, rate=1e-7)
    learner = BgtLearner(network, languages, text, trainer)
    began = time.perf_counter()
    last = train(learner, trainer, seed=0, runtime=Runtime())[-1]
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    count = sum(part.numel() for part in network.parameters())
    header(("parameters", "pairs", "tokens", "loss, nats a pair", "seconds", "peak memory, GB"))
    row([f"{count:,}", pairs, 2 * pairs * length, last.loss, seconds, peak])


def main() -> None:
    """Prints the tables."""
    asked = command_line(
        __doc__, space=NEEDED, x_cbow=Path, table="kept,probes,paper", pairs=40_000, epochs=int,
        rate=(float, "of all BGTs"), set=(REPEATED, "a setting of all BGTs"), seeds="0-2", probe_size=2_000,
        rows=(";".join(ROWS), "with ; between"), keep=Path, out=Path, threads=int, shared=SHARED,
    )  # fmt: skip
    asked.set = [*map(named, asked.set)]
    if asked.threads:
        torch.set_num_threads(asked.threads)
    name, folder = named(str(asked.space))
    bench, tables = Bench(name, load_space(folder), asked), asked.table.split(",")
    first, second, third = tee(rows(bench), 3)  # trained as the first table asks for them
    if "kept" in tables:
        kept(bench, first)
    if "probes" in tables:
        probes(bench, second)
    if "years" in tables:
        years(bench, third)
    if "paper" in tables:
        paper(bench)


if __name__ == "__main__":
    main()
