"""Links in sentence pairs as scores of pairs of words."""

from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile
from muse.links.evidence import link_scores
from muse.links.parallel import ParallelFiles
from tests.support.spaces import plain_space


def test_words_that_are_linked_often_lead(tmp_path: Path) -> None:
    words = [f"w{letter}" for letter in "abcdefgh"]
    rows = np.eye(8, dtype=np.float32)
    space = plain_space(rows, rows, words, [word.upper() for word in words])
    rng, lines = np.random.default_rng(0), []
    for _ in range(60):
        some = rng.permutation(8)[:4]
        lines.append("\t".join((" ".join(words[i] for i in some), " ".join(words[i].upper() for i in some))))
    (tmp_path / "pairs.tsv").write_text("\n".join([*lines, "unknown\tWA"]) + "\n")
    scores = link_scores(space, ("fr", "en"), tmp_path / "pairs.tsv")
    np.testing.assert_array_equal(scores.columns[:, 0], np.arange(8))
    np.testing.assert_array_equal(scores.rows[:, 0], np.arange(8))
    assert len(scores.mutual()[0]) == 8


def test_mined_pairs_have_a_score_before_them(tmp_path: Path) -> None:
    def pairs(name: str, text: str) -> list[tuple[str, str]]:
        (tmp_path / name).write_text(text)
        return [(one, two) for _, one, two in ParallelFiles((tmp_path / name,), ("fr", "en"))]

    found = pairs("a.tsv", "1.2\tun chat\ta cat\n0.9\tle chat\tthe cat\n")
    assert found == [("un chat", "a cat"), ("le chat", "the cat")]
    with pytest.raises(BadFile, match="b.tsv:1: expected 2 columns"):
        pairs("b.tsv", "un chat\n")
    with pytest.raises(BadFile, match="c.tsv:1: expected 2 columns"):
        pairs("c.tsv", "un\tchat\ta cat\n")
