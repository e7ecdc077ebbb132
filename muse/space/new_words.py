"""New words: words that are not in a space, mapped into it from their vectors.

Vectors of the model that the space was learned from are mapped like its words: by the stored normalisation,
then the mapping. Vectors of another model need a linear map that is fitted to the words common to both.
A file of rows of any length is mapped block by block to another file (`map_rows`).
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Literal
from unicodedata import is_normalized, normalize

import numpy as np

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors, row_writers
from muse.files.detect import kind_of
from muse.files.payloads import Payload
from muse.files.source import refuse_stream
from muse.files.vectors.formats import COMPOSED, has_row_numbers, open_table
from muse.files.vectors.spacy import find_vectors
from muse.files.vectors.table import Block, ReadOptions, Table
from muse.normalise import normalise
from muse.progress import Progress
from muse.space.aligned import Space
from muse.space.inflections import SuffixRules, find_rules
from muse.space.store_projection import into_store
from muse.space.subwords import learn_subwords
from muse.vectors import Matrix, ShortRepr, Vectors, WordIndex

log = logging.getLogger(__name__)

NAMED = 5  # words without a vector that a message lists
COMPARED = 1_000  # common words by which we test whether two sets of vectors are of the same model
SAME_MODEL = 0.9  # the least mean cosine: 0.999 for the same model with three decimals, near 0 for another
LOOKED_AT = 2_000  # the most frequent words of a file, by which we guess its language
# The shares of them that a space has: of two models of a language 0.34 to 1, of two languages 0 to 0.36.
FEW, MANY = 1 / 3, 1 / 2
FITTED = 50_000  # the most frequent common words, to which the map of another model is fitted
_ADVICE = "use vectors of the model that the space was learned from, or map another model's with --fit"
RIDGE = 0.01  # times the mean square of a dimension: keeps directions of low variance from being amplified
_Form = Literal["NFC", "NFD"]


@dataclass(frozen=True, eq=False, repr=False)
class WordVectors(ShortRepr):
    """The vectors of a file: of `words`, most frequent first, and of the strings accepted by `of_other`.

    `raw` returns the rows (n, d) of such words, as the file has them.
    """

    path: Path
    words: Sequence[str]
    of_other: Callable[[str], bool]
    raw: Callable[[Sequence[str]], Matrix]

    @cached_property
    def known(self) -> WordIndex:
        """The place of each word, looked up in whatever Unicode form."""
        return WordIndex(self.words)

    def rows(self, words: Sequence[str]) -> Matrix:
        """The rows (n, d) of words, in whatever Unicode form, and of other strings that have vectors."""
        own: _Form = "NFC" if self._mostly_composed else "NFD"
        other: _Form = "NFD" if self._mostly_composed else "NFC"
        # A model has the n-grams of the text it read; those of the other form are noise.
        return self.raw([
            self.known.entry(word) or (normalize(own, word) if is_normalized(other, word) else word)
            for word in words
        ])  # fmt: skip

    @cached_property
    def _mostly_composed(self) -> bool:
        return sum(is_normalized("NFC", word) - is_normalized("NFD", word) for word in self.words) >= 0


@dataclass(frozen=True, eq=False, repr=False)
class NewWords(ShortRepr):
    """Vectors of one language, and the function `into_space` that maps them: (n, d) to (n, k).

    Where they are `composed`, nothing is known of a word but how it is written.
    """

    language: str
    vectors: WordVectors
    into_space: Callable[[Matrix], Matrix]
    composed: bool = False

    def has(self, word: str) -> bool:
        """Whether there is a vector for the word."""
        return bool(word) and (word in self.vectors.known or self.vectors.of_other(word))

    def rows(self, words: Sequence[str]) -> Matrix:
        """The rows (n, k) in the shared space, of unit length, of words that have vectors."""
        return self.into_space(self.vectors.rows(words))


def name_of_row(row: Matrix) -> str:
    """What a row (k,) without a word is called: its first numbers."""
    return f"[{', '.join(f'{one:.3f}' for one in row[:3].tolist())}, ...]"


def of_row(language: str, row: Matrix) -> NewWords:
    """A row (k,) in the space as the only new word of a language."""
    name = name_of_row(row)
    held = WordVectors(Path(name), [name], lambda _: False, lambda words: np.stack([row] * len(words)))
    return NewWords(language, held, lambda rows: rows)


def load_new_words(space: Space, language: str, path: Path | str, *, fit: bool = False) -> NewWords:
    """New words from a file of vectors, a fastText .bin or any other format that muse reads.

    Raise Mismatch if they are not of the model that the space was learned from, judged by the common words.
    With `fit` they may be of any model, and a linear map is fitted to the common words.
    """
    space.side(language)
    vectors = _opened(find_vectors(Path(path)), language)
    common = [word for word in space.vectors(language).words if word in vectors.known]
    if fit:
        fitted = _fitted(space, language, vectors, common[:FITTED])
        _warn_of_another_language(space, language, vectors)
        return NewWords(language, vectors, fitted)
    d, found = space.side(language).mapping.shape[1], vectors.raw(vectors.words[:1]).shape[1]
    if found != d:
        raise Mismatch(f"{path}: new words of {language} need {d} numbers each, got {found}; {_ADVICE}")
    if common:
        sample = common[:: max(1, len(common) // COMPARED)]
        _check_model(space, language, vectors.path, sample, vectors.rows(sample))
    else:
        log.warning("%s: no word is also in the space, so it is unknown whether the vectors fit it", path)
    return NewWords(language, vectors, lambda matrix: space.map_words(language, matrix))


def own_new_words(
    space: Space,
    language: str,
    *,
    by_forms: bool = True,
    progress: Progress | None = None,
    most: int | None = None,
) -> NewWords:
    """New words composed of the words of the space, without a file.

    With `by_forms`, that is of their known forms, where there are some (`muse.space.inflections`). Elsewhere
    it is of n-grams, which are learned when the first such word is asked for, of the `most` frequent words.
    """
    side = space.vectors(language)
    rules = find_rules(space, language) if by_forms else SuffixRules.none(side.dimension)
    known = np.asarray(side.matrix)
    subwords = cache(lambda: learn_subwords(side.words[:most], known[:most], progress=progress))

    def has(word: str) -> bool:
        """Whether a form of the word is known, or enough of its n-grams."""
        return bool(rules.forms([word], side.index).any[0]) or subwords().has(word)

    def rows(words: Sequence[str]) -> Matrix:
        """The rows (n, k) of words."""
        forms = rules.forms(words, side.index)
        found, others = rules.rows(forms, known), np.flatnonzero(~forms.any)
        if len(others):
            found[others] = subwords().rows([words[place] for place in others.tolist()])
        return found

    vectors = WordVectors(Path(f"n-grams of {language}"), side.words, has, rows)
    return NewWords(language, vectors, lambda matrix: matrix, composed=True)


def map_new_words(space: Space, new_words: NewWords, words: Sequence[str] | None = None) -> Vectors:
    """The words and their rows (n, k) in the shared space: those given, or all that the space lacks."""
    language, index = new_words.language, space.vectors(new_words.language).index
    if words is None:
        chosen = [word for word in new_words.vectors.words if word not in index]
    else:
        chosen = list(dict.fromkeys(word for word in words if word.strip()))
    if not chosen:
        raise BadSetting(
            f"--words must list at least one word of {language}, got none; write one on each line"
            if words is not None
            else f"{new_words.vectors.path}: expected words of {language} that the space does not contain, "
            "got only words that it contains; list them with --words, or give --out FILE.npy for all rows"
        )
    known, missing = list[str](), list[str]()
    for word in chosen:
        (known if new_words.has(word) else missing).append(word)
    if missing:
        some = ", ".join(missing[:NAMED]) + (", ..." if len(missing) > NAMED else "")
        lacking = f"{new_words.vectors.path}: no vector for {len(missing)} of {len(chosen)} words ({some})"
        if not known:
            raise BadSetting(f"{lacking}; use a fastText .bin or floret vectors, which every word has")
        log.warning("%s, left out; a fastText .bin or floret vectors have one for every word", lacking)
    return Vectors(language, known, new_words.rows(known))


def _opened(path: Path, language: str) -> WordVectors:
    refuse_stream(path, "since it is looked at first")
    kind = kind_of(path).name
    if kind in COMPOSED:
        found = COMPOSED[kind](path)
        words = [word for word in found.words() if word != "</s>"]  # fastText's end of line is no word
        return WordVectors(path, words, lambda _: found.has_ngrams, found.rows)
    read = read_vectors(path, language=language)
    kept = read.nonzero()
    if lost := len(read) - len(kept):
        log.warning("%s: left out %d of %d words, with vectors of zeros", path, lost, len(read))
    return WordVectors(
        path, kept.words, lambda _: False, lambda words: kept.matrix[[kept.index[word] for word in words]]
    )


def _check_model(space: Space, language: str, path: Path, words: Sequence[str], rows: Matrix) -> None:
    mapped = space.map_words(language, rows)
    cosine = float((mapped * _rows(space, language, words)).sum(axis=1).mean())
    if cosine < SAME_MODEL:
        raise Mismatch(
            f"{path}: new words of {language} need vectors of the model that the space was learned "
            f"from, got others (mean cosine {cosine:.2f} over {len(words)} common words); {_ADVICE}"
        )


def _warn_of_another_language(space: Space, language: str, vectors: WordVectors) -> None:
    """Warns if few of the words of a file are in the language, or more are in another one of the space."""
    words = vectors.words[:LOOKED_AT]
    shares = {
        of: sum(map(space.vectors(of).index.__contains__, words)) / len(words) for of in space.languages
    }
    known = shares.pop(language)
    best = max(shares, key=shares.__getitem__, default="")
    if best and known < MANY and (known < FEW or shares[best] > known):
        log.warning(
            "%s: %.0f %% of the first %d words are words of %s, %.0f %% of %s: is %s their language?",
            vectors.path, 100 * known, len(words), language, 100 * shares[best], best, language,
        )  # fmt: skip


def _fitted(
    space: Space, language: str, vectors: WordVectors, common: Sequence[str]
) -> Callable[[Matrix], Matrix]:
    # Ridge regression from normalised rows x (c, e) to the rows y (c, d) of the same words in the space:
    # W = (X^T X + a I)^-1 X^T Y (Hoerl & Kennard, 1970).
    e = vectors.raw(vectors.words[:1]).shape[1]
    if len(common) < 2 * e:
        raise Mismatch(
            f"{vectors.path}: --fit needs at least {2 * e} words that are also in the space, got "
            f"{len(common)}; use vectors of more words of {language}"
        )
    x, steps = normalise(vectors.rows(common))
    y = _rows(space, language, common)
    gram = x.T @ x
    weights = np.linalg.solve(gram + RIDGE * np.trace(gram) / e * np.eye(e, dtype=np.float32), x.T @ y)
    return lambda matrix: normalise(steps.apply(matrix) @ weights, ["unit"])[0]


def _rows(space: Space, language: str, words: Sequence[str]) -> Matrix:
    vectors = space.vectors(language)
    return vectors.matrix[[vectors.index[word] for word in words]]


@dataclass(frozen=True)
class StoreFiles:
    """A store and the file that its mapped rows are written to, as float16 if `half`.

    `column` is the one that has the vectors where several do, `id_column` that with the ids. With `among`,
    rows are brought among the unchanged rows of that language. What rows have beside ids and vectors is
    copied where the format of the other file can have it, unless they are `bare`.
    """

    path: Path
    out: Path
    column: str | None = None
    half: bool = False
    among: str | None = None
    bare: bool = False
    id_column: str | None = None

    def payload_of(self, payload: Payload | None) -> Payload | None:
        """What is copied beside ids and vectors, read from now on; the log says what is not."""
        if self.bare or payload is None:
            return None
        carried = row_writers.ending_of(self.out) in row_writers.CARRYING
        left = [*payload.vectors] if carried else [*payload.known, *payload.vectors]
        if left:
            log.warning(
                "%s: not copied to %s: %s%s", self.path, self.out.name, ", ".join(left[:NAMED]),
                ", ..." if left[NAMED:] else "",
            )  # fmt: skip
        payload.wanted = carried
        if row_writers.ending_of(self.out) in (".csv", ".parquet"):  # whose columns are named first
            payload.find_columns(self.out)
        return payload if payload.wanted else None


def map_rows(space: Space, language: str, files: StoreFiles, *, progress: Progress) -> int:
    """The number of rows of a file that were mapped into the shared space and written to another.

    The written one is .npy, .parquet, .jsonl, .csv or .faiss, and appears once it is complete. Only one block
    of rows is in memory at a time. Raise Mismatch if the rows have another dimension than those the space was
    learned from, or words of the space other rows, BadSetting if the name has another ending.
    """
    path, out = files.path, files.out
    row_writers.check_row_file(out, row_writers.STORE_ENDINGS, half=files.half)
    into: Callable[[Matrix], Matrix] = partial(space.map_words, language)
    k = len(space.side(language).mapping)
    if files.among is not None:
        into, k = into_store(space, language, files.among), space.side(files.among).mapping.shape[1]
    with open_table(path, ReadOptions(column=files.column, id=files.id_column)) as table:
        space.check_raw(language, table.dimension, str(path))
        blocks = progress.through(
            f"mapping {language}", _distinct(table), table.max_rows, lambda block: len(block[0]), "rows"
        )
        count, beyond_ascii = 0, 0
        form = row_writers.RowFormat(files.half, table.numbered, files.payload_of(table.payload))
        with row_writers.store_writer(out, k, form) as write:
            for ids, rows in blocks:
                table.dropped.check_hope()
                if not ids:  # a block of blank lines, whose rows have no width
                    continue
                beyond_ascii += sum(not one.isascii() for one in ids)
                if not count:
                    _check_words(space, language, path, ids, rows)
                write(ids, into(rows))
                count += len(rows)
            _check_places(table, out)
            table.dropped.settle(path, beyond_ascii=beyond_ascii)
            if not count:  # in the block, so that nothing is written
                raise BadSetting(f"{path}: expected at least one row to map, got none")
    return count


def _distinct(table: Table) -> Iterator[Block]:
    """The blocks; BadFile for an id that repeats, in a column that only its first values tell to have ids."""
    seen = set[str]()
    for ids, rows in table.blocks:
        if table.label is not None and table.label.guessed and not table.frequency_ordered:
            before = len(seen)
            seen.update(ids)
            if len(seen) < before + len(ids):
                raise BadFile(
                    f"{table.path}: expected ids in the column {table.label.name!r}, whose first values all "
                    f"differ, got some that repeat; name that of the ids, or this: --id {table.label.name}"
                )
        yield ids, rows


def _check_places(table: Table, out: Path) -> None:
    """Raise BadFile if rows were left out of a file in which rows are known by their places alone."""
    if out.suffix != ".npy" and not (out.suffix == ".faiss" and table.numbered):
        return
    if table.dropped:
        raise BadFile(table.dropped.first_error)


def _check_words(space: Space, language: str, path: Path, ids: Sequence[str], rows: Matrix) -> None:
    # Ids are no words: a number may be the place of a row, and a word of the space.
    vectors = space.vectors(language)
    if has_row_numbers(path) or not vectors.frequency_ordered:
        return
    common = [place for place, word in enumerate(ids) if word in vectors.index and not word.isdigit()]
    if common:
        _check_model(space, language, path, [ids[place] for place in common], rows[common])
