"""Documents: paragraphs in their order, of which a file says where one document ends."""

from __future__ import annotations

from pathlib import Path

from muse.errors import BadFile
from muse.files.plain_text import read_lines


def read_documents(path: Path | str) -> dict[str, list[str]]:
    """The paragraphs of each document by its name, of lines `document<TAB>paragraph`, packed or not.

    Blank lines and empty paragraphs are passed over. Raise BadFile, naming the line, where a line names no
    document, and where no document has two paragraphs: no paragraph has a neighbour then.
    """
    documents: dict[str, list[str]] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        name, tab, paragraph = line.partition("\t")
        if not tab or not name.strip():
            raise BadFile(
                f"{path}:{number}: expected document<TAB>paragraph, got a line without document boundaries "
                f"({line[:40]!r}); put the name of its document and a tab before each paragraph, in the "
                "order of the text"
            )
        if paragraph.strip():
            documents.setdefault(name, []).append(paragraph)
    if not any(len(paragraphs) > 1 for paragraphs in documents.values()):
        raise BadFile(
            f"{path}: expected documents of two or more paragraphs, so that these have neighbours, got "
            f"{len(documents)} of one at most; give each paragraph the name of the document it is in"
        )
    return documents
