"""Labels carried over links: annotation projection (Yarowsky, Ngai and Wicentowski, 2001).

The counterpart of a labelled span is the smallest span with all words that are linked with its words. A span
without words, such as `<br/>`, stands before the counterpart of the word after it, or behind that of a word
before it. What has no link is not carried.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from muse.files.json_text import parse_json
from muse.files.plain_text import read_lines
from muse.links.links import Links

Place = tuple[int, int]  # from which character to which
Span = tuple[int, int, str]  # from which character to which, and its label
SURE = 0.5  # the least probability of a link that carries a label
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s"'<>=]+)"""
_TAG = re.compile(rf"<(/?)([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*{_VALUE})*\s*/?)>")
_NAME = re.compile(r"[^\s<>]+")
_NO_WORD = re.compile(r"# .* = |-DOCSTART-")
_WITHOUT_TEXT = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_BEGIN, _INSIDE = "BSU", "IEL"  # of BIO, IOBES and BILOU
_LABEL = re.compile(rf"([{_BEGIN}{_INSIDE}])-(.+)")


class LabelledText(NamedTuple):
    """A text with labelled spans, the outer ones first."""

    text: str
    spans: tuple[Span, ...]


def carried(
    spans: Iterable[Span], places: tuple[Sequence[Place], Sequence[Place]], links: Links, least: float = SURE
) -> list[Span | None]:
    """The counterpart of each span, or None; `places` are those of the words of both sentences.

    >>> links = Links.of_shares({(0, 1): 1, (1, 0): 1})
    >>> carried([(0, 4, "LOC"), (5, 9, "X"), (5, 5, "<br/>")], ([(0, 4), (5, 9)], [(0, 2), (3, 6)]), links)
    [(3, 6, 'LOC'), (0, 2, 'X'), (0, 0, '<br/>')]
    """
    one, two = places
    counterparts = [list[int]() for _ in one]
    for i, j, share in links:
        if share >= least:
            counterparts[i].append(j)
    found = list[Span | None]()
    for begin, end, label in spans:
        inside = (of for (b, e), of in zip(one, counterparts, strict=True) if b < end and begin < e)
        if begin < end:
            linked = [j for of in inside for j in of]
            whole = (two[min(linked)][0], two[max(linked)][1], label) if linked else None
            found.append(whole)
            continue
        behind = (two[min(of)][0] for (b, _), of in zip(one, counterparts, strict=True) if of and b >= begin)
        before = [two[max(of)][1] for (b, _), of in zip(one, counterparts, strict=True) if of and b < begin]
        at = next(behind, before[-1] if before else None)
        found.append(None if at is None else (at, at, label))
    return found


def without_overlaps(spans: Iterable[Span | None]) -> list[Span]:
    """The spans in order, of which each ends where the next one begins."""
    kept = sorted(filter(None, spans))
    ends = [*(span[0] for span in kept[1:]), None]
    cut = (
        (b, e if end is None else min(e, end), label) for (b, e, label), end in zip(kept, ends, strict=True)
    )
    return [span for span in cut if span[0] < span[1]]


def nested(source: Sequence[Span], target: Sequence[Span | None]) -> list[Span]:
    """The spans, outer ones first, of which each is inside the other or apart, as tags must be.

    What is inside another span of the source stays inside it; of two that cross, the later one is cut.
    """
    whole = [*target]
    for inner in reversed(range(len(source))):
        for outer in range(inner):
            (b, e, _), one, two = source[inner], whole[outer], whole[inner]
            if one and two and source[outer][0] <= b and e <= source[outer][1]:
                whole[outer] = (min(one[0], two[0]), max(one[1], two[1]), one[2])
    found, open_ = list[Span](), list[int]()
    for begin, end, label in sorted(filter(None, whole), key=lambda span: (span[0], -span[1])):
        while open_ and open_[-1] <= begin:
            open_.pop()
        end = min(end, open_[-1]) if open_ else end
        found.append((begin, end, label))
        open_.append(end)
    return found


def read_tags(line: str) -> LabelledText:
    """The text without its tags, whose labels are the tags; ValueError for one that is not closed.

    >>> read_tags('Le <b>roi <i class="x">mort</i></b>')
    LabelledText(text='Le roi mort', spans=((3, 11, '<b>'), (7, 11, '<i class="x">')))
    """
    text, last, open_ = "", 0, list[tuple[str, int]]()
    spans = list[Span]()
    for match in _TAG.finditer(line):
        text, last = text + line[last : match.start()], match.end()
        closing, name, rest = match.groups()
        if not closing:
            if not rest.endswith("/") and name.lower() not in _WITHOUT_TEXT:
                open_.append((name, len(spans)))
            spans.append((len(text), len(text), match[0]))
            continue
        if not open_ or open_[-1][0] != name:
            raise ValueError(f"expected a tag such as <{name}> before {match[0]}, which it closes, got none")
        begin, _, tag = spans[number := open_.pop()[1]]
        spans[number] = (begin, len(text), tag if begin < len(text) else tag + match[0])
    if open_:
        raise ValueError(f"expected a tag that closes <{open_[-1][0]}>, got none")
    return LabelledText(text + line[last:], tuple(spans))


