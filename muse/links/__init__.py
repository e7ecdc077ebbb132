"""Words aligned in sentences: links between the words of a sentence and those of its translation."""
