"""Ranking: from a word to its translations in a space, with probabilities, the same for every command.

`ranker` looks translations up. `train_ranker` learns, at the end of `muse align`, to choose them by more
evidence than CSLS: candidates -> features -> trees -> answers with probabilities.
"""