def write_tags(
    text: str, places: Sequence[Place], source: Sequence[Span], found: Sequence[Span | None]
) -> str:
    """The text with tags around its spans; one that stands alone is at the end if nothing is linked."""
    end = len(text)
    placed = [
        one or ((end, end, label) if begin == last else None)
        for (begin, last, label), one in zip(source, found, strict=True)
    ]
    marks = list[tuple[int, int, int, str]]()  # where ends are before tags that stand for themselves
    for number, (begin, last, tag) in enumerate(nested(source, placed)):
        marks.append((begin, 1 + (begin < last), number, tag))
        if begin < last:
            marks.append((last, 0, -number, f"</{''.join(_NAME.findall(tag)[:1])}>"))
    parts, done = list[str](), 0
    for at, _, _, tag in sorted(marks):
        parts += [text[done:at], tag]
        done = at
    return "".join([*parts, text[done:]])


def read_columns(lines: str) -> LabelledText:
    r"""The words in the first column of some lines, and the spans that the last one marks; ValueError else.

    >>> read_columns("Ada B-PER\nLovelace I-PER\nwrites O")
    LabelledText(text='Ada Lovelace writes', spans=((0, 12, 'PER'),))
    """
    text, spans = "", list[Span]()
    inside = ""
    for line in lines.split("\n"):
        cells = line.split("\t") if "\t" in line else line.split()
        match = _LABEL.fullmatch(cells[-1].strip())
        if len(cells) < 2 or (match is None and cells[-1].strip() != "O"):
            raise ValueError(f"expected a word and a label such as B-PER, I-PER or O, got {line[:60]!r}")
        begin = len(text) + bool(text)
        text += " " * bool(text) + "_".join(cells[0].split())
        if match is not None and match[1] in _INSIDE and match[2] == inside:
            spans[-1] = (spans[-1][0], len(text), inside)
        elif match is not None:
            spans.append((begin, len(text), match[2]))
        inside = match[2] if match else ""
    return LabelledText(text, tuple(spans))


def write_columns(
    text: str, places: Sequence[Place], source: Sequence[Span], found: Sequence[Span | None]
) -> str:
    """A line a word with its BIO label, and an empty line; spans that overlap are cut."""
    spans, lines = without_overlaps(found), list[str]()
    last = None
    for begin, end in places:
        own = next((span for span in spans if span[0] < end and begin < span[1]), None)
        label = "O" if own is None else f"{'I' if own is last else 'B'}-{own[2]}"
        lines.append(f"{'_'.join(text[begin:end].split())}\t{label}\n")
        last = own
    return "".join(lines)


def column_blocks(path: Path) -> Iterator[str]:
    """Yields the lines of each sentence, which empty lines part; comments and -DOCSTART- are left out."""
    kept = (line for line in read_lines(path) if not _NO_WORD.match(line))
    for is_empty, lines in groupby(kept, lambda line: not line.strip()):
        if not is_empty:
            yield "\n".join(lines)


def read_json(line: str) -> LabelledText:
    """The `text` and the `labels`, or `label`, [begin, end, label], of an object; ValueError for another."""
    found = parse_json(line.encode())
    spans = found.get("labels", found.get("label")) if isinstance(found, dict) else None
    text = found.get("text") if isinstance(found, dict) else None
    if (
        not isinstance(text, str)
        or not isinstance(spans, list)
        or not all(_is_span(one, text) for one in spans)
    ):
        raise ValueError(
            f'expected an object such as {{"text": "Ada", "labels": [[0, 3, "PER"]]}}, got {line[:60]!r}'
        )
    return LabelledText(
        text, tuple(sorted(((b, e, label) for b, e, label in spans), key=lambda s: (s[0], -s[1])))
    )


def write_json(
    text: str, places: Sequence[Place], source: Sequence[Span], found: Sequence[Span | None]
) -> str:
    """An object with the text and its spans."""
    return json.dumps({"text": text, "labels": [*filter(None, found)]}, ensure_ascii=False)


def _is_span(found: object, text: str) -> bool:
    match found:
        case [int(begin), int(end), str()]:
            return 0 <= begin <= end <= len(text)
    return False


class LabelForm(NamedTuple):
    """How labelled sentences are told apart, read, and written for another text."""

    sentences: Callable[[Path], Iterator[str]]
    read: Callable[[str], LabelledText]
    write: Callable[[str, Sequence[Place], Sequence[Span], Sequence[Span | None]], str]

    def plain(self, sentence: str) -> str:
        """The text of a labelled sentence; of a damaged one, nothing."""
        try:
            return self.read(sentence).text
        except ValueError:
            return ""


FORMS = {
    "tags": LabelForm(read_lines, read_tags, write_tags),
    "bio": LabelForm(column_blocks, read_columns, write_columns),
    "jsonl": LabelForm(read_lines, read_json, write_json),
}
