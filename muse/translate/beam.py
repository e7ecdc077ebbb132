"""Beam search: choose among the translations of each word those that form the most probable sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from muse.text.language_model import END, LanguageModel, Logs


class Options(NamedTuple):
    """The k translations of one word, best first, and their scores (k,)."""

    words: Sequence[str]
    scores: Logs


def best_path(options: Sequence[Options], model: LanguageModel, *, weight: float, beam: int) -> list[int]:
    """The index of the best option at each place, by beam search.

    They maximise the sum of score(x_i, y_i) + weight log p(y_i | y_1 .. y_i-1) over the sequence y with <s>
    and </s> around it, approximately, with `beam` sequences kept (Kim, Geng & Ney, 2018, section 3.1).
    """
    states, totals = model.start(), np.zeros(1, np.float32)  # (b, n - 1), (b,)
    taken = []
    for option in options:
        words = np.broadcast_to(model.ids(option.words), (len(states), len(option.words)))  # (b, k)
        step = model.step(states, words)
        total = (totals[:, None] + option.scores + weight * step.log_p).ravel()  # (b k,)
        kept = np.argsort(-total, kind="stable")[:beam]
        histories, choices = np.divmod(kept, len(option.words))
        taken.append((histories, choices))
        states, totals = step.states[histories, choices], total[kept]
    end = np.full((len(states), 1), model.index[END])
    best = int(np.argmax(totals + weight * model.step(states, end).log_p[:, 0]))
    path = []
    for histories, choices in reversed(taken):
        path.append(int(choices[best]))
        best = int(histories[best])
    return path[::-1]
