"""Fetch: published vectors and dictionaries by language; the only part of muse that touches the network."""

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
