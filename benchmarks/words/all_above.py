"""F1 of all answers above a probability, for lists where words have one translation and where they have many.

    python -m benchmarks.words.all_above --spaces FOLDER --out FILE.csv [--pairs en-fr,zhang-glove-es-en]
        [--words 10000] [--shared ../shared] [--threads 2]

The spaces are those of benchmarks/words/expected.py, cut to their most frequent words and answered without
pairs. Of the words of a gold list, the answers kept are all of a probability of at least `least`, however
many a word has (dynamic k, Denisova and Rychly, 2025), or the first alone (`least` "first"). `one` is the
same list with the most frequent translation of each word only.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, find_pair, known_targets
from benchmarks.support.tables import append_rows, commit, today
from muse.files import read_lexicon
from muse.ranking.model import read_pretrained
from muse.ranking.train_ranker import learn_answers
from muse.search.exact import set_threads
from muse.space import load_space
from muse.space.derived import AnswerTable

PAIRS = "en-fr,en-de,web-fr-en,zhang-glove-es-en"
LEAST = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
COLUMNS = (
    "pair", "translations", "queries", "gold", "least", "answers", "precision", "recall", "f1", "commit",
    "date",
)  # fmt: skip


def scores(table: AnswerTable, gold: dict[int, set[int]]) -> Iterator[dict[str, Any]]:
    """The row of each least probability, and of the first answers."""
    queries = np.array(sorted(gold))
    columns, _, shares = table.padded(queries)
    right = np.array([[one in gold[row] for one in some] for row, some in zip(queries, columns, strict=True)])
    wanted, first = sum(map(len, gold.values())), np.arange(columns.shape[1]) == 0
    ways = {"first": first} | {f"{least:g}": shares >= least for least in LEAST}
    for least, above in ways.items():
        kept = (columns >= 0) & above
        found, answers = int((kept & right).sum()), int(kept.sum())
        precision, recall = found / max(1, answers), found / wanted
        yield {
            "queries": len(gold), "gold": wanted, "least": least, "answers": answers / len(gold),
            "precision": precision, "recall": recall, "f1": 2 * found / (answers + wanted),
        }  # fmt: skip


def rows(spaces: Path, pairs: str, words: str, shared: Path) -> Iterator[dict[str, Any]]:
    """The rows of all pairs."""
    for name in pairs.split(","):
        pair, space = find_pair(name, shared), load_space(spaces / f"{name}.none.0")
        sides = tuple(space.vectors(one).most_frequent(int(words)) for one in (pair.source, pair.target))
        found, _ = learn_answers(
            (sides[0].words, sides[1].words), (np.array(sides[0].matrix), np.array(sides[1].matrix)),
            rng=np.random.default_rng(0), pretrained=read_pretrained(),
        )  # fmt: skip
        gold = known_targets(read_lexicon(pair.gold_in(spaces)), *sides)
        for kind, known in (("all", gold), ("one", {i: {min(some)} for i, some in gold.items()})):
            for row in scores(found.answers, known):
                yield {"pair": name, "translations": kind} | row | {"commit": commit(), "date": today()}


def main() -> None:
    """Measures and writes a row a threshold."""
    asked = command_line(
        __doc__, spaces=NEEDED, out=NEEDED, pairs=PAIRS, words="10000", shared=SHARED, threads=2
    )
    set_threads(asked.threads)
    append_rows(asked.out, COLUMNS, rows(asked.spaces, asked.pairs, asked.words, asked.shared))


if __name__ == "__main__":
    main()
