"""Unseen words: words and expressions beyond those of a space, answered by the evidence of its answers.

What that needs is kept beside the answers of a direction: the trees, how the n-grams of the source become
coordinates of spelling, those of the targets, and the scores of each target's best sources. The rank of an
unseen word is taken to follow those of all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from muse.files.archive import arrays_of, write_arrays
from muse.files.space_folder import derived_name
from muse.orthography import plain
from muse.ranking.candidates import (
    BACK_SOURCES,
    HUBNESS_K,
    NEAREST,
    SPELLED,
    NeighbourLists,
    best_by_csls,
)
from muse.ranking.canonical import CanonicalMap, Correspondences, Maps, dots, unit
from muse.ranking.external_scores import ExternalScores
from muse.ranking.features import BilingualViews, candidates_of, features_of
from muse.ranking.model import AnswerModel, best_answers
from muse.ranking.spelling import Grams, Spellings, letters, same_strings
from muse.search.exact import nearest
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.derived import ALIGN, HIGHEST, AnswerTable
from muse.vectors import Matrix, Numbers

MODEL = "answers.{}.model.npz"
SIDES = "refined.source", "refined.target"


@dataclass(frozen=True, eq=False)
class SpelledAlike:
    """How words of the source become coordinates of spelling: by the `basis` (g, k) of their `grams`.

    They are comparable with those of the targets, (m, k), once `offset` (k,) is subtracted.
    """

    grams: Grams
    offset: Matrix
    targets: Matrix

    @classmethod
    def of(cls, grams: Grams, learned: Correspondences) -> SpelledAlike:
        """The coordinates of learned correspondences."""
        own = learned.maps[0]
        basis = np.asarray(grams.basis @ own.map_, np.float32)
        return cls(replace(grams, basis=basis), own.offset.astype(np.float32), learned.target)

    def correspondences(self, words: Sequence[str]) -> Correspondences:
        """The correspondences of words of the source and all targets; zeros where nothing corresponds."""
        found = self.grams.components(words)
        known = self.grams.basis.any()
        rows = unit((found - self.offset).astype(np.float64)) if known else np.zeros_like(found)
        return Correspondences(rows, self.targets)

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """The coordinates as named arrays, mostly of half precision, for an .npz."""
        found: dict[str, NDArray[Any]] = {
            "map": self.grams.basis.astype(np.float16), "targets": self.targets.astype(np.float16),
            "weights": self.grams.weights, "offset": self.offset,
            "names": np.frombuffer("\n".join(self.grams.names).encode(), np.uint8),
        }  # fmt: skip
        return {f"{prefix}.{name}": rows for name, rows in found.items()}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str, *, ends: bool) -> SpelledAlike:
        """The coordinates from named arrays."""
        weights = arrays[f"{prefix}.weights"]
        names = arrays[f"{prefix}.names"].tobytes().decode().split("\n") if len(weights) else []
        map_, targets = (arrays[f"{prefix}.{name}"].astype(np.float32) for name in ("map", "targets"))
        return cls(Grams(names, weights, map_, ends), arrays[f"{prefix}.offset"], targets)


@dataclass(frozen=True, eq=False)
class OovRanker:
    """How words beyond the `count` words of the source are answered with m targets.

    `csls_back` (m, k) are the scores of the best sources of each target, best first, `hubness_back` (m,) and
    `named` (m, 2) as in `NeighbourLists`; `whole` and `ends` the spelling of words and of their endings.
    `mapped_hubness` (m,) is that of the targets in the space, whose rows `maps` refine, if any do.
    """

    model: AnswerModel
    count: int
    csls_back: Matrix
    hubness_back: Matrix
    named: Numbers
    whole: SpelledAlike
    ends: SpelledAlike
    mapped_hubness: Matrix
    maps: Maps = ()

    @classmethod
    def of(cls, model: AnswerModel, views: BilingualViews, mapped_hubness: Matrix, maps: Maps) -> OovRanker:
        """What the model and the views of all words, by rows that `maps` refined, give for others."""
        words, endings = views.written.known[0]
        spelled = SpelledAlike.of(words, views.whole), SpelledAlike.of(endings, views.ends)
        lists = views.lists
        of_targets = lists.csls_back, lists.hubness_back, lists.named
        return cls(model, len(views.source), *of_targets, *spelled, mapped_hubness, maps)

    def refined(self, targets: Matrix) -> Matrix:
        """The rows (m, d) of the targets in the space as they are compared: (m, k)."""
        return self.maps[1].refined(targets) if self.maps else targets

    def answer(
        self, words: Sequence[str], rows: Matrix, targets: tuple[Sequence[str], Matrix, Matrix]
    ) -> AnswerTable:
        """The answers to words with unit rows (q, d), among target words, their rows and refined rows."""
        target, mapped, target_rows = targets
        compared = self.maps[0].refined(rows) if self.maps else rows
        bare = np.array([*map(plain, words)], object), np.array([*map(plain, target)], object)
        lengths = letters(bare[0]), letters(bare[1])
        no_rows = np.zeros((len(words), 0), np.float32), np.zeros((len(target), 0), np.float32)
        same = same_strings(words, target), np.full(len(target), -1)
        written = Spellings((words, target), bare, no_rows, no_rows, lengths, same)
        whole, ends = (side.correspondences([*bare[0]]) for side in (self.whole, self.ends))
        lists, back = self._lists(compared, target_rows)
        spelled = nearest(
            torch.from_numpy(whole.source), torch.from_numpy(whole.target), min(SPELLED, len(target))
        ).indices.numpy()
        ranks = np.full(len(words), self.count)
        # Nobody scored these words; the model may have learned from words that somebody did.
        outside = ExternalScores.none((len(words), len(target)))
        views = BilingualViews(
            compared, target_rows, lists, written, whole, ends, (spelled, back[1]), ranks, outside
        )
        candidates = candidates_of(views, np.arange(len(words)), back)
        evidence = features_of(views, candidates)
        log_odds = self.model.log_odds(evidence)
        probability = self.model.probability(evidence, log_odds)
        near = nearest(torch.from_numpy(rows), torch.from_numpy(mapped), min(HUBNESS_K, len(mapped)))
        own = near.scores.mean(dim=1).numpy()

        def csls(words: Numbers, columns: Numbers) -> Matrix:
            """The CSLS (c,) of words and targets in the space."""
            cosine = dots(rows, mapped, words, columns)
            return np.asarray(2 * cosine - own[words] - self.mapped_hubness[columns], np.float32)

        return best_answers(candidates, log_odds, probability, csls)

    def _lists(self, rows: Matrix, targets: Matrix) -> tuple[NeighbourLists, tuple[Numbers, Numbers]]:
        """The neighbours of the words (q, d), and the pairs of those that a target would have as its best."""
        found = nearest(torch.from_numpy(rows), torch.from_numpy(targets), min(NEAREST, len(targets)))
        cosines, names = found.scores.numpy(), found.indices.numpy()
        own = cosines[:, :HUBNESS_K].mean(axis=1)
        columns, csls = best_by_csls(cosines, names, own, self.hubness_back)
        least = self.csls_back[:, min(BACK_SOURCES, self.csls_back.shape[1]) - 1]
        best = np.nonzero(csls >= least[columns])
        none, no_names = np.zeros((len(targets), 0), np.int64), np.zeros((len(rows), 2), np.int64)
        lists = NeighbourLists(
            columns, csls, none, self.csls_back, own, self.hubness_back, self.named, no_names, (names, none)
        )
        return lists, (best[0], columns[best])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as named arrays, for an .npz."""
        own = {"count": np.array([self.count]), "csls": self.csls_back, "hubness": self.hubness_back}
        own |= {"mapped hubness": self.mapped_hubness}
        for side, map_ in zip(SIDES, self.maps, strict=False):
            own |= map_.arrays(side)
        spelled = self.whole.arrays("whole") | self.ends.arrays("ends")
        return own | {"named": self.named.astype(np.int32)} | spelled | self.model.arrays()

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> OovRanker:
        """All of it from named arrays."""
        named = arrays["named"].astype(np.int64)
        whole, ends = (
            SpelledAlike.of_arrays(arrays, name, ends=name == "ends") for name in ("whole", "ends")
        )
        count = int(arrays["count"][0])
        scores = arrays["csls"], arrays["hubness"], named
        maps = tuple(CanonicalMap.of_arrays(arrays, side) for side in SIDES if f"{side}.map" in arrays)
        model = AnswerModel.of_arrays(arrays)
        return cls(model, count, *scores, whole, ends, arrays["mapped hubness"], maps)


