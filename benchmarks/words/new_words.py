"""P@1 of words that the space was not learned from, mapped from the n-grams of a fastText model.

    python -m benchmarks.words.new_words [--space SPACE] [--reduced SPACE] [--model F.bin]
        [--shared ../shared]

1,000 French words of the gold dictionaries (four letters and more, outside the 1,000 most frequent) are taken
out of the French vectors before they are aligned, and out of the text that a small fastText model is trained
on (novels and the French side of Tatoeba, 2.9 M words). They are then made of n-grams alone, as
`muse translate --ngrams` and `--vectors F.bin --fit` do. --space, --reduced and --model reuse what an
earlier run made, --keep is where.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import header, heading, muse, row
from muse.evaluation.score import bootstrap_interval
from muse.files import read_lexicon, read_vectors, write_vectors_text
from muse.ranking.lookup import translate_words
from muse.space import Space, load_space
from muse.space.new_words import NewWords, load_new_words, own_new_words

WORDS = 1_000
MODEL = {"model": "skipgram", "dim": 100, "epoch": 5, "minCount": 2, "minn": 3, "maxn": 6, "bucket": 200_000}
Gold = dict[str, set[str]]


def gold_words(shared: Path) -> Gold:
    """The French words to take out, with their translations among the English vectors."""
    pair = find_pair("fr-en", shared)
    french = read_vectors(pair.source_file, language="fr").index
    english = read_vectors(pair.target_file, language="en").index
    gold: Gold = {}
    for path in (*pair.gold, pair.training):
        for word, translation in read_lexicon(path).pairs if path else ():
            if translation in english and french.get(word, 0) >= 1_000 and len(word) >= 4:
                gold.setdefault(word, set()).add(translation)
    chosen = random.Random(0).sample(sorted(gold), WORDS)
    return {word: gold[word] for word in chosen}


def sentences(shared: Path) -> Iterator[list[str]]:
    """The words of the French text."""
    for name in ("text/novels.fr.tsv.gz", "parallel/tatoeba.en-fr.train.tsv.gz"):
        with gzip.open(shared / "data" / name, "rt", encoding="utf-8") as stream:
            for line in stream:
                yield re.findall(r"[^\W\d_]+", line.split("\t", 1)[1].lower())


def train_model(shared: Path, without: Gold, path: Path) -> None:
    """A fastText model of the text without those words."""
    import fasttext

    text = path.with_suffix(".txt")
    with text.open("w", encoding="utf-8") as stream:
        for sentence in sentences(shared):
            stream.write(" ".join(word for word in sentence if word not in without) + "\n")
    fasttext.train_unsupervised(str(text), thread=1, verbose=0, **MODEL).save_model(str(path))


def align(shared: Path, without: Gold, out: Path) -> None:
    """The space of the French vectors, less those words, and the English ones."""
    pair = find_pair("fr-en", shared)
    vectors = read_vectors(pair.source_file, language="fr")
    rows = [place for place, word in enumerate(vectors.words) if word not in without]
    reduced = out.parent / f"{out.name}.fr.vec"
    write_vectors_text(reduced, [vectors.words[place] for place in rows], vectors.matrix[rows], decimals=3)
    files: list[str | Path] = ["--src-emb", reduced, "--tgt-emb", pair.target_file]
    muse("align", "--src", "fr", "--tgt", "en", *files, "--out", out)


def measure(name: str, folder: Path, gold: Gold, make: Callable[[Space], NewWords | None]) -> None:
    """Prints the row of one space; a word that no vector is made of counts as wrong."""
    space = load_space(folder)
    began = time.perf_counter()
    new = make(space)
    covered = [word for word in gold if new is None or new.has(word)]
    found = translate_words(space, covered, source="fr", target="en", top=10, new_words=new)
    seconds = time.perf_counter() - began
    best = {word: [translation for translation, _ in found.get(word, [])] for word in gold}
    hits = [np.array([bool(set(best[word][:k]) & gold[word]) for word in gold]) for k in (1, 5, 10)]
    low, high = bootstrap_interval(hits[0], np.random.default_rng(0))
    figures = [f"{100 * each.mean():.1f}" for each in hits]
    row([name, len(gold), len(covered), *figures, f"{low:.1f}-{high:.1f}", seconds])


def main() -> None:
    """Makes the spaces and the model that are not given, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--space", type=Path, help="fr-en of all words")
    parser.add_argument("--reduced", type=Path, help="fr-en without the words")
    parser.add_argument("--model", type=Path, help="the fastText model without the words")
    parser.add_argument("--keep", type=Path, help="a folder for what is made")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    heading("New words, from their n-grams")
    gold = gold_words(asked.shared)
    with tempfile.TemporaryDirectory() as name:
        folder = asked.keep or Path(name)
        space, reduced = asked.space or folder / "space", asked.reduced or folder / "reduced"
        model = asked.model or folder / "fr.bin"
        if not space.exists():
            align(asked.shared, {}, space)
        if not reduced.exists():
            align(asked.shared, gold, reduced)
        if not model.exists():
            train_model(asked.shared, gold, model)
        header(("where the vector comes from", "words", "with one", "P@1", "P@5", "P@10", "95 %", "seconds"))
        measure("the vocabulary, all words aligned", space, gold, lambda _: None)
        measure("n-grams learned from the other words", reduced, gold, lambda made: own_new_words(made, "fr"))
        fitted = partial(load_new_words, language="fr", path=model, fit=True)
        measure("n-grams of a small model, fitted", reduced, gold, fitted)


if __name__ == "__main__":
    main()
