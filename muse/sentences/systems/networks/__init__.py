"""Networks: torch modules and their mathematics, independent of spaces, files and sentences."""
