"""Reading: the vectors of one language of a run of `muse align`, from a file or an array, normalised."""

from __future__ import annotations

import logging
from pathlib import Path

from muse.api.arrays import Given, RowArray
from muse.api.request import Request
from muse.files import read_vectors
from muse.files.plain_text import read_lines
from muse.files.row_texts import with_texts
from muse.files.table import Wanted, gather, lacks_ngrams
from muse.learn.pair import prepare_
from muse.progress import Progress
from muse.space import SideToSave, check_language
from muse.vectors import Vectors

log = logging.getLogger(__name__)


def read_side(request: Request, language: str, given: Given, progress: Progress) -> SideToSave:
    """The vectors of a language, normalised, with the files that they were read from.

    Words whose vectors are all zeros are left out, with a warning: nothing can be learned of them. Rows
    without words keep their numbers, and those of zeros are found by no search.
    """
    listed, texts = request.word_list(language), request.texts(language)
    if isinstance(given, RowArray):
        if listed is not None:
            raise lacks_ngrams(Path(language))
        table = with_texts(given.table(language), texts)
        vectors = gather(table, Wanted(language, request.max_vocab, request.lowercase))
        vectors = _with_directions(vectors, "the array")
        return SideToSave(*prepare_(vectors, request.config.steps))  # no files: the digest stands for it
    vectors = read_vectors(
        given, language=language, max_vocab=request.max_vocab, lowercase=request.lowercase,
        words=None if listed is None else [word for word in read_lines(listed) if word], texts=texts,
        progress=progress,
    )  # fmt: skip
    check_language(language, vectors.words)
    if vectors.repeated:
        log.warning("%s: dropped %d duplicate %s (%s)", given, vectors.repeated, vectors.noun, language)
    vectors = _with_directions(vectors, given)
    files = tuple(file for file in (given, listed, texts) if file is not None)
    return SideToSave(*prepare_(vectors, request.config.steps), files=files)


def _with_directions(vectors: Vectors, given: object) -> Vectors:
    """The words whose vectors are not all zeros, or all rows without words; warns of those that are."""
    kept = vectors.nonzero()
    if zeros := len(vectors) - len(kept):
        action = "left out" if vectors.ranked else "no counterpart will be found for"
        log.warning(
            "%s: %s %d of %d %s (%s), with vectors of zeros",
            given, action, zeros, len(vectors), vectors.noun, vectors.language,
        )  # fmt: skip
    return kept if vectors.ranked else vectors
