"""Examples: sentences with a word and with its translation, from texts that are indexed beside a space."""
