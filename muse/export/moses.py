"""A Moses phrase table: the best translations of every word, with probabilities in both directions.

A line is `source ||| target ||| p(s|t) lex(s|t) p(t|s) lex(t|s) ||| 0-0`: the four scores of Moses. The
lexical ones equal the others where every phrase is one word. p(t|s) is the softmax of CSLS / T over the
candidates t of s, p(s|t) that over the candidates s of t (Lample et al., 2018, Phrase-Based & Neural
Unsupervised Machine Translation, eq. 3, with CSLS in place of the cosine).

Where the space has answers chosen by all the evidence, these have their own probabilities, which are scaled
down where their sum is above 1, and the others share what is left in proportion to that softmax; none of them
is more probable than the last answer. Phrases, and what text adds to words: `muse.export.phrases`.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from muse.export.phrases import SMALLEST, Both, PhraseCounts, PhrasePairs, WordPair
from muse.files.tables import BARS
from muse.files.writing import check_place, check_text_name, replaced
from muse.progress import Progress, Tick
from muse.ranking.probability import check_temperature, csls_probabilities, fit_temperature, held_out_scores
from muse.ranking.ranker import Ranker
from muse.search.approximate import Approximation
from muse.search.retrieval import check_count
from muse.space import Space
from muse.space.derived import AnswerTable
from muse.space.direction import search_with
from muse.text.phrase_table import escaped
from muse.vectors import Numbers

log = logging.getLogger(__name__)

BATCH = 2_048  # words looked up at once
FITTED_ON = 15_000  # the temperature is fitted to mutual pairs of this many most frequent words
Phrases = list[str | None]  # one for each word, None if Moses cannot represent it


@dataclass(frozen=True)
class MosesConfig:
    """Candidates for each word, the temperature (None: fitted by likelihood), words of each language."""

    top: int = 100
    temperature: float | None = None
    max_vocab: int | None = None

    def __post_init__(self) -> None:
        check_count("--top", self.top)
        if self.temperature is not None:
            check_temperature(self.temperature)


@dataclass(frozen=True)
class PhraseTable:
    """What was written: pairs, words left out (not representable), the temperature in each direction."""

    pairs: int
    left_out: int
    direct: float
    inverse: float

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        temperatures = {"direct": self.direct, "inverse": self.inverse}
        return {"pairs": self.pairs, "left_out": self.left_out, "temperature": temperatures}


@dataclass(frozen=True, eq=False)
class _Way:
    """One direction: its ranker by CSLS, the temperature, and the shares of answers by all the evidence."""

    ranker: Ranker
    temperature: float
    chosen: "_Shares | None"

    @classmethod
    def of(
        cls, space: Space, direction: tuple[str, str], config: MosesConfig, rng: np.random.Generator
    ) -> "_Way":
        """The direction, with the temperature that is given or fitted."""
        most, chosen, temperature = (config.max_vocab,) * 2, None, config.temperature
        search = search_with(Approximation())
        ranker = Ranker(space.by_csls(), direction, top=config.top, most=most, make_search=search)
        if temperature is None:
            log.info("fitting the temperature from %s on held-out mutual pairs", direction[0])
            x, y = (rows[:FITTED_ON] for rows in ranker.rows)
            temperature = fit_temperature(*held_out_scores(x, y, top=config.top, rng=rng))
            if (table := space.answers(*direction)) is not None:
                chosen = _Shares.of(table, (len(ranker.rows[0]), len(ranker.rows[1])))
        return cls(ranker, temperature, chosen)

    def candidates(self, rows: Numbers) -> tuple[Tensor, Tensor]:
        """The CSLS and the row numbers (b, k) of the best targets of the sources `rows` (b,)."""
        found = self.ranker.best(rows)
        return torch.from_numpy(found.scores), torch.from_numpy(found.columns)

    def log_partition(self, tick: Tick) -> Tensor:
        """The log of sum exp(CSLS / T) over the candidates of each source (n,)."""
        found, count = [], len(self.ranker.rows[0])
        for begin in range(0, count, BATCH):
            rows = np.arange(begin, min(begin + BATCH, count))
            found.append(torch.logsumexp(self.candidates(rows)[0] / self.temperature, dim=1))  # (b,)
            tick(begin + len(rows))
        return torch.cat(found)

    def csls(self, rows: Tensor, columns: Tensor) -> Tensor:
        """CSLS (b, k) of the sources `rows` (b,) and the targets `columns` (b, k)."""
        space, (source, target) = self.ranker.space, self.ranker.direction
        (x, y), retrieval = self.ranker.rows, self.ranker.retrieval
        half, half_back = (space.bias(*way, retrieval) for way in ((target, source), (source, target)))
        rows, columns = rows.to(x.device), columns.to(x.device)
        cosines = torch.einsum("bd,bkd->bk", x[rows], y[columns])
        found = 2 * cosines - 2 * cast("Tensor", half)[rows, None] - 2 * cast("Tensor", half_back)[columns]
        return found.cpu()


@dataclass(frozen=True, eq=False)
class _Shares:
    """The probabilities of the answers to n words among m of the other language, in one direction.

    `numbers` are word * m + answer, ascending, `values` their probabilities; `rest` (n,) is what the sum of a
    word's leaves to other words, `last` (n,) the smallest of them.
    """

    numbers: Tensor
    values: Tensor
    rest: Tensor
    last: Tensor
    columns: Tensor  # (n, k), -1 fills up
    width: int

    @classmethod
    def of(cls, table: AnswerTable, sizes: tuple[int, int]) -> "_Shares":
        """The shares of the answers in a table, among the first words of both languages."""
        n, m = sizes
        columns, _, probability = (torch.from_numpy(one) for one in table.within(np.arange(n), m))
        total = probability.sum(dim=1)
        shares = probability / total.clamp_min(1)[:, None]
        some = columns >= 0
        least = torch.cat([torch.where(some, shares, torch.inf), torch.full((n, 1), torch.inf)], dim=1)
        numbers = (torch.arange(n)[:, None] * m + columns)[some]
        order = numbers.argsort()
        return cls(
            numbers[order], shares[some][order], (1 - total).clamp_min(0), least.amin(dim=1), columns, m
        )

    def __call__(self, words: Tensor, answers: Tensor, softmax: Tensor) -> Tensor:
        """The probabilities of pairs, all of one shape, whose `softmax` of CSLS is known."""
        others = torch.minimum(self.rest[words] * softmax, self.last[words])
        if not len(self.numbers):
            return others
        wanted = words * self.width + answers
        places = torch.searchsorted(self.numbers, wanted).clamp_(max=len(self.numbers) - 1)
        return torch.where(self.numbers[places] == wanted, self.values[places].to(softmax), others)


def export_moses(
    space: Space, out: Path, *, direction: tuple[str, str], config: MosesConfig,
    rng: np.random.Generator, counted: PhraseCounts | None = None, progress: Progress | None = None,
) -> PhraseTable:  # fmt: skip
    """The summary of the phrase table of `direction` (source, target), which is written atomically to `out`.

    It has the words of the space, and the phrases `counted` in linked text.

    The lines are in the order of `LC_ALL=C sort`, as Moses' tools require. Compressed if the name ends in
    .gz. Memory holds the two languages, the phrases and one batch.
    """
    check_text_name(out, "phrases", ".txt or .gz")
    check_place(out)
    progress = progress or Progress(quiet=True)
    forward, backward = (_Way.of(space, way, config, rng) for way in (direction, direction[::-1]))
    names = [_phrases(space.vectors(language).words[: config.max_vocab]) for language in direction]
    pairs, total = 0, sum(map(len, forward.ranker.rows))
    with progress.stage(f"phrase table ({out.name})", total, "words") as tick, replaced(out) as stream:
        words = _WordTable((names[0], names[1]), (forward, backward), backward.log_partition(tick))
        phrases = PhrasePairs.of(counted or PhraseCounts(), words.shares)
        # In the order of LC_ALL=C sort: by bytes, including the separator.
        order = sorted({*words.rows, *phrases.places}, key=lambda one: one + BARS)
        for begin in range(0, len(order), BATCH):
            sources = order[begin : begin + BATCH]
            translations = words.translations(sources)
            for source in sources:
                lines = phrases.scored(source, translations.get(source, {}))
                stream.write("".join(lines).encode())
                pairs += len(lines)
            tick(len(names[1]) + (begin + len(sources)) * len(names[0]) // len(order), pairs=pairs)
    left_out = sum(side.count(None) for side in names)
    return PhraseTable(pairs, left_out, forward.temperature, backward.temperature)


@dataclass(frozen=True, eq=False)
class _WordTable:
    """The words of both languages as Moses has them, both directions, and the second's partition (m,)."""

    names: tuple[Phrases, Phrases]
    ways: tuple[_Way, _Way]
    log_partition: Tensor

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each source."""
        return {one: row for row, one in enumerate(self.names[0]) if one is not None}

    def translations(self, sources: Sequence[str]) -> dict[str, dict[str, Both]]:
        """The candidates of the sources that are words, with p(t|s) and p(s|t)."""
        if not (known := [one for one in sources if one in self.rows]):
            return {}
        found = _probabilities([self.rows[one] for one in known], *self.ways, self.log_partition)
        return {
            one: {
                target: (to, of) for column, to, of in zip(*(row.tolist() for row in of_row), strict=True)
                if to > 0 and (target := self.names[1][column]) is not None
            } for one, *of_row in zip(known, *found, strict=True)
        }  # fmt: skip

    def shares(self, pairs: Sequence[WordPair]) -> list[Both]:
        """The p(t|s) and p(s|t) of pairs of words, 0 if they are no candidates."""
        asked, sources = dict.fromkeys(pairs, (0.0, 0.0)), sorted({source for source, _ in pairs})
        for begin in range(0, len(sources), BATCH):
            for source, targets in self.translations(sources[begin : begin + BATCH]).items():
                asked |= {(source, one): both for one, both in targets.items() if (source, one) in asked}
        return [asked[pair] for pair in pairs]


def _probabilities(
    rows: Sequence[int], way: _Way, inverse: _Way, log_partition: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The candidates (b, k) of some sources (b,), p(t|s) (b, k), 0 for none, and p(s|t) (b, k)."""
    sources = torch.tensor(rows)
    scores, indices = way.candidates(sources.numpy())  # (b, k)
    direct = csls_probabilities(scores, way.temperature).clamp_min(SMALLEST)
    if way.chosen is not None:
        columns = way.chosen.columns[sources]
        repeated = (indices[:, :, None] == columns[:, None]).any(dim=2)
        some = columns >= 0
        indices = torch.cat([columns.clamp_min(0), indices], dim=1)
        scores = torch.cat([way.csls(sources, columns.clamp_min(0)), scores], dim=1)
        softmax = torch.cat([torch.zeros_like(columns, dtype=direct.dtype), direct], dim=1)
        direct = way.chosen(sources[:, None].expand_as(indices), indices, softmax).clamp_min(SMALLEST)
        direct = direct * ~torch.cat([~some, repeated], dim=1)
    # p(s|t) is computed even if s is not among the candidates of t, over which the partition sums.
    back = torch.exp(scores / inverse.temperature - log_partition[indices]).clamp(SMALLEST, 1)
    if inverse.chosen is not None:
        back = inverse.chosen(indices, sources[:, None].expand_as(indices), back).clamp(SMALLEST, 1)
    return indices, direct, back


def _phrases(words: Sequence[str]) -> Phrases:
    # None for a word that is no phrase, or a duplicate once it is cleaned.
    found: dict[str, int] = {}
    for row, word in enumerate(words):
        if phrase := escaped(word):
            found.setdefault(phrase, row)
    kept: Phrases = [None] * len(words)
    for phrase, row in found.items():
        kept[row] = phrase
    return kept
