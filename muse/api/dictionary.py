"""The dictionary to learn from: its pairs, and how its third column counts."""

from __future__ import annotations

import logging
from pathlib import Path

from muse.files import read_lexicon
from muse.lexicon import Lexicon

log = logging.getLogger(__name__)


def read_dictionary(path: Path) -> Lexicon:
    """The pairs of a dictionary; says on the log how a third column of numbers is read."""
    lexicon = read_lexicon(path)
    # Whether scores are weights depends on their range, which their author may not have had in mind.
    if lexicon.scores is None or lexicon.probabilities is not None:
        return lexicon
    if lexicon.weights is None:
        log.info(
            "%s: the third column is no weight, since it is not from 0 to 1: all pairs count alike", path
        )
    else:
        log.info("%s: the third column, from 0 to 1, is read as the weights of the pairs", path)
    return lexicon
