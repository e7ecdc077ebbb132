"""Fetch: download published vectors and dictionaries; the only part of muse that accesses the internet."""

from muse.fetch.published import (
    NON_COMMERCIAL,
    PARTS,
    SOURCES,
    FetchConfig,
    Fetched,
    Item,
    check_item,
    dictionary,
    fetch,
    listing,
    require_fetch,
    vectors,
)

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
