"""Fetch: download published vectors and dictionaries; the only part of muse that accesses the internet."""
