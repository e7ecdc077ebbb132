"""Dictionaries written for other programs: the MUSE format, a table with ranks, and JSON lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from muse.errors import BadSetting, Mismatch
from muse.files.lexicon_text import write_lexicon
from muse.files.writing import check_unicode, replaced, unwritable
from muse.lexicon import Lexicon

_HEADER = ("source", "target", "score", "rank")
Entry = tuple[str, str, float | None, int]


def write_dictionary(path: Path | str, lexicon: Lexicon, *, form: str = "muse") -> None:
    r"""Writes a dictionary, whole or not at all, as one of FORMS; packed if the name ends in .gz.

    muse is a pair a line; tsv has a header and source, target, score and rank; jsonl an object a
    line with the same names. The rank counts the translations of a word from 1.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.tsv"
    ...     write_dictionary(path, Lexicon((("cat", "chat"), ("cat", "matou")), (0.5, 0.25)), form="tsv")
    ...     path.read_text()
    'source\ttarget\tscore\trank\ncat\tchat\t0.5\t1\ncat\tmatou\t0.25\t2\n'
    """
    if form not in FORMS:
        raise BadSetting(f"a dictionary format must be one of {', '.join(FORMS)}; got {form!r}")
    if not lexicon.pairs:
        raise Mismatch(f"{path}: expected at least one pair of words, got none; there is nothing to write")
    FORMS[form](Path(path), lexicon)


def _entries(path: Path, lexicon: Lexicon) -> Iterator[Entry]:
    ranks: Counter[str] = Counter()
    scores = lexicon.scores or (None,) * len(lexicon)
    for place, ((source, target), score) in enumerate(zip(lexicon.pairs, scores, strict=True)):
        for word in (source, target):
            check_unicode(path, word, place, kind="pair")
        ranks[source] += 1
        yield source, target, score, ranks[source]


def _write_tsv(path: Path, lexicon: Lexicon) -> None:
    with replaced(path) as stream:
        stream.write(("\t".join(_HEADER) + "\n").encode())
        for place, (source, target, score, rank) in enumerate(_entries(path, lexicon)):
            for word in (source, target):
                if any(sign in word for sign in "\t\n\r"):
                    raise unwritable(path, word, place, kind="pair")
            number = "" if score is None else f"{score:.6g}"
            stream.write(f"{source}\t{target}\t{number}\t{rank}\n".encode())


def _write_jsonl(path: Path, lexicon: Lexicon) -> None:
    with replaced(path) as stream:
        for entry in _entries(path, lexicon):
            line = json.dumps(dict(zip(_HEADER, entry, strict=True)), ensure_ascii=False)
            stream.write(f"{line}\n".encode())


FORMS: dict[str, Callable[[Path, Lexicon], None]] = {
    "muse": write_lexicon,
    "tsv": _write_tsv,
    "jsonl": _write_jsonl,
}
