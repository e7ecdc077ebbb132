"""What many commands are tested on."""

from pathlib import Path

import pytest

from tests.support.spaces import saved


@pytest.fixture
def space(here: Path) -> Path:
    """A saved space fr, en of plain words, in the folder in which we are."""
    saved(here / "space", plain=True)
    return here / "space"
