"""Word vectors as files, one format a module."""
