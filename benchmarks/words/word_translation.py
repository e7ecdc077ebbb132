"""Words and sentences by three methods and three retrievals: tables 4.1 to 4.3 of Conneau's thesis (2019).

    python -m benchmarks.words.word_translation --out FILE.csv [--pairs en-fr,fr-en] [--seeds 0-2]
        [--methods "Procrustes,Adv,Adv-Refine"]
        [--shared ../shared]
    python -m benchmarks.words.word_translation --out FILE.csv --table

The methods are Procrustes on the training dictionary, adversarial training, and adversarial training with
refinement; the retrievals are nearest neighbours, the inverted softmax and CSLS. Sentences are means of words
weighted by idf: 2,000 of another language search all English ones of Tatoeba's training text, of which the
others give the weights. Rows that the file has are not made again. Only English with French and German has
that text.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.support.sentence_sets import PIVOT, Aligned, training
from benchmarks.support.tables import commit, header, muse, numbers, row, today
from muse.evaluation.score import bootstrap_interval
from muse.search.retrieval import PairScore
from muse.sentences.evaluation.retrieval import Queries, different, sentence_ranks
from muse.sentences.loading import load_encoder
from muse.space import load_space

PAIRS = "en-fr,fr-en,en-de,de-en,en-it,it-en,en-ru,ru-en,fr-de,de-fr,fr-it,it-fr"
METHODS = {
    "Procrustes": ["--no-refine", "--no-reweight"],
    "Adv": ["--init", "adversarial", "--no-refine", "--no-reweight"],
    "Adv-Refine": ["--init", "adversarial", "--no-reweight"],
    # The paper's own network and number of steps, which take hours without a GPU.
    "Adv (paper)": ["--init", "adversarial-paper", "--no-refine", "--no-reweight"],
    "Adv-Refine (paper)": ["--init", "adversarial-paper", "--no-reweight"],
}
USUAL = ("Procrustes", "Adv", "Adv-Refine")
RETRIEVALS = ("nn", "isf", "csls")
QUERIES = 2_000
KEY = ("pair", "seed", "method")
COLUMNS = (
    *KEY, "of", "retrieval", "p_at_1", "ci95_low", "ci95_high", "p_at_5", "p_at_10", "queries", "targets",
    "verdict", "commit", "date",
)  # fmt: skip


def measured(pair: Pair, seed: int, method: str, shared: Path) -> Iterator[Row]:
    """Aligns once, and evaluates words and sentences by each retrieval."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        learn: list[str | Path] = [*METHODS[method], "--seed", str(seed), "--threads", "1"]
        if method == "Procrustes":
            learn += ["--dictionary", pair.training_in(folder) or "none"]
        space = folder / "space"
        verdict = muse("align", *pair.arguments(), *learn, "--out", space).fields["verdict"]
        same = {"pair": pair.name, "seed": seed, "method": method, "verdict": verdict}
        for found in (*words(pair, space, folder), *sentences(pair, space, shared)):
            yield {**same, **found, "commit": commit(), "date": today()}


def words(pair: Pair, space: Path, folder: Path) -> Iterator[Row]:
    """P@k of the test list."""
    for retrieval in RETRIEVALS:
        asked = ["--src", pair.source, "--tgt", pair.target, "--retrieval", retrieval]
        score = muse("evaluate", space, "--dictionary", pair.gold_in(folder), *asked).fields
        low, high = score["ci95"]
        yield {
            "of": "words", "retrieval": retrieval, "ci95_low": low, "ci95_high": high,
            "queries": score["covered"], "targets": len(load_space(space).vectors(pair.target)),
            **{name: score[name] for name in ("p_at_1", "p_at_5", "p_at_10")},
        }  # fmt: skip


def sentences(pair: Pair, space: Path, shared: Path) -> Iterator[Row]:
    """P@k of the sentences of a language that is mapped into English; none without their text."""
    if pair.target != PIVOT or not (text := training(shared / "data", pair.source)).english:
        return
    encoder = load_encoder("idf", load_space(space))
    rest = Aligned("rest", text.other[QUERIES:], text.english[QUERIES:])
    for language, side in ((pair.source, rest.other), (PIVOT, rest.english)):
        encoder = encoder.fit(side, language)
    targets, gold = different(text.english)
    source = encoder.encode(text.other[:QUERIES], pair.source).matrix
    queries = Queries(source, encoder.encode(targets, PIVOT).matrix, gold[:QUERIES])
    for retrieval in RETRIEVALS:
        ranks = sentence_ranks(queries, PairScore(retrieval, k=10))
        low, high = bootstrap_interval(ranks == 1, np.random.default_rng(0))
        yield {
            "of": "sentences", "retrieval": retrieval, "ci95_low": low, "ci95_high": high,
            "queries": QUERIES, "targets": len(targets),
            **{f"p_at_{k}": 100 * float((ranks <= k).mean()) for k in (1, 5, 10)},
        }  # fmt: skip


def show(rows: list[dict[str, str]]) -> None:
    """Prints P@1 / P@5 / P@10 of words and of sentences, means over seeds."""
    for of in ("words", "sentences"):
        cells: dict[tuple[str, str, str], list[list[float]]] = defaultdict(list)
        for one in rows:
            if one["of"] == of:
                figures = [float(one[f"p_at_{k}"]) for k in (1, 5, 10)]
                cells[one["method"], one["retrieval"], one["pair"]].append(figures)
        if not cells:
            continue
        pairs = list(dict.fromkeys(pair for *_, pair in cells))
        print(f"\nP@1 / P@5 / P@10 of {of}, means over seeds\n")
        header(["method", "retrieval", *pairs])
        for method, retrieval in product(METHODS, RETRIEVALS):
            found = [cells.get((method, retrieval, pair)) for pair in pairs]
            if any(found):
                row([method, retrieval, *map(_means, found)])


def _means(figures: list[list[float]] | None) -> str:
    return " / ".join(f"{one:.1f}" for one in np.mean(figures, axis=0)) if figures else ""


def main() -> None:
    """Makes the rows that are missing, and prints the tables."""
    asked = command_line(
        __doc__, out=NEEDED, pairs=PAIRS, seeds="0-2", methods=",".join(USUAL), table=False, shared=SHARED,
    )  # fmt: skip
    rows = read_rows(asked.out)
    done = {tuple(one[name] for name in KEY) for one in rows}
    for seed in [] if asked.table else numbers(asked.seeds):
        for name in asked.pairs.split(","):
            for method in asked.methods.split(","):
                needed = seed == numbers(asked.seeds)[0] or method != "Procrustes"
                if needed and (name, str(seed), method) not in done:
                    append(
                        asked.out,
                        measured(find_pair(name, asked.shared), seed, method, asked.shared),
                        COLUMNS,
                    )
                    print(f"{name}, seed {seed}, {method}: done", flush=True)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
