"""The linker: words aligned in pairs of sentences, by a space and by the sentences themselves.

In each direction the words of a sentence are observations of a hidden Markov model over those of the other
(`muse.links.positions`). Word f is seen beside e with probability

    t(f | e) = (c(e, f) + a p(f | e)) / (c(e) + a),

where p is by the space (`muse.links.similarity`), which counts as much as a linked words, and c are expected
counts of links in the text: a Dirichlet prior. The answers of the space, equal strings and a user's pairs
are counts from the beginning. Both directions share the counts, the products of their posteriors, so that
they learn to agree (Liang, Taskar and Klein, 2006). How far the space is believed, its temperature, is what
makes the text most probable.

The counts are in a table of fixed size (`muse.links.pair_counts`).

The score of a pair of sentences is the log-likelihood of both directions against chance, for each word: above
0 the words of one sentence are more probable beside the other one than beside any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from muse.errors import Mismatch
from muse.links.contextual import TokenEncoder
from muse.links.links import Links, Symmetrisation, TokenPair, symmetrised
from muse.links.pair_counts import LEAST, PairCounts, load_table, of_strings, save_table, strings_of
from muse.links.positions import first_jumps, learned_jumps, posteriors
from muse.links.similarity import Evidence, Similarities
from muse.space import Space
from muse.vectors import Doubles, Flags, Matrix, Numbers

T = TypeVar("T")
PRIOR = 8.0  # linked words that the space counts for
SAID = 2.5  # linked words that an answer of the space counts for, times its probability
GIVEN = 25.0  # linked words that a pair of a user's dictionary counts for
NULL = 0.06  # the probability that a word is linked to none, beside chance
MOST_CELLS = 3_000_000  # pairs of words in a block of sentences
BLOCK = 8_192  # sentences in a block
TEMPERATURES = (0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.27)
SAMPLE, FEW = 300, 10  # sentences that the temperature is chosen on, and too few for it
MOST_EMISSION, MOST_ODDS = 1e12, 25.0
BESIDE_ENCODER = 0.5  # the exponent of what the space says, beside an encoder


@dataclass(frozen=True)
class LinkConfig:
    """Which links are kept: those of a `threshold` of the mean probability of both directions, or, made of
    the best of each direction, a `symmetrisation`. Pairs of sentences below a `min_score` have no links, and
    nothing is learned from them.
    """

    threshold: float = 0.5
    symmetrisation: Symmetrisation | None = None
    min_score: float | None = None

    def keeps(self, score: float) -> bool:
        """Whether a pair of sentences with this score is kept; one without a score is if all are."""
        return self.min_score is None or score >= self.min_score


@dataclass(frozen=True, eq=False)
class _Block:
    """Sentences as numbers of words, and their pairs of words one sentence after the other.

    `lengths` (2, b) are those of both sides, `starts` (b + 1,) where the pairs of each sentence begin, which
    are `words` (2, c) with `csls` (c,) and `places` (c,) in the table, and `odds` (2, c) by an encoder.
    """

    lengths: Numbers
    starts: Numbers
    words: tuple[Numbers, Numbers]
    csls: Matrix
    places: Numbers
    odds: tuple[Matrix, ...] | None = None


class Linker:
    """Links words of two languages of a space, in this direction; what it learns of text is kept.

    >>> import numpy as np
    >>> from muse.normalise import Normalisation
    >>> from muse.space import Side
    >>> from muse.vectors import Vectors
    >>> rows, steps = np.eye(3, dtype=np.float32), Normalisation(("unit",), ())
    >>> words = {"fr": ["le", "chat", "dort"], "en": ["the", "cat", "sleeps"]}
    >>> sides = {one: Side(Vectors(one, words[one], rows), rows, steps) for one in words}
    >>> Linker(Space(sides, pivot="en"), ("fr", "en")).link([(["le", "chat"], ["the", "cat"])])
    [Links('0-0 1-1')]
    """

    def __init__(
        self, space: Space, direction: tuple[str, str], *, dictionary: Sequence[tuple[str, str]] = (),
        config: LinkConfig = LinkConfig(), encoder: TokenEncoder | None = None,
    ) -> None:  # fmt: skip
        self.space, self.direction, self.config, self.encoder = space, direction, config, encoder
        self.similarities = Similarities(space, direction, dictionary)
        self.counts, self.jumps = PairCounts(), [first_jumps(), first_jumps()]
        self._evidence: list[tuple[Evidence, float]] = []

    def link(self, pairs: Sequence[TokenPair]) -> list[Links]:
        """The links of each pair of tokenised sentences, by what was learned so far."""
        return [one for some in blocks(pairs, lambda pair: pair) for one in self._link(some)]

    def _link(self, pairs: Sequence[TokenPair]) -> list[Links]:
        block = self._block(pairs)
        both, _, scores = self._posteriors(block)
        found = []
        for number, score in enumerate(scores.tolist()):
            cells = slice(*block.starts[number : number + 2].tolist())
            shape = tuple(block.lengths[:, number].tolist())
            links = self._chosen(*(way[cells].reshape(shape) for way in both))
            found.append(replace(links if self.config.keeps(score) else Links.of_shares({}), score=score))
        return found

    def adapt(self, pairs: Sequence[TokenPair]) -> None:
        """Learn from a sample: how frequent words are, the temperature, and the lengths of jumps."""
        block = self._block(pairs)
        for side, similar in enumerate(self.similarities.sides):
            similar.counts += self._occurrences(pairs, side)
        self.similarities.refer()
        if len(pairs) >= FEW:
            sample = self._block(pairs[:SAMPLE])
            self.similarities.at(max(TEMPERATURES, key=lambda one: self._likelihood(sample, one)))
        _, jumps, _ = self._posteriors(block)
        self.jumps = [learned_jumps(counts) for counts in jumps]

    def learn(
        self,
        pairs: Callable[[], Iterable[TokenPair]],
        rounds: int,
        done: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Learn the counts of a text, read anew for each of the rounds; `done` is called with sentences."""
        sentences = 0
        for number in range(rounds):
            counts, jumps = PairCounts(len(self.counts.table)), [np.zeros_like(self.jumps[0])] * 2
            seen = [np.zeros(0), np.zeros(0)]
            for some in blocks(pairs(), lambda pair: pair):
                if not number and not sentences:
                    self.adapt(some)
                sentences += len(some)
                if self.config.min_score is not None:
                    scores = self._posteriors(self._block(some))[2].tolist()
                    some = [
                        pair for pair, score in zip(some, scores, strict=True) if self.config.keeps(score)
                    ]
                block = self._block(some)
                both, moved, _ = self._posteriors(block)
                jumps = [one + two for one, two in zip(jumps, moved, strict=True)]
                counts.grow([len(side.rows) for side in self.similarities.sides])
                shares = both[0] * both[1]
                kept = shares > LEAST
                counts.add(block.words[0][kept], block.words[1][kept], shares[kept])
                for side in (0, 1):
                    more = self._occurrences(some, side)
                    more[: len(seen[side])] += seen[side]
                    seen[side] = more
                done(sentences)
            self.counts = counts
            for evidence, weight in self._evidence:
                self._add(evidence, weight)
            self.jumps = [learned_jumps(one) for one in jumps]
            for side, own in enumerate(self.similarities.sides):
                own.counts = seen[side]

    def save(self, path: Path) -> None:
        """Write what was learned to an .npz, for `load`."""
        sides = self.similarities.sides
        own = {"temperature": np.array([self.similarities.temperature]), "jumps": np.array(self.jumps)}
        for number, side in enumerate(sides):
            own |= {f"words{number}": of_strings(side.numbers), f"seen{number}": side.counts}
        save_table(path, {"languages": of_strings(self.direction), **own, **self.counts.arrays()})

    def load(self, path: Path) -> None:
        """Read what was saved; BadFile for anything else, Mismatch for what is of other languages."""
        found = load_table(path)
        languages = tuple(strings_of(found["languages"]))
        if languages != self.direction:
            raise Mismatch(
                f"{path}: expected what was learned of {' to '.join(self.direction)}, got "
                f"{' to '.join(languages)}; give --src and --tgt as they were then"
            )
        sides = self.similarities.sides
        for number, side in enumerate(sides):
            side.restart(strings_of(found[f"words{number}"]))
        self.similarities.settle()
        for number, side in enumerate(sides):
            side.counts = found[f"seen{number}"].astype(np.float64)
        self.counts, self.jumps = PairCounts.of_arrays(found), [*found["jumps"]]
        self.similarities.refer()
        self.similarities.at(float(found["temperature"][0]))

    def _chosen(self, forward: Doubles, backward: Doubles) -> Links:
        mean = (forward + backward) / 2
        if self.config.symmetrisation is None:
            return Links.of(mean > self.config.threshold, mean)
        there, back = _best(forward), _best(backward.T).T
        kept = symmetrised(there, back, self.config.symmetrisation)
        return Links.of(kept, mean)

    def _occurrences(self, pairs: Sequence[TokenPair], side: int) -> Doubles:
        own = self.similarities.sides[side]
        numbers = np.array([one for pair in pairs for one in own.of(pair[side])], np.int64)
        return np.bincount(numbers, minlength=len(own.rows)).astype(np.float64)

    def _block(self, pairs: Sequence[TokenPair]) -> _Block:
        sides = self.similarities.sides
        numbers = [
            [np.array(own.of(pair[side]), np.int64) for pair in pairs] for side, own in enumerate(sides)
        ]
        said, given = self.similarities.settle()
        self.counts.grow([len(side.rows) for side in sides])
        for evidence, weight in ((said, SAID), (given, GIVEN)):
            if evidence:
                self._evidence.append((evidence, weight))
                self._add(evidence, weight)
        lengths = np.array([[len(one) for one in side] for side in numbers], np.int64).reshape(2, -1)
        starts = np.append(0, np.cumsum(lengths[0] * lengths[1]))
        csls = np.zeros(starts[-1], np.float32)
        words = np.zeros(starts[-1], np.int64), np.zeros(starts[-1], np.int64)
        for number, (one, two) in enumerate(zip(*numbers, strict=True)):
            cells = slice(*starts[number : number + 2].tolist())
            csls[cells] = self.similarities.csls(one, two).ravel()
            words[0][cells], words[1][cells] = np.repeat(one, len(two)), np.tile(two, len(one))
        odds = None
        if self.encoder is not None:
            ways = self.encoder.log_odds(pairs)
            odds = tuple(np.concatenate([one.ravel() for one in way] or [csls]) for way in ways)
        return _Block(lengths, starts, words, csls, self.counts.places(*words), odds)

    def _add(self, evidence: Evidence, weight: float) -> None:
        source, target, shares = zip(*evidence, strict=True)
        self.counts.add(np.array(source), np.array(target), weight * np.array(shares))

    def _emission(self, block: _Block, side: int) -> Doubles:
        """How much more probable (c,) a word is beside one of the side than by chance."""
        given, other = block.words[side], block.words[1 - side]
        sums = self.similarities.log_sums(side)
        prior = np.exp(block.csls / self.similarities.temperature - sums[given])
        chance = self.similarities.sides[1 - side].probabilities()[other]
        counted = self.counts.table[block.places] / chance
        found = (counted + PRIOR * np.where(np.isnan(prior), 1, prior)) / (
            self.counts.sums[side][given] + PRIOR
        )
        if block.odds is not None:
            found = np.exp(np.minimum(block.odds[side], MOST_ODDS)) * found**BESIDE_ENCODER
        return np.minimum(found, MOST_EMISSION)

    def _posteriors(self, block: _Block) -> tuple[list[Doubles], list[Doubles], Doubles]:
        """The posteriors (c,) of all pairs of words in both directions, counts of jumps, and scores (b,).

        The score of a pair with an empty sentence is nan.
        """
        found, jumps, likelihoods = zip(*(self._one_way(block, side) for side in (0, 1)), strict=True)
        both = block.lengths.all(axis=0)
        scores = np.where(both, sum(likelihoods) / np.maximum(block.lengths.sum(axis=0), 1), np.nan)
        return [*found], [*jumps], scores

    def _likelihood(self, block: _Block, temperature: float) -> float:
        self.similarities.at(temperature)
        return sum(float(self._one_way(block, side)[2].sum()) for side in (0, 1))

    def _one_way(self, block: _Block, side: int) -> tuple[Doubles, Doubles, Doubles]:
        """The posteriors (c,) with a side's words as states, counts of jumps, and log-likelihoods (b,)."""
        states, seen, emission = block.lengths[side], block.lengths[1 - side], self._emission(block, side)
        found, jumps = np.zeros(len(emission)), np.zeros_like(self.jumps[side])
        likelihoods = np.zeros(len(states))
        for some in _of_one_length(states, seen):
            s, t = int(states[some[0]]), seen[some]
            i, j = np.arange(s)[:, None], np.arange(t.max())
            # (b, s, t): where the pairs of words are, in the order of the source's words
            step = (t[:, None, None], 1) if side == 0 else (1, s)
            cells = block.starts[some][:, None, None] + i * step[0] + j * step[1]
            there = np.broadcast_to(j < t[:, None, None], cells.shape)
            values = np.where(there, emission[np.where(there, cells, 0)], 0)
            way, moved, loglik = posteriors(values, t, self.jumps[side], NULL)
            found[cells[there]] = way[there]
            jumps, likelihoods[some] = jumps + moved, loglik
        return found, jumps, likelihoods


