"""Encoders of words: several processes share every batch and write one folder, as one process would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.commands.train_report import WORD_ENCODERS
from muse.encoders.trained import TrainedEncoder
from muse.errors import BadSetting
from muse.run.runtime import Runtime
from muse.systems.registry import train_system
from muse.systems.system import TrainingRequest
from muse.training.loss_choice import LossChoice
from muse.training.two_sides import PairLearner
from tests.parallel import toy_space, toy_text, write_text

COUNT, TRAINING = 2, 380  # processes; pairs that are not held out
EPOCHS = 2


def arguments(folder: Path, out: str, encoder: str) -> list[str]:
    """The run of one encoder, in batches that are shared evenly, by a loss that draws no negatives."""
    quick = ["--epochs", EPOCHS, "--batch", 20, "--rate", 0.01, "--loss", "softmax"]
    text = ["--encoder", encoder, "--lang", "fr", "--parallel", folder / "text.tsv"]
    given = [*text, *quick, "--out", folder / out, "--threads", 1, "--device", "cpu", "--json"]
    return [str(part) for part in ("train", folder / "space", *given)]


def main(folder: Path) -> None:
    """What each of several processes does: runs muse train, and keeps what it saw and wrote."""
    from muse import cli

    rank, port = os.environ["RANK"], int(os.environ["MASTER_PORT"])
    seen: dict[str, Any] = {name: {"rows": 0, "saved": 0} for name in WORD_ENCODERS}
    loss, save = PairLearner.loss, TrainedEncoder.save
    patched = pytest.MonkeyPatch()
    for number, name in enumerate(WORD_ENCODERS):
        counts = seen[name]

        def counted(self: PairLearner, rows: Any, generator: Any, counts: Any = counts) -> Any:
            counts["rows"] += len(rows)
            return loss(self, rows, generator)

        def noted(self: TrainedEncoder, out: Path, counts: Any = counts) -> None:
            counts["saved"] += 1
            save(self, out)

        patched.setattr(PairLearner, "loss", counted)
        patched.setattr(TrainedEncoder, "save", noted)
        os.environ["MASTER_PORT"] = str(port + number)  # the one before may not be free yet
        sys.argv = ["muse", *arguments(folder, f"shared.{name}", name)]
        try:
            cli.main()
        except SystemExit as ended:
            assert not ended.code
    (folder / f"seen.{rank}.json").write_text(json.dumps(seen))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what two processes made of it together."""
    folder = tmp_path_factory.mktemp("processes")
    toy_space(folder / "space")
    write_text(folder / "text.tsv", toy_text())
    environment = {
        **os.environ, "WORLD_SIZE": str(COUNT), "MASTER_ADDR": "127.0.0.1", "OMP_NUM_THREADS": "1",
        "MASTER_PORT": str(35_000 + os.getpid() % 5_000), "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.test_systems_word_encoders", str(folder)]
    started = []
    for rank in map(str, range(COUNT)):
        with (folder / f"out.{rank}").open("w") as out:
            own = {**environment, "RANK": rank, "LOCAL_RANK": rank}
            started.append(subprocess.Popen(command, env=own, stdout=out))  # noqa: S603
    assert [process.wait(300) for process in started] == [0] * COUNT
    return folder


def rows(folder: Path) -> dict[str, Any]:
    with np.load(folder / "arrays.npz") as arrays:
        return dict(arrays)


@pytest.mark.parametrize("encoder", WORD_ENCODERS)
def test_processes_share_every_batch_and_the_first_one_writes(files: Path, encoder: str) -> None:
    seen = [json.loads((files / f"seen.{rank}.json").read_text())[encoder] for rank in range(COUNT)]
    assert [one["rows"] for one in seen] == [EPOCHS * TRAINING // COUNT] * COUNT
    assert [one["saved"] for one in seen] == [1, 0]
    first, second = ((files / f"out.{rank}").read_text() for rank in range(COUNT))
    assert (len(first.splitlines()), second) == (len(WORD_ENCODERS), "")
    assert not list(files.glob(".*"))  # no checkpoint stays


@pytest.mark.parametrize("encoder", WORD_ENCODERS)
def test_processes_make_the_encoder_that_one_makes(files: Path, tmp_path: Path, encoder: str) -> None:
    request = TrainingRequest(
        toy_space(tmp_path / "space"), "fr", tmp_path / "alone", parallel=(files / "text.tsv",),
        trainer={"epochs": EPOCHS, "batch": 20, "rate": 0.01}, config={"chosen": LossChoice("softmax")},
    )  # fmt: skip
    trained = train_system(encoder, request, Runtime())
    expected, found = rows(tmp_path / "alone"), rows(files / f"shared.{encoder}")
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-3, atol=1e-4)
    printed = json.loads((files / "out.0").read_text().splitlines()[WORD_ENCODERS.index(encoder)])
    assert printed["encoder"] == trained.encoder.name
    np.testing.assert_allclose(
        printed["loss_curve"], [epoch.loss for epoch in trained.fitted.epochs[1:]], rtol=1e-4
    )


@pytest.mark.parametrize(
    ("chosen", "default", "expected"),
    [
        (LossChoice(), LossChoice("squared", margin=10.0), "squared-random:10"),
        (LossChoice(margin=3.0), LossChoice("squared", margin=10.0), "squared-random:3"),
        (LossChoice("squared"), LossChoice("squared", margin=10.0), "squared-random:10"),
        (LossChoice("rank"), LossChoice("squared", margin=10.0), "euclid-random:0.2"),
        (LossChoice(weight=0.5), LossChoice("align"), "align:0.5"),
        (LossChoice("softmax", margin=0.1, scale=7), LossChoice("align"), "softmax:0.1:7"),
    ],
)
def test_a_loss_is_the_encoder_s_own_unless_another_is_chosen(
    chosen: LossChoice, default: LossChoice, expected: str
) -> None:
    assert str(chosen.after(default).loss()) == expected


def test_a_request_is_checked_from_python_too(tmp_path: Path) -> None:
    write_text(tmp_path / "text.tsv", toy_text())
    parallel = (tmp_path / "text.tsv",)
    bad: list[tuple[dict[str, Any], str]] = [
        ({}, "needs --parallel to train on"),
        ({"parallel": parallel * 3}, "--parallel takes one file, or --source and --target; got 3"),
        ({"parallel": parallel, "preset": "paper"}, "preset of x-cbow must be one of small; got 'paper'"),
        ({"parallel": parallel, "config": {"power": 1}}, "one of default, chosen, powers; got 'power'"),
        ({"parallel": parallel, "trainer": {"pace": 1}}, "one of epochs, .*; got 'pace'"),
        ({"parallel": parallel, "config": {"powers": (0.0,)}}, "p = 0"),
        ({"parallel": parallel, "nli": parallel[0]}, "x-cbow does not use --nli"),
        ({"parallel": parallel, "core": tmp_path}, "takes no --core"),
    ]
    space = toy_space(tmp_path / "space")
    for given, message in bad:
        with pytest.raises(BadSetting, match=message):
            train_system("x-cbow", TrainingRequest(space, "fr", tmp_path / "out", **given), Runtime())
    assert not (tmp_path / "out").exists()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
