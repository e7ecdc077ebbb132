"""Damaged files, a fixed number for each reader: what a campaign of scripts/fuzz does with many more.

hypothesis draws what the mutators draw, and so shrinks the damage that shows a defect.
"""

import random
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import aligned, contract, trained
from tests.fuzz.contract import READ, REFUSED, SCRATCH, Defect, examine
from tests.fuzz.corpus import kept
from tests.fuzz.mutators import MUTATORS, Files, mutated
from tests.fuzz.target import Target
from tests.fuzz.targets import GROUPS, TARGETS
from tests.fuzz.workers import Task, Worker, examined, warm

pytestmark = pytest.mark.slow

INPUTS = 100  # of each target, in so much time of the processor at most
SECONDS, SECONDS_OF_SLOW = 0.05, 0.4  # with the slow tests all targets take some twenty seconds
ALL = settings(
    max_examples=INPUTS, derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    """A folder where folders are made and removed fast."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        yield Path(folder)


# Their good files are learned, which takes a second each.
LEARNED = {"backbone", *(target.name for group in (aligned, trained) for target in group.TARGETS)}


def sorted_out(cases: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Cases that begin with a target, the slow ones marked."""
    slow = pytest.mark.slow
    return [pytest.param(*case, marks=slow) if case[0] in LEARNED else case for case in cases]


@pytest.mark.parametrize(("name",), sorted_out((name,) for name in TARGETS))
def test_good_files_are_read_and_damaged_ones_read_or_refused(
    name: str, scratch: Path, without_slow: bool
) -> None:
    target = TARGETS[name]
    found = warm(target, scratch)
    # Of a server there are errors and redirects to nowhere among them; no pickle is read; Excel has no place
    # for control characters.
    # What is refused by its kind is among stores, entries and sentences.
    kinds = ("rows", "dictionary.entries", "sentences")
    mixed = dict.fromkeys(
        ("fetch", "words", "dictionary.back.xlsx", "table.back.xlsx", *kinds), {READ, REFUSED}
    )
    assert found == {**mixed, "pickle": {REFUSED}}.get(name, {READ})

    seconds, defects = SECONDS if without_slow else SECONDS_OF_SLOW, list[Defect]()
    until = time.process_time() + seconds

    @ALL
    @given(st.randoms(use_true_random=False))
    def damaged(drawn: random.Random) -> None:
        files = target.input(drawn)
        if time.process_time() > until and not defects:  # a defect is shrunk, however long that takes
            return
        found = examined(target, files, scratch)
        if isinstance(found, Defect):
            defects.append(found)
            raise AssertionError(f"{found.kind}\n{found.story}")

    damaged()


@pytest.mark.parametrize(("target", "name", "files"), sorted_out(kept()), ids=lambda value: str(value)[:60])
def test_inputs_that_showed_a_defect_do_so_no_more(
    target: str, name: str, files: Files, scratch: Path
) -> None:
    reader = TARGETS[target]
    warm(reader, scratch)  # what is made and loaded once would count as time and memory of the first input
    assert examined(reader, files, scratch) in (READ, REFUSED)


def _target(read: object) -> Target:
    def reader(folder: Path) -> object:
        return read((folder / "x").read_bytes())  # type: ignore[operator]

    return Target("x", lambda folder: None, reader)  # type: ignore[arg-type]


def _warns(data: bytes) -> list[float]:
    import warnings

    warnings.warn("deprecated", DeprecationWarning, stacklevel=1)
    return []


def _late(data: bytes) -> list[float]:
    while True:
        pass


def _large(data: bytes) -> list[float]:
    # More than what this process has taken before, which hides what takes less.
    most, blocks = contract.peak_memory() + (1 << 29), list[bytes]()
    while contract.peak_memory() < most:
        blocks.append(b"x" * (1 << 26))
    return [len(blocks)]


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda data: [float("nan")], "nan or inf"), (lambda data: [1 / 0], "ZeroDivisionError"),
        (_warns, "DeprecationWarning"), (_late, "too slow"), (_large, "too much memory"),
    ],
)  # fmt: skip
def test_the_contract_sees_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: object, kind: str
) -> None:
    if read is _large:  # where the process has taken much before, so much more takes long
        monkeypatch.setattr(contract, "SECONDS", 120.0)
    found = examine(_target(read), {"x": b"1"}, tmp_path)
    assert isinstance(found, Defect)
    assert kind in found.kind


def test_no_target_takes_the_name_of_another() -> None:
    assert len(TARGETS) == sum(len(group.TARGETS) for group in GROUPS)


def test_every_mutator_changes_something_and_the_same_seed_gives_the_same_input() -> None:
    text = b'{"a": [1, 2.5, "x"], "b": {"c": 3}}'
    for mutator in MUTATORS:
        changed = {mutator(text, text[::-1], random.Random(seed)) for seed in range(20)}
        assert len(changed - {text}) > 1, mutator.__name__
    files = {"a": text, "b": b"12 3\n"}
    twice = [mutated(files, [files], random.Random(5)) for _ in range(2)]
    assert twice[0] == twice[1] != files


def test_a_reader_that_ends_its_process_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    target = Target("x", lambda folder: (folder / "0").mkdir(), lambda folder: os._exit(3))
    monkeypatch.setitem(TARGETS, "x", target)
    worker = Worker(Task("x", 0, 5), 0)
    while not worker.ended():
        pass
    worker.end()
    assert worker.defects == {0: Defect("crash (3)")} and not worker.outcomes
