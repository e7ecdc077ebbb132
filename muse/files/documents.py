"""Documents: files of paragraphs in order, each with the name of its document."""

from __future__ import annotations

from pathlib import Path

from muse.errors import BadFile
from muse.files.plain_text import read_lines


def read_documents(path: Path | str) -> dict[str, list[str]]:
    """The paragraphs of each document by name, from lines `document<TAB>paragraph`, compressed or not.

    Blank lines and empty paragraphs are skipped. Raise BadFile, naming the line, if a line names no
    document, or if no document has two paragraphs, since no paragraph has a neighbour then.
    """
    documents: dict[str, list[str]] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        name, tab, paragraph = line.partition("\t")
        if not tab or not name.strip():
            raise BadFile(
                f"{path}:{number}: expected document<TAB>paragraph, got a line without document boundaries "
                f"({line[:40]!r}); start each line with the name of its document and a tab, in the order "
                "of the text"
            )
        if paragraph.strip():
            documents.setdefault(name, []).append(paragraph)
    if not any(len(paragraphs) > 1 for paragraphs in documents.values()):
        raise BadFile(
            f"{path}: expected documents of two or more paragraphs, got {len(documents)} with at most one; "
            "start each line with the name of the document that its paragraph belongs to"
        )
    return documents
