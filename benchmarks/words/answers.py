"""Answers: the share of those shown as trustworthy, likely and weak, and how many of each are right.

    python -m benchmarks.words.answers --space SPACE --src fr --tgt en --gold FILE [--gold FILE ...] [--wrong]
    python -m benchmarks.words.answers --space SPACE --src en --tgt fr --judged FILE [--words 200]
        [--gold FILE ...]

One row for each list: P@1 of the first answer by CSLS alone and by all the evidence, with its 95 % bootstrap
interval; of the answers of each grade, how many there are and how many of them are right. Every word of the
list that the space has is asked. The limits of the grades and the prior of a word's own spelling were chosen
on lists for training, `0-5000`, of en-fr, fr-en and en-de. --wrong shows the wrong answers, and the place of
the right one among those kept.

With --judged, of the most frequent words that both languages have as strings (*hello* in French novels is
English, *table* is French): how many are judged, P@1, how many are answered by themselves, and are right to
be; how many answers are trusted, and are right, with Wilson's interval. Lists of MUSE's kind have many a word
as its own translation that is not (*you* is *you*): what is its own translation is what the judged list says,
other translations are those of all lists.
"""

from pathlib import Path

import numpy as np

from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.tables import header, heading, row
from muse.evaluation.score import bootstrap_interval
from muse.files import read_lexicon
from muse.learn.supervise.cross_validation import wilson
from muse.ranking.model import ANSWERS
from muse.ranking.probability import find_calibration
from muse.ranking.ranker import translate_words
from muse.ranking.spelling import same_strings
from muse.space import Space, load_space

GRADES = ("trusted", "likely", "weak")
COLUMNS = (
    "gold", "words", "P@1 without", "P@1", "95 %", *(part for grade in GRADES for part in (grade, "right")),
)  # fmt: skip
OF_SHARED = ("direction", "judged", "P@1", "own string", "right", "trusted", "right", "95 %")


def gold(path: Path) -> dict[str, set[str]]:
    """The translations of each word of a list."""
    found: dict[str, set[str]] = {}
    for source, target in read_lexicon(path).pairs:
        found.setdefault(source, set()).add(target)
    return found


def measure(space: Space, source: str, target: str, path: Path, *, wrong: bool = False) -> None:
    """Prints the row of a list, and what is `wrong`."""
    right = gold(path)
    words = [word for word in right if word in space.vectors(source).index]
    plain = translate_words(space.by_csls(), words, source=source, target=target, top=1)
    answers = translate_words(space, words, source=source, target=target, top=1)
    before, after = (np.array([one[0].target in right[one.word] for one in of]) for of in (plain, answers))
    low, high = bootstrap_interval(after, np.random.default_rng(0))
    cells = [f"{100 * before.mean():.1f}", f"{100 * after.mean():.1f}", f"{low:.1f}-{high:.1f}"]
    for grade in GRADES:
        hits = after[[one.grade == grade for one in answers]]
        cells += [str(len(hits)), _share(hits)]
    row([path.name, len(words), *cells])
    if wrong:
        every = translate_words(space, words, source=source, target=target, top=ANSWERS)
        for one in (one for one in every if one[0].target not in right[one.word]):
            place = next((str(each.rank) for each in one if each.target in right[one.word]), "none")
            print(f"    {one.word} {one[0]}; right at place {place}")


def _share(hits: np.ndarray) -> str:
    return f"{100 * hits.mean():.1f} %" if len(hits) else ""


def measure_shared(space: Space, languages: tuple[str, str], most: int, right: dict[str, set[str]]) -> None:
    """Prints the row of judged words that both languages have, of the `most` frequent, and what is wrong."""
    source, target = (space.vectors(language).words for language in languages)
    shared = [source[place] for place in np.flatnonzero(same_strings(source, target) >= 0)[:most]]
    words = [word for word in shared if word in right]
    answers = translate_words(space, words, source=languages[0], target=languages[1], top=1)
    hits = np.array([one[0].target in right[one.word] for one in answers])
    own = np.array([one[0].target == one.word for one in answers])
    trusted = np.array([one.grade == GRADES[0] for one in answers])
    low, high = wilson(int(hits[trusted].sum()), int(trusted.sum()))
    row(["-".join(languages), len(words), f"{100 * hits.mean():.1f}", own.sum(), _share(hits[own]),
         trusted.sum(), _share(hits[trusted]), f"{low:.1f}-{high:.1f}"])  # fmt: skip
    wrong = [f"{one.word} {one[0]}" for one, hit in zip(answers, hits, strict=True) if not hit]
    print(f"\nwrong: {'; '.join(wrong)}")


def judged(path: Path, lists: list[Path]) -> dict[str, set[str]]:
    """The right translations of each word; itself only if the judged list says so."""
    found = gold(path)
    for one in lists:
        for word, others in gold(one).items():
            found.setdefault(word, set()).update(others - {word})
    return {word: right for word, right in found.items() if right}


def main() -> None:
    """Prints the table."""
    asked = command_line(
        __doc__, space=NEEDED, src="fr", tgt="en", gold=REPEATED, judged=Path, words=200, wrong=False
    )
    heading("Are trusted answers right?")
    space, lists = load_space(asked.space), [*map(Path, asked.gold)]
    if asked.judged:
        header(OF_SHARED)
        measure_shared(space, (asked.src, asked.tgt), asked.words, judged(asked.judged, lists))
        return
    find_calibration(space, asked.src, asked.tgt)
    header(COLUMNS)
    for path in lists:
        measure(space, asked.src, asked.tgt, path, wrong=asked.wrong)


if __name__ == "__main__":
    main()
