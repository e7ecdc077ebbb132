"""Auto: the first aligned initialisation ends it, one that fails is skipped; and the plan for rows."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from muse.alignment import Alignment
from muse.errors import BadFile, BadSetting, NotConverged
from muse.files.space_manifest import Reason
from muse.learn import auto
from muse.learn.initialise import INITIALISATIONS
from muse.learn.initialise.components import Initialiser
from muse.learn.pair import LanguagePair
from muse.learn.refine import PLAIN, RefineConfig
from muse.learn.schedule import ROUNDS, ROUNDS_OF_ROWS, first_rounds, refinement
from muse.learn.settings import AlignConfig
from muse.learn.transport import TransportConfig, refine_by_transport
from muse.learn.verdict import Verdict
from muse.lexicon import Lexicon
from muse.options import departures
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from muse.vectors import Matrix
from tests.support.spaces import rotation
from tests.support.toys import DIMENSION, mixture, pair

WRONG = rotation(99, DIMENSION)
CALLS: list[str] = []
Step = Matrix | list[Matrix] | Exception | None


Script = tuple[AlignConfig, list[tuple[str, Initialiser]]]


def scripted(*rounds: RefineConfig, **script: Step) -> Script:
    """Initialisations that are given: a mapping or several, nothing at all, or a failure."""
    CALLS.clear()
    return AlignConfig(rounds=rounds), [(name, _initialise(name, what)) for name, what in script.items()]


def named(init: str) -> Script:
    config = AlignConfig(init=init)
    return config, auto.initialisations(config)


def _initialise(name: str, what: Step) -> Initialiser:
    def initialise(*_: Any) -> Iterator[Alignment]:
        CALLS.append(name)
        if isinstance(what, Exception):
            raise what
        for mapping in what if isinstance(what, list) else [what]:
            if mapping is not None:
                yield Alignment(mapping, method=name)

    return initialise


def tried(script: Script, runtime: Runtime | None = None) -> list[auto.Candidate]:
    (source, target, _), (config, initialisers) = pair(), script
    return list(auto.candidates(LanguagePair(source, target, runtime or Runtime()), initialisers, config))


def turn() -> Matrix:
    return pair()[2]


def test_it_stops_at_the_first_aligned_start() -> None:
    found = tried(scripted(bad=WRONG, good=turn(), never=turn()))
    assert [candidate.alignment.method for candidate in found] == ["bad", "good"]
    assert [candidate.verdict.label == "aligned" for candidate in found] == [False, True]
    assert CALLS == ["bad", "good"]
    assert auto.best(found).alignment.method == "good"


@pytest.mark.parametrize(("away", "refinements"), [(1.0, 1), (2.0, 2)])
def test_more_rounds_only_where_the_first_were_not_enough(away: float, refinements: int) -> None:
    axes = np.random.default_rng(0).normal(size=(DIMENSION, DIMENSION))
    turning = (axes - axes.T) / np.linalg.norm(axes - axes.T, 2)
    start = (turn() @ scipy.linalg.expm(away * turning)).astype(np.float32)
    once, often = RefineConfig(cutoffs=(60,), max_rounds=1), RefineConfig(cutoffs=(600,), max_rounds=20)
    (found,) = tried(scripted(once, often, start=start))
    assert found.verdict.label == "aligned"
    assert [trace["stage"] for trace in found.history] == ["refine"] * refinements


@pytest.mark.parametrize("best_first", [False, True])
def test_of_several_mappings_none_of_which_is_aligned_the_highest_criterion_wins(best_first: bool) -> None:
    score = LanguagePair(*pair()[:2]).criterion()
    mappings = sorted((rotation(seed, DIMENSION) for seed in (97, 98, 99)), key=score, reverse=best_first)
    (found,) = tried(scripted(three=list(mappings)))
    assert found.verdict.label != "aligned"
    assert np.array_equal(found.alignment.source_map, mappings[0 if best_first else -1])
    assert found.alignment.criterion == pytest.approx(max(map(score, mappings)))


def test_a_doubtful_mapping_is_kept_before_a_failed_one_of_higher_criterion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    score = LanguagePair(*pair()[:2]).criterion()
    mappings = sorted((rotation(seed, DIMENSION) for seed in (97, 98)), key=score)
    labels = iter(("doubtful", "failed"))
    monkeypatch.setattr(auto, "judge", lambda *_, **__: Verdict(next(labels), 0.3, 0.1, 0.1))
    (found,) = tried(scripted(two=list(mappings)))
    assert found.verdict.label == "doubtful"
    assert np.array_equal(found.alignment.source_map, mappings[0])


def test_an_initialisation_that_fails_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    found = tried(scripted(broken=NotConverged("not a number"), empty=None, good=turn()))
    assert [candidate.alignment.method for candidate in found] == ["good"]
    assert "broken: not a number" in caplog.text


def test_a_mapping_not_finite_is_a_breakdown() -> None:
    found = tried(scripted(nan=np.full((DIMENSION, DIMENSION), np.nan, np.float32), good=turn()))
    assert [candidate.alignment.method for candidate in found] == ["good"]


def test_no_initialisation_left() -> None:
    with pytest.raises(NotConverged, match="all initialisations failed: a: one; b: two"):
        tried(scripted(a=NotConverged("one"), b=NotConverged("two")))


def test_the_only_initialisation_says_itself_what_is_wrong() -> None:
    with pytest.raises(NotConverged, match="^one$"):
        tried(scripted(a=NotConverged("one")))


def test_what_was_tried_is_kept_for_a_killed_run(tmp_path: Path) -> None:
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    block = RefineConfig(cutoffs=(100,), max_rounds=1)
    first = tried(scripted(block, bad=WRONG, good=turn()), Runtime(checkpoint=store))
    CALLS.clear()
    again = tried(scripted(block, bad=WRONG, good=turn()), Runtime(checkpoint=store))
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.alignment.source_map, other.alignment.source_map)
        assert one.verdict == other.verdict
        assert one.history == other.history
    assert all(one.history for one in first)
    assert CALLS == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mapping", np.eye(3), "a mapping of the shape"),
        ("mapping", np.full((DIMENSION, DIMENSION), np.nan), "no rotation"),
        ("mapping", np.array(b"x"), "could not convert"),
        ("criterion", np.array(np.nan), "the criterion nan"),
        ("history", np.array("[" * 9), "Expecting"),
        ("history", np.array("[1]"), "no list of traces"),
        ("method", None, "'method'"),
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, name: str, value: Any, said: str) -> None:
    store = Checkpoint.open(tmp_path / "c", ["x"], resume=False)
    tried(scripted(good=turn()), Runtime(checkpoint=store))
    saved = store.load("start-good")
    assert saved is not None
    kept = {key: array for key, array in saved.items() if key != name}
    store.save("start-good", kept if value is None else {**kept, name: value})
    with pytest.raises(BadFile, match=f"must be a complete one.*{said}.*without --resume"):
        tried(scripted(good=turn()), Runtime(checkpoint=store))


def test_identical_strings_only_where_allowed() -> None:
    names = [name for name, _ in auto.initialisations(AlignConfig())]
    assert "identical" in names
    assert names[0].startswith("gromov")
    assert [name for name, _ in auto.initialisations(AlignConfig(no_identical=True))] == [
        name for name in names if name != "identical"
    ]


@pytest.mark.parametrize(("hopeless", "blocks"), [(auto.GIVE_UP_BELOW, 1), (-np.inf, 2)])
def test_a_mapping_that_gets_no_better_is_given_up(
    monkeypatch: pytest.MonkeyPatch, hopeless: float, blocks: int
) -> None:
    """A hopeless one after the first block, another after the first that brings nothing."""
    monkeypatch.setattr(auto, "GIVE_UP_BELOW", hopeless)
    block = RefineConfig(cutoffs=(100,), max_rounds=1)
    (found,) = tried(scripted(block, block, block, block, bad=WRONG))
    assert found.verdict.label == "failed"
    assert [trace["stage"] for trace in found.history] == ["refine"] * blocks


@pytest.mark.parametrize("init", sorted({*INITIALISATIONS} - {"auto", "dictionary"}))
def test_one_initialisation_alone(init: str) -> None:
    assert {name.split(":")[0] for name, _ in auto.initialisations(AlignConfig(init=init))} == {init}


def test_unknown_initialisations() -> None:
    with pytest.raises(BadSetting, match="--init .*'magic'"):
        AlignConfig(init="magic")


def candidate(label: str, criterion: float) -> auto.Candidate:
    return auto.Candidate(
        Alignment(WRONG, method=label, criterion=criterion), Verdict(label, 0.5, 0.5, 0.5), 1.0
    )


def test_best_prefers_the_better_verdict_to_the_higher_criterion() -> None:
    aligned, high, low = candidate("aligned", 0.05), candidate("failed", 0.9), candidate("doubtful", 0.1)
    assert auto.best([low, high, aligned]) is aligned
    assert auto.best([low, high]) is low
    assert auto.best([high, candidate("failed", 0.5)]) is high
    assert aligned.as_json().keys() >= {"init", "criterion", "verdict", "confidence", "seconds"}


def test_why_the_best_was_chosen_is_said_by_who_chose_it() -> None:
    high, low, wrong = candidate("doubtful", 0.4), candidate("doubtful", 0.3), candidate("failed", 0.9)
    for tried, expected in (
        ([wrong, candidate("aligned", 0.1)], Reason.FIRST_ALIGNED),
        ([low], Reason.ONLY),
        ([low, high], Reason.CRITERION),
        ([low, high, wrong], Reason.VERDICT),
    ):
        assert auto.reason_for(tried, auto.best(tried)) is expected


def test_a_candidate_remembers_what_its_stages_told() -> None:
    only = tried(named("gromov"))[0]
    stages = [trace["stage"] for trace in only.history]
    assert stages[:3] == ["gromov", "stabilise", "refine"]
    assert "history" not in only.as_json()
    assert only.as_record()["history"] == only.history
    assert float(str(only.as_record()["orthogonality_defect"])) < 1e-4


def test_of_plain_rounds_the_one_with_the_highest_criterion_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, turn = pair()
    rounds = [Alignment(one) for one in (WRONG, turn, rotation(98, DIMENSION))]
    monkeypatch.setattr(auto, "refine", lambda *_, **__: iter(rounds))
    rng = np.random.default_rng(0)
    found = auto.improve(LanguagePair(source, target), rounds[0], config=PLAIN, rng=rng)
    *_, last = found
    assert np.array_equal(last.source_map, turn)
    assert last.criterion == LanguagePair(source, target).criterion()(turn)


def test_beside_pairs_of_an_encoder_only_quick_initialisations_are_tried() -> None:
    given = AlignConfig(pseudo_dictionary=Lexicon((("chat", "cat"),)))
    assert [name for name, _ in auto.initialisations(given)] == ["gromov:rank", "identical"]
    assert [name for name, _ in auto.initialisations(replace(given, no_identical=True))] == ["gromov:rank"]
    assert [name for name, _ in auto.initialisations(replace(given, init="features"))] == ["features"]


def test_rows_are_tried_without_ranks_and_refined_by_transport() -> None:
    plan = AlignConfig().for_unranked_rows()
    assert [name for name, _ in auto.initialisations(plan)] == list(auto.AUTO_OF_ROWS)
    assert first_rounds(plan) == ROUNDS_OF_ROWS
    assert {type(config) for config in first_rounds(plan)} == {TransportConfig}
    assert first_rounds(AlignConfig(refine=False).for_unranked_rows()) == ()  # --no-refine
    assert refinement(plan) is not None
    assert refinement(AlignConfig(refine=False).for_unranked_rows()) is None
    assert plan.for_unranked_rows() == plan and not plan.reweights


@pytest.mark.parametrize("init", INITIALISATIONS)
def test_an_initialisation_is_used_or_refused(init: str) -> None:
    usable = {"auto", "dictionary", *(name.split(":")[0] for name in auto.KNOWN_OF_ROWS)}
    if init not in usable:
        match = f"--init {init} needs words, most frequent first, got unlabelled"
        with pytest.raises(BadSetting, match=match):
            AlignConfig(init=init).for_unranked_rows()
        return
    names = [name for name, _ in auto.initialisations(AlignConfig(init=init).for_unranked_rows())]
    assert init in ("auto", "dictionary") or [name.split(":")[0] for name in names] == [init]


def test_gromov_of_rows_matches_their_centroids() -> None:
    source, target, turn = mixture(seed=1)
    ((name, initialise),) = auto.initialisations(AlignConfig(init="gromov").for_unranked_rows())
    score, rng = LanguagePair(source, target).criterion(), np.random.default_rng(0)
    (found,) = initialise(LanguagePair(source, target), score, rng)
    assert found.method == name == "gromov:clusters"
    config = TransportConfig(rounds=20, rows=700)
    *_, refined = refine_by_transport(LanguagePair(source, target), found, config=config, rng=rng)
    assert (source.matrix @ refined.source_map.T * (source.matrix @ turn.T)).sum(axis=1).mean() > 0.8


def test_a_recipe_is_its_parts_but_for_what_is_given() -> None:
    whole = AlignConfig(recipe="muse")
    assert (whole.normalise, whole.refine, first_rounds(whole), whole.reweights) == ((), "plain", (), False)
    assert departures(whole) == ()
    other = AlignConfig(recipe="muse", normalise=("unit",), refine=True)
    assert (other.init, other.normalise, first_rounds(other)) == ("adversarial-paper", ("unit",), ROUNDS)
    assert departures(other) == ("normalise", "refine")
    assert replace(whole, seed=1).init == "adversarial-paper"
    with pytest.raises(BadSetting, match="--recipe .*'vecmap'"):
        AlignConfig(recipe="vecmap")
