"""English to English, by corpus, program, retrieval and frequency: figure 4.3 of Conneau's thesis (2019).

    python -m benchmarks.align.english --work FOLDER --out FILE.csv [--pairs wiki-glove,novels-glove]
        [--seeds 0-2] [--shared ../shared]

Two English spaces are aligned without strings (`--no-identical --answers csls`); right is a word's own
spelling. P@1 of the words that both have, by the rank of the word in the first, beside Procrustes on three
quarters of these words, which answers the last. Of novels (fastText, 300 dimensions), the web (GloVe, 50)
and Wikipedia twice (word2vec of Zhang et al., 2017, 50). A space that is in the folder is not made again.
Procrustes learns nothing that a seed draws.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch.nn.functional import normalize

from benchmarks.support.kept_rows import Row, append, interval_columns, with_interval
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, muse, numbers, today
from muse.evaluation.score import bootstrap_interval
from muse.files import read_vectors
from muse.learn.bilingual import normalise_in_place
from muse.normalise import DEFAULT_STEPS
from muse.procrustes import procrustes
from muse.search.retrieval import Retrieval, best_targets
from muse.space import load_space
from muse.vectors import Vectors

FILES = {
    "novels": "vectors/en.vec.gz", "glove": "vectors-web/en.glove50.vec.gz",
    "wiki": "zhang2017/es-en/en.vec.gz", "wiki2": "zhang2017/it-en/en.vec.gz",
}  # fmt: skip
PAIRS = "wiki-wiki2,wiki-glove,novels-glove,novels-wiki"
FIRST, SECOND = "en", "qaa"  # a language needs a code: one for private use
RETRIEVALS = ("nn", "csls")
FOLDS = 4  # on the common words of three folds, for those of the last
BANDS = (0, 1_000, 2_500, 5_000, 10_000, 30_000)
COLUMNS = (
    "pair", "seed", "method", "label", "confidence", "retrieval", "from_rank", "to_rank", "words",
    *interval_columns("p_at_1"), "commit", "date",
)  # fmt: skip


def best(source: Vectors, target: Vectors, retrieval: str) -> NDArray[np.int64]:
    """The row of the translation of each word (n,)."""
    return np.asarray(best_targets(source.tensor(), target.tensor(), Retrieval(retrieval)))


def of_folds(source: Vectors, target: Vectors, gold: NDArray[np.int64], retrieval: str) -> NDArray[np.bool_]:
    """Whether each word (n,) is right by Procrustes on the common words of the other folds."""
    x, y, known = source.tensor(), target.tensor(), np.flatnonzero(gold >= 0)
    fold = np.random.default_rng(0).permutation(len(known)) % FOLDS
    right = np.zeros(len(gold), bool)
    for number in range(FOLDS):
        learned, asked = known[fold != number], known[fold == number]
        mapping = procrustes(x[learned], y[gold[learned]])
        answers = best_targets(normalize(x @ mapping.T), y, Retrieval(retrieval)).numpy()
        right[asked] = answers[asked] == gold[asked]
    return right


def files_of(pair: str, shared: Path) -> list[Path]:
    """The two files of vectors."""
    return [shared / "data" / FILES[name] for name in pair.split("-")]


def aligned(pair: str, seed: int, work: Path, shared: Path) -> Path:
    """The space of two English files, made if it is not there."""
    folder, files = work / f"{pair}.{seed}", files_of(pair, shared)
    if not (folder / "manifest.json").exists():
        muse(
            "align", "--src", FIRST, "--tgt", SECOND, "--src-emb", files[0], "--tgt-emb", files[1],
            "--no-identical", "--answers", "csls", "--threads", "1", "--seed", str(seed), "--out", folder,
        )  # fmt: skip
    return folder


def of_alignment(pair: str, seed: int, folder: Path) -> Iterator[Row]:
    """Yields the rows of a space: each retrieval, each band and all."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    space = load_space(folder)
    source, target = space.vectors(FIRST), space.vectors(SECOND)
    gold = counterparts(source, target)
    about = {"pair": pair, "seed": seed, "method": manifest["method"], **manifest["verdict"]}
    for name in RETRIEVALS:
        yield from banded({**about, "retrieval": name}, best(source, target, name) == gold, gold)


def of_procrustes(pair: str, files: Sequence[Path]) -> Iterator[Row]:
    """Yields the rows of Procrustes; of the files, for a space has rows that its mapping has projected."""
    raw = (read_vectors(file, language=FIRST) for file in files)
    source, target = (normalise_in_place(side, DEFAULT_STEPS)[0] for side in raw)
    gold = counterparts(source, target)
    for name in RETRIEVALS:
        about = {"pair": pair, "method": "Procrustes", "retrieval": name}
        yield from banded(about, of_folds(source, target, gold, name), gold)


def counterparts(source: Vectors, target: Vectors) -> NDArray[np.int64]:
    """The row of each word (n,) of the source in the target, -1 if it is not there."""
    return np.array([target.index.get(word, -1) for word in source.words])


def banded(about: Row, right: NDArray[np.bool_], gold: NDArray[np.int64]) -> Iterator[Row]:
    """Yields P@1 of the words (n,) of each band of ranks that have a counterpart, and of all of them."""
    for low, high in (*pairwise(BANDS), (0, BANDS[-1])):
        hits = right[low:high][gold[low:high] >= 0]
        if len(hits):
            ends = bootstrap_interval(hits, np.random.default_rng(0))
            yield {
                **{name: about.get(name, "") for name in COLUMNS}, "from_rank": low, "to_rank": high,
                "words": len(hits), **with_interval("p_at_1", 100 * hits.mean(), ends), "commit": commit(),
                "date": today(),
            }  # fmt: skip


def main() -> None:
    """Appends the rows of each pair."""
    asked = command_line(__doc__, work=NEEDED, out=NEEDED, pairs=PAIRS, seeds="0", shared=SHARED)
    for seed, pair in product(numbers(asked.seeds), asked.pairs.split(",")):
        folder = aligned(pair, seed, asked.work, asked.shared)
        append(asked.out, of_alignment(pair, seed, folder), COLUMNS, decimals=4)
    for pair in asked.pairs.split(","):
        append(asked.out, of_procrustes(pair, files_of(pair, asked.shared)), COLUMNS, decimals=4)


if __name__ == "__main__":
    main()
