"""Positions: the words of a sentence as observations of a hidden Markov model over those of the other one.

A state is the place of the word that was linked last, and a word is linked to the next place by the length of
the jump there (Vogel, Ney and Tillmann, 1996), or with probability `null` to none, which leaves the state as
it is (Och and Ney, 2003). The end of the sentence is one more place to jump to.
"""

from __future__ import annotations

import numpy as np

from muse.vectors import Doubles, Numbers

LONGEST_JUMP = 60  # longer ones are as probable as this
PRIOR_JUMPS = 50.0  # jumps that the first guess counts for beside those of a text


def first_jumps() -> Doubles:
    """The probability (2 LONGEST_JUMP + 1,) of each jump before any text was seen: mostly one word on."""
    jumps = np.exp(-0.5 * np.abs(np.arange(-LONGEST_JUMP, LONGEST_JUMP + 1) - 1.0))
    return np.asarray(jumps / jumps.sum())


def learned_jumps(counts: Doubles) -> Doubles:
    """The probabilities of jumps by their expected `counts`, smoothed by the first guess."""
    found = counts + PRIOR_JUMPS * first_jumps()
    return np.asarray(found / found.sum())


def posteriors(
    emission: Doubles, lengths: Numbers, jumps: Doubles, null: float
) -> tuple[Doubles, Doubles, Doubles]:
    """The probability (b, s, t) that each word is linked to each place, by forward and backward passes.

    `emission` (b, s, t) is how much more probable the t words of `lengths` (b,) are beside each of the s
    words, all of which are there, than by chance; what is behind the end does not count. Also the expected
    counts of jumps, as long as `jumps`, and the log-likelihood (b,) against chance (Rabiner, 1989).
    """
    b, s, t = emission.shape
    seen = np.zeros((t, b, s + 1))  # place 0 is the beginning, which no word is linked to
    seen[:, :, 1:] = emission.transpose(2, 0, 1)
    live = (np.arange(t)[:, None] < lengths)[:, :, None]  # (t, b, 1)
    step, end, jump = _transitions(s, jumps)
    step, at = (1 - null) * step, np.zeros((t + 1, b, s + 1))
    at[0, :, 0] = 1
    linked, scale = np.zeros((t, b, s + 1)), np.zeros(b)
    for k in range(t):
        linked[k] = (at[k] @ step) * seen[k]
        both = linked[k] + null * at[k]
        total = both.sum(axis=1, keepdims=True)
        at[k + 1] = np.where(live[k], both / total, at[k])
        linked[k] = np.where(live[k], linked[k] / total, 0)
        scale += np.where(live[k], np.log(total), 0)[:, 0]
    ahead = np.broadcast_to(end, (b, s + 1))
    loglik = scale + np.log((at[t] * ahead).sum(axis=1))
    ahead = ahead / (at[t] * ahead).sum(axis=1, keepdims=True)  # so that its product with `at` sums to 1
    moves = np.zeros((s + 1, s + 1))
    for k in reversed(range(t)):
        linked[k] *= ahead
        emitted = np.where(live[k], seen[k] * ahead, 0)
        before = emitted @ step.T + null * ahead
        total = (at[k] * before).sum(axis=1, keepdims=True)
        moves += at[k].T @ (emitted / total)
        ahead = np.where(live[k], before / total, ahead)
    counts = np.asarray(np.bincount(jump.ravel(), (moves * step).ravel(), len(jumps)), np.float64)
    return linked[:, :, 1:].transpose(1, 2, 0), counts, loglik


def _transitions(s: int, jumps: Doubles) -> tuple[Doubles, Doubles, Numbers]:
    """The probabilities (s + 1, s + 1) of each next place, (s + 1,) of the end, and the jumps' numbers."""
    places = np.arange(s + 2)
    jump = np.clip(places - places[:-1, None], -LONGEST_JUMP, LONGEST_JUMP) + LONGEST_JUMP
    found = jumps[jump]
    found[:, 0] = 0  # nothing goes back to the beginning
    next_, end = found[:, :-1], found[:, -1]
    sums = next_.sum(axis=1)
    return next_ / sums[:, None], end / (sums + end), jump[:, :-1]
