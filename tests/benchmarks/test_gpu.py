"""gpu.py: without a GPU it says so; on a pretended one every check is made, and one can fail."""

import gzip
import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchmarks.support.kept_rows import read_rows
from muse.sentences.systems.registry import SAVED
from tests.support.devices import pretended_faiss, pretended_gpu

pytestmark = pytest.mark.slow

SMALL = ["gpu.py", *"--size 300 --dimension 16 --repeat 1 --steps 1 --words 600".split()]
PARTS = "tests,neighbours,sample,adversarial,faiss,large"
CHECKS = 10


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    files = ["--kept", str(tmp_path / "kept.json"), "--out", str(tmp_path / "gpu.csv")]
    monkeypatch.setattr(sys, "argv", [*SMALL, *files, "--parts", PARTS])
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "pretended")
    return importlib.import_module("benchmarks.scale.gpu")


def ended(gpu: Any) -> int:
    with pytest.raises(SystemExit) as exit_:
        gpu.main()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


def test_without_a_gpu_it_says_so_in_one_line(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert ended(gpu) == 2
    assert capsys.readouterr().out == "no GPU: torch finds no CUDA device\n"


@pytest.mark.parametrize(
    ("tests", "p_at_1", "wrong", "failed"),
    [(0, 52.0, 0, None), (1, 50.0, 0, 0), (0, 50.0, 9, 2), (0, 47.9, 0, 4)],
    ids=["all kept", "tests fail", "pairs differ", "P@1 differs"],
)
def test_all_checks_are_made_and_a_failure_counts(  # noqa: PLR0913 - what may fail
    gpu: Any,
    tmp_path: Path,
    tests: int,
    p_at_1: float,
    wrong: int,
    failed: int | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = gpu.mutual_neighbours
    on_device = {"cpu": 50.0, "cuda": p_at_1}
    done = SimpleNamespace(returncode=tests, stdout="== 4 in 1 s ==", stderr="")
    monkeypatch.setattr(gpu, "subprocess", SimpleNamespace(run=lambda *_, **__: done))
    monkeypatch.setattr(
        gpu, "mutual_neighbours", lambda x, y, how: found(x, y, how)[wrong if x.is_cuda else 0 :]
    )
    monkeypatch.setattr(
        gpu, "aligned", lambda device, _: gpu.Aligned("aligned", on_device[device], (48.0, 52.0), 1.0, 0.0)
    )
    with pretended_gpu(monkeypatch) as there:
        assert ended(gpu) == (failed is not None)
        assert there.arrivals
    printed = capsys.readouterr().out
    assert "GPU: pretended" in printed
    rows = [line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith("| ")][2:]
    assert [cells[-1] for cells in rows] == ["NO" if place == failed else "yes" for place in range(CHECKS)]
    assert rows[0][2] == "4 in 1 s"
    written = read_rows(tmp_path / "gpu.csv")
    assert [row["name"] for row in written] == [cells[0] for cells in rows]
    assert {row["device"] for row in written} == {"pretended"}
    assert rows[1][0] == "k nearest neighbours: 100.00 % the same"


def test_the_sample_pair_is_aligned_and_evaluated(
    gpu: Any, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fr", "en"):
        (files / f"{name}.vec.gz").write_bytes(gzip.compress((files / f"{name}.vec").read_bytes()))
    gold = tmp_path / "gold.txt"
    gold.write_text("".join(f"fr{row} en{row}\n" for row in range(100)), encoding="utf-8")
    monkeypatch.setattr(gpu, "SAMPLE", files)
    monkeypatch.setattr(gpu, "DICTIONARY", gold)
    found = gpu.aligned("cpu", tmp_path)
    assert (found.verdict, found.megabytes) == ("aligned", 0)
    assert found.p_at_1 > 95
    assert found.ci95[0] <= found.p_at_1 <= found.ci95[1]


def test_what_was_checked_is_kept_and_a_failure_is_tried_again(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [*sys.argv[:-1], "sp,lens,xlm"])
    made: list[str] = []

    def steps(name: str, *_: Any, **__: Any) -> str:
        made.append(name)
        if name == "lens" and made.count(name) == 1:
            raise RuntimeError("CUDA out of memory")
        return "0.1 s"

    monkeypatch.setattr(gpu, "paper_steps", steps)
    with pretended_gpu(monkeypatch):
        assert [ended(gpu) for _ in range(3)] == [1, 0, 0]
    assert made == ["sp", "lens", "xlm", "lens"]
    assert "CUDA out of memory" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [0, 9])
def test_faiss_on_the_gpu_is_compared_with_torch(
    gpu: Any, wrong: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = gpu.mutual_neighbours
    monkeypatch.setattr(
        gpu, "mutual_neighbours", lambda x, y, how: found(x, y, how)[wrong if how.backend == "faiss" else 0 :]
    )
    monkeypatch.setattr(sys, "argv", [*sys.argv[:-1], "faiss"])
    pretended_faiss(monkeypatch)
    with pretended_gpu(monkeypatch):
        assert ended(gpu) == (wrong > 0)
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if "by faiss" in line]
    assert rows[0][0] == "| k nearest neighbours by faiss: 100.00 % those of torch"
    assert [row[-1] for row in rows] == ["yes |", "NO |" if wrong else "yes |"]
    assert all("faiss 0." in row[2] and "torch 0." in row[2] for row in rows)


def test_nothing_is_begun_after_the_minutes(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--minutes", "0"])
    with pretended_gpu(monkeypatch):
        assert ended(gpu) == 3
    assert "6 parts were not begun" in capsys.readouterr().out


def test_every_network_takes_its_steps_on_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tokenizers")
    networks = importlib.import_module("benchmarks.scale.gpu_networks")
    for name, value in (("WORDS", 300), ("DIMENSION", 16), ("SENTENCES", 200), ("STEPS", 2)):
        monkeypatch.setattr(networks, name, value)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda: None)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 10**6)
    for name in ("sp", "infersent"):
        with pretended_gpu(monkeypatch) as there:
            found = networks.paper_steps(name, tmp_path, device="cuda", preset="small", batch=16)
            assert there.arrivals
        assert found.loss > 0
        assert found.megabytes == 1
    assert set(networks.SYSTEMS) == set(SAVED) - {"x-bilstm", "xlm --nli", "x-cbow", "projection", "cvm-add"}
