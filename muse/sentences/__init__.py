"""Sentence encoders: from the words of an aligned space to one vector a sentence, across languages."""
