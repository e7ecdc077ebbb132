"""Fetch: download published vectors and dictionaries; the only part of muse that accesses the internet."""

from muse.fetch.published import FetchConfig, Fetched, check, fetch, require
from muse.fetch.table import NON_COMMERCIAL, PARTS, SOURCES, Item, dictionary, listing, vectors

__all__ = [
    "NON_COMMERCIAL",
    "PARTS",
    "SOURCES",
    "FetchConfig",
    "Fetched",
    "Item",
    "check",
    "dictionary",
    "fetch",
    "listing",
    "require",
    "vectors",
]
