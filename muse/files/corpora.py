"""Corpora: the sentences in files of text as programs write them, by the kind that `muse.files.detect` tells.

Read are subtitles, the text of Wikipedia's extractor, translation memories, CoNLL-U, JSON lines and text that
is cut into word pieces or has labels; the signs of other programs would be the most frequent words.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from muse.errors import BadSetting
from muse.files.detect import SENTENCES, detect, open_beginning, readable_kind, refused
from muse.files.plain_text import lines_of_source
from muse.files.source import is_stream
from muse.files.tables import json_object
from muse.languages import language_code

_TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_CUE = re.compile(r"\s*(?:\d+|WEBVTT.*|(?:NOTE|STYLE|REGION)\b.*|.*-->.*)?\s*")
_OF_MEMORY = re.compile(r"""<tuv\b[^>]*\blang=["']([^"']*)["']|<seg>(.*?)</seg>""", re.DOTALL)
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
            plain = _PLAIN.get(kind)
            yield from (
                lines if plain is None else (text for line in lines if (text := plain(line)) is not None)
            )


def check_lines(path: Path) -> None:
    """Raise BadFile, with the command that extracts the text, for a kind whose lines are no sentences."""
    if is_stream(path) or not path.exists():
        return  # a pipe is read only once
    with open_beginning(path) as file:
        kind = detect(file, SENTENCES)
        if kind.name in ("tmx", "jsonl", "html", "opus", *_PLAIN):
            raise refused(file, kind, SENTENCES)


def _of_dialogue(line: str) -> str | None:
    return None if _CUE.fullmatch(line) else _TAG.sub("", line)


def _of_pieces(line: str) -> str:
    return "".join(line.split()).replace("▁", " ").strip()


# What the line of a kind says; None if it is no text.
_PLAIN: dict[str, Callable[[str], str | None]] = {
    "subtitles": _of_dialogue,
    "wikiextractor": lambda line: None if re.match(r"</?doc\b", line) else line,
    "conllu": lambda line: line.removeprefix("# text = ") if line.startswith("# text = ") else None,
    "bpe": lambda line: line.replace("@@ ", ""),
    "sentencepiece": _of_pieces,
    "labels": lambda line: _LABELS.sub("", line),
}


def _of_memory(path: Path, lines: Iterable[str], language: str | None) -> Iterator[str]:
    wanted, own, waiting = None if language is None else language_code(language), "", ""
    for line in lines:
        waiting += line + " "
        if "<seg>" in waiting and "</seg>" not in waiting:
            continue
        for match in _OF_MEMORY.finditer(waiting):
            own = match[1] or own
            if match[2] is not None and wanted is None:
                raise BadSetting(f"{path}: sentences of {own} and others, got no language; give --lang")
            if match[2] is not None and language_code(own) == wanted:
                yield _TAG.sub("", match[2])
        waiting = ""


def _of_objects(path: Path, lines: Iterable[str], column: str | None) -> Iterator[str]:
    for number, line in enumerate(filter(str.strip, lines), 1):
        row = json_object(line, f"{path}:{number}")
        texts = [name for name, value in row.items() if isinstance(value, str)]
        name = column if column is not None or len(texts) != 1 else texts[0]
        if name is None or not isinstance(row.get(name), str | None):
            raise BadSetting(
                f"{path}:{number}: --column must be one of its columns of text "
                f"({', '.join(texts)[:80] or 'none'}), got {column or 'none'}"
            )
        yield row.get(name) or ""
