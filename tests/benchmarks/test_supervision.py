"""The draws, the pairs and the table of benchmarks/align/supervision.py: what is claimed of them holds."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.files import read_lexicon
from muse.procrustes import procrustes
from muse.vectors import Vectors

pytestmark = pytest.mark.slow

WORDS = 6_000


@pytest.fixture
def drawn(tmp_path: Path) -> Any:
    """Writes a draw from a training dictionary in which word i is translated by i and by i + 1."""
    draws, pairs = (
        importlib.import_module(name) for name in ("benchmarks.support.draws", "benchmarks.support.pairs")
    )
    training = tmp_path / "xx-yy.txt"
    training.write_text("".join(f"x{i} y{i + 1}\nx{i} y{i}\n" for i in range(0, WORDS, 2)), encoding="utf-8")
    rows = np.zeros((WORDS // 2, 2), np.float32)  # half of the words are unknown
    sides = tuple(Vectors(name * 2, [f"{name}{i}" for i in range(WORDS // 2)], rows) for name in "xy")
    pair = pairs.Pair("xx-yy", "xx", "yy", training, training, (training,), training)

    def write(help_: str, draw: int = 0) -> list[tuple[str, str]]:
        return list(read_lexicon(draws.write_draw(pair, sides, help_, draw, tmp_path)).pairs)

    return write


@pytest.mark.parametrize("draw", range(3))
def test_draws_are_nested_and_have_each_word_once(drawn: Any, draw: int) -> None:
    found = [drawn(help_, draw) for help_ in ("5", "25", "100", "500", "1000")]
    assert [len(pairs) for pairs in found] == [5, 25, 100, 500, 1000]
    for fewer, more in zip(found, [*found[1:], drawn("5000")], strict=True):
        assert set(fewer) < set(more)
    assert len({x for x, _ in found[-1]}) == 1000
    assert all(x[1:] == y[1:] for x, y in found[-1])  # the most frequent translation


def test_draws_differ_and_all_pairs_have_every_known_translation(drawn: Any) -> None:
    assert set(drawn("25", 0)) != set(drawn("25", 1))
    assert len(drawn("5000")) == WORDS // 2


@pytest.mark.parametrize("help_", ["1000", "5000"])
def test_a_tenth_of_the_pairs_have_the_target_of_another(drawn: Any, help_: str) -> None:
    right, wrong = drawn(help_), drawn(f"{help_}-wrong")
    assert sorted(y for _, y in right) == sorted(y for _, y in wrong)
    changed = sum(a != b for a, b in zip(right, wrong, strict=True))
    assert changed == pytest.approx(len(right) / 10, abs=1)


def test_identical_strings_are_those_of_both(tmp_path: Path) -> None:
    draws, pairs = (
        importlib.import_module(name) for name in ("benchmarks.support.draws", "benchmarks.support.pairs")
    )
    rows = np.zeros((3, 2), np.float32)
    sides = Vectors("xx", ["a", "b", "c"], rows), Vectors("yy", ["c", "d", "a"], rows)
    pair = pairs.Pair("xx-yy", "xx", "yy", tmp_path, tmp_path, (), None)
    path = draws.write_draw(pair, sides, "identical", 0, tmp_path)
    assert read_lexicon(path).pairs == (("a", "a"), ("c", "c"))


def test_a_split_list_has_no_source_word_in_both_parts(tmp_path: Path) -> None:
    pairs = importlib.import_module("benchmarks.support.pairs")
    own = tmp_path / "gold.txt"
    own.write_text("".join(f"w{i % 400} y{i}\n" for i in range(1000)), encoding="utf-8")
    pair = pairs.Pair("zhang-glove-aa-bb", "aa", "bb", own, own, (own,), own, split=True)
    parts = [read_lexicon(path) for path in (pair.gold_in(tmp_path), pair.training_in(tmp_path))]
    test, training = ({x for x, _ in part.pairs} for part in parts)
    assert not test & training
    assert len(parts[0]) + len(parts[1]) == 1000
    assert len(test) / 400 == pytest.approx(1 / pairs.TEST_SHARE, abs=0.06)


def rows(tool: str, help_: str, hits: list[int]) -> dict[str, str]:
    """A row as it is read from the file."""
    packed = np.packbits(np.array(hits, bool)).tobytes().hex()
    fields = {"pair": "aa-bb", "help": help_, "draw": "0", "tool": tool, "covered": str(len(hits))}
    return {**fields, "p_at_1": str(100 * np.mean(hits)), "seconds": "1", "setting": "", "hits": packed}


def test_the_checks_name_the_cells_that_fail() -> None:
    table = importlib.import_module("benchmarks.align.supervision_table")
    good, poor = [1] * 150 + [0] * 50, [1] * 50 + [0] * 150
    found = table.figures([
        rows("muse", "25", good), rows("procrustes", "25", poor),
        rows("muse", "100", poor), rows("procrustes", "100", good),
    ])  # fmt: skip
    reached, gain, below, falls = table.checks(found)
    assert reached.startswith("1 of 2 cells")
    assert "aa-bb 100" in reached
    assert gain.endswith("+0.00 points")
    assert "aa-bb 100 (-50.0" in below
    assert "aa-bb 25" not in below
    assert "25 to 100 (-50.0" in falls


def test_the_standard_error_of_a_difference_is_paired() -> None:
    table = importlib.import_module("benchmarks.align.supervision_table")
    hits = [1, 0] * 100
    found = [table.figures([rows("muse", "5", tried)]) for tried in (hits, [*hits[:-2], 1, 1])]
    one, other = (figures["aa-bb", "5"]["muse"] for figures in found)
    assert table.difference(one, one).se == 0
    gap = table.difference(one, other)
    assert gap.points == pytest.approx(-0.5)
    assert gap.se == pytest.approx(100 * (1 / 200 * 199 / 200) ** 0.5 / 200**0.5)


def test_a_step_of_rcsls_follows_the_gradient_of_its_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    rcsls = importlib.import_module("benchmarks.support.rcsls")
    monkeypatch.setattr(rcsls, "STEPS", (1,))
    generator = torch.Generator().manual_seed(0)
    x, y = (normalize(torch.randn(60, 5, generator=generator)) for _ in "xy")
    pairs = torch.randint(60, (40, 2), generator=generator)  # words occur in several pairs

    def loss(mapping: torch.Tensor) -> torch.Tensor:
        cosines = x @ mapping.T @ y.T  # (n, m)
        of_x, of_y = (cosines.topk(rcsls.K, dim=axis).values.mean(dim=axis) for axis in (1, 0))
        source, target = pairs.T
        return (of_x[source] + of_y[target] - 2 * cosines[source, target]).mean()

    before = procrustes(x[pairs[:, 0]], y[pairs[:, 1]]).requires_grad_()
    loss(before).backward()  # type: ignore[no-untyped-call]
    assert before.grad is not None
    after = rcsls.rcsls(x, y, pairs, 0.5, 1)[1]
    torch.testing.assert_close(after, before.detach() - 0.5 * before.grad)


def test_rcsls_chooses_among_its_settings_whatever_the_number_of_pairs() -> None:
    rcsls = importlib.import_module("benchmarks.support.rcsls")
    generator = torch.Generator().manual_seed(0)
    x, y = (normalize(torch.randn(200, 4, generator=generator)) for _ in "xy")
    for number in (1, 5, 100):
        pairs = torch.arange(number)[:, None].expand(-1, 2).contiguous()
        setting = rcsls.chosen(x, y, pairs, np.random.default_rng(0))
        assert setting.rate in rcsls.RATES
        assert setting.steps in rcsls.STEPS
