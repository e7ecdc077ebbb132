"""Faults: commands that are killed, writes that fail, and readers beside writers (scripts/faults)."""
