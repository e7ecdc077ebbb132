"""P@1 by vectors alone, by an encoder's words alone, and by both, without pairs and with some.

    python -m benchmarks.words.encoder --spaces FOLDER --vectors FOLDER --out FILE.csv [--bands FILE.csv]
        [--pairs en-ru,en-de] [--help-given none,500,5000] [--encoder e5] [--without en-de=FILE.npz]
        [--seed 0] [--shared ../shared]

FOLDER of the vectors has LANG.vec.gz of every language, the encoder's vectors of its words; --encoder is its
name, and "random" needs no vectors. `--encoder none` is the space without help. `seconds` are those of the
alignment and of the choice of answers, without encoding the words. The pairs given, the seed as the number of
their draw and --without (trees that were not learned on this pair) as in `benchmarks.words.all_evidence`.
The file of --bands has P@1 by the frequency of the source word.
"""

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.support.draws import NONE, write_draw
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair, known_targets
from benchmarks.support.tables import append_rows, commit, today
from benchmarks.words.all_evidence import configured, measured
from muse.api.answers import RankerInputs, choose_answers
from muse.api.inputs import outside_scores, pseudo_dictionary, read_side
from muse.api.run import run
from muse.evaluation.score import gold_name
from muse.files import read_lexicon
from muse.files.space_manifest import read_manifest
from muse.lexicon import Lexicon
from muse.progress import Progress
from muse.ranking.external_scores import ExternalScores
from muse.ranking.model import read_pretrained
from muse.search.retrieval import Retrieval, best_targets
from muse.space import Space, load_space
from muse.vectors import Matrix, Vectors

RANDOM = "random"
COLUMNS = (
    "pair", "encoder", "help", "seed", "list", "queries", "verdict", "method", "encoder_alone", "csls",
    "evidence", "difference", "low", "high", "p_value", "csls_other", "evidence_other", "calibration_error",
    "worst_band", "trusted", "trusted_right", "other sources", "vectors", "frequency", "spelling", "hints",
    "seconds", "commit", "date",
)  # fmt: skip
RANKS = (0, 2_000, 5_000, 10_000, 30_000)  # the ends of the bands of source words, most frequent first
BANDS = (
    "pair", "encoder", "help", "seed", "from_rank", "to_rank", "words", "encoder_alone", "csls", "evidence",
    "commit", "date",
)  # fmt: skip


def random_rows(side: Vectors, seed: int) -> Matrix:
    """The rows (n, d) of an encoder that knows nothing."""
    drawn = np.random.default_rng([seed, *side.language.encode()])
    return drawn.standard_normal((len(side), 64)).astype(np.float32)


def made(
    pair: Pair, help_: str, asked: argparse.Namespace, trees: Path | None
) -> tuple[Space, ExternalScores | None, int, float]:
    """The space with answers, the scores of the encoder, the number of its pairs, and the seconds."""
    folder = asked.spaces / f"{pair.name}.{asked.encoder}.{help_}.{asked.seed}"
    config, quiet = configured(pair, None, folder, asked.seed), Progress(quiet=True)
    files = {pair.source: pair.source_file, pair.target: pair.target_file}
    sides = {name: read_side(config, name, path, quiet).vectors for name, path in files.items()}
    source, target = sides.values()
    if help_ != NONE:
        given = write_draw(pair, (source, target), help_, asked.seed, asked.spaces)
        config = configured(pair, given, folder, asked.seed)
    outside = None
    if asked.encoder != NONE:
        if asked.encoder == RANDOM:
            outside = ExternalScores.of_vectors(*(random_rows(side, asked.seed) for side in (source, target)))
        else:
            vectors = tuple(asked.vectors / f"{language}.vec.gz" for language in sides)
            encoded = replace(config, encoder_emb=vectors)
            outside = outside_scores(encoded, source, target, device="cpu", progress=quiet)
        config = replace(config, pseudo_dictionary=pseudo_dictionary(outside, source, target))
    began = time.perf_counter()
    report = run(config)
    known = RankerInputs(report.config.lexicon, outside, None if trees is None else read_pretrained(trees))
    choose_answers(report.aligned, folder, report.learned, sides, known, seed=asked.seed, progress=quiet)
    read_manifest(folder).write(folder)
    took = time.perf_counter() - began
    return load_space(folder), outside, len(config.pseudo_dictionary or ()), took


def right(firsts: NDArray[np.int64], gold: Mapping[int, set[int]]) -> float | str:
    """P@1 in percent of the first answers (n,); nothing where there are no words."""
    shares = [int(firsts[row]) in targets for row, targets in gold.items()]
    return 100 * float(np.mean(shares)) if shares else ""


def by_band(
    space: Space, pair: Pair, firsts: NDArray[np.int64] | None, lexicon: Lexicon
) -> Iterator[dict[str, Any]]:
    """P@1 of an encoder's `firsts` (n,), if there is one, by CSLS and by all evidence, of each band."""
    gold = known_targets(lexicon, space.vectors(pair.source), space.vectors(pair.target))
    source, target = (space.vectors(language).matrix for language in (pair.source, pair.target))
    by_csls = best_targets(torch.from_numpy(source), torch.from_numpy(target), Retrieval()).numpy()
    table = space.answers(pair.source, pair.target)
    chosen = by_csls if table is None else table.first()
    for begin, end in pairwise(RANKS):
        own = {row: targets for row, targets in gold.items() if begin <= row < end}
        yield {
            "from_rank": begin + 1, "to_rank": end, "words": len(own),
            "encoder_alone": "" if firsts is None else right(firsts, own),
            "csls": right(by_csls, own), "evidence": right(chosen, own),
        }  # fmt: skip


def rows(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The row of each pair and help."""
    without = dict(one.split("=") for one in asked.without)
    for name, help_ in product(asked.pairs.split(","), asked.help_given.split(",")):
        pair = find_pair(name, asked.shared)
        trees = Path(without[name]) if name in without else None
        space, outside, given, took = made(pair, help_, asked, trees)
        path = pair.gold_in(asked.spaces)
        lexicon = read_lexicon(path)
        table = space.answers(pair.source, pair.target)
        firsts = None if outside is None else outside.columns[:, 0]
        gold = known_targets(lexicon, space.vectors(pair.source), space.vectors(pair.target))
        shares: dict[str, Any] = {} if table is None else dict(table.report.get("evidence", {}))
        cell = {
            "pair": name, "encoder": asked.encoder, "help": help_, "seed": asked.seed, "commit": commit(),
            "date": today(),
        }  # fmt: skip
        yield cell | {
            "list": gold_name(path), "verdict": space.manifest.verdict.label, "method": space.manifest.method,
            "hints": given, "seconds": took, "encoder_alone": "" if firsts is None else right(firsts, gold),
            **shares, **measured(space, lexicon, pair),
        }  # fmt: skip
        if asked.bands is not None:
            bands = by_band(space, pair, firsts, lexicon)
            append_rows(asked.bands, BANDS, (cell | one for one in bands))


def main() -> None:
    """Measures and writes a row a pair."""
    asked = command_line(
        __doc__, spaces=NEEDED, vectors=Path, out=NEEDED, bands=Path, pairs="en-ru,ru-en,en-de",
        help_given=NONE, encoder="e5", seed=0, without=REPEATED, shared=SHARED,
    )  # fmt: skip
    asked.spaces.mkdir(parents=True, exist_ok=True)
    append_rows(asked.out, COLUMNS, rows(asked))


if __name__ == "__main__":
    main()
