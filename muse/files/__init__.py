"""The outside world's files: vectors and dictionaries, read and written."""
