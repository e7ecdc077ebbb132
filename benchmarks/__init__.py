"""Benchmarks: one folder a question; a script prints a table, beside a peer or the limit of the hardware."""
