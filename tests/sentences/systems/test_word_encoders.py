"""Encoders of words: several processes share every batch and write one folder, as one process would."""

import json
import math
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.run.runtime import Runtime
from muse.sentences.commands.train import WORD_ENCODERS
from muse.sentences.encoders.words import TrainedEncoder
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.sentences.training.losses import LossChoice
from muse.sentences.training.pair_learner import PairLearner
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.processes import run_together

COUNT, TRAINING = 2, 380  # processes; pairs that are not held out
EPOCHS = 2


def arguments(folder: Path, out: str, encoder: str) -> list[str]:
    """The run of one encoder, in batches that are shared evenly, by a loss that draws no negatives."""
    quick = ["--epochs", EPOCHS, "--batch", 20, "--rate", 0.01, "--loss", "softmax"]
    text = ["--encoder", encoder, "--lang", "fr", "--parallel", folder / "text.tsv"]
    given = [*text, *quick, "--out", folder / out, "--threads", 1, "--device", "cpu", "--json"]
    return [str(part) for part in ("train", folder / "space", *given)]


def work(folder: Path, encoder: str) -> None:
    """What each of several processes does: runs muse train, and keeps what it saw and wrote."""
    from muse import cli

    rank, seen = os.environ["RANK"], {"rows": 0, "saved": 0}
    loss, save = PairLearner.loss, TrainedEncoder.save

    def counted(self: PairLearner, rows: Any, generator: Any) -> Any:
        seen["rows"] += len(rows)
        return loss(self, rows, generator)

    def noted(self: TrainedEncoder, out: Path) -> None:
        seen["saved"] += 1
        save(self, out)

    patched = pytest.MonkeyPatch()
    patched.setattr(PairLearner, "loss", counted)
    patched.setattr(TrainedEncoder, "save", noted)
    patched.setattr(sys, "argv", ["muse", *arguments(folder, f"shared.{encoder}", encoder)])
    with (folder / f"{encoder}.out.{rank}").open("w") as out:
        patched.setattr(sys, "stdout", out)
        try:
            cli.main()
        except SystemExit as ended:
            assert not ended.code
    (folder / f"{encoder}.seen.{rank}.json").write_text(json.dumps(seen))


# One of the three in the usual run; the module that is trained and its loss are all that differs.
QUICK, *OTHERS = WORD_ENCODERS
ENCODERS = [QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("processes")
    toy_space(folder / "space")
    write_text(folder / "text.tsv", toy_text())
    return folder


@pytest.fixture(scope="module", params=ENCODERS)
def encoder(request: pytest.FixtureRequest, files: Path) -> str:
    name: str = request.param
    run_together(partial(work, encoder=name), files, COUNT)
    return name


def rows(folder: Path) -> dict[str, Any]:
    with np.load(folder / "arrays.npz") as arrays:
        return dict(arrays)


@pytest.mark.slow
def test_processes_share_every_batch_and_the_first_one_writes(files: Path, encoder: str) -> None:
    seen = [json.loads((files / f"{encoder}.seen.{rank}.json").read_text()) for rank in range(COUNT)]
    assert [one["rows"] for one in seen] == [EPOCHS * TRAINING // COUNT] * COUNT
    assert [one["saved"] for one in seen] == [1, 0]
    first, second = ((files / f"{encoder}.out.{rank}").read_text() for rank in range(COUNT))
    assert (len(first.splitlines()), second) == (1, "")
    assert not list(files.glob(".*"))  # no checkpoint stays


@pytest.mark.slow
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
    printed = json.loads((files / f"{encoder}.out.0").read_text())
    assert printed["encoder"] == trained.encoder.name
    np.testing.assert_allclose(printed["loss_curve"], [epoch.loss for epoch in trained.epochs[1:]], rtol=1e-4)


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
        ({"further": {"de": parallel[0]}}, "needs --parallel of fr, the --lang, to train on"),
        ({"parallel": parallel * 3}, "--parallel takes one file, or --source and --target; got 3"),
        ({"parallel": parallel, "preset": "paper"}, "preset of x-cbow must be one of small; got 'paper'"),
        ({"parallel": parallel, "config": {"power": 1}}, "chosen, powers, dropout; got 'power'"),
        ({"parallel": parallel, "trainer": {"pace": 1}}, "one of epochs, .*; got 'pace'"),
        ({"parallel": parallel, "config": {"powers": (math.nan,)}}, "a power must be a number"),
        ({"parallel": parallel, "nli": parallel[0]}, "x-cbow does not use --nli"),
        ({"parallel": parallel, "backbone": tmp_path}, "takes no --backbone"),
    ]
    space = toy_space(tmp_path / "space")
    with pytest.raises(BadSetting, match="--loss align has no minimum where both"):
        request = TrainingRequest(
            space, "fr", tmp_path / "out", parallel=parallel, config={"chosen": LossChoice("align")}
        )
        train_system("cvm-add", request, Runtime())
    for given, message in bad:
        with pytest.raises(BadSetting, match=message):
            train_system("x-cbow", TrainingRequest(space, "fr", tmp_path / "out", **given), Runtime())
    assert not (tmp_path / "out").exists()
