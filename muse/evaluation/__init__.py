"""Evaluation: what an aligned space is worth, measured from disk; nothing here is seen by learning."""
