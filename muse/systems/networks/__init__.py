"""Networks: torch modules and their mathematics, which know nothing of spaces, files or sentences."""
