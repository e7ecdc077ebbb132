"""Tests of muse.terms."""
