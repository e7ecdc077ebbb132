"""Headwords: the form of a word that stands in a dictionary for all of them.

Forms are learned without supervision, by the suffix rules of a language (`muse.space.inflections`): a word is
a form of another if a productive rule makes its row of that one. Which of the two is the headword the rule
says for all its pairs: the form that is more frequent in most of them, mostly the singular and the
infinitive. Or they are looked up by simplemma, which knows some fifty languages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from muse.errors import BadSetting
from muse.languages import language_code
from muse.lexicon import Entry
from muse.normalise import unit
from muse.optional import library
from muse.space import Space
from muse.space.inflections import LEARNED_FROM, STEM, SUFFIX, SuffixRules, find_rules
from muse.vectors import Flags, Matrix, Numbers, WordIndex

# Chosen on Italian, of .6 and .7, and of 0, .1 and .2.
LEAST_COSINE = 0.7  # of the row of a word with what a rule makes of another one
LEAST_SHARE = 0.2  # of the words with one of the suffixes of a rule that have the other form too
AT_ONCE = 1 << 16  # pairs


def learn_headwords(words: Sequence[str], rows: Matrix, rules: SuffixRules, upward: Flags) -> Numbers:
    """The place of the headword of each of n words with rows (n, d), most frequent first: (n,).

    Only the rules that lead `upward` (r,), to headwords, are followed.
    """
    pairs = _pairs(words, rules)
    pairs = pairs[:, upward[pairs[2]]]
    cosine = np.zeros(pairs.shape[1])
    for begin in range(0, len(cosine), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        word, other, rule = pairs[:, some]
        cosine[some] = (unit(rows[other] + rules.offsets[rule]) * rows[word]).sum(axis=1)
    near = np.flatnonzero(cosine >= LEAST_COSINE)
    word, other, _ = pairs[:, near[np.argsort(cosine[near], kind="stable")]]
    parents = np.arange(len(words))
    parents[word] = other  # of several, the last and nearest
    heads = parents.copy()
    for place in word.tolist():
        path = [place]
        while (parent := int(parents[path[-1]])) not in path:
            path.append(parent)
        heads[place] = min(path[path.index(parent) :])  # a headword, or the most frequent in a circle
    return heads


def upward_rules(words: Sequence[str], rules: SuffixRules) -> Flags:
    """Which rules lead from a form to its headword (r,), by words of the language, most frequent first."""
    word, other, rule = _pairs(words, rules)
    pairs = np.bincount(rule, minlength=len(rules.names))
    # Laplace's rule: a few pairs say little.
    above = (np.bincount(rule, weights=other < word, minlength=len(pairs)) + 1) / (pairs + 2)
    ends = Counter(
        word[cut:] for word in words for cut in range(max(STEM, len(word) - SUFFIX), len(word) + 1)
    )
    fewest = np.array([min(ends[known], ends[new]) for known, new in rules.names])
    return np.asarray((above > 0.5) & (pairs >= LEAST_SHARE * fewest))


def _pairs(words: Sequence[str], rules: SuffixRules) -> Numbers:
    """The places of words, of other forms, and of the rules that make the one of the other: (3, p)."""
    forms = rules.forms(words, WordIndex(words))
    word = np.repeat(np.arange(len(words)), np.diff(forms.words.indptr))
    return np.stack([word, forms.words.indices, forms.rules.indices]).astype(np.int64)


def known_headwords(words: Sequence[str], language: str) -> Numbers:
    """The place of the headword of each of n words, most frequent first, by simplemma: (n,).

    The most frequent form stands for a lemma that is not among the words. BadSetting for a language that
    simplemma lacks.
    """
    lemmatize = library("simplemma", "--group simplemma", "lemmas").lemmatize
    code = language_code(language)
    try:
        lemmas = [str(lemmatize(word, code)).casefold() for word in words]
    except ValueError as error:
        raise BadSetting(
            f"--group simplemma needs a language that it has, got {language}; use --group lemma"
        ) from error
    rarest_first = [*enumerate(lemmas)][::-1]
    heads = {lemma: place for place, lemma in rarest_first}
    heads |= {lemma: place for place, lemma in rarest_first if words[place].casefold() == lemma}
    return np.array([heads[lemma] for lemma in lemmas])


def grouped(entries: Iterable[Entry], space: Space, way: tuple[str, str], by: str) -> Iterator[Entry]:
    """The entries of headwords alone, with the other `forms` of these, learned or `by` simplemma.

    Of several forms of a translation the best is left. All entries are in memory.
    """
    found = defaultdict[str, list[Entry]](list)
    for entry in entries:
        found[entry.source].append(entry)
    targets = {one.target for some in found.values() for one in some}
    heads, of_targets = _heads(space, way[0], found, by), _heads(space, way[1], targets, by)
    forms = defaultdict[str, list[str]](list)
    for word in found:
        forms[heads[word]].append(word)
    for word, some in found.items():
        if heads[word] == word:
            others = tuple(form for form in forms[word] if form != word)
            best = {of_targets[one.target]: one for one in reversed(some)}.values()
            for rank, one in enumerate(sorted(best, key=lambda one: one.rank), 1):
                yield one._replace(rank=rank, forms=others)


def _heads(space: Space, language: str, words: Collection[str], by: str) -> Mapping[str, str]:
    """The headword of each of some words of a language."""
    vectors = space.vectors(language)
    places = sorted(vectors.index[word] for word in words if word in vectors.index)  # not terms of several
    some = [vectors.words[place] for place in places]
    if by == "simplemma":
        heads = known_headwords(some, language)
    else:
        rules = find_rules(space, language)
        upward = upward_rules(vectors.words[:LEARNED_FROM], rules)
        heads = learn_headwords(some, np.asarray(vectors.matrix)[places], rules, upward)
    known = {word: some[head] for word, head in zip(some, heads.tolist(), strict=True)}
    return {word: known.get(word, word) for word in words}
