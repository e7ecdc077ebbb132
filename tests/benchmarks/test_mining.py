"""The interval of F1 of mined pairs against sentences drawn again one by one."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.sentences.mining import Mined


def test_the_interval_is_that_of_source_sentences_drawn_again(tmp_path: Path) -> None:
    rng, size, threshold = np.random.default_rng(1), 400, 0.5
    planted = {(f"s{i}", f"t{i}") for i in range(120)}
    # Of the planted, every third is mined right, every third with another; and 40 others are mined.
    mined = [(i, i if i % 3 else i + 1) for i in range(120) if i % 3 < 2] + [(i, i) for i in range(200, 240)]
    scores = np.sort(rng.uniform(0.3, 1, len(mined)))[::-1]
    order = rng.permutation(len(mined))
    lines = [f"{s}\ts{mined[k][0]}\tt{mined[k][1]}\n" for s, k in zip(scores, order, strict=True)]
    (tmp_path / "out.tsv").write_text("".join(lines), encoding="utf-8")
    found = Mined.read(tmp_path / "out.tsv", planted)
    assert [f"{score:.6f}" for score in found.scores] == [f"{score:.6f}" for score in scores]

    kept = dict(pair for score, pair in zip(found.scores, found.pairs, strict=True) if score >= threshold)
    mined_each = np.array([f"s{i}" in kept for i in range(size)])
    planted_each = np.array([i < 120 for i in range(size)])
    right_each = np.array([kept.get(f"s{i}") == f"t{i}" and i < 120 for i in range(size)])
    drawn = np.random.default_rng(2).integers(size, size=(4_000, size))
    right, mined_of, planted_of = (each[drawn].sum(axis=1) for each in (right_each, mined_each, planted_each))
    expected = np.percentile(200 * right / (mined_of + planted_of), [2.5, 97.5])
    assert found.f1_interval(threshold, size) == pytest.approx(tuple(expected), abs=0.6)
