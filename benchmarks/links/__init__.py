"""Words aligned in sentences, and texts aligned in order."""
