"""paper_recipe.py on a toy pair: training goes on where it stopped, and figures are those of the mappings."""

import gzip
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.align import paper_recipe
from benchmarks.support.kept_rows import read_rows
from muse.learn.initialise.adversarial import PAPER
from tests.support.toys import raw_pair, write_vec


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> paper_recipe.Task:
    """A pair laid out as the one of Zhang et al., whose gold list has every other word."""
    monkeypatch.setattr(paper_recipe, "PAPER", replace(PAPER, hidden=8, steps=8))
    home = tmp_path / "shared" / "data" / "zhang2017" / "fr-en"
    home.mkdir(parents=True)
    for side in raw_pair(noise=0.1)[:2]:
        text = write_vec(tmp_path / "x.vec", side).read_bytes()
        (home / f"{side.language}.vec.gz").write_bytes(gzip.compress(text))
    (home / "gold.txt").write_text("".join(f"fr{row} en{row}\n" for row in range(0, 600, 2)))
    return paper_recipe.Task.of("zhang-fr-en", tmp_path / "shared")


def test_runs_side_by_side_go_on_where_they_stopped(task: paper_recipe.Task, tmp_path: Path) -> None:
    for name, ends in (("whole", (6,)), ("resumed", (2, 6))):
        for steps in ends:
            (tmp_path / name).mkdir(exist_ok=True)
            asked = Namespace(slice=2, steps=steps, kept=tmp_path / name, device="cpu")
            paper_recipe.train([(task, 1), (task, 2)], asked)
    whole, resumed = (
        [
            paper_recipe.read_kept(paper_recipe.kept_file(tmp_path / name, "zhang-fr-en", seed))
            for seed in (1, 2)
        ]
        for name in ("whole", "resumed")
    )
    for one, other in zip(whole, resumed, strict=True):
        assert one.figures[:, 0].tolist() == [2, 4, 6]
        np.testing.assert_array_equal(one.maps, other.maps)
        np.testing.assert_array_equal(one.figures[:, :4], other.figures[:, :4])
    assert not np.allclose(whole[0].maps, whole[1].maps)


def test_each_run_draws_words_of_its_own_pair(task: paper_recipe.Task) -> None:
    few = replace(task, source=task.source.most_frequent(5), target=task.target.most_frequent(7))
    runs = paper_recipe.SideBySide([(few, 0), (task, 1)], replace(PAPER, hidden=8, batch=500), "cpu")
    for rows, sides in ((runs.x, (few.source, task.source)), (runs.y, (few.target, task.target))):
        drawn = runs._sample(rows, torch.Generator().manual_seed(0))  # (2, 500, d)
        for found, side in zip(drawn, sides, strict=True):
            seen, own = ({tuple(row) for row in one.tolist()} for one in (found, side.fitted_tensor()))
            assert seen <= own
            assert len(seen) > 0.5 * min(len(own), 500)


@pytest.mark.slow
def test_the_figures_of_a_run(task: paper_recipe.Task, tmp_path: Path) -> None:
    turn = raw_pair(noise=0.1)[2]
    maps = np.stack([np.eye(len(turn), dtype=np.float32), turn])
    figures = np.array([[2, 0.1, 0.7, 0.0, 1.0], [4, 0.9, 0.6, 0.0, 1.0]])
    paper_recipe.measure(task, {0: paper_recipe.Kept(maps, figures)}, tmp_path)
    first, last = read_rows(tmp_path / "paper_recipe_epochs.csv")
    assert float(first["p_at_1_csls"]) < 20 < 90 < float(last["p_at_1_csls"])
    rows = {row["method"]: row for row in read_rows(tmp_path / "paper_recipe.csv")}
    assert list(rows) == ["Adv", "Adv-Refine", "moments", "Procrustes, supervised"]
    assert {row["words"] for row in rows.values()} == {"300"}
    assert rows["Adv-Refine"]["verdict"] == "aligned"
    assert rows["Adv"]["p_at_1_csls"] == last["p_at_1_csls"]
    assert all(float(row["p_at_1_csls"]) > 90 for row in rows.values())  # this toy has skewed axes


def test_ranks_are_correlated_where_there_are_enough() -> None:
    rows = [{"a": one, "b": one**3} for one in (1.0, 2.0, 4.0, 3.0)]
    assert paper_recipe.correlated(rows, "a", "b").startswith("4 slices: Spearman's rho 1.00")
    assert paper_recipe.correlated(rows[:2], "a", "b") == "2 slices: too few, or all alike"


def test_copies_of_a_checkpoint_are_a_run_of_the_epochs_whose_mapping_they_have(tmp_path: Path) -> None:
    # The second epoch is the best and has no copy of its own: its mapping is the best of the later copy.
    reported = np.array([[0.4, 3, 0.3], [0.7, 2, 0.2], [0.6, 1, 0.1]])
    maps = np.array([np.eye(2) * number for number in range(3)])
    for epochs, best in ((1, 0), (3, 1)):
        np.savez(
            tmp_path / f"{epochs}.npz", reported=reported[:epochs], mapping=maps[epochs - 1 : epochs],
            best_mapping=maps[best : best + 1],
        )  # fmt: skip
    run = paper_recipe.of_checkpoints([tmp_path / "3.npz", tmp_path / "1.npz"], steps=10)
    np.testing.assert_array_equal(run.maps, maps)
    np.testing.assert_array_equal(run.figures[:, 0], [10, 20, 30])
    np.testing.assert_array_equal(run.figures[:, 1:4], reported)
