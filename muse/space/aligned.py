"""The aligned space: languages whose words share one space, and looking words up in it.

It is read from a folder by `muse.space.loading`, and keeps there what searches find of it. Rows are moved to
its device once; hubness, biases and answers are read or computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import StoreMap
from muse.errors import BadFile, BadSetting, Contradiction, Mismatch, did_you_mean
from muse.files.kept import Origin
from muse.files.space_folder import (
    MANIFEST,
    TEXTS,
    VECTORS,
    WORDS,
    folder_name,
)
from muse.files.space_manifest import Mark, Marks, is_overwritten, mark_of
from muse.files.space_record import SpaceRecord
from muse.normalise import Normalisation
from muse.progress import Progress
from muse.search.approximate import Approximation
from muse.search.retrieval import Retrieval
from muse.space.answer_table import AnswersBy, AnswerTable, read_answers
from muse.space.hubness import (
    approximate_hubness_of_both,
    hubness_of_both,
    keep,
    read_kept,
    uses_cached_hubness,
)
from muse.space.saving import mapped
from muse.vectors import Matrix, Vectors

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

    `progress` shows the progress of searches that the space itself runs; `folder` is where the space was
    loaded from, which keeps what they find as long as the `marks` of its files are the same; `in_memory` is
    whether nothing is read from there any more; `approximation` says when searches need not be exact;
    `answers_by` is "all" where translations are those chosen by all the evidence, "csls" where they are
    ranked by CSLS alone; `memo` keeps what other modules find of the space, each under keys of its own, such
    as its calibrations (`muse.ranking.probability`).

    >>> import numpy as np
    >>> rows, steps = np.eye(2, dtype=np.float32), Normalisation(("unit",), ())
    >>> sides = {name: Side(Vectors(name, ["a", "b"], rows), rows, steps) for name in ("fr", "en")}
    >>> Space(sides, pivot="en").direction()
    ('fr', 'en')
    """

    sides: Mapping[str, Side]
    pivot: str
    manifest: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    progress: Progress = field(default_factory=lambda: Progress(quiet=True), repr=False)
    folder: Path | None = None
    marks: Marks | None = None
    in_memory: bool = False
    approximation: Approximation = field(default_factory=Approximation, repr=False)
    answers_by: AnswersBy = "all"
    memo: dict[tuple[str, ...], Any] = field(default_factory=dict, init=False, repr=False)
    # Caches, so that a server need not move or compute these for every request.
    _rows: dict[str, Tensor] = field(default_factory=dict, init=False, repr=False)
    _hubness: dict[tuple[str, str], Tensor] = field(default_factory=dict, init=False, repr=False)
    _answers: dict[tuple[str, str], AnswerTable | None] = field(default_factory=dict, init=False, repr=False)
    _biases: dict[tuple[str, str, Retrieval], Tensor | None] = field(
        default_factory=dict, init=False, repr=False
    )

    def __repr__(self) -> str:
        sides = ", ".join(side.vectors.summary for side in self.sides.values())
        dimension = self.vectors(self.pivot).dimension
        return f"Space({sides}, {dimension} dimensions, pivot {self.pivot})"

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages, in the order they were aligned."""
        return tuple(self.sides)

    @cached_property
    def made(self) -> SpaceRecord:
        """How the space was made: its manifest, typed, whatever of it is recorded."""
        return SpaceRecord.of(self.manifest)

    @property
    def home(self) -> Path | None:
        """The folder that keeps what was found of this space; None once another space has replaced it."""
        return self.folder if self.folder is not None and self.is_current else None

    @property
    def is_current(self) -> bool:
        """Whether manifest, words and vectors in the folder that the space was loaded from are the same."""
        return all(mark_of(path) == mark for path, mark in self._watched)

    @cached_property
    def _watched(self) -> Sequence[tuple[str, Mark | None]]:
        marks = self.marks or {}
        return [(path, marks[path]) for path in marks if path.endswith((MANIFEST, WORDS, VECTORS))]

    def digest(self, *languages: str) -> str:
        """Eight digits that identify the vectors of these languages among all saved spaces."""
        return self.origin(*languages).digits

    def origin(self, *languages: str) -> Origin:
        """The words and vectors of these languages, which seal what is kept of them (`muse.files.kept`)."""
        return Origin.of(self.made.checksums, languages)

    def side(self, language: str) -> Side:
        """The side of `language`; BadSetting if the space has none."""
        if language not in self.sides:
            meant = did_you_mean(language, self.sides)
            raise BadSetting(
                f"the languages of this space are {', '.join(self.sides)}; got {language!r}{meant}"
            )
        return self.sides[language]

    def _check_mapped(self, language: str) -> None:
        """Raise BadFile if a file of `language` that is mapped was overwritten."""
        for path, mark in self._mapped.get(language, ()):
            if is_overwritten(path, mark):
                raise BadFile(
                    f"{path}: expected the file that was loaded, found it overwritten in place; load the "
                    "space again, and replace spaces by renaming, as muse align does"
                )

    @cached_property
    def _mapped(self) -> Mapping[str, Sequence[tuple[str, Mark]]]:
        """The files of each language that are mapped, not in memory, with their marks."""
        if self.folder is None or self.marks is None or self.in_memory:
            return {}
        paths = {
            language: [str(self.folder / folder_name(language) / name) for name in (VECTORS, TEXTS)]
            for language in self.sides
        }
        marks = self.marks
        return {
            language: [(path, mark) for path in own if (mark := marks.get(path)) is not None]
            for language, own in paths.items()
        }

    def vectors(self, language: str) -> Vectors:
        """The words of `language` and their rows (n, k) in the shared space; BadFile if overwritten since."""
        self._check_mapped(language)
        return self.side(language).vectors

    def tensor(self, language: str) -> Tensor:
        """The rows (n, k) of `language` on the space's device, moved there once."""
        self._check_mapped(language)
        if language not in self._rows:
            self._rows[language] = self.vectors(language).tensor(self.device)
        return self._rows[language]

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

        None with another retrieval than CSLS, which asks for another ranking.
        """
        if self.answers_by != "all" or not uses_cached_hubness(retrieval or Retrieval()):
            return None
        key = source, target
        if key not in self._answers and (home := self.home) is not None:
            counts = len(self.vectors(source)), len(self.vectors(target))
            self._answers[key] = read_answers(home, key, counts, self.origin(*key))
        return self._answers.get(key)

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
        made = self.made
        found = [
            made.languages[language].method for language in (source, target) if language in made.languages
        ]
        return "+".join(dict.fromkeys(filter(None, found))) or made.method

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
        """The hubness r (n,) of the words of `language` against another one, None before it was needed.

        It is the mean cosine of each word to its HUBNESS_K nearest words of that language.
        """
        key = (language, against)
        if key not in self._hubness and (home := self.home) is not None:
            approximate = self.is_approximate(against, language)
            count, origin = len(self.vectors(language)), self.origin(*key)
            kept = read_kept(home, key, count, origin, approximate=approximate)
            if kept is not None:
                self._hubness[key] = torch.from_numpy(kept).to(self.device)
        return self._hubness.get(key)

    def is_approximate(self, source: str, target: str) -> bool:
        """Whether the hubness between two languages need not be exact, and is not kept in the folder."""
        rows = self.tensor(source), self.tensor(target)
        if not self.approximation.applies(len(rows[0]), len(rows[1]), on_gpu=rows[1].is_cuda):
            return False
        home = self.home
        origin = self.origin(source, target)
        return home is None or read_kept(home, (target, source), len(rows[1]), origin) is None

    def bias(self, source: str, target: str, retrieval: Retrieval) -> Tensor | None:
        """`retrieval.bias` (m,) of all targets for all sources: read from disk, or computed once and kept."""
        key = (source, target, retrieval)
        if key not in self._biases:
            if uses_cached_hubness(retrieval):
                r = self.hubness(target, source)  # (m,)
                self._biases[key] = (self._find_hubness(source, target) if r is None else r) / 2
            else:
                self._biases[key] = self._find_bias(source, target, retrieval)
        return self._biases[key]

    def _find_hubness(self, source: str, target: str) -> Tensor:
        """The hubness (m,) of the targets; the hubness of the sources, found with it, is kept too."""
        languages, rows = (source, target), (self.tensor(source), self.tensor(target))
        approximate = self.is_approximate(source, target)
        if approximate:
            found = approximate_hubness_of_both(languages, rows, self.progress, self.approximation)
        else:
            found = hubness_of_both(languages, rows, self.progress)
        if (home := self.home) is not None:
            keep(home, languages, found, self.origin(*languages), approximate=approximate)
        self._hubness[(source, target)], self._hubness[(target, source)] = found
        return found[1]

    def _find_bias(self, source: str, target: str, retrieval: Retrieval) -> Tensor | None:
        words = len(self.vectors(target))
        with self.progress.stage(f"hubs of {target} for {source}", words, "words") as tick:
            return retrieval.bias(self.tensor(source), self.tensor(target), tick)
