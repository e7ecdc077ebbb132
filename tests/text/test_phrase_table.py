"""Moses phrase tables: read in any order, the best kept; what is none is refused."""

from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.text.phrase_table import read_phrase_table


def test_the_best_are_kept_in_whatever_order_they_come(tmp_path: Path) -> None:
    lines = [
        "a b ||| x ||| 1 1 .2 .2 ||| 0-0",
        "c ||| y ||| 1 1 .5 .5",
        "a b ||| l&apos; z ||| 1 1 .6 .6 ||| 1-0",
    ]
    (tmp_path / "t").write_text("\n".join(lines) + "\n")
    assert read_phrase_table(tmp_path / "t", top=1) == {"a b": [("l' z", 0.6)], "c": [("y", 0.5)]}


@pytest.mark.parametrize(
    "line", ["", "chat\tcat", "a ||| b ||| 1 1", "a ||| b ||| 1 1 x 1", "a ||| b ||| 1 1 2 1"]
)
def test_what_is_no_table_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "t").write_text(f"a ||| b ||| 1 1 1 1\n{line}\n")
    with pytest.raises(BadFile, match=r"t:2: expected a line of a Moses phrase table"):
        read_phrase_table(tmp_path / "t", top=1)
