"""English to English, by corpus, program, retrieval and frequency: figure 4.3 of Conneau's thesis (2019).

    python -m benchmarks.align.english --work FOLDER --out FILE.csv [--pairs wiki-glove,novels-glove]
        [--shared ../shared]

Two English spaces are aligned without strings (`--no-identical --answers csls`); right is a word's own
spelling. P@1 of the words that both have, by the rank of the word in the first: of novels (fastText, 300
dimensions), the web (GloVe, 50), and Wikipedia twice (word2vec of Zhang et al., 2017, 50).
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.support.kept_rows import Row, append, with_interval
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, muse, today
from muse.evaluation.score import bootstrap_interval
from muse.search.retrieval import Retrieval, best_targets
from muse.space import load_space

FILES = {
    "novels": "vectors/en.vec.gz", "glove": "vectors-web/en.glove50.vec.gz",
    "wiki": "zhang2017/es-en/en.vec.gz", "wiki2": "zhang2017/it-en/en.vec.gz",
}  # fmt: skip
PAIRS = "wiki-wiki2,wiki-glove,novels-glove,novels-wiki"
FIRST, SECOND = "en", "qaa"  # a language needs a code: one for private use
BANDS = (0, 1_000, 2_500, 5_000, 10_000, 30_000)
COLUMNS = (
    "pair", "verdict", "confidence", "init", "retrieval", "from_rank", "to_rank", "words", "p_at_1",
    "p_at_1_low", "p_at_1_high", "commit", "date",
)  # fmt: skip


def rows(pair: str, work: Path, shared: Path) -> Iterator[Row]:
    """Yields the rows of a pair of spaces: of each retrieval and band, and of all ranks."""
    files = [shared / "data" / FILES[name] for name in pair.split("-")]
    run = muse(
        "align", "--src", FIRST, "--tgt", SECOND, "--src-emb", files[0], "--tgt-emb", files[1],
        "--no-identical", "--answers", "csls", "--threads", "1", "--out", work / pair, "--force",
    )  # fmt: skip
    about = {"pair": pair, **{name: run.fields[name] for name in ("verdict", "confidence", "init")}}
    space = load_space(work / pair)
    source, target = space.vectors(FIRST), space.vectors(SECOND)
    gold = np.array([target.index.get(word, -1) for word in source.words])  # (n,)
    for name in ("nn", "csls"):
        right = best_targets(source.tensor(), target.tensor(), Retrieval(name)).numpy() == gold
        for low, high in (*zip(BANDS, BANDS[1:], strict=False), (0, BANDS[-1])):
            hits = right[low:high][gold[low:high] >= 0]
            if len(hits):
                ends = bootstrap_interval(hits, np.random.default_rng(0))
                figures = with_interval("p_at_1", 100 * hits.mean(), ends)
                yield {
                    **about, "retrieval": name, "from_rank": low, "to_rank": high, "words": len(hits),
                    **figures, "commit": commit(), "date": today(),
                }  # fmt: skip


def main() -> None:
    """Appends the rows of each pair."""
    asked = command_line(__doc__, work=NEEDED, out=NEEDED, pairs=PAIRS, shared=SHARED)
    for pair in asked.pairs.split(","):
        append(asked.out, rows(pair, asked.work, asked.shared), COLUMNS, decimals=4)


if __name__ == "__main__":
    main()
