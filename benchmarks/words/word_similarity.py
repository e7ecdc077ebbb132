"""Word vectors of two languages without parallel data: table 4.16 of Conneau's thesis (2019).

    python -m benchmarks.words.word_similarity --space SPACE --ratings wordsim353.tsv --out FILE.csv
        [--table concat=FILE.vec] [--table mlm=XLM-FOLDER] [--lang fr] [--shared ../shared]
    python -m benchmarks.words.word_similarity --out FILE.csv --show

`muse` are the vectors of the space, `concat` those of fastText on the text of both languages joined (`muse
embed`), and the others the lookup table of an XLM; a word of several pieces has the mean of their rows. Mean
cosine and L2 distance of the pairs of the test dictionary, the latter in units of the mean length of a row;
and Pearson's correlation of cosines with people's ratings of word pairs, in English and across languages.

SemEval-2017's pairs across languages are not at hand. As there, they are made by translating a list of
English ratings: WordSim-353 or SimLex-999, which gensim's package on PyPI has among its test data. A word's
translation is the first one that the dictionaries of the evaluation data list for it, which none of the
vectors has seen; pairs without one are left out, and every other one is taken in both orders. All figures
are of the words that every table has.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, row, today
from muse.evaluation.ratings import SAMPLES, correlation_interval, pearson
from muse.files import read_lexicon, read_vectors
from muse.files.plain_text import read_lines
from muse.sentences.systems.xlm.tuning import open_xlm
from muse.space import AlignedSpace, load_space

PIVOT = "en"
COLUMNS = (
    "table", "lang", "ratings", "measure", "value", "ci95_low", "ci95_high", "pairs", "commit", "date",
)  # fmt: skip
Table = Mapping[str, Mapping[str, NDArray[Any]]]  # the row (d,) of each word of each language


def table_of(source: str, languages: Sequence[str], space: AlignedSpace, words: Table) -> Table:
    """The vectors of a file, or those that an XLM's lookup table gives the words of the space."""
    if Path(source).is_dir():
        network = open_xlm(Path(source), space).eval()
        rows = {name: network.word_rows(list(words[name])).detach().numpy() for name in languages}
        return {name: dict(zip(words[name], rows[name], strict=True)) for name in languages}
    vectors = read_vectors(Path(source), language=PIVOT)
    joint = dict(zip(vectors.words, vectors.matrix, strict=True))
    return dict.fromkeys(languages, joint)


def rated_pairs(path: Path) -> list[tuple[str, str, float]]:
    """The pairs of English words of a list, in lower case."""
    found = [line.split("\t") for line in read_lines(path) if line.strip() and not line.startswith("#")]
    return [(one.lower(), other.lower(), float(rating)) for one, other, rating in found]


def translated(
    rated: Sequence[tuple[str, str, float]], first: Mapping[str, str]
) -> list[tuple[str, str, float]]:
    """Pairs of an English word and the translation of the other, in both orders."""
    ways = [*rated, *((other, one, rating) for one, other, rating in rated)]
    return [(one, first[other], rating) for one, other, rating in ways if other in first]


def correlation(pairs: Sequence[tuple[NDArray[Any], NDArray[Any], float]]) -> dict[str, object]:
    """Pearson's correlation of cosines with ratings."""
    cosines = np.array([_cosine(x, y) for x, y, _ in pairs])
    ratings = np.array([rating for *_, rating in pairs])
    drawn = np.random.default_rng(0).integers(len(pairs), size=(SAMPLES, len(pairs)))
    low, high = correlation_interval(cosines, ratings, drawn, ranks=False)
    return {
        "value": f"{pearson(cosines, ratings):.3f}", "ci95_low": f"{low:.3f}", "ci95_high": f"{high:.3f}",
        "pairs": len(pairs),
    }  # fmt: skip


def _cosine(x: NDArray[Any], y: NDArray[Any]) -> float:
    return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y) or 1.0))


def measured(table: Table, language: str, lists: Mapping[str, Any]) -> list[dict[str, object]]:
    """The figures of one table."""
    gold = [(table[PIVOT][one], table[language][other]) for one, other in lists["gold"]]
    every = np.stack([side for pair in gold for side in pair])
    length = float(np.linalg.norm(every, axis=1).mean())
    apart = float(np.mean([np.linalg.norm(x - y) for x, y in gold]))
    near = float(np.mean([_cosine(x, y) for x, y in gold]))
    rows: list[dict[str, object]] = [
        {"measure": "cosine", "value": f"{near:.3f}", "pairs": len(gold)},
        {"measure": "distance", "value": f"{apart / length:.3f}", "pairs": len(gold)},
    ]
    for name, other in ((f"similarity {PIVOT}", PIVOT), (f"similarity {PIVOT}-{language}", language)):
        pairs = [(table[PIVOT][x], table[other][y], rating) for x, y, rating in lists[name]]
        rows.append({"measure": name, **correlation(pairs)})
    return rows


def made(asked: argparse.Namespace) -> list[Row]:
    """The rows of every table."""
    space, language = load_space(asked.space), asked.lang
    languages = (PIVOT, language)
    own: Table = {
        name: dict(zip(space.vectors(name).words, space.tensor(name).numpy(), strict=True))
        for name in languages
    }
    tables = {"muse": own}
    for name, _, source in (one.partition("=") for one in asked.table):
        tables[name] = table_of(source, languages, space, own)
    known = {name: set.intersection(*(set(one[name]) for one in tables.values())) for name in languages}
    folder = asked.shared / "data" / "dictionaries"
    parts = [read_lexicon(folder / f"{PIVOT}-{language}.{part}.txt") for part in ("0-5000", "5000-6500")]
    first: dict[str, str] = {}
    for one, other in (pair for part in parts for pair in part.pairs):
        if other in known[language]:
            first.setdefault(one, other)
    rated = [one for one in rated_pairs(asked.ratings) if one[0] in known[PIVOT] and one[1] in known[PIVOT]]
    lists = {
        "gold": [pair for pair in parts[1].pairs if pair[0] in known[PIVOT] and pair[1] in known[language]],
        f"similarity {PIVOT}": rated,
        f"similarity {PIVOT}-{language}": translated(rated, first),
    }
    same = {"lang": language, "ratings": asked.ratings.stem, "commit": commit(), "date": today()}
    return [
        {"table": name, **same, **one}
        for name, table in tables.items()
        for one in measured(table, language, lists)
    ]


def show(rows: Sequence[dict[str, str]]) -> None:
    """Prints a line a table, a column a measure."""
    keys = list(dict.fromkeys((one["ratings"], one["table"]) for one in rows))
    measures = list(dict.fromkeys(one["measure"] for one in rows))
    cells = {(one["ratings"], one["table"], one["measure"]): one for one in rows}
    header(["ratings", "table", *measures])
    for key in keys:
        found = [cells.get((*key, name), {}) for name in measures]
        row([*key, *(one.get("value", "") for one in found)])


def main() -> None:
    """Makes the rows and prints them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--space", type=Path)
    parser.add_argument("--ratings", type=Path)
    parser.add_argument("--table", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--lang", default="fr")
    parser.add_argument("--show", action="store_true", help="print the table of the rows there are")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    if not asked.show:
        append(asked.out, made(asked), COLUMNS)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
