"""The aligned space: languages whose words share one space, and looking words up in it.

It is read from a folder by `muse.space.loading`, and keeps there what searches find of it. Rows are moved to
its device once; hubness, biases and answers are read or computed once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import StoreMap
from muse.errors import BadSetting, Contradiction, Mismatch, did_you_mean
from muse.files.space_manifest import Manifest
from muse.normalise import Normalisation
from muse.progress import Progress
from muse.search.approximate import Approximation
from muse.search.bidirectional_search import BothDirections
from muse.search.retrieval import Retrieval
from muse.space.derived import (
    AnswersBy,
    AnswerTable,
    DerivedFiles,
    hubness_file,
    hubness_of_both,
    read_answers,
    read_hubness,
    uses_cached_hubness,
)
from muse.space.saving import mapped
from muse.vectors import Matrix, Vectors

T = TypeVar("T")
_RANK = 1e-5  # singular values below this share of the largest are rounding: mappings are float32


@dataclass(frozen=True, eq=False)
class Side:
    """One language of a space: its mapped rows (n, k) of unit length, the normalisation and the mapping.

    `mapping` (k, d) acts on normalised rows, x W^T. `store_map` is for queries among the unchanged rows of
    the pivot (`muse.space.store_projection`).
    """

    vectors: Vectors
    mapping: Matrix
    normalisation: Normalisation
    store_map: StoreMap | None = None

    def __repr__(self) -> str:
        return f"Side({self.vectors.summary}, {self.vectors.dimension} dimensions)"


@dataclass(frozen=True, eq=False)
class Space:
    """Languages in the space of one of them, the pivot; `manifest` records how it was made.

    `progress` shows the progress of searches that the space itself runs; `folder` is where it was loaded
    from, with what was derived of it, whose `contents` may be in memory; `approximation` says when searches
    need not be exact; `answers_by` is "all" where translations are those chosen by all the evidence, "csls"
    where they are ranked by CSLS alone.

    >>> import numpy as np
    >>> rows, steps = np.eye(2, dtype=np.float32), Normalisation(("unit",), ())
    >>> sides = {name: Side(Vectors(name, ["a", "b"], rows), rows, steps) for name in ("fr", "en")}
    >>> Space(sides, pivot="en").direction()
    ('fr', 'en')
    """

    sides: Mapping[str, Side]
    pivot: str
    manifest: Manifest = field(default_factory=Manifest)
    device: str = "cpu"
    progress: Progress = field(default_factory=lambda: Progress(quiet=True), repr=False)
    folder: Path | None = None
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    approximation: Approximation = field(default_factory=Approximation, repr=False)
    answers_by: AnswersBy = "all"
    _found: dict[tuple[Any, ...], Any] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        sides = ", ".join(side.vectors.summary for side in self.sides.values())
        dimension = self.vectors(self.pivot).dimension
        return f"Space({sides}, {dimension} dimensions, pivot {self.pivot})"

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages, in the order they were aligned."""
        return tuple(self.sides)

    @cached_property
    def derived(self) -> DerivedFiles:
        """What was derived of the space when it was written."""
        return DerivedFiles(self.folder, self.manifest.checksums, self.contents)

    def once(self, kind: object, languages: tuple[str, ...], make: Callable[[], T]) -> T:
        """What is found of some languages, made at the first call: a server need not find it each time."""
        key = kind, *languages
        if key not in self._found:
            self._found[key] = make()
        found: T = self._found[key]
        return found

    def keep(self, direction: tuple[str, str], value: object) -> None:
        """Let `once` return a value from now on."""
        self._found[type(value), *direction] = value

    def side(self, language: str) -> Side:
        """The side of `language`; BadSetting if the space has none."""
        if language not in self.sides:
            meant = did_you_mean(language, self.sides)
            raise BadSetting(
                f"the languages of this space are {', '.join(self.sides)}; got {language!r}{meant}"
            )
        return self.sides[language]

    def vectors(self, language: str) -> Vectors:
        """The words of `language` and their rows (n, k) in the shared space."""
        return self.side(language).vectors

    def single_words(self, language: str) -> Vectors:
        """The words of `language`, without the units of several words that may stand behind them."""
        record = self.manifest.language(language)
        return self.vectors(language).most_frequent(record.words - record.units if record.units else None)

    def units(self, language: str) -> Sequence[str]:
        """The units of several words that were found in text of `language`, and added behind its words."""
        return self.vectors(language).words[len(self.single_words(language)) :]

    def without_units(self) -> Self:
        """The same space of words alone, with the answers to these."""
        if not any(record.units for record in self.manifest.languages.values()):
            return self
        sides = {one: replace(side, vectors=self.single_words(one)) for one, side in self.sides.items()}
        records = {
            one: replace(record, words=record.words - record.units, units=0)
            for one, record in self.manifest.languages.items()
        }
        found = replace(self, sides=sides, manifest=replace(self.manifest, languages=records))
        for way in permutations(self.languages, 2):
            counts = len(found.vectors(way[0])), len(found.vectors(way[1]))
            if (table := self.answers(*way)) is not None:
                found._found["answers", *way] = table.only(*counts)
            if (hubness := self.hubness(*way)) is not None:
                found._found["hubness", *way] = hubness[: counts[0]]
        return found

    def tensor(self, language: str) -> Tensor:
        """The rows (n, k) of `language` on the space's device, moved there once."""
        return self.once("rows", (language,), lambda: self.vectors(language).tensor(self.device))

    def unweighted(self, language: str, most: int) -> Tensor:
        """The rows (n, k) of the `most` frequent words of `language`, rotated into the space, unweighted.

        W = Q P is a (semi-)orthogonal Q after a stretch P (its polar decomposition): x W^T becomes x Q^T.
        If W is orthogonal, this equals `tensor` up to rounding in float32.
        """
        mapping = torch.from_numpy(self.side(language).mapping).double()  # (k, d)
        left, _, right = torch.linalg.svd(mapping, full_matrices=False)
        undone = left @ right @ torch.linalg.pinv(mapping, rtol=_RANK)  # Q W^-1
        rows = self.tensor(language)[:most]
        return normalize(rows @ undone.T.to(rows))

    def direction(self, source: str | None = None, target: str | None = None) -> tuple[str, str]:
        """The languages to translate between; the default is the pivot, or the only other language."""
        if target is None:
            target = self._other() if source == self.pivot else self.pivot
        if source is None:
            source = self._other() if target == self.pivot else self.pivot
        for language in (source, target):
            self.side(language)
        if source == target:
            raise Contradiction(f"source and target must be different languages, got {source!r} twice")
        return source, target

    def answers(self, source: str, target: str, retrieval: Retrieval | None = None) -> AnswerTable | None:
        """The answers chosen by all the evidence, if the space has them and is asked for them.

        None with another retrieval than CSLS, which asks for another ranking, and of a mapping that failed,
        whose evidence is none.
        """
        failed = self.manifest.verdict_on(source, target).label == "failed"
        if failed or self.answers_by != "all" or not uses_cached_hubness(retrieval or Retrieval()):
            return None
        way, words = (source, target), (self.vectors(source).words, self.vectors(target).words)
        return self.once("answers", way, lambda: read_answers(self.derived, way, words))

    def by_csls(self) -> Self:
        """The same space, with translations ranked by CSLS alone."""
        return replace(self, answers_by="csls")

    def _other(self) -> str:
        others = [language for language in self.sides if language != self.pivot]
        if len(others) != 1:
            raise BadSetting(
                f"this space has {', '.join(others) or 'nothing'} besides {self.pivot}; "
                "choose one with --src or --tgt"
            )
        return others[0]

    def method(self, source: str, target: str) -> str:
        """The method by which the mappings between two languages were found, joined by + if they differ."""
        found = [self.manifest.language(language).method for language in (source, target)]
        return "+".join(dict.fromkeys(filter(None, found))) or self.manifest.method

    def map_words(self, language: str, matrix: Matrix) -> Matrix:
        """New words of `language`, raw rows (n, d), as rows of unit length in the shared space.

        Raise Mismatch for rows that are not finite, and for an array of another shape.
        """
        return mapped(self.normalised(language, matrix), self.side(language).mapping)

    def normalised(self, language: str, matrix: Matrix) -> Matrix:
        """New words of `language`, raw rows (n, d), normalised as its words were; Mismatch as `map_words`."""
        if matrix.ndim != 2:
            raise Mismatch(
                f"new words of {language} must be rows (n, d), got an array of shape {matrix.shape}; give "
                "one row as matrix[None]"
            )
        self.check_raw(language, matrix.shape[1], "new words")
        finite = np.isfinite(matrix).all(axis=1)  # (n,)
        if not finite.all():
            raise Mismatch(
                f"new words of {language}: expected finite numbers, got nan or inf in row "
                f"{int(np.argmin(finite)) + 1} of {len(matrix)}; leave such rows out"
            )
        return self.side(language).normalisation.apply(matrix)

    def check_raw(self, language: str, dimension: int, name: str) -> None:
        """Raise Mismatch unless raw rows of `language` have that dimension; `name` says where they are."""
        d = self.side(language).mapping.shape[1]
        if dimension != d:
            raise Mismatch(
                f"{name}: rows of {language} need {d} numbers each, got {dimension}; take them from the "
                "model that the space was learned from"
            )

    def hubness(self, language: str, against: str) -> Tensor | None:
        """The hubness r (n,) of the words of `language` against another one; None before it was found.

        It is the mean cosine of each word to its HUBNESS_K nearest words of that language.
        """
        key = "hubness", language, against
        if self._found.get(key) is None:
            approximate, count = self.is_approximate(against, language), len(self.vectors(language))
            kept = read_hubness(self.derived, key[1:], count, approximate=approximate)
            self._found[key] = None if kept is None else torch.from_numpy(kept).to(self.device)
        found: Tensor | None = self._found[key]
        return found

    def is_approximate(self, source: str, target: str) -> bool:
        """Whether the hubness between two languages need not be exact, and the space has no exact one."""
        counts = len(self.vectors(source)), len(self.vectors(target))
        if not self.approximation.applies(*counts, on_gpu=self.tensor(target).is_cuda):
            return False
        return hubness_file((target, source), approximate=False) not in self.manifest.checksums

    def bias(self, source: str, target: str, retrieval: Retrieval) -> Tensor | None:
        """`retrieval.bias` (m,) of all targets for all sources, found once."""

        def found() -> Tensor | None:
            if uses_cached_hubness(retrieval):
                return self.find_hubness(source, target)[1] / 2
            words = len(self.vectors(target))
            with self.progress.stage(f"hubs of {target} for {source}", words, "words") as tick:
                return retrieval.bias(self.tensor(source), self.tensor(target), tick)

        return self.once(retrieval, (source, target), found)

    def lacks_exact_hubness(self, source: str, target: str) -> bool:
        """Whether the hubness between two languages is to be exact and is not known yet."""
        known = self.hubness(source, target), self.hubness(target, source)
        return any(one is None for one in known) and not self.is_approximate(source, target)

    def keep_hubness(self, source: str, target: str, nearest: BothDirections) -> None:
        """Keep the hubness that follows from the HUBNESS_K nearest neighbours of both languages."""
        for way, found in zip(((source, target), (target, source)), nearest, strict=True):
            self._found["hubness", *way] = found.scores.mean(dim=1)

    def find_hubness(self, source: str, target: str) -> tuple[Tensor, Tensor]:
        """The hubness (n,) and (m,) of both languages against one another: known, or found now."""
        known = self.hubness(source, target), self.hubness(target, source)
        if known[0] is not None and known[1] is not None:
            return known[0], known[1]
        languages, rows = (source, target), (self.tensor(source), self.tensor(target))
        approximation = self.approximation if self.is_approximate(source, target) else None
        found = hubness_of_both(languages, rows, self.progress, approximation)
        self._found["hubness", source, target], self._found["hubness", target, source] = found
        return found
