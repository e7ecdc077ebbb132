"""Align word vectors of two or more languages without parallel data, and use the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muse.errors import MuseError
from muse.installation import __version__

if TYPE_CHECKING:  # for editors and type checkers
    from muse.api.dictionary import evaluate, induce
    from muse.api.run import align
    from muse.api.space import InteractiveSpace as Space
    from muse.api.space import load, load_space
    from muse.embedding.training import embed
    from muse.files import read_vectors
    from muse.sentences.loading import load_encoder

__all__ = [
    "AlignConfig",
    "MuseError",
    "Space",
    "__version__",
    "align",
    "embed",
    "evaluate",
    "induce",
    "load",
    "load_encoder",
    "load_space",
    "read_vectors",
]

_HOMES = {
    "AlignConfig": "muse.learn.settings.AlignConfig",
    "Space": "muse.api.space.InteractiveSpace",
    "align": "muse.api.run.align",
    "embed": "muse.embedding.training.embed",
    "evaluate": "muse.api.dictionary.evaluate",
    "induce": "muse.api.dictionary.induce",
    "load": "muse.api.space.load",
    "load_encoder": "muse.sentences.loading.load_encoder",
    "load_space": "muse.api.space.load_space",
    "read_vectors": "muse.files.read_vectors",
}


def __getattr__(name: str) -> Any:
    # On first use, not on import: `muse --help` must not wait for torch.
    if name not in _HOMES:
        raise AttributeError(f"module 'muse' has no attribute {name!r}")
    from importlib import import_module

    from muse.optional import PACKAGES, require

    module, _, own = _HOMES[name].rpartition(".")
    package = module.split(".")[1]
    if any(one.name == package for one in PACKAGES):
        require(package, f"muse.{name}")
    return getattr(import_module(module), own)


def __dir__() -> list[str]:
    return list(__all__)
