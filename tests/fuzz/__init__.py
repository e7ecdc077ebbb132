"""Fuzzing: every reader of muse is given damaged files, and must read or refuse them (scripts/fuzz)."""
