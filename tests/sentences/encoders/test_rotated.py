"""Procrustes on sentences: a rotation between two languages is found again from their translations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from muse.errors import Mismatch
from muse.sentences.encoders.composed import rotated
from muse.sentences.encoders.saving import Saved, write_encoder
from muse.sentences.loading import load_encoder
from muse.space import Space
from muse.vectors import Matrix
from tests.support.spaces import plain_space, rotation

WORDS = [f"w{place}" for place in range(60)]


@pytest.fixture
def space() -> Space:
    """fr is en, rotated."""
    rows = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    return plain_space(rows @ rotation(3).T, rows, WORDS, WORDS)


def sentences(count: int = 80) -> list[str]:
    rng = np.random.default_rng(1)
    return [" ".join(rng.choice(WORDS, size=int(rng.integers(2, 7)))) for _ in range(count)]


def unit(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def test_translations_meet(space: Space) -> None:
    text = sentences()
    encoder = rotated(load_encoder("mean", space), text[:60], text[:60], ("fr", "en"))
    french, english = (encoder.encode(text[60:], language).matrix for language in ("fr", "en"))
    np.testing.assert_allclose(french, english, atol=1e-4)
    assert encoder.name == "mean+procrustes"
    assert (encoder.languages, encoder.dimension) == (space.languages, 8)
    assert encoder.fit(text, "fr") is encoder


def test_the_rotation_is_scipys(space: Space) -> None:
    text = sentences()
    mean = load_encoder("mean", space)
    noisy = [*text[1:], text[0]]  # wrong pairs: no rotation fits them
    rotation = rotated(mean, text, noisy, ("fr", "en")).rotations["fr"]
    x, y = unit(mean.encode(text, "fr").matrix), unit(mean.encode(noisy, "en").matrix)
    np.testing.assert_allclose(rotation.T, scipy.linalg.orthogonal_procrustes(x, y)[0], atol=1e-4)


def test_it_is_saved_and_loaded(space: Space, tmp_path: Path) -> None:
    text = sentences()
    encoder = rotated(load_encoder("idf", space), text, text, ("fr", "en"))
    encoder.save(tmp_path / "encoder")
    again = load_encoder(tmp_path / "encoder", space)
    assert again.name == encoder.name
    for language in ("fr", "en"):
        one, other = (made.encode(text, language).matrix for made in (encoder, again))
        np.testing.assert_array_equal(one, other)


def test_rotations_saved_under_their_old_names_are_read(space: Space, tmp_path: Path) -> None:
    text = sentences()
    encoder = rotated(load_encoder("mean", space), text, text, ("fr", "en"))
    arrays = {f"turn.{name}": rotation for name, rotation in encoder.rotations.items()}
    write_encoder(tmp_path / "old", Saved("turned", encoder.name, {}, arrays=arrays), [encoder.inner])
    again = load_encoder(tmp_path / "old", space)
    np.testing.assert_array_equal(again.encode(text, "fr").matrix, encoder.encode(text, "fr").matrix)
    again.save(tmp_path / "new")
    assert json.loads((tmp_path / "new" / "manifest.json").read_text())["kind"] == "rotated"


def test_empty_sentences_stay_and_teach_nothing(space: Space) -> None:
    text = sentences()
    mean = load_encoder("mean", space)
    plain = rotated(mean, text, text, ("fr", "en"))
    more = rotated(mean, [*text, "", "w1"], [*text, "w2", "unheard"], ("fr", "en"))
    np.testing.assert_allclose(more.rotations["fr"], plain.rotations["fr"], atol=1e-5)
    assert not more.encode(["", "unheard"], "fr").matrix.any()


def test_bad_input(space: Space) -> None:
    mean = load_encoder("mean", space)
    with pytest.raises(Mismatch, match="got 2 sentences and 1 translations"):
        rotated(mean, ["w1", "w2"], ["w1"], ("fr", "en"))
    with pytest.raises(Mismatch, match="got none of 1; check that they are from fr to en"):
        rotated(mean, ["w1"], ["unheard"], ("fr", "en"))
