"""History: what stages reported is kept in order, thinned where it is long, and survives in a manifest."""

import json

from muse.progress import Progress
from muse.run.runtime import POINTS, History


def test_steps_are_recorded_though_the_progress_is_quiet() -> None:
    history = History()
    with Progress(quiet=True).with_callback(history.record).stage("refine", 2) as tick:
        tick(1, objective=0.25)
        tick(2, objective=0.5, words=100)
    (trace,) = history.as_json()
    assert (trace["stage"], trace["steps"]) == ("refine", [1, 2])
    assert trace["figures"] == {"objective": [0.25, 0.5], "words": [None, 100]}


def test_a_stage_begun_again_is_a_trace_of_its_own() -> None:
    history = History()
    for done in (1, 2, 1):
        history.record("refine", done, {})
    history.record("gromov", 1, {})
    assert [(trace["stage"], trace["steps"]) for trace in history.as_json()] == [
        ("refine", [1, 2]),
        ("refine", [1]),
        ("gromov", [1]),
    ]


def test_a_long_stage_is_thinned_and_keeps_its_end() -> None:
    history = History()
    for done in range(1, 10 * POINTS):
        history.record("training", done, {"loss": 1 / done})
    (trace,) = history.as_json()
    assert POINTS / 2 < len(trace["steps"]) <= POINTS
    assert trace["steps"][-1] == 10 * POINTS - 1
    assert len(trace["figures"]["loss"]) == len(trace["steps"])
    assert len(json.dumps(trace)) < 20 * POINTS


def test_what_is_restored_comes_first() -> None:
    before = History()
    before.record("gromov", 1, {"objective": 0.5})
    history = History()
    history.restore(json.loads(json.dumps(before.as_json())))
    history.record("refine", 1, {})
    assert [trace["stage"] for trace in history.as_json()] == ["gromov", "refine"]
    assert history.as_json()[0] == before.as_json()[0]
