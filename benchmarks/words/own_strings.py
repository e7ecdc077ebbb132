"""Own strings: the share of trusted answers that are right, of words that both languages have as strings.

    python -m benchmarks.words.own_strings --space SPACE --src en --tgt fr --judged FILE [--words 200]
        [--lists FILE,FILE]

Of the most frequent such words (*hello* in French novels is English, *table* is French): how many are judged,
P@1, how many are answered by themselves, and are right to be; how many answers are trusted, and are right,
with Wilson's interval. Lists of MUSE's kind have many a word as its own translation that is not (*you* is
*you*): what is its own translation is what the judged list says, other translations are those of all.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.tables import header, heading, row
from benchmarks.words.answers import gold
from muse.learn.supervise.cross_validation import wilson
from muse.ranking.ranker import translate_words
from muse.ranking.spelling import same_strings
from muse.space import load_space

COLUMNS = ("direction", "judged", "P@1", "own string", "right", "trusted", "right", "95 %")


def translations(judged: Path, lists: list[Path]) -> dict[str, set[str]]:
    """The right translations of each word; itself only if the judged list says so."""
    found = gold(judged)
    for path in lists:
        for word, others in gold(path).items():
            found.setdefault(word, set()).update(others - {word})
    return {word: right for word, right in found.items() if right}


def main() -> None:
    """Prints the row of a direction."""
    asked = command_line(
        __doc__, space=NEEDED, judged=NEEDED, src="en", tgt="fr", words=200, lists="",
    )  # fmt: skip
    space, lists = load_space(asked.space), [Path(one) for one in asked.lists.split(",") if one]
    source, target = (space.vectors(language).words for language in (asked.src, asked.tgt))
    right = translations(asked.judged, lists)
    shared = [source[place] for place in np.flatnonzero(same_strings(source, target) >= 0)[: asked.words]]
    words = [word for word in shared if word in right]
    answers = translate_words(space, words, source=asked.src, target=asked.tgt, top=1)
    best = [one[0] for one in answers]
    hits = np.array([one.target in right[word] for word, one in zip(words, best, strict=True)])
    own = np.array([one.target == word for word, one in zip(words, best, strict=True)])
    trusted = np.array([one.grade == "trusted" for one in best])
    heading("Of words that the other language has too, are trusted answers right?")
    header(COLUMNS)
    low, high = wilson(int(hits[trusted].sum()), int(trusted.sum()))
    shares = (f"{100 * hits[some].mean():.1f} %" for some in (own, trusted))
    row([f"{asked.src}-{asked.tgt}", len(words), f"{100 * hits.mean():.1f}", own.sum(), next(shares),
         trusted.sum(), next(shares), f"{low:.1f}-{high:.1f}"])  # fmt: skip
    wrong = [f"{word} {one}" for word, one, hit in zip(words, best, hits, strict=True) if not hit]
    print(f"\nwrong: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
