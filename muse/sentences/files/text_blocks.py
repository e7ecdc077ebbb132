"""Files of aligned texts: tables of blocks, JSON lines, translation memories (TMX), and hunalign's ladder.

.tsv, .csv, .xlsx, .parquet  a row for each block: source, target and probability
.jsonl                       an object for each block, with its sentences and the numbers of their lines
.tmx                         a translation unit for each block that has both sides
.ladder                      source and target line of each border from 0, and the probability of what follows
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from muse.errors import BadFile, BadSetting
from muse.files.plain_text import read_lines
from muse.files.tables import FORMS, form_of, require_form, table_writer
from muse.files.writing import check_place, check_unicode, replaced
from muse.installation import __version__
from muse.sentences.text_alignment import Block
from muse.text.segmentation import sentences_of, unspaced_language

TEXT_BLOCK_FORMS = (*FORMS, "jsonl", "tmx", "ladder")
_COLUMNS = {"source": str, "target": str, "probability": float}
# What XML 1.0 cannot have, and ends of lines, which a line of text has only amid other ends.
_NOT_IN_XML = re.compile("[^\t\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class SentenceText:
    """The sentences (n,) of a text that are not empty, the line and the paragraph of each from 0.

    Paragraphs have empty lines between them. `total` is the number of lines.
    """

    language: str
    sentences: Sequence[str]
    lines: Sequence[int]
    paragraphs: Sequence[int]
    total: int

    def joined(self, begin: int, end: int) -> str:
        """Consecutive sentences as one line, with spaces between them if the language has them."""
        space = "" if unspaced_language(self.language) else " "
        return space.join(" ".join(sentence.split()) for sentence in self.sentences[begin:end])


Texts = tuple[SentenceText, SentenceText]


def read_text(path: Path, language: str, *, split: bool = False) -> SentenceText:
    """The sentences of a file, one a line or, to `split`, of running text; BadFile if there are none."""
    rows, total, paragraph, after_empty = list[tuple[str, int, int]](), 0, 0, False
    for line in read_lines(path):
        found = sentences_of(line) if split else [line] if line.strip() else []
        paragraph += bool(found and after_empty and rows)
        after_empty = not found
        rows += [(sentence, total, paragraph) for sentence in found]
        total += 1
    if not rows:
        raise BadFile(f"{path}: expected sentences, got {total} empty lines; check its name")
    sentences, lines, paragraphs = zip(*rows, strict=True)
    return SentenceText(language, sentences, lines, paragraphs, total)


def check_text_blocks(path: Path, form: str | None) -> str:
    """The format of a file of blocks, given or found by its name; raises what writing it would raise."""
    named = form_of(path, TEXT_BLOCK_FORMS)
    if (found := form or named) is None or named not in (None, found):
        raise BadSetting(
            f"{path}: aligned texts are written as .{', .'.join(TEXT_BLOCK_FORMS)}, got "
            f"{path.name!r}{f' for {form}' if form else ''}; choose such a name"
        )
    check_place(path)
    require_form(path, found)
    return found


def as_fields(texts: Texts, block: Block) -> dict[str, object]:
    """A block as JSON: its sentences on each side, the numbers of their lines from 1, and its probability."""
    fields: dict[str, object] = {}
    for name, text, place in zip(("source", "target"), texts, block[:2], strict=True):
        fields[name] = text.sentences[slice(*place)]
        fields[f"{name}_lines"] = [line + 1 for line in text.lines[slice(*place)]]
    return {**fields, "probability": round(block.probability, 4)}


def table_rows(texts: Texts, blocks: Sequence[Block]) -> Iterator[tuple[str, str, float]]:
    """The source, target and probability of each block; a side without sentences is empty."""
    for source, target, probability in blocks:
        yield texts[0].joined(*source), texts[1].joined(*target), round(probability, 4)


def write_text_blocks(path: Path, form: str, texts: Texts, blocks: Sequence[Block]) -> None:
    """Write blocks, atomically; the file is compressed if its name ends in .gz."""
    if form in FORMS:
        with table_writer(path, _COLUMNS, form) as write:
            for row in table_rows(texts, blocks):
                write(row)
        return
    made = {"jsonl": _json_lines, "tmx": _translation_memory, "ladder": _ladder}[form](texts, blocks)
    with replaced(path) as stream:
        for place, line in enumerate(made):
            check_unicode(path, line, place, kind="line")
            stream.write(line.encode() + b"\n")


def _json_lines(texts: Texts, blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        yield json.dumps(as_fields(texts, block), ensure_ascii=False)


def _ladder(texts: Texts, blocks: Sequence[Block]) -> Iterator[str]:
    one, two = ([0, *text.lines[1:], text.total] for text in texts)  # the line of each border
    for (i, _), (j, _), probability in blocks:
        yield f"{one[i]}\t{two[j]}\t{probability:.4f}"
    yield f"{one[-1]}\t{two[-1]}\t1.0000"


def _translation_memory(texts: Texts, blocks: Sequence[Block]) -> Iterator[str]:
    languages = [quoteattr(text.language) for text in texts]
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<tmx version="1.4">'
    yield (
        f'<header creationtool="muse" creationtoolversion={quoteattr(__version__)} segtype="block" '
        f'o-tmf="text" adminlang="en" srclang={languages[0]} datatype="plaintext"/>'
    )
    yield "<body>"
    for *sides, probability in table_rows(texts, blocks):
        if all(sides):
            units = "".join(
                f"<tuv xml:lang={language}><seg>{escape(_NOT_IN_XML.sub(' ', str(side)))}</seg></tuv>"
                for language, side in zip(languages, sides, strict=True)
            )
            yield f'<tu><prop type="x-probability">{probability:.4f}</prop>{units}</tu>'
    yield "</body>"
    yield "</tmx>"
