"""Aligns the words of two languages without parallel data."""
