r"""ARPA files of language models, as KenLM, SRILM and muse write them, compressed or not.

After `\data\` and the number of n-grams of each length there is a section for each length. A line has a
base-10 log-probability, the words and, except for the longest n-grams, a base-10 back-off weight.
"""

import math
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from muse.errors import BadFile
from muse.files.plain_text import blocks_of_lines
from muse.files.source import open_source
from muse.files.writing import replaced
from muse.text.language_model import BEGIN, END, NOWHERE, UNKNOWN, Ids, LanguageModel, Logs, NGrams, find

_LONGEST = 1 << 20  # of a line, in bytes
_LONGEST_HEAD = 1_000  # lines of comments before \data\
_COUNT = re.compile(rb"ngram ([0-9]{1,2}) ?= ?([0-9]{1,12})")
_LN10 = math.log(10)
_ROWS = 10_000  # n-grams written at once
_ADVICE = "give a model as ARPA text, from muse train-lm or KenLM's lmplz"
_HIGHEST_BACKOFF = 99.0  # no model has a weight near 10^99
Part = tuple[Ids, Logs, Logs]  # n-grams of a length as in the file: words (g, length), natural logs, back-off
_LOWEST, _HIGHEST = -99.0, 1e-3  # log-probabilities are clipped to the first, and rejected above the second


