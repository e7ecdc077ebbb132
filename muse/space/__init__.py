"""The aligned space: an Alignment in, a folder on disk out, and back again as an AlignedSpace.

Also what a space can give rows to later: new words, n-grams, the units of another system's vocabulary.
Imports: the core types, files, normalise, search. It never imports learning: the disk is the border.
"""

from muse.space.adding import add_to_space, check_addition
from muse.space.aligned import AlignedSpace, Side, load_space
from muse.space.saving import Provenance, SideToSave, check_language, check_out, save_space

__all__ = [
    "AlignedSpace",
    "Provenance",
    "Side",
    "SideToSave",
    "add_to_space",
    "check_addition",
    "check_language",
    "check_out",
    "load_space",
    "save_space",
]
