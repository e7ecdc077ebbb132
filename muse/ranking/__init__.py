"""Answers: from a word to its translations in a space, with probabilities, the same for every command.

`choice` learns to choose translations by more evidence than CSLS, candidates -> evidence -> trees -> answers
with probabilities, at the end of `muse align`.
"""
