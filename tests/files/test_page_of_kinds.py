"""The page "What muse reads" has the kinds that the detector knows, each with what it says of them."""

import pytest

from muse.files.detect import KINDS, SENTENCES, VECTORS, Kind
from tests.files.test_what_dictionaries_are_read import PAGE

CORPORA = [kind for kind in KINDS if kind.wanted[0] == SENTENCES]
NOT_READ = [
    kind for kind in KINDS
    if not kind.readers and VECTORS in kind.wanted and isinstance(kind.advice, str) and kind.name != "lfs"
]  # fmt: skip


def row(kind: Kind) -> str:
    """The row of the page for a kind of file; run this module's tests to be shown the missing ones."""
    advice = (
        str(kind.advice)
        .removeprefix("extract the text: ")
        .replace("{file}", "FILE")
        .replace("{path}", "FILE")
    )
    read = [] if kind not in CORPORA else ["read" if kind.readers else "refused"]
    return f"| {' | '.join([kind.noun, *read, advice.replace('|', chr(92) + '|')])} |"


@pytest.mark.parametrize("kind", [*CORPORA, *NOT_READ], ids=lambda kind: kind.name)
def test_the_page_has_each_kind(kind: Kind) -> None:
    assert row(kind).replace("`", "") in PAGE.replace("`", "")
