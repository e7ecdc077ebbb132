"""Unseen inflections: of words held out of a space, how many are answered, and how sure, before and after.

    python -m benchmarks.words.inflections --space SPACE --src fr --tgt en --gold FILE [--back FILE ...]

The space is aligned; 500 inflections of the source (simplemma has another lemma of them) are taken out of
it, and the answers by all the evidence learned anew. Then they are asked for: by their own vectors, by
n-grams, as before known forms were looked at, and by known forms. Right is a form of a word that the lists
have for the word, for its lemma, or for another form of that (lemminflect: eat for eating); strictly right is
a word of the lists. Lists lack many good translations: --wrong shows answers of 50 % and above that count as
wrong, and --judged is a table in which a reader judged such answers, those that count as right too: language,
word, answer, right (1 or 0). Misprints are the same words with two inner letters exchanged. simplemma and
lemminflect only measure: they are from PyPI, and muse knows neither.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lemminflect import getAllLemmas
from simplemma import lemmatize

from benchmarks.support.kept_rows import interval_columns, read_rows, with_interval
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.tables import append_rows, commit, heading, today
from muse.evaluation.score import bootstrap_interval
from muse.files import read_lexicon
from muse.ranking.model import read_pretrained
from muse.ranking.oov import FormAnswers, Targets, UnseenWords
from muse.ranking.train_ranker import learn_answers
from muse.space import load_space
from muse.space.inflections import learn_suffix_rules
from muse.space.subwords import learn_subwords
from muse.vectors import Matrix, Vectors, WordIndex

HELD_OUT = 500
LEAST_RANK = 3_000  # the most frequent words are never unseen
LETTERS = 4
SURE = 0.5
COLUMNS = (
    "language", "lists", "asked", "answered_by", "words", *interval_columns("p_at_1"), "strictly",
    "mean_probability", "at_50_percent", "right_at_50_percent", "right_to_a_reader", "seconds", "commit",
    "date",
)  # fmt: skip


class Gold(NamedTuple):
    """The translations that lists have for an inflection, and the lemmas of these."""

    words: frozenset[str]
    lemmas: frozenset[str]


def lemmas(word: str) -> frozenset[str]:
    """The English lemmas of a word, and itself."""
    return frozenset({word, *(one.lower() for found in getAllLemmas(word).values() for one in found)})


def inflections(words: Iterable[str], language: str, pairs: Sequence[tuple[str, str]]) -> dict[str, Gold]:
    """The words that are no lemmas, with what the pairs have for them, their lemma and its other forms."""
    of_word, of_lemma = dict[str, set[str]](), dict[str, set[str]]()

    def lemma(word: str) -> str:
        """The lemma of a word, in lower case."""
        return str(lemmatize(word, lang=language)).lower()

    for source, target in pairs:
        of_word.setdefault(source.lower(), set()).add(target)
        of_lemma.setdefault(lemma(source), set()).add(target)
    found = {}
    for word in words:
        if len(word) >= LETTERS and word.isalpha() and (own := lemma(word)) != word.lower():
            known = {*of_word.get(word.lower(), ()), *of_lemma.get(own, ()), *of_word.get(own, ())}
            if known:
                found[word] = Gold(frozenset(known), frozenset().union(*map(lemmas, known)))
    return found


def misprints(words: Sequence[str], known: WordIndex, rng: np.random.Generator) -> list[str]:
    """Words with two neighbouring letters exchanged, not the first or last, that are no words."""
    found = []
    for word in words:
        place = int(rng.integers(1, len(word) - 2))
        made = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        if made not in known:
            found.append(made)
    return found


class Held(NamedTuple):
    """A space without some words of its source: its words and rows, and how others are answered."""

    source: Vectors
    target: Vectors
    answer: Callable[[Sequence[str], Matrix, bool], list[tuple[str, float]]]
    forms: Callable[[Sequence[str]], Matrix]


def held_out(source: Vectors, target: Vectors, words: Sequence[str], seed: int) -> Held:
    """The space without the words, its answers learned without pairs."""
    kept = np.flatnonzero(~np.isin(np.arange(len(source)), [source.index[word] for word in words]))
    fewer = Vectors(
        source.language, [source.words[place] for place in kept.tolist()], np.asarray(source.matrix)[kept]
    )
    rows = fewer.matrix, np.asarray(target.matrix)
    rng, trees = np.random.default_rng(seed), read_pretrained()
    found = learn_answers((fewer.words, target.words), rows, rng=rng, pretrained=trees)[0]
    if found.unseen is None:
        raise SystemExit("CSLS answers here: there is nothing to compare")
    unseen, table = found.unseen, found.answers
    rules = learn_suffix_rules(fewer.words, rows[0]), learn_suffix_rules(target.words, rows[1])
    targets = target.words, rows[1], unseen.refined(rows[1], target.words, rules[1])

    def answer(asked: Sequence[str], made: Matrix, composed: bool) -> list[tuple[str, float]]:
        """The first answers with their probabilities."""
        said = None
        if composed:
            forms = rules[0].forms(asked, fewer.index)
            said = FormAnswers.of(np.ones(len(asked), bool), forms, table, target.index, rules[1])
        columns, _, shares = unseen.answer(UnseenWords(asked, made, said), Targets(*targets)).padded(
            np.arange(len(asked))
        )
        firsts = zip(columns[:, 0], shares[:, 0], strict=True)
        return [(target.words[column], float(share)) for column, share in firsts]

    return Held(
        fewer, target, answer, lambda asked: rules[0].rows(rules[0].forms(asked, fewer.index), rows[0])
    )


def main() -> None:
    """Prints the table."""
    asked = command_line(
        __doc__, space=NEEDED, src="fr", tgt=("en", "English: lemminflect knows no other language"),
        gold=(REPEATED, "pairs of --src and --tgt"), back=(REPEATED, "pairs of --tgt and --src"), seed=0,
        wrong=(False, "show sure answers that count as wrong"), judged=Path, out=NEEDED,
    )  # fmt: skip
    asked.gold, asked.back = [*map(Path, asked.gold)], [*map(Path, asked.back)]
    heading("Unseen inflections")
    space = load_space(asked.space)
    source, target = space.vectors(asked.src), space.vectors(asked.tgt)
    pairs = [pair for path in asked.gold for pair in read_lexicon(path).pairs]
    pairs += [(own, other) for path in asked.back for other, own in read_lexicon(path).pairs]
    gold = inflections(source.words[LEAST_RANK:], asked.src, pairs)
    lists = " ".join(path.name for path in (*asked.gold, *asked.back))
    rng = np.random.default_rng(asked.seed)
    words = [[*gold][place] for place in np.sort(rng.permutation(len(gold))[:HELD_OUT])]
    space_without = held_out(source, target, words, asked.seed)
    own = np.asarray(source.matrix)[[source.index[word] for word in words]]
    fewer = space_without.source
    ngrams = learn_subwords(fewer.words, fewer.matrix)

    def composed(some: Sequence[str]) -> Matrix:
        """The rows by known forms, and else by n-grams."""
        made, others = space_without.forms(some), ngrams.rows(some)
        return np.where(made.any(axis=1, keepdims=True), made, others)

    wrong = misprints(words, source.index, rng)
    for name, kind, some, made, by_forms in (
        ("own vectors", "inflections", words, lambda _: own, False),
        ("n-grams", "inflections", words, ngrams.rows, False),
        ("known forms", "inflections", words, composed, True),
        ("n-grams", "misprints", wrong, ngrams.rows, False),
        ("known forms", "misprints", wrong, composed, True),
    ):
        began = time.process_time()
        found = space_without.answer(some, np.ascontiguousarray(made(some)), by_forms)
        seconds = time.process_time() - began
        fields = {
            "language": asked.src, "lists": lists, "asked": kind, "answered_by": name, "words": len(some),
        }  # fmt: skip
        fields |= figures(found, None if some is wrong else [gold[word] for word in words])
        if asked.judged and by_forms and some is words:
            fields["right_to_a_reader"] = to_a_reader(words, found, gold, read_rows(asked.judged))
        fields |= {"seconds": seconds, "commit": commit(), "date": today()}
        append_rows(asked.out, COLUMNS, [fields])
        if asked.wrong and by_forms and some is words:
            show_wrong(words, found, gold)


def figures(found: Sequence[tuple[str, float]], gold: Sequence[Gold] | None) -> dict[str, Any]:
    """The figures of answers, in percent; those that need none without gold."""
    shares = np.array([share for _, share in found])
    sure = shares >= SURE
    fields: dict[str, Any] = {"mean_probability": 100 * shares.mean(), "at_50_percent": int(sure.sum())}
    if gold is None:
        return fields
    right = np.array([is_right(answer, one) for (answer, _), one in zip(found, gold, strict=True)])
    strictly = np.array([answer in one.words for (answer, _), one in zip(found, gold, strict=True)])
    between = bootstrap_interval(right, np.random.default_rng(0))
    fields |= with_interval("p_at_1", 100 * right.mean(), between) | {"strictly": 100 * strictly.mean()}
    return fields | {"right_at_50_percent": 100 * right[sure].mean() if sure.any() else ""}


def is_right(answer: str, gold: Gold) -> bool:
    """Whether an answer is a form of a word that the lists have."""
    return not lemmas(answer).isdisjoint(gold.lemmas)


def to_a_reader(
    words: Sequence[str], found: Sequence[tuple[str, float]], gold: Mapping[str, Gold],
    judged: Iterable[Mapping[str, str]],
) -> float:  # fmt: skip
    """Of the answers of SURE and above the percentage right to a reader, or by the lists if not judged."""
    reader = {(one["word"], one["answer"]): one["right"] == "1" for one in judged}
    sure = [(word, answer) for word, (answer, share) in zip(words, found, strict=True) if share >= SURE]
    return 100 * float(np.mean([reader.get(one, is_right(one[1], gold[one[0]])) for one in sure]))


def show_wrong(words: Sequence[str], found: Sequence[tuple[str, float]], gold: Mapping[str, Gold]) -> None:
    """Prints the answers of SURE and above that count as wrong, with what the lists have."""
    for word, (answer, share) in zip(words, found, strict=True):
        if share >= SURE and not is_right(answer, gold[word]):
            print(f"    {word} = {answer} {share:.2f}; {', '.join(sorted(gold[word].words))}")


if __name__ == "__main__":
    main()
