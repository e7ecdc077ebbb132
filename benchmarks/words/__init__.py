"""Whether translations of words and texts are right, and their probabilities."""