def write_unseen(folder: Path, languages: tuple[str, str], unseen: OovRanker) -> None:
    """Write it beside the answers in the folder of a space."""
    write_arrays(folder / derived_name(MODEL, *languages), unseen.arrays())


def find_unseen(space: Space, direction: tuple[str, str]) -> OovRanker | None:
    """How words beyond those of the space are answered; None where its answers are those of CSLS."""
    counts = len(space.vectors(direction[0])), len(space.vectors(direction[1]))
    name = derived_name(MODEL, *direction)
    return space.once(
        OovRanker, direction, lambda: space.derived.read(name, lambda found: possible(found, counts), ALIGN)
    )


def possible(content: bytes, counts: tuple[int, int]) -> OovRanker:
    """What is in a file, for `counts` words of both languages; ValueError for that of another space."""
    arrays = arrays_of(content)
    found = OovRanker.of_arrays(arrays)
    sizes = (len(found.csls_back), len(found.mapped_hubness), len(found.whole.targets))
    if found.count != counts[0] or {*sizes} != {counts[1]}:
        raise ValueError("no answers of this space")
    numbers = (one for name, one in arrays.items() if one.dtype.kind == "f" and name != "csls")
    if np.isnan(found.csls_back).any() or not all(np.isfinite(one).all() for one in numbers):
        raise ValueError("expected finite numbers")
    shares = found.model.mix, *found.model.curve.values
    cosines = np.concatenate([found.hubness_back, found.mapped_hubness])
    if not all(0 <= share <= 1 for share in shares) or not (np.abs(cosines) <= HIGHEST).all():
        raise ValueError("expected probabilities and mean cosines")
    return found


def answer_unseen(
    space: Space, words: Mapping[str, torch.Tensor], direction: tuple[str, str], retrieval: Retrieval
) -> AnswerTable | None:
    """The answers, by all the evidence, to words with rows (d,) in the space; None where CSLS ranks."""
    if not words or space.answers(*direction, retrieval) is None:
        return None
    if (unseen := find_unseen(space, direction)) is None:
        return None
    target = space.vectors(direction[1])
    rows = torch.stack(list(words.values())).cpu().numpy()
    mapped = np.asarray(target.matrix)
    refined = space.once("refined targets", direction, lambda: unseen.refined(mapped))  # there are many
    return unseen.answer(list(words), rows, (target.words, mapped, refined))
