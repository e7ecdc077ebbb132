"""Faults: kills, writes that fail, readers beside writers, changed caches, redirects (scripts/faults)."""
