"""Corpora: the sentences in files of text as programs write them, by the kind that `muse.files.detect` tells.

Read are subtitles, the text of Wikipedia's extractor, translation memories, CoNLL-U, JSON lines and text that
is cut into word pieces or has labels; the signs of other programs would be the most frequent words.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, pairwise
from pathlib import Path

from muse.errors import BadFile, BadSetting
from muse.files.detect import SENTENCES, detect, open_beginning, readable_kind, refused
from muse.files.parquet import text_column
from muse.files.plain_text import lines_of_source
from muse.files.source import is_stream
from muse.files.tables import json_object
from muse.languages import language_code

_TAG = re.compile(r"<(bpt|ept|ph|it|ut)\b[^<>]*>.*?</\1>|<[^<>]*>|\{\\[^{}]*\}")  # those have codes inside
_OF_MEMORY = re.compile(r"""<tuv\b[^>]*\blang=["']([^"']*)["']|<seg>(.*?)</seg>""", re.DOTALL)
_SAMPLE = 1_000  # rows of JSON lines that show which columns have text
_LABELS = re.compile(r"^(?:__label__\S+\s+)+")


def text_of_lines(path: Path, column: str | None = None, language: str | None = None) -> Iterator[str]:
    """The sentences and paragraphs of a file that is no Parquet, without what its format adds.

    `column` is one of JSON lines, `language` that of the sentences of a translation memory. Raise BadFile for
    a kind that is not read, BadSetting without a column or language that is needed.
    """
    with open_beginning(path) as file:
        kind, lines = readable_kind(file, SENTENCES).name, lines_of_source(file.source)
        if kind == "tmx":
            yield from _of_memory(path, lines, language)
        elif kind == "jsonl":
            yield from _of_objects(path, lines, column)
        elif ".tsv" in path.suffixes:
            yield from (line.rpartition("\t")[2] for line in lines)
        else:
            yield from _PLAIN.get(kind, iter)(lines)


def check_lines(path: Path) -> None:
    """Raise BadFile, with the command that extracts the text, for a kind whose lines are no sentences."""
    if is_stream(path) or not path.exists():
        return  # a pipe is read only once
    with open_beginning(path) as file:
        kind = detect(file, SENTENCES)
        if kind.wanted[0] == SENTENCES:
            raise refused(file, kind, SENTENCES)


def _of_dialogue(lines: Iterable[str]) -> Iterator[str]:
    shown = False  # a block has names, notes and times before its text
    for line, after in pairwise(chain(lines, [""])):
        if "-->" in line or not line.strip():
            shown = "-->" in line
        elif shown and not ("-->" in after and line.strip().isdigit()):  # the number of the next block
            yield _TAG.sub("", line)


def _of_columns(lines: Iterable[str]) -> Iterator[str]:
    text, words = "", list[str]()
    for line in chain(lines, [""]):
        if not line.strip() and words:
            yield text or " ".join(words)
            text, words = "", []
        elif line.startswith("# text = "):
            text = line.removeprefix("# text = ")
        elif line.partition("\t")[0].isdigit():
            words.append(line.split("\t")[1])


# What the lines of a kind say.
_PLAIN: dict[str, Callable[[Iterable[str]], Iterator[str]]] = {
    "subtitles": _of_dialogue,
    "wikiextractor": lambda lines: (line for line in lines if not re.match(r"</?doc\b", line)),
    "conllu": _of_columns,
    "bpe": lambda lines: (re.sub("@@(?: |$)", "", line) for line in lines),
    "sentencepiece": lambda lines: ("".join(line.split()).replace("▁", " ").strip() for line in lines),
    "numbered": lambda lines: (line.partition("\t")[2] for line in lines),
    "labels": lambda lines: (_LABELS.sub("", line) for line in lines),
}


def _of_memory(path: Path, lines: Iterable[str], language: str | None) -> Iterator[str]:
    wanted = None if language is None else language_code(language)
    own, waiting, opened = "", list[str](), False
    for line in lines:
        waiting.append(line)
        begin, end = line.rfind("<seg>"), line.rfind("</seg>")
        if opened := opened if begin == end else begin > end:
            continue
        for match in _OF_MEMORY.finditer(" ".join(waiting)):
            own = match[1] or own
            if match[2] is not None and wanted is None:
                raise BadSetting(f"{path}: sentences of {own} and others, got no language; give --lang")
            if match[2] is not None and language_code(own) == wanted:
                yield _TAG.sub("", match[2])
        waiting = []


def _of_objects(path: Path, lines: Iterable[str], column: str | None) -> Iterator[str]:
    filled = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    rows = ((number, json_object(line, f"{path}:{number}")) for number, line in filled)
    first = list(islice(rows, _SAMPLE))
    kinds = str if column is None else str | None  # of a column that is named the first may be missing
    texts = dict.fromkeys(name for _, row in first for name, one in row.items() if isinstance(one, kinds))
    name = text_column(path, [*texts], column)
    for number, row in chain(first, rows):
        if not isinstance(text := row.get(name), str | None):
            raise BadFile(f"{path}:{number}: expected text in {name!r}, got {text!r:.60}; correct it")
        yield text or ""
