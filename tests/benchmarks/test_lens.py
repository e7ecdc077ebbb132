"""The benchmarks of lenses: they train what muse train trains, and their figures are what is said of them."""

from __future__ import annotations

import argparse
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
from muse.sentences.systems.core import Core, Matrices, SpaceCore
from muse.sentences.systems.pretrained_cores import open_core
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
        module("benchmarks.systems.lens_training").mean(space, SpaceCore(space)).encode(LINES, "en").matrix
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)


class Counted:
    """The matrices of a core, and how many sentences were computed."""

    def __init__(self, core: Core) -> None:
        self.core, self.computed = core, 0

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The matrices of the core."""
        self.computed += len(batch)
        return self.core.matrices(batch, language)


def test_a_sentence_is_computed_once_and_is_the_same(module: Any, tmp_path: Path) -> None:
    pieces = [*SPECIAL, "en1", "en2", "en3", "en4", "en5"]
    core = open_core(toy_space(tmp_path / "space"), save_tiny_bert(tmp_path / "bert", pieces, longest=16))
    counted = Counted(core)
    remembered = module("benchmarks.systems.lens_training").Remembered(counted)
    batch = core.reader("en").read(LINES).sentences
    orders = ([2, 0], [0, 1, 2, 3], [3, 2, 1, 0])
    for order in orders:
        part = batch.take(torch.tensor(order))
        found, expected = remembered.matrices(part, "en"), core.matrices(part, "en")
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


def test_a_language_vector_is_the_variance_of_unit_rows(module: Any) -> None:
    rows = np.array([[3, 4], [0, 2], [0, 0], [-5, 0]], np.float32)
    units = np.array([[0.6, 0.8], [0, 1], [-1, 0]])
    vectors = module("benchmarks.systems.lens_language_vectors")
    expected = ((units - units.mean(axis=0)) ** 2).mean(axis=0)
    np.testing.assert_allclose(vectors.language_vector(rows), expected, atol=1e-7)
    np.testing.assert_allclose(vectors.language_vector(7 * rows), expected, atol=1e-7)
    euclidean, cosine = vectors.distances(np.array([3.0, 0.0]), np.array([0.0, 4.0]))
    assert (euclidean, cosine) == (5_000, 100)


def test_a_language_is_compared_with_itself_by_halves(module: Any) -> None:
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(400, 5)), rng.normal(size=(400, 5)) * [3, 1, 1, 1, 1]
    found = {
        (one["first"], one["second"]): one
        for one in module("benchmarks.systems.lens_language_vectors").compared({"a": near, "b": far})
    }
    assert list(found) == [("a", "a"), ("a", "b"), ("b", "b")]
    assert [one["sentences"] for one in found.values()] == [200, 400, 200]
    assert found["a", "b"]["euclidean"] > 3 * found["a", "a"]["euclidean"] > 0


def test_searches_by_bits_find_the_best_of_all(module: Any) -> None:
    rng = np.random.default_rng(0)
    bits = module("benchmarks.systems.lens_bits")
    queries, targets = (rng.random((count, 12)) < 0.4 for count in (30, 50))
    x, y = (rows.astype(np.float32) for rows in (queries, targets))
    packed = bits.packed(x), bits.packed(y)
    assert packed[0].shape == (30, 2)
    products, units = x @ y.T, bits.unit(x) @ bits.unit(y).T
    differing = (queries[:, None] != targets).sum(axis=2)  # (q, m)
    for search, expected in (
        (bits.by_product(x, y), units),
        (bits.by_hamming(*packed), -differing),
        (bits.by_cosine(*packed), np.round(products / np.sqrt(np.outer(x.sum(1), y.sum(1)) + 1e-9), 5)),
    ):
        found, best = search(), expected.max(axis=1)
        np.testing.assert_allclose(expected[np.arange(30), found.best], best, atol=1e-5)
        alone = (np.abs(expected - best[:, None]) < 1e-6).sum(axis=1) == 1
        assert (found.alone == alone).mean() > 0.9
        assert found.alone.any()


def test_texts_to_search_have_every_translation(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("parallel", "retrieval"):
        (tmp_path / folder).mkdir()
    lines = "".join(f"en {i % 40}\tfr {i}\n" for i in range(60))
    (tmp_path / "parallel" / "tatoeba.en-fr.train.tsv.gz").write_bytes(gzip.compress(lines.encode()))
    english = [f"en {i % 7}" for i in range(10)]
    (tmp_path / "retrieval" / "tatoeba.fra-eng.eng").write_text("".join(f"{line}\n" for line in english))
    (tmp_path / "retrieval" / "tatoeba.fra-eng.fra").write_text("".join(f"x {i}\n" for i in range(10)))
    bits = module("benchmarks.systems.lens_bits")
    monkeypatch.setattr(bits, "TAUGHT", 5)
    for sentences, count in ((3, 7), (20, 20)):
        found = bits.texts(tmp_path, "fr", sentences)
        assert [found.targets[place] for place in found.gold] == english
        assert len(found.targets) == len(set(found.targets)) == count


def hits(*columns: tuple[int, ...]) -> list[dict[str, str]]:
    """Rows of seeds that answered these of 20 queries."""
    packed = [np.packbits(np.isin(np.arange(20), column)).tobytes().hex() for column in columns]
    return [{"hits_nn": one, "queries": "20"} for one in packed]


def test_a_gap_is_that_of_the_means_and_its_interval_is_paired(module: Any) -> None:
    unseen = module("benchmarks.systems.lens_unseen")
    best = unseen.answers(hits(tuple(range(16)), tuple(range(14))), "nn")
    assert best.shape == (2, 20)
    assert best.sum() == 30
    other = unseen.answers(hits(tuple(range(10))), "nn")
    rng = np.random.default_rng(0)
    value, (low, high) = unseen.gap(best, other, rng)
    assert value == pytest.approx(75 - 50)
    assert 0 < low < value < high
    # The same answers differ in no sample, however the queries are drawn.
    assert unseen.gap(other, other, rng) == (0, (0, 0))


def test_words_are_translated_only_for_lenses_that_learn_from_them(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    unseen = module("benchmarks.systems.lens_unseen")
    monkeypatch.setattr(unseen, "fresh", lambda asked, language: [("a", "b"), ("c", "d"), ("e", "f")])
    asked: list[tuple[str, str]] = []

    def by_words(space: Path, source: str, target: str, sentences: list[str]) -> list[str]:
        asked.append((source, target))
        return ["x", ""]

    monkeypatch.setattr(unseen, "by_words", by_words)
    options = argparse.Namespace(
        joint=Path(), trained="fr", read="de", lenses=["pairs", "own"], seeds="0-1", pairs=2
    )
    lessons = unseen.Lessons(None, options)
    rows = [{"learned_from": "pairs", "read": "de", "seed": "0", "pairs": count} for count in ("2", "9")]
    assert list(unseen.missing(rows, lessons, options)) == [
        ("mean", 0), ("pairs", 1), ("own", 0), ("own", 1)
    ]  # fmt: skip
    assert list(unseen.missing(rows[1:], lessons, options))[1] == ("pairs", 0)
    assert not asked
    assert lessons.of("both", 0) == [("a", "x"), ("x", "b")]
    assert asked == [("en", "de"), ("de", "en")]


def test_mined_pairs_are_those_of_the_lens_before_without_knowing_which_translate_which(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    unseen = module("benchmarks.systems.lens_unseen")
    rows = np.eye(6, dtype=np.float32)

    class Numbers:  # the row of a sentence is its digit, so 0e and 0d are translations
        def encode(self, sentences: list[str], language: str) -> Any:
            return argparse.Namespace(matrix=rows[[int(one[0]) for one in sentences]])

    texts = {
        "de": [("0e", "0d"), ("1e", "1d"), ("2e", "2d"), ("3e", "3d")],
        "fr": [("4e", "4f"), ("2e", "2f"), ("0e", "0f"), ("3e", "3f")],
    }
    monkeypatch.setattr(unseen, "fresh", lambda asked, language: texts[language])
    learned: list[tuple[str, int]] = []

    def lens(space: None, pairs: Any, language: str, asked: Any, seed: int) -> Numbers:
        learned.append((language, seed))
        return Numbers()

    monkeypatch.setattr(unseen, "learned", lens)
    options = argparse.Namespace(trained="fr", read="de", pairs=9, text=3)
    lessons = unseen.Lessons(None, options)
    # 1d has no translation among the English sentences beside the French ones, 3d is beyond --text.
    assert sorted(lessons.of("again", 5)) == [("0e", "0d"), ("2e", "2d")]
    assert learned == [("fr", 5), ("de", 5)]
