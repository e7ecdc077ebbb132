"""Evaluation: the quality of an aligned space loaded from disk; nothing here is used by learning."""
