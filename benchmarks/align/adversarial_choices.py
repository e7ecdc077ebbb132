"""Words that a discriminator sees, and rounds of refinement: two choices of Conneau's thesis (2019, 4.1).

    python -m benchmarks.align.adversarial_choices --out FILE.csv [--pairs zhang-es-en] [--seeds 0-2]
        [--words 1000,5000,20000] [--rounds 8] [--shared ../shared]

Adversarial training as `--init adversarial` does it, with so many of the most frequent words, and plain
rounds of Procrustes on mutual neighbours from its best mapping: a row each, round 0 before them, with the
criterion and P@1 by CSLS on all gold words.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.align.paper_recipe import Task
from benchmarks.support.kept_rows import Row, append
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, numbers, today
from muse.learn.initialise.adversarial import AdversarialConfig, adversarial
from muse.learn.refine import PLAIN, refine
from muse.learn.settings import NORMALISATIONS

COLUMNS = ("pair", "seed", "words", "round", "criterion", "p_at_1", "commit", "date")


def rows(task: Task, seed: int, words: int, rounds: int) -> Iterator[Row]:
    """Yields the row of the mapping of adversarial training, and of each round from it."""
    pair, rng = task.sides(), np.random.default_rng(seed)
    score, config = pair.criterion(), AdversarialConfig(most_frequent=words)
    first = next(adversarial(pair, score, rng, config=config))
    found = refine(pair, first, replace(PLAIN, max_rounds=rounds, patience=rounds), rng)
    for place, one in enumerate((first, *found)):
        yield {
            "pair": task.pair.name, "seed": seed, "words": words, "round": place,
            "criterion": score(one.source_map), "p_at_1": task.p_at_1(one.source_map),
            "commit": commit(), "date": today(),
        }  # fmt: skip


def main() -> None:
    """Appends the rows of each pair, seed and number of words."""
    asked = command_line(
        __doc__, out=NEEDED, pairs="zhang-es-en", seeds="0-2", words="1000,5000,20000", rounds=8,
        shared=SHARED,
    )  # fmt: skip
    for name in asked.pairs.split(","):
        task = Task.of(name, asked.shared, NORMALISATIONS)
        for seed in numbers(asked.seeds):
            for words in numbers(asked.words):
                append(asked.out, rows(task, seed, words, asked.rounds), COLUMNS, decimals=4)


if __name__ == "__main__":
    main()
