"""Word translation: how often a gold translation of a word is among its best targets.

The same by groups of queries: frequency bands and kinds of words. Also how unevenly targets occur as
neighbours, before and after CSLS (hubness), and whether one space translates the same queries significantly
better than another.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch, counted
from muse.evaluation.ranks import Ranks, average_precisions, best_ranks, ranks
from muse.evaluation.score import (
    Hits,
    Interval,
    JsonScore,
    Score,
    Signature,
    bootstrap_interval,
    bootstrap_mean,
    json_fields,
    lexicon_name,
    look_up_signature,
    percentile_interval,
    with_interval,
)
from muse.lexicon import OTHER_LANGUAGES, Lexicon, spelling_note
from muse.orthography import casefolded
from muse.ranking.ranker import Ranker
from muse.search.bidirectional_search import BidirectionalSearch
from muse.search.exact import zero_places
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.derived import HUBNESS_K, AnswersBy
from muse.vectors import WordIndex

BANDS = (1_000, 5_000, 20_000)  # the last rank of each band; a further band has the rest
Rows = NDArray[np.int64]
log = logging.getLogger(__name__)

NEIGHBOURS = 10
LARGEST = 10
SAMPLES = 10_000


@dataclass(frozen=True)
class GroupScore(JsonScore):
    """P@1 in percent over a group of queries, with its 95 % interval, and their number."""

    name: str
    p_at_1: float
    ci95: Interval
    queries: int

    def __str__(self) -> str:
        return f"{self.name:12} P@1 = {with_interval(self.p_at_1, self.ci95)}, {self.queries}"


def by_band(
    rows: Rows, hits: Hits, rng: np.random.Generator, *, words: int, edges: Sequence[int] = BANDS
) -> tuple[GroupScore, ...]:
    """The scores by frequency rank of the queries, `rows` (q,) from 0; empty bands are left out.

    `edges` are the last ranks of the bands, counted from 1, in ascending order; the last band ends with
    the vocabulary, which has `words` words.
    """
    if list(edges) != sorted(set(edges)) or any(edge < 1 for edge in edges):
        raise BadSetting(f"the bands' last ranks must be positive and ascending, got {list(edges)}")
    starts, ends = (0, *edges), (*(min(edge, words) for edge in edges), words)
    names = [f"{start + 1}-{end}" for start, end in zip(starts, ends, strict=True)]
    return _scores({name: np.searchsorted(edges, rows + 1) == i for i, name in enumerate(names)}, hits, rng)


def by_part(
    words: Sequence[str], translations: Sequence[Sequence[str]], hits: Hits, rng: np.random.Generator
) -> tuple[GroupScore, ...]:
    """The scores of queries (q,) by kind of word; empty groups are left out.

    identical: a gold translation is the word itself, ignoring case; different: none is. number: has a
    digit; capitalised: starts with a capital letter; plain: neither.
    """
    same = np.array(
        [casefolded(word) in map(casefolded, gold) for word, gold in zip(words, translations, strict=True)]
    )
    number = np.array([any(sign.isdigit() for sign in word) for word in words])
    capital = np.array([word[:1].isupper() for word in words]) & ~number
    parts = {"identical": same, "different": ~same, "number": number, "capitalised": capital}
    return _scores({**parts, "plain": ~number & ~capital}, hits, rng)


def _scores(groups: Mapping[str, Hits], hits: Hits, rng: np.random.Generator) -> tuple[GroupScore, ...]:
    return tuple(group_score(name, hits[of], rng) for name, of in groups.items() if of.any())


def group_score(name: str, hits: Hits, rng: np.random.Generator) -> GroupScore:
    """The score of one group, by whether each of its queries, at least one, is answered right: (q,)."""
    return GroupScore(name, 100 * float(hits.mean()), bootstrap_interval(hits, rng), len(hits))


@dataclass(frozen=True)
class Hubness(JsonScore):
    """Statistics of N_k(y), the number of source words that have the target y among their k best.

    `skewness` of N_k over the targets; `never` the percentage of targets with N_k = 0; `largest` the
    targets with the highest N_k.
    """

    retrieval: str
    k: int
    skewness: float
    never: float
    largest: tuple[tuple[str, int], ...]


def hubness(
    space: Space, source: str, target: str, *retrievals: Retrieval, k: int = NEIGHBOURS
) -> tuple[Hubness, ...]:
    """The hubness of the targets among the `k` best of every source word, by each retrieval of one backend.

    The skewness of the k-occurrence is the usual measure (Radovanovic, Nanopoulos and Ivanovic, 2010):
    0 if all targets occur equally often, large if a few hubs occur very often. CSLS lowers it. All come from
    the same products, if these fit into memory.
    """
    search = BidirectionalSearch(space.tensor(source), space.tensor(target), retrievals[0].backend)
    if k == HUBNESS_K and space.lacks_exact_hubness(source, target):  # CSLS needs the other direction
        space.keep_hubness(source, target, search.nearest(k))
    words, found = space.vectors(target).words, list[Hubness]()
    for retrieval in retrievals:
        best = search.targets(k, space.bias(source, target, retrieval))
        counts = np.bincount(best.indices.cpu().numpy().ravel(), minlength=len(words))  # (m,)
        order = np.argsort(-counts, kind="stable")[:LARGEST]
        largest = tuple((words[row], int(counts[row])) for row in order.tolist())
        never = 100 * float((counts == 0).mean())
        found.append(Hubness(str(retrieval), min(k, len(words)), _skewness(counts), never, largest))
    return tuple(found)


def _skewness(counts: NDArray[np.int64]) -> float:
    """The skewness of numbers (m,), 0 if all are equal; importing scipy.stats for it would take a second."""
    apart = counts - counts.mean()
    spread = float((apart**2).mean())
    return float((apart**3).mean()) / spread**1.5 if spread else 0.0


@dataclass(frozen=True)
class WordScore:
    """P@1, P@5 and P@10 in percent over the covered queries, with the 95 % interval of P@1.

    A query is a source word of the gold dictionary; it is covered if it and at least one of its
    translations are in the vocabularies. In `p_at_1_all` the others count as wrong. `mrr` is the mean
    of 1 / rank of a query's best translation, `map` the mean average precision, both 0 to 1. `bands`
    and `parts` are P@1 by frequency and by kind of word; `ranks` the rank of each query's best translation.
    `answers` is "all" where they were chosen by all the evidence.
    """

    p_at_1: float
    p_at_5: float
    p_at_10: float
    ci95: Interval
    queries: int
    covered: int
    coverage: float
    p_at_1_all: float
    signature: Signature
    mrr: float
    mrr_ci95: Interval
    map: float
    map_ci95: Interval
    bands: tuple[GroupScore, ...]
    parts: tuple[GroupScore, ...]
    ranks: Mapping[str, int] = field(repr=False)
    answers: AnswersBy = "csls"

    def __repr__(self) -> str:
        more = f"P@5 = {self.p_at_5:.1f}, P@10 = {self.p_at_10:.1f}, {self.covered} of {self.queries} words"
        return f"{self.score}\n{more}"

    @property
    def correct(self) -> dict[str, bool]:
        """Whether each query is right at rank 1."""
        return {word: rank == 1 for word, rank in self.ranks.items()}

    @property
    def score(self) -> Score:
        """P@1 as one line to print."""
        return Score("P@1", self.p_at_1, self.ci95, self.signature)

    def as_json(self) -> dict[str, Any]:
        """All fields except `ranks`, for JSON."""
        fields = json_fields(self, "ranks")
        found = {name: [one.as_json() for one in fields[name]] for name in ("bands", "parts")}
        spelled = {
            f"{name}_spelling": {"p_at_1": one.p_at_1, "queries": one.queries}
            for name, part in (("same", "identical"), ("other", "different"))
            for one in self.parts if one.name == part
        }  # fmt: skip
        return {**fields, **found, **spelled}


def evaluate_words(
    space: Space,
    lexicon: Lexicon,
    *,
    rng: np.random.Generator,
    source: str | None = None,
    target: str | None = None,
    retrieval: Retrieval | None = None,
    gold: str | None = None,
) -> WordScore:
    """The precision of the space's translations of the source words of `lexicon`.

    `rng` is for the bootstrap. `gold` names the dictionary in the signature. (The convention of
    Conneau et al., 2018, section 4.1: any of a word's gold translations is right.)
    """
    source, target = space.direction(source, target)
    retrieval = retrieval or Retrieval()
    pairs = _covered(space, lexicon, source, target)  # (p, 2)
    if not len(pairs):
        raise Mismatch(_nothing_covered(space, lexicon, source, target))
    index = space.vectors(source).index
    rows = ((word, index.lookup_row(word)) for word, _ in lexicon.pairs)
    queries = len({word if row is None else row for word, row in rows})
    coverage = len(np.unique(pairs[:, 0])) / queries
    ranker = Ranker(space, (source, target), retrieval)
    signature = look_up_signature(ranker, gold=gold or lexicon_name(lexicon), coverage=coverage)
    return _score(ranker, pairs, queries, signature, rng)


def _score(
    ranker: Ranker, pairs: Ranks, queries: int, signature: Signature, rng: np.random.Generator
) -> WordScore:
    """The score of the covered pairs (p, 2), rows of source and target."""
    found, names, (source, target) = ranks(ranker, pairs), pairs[:, 0], ranker.languages
    rows, best = np.unique(names), best_ranks(names, found)  # (q,), (q,)
    precisions = average_precisions(names, found)  # (q,)
    gold: dict[int, list[str]] = {row: [] for row in rows.tolist()}
    for row, column in pairs.tolist():
        gold[row].append(target.words[column])
    words, hits, coverage = [source.words[row] for row in gold], best == 1, len(rows) / queries
    p_at_1, p_at_5, p_at_10 = (100 * float((best <= k).mean()) for k in (1, 5, 10))
    intervals = bootstrap_interval(hits, rng), bootstrap_mean(1 / best, rng), bootstrap_mean(precisions, rng)
    bands, parts = tuple[GroupScore, ...](), tuple[GroupScore, ...]()
    if source.frequency_ordered:  # the order and the ids of other rows mean nothing
        bands = by_band(rows, hits, rng, words=len(source))
        parts = by_part(words, list(gold.values()), hits, rng)
    return WordScore(
        p_at_1, p_at_5, p_at_10, intervals[0], queries, len(rows), coverage, p_at_1 * coverage, signature,
        float((1 / best).mean()), intervals[1], float(precisions.mean()), intervals[2],
        bands, parts, dict(zip(words, best.tolist(), strict=True)), "csls" if ranker.table is None else "all",
    )  # fmt: skip


def _covered(space: Space, lexicon: Lexicon, source: str, target: str) -> Ranks:
    # The rows (p, 2) of the pairs whose words both have vectors, each once; a row of zeros is no vector.
    own, other = space.vectors(source), space.vectors(target)
    look_up = lexicon.located if own.frequency_ordered and other.frequency_ordered else lexicon.indices
    pairs = np.unique(look_up(own.index, other.index), axis=0)
    for side, language in enumerate((source, target)):
        zeros = zero_places(space.tensor(language)).cpu().numpy()
        pairs = pairs[~np.isin(pairs[:, side], zeros)]
    return pairs


def warn_of_dictionary(space: Space, lexicon: Lexicon, source: str, target: str) -> None:
    """Warns if many pairs are unknown for their case alone, or the pairs seem to be of other languages.

    Says how many are looked up in another spelling.
    """
    own, other = space.vectors(source), space.vectors(target)
    if not (own.frequency_ordered and other.frequency_ordered):
        return
    if respelled := lexicon.respelled(own.index, other.index):
        log.info("%s; the spelling of the vocabularies is looked up", spelling_note(respelled))
    more = lexicon.in_another_case(lexicon.known(own.index, other.index), own.words, other.words)
    if more:
        log.warning(
            "%d of %d pairs unknown because of upper and lower case alone: write them as the "
            "vocabularies do", more, len(lexicon),
        )  # fmt: skip
    elif why := lexicon.doubt(own.index, other.index):
        log.warning(OTHER_LANGUAGES, source, target, why)


def _nothing_covered(space: Space, lexicon: Lexicon, source: str, target: str) -> str:
    message = (
        f"at least one pair of the dictionary must have its words in the vocabularies of {source} and "
        f"{target}, got none of {counted(len(lexicon), 'pair')}"
    )
    if len(_covered(space, lexicon.reversed(), source, target)):
        return f"{message}; its direction is {target} to {source}: swap --src and --tgt"
    if lexicon.known_in_any_case(space.vectors(source).words, space.vectors(target).words):
        return f"{message}; they differ in upper and lower case: convert the dictionary to the vocabulary's"
    return f"{message}; check that the dictionary is of these languages and in this direction"


@dataclass(frozen=True)
class Comparison(JsonScore):
    """The difference of two P@1 in percentage points over common `queries`, its 95 % interval, and p.

    `first` and `second` are the P@1 over these queries, `only_first` and `only_second` the numbers of them
    that only one of the two gets right.
    """

    difference: float
    ci95: Interval
    p_value: float
    queries: int
    first: float
    second: float
    only_first: int
    only_second: int

    def __str__(self) -> str:
        low, high = self.ci95
        return (
            f"difference = {self.difference:+.1f} [{low:+.1f}, {high:+.1f}], p = {self.p_value:.4f}; "
            f"{self.queries} queries in both, of which {self.first:.1f} and {self.second:.1f} % are right, "
            f"{self.only_first} right here alone, {self.only_second} there alone"
        )


def compare(first: Hits, second: Hits, rng: np.random.Generator, *, samples: int = SAMPLES) -> Comparison:
    """The comparison of two systems' hits (q,) and (q,) on the same queries.

    The interval is by paired bootstrap: queries are drawn with both systems' hits (Koehn, 2004). p is by
    two-sided approximate randomisation: how often systems swapped at random, query by query, differ at
    least as much (Noreen, 1989). Only queries that one system alone gets right matter, so both are binomial
    and multinomial draws, without an array of (samples, q).

    >>> compare(np.array([True, True]), np.array([True, True]), np.random.default_rng(0)).p_value
    1.0
    """
    if len(first) != len(second) or not len(first):
        raise Mismatch(
            f"a comparison needs the same queries for both, at least one, got {len(first)} and {len(second)}"
        )
    q = len(first)
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    apart = only_first + only_second
    shares = np.array([only_first, only_second, q - apart]) / q
    drawn = rng.multinomial(q, shares, size=samples)  # (samples, 3)
    interval = percentile_interval(100 * (drawn[:, 0] - drawn[:, 1]) / q)
    swapped = 2 * rng.binomial(apart, 0.5, size=samples) - apart  # (samples,)
    extreme = int((np.abs(swapped) >= abs(only_first - only_second)).sum())
    p_value = (1 + extreme) / (1 + samples)
    difference = 100 * (only_first - only_second) / q
    right = [100 * float(hits.mean()) for hits in (first, second)]
    return Comparison(difference, interval, p_value, q, right[0], right[1], only_first, only_second)


def compare_words(first: WordScore, second: WordScore, rng: np.random.Generator) -> Comparison:
    """The comparison of two scores on one dictionary, over the queries that both spaces cover."""
    ours, theirs = first.correct, second.correct
    index, right = WordIndex(tuple(theirs)), tuple(theirs.values())
    common = [word for word in ours if word in index]
    here, there = [ours[word] for word in common], [right[index[word]] for word in common]
    return compare(np.array(here, bool), np.array(there, bool), rng)


def check_comparable(first: Space, second: Space, source: str, target: str) -> None:
    """Raise Mismatch if the two spaces are not comparable: they need the same languages and pivot."""
    for language in (source, target):
        if language not in second.languages:
            raise Mismatch(
                f"spaces to compare must both contain {source} and {target}, got one with "
                f"{', '.join(second.languages)}; choose another --against"
            )
    if first.pivot != second.pivot:
        raise Mismatch(
            f"spaces to compare must have the same pivot, got {first.pivot} and {second.pivot}; "
            "align one of them again with the --tgt of the other"
        )
