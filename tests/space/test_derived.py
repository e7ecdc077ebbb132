"""What is derived of a space is used as it was written, or not at all; using a space writes nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.files.space_folder import checksum
from muse.files.space_manifest import read_manifest
from muse.ranking.probability import find_calibration, known_calibration
from muse.search.retrieval import Retrieval
from muse.space import Space, load_space
from muse.space.derived import AnswerTable, write_answers
from tests.support.spaces import best, derived, saved

WAY = ("fr", "en")
NAMES = ("fr/hubness.en.npy", "fr/calibration.en.json", "fr/answers.en.npz")


def spoiled_bytes(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def as_it_is_checked(path: Path) -> None:
    """Other content, of which the manifest has the checksum: what a reader refuses by itself."""
    path.write_bytes(path.read_bytes()[:-9])
    space = path.parents[1]
    read_manifest(space).write(space)


SPOIL: list[Callable[[Path], Any]] = [
    Path.unlink, spoiled_bytes, as_it_is_checked, lambda path: path.write_bytes(b""),
    lambda path: shutil.copy(path.parents[1] / "en" / path.name.replace(".en.", ".fr."), path),
]  # fmt: skip


@pytest.fixture
def space(tmp_path: Path) -> Space:
    """A space with all that can be derived of it."""
    saved(tmp_path / "space", plain=True)
    derived(tmp_path / "space")
    return derived(tmp_path / "space", answered)


def answered(folder: Path) -> None:
    for way, n, m in ((WAY, 39, 40), (WAY[::-1], 40, 39)):
        shares = np.full(n, 0.5, np.float32)
        table = AnswerTable(np.arange(n + 1), np.arange(n)[::-1] % m, np.zeros(n, np.float32), shares)
        write_answers(folder, way, table)


def found(space: Space) -> tuple[Any, ...]:
    """What is derived of the space, by CSLS alone."""
    bias = space.bias(*WAY, Retrieval())
    assert bias is not None
    return bias.tolist(), find_calibration(space, *WAY)


def test_a_space_has_what_was_derived_of_it(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = load_space(space.folder or "", answers="csls")
    assert set(NAMES) < set(bare.manifest.checksums)
    monkeypatch.setattr("muse.space.aligned.hubness_of_both", None)
    assert known_calibration(bare, *WAY) == find_calibration(bare, *WAY)
    assert bare.hubness(*WAY) is not None and space.answers(*WAY) is not None


def test_a_space_that_lacks_it_finds_the_same_and_writes_nothing(space: Space, tmp_path: Path) -> None:
    bare = saved(tmp_path / "bare", plain=True)
    assert not list((tmp_path / "bare").rglob("hubness*"))
    assert known_calibration(bare, *WAY) is None and bare.hubness(*WAY) is None
    before = checksum(tmp_path / "bare")
    assert found(bare) == found(space)
    assert bare.answers(*WAY) is None
    assert best(bare, "fr20", source="fr", target="en")
    assert checksum(tmp_path / "bare") == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spoil", SPOIL)
@pytest.mark.parametrize("in_memory", [False, True])
def test_what_is_damaged_is_found_again_or_left_out(
    space: Space, name: str, spoil: Callable[[Path], Any], in_memory: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert space.folder is not None
    spoil(space.folder / name)
    damaged = load_space(space.folder, into_memory=in_memory)
    assert found(damaged) == found(space)
    assert (damaged.answers(*WAY) is None) == ("answers" in name)
    assert f"{name}: not used, " in caplog.text


def test_a_space_in_memory_needs_its_files_no_more(space: Space, tmp_path: Path) -> None:
    inside = load_space(tmp_path / "space", into_memory=True)
    shutil.rmtree(tmp_path / "space")
    assert found(inside) == found(space) and inside.answers(*WAY) is not None


@pytest.mark.parametrize("values", [[1.4], [np.nan], [-3.0]])
def test_impossible_hubness_is_not_used(space: Space, values: list[float], tmp_path: Path) -> None:
    path = tmp_path / "space" / "en" / "hubness.fr.npy"
    spoiled = derived(tmp_path / "space", lambda _: np.save(path, np.full(40, values[0], np.float32)))
    assert spoiled.hubness("en", "fr") is None
    bias = spoiled.bias("fr", "en", Retrieval())
    assert bias is not None and torch.isfinite(bias).all()


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "[" * 100_000, '{"closed_set": 1}', '{"closed_set": 0, "open_set": 1, "none": 0}',
        '{"closed_set": 1, "open_set": 1, "none": NaN}', '{"closed_set": "x", "open_set": 1, "none": 0}',
        '{"closed_set": {}, "open_set": 1, "none": 0}',
    ],
)  # fmt: skip
def test_an_impossible_calibration_is_not_used(space: Space, text: str, tmp_path: Path) -> None:
    path = tmp_path / "space" / "fr" / "calibration.en.json"
    spoiled = derived(tmp_path / "space", lambda _: (path.write_text(text), None)[1])
    assert known_calibration(spoiled, *WAY) is None
    assert find_calibration(spoiled, *WAY) == find_calibration(space, *WAY)


# Answers


def table(**other: Any) -> AnswerTable:
    """Answers to 39 words, two each but for the first, which has none."""
    parts: dict[str, Any] = {
        "pointers": np.array([0, *range(0, 77, 2)]),
        "columns": np.arange(76) % 40,
        "csls": np.linspace(-1, 1, 76, dtype=np.float32),
        "probability": np.linspace(1, 0, 76, dtype=np.float32),
        "report": {"by": "all evidence"},
    }
    return AnswerTable(**{**parts, **other})


def kept(space: Space, found: AnswerTable) -> Space:
    assert space.folder is not None
    return derived(space.folder, lambda folder: write_answers(folder, WAY, found))


def test_read_as_written(space: Space) -> None:
    space = kept(space, table())
    found = space.answers(*WAY)
    assert found is not None
    assert found.report == {"by": "all evidence"}
    for name in ("pointers", "columns", "csls", "probability"):
        np.testing.assert_array_equal(getattr(found, name), getattr(table(), name))
    assert found.first()[:3].tolist() == [-1, 0, 2]


def test_asked_for_csls(space: Space) -> None:
    space = kept(space, table())
    assert space.by_csls().answers(*WAY) is None
    assert space.answers(*WAY, Retrieval("nn")) is None
    assert space.answers(*WAY, Retrieval("csls")) is not None


@pytest.mark.parametrize(
    "other",
    [
        {"pointers": np.arange(0, 77, 2)},  # of one word fewer
        {"columns": np.full(76, 40)},
        {"columns": np.full(76, -1)},
        {"probability": np.full(76, 1.5, np.float32)},
        {"probability": np.linspace(0, 1, 76, dtype=np.float32)},  # the second more probable than the first
        {"columns": np.repeat(np.arange(38), 2)},  # each twice
        {"csls": np.full(76, np.nan, np.float32)},
        {"pointers": np.array([0, *range(76, -1, -2)])},
        {"csls": np.zeros(0, np.float32)},  # fewer than there are answers
        {"probability": np.zeros(77, np.float32)},
        {"probability": np.zeros((76, 2), np.float32)},
        {"pointers": np.array([0.0, *range(0, 77, 2)])},  # no whole numbers
    ],
)
def test_impossible_values_are_not_used(space: Space, other: dict[str, Any]) -> None:
    assert kept(space, table(**other)).answers(*WAY) is None


def test_padded_and_within() -> None:
    columns, csls, probability = table().padded(np.array([0, 1, 38]))
    assert columns.tolist() == [[-1, -1], [0, 1], [34, 35]]
    assert csls[0].tolist() == [-np.inf, -np.inf] and probability[0].tolist() == [0, 0]
    columns, _, _ = table().within(np.array([0, 1, 38]), 35)
    assert columns.tolist() == [[-1, -1], [0, 1], [34, -1]]
    columns, _, _ = table(columns=(np.arange(76) + 34) % 40).within(np.array([3, 4]), 1)
    assert columns.tolist() == [[-1, -1], [0, -1]]


def test_answers_of_other_words_are_not_used(
    space: Space, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    there, other = tmp_path / "space", tmp_path / "other"
    shutil.copytree(there, other)
    path = other / "fr" / "words.txt"
    path.write_text(path.read_text().replace("fr3\n", "fr333\n"))
    write_answers(other, WAY, table())
    shutil.copy(other / NAMES[2], there / NAMES[2])
    assert derived(there, lambda _: None).answers(*WAY) is None
    assert "not used, derived of other words" in caplog.text
