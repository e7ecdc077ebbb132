"""Streams: no two of a run are the same, and a stream is the same whatever else runs."""

from itertools import combinations, product

import numpy as np
import pytest

from muse.learn.auto import AUTO, AUTO_OF_ROWS, KNOWN, KNOWN_OF_ROWS, initialisations
from muse.learn.settings import AlignConfig
from muse.run import seeds


def named(table: type) -> dict[str, seeds.Stream]:
    return {name: value for name, value in vars(table).items() if name.isupper()}


def stripped(stream: seeds.Stream) -> seeds.Stream:
    """What counts of a stream: numpy ignores zeros at the end."""
    while stream and stream[-1] == 0:
        stream = stream[:-1]
    return stream


def assert_distinct(streams: dict[str, seeds.Stream]) -> None:
    for (name, one), (other, another) in combinations(streams.items(), 2):
        assert stripped(one) != stripped(another), (name, other)


def test_zeros_at_the_end_do_not_count() -> None:
    drawn = [seeds.generator(7, stream).random() for stream in ((5,), (5, 0), (5, 0, 0), (5, 1))]
    assert drawn[0] == drawn[1] == drawn[2] != drawn[3]


@pytest.mark.parametrize("init", ["auto", *dict.fromkeys(name.split(":")[0] for name in KNOWN)])
def test_all_streams_of_align_are_distinct(init: str) -> None:
    plans = [
        AlignConfig(init=init),
        *([AlignConfig(init=init).for_unranked_rows()] if init in ("auto", "gromov", "clusters") else []),
    ]
    for plan in plans:
        streams = named(seeds.AlignStream)
        for name, _ in initialisations(plan):
            own = seeds.of_initialisation(name, auto=init == "auto")
            assert own[0] < 1_000
            streams |= {name: own, f"the verdict on {name}": seeds.of_verdict(own)}
        assert_distinct(streams)


def test_all_streams_of_training_are_distinct() -> None:
    streams = named(seeds.TrainingStream)
    epochs = product(range(1, 9), range(3))
    streams |= {f"epoch {number}, process {rank}": seeds.of_epoch(number, rank) for number, rank in epochs}
    streams |= {f"batches {number}": seeds.of_batches(number) for number in range(1, 9)}
    streams |= {f"pass {number}": seeds.pass_stream(number) for number in range(9)}
    assert_distinct(streams)


def test_an_initialisation_draws_the_same_whatever_others_are_left_out() -> None:
    assert [seeds.of_initialisation(name, auto=True) for name in AUTO] == [
        (place,) for place in range(len(AUTO))
    ]
    assert set(seeds.OF_AUTO) == set(AUTO)
    for plan in (AlignConfig(), AlignConfig(no_identical=True)):
        found = {name: seeds.of_initialisation(name, auto=True) for name, _ in initialisations(plan)}
        assert found["gromov:none"] == (4,)
        assert found["similarity"] == (5,)


def test_a_named_initialisation_draws_from_the_first_stream() -> None:
    of_gromov = {"gromov:rank": 0, "gromov:length": 1, "gromov:none": 2}
    for name in {*KNOWN, *KNOWN_OF_ROWS}:
        assert seeds.of_initialisation(name, auto=False) == (of_gromov.get(name, 0),)
    assert [seeds.of_initialisation(name, auto=True) for name in AUTO_OF_ROWS] == [(0,)]


def test_the_streams_of_pairs_are_those_that_the_choice_among_methods_draws_from() -> None:
    assert (
        *seeds.AlignStream.PAIRS,
        1,
    ) == seeds.AlignStream.PAIRS_SELF_LEARNING  # `choose` is given AlignStream.PAIRS


def test_generators_are_numpys_of_the_seed_and_the_stream() -> None:
    assert (
        seeds.generator(3, seeds.AlignStream.JOINT).random() == np.random.default_rng([3, 1_000, 1]).random()
    )
    assert seeds.mixed(3, 4) == int(np.random.SeedSequence([3, 4]).generate_state(1)[0])
