"""The benchmarks of lenses: they train what muse train trains, and their figures are what is said of them."""

from __future__ import annotations

import gzip
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.run.runtime import Runtime
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.backbone import Backbone, Matrices, SpaceBackbone
from muse.sentences.systems.pretrained_backbones import open_backbone
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.tiny_bert import SPECIAL, save_tiny_bert

pytestmark = pytest.mark.slow

LINES = ("en1 en2", "en3 en4 en5", "en1", "en2 en1")


@pytest.fixture
def module() -> Callable[[str], Any]:
    """A function that imports a module of the benchmarks."""
    return importlib.import_module


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """Not the pause between threads that wait for one another, for work as small as this."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_lens_is_that_of_muse_train(module: Any, tmp_path: Path) -> None:
    space, pairs = toy_space(tmp_path / "space"), write_text(tmp_path / "pairs.tsv", toy_text(120))
    found = module("benchmarks.systems.lens_training").lens(space, {"parallel": (pairs,)}, "fr", 1, seed=3)
    request = TrainingRequest(space, "fr", tmp_path / "out", parallel=(pairs,), trainer={"epochs": 1}, seed=3)
    expected = train_system("lens", request, Runtime()).encoder
    assert found.name == expected.name
    np.testing.assert_array_equal(found.encode(LINES, "en").matrix, expected.encode(LINES, "en").matrix)


def test_the_mean_of_a_core_is_that_of_its_rows(module: Any, tmp_path: Path) -> None:
    space = toy_space(tmp_path / "space")
    vectors = space.vectors("en")
    words = [line.split() for line in LINES]
    expected = [vectors.matrix[[vectors.index[word] for word in line]].mean(axis=0) for line in words]
    found = (
        module("benchmarks.systems.lens_training")
        .mean(space, SpaceBackbone(space))
        .encode(LINES, "en")
        .matrix
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)


class Counted:
    """The matrices of a backbone, and how many sentences were computed."""

    def __init__(self, backbone: Backbone) -> None:
        self.backbone, self.computed = backbone, 0

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The matrices of the backbone."""
        self.computed += len(batch)
        return self.backbone.matrices(batch, language)


def test_a_sentence_is_computed_once_and_is_the_same(module: Any, tmp_path: Path) -> None:
    pieces = [*SPECIAL, "en1", "en2", "en3", "en4", "en5"]
    backbone = open_backbone(
        toy_space(tmp_path / "space"), save_tiny_bert(tmp_path / "bert", pieces, longest=16)
    )
    counted = Counted(backbone)
    remembered = module("benchmarks.systems.lens_training").Remembered(counted)
    batch = backbone.reader("en").read(LINES).sentences
    orders = ([2, 0], [0, 1, 2, 3], [3, 2, 1, 0])
    for order in orders:
        part = batch.take(torch.tensor(order))
        found, expected = remembered.matrices(part, "en"), backbone.matrices(part, "en")
        torch.testing.assert_close(found.rows, expected.rows, atol=1e-5, rtol=1e-4)
        assert torch.equal(found.mask, expected.mask)
    assert counted.computed == len(LINES)
    remembered.matrices(batch, "fr")
    assert counted.computed == 2 * len(LINES)


def test_fewer_inferences_are_fewer_of_the_train_part_alone(module: Any, tmp_path: Path) -> None:
    source = tmp_path / "source.tsv"
    lines = [f"{i}\ta {i}\tb {i}\tneutral" for i in range(40)]
    source.write_text("\n".join(["pair_ID\tsentence_A\tsentence_B\tentailment_judgment", *lines]) + "\n")
    read = module("muse.files.nli").read_nli
    whole = read(source)
    for most in (0, 5, 10**9):
        found = read(
            module("benchmarks.systems.lens_text").write_inferences(source, most, tmp_path / "few.tsv")
        )
        for part in ("dev", "test"):
            assert found.part(part) == whole.part(part)
        assert found.parts.count("train") == min(most, whole.parts.count("train"))
    assert found.part("train") == whole.part("train")


def test_the_match_error_is_the_mean_of_both_directions(module: Any) -> None:
    into, out = (np.arange(100) < count for count in (80, 60))
    found = module("benchmarks.systems.lens_figures").match_error("match_error", [into, out])
    assert found["match_error"] == pytest.approx((20 + 40) / 2)
    assert found["match_error_low"] < found["match_error"] < found["match_error_high"]


def test_no_pair_to_learn_from_has_a_sentence_of_the_test(module: Any, tmp_path: Path) -> None:
    (tmp_path / "parallel").mkdir()
    write_text(tmp_path / "parallel" / "tatoeba.en-fr.train.tsv", [("a", "b"), ("c", "d"), ("e", "f")])
    path = tmp_path / "parallel" / "tatoeba.en-fr.train.tsv"
    path.with_suffix(".tsv.gz").write_bytes(gzip.compress(path.read_bytes()))
    found = module("benchmarks.systems.lens_text").fresh_pairs(tmp_path, "fr", {"a", "d", "x"})
    assert found == [("e", "f")]


@pytest.mark.parametrize(
    ("values", "expected"), [([], ""), (["70.0"], "70.0 [1.0, 2.0]"), (["70.0", "72.0"], "71.0 (70.0-72.0)")]
)
def test_a_cell_is_of_all_seeds(module: Any, values: list[str], expected: str) -> None:
    rows = [{"sts_en": value, "sts_en_low": "1.0", "sts_en_high": "2.0"} for value in values]
    assert module("benchmarks.systems.lens_core").cell([*rows, {"sts_en": ""}], "sts_en") == expected