class _Lines:
    """The lines of a file that are not blank, and the number of the last one taken."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        self._rest = self._read()

    def take(self) -> bytes:
        """The next line, b"" at the end of the file."""
        return next(self._rest, b"")

    def fault(self, expected: str, got: bytes) -> BadFile:
        """The error to raise where another line was expected."""
        shown = repr(got[:40].decode("utf-8", "backslashreplace")) if got else "the end of the file"
        return BadFile(f"{self.path}:{self.number}: expected {expected}, got {shown}; {_ADVICE}")

    def _read(self) -> Iterator[bytes]:
        with open_source(self.path) as source:
            lines = chain.from_iterable(blocks_of_lines(source.read, self.path, longest=_LONGEST))
            for self.number, line in enumerate(lines, 1):
                if stripped := line.strip():
                    yield stripped


def read_arpa(path: Path | str) -> LanguageModel:
    """The language model in a file; BadFile, naming the line, if it is broken.

    If a model has no <unk>, unknown words get the probability of its rarest word.
    """
    lines = _Lines(Path(path))
    counts = _read_counts(lines)
    index: dict[bytes, int] = {}
    parts = []
    for length, count in enumerate(counts, 1):
        parts.append(_read_part(lines, length, count, index))
        following = b"\\end\\" if length == len(counts) else b"\\%d-grams:" % (length + 1)
        if (line := lines.take()) != following:
            raise lines.fault(f"{following.decode()} after {count} n-grams of length {length}", line)
    try:
        words = [word.decode() for word in index]
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: expected UTF-8, got the word {error.object[:40]!r}; {_ADVICE}") from None
    return _assembled(Path(path), parts, words)


def _read_counts(lines: _Lines) -> list[int]:
    line = lines.take()
    while line != b"\\data\\":
        if not line or lines.number > _LONGEST_HEAD or line.startswith((b"mmap lm", b"blmc")):
            raise lines.fault("the line \\data\\ of an ARPA file", line)
        line = lines.take()
    counts: list[int] = []
    while (line := lines.take()) != b"\\1-grams:" or not counts:
        found = _COUNT.fullmatch(line)
        if not found or int(found[1]) != len(counts) + 1:
            raise lines.fault(f"'ngram {len(counts) + 1}=COUNT'", line)
        counts.append(int(found[2]))
    return counts


def _read_part(lines: _Lines, length: int, count: int, index: dict[bytes, int]) -> Part:
    # The 1-grams fill `index`; longer n-grams may only have words in it.
    rows: list[list[int]] = []
    log_p: list[float] = []
    backoff: list[float] = []
    for _ in range(count):
        line = lines.take()
        fields = line.split()
        if not length < len(fields) <= length + 2:
            raise lines.fault(f"a log-probability, {length} words and at most a number", line)
        try:
            weight = float(fields[length + 1]) if len(fields) == length + 2 else 0.0
            log_p.append(float(fields[0]))
            if length == 1:
                index.setdefault(fields[1], len(index))
            rows.append([index[word] for word in fields[1 : length + 1]])
        except (ValueError, IndexError, KeyError):
            raise lines.fault(f"a number, {length} known words and at most a number", line) from None
        backoff.append(weight)
        if not (log_p[-1] <= _HIGHEST and math.isfinite(weight) and weight <= _HIGHEST_BACKOFF):
            expected = f"a log-probability of at most 0, {length} words and a back-off of at most 99"
            raise lines.fault(expected, line)
    # -inf stands for impossible words; sums with it could no longer be compared.
    logs = [(np.maximum(np.array(one), _LOWEST) * _LN10).astype(np.float32) for one in (log_p, backoff)]
    return np.array(rows, dtype=np.int64).reshape(-1, length), logs[0], logs[1]


def _assembled(path: Path, parts: list[Part], words: list[str]) -> LanguageModel:
    for word in (BEGIN, END):
        if word not in words:
            raise BadFile(f"{path}: expected the word {word}, got none among {len(words)}; {_ADVICE}")
    if UNKNOWN not in words:
        words = [*words, UNKNOWN]
        ids, log_p, backoff = parts[0]
        lowest = log_p[log_p > -90 * _LN10].min(initial=0)
        ids = np.append(ids, [[len(words) - 1]], axis=0)
        parts[0] = ids, np.append(log_p, lowest), np.append(backoff, np.float32(0))
    levels: list[NGrams] = []
    for length, (ids, log_p, backoff) in enumerate(parts, 1):
        keys = ids[:, 0]  # (g,)
        for shorter in range(1, length):
            if shorter > 1:
                keys = find(levels[shorter - 1].keys, keys)
                if lacking := int((keys == NOWHERE).sum()):
                    raise BadFile(
                        f"{path}: expected the prefix of every n-gram to be an n-gram too, got {lacking} "
                        f"without; {_ADVICE}"
                    )
            keys = keys * len(words) + ids[:, shorter]
        order = np.argsort(keys, kind="stable")
        if (np.diff(keys[order]) == 0).any():
            raise BadFile(f"{path}: expected no duplicate n-grams, got some of {length} words; {_ADVICE}")
        levels.append(NGrams(keys[order], log_p[order], backoff[order]))
    return LanguageModel(words, tuple(levels))


def write_arpa(path: Path | str, model: LanguageModel) -> None:
    """Write a language model, compressed if the name ends in .gz; the numbers have seven digits."""
    with replaced(Path(path)) as stream:
        counts = (f"ngram {length}={len(level)}\n" for length, level in enumerate(model.levels, 1))
        stream.write(("\\data\\\n" + "".join(counts)).encode())
        for length in range(1, model.order + 1):
            stream.write(f"\n\\{length}-grams:\n".encode())
            for begin in range(0, len(model.levels[length - 1]), _ROWS):
                stream.write("".join(_written(model, length, begin)).encode())
        stream.write(b"\n\\end\\\n")


def _written(model: LanguageModel, length: int, begin: int) -> Iterator[str]:
    level = model.levels[length - 1]
    chosen = slice(begin, begin + _ROWS)
    columns, nodes = [], level.keys[chosen]
    for shorter in range(length - 1, 0, -1):
        columns.append(nodes % len(model.words))
        nodes = nodes // len(model.words)
        if shorter > 1:
            nodes = model.levels[shorter - 1].keys[nodes]
    texts = zip(
        *(map(model.words.__getitem__, column.tolist()) for column in [nodes, *columns[::-1]]), strict=True
    )
    logs = ((values[chosen] / _LN10).tolist() for values in (level.log_p, level.backoff))
    for text, log_p, backoff in zip(texts, *logs, strict=True):
        end = f"\t{backoff:.7g}" if length < model.order else ""
        yield f"{log_p:.7g}\t{' '.join(text)}{end}\n"
