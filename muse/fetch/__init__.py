"""Fetch: download published vectors and dictionaries; the only part of muse that accesses the internet."""

from muse.fetch.published import FetchConfig, Fetched, check_item, fetch, require_fetch
from muse.fetch.table import NON_COMMERCIAL, PARTS, SOURCES, Item, dictionary, listing, vectors

__all__ = [
    "NON_COMMERCIAL",
    "PARTS",
    "SOURCES",
    "FetchConfig",
    "Fetched",
    "Item",
    "check_item",
    "dictionary",
    "fetch",
    "listing",
    "require_fetch",
    "vectors",
]
