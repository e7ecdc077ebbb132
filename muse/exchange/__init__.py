"""Exchange: vectors, dictionaries and spaces as objects of other libraries, and back."""

from typing import Any

from muse.exchange.objects import dictionary_frame, keyed_vectors, lexicon_of, table_frame, vectors_of

__all__ = ["SpaceTransformer", "dictionary_frame", "keyed_vectors", "lexicon_of", "table_frame", "vectors_of"]


def __getattr__(name: str) -> Any:
    # On first use, not on import: its class derives from those of scikit-learn, which is slow to import.
    if name != "SpaceTransformer":
        raise AttributeError(f"module 'muse.exchange' has no attribute {name!r}")
    from importlib import import_module

    return import_module("muse.exchange.space_transformer").SpaceTransformer
