"""Alignments: how far a mapping is from a rotation, and the initialisation it came from."""

import pytest

from muse.alignment import Alignment
from tests.support.spaces import rotation


def test_the_defect() -> None:
    assert Alignment(rotation(3)).orthogonality_defect < 1e-6
    assert Alignment(2 * rotation(3)).orthogonality_defect == pytest.approx(3, abs=1e-5)


def test_projections_and_embeddings_have_no_defect() -> None:
    for mapping in (rotation(3)[:5], rotation(3)[:, :5]):
        assert Alignment(mapping).orthogonality_defect < 1e-6
        assert Alignment(2 * mapping).orthogonality_defect == pytest.approx(3, abs=1e-5)


def test_the_way_in() -> None:
    assert Alignment(rotation(0), method="gromov:length").init == "gromov"
