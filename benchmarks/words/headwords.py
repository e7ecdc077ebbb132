"""Headwords: how many forms find the right one, learned from a space, by what simplemma says.

    python -m benchmarks.words.headwords --space SPACE --lang fr [--most 20000]

Of the most frequent words, those whose lemma is another of these words are forms. A form is right if its
headword is that lemma; it is in the right group if its lemma has the same headword. Of the words with another
headword, those are alike that have one lemma with it. simplemma takes many participles, feminines and
diminutives for lemmas of their own, so that some that differ are no mistakes.
"""

import time
from pathlib import Path

import numpy as np

from benchmarks.support.options import command_line
from benchmarks.support.tables import append_rows, heading
from muse.api.space import load_space
from muse.ranking.headwords import learn_headwords, upward_rules
from muse.space.inflections import LEARNED_FROM, find_rules

COLUMNS = (
    "space", "language", "words", "forms", "right", "right_group", "grouped", "of_one_lemma", "seconds",
)  # fmt: skip


def main() -> None:
    """Print the table."""
    from simplemma import lemmatize

    given = command_line(__doc__, space=Path, lang="fr", most=20_000, csv=Path("headwords.csv"), judge=Path)
    space = load_space(given.space)
    vectors, rules = space.vectors(given.lang), find_rules(space, given.lang)
    words = vectors.words[: given.most]
    began = time.process_time()
    upward = upward_rules(vectors.words[:LEARNED_FROM], rules)
    heads = learn_headwords(words, np.asarray(vectors.matrix)[: given.most], rules, upward)
    seconds = time.process_time() - began
    lemmas = np.array([lemmatize(word, given.lang).casefold() for word in words], object)
    index = {word: row for row, word in enumerate(words)}
    of = np.array([index.get(lemma, -1) for lemma in lemmas.tolist()])
    forms = np.flatnonzero((of >= 0) & (of != np.arange(len(words))))
    moved = np.flatnonzero(heads != np.arange(len(words)))
    heading("Headwords")
    row = {
        "space": given.space.name, "language": given.lang, "words": len(words), "forms": len(forms),
        "right": (heads[forms] == of[forms]).mean(), "right_group": (heads[forms] == heads[of[forms]]).mean(),
        "grouped": len(moved), "of_one_lemma": (lemmas[heads[moved]] == lemmas[moved]).mean(),
        "seconds": seconds,
    }  # fmt: skip
    append_rows(given.csv, COLUMNS, [row])


if __name__ == "__main__":
    main()
