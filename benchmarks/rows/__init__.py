"""Whether it aligns rows without words."""
