"""Signatures as text, and the bootstrap against two references."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, Mismatch
from muse.evaluation.score import (
    Signature,
    bootstrap_interval,
    bootstrap_mean,
    gold_name,
    lexicon_name,
    space_signature,
)
from muse.lexicon import Lexicon
from muse.normalise import Normalisation
from muse.space import Space
from tests.support.spaces import plain_space, raw_rows, saved

SIGNATURE = Signature(
    "csls:10", "fr-en", "unit,centre,unit", "gromov", 0, (14_000, 13_999), "g.txt@3f2a", 0.98
)


def test_what_is_unknown_is_left_out() -> None:
    assert str(Signature("nn", "fr-en", version="1")) == "nn | fr-en | muse 1"
    assert (
        str(Signature("nn", "fr-en", more=("encoder:sif",), version="1"))
        == "nn | fr-en | encoder:sif | muse 1"
    )
    assert "coverage:0.00" in str(replace(SIGNATURE, coverage=0.0))


def test_the_signature_of_a_space(tmp_path: Path) -> None:
    space = saved(tmp_path / "s")
    signature = space_signature(space, "fr", "en", retrieval="nn", gold="g@1", coverage=1.0, more=("x:1",))
    assert str(signature).startswith(
        "nn | fr-en | unit,centre,unit | gromov | seed:7 | vocab:39/40 | gold:g@1"
    )
    assert signature.more == ("x:1",)
    assert str(space_signature(space, "en", "fr", retrieval="nn")).startswith("nn | en-fr | unit")


def test_a_space_without_a_past_still_signs() -> None:
    space = plain_space(raw_rows(0, 3), raw_rows(1, 4), list("abc"), list("wxyz"))
    other = replace(space.side("en"), normalisation=Normalisation(("unit", "unit"), ()))
    space = Space({**space.sides, "en": other}, "en")
    assert str(space_signature(space, "fr", "en", retrieval="nn")).startswith(
        "nn | fr-en | unit/unit,unit | vocab:3/4"
    )


def test_gold_names(tmp_path: Path) -> None:
    path = tmp_path / "fr-en.txt"
    path.write_bytes(b"chat cat\n")
    assert gold_name(path) == f"fr-en.txt@{hashlib.sha256(b'chat cat' + bytes([10])).hexdigest()[:4]}"
    with pytest.raises(BadFile, match="none: expected a file, but it does not exist; check the path"):
        gold_name(tmp_path / "none")
    assert lexicon_name(Lexicon((("a", "b"),))).startswith("1-pairs@")
    assert lexicon_name(Lexicon((("a", "b"),))) != lexicon_name(Lexicon((("b", "a"),)))


def test_the_interval_is_that_of_resampling_the_queries() -> None:
    hits = np.random.default_rng(1).random(200) < 0.7
    rng = np.random.default_rng(2)
    resampled = 100 * hits[rng.integers(200, size=(20_000, 200))].mean(axis=1)
    expected = np.percentile(resampled, [2.5, 97.5])
    found = bootstrap_interval(hits, np.random.default_rng(3), samples=20_000)
    np.testing.assert_allclose(found, expected, atol=0.51)  # one query of 200 is half a percent


def test_the_interval_of_a_mean_is_that_of_resampling_skewed_values() -> None:
    values = np.random.default_rng(1).gamma(0.3, size=60)
    resampled = values[np.random.default_rng(2).integers(60, size=(20_000, 60))].mean(axis=1)
    expected = np.percentile(resampled, [2.5, 97.5])
    found = bootstrap_mean(values, np.random.default_rng(3), samples=20_000)
    np.testing.assert_allclose(found, expected, atol=0.02 * (expected[1] - expected[0]))


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        low, high = bootstrap_interval(rng.random(300) < 0.6, rng)
        held += low <= 60 <= high
    assert 0.91 < held / 400 < 0.98


def test_where_all_are_right_or_none_is_the_interval_has_a_width() -> None:
    rng = np.random.default_rng(0)
    # By Wilson's formula with no or only right ones: z^2 / (n + z^2).
    beyond = 100 * 1.96**2 / (9 + 1.96**2)
    assert bootstrap_interval(np.zeros(9, bool), rng) == pytest.approx((0.0, beyond), abs=0.05)
    assert bootstrap_interval(np.ones(9, bool), rng) == pytest.approx((100 - beyond, 100.0), abs=0.05)
    with pytest.raises(Mismatch, match="at least one query, got none"):
        bootstrap_interval(np.zeros(0, bool), rng)
