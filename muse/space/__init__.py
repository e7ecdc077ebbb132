"""The aligned space: an Alignment is saved as a folder on disk, and loaded as an Space.

Also here are rows for words outside a space: new words, n-grams, the units of another system's vocabulary.
It never imports learning.
"""

from muse.space.aligned import Side, Space
from muse.space.loading import load_space, space_of_saved
from muse.space.saving import (
    Provenance,
    SideToSave,
    add_to_space,
    check_addition,
    check_apart,
    check_language,
    check_out,
    save_space,
)

__all__ = [
    "Space",
    "Provenance",
    "Side",
    "SideToSave",
    "add_to_space",
    "check_addition",
    "check_apart",
    "check_language",
    "check_out",
    "load_space",
    "save_space",
    "space_of_saved",
]
