"""Answers: from a word to its translations in a space, with probabilities, the same for every command."""