def blocks(pairs: Iterable[T], tokens: Callable[[T], TokenPair]) -> Iterator[list[T]]:
    """Yields pairs of sentences, whose `tokens` are these, in blocks of bounded size."""
    found, cells = list[T](), 0
    for pair in pairs:
        found.append(pair)
        own = tokens(pair)
        cells += len(own[0]) * len(own[1])
        if len(found) == BLOCK or cells > MOST_CELLS:
            yield found
            found, cells = [], 0
    if found:
        yield found


def _of_one_length(states: Numbers, seen: Numbers) -> Iterator[Numbers]:
    """Yields the sentences of each number of states, those of about as many observations together."""
    order = np.lexsort((seen, states))
    order = order[(states[order] > 0) & (seen[order] > 0)]
    for some in np.split(order, np.flatnonzero(np.diff(states[order])) + 1):
        for begin in range(0, len(some), 256):
            if len(part := some[begin : begin + 256]):
                yield part


def _best(way: Doubles) -> Flags:
    """For each observation the state (s, t) that it is linked to with the highest probability, if any."""
    found: Flags = np.zeros(way.shape, np.bool_)
    if way.size:
        best = way.argmax(axis=0)
        columns = np.arange(way.shape[1])
        found[best, columns] = way[best, columns] > 1 - way.sum(axis=0)
    return found
