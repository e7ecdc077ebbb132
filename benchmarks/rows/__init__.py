"""Whether it aligns unlabelled vectors."""
