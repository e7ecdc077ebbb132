"""Whether it aligns, from what help, and whether the verdict knows."""
