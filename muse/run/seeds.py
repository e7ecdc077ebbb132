"""Streams: every source of random numbers of a run, by name, in one table, so that no two are the same.

A run has one seed. A stage draws from a stream of its own, which is numbered [seed, *stream]: so what it
draws does not depend on what was drawn before it, and a run that is resumed needs no generator's state.
Zeros at the end do not count: [seed], [seed, 0] and [seed, 0, 0] are one stream (numpy's SeedSequence).
What only measures, such as the intervals of an evaluation, draws from [seed].

In training, generators by the seed and a stream make a resumed run draw what it would have drawn.

A number here never changes, and a new stream gets a new number: else the same seed gives another result.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

Stream = tuple[int, ...]

# The initialisations that `auto` tries. Their numbers do not depend on which of them are left out.
OF_AUTO = {
    "gromov:rank": 0,
    "features": 1,
    "gromov:length": 2,
    "identical": 3,
    "gromov:none": 4,
    "similarity": 5,
}
# An initialisation that is named by --init has the run to itself, and so have the unlabelled vectors, whose
# auto tries one alone: they draw from the first stream. Of gromov there are three.
NAMED = {"gromov:length": 1, "gromov:none": 2}


class AlignStream:
    """The streams of `muse align`, beside those of initialisations, which are below 1,000."""

    REFINEMENT: Stream = (1_000,)  # of the best candidate, the verdict on it, and re-weighting
    JOINT: Stream = (1_000, 1)  # refinement of several languages, and the verdicts on them
    DETOUR: Stream = (1_000, 2)  # the refinement of a composed mapping, and the verdict on it
    DETOUR_REWEIGHTING: Stream = (1_000, 3)
    DETOUR_SAMPLE: Stream = (1_000, 4)  # the unlabelled vectors that a detour is learned from
    NULL: Stream = (2_000,)  # the vectors without counterparts that every verdict is compared with
    PAIRS: Stream = (4_000,)  # the folds of a dictionary, by which a method is chosen
    PAIRS_SELF_LEARNING: Stream = (4_000, 1)
    PAIRS_VERDICT: Stream = (4_000, 2)
    SAMPLE: Stream = (3_000,)  # the unlabelled vectors that are learned from
    ANSWERS: Stream = (5_000,)  # the choice of answers by all the evidence


class TrainingStream:
    """The streams of what precedes the first epoch of training; those of epochs are numbers above 1."""

    FIRST: Stream = (0,)  # the initial network, or word pieces where these are learned before it
    SECOND: Stream = (1,)  # what is drawn beside it: further layers, tables of rows, where texts are cut
    HELD_OUT_NEGATIVES: Stream = (0, 1)
    SAME_LENGTH: Stream = (0, 2)  # the order of training sentences among those of their length
    HELD_OUT_SAME_LENGTH: Stream = (0, 3)
    PIECES: Stream = (0, 4)  # the sentences that word pieces are learned from
    INFERENCES: Stream = (0, 5)  # the classifier of inferences
    CHOICE: Stream = (0, 6)  # the sentences that are held out


def of_initialisation(name: str, *, auto: bool) -> Stream:
    """The stream of an initialisation with its variant, such as gromov:rank, of auto or named by --init."""
    return ((OF_AUTO if auto else NAMED).get(name, 0),)


def of_verdict(initialisation: Stream) -> Stream:
    """The stream of the verdicts on an initialisation: judging it again draws the same."""
    return (*initialisation, 1)


def of_epoch(number: int, rank: int = 0) -> Stream:
    """The stream of an epoch of training, from 1, in the process of a rank: its loss, and dropout."""
    return (2 * number, rank) if rank else (2 * number,)


def of_batches(epoch: int) -> Stream:
    """The stream by which a learner makes the batches of an epoch, from 1."""
    return (1, epoch)


def pass_stream(number: int) -> Stream:
    """The stream of the order of all examples in a pass over them, from 0."""
    return (2 * number + 3,)


def generator(seed: int, stream: Stream) -> np.random.Generator:
    """The generator of a stream, at its beginning."""
    return np.random.default_rng([seed, *stream])


def mixed(*numbers: int) -> int:
    """32 bits that depend on all of the numbers: the seed of another kind of generator, such as torch's."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def generator_for(seed: int, *stream: int, device: str = "cpu") -> torch.Generator:
    """A generator for one stream of random numbers, such as an epoch's batches."""
    return torch.Generator(device).manual_seed(mixed(seed, *stream))


@contextmanager
def torch_seeded(seed: int, *stream: int, device: str = "cpu") -> Iterator[None]:
    """Seeds torch's global generators inside the context and restores their state afterwards."""
    found = mixed(seed, *stream)
    with torch.random.fork_rng(["cuda"] if device == "cuda" else []):
        torch.default_generator.manual_seed(found)
        if device == "cuda":
            torch.cuda.manual_seed(found)
        yield
