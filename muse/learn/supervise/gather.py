"""Gather: the evidence in a dictionary, as rows of both languages; phrases become the mean of their words."""

from __future__ import annotations

import logging

import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import Mismatch
from muse.learn.supervise.evidence import Evidence, shared_weight
from muse.lexicon import Lexicon
from muse.search.zero_rows import zero_places
from muse.vectors import Vectors

log = logging.getLogger(__name__)

LEAST_KNOWN = 0.5  # the share of the pairs below which a warning says that few are known


class _Entries:
    """The rows of one language, and those of the phrases found so far."""

    def __init__(self, vectors: Vectors, device: str) -> None:
        self.vectors, self.rows = vectors, vectors.tensor(device)
        self.zeros = set(zero_places(self.rows).tolist())
        self.phrases: dict[tuple[int, ...], int] = {}
        self.means: list[Tensor] = []

    def row(self, entry: str) -> int | None:
        """The row number of a word or phrase; None if a word is not in the vocabulary, or its row is zero."""
        if (row := self._own_row(entry)) is not None or " " not in entry:
            return row
        words = [self._own_row(word) for word in entry.split(" ")]
        known = tuple(row for row in words if row is not None)
        if len(known) < len(words):
            return None
        if known not in self.phrases:
            self.phrases[known] = len(self.vectors) + len(self.means)
            self.means.append(normalize(self.rows[list(known)].mean(dim=0), dim=0))
        return self.phrases[known]

    def _own_row(self, word: str) -> int | None:
        row = self.vectors.index.get(word)
        return None if row in self.zeros else row

    def all_rows(self) -> Tensor:
        return torch.cat([self.rows, torch.stack(self.means)]) if self.means else self.rows


def gather(lexicon: Lexicon, source: Vectors, target: Vectors, *, device: str = "cpu") -> Evidence:
    """The pairs of `lexicon` that both vocabularies know, of normalised `source` and `target`.

    A pair weighs what the lexicon says (`Lexicon.weights`), divided by the square root of the number of
    translations of its source word. Raise Mismatch if no pair is known, all that are weigh 0, or the columns
    seem to be swapped.
    """
    sides = _Entries(source, device), _Entries(target, device)
    rows = [(sides[0].row(left), sides[1].row(right)) for left, right in lexicon.pairs]
    known = [place for place, pair in enumerate(rows) if None not in pair]
    _check_known(lexicon, len(known), source, target)
    given = lexicon.weights or (1.0,) * len(lexicon)
    known = [place for place in known if given[place] > 0]
    if not known:
        raise Mismatch(
            "at least one known pair of the dictionary must weigh more than 0, got 0 for each; check their "
            "probabilities"
        )
    pairs = torch.tensor([rows[place] for place in known]).to(device)  # (p, 2)
    own = torch.tensor([given[place] for place in known]).to(device)
    weights = own * shared_weight(pairs)
    return Evidence(sides[0].all_rows(), sides[1].all_rows(), pairs, weights, (len(source), len(target)))


def _check_known(lexicon: Lexicon, known: int, source: Vectors, target: Vectors) -> None:
    """Raise Mismatch if no pair is known, or more are with the columns swapped; warns if few are."""
    ranked = source.ranked and target.ranked
    if not known:
        what, case = ("vocabularies", " and the letters' case (--lower)") if ranked else ("lists of ids", "")
        raise Mismatch(
            f"at least one pair of the dictionary must be in both {what}, got 0 of {len(lexicon)}; check the "
            f"order of the languages{case}"
        )
    swapped = lexicon.known(target.index, source.index)
    if 2 * known < swapped:
        # A few words that both languages spell alike are known: learning from these would take minutes.
        raise Mismatch(
            f"the dictionary must have {source.language} first, but seems to have {target.language}: "
            f"{known} of {len(lexicon)} pairs are known, and {swapped} with the columns swapped; swap "
            "them, or --src and --tgt"
        )
    case = _in_another_case(lexicon, known, source, target) if ranked else ""
    if case or known < LEAST_KNOWN * len(lexicon):
        what = "words" if ranked else "ids"
        log.warning(
            "only %d of %d pairs of the dictionary are of known %s%s", known, len(lexicon), what, case
        )


def _in_another_case(lexicon: Lexicon, known: int, source: Vectors, target: Vectors) -> str:
    """What to do if a good part of the pairs are of words in other letters, upper or lower; "" if not."""
    others = lexicon.in_another_case(known, source.words, target.words)
    if not others:
        return ""
    lowered = lexicon.known(*(set(map(str.lower, side.words)) for side in (source, target))) - known
    advice = "use --lower" if 2 * lowered > others else "write them as the vectors do"
    return f"; {others} more differ in upper and lower case alone: {advice}"
