"""Parallel text: pairs of sentences in one file, by whatever program it was written.

That is a table of any kind, lines with ||| between, what `muse mine` and `muse align-texts` write, a
translation memory (TMX), or an archive with a file for each language, as OPUS has for Moses. Of the columns
of a table those are read that a header names, or else those whose words are of the languages.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from math import log
from pathlib import Path

from muse.errors import BadFile, Mismatch
from muse.files.columns import Fit, Layout, Places, TableColumns, has_number, layout_of, read_columns
from muse.files.detect import TABLE, detect, open_beginning
from muse.files.dictionary_format import DictionaryFile
from muse.files.dictionary_tables import name_of_column
from muse.files.lexicons import formats
from muse.files.plain_text import read_lines
from muse.files.source import is_stream, members
from muse.languages import Languages, language_code
from muse.orthography import lowercase
from muse.text.tokens import Tokeniser
from muse.vectors import Vectors, WordIndex

_COLUMNS = TableColumns(
    {"source": (), "target": (), "score": ("score", "probability")}, optional=("score",), blank=True,
    looks={"score": has_number},
    advice="put a tab between two sentences, name the columns in a first line, such as source and target, "
    "or give two files",
)  # fmt: skip
Read = Callable[[Path], Iterator[str]]


def fit_of_words(index: WordIndex, language: str) -> Fit:
    """How frequent the words of a text are in a vocabulary: 1 of the first one, 0 of unknown ones.

    Vocabularies have words of other languages too, further behind.

    >>> fit = fit_of_words(WordIndex(["le", "roi", "the", "king"]), "fr")
    >>> fit("Le roi.") > fit("the king") > fit("der König") == 0
    True
    """
    tokeniser, scale = Tokeniser(language, index), log(len(index) + 1)

    def fit(text: str) -> float:
        words = [token for token in tokeniser.tokens(text[:1_000]) if token[:1].isalpha()]
        rows = (index.get(word, index.get(lowercase(word, language), len(index))) for word in words)
        return sum(1 - log(row + 1) / scale for row in rows) / max(1, len(words))

    return fit


def fits_of(vectors: Callable[[str], Vectors], languages: Languages) -> list[Fit]:
    """How far texts fit each of the languages, by the words that `vectors` has of one."""
    return [fit_of_words(vectors(language).index, language) for language in languages]


def parallel_layout(path: Path, languages: Languages, fits: Sequence[Fit]) -> Layout | None:
    """The columns of both languages in a table, by their names or by how they fit; None of another file."""
    if is_stream(path) or members(path) or _is_xml(path):
        return None
    return layout_of(path, _wanted(languages, fits))


def parallel_text(
    path: Path, languages: Languages, fits: Sequence[Fit] = (), layout: Layout | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yields where each pair stands, and its sentences in both languages; "" if there is none.

    Which columns of a table are read is told by the `fits` of both languages, or by a `layout`. Raise BadFile
    where that is not clear, for other files, and for files of an archive that differ in length.
    """
    if (files := aligned_files(path, languages)) is not None:
        yield from aligned_lines(*files)
    elif not is_stream(path) and _is_xml(path):
        with open_beginning(path) as beginning:
            pairs = formats()["tmx"].read(DictionaryFile(beginning, languages, "sentences"))
            for place, line in enumerate(pairs, 1):
                yield f"{path}, pair {place}", *line.pair
    else:
        for where, (one, two, _) in read_columns(path, _wanted(languages, fits), layout):
            yield where, one, two


def aligned_lines(source: Path, target: Path, read: Read = read_lines) -> Iterator[tuple[str, str, str]]:
    """Yields the pairs of two files aligned by line, likewise; Mismatch if one has more lines."""
    for number, (one, two) in enumerate(zip_longest(read(source), read_lines(target)), 1):
        if one is None or two is None:
            shorter, longer = (source, target) if one is None else (target, source)
            raise Mismatch(
                f"files aligned by line must have the same number of lines, got {number - 1} in "
                f"{shorter} and more in {longer}; use the files as they were aligned"
            )
        yield f"{source}:{number}", one, two


def aligned_files(path: Path, languages: Languages) -> tuple[Path, Path] | None:
    """The two files aligned by line that an archive has, by the languages that their names end in.

    None of a file that is no such archive; BadFile if there are several pairs of files.
    """
    found: dict[str, dict[str, Path]] = {}
    for one in members(path):
        stem, _, ending = str(one).removesuffix(".gz").rpartition(".")
        found.setdefault(stem, {})[language_code(ending)] = one
    pairs = [tuple(of.get(language_code(language)) for language in languages) for of in found.values()]
    whole = [(one, two) for one, two in pairs if one is not None and two is not None]
    if len(whole) > 1:
        raise BadFile(
            f"{path}: expected one pair of files in {' and '.join(languages)}, got {len(whole)} "
            f"({', '.join(one.name for one, _ in whole[:3])}); give two with --source and --target, unpacked"
        )
    return whole[0] if whole else None


def _is_xml(path: Path) -> bool:
    """Whether a file is a translation memory, or other XML, which its reader refuses by name."""
    with open_beginning(path) as file:
        return "tmx" in formats() and detect(file, TABLE).name in ("tmx", "xml")


def _wanted(languages: Languages, fits: Sequence[Fit] = ()) -> TableColumns:
    codes = [*map(language_code, languages)]

    def named(first: Sequence[str]) -> Places | None:
        found = [name_of_column(place, cell) for place, cell in enumerate(first)]
        by = {one.language: one.place for one in reversed(found) if one and one.language}
        roles = {one.role: one.place for one in reversed(found) if one and one.role and not one.language}
        sides = [by.get(code) for code in codes]
        if None in sides or sides[0] == sides[1]:
            sides = [roles.get(role) for role in ("source", "target")]
        return None if None in sides else (*sides, None)

    return replace(_COLUMNS, named=named, fits=fits)
