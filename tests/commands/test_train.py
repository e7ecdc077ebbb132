"""muse train: an encoder comes of it, a killed run goes on, and every bad input is told before training."""

from pathlib import Path
from typing import Any

import pytest

from muse.errors import Mismatch, NotConverged
from muse.options import options_of
from muse.sentences.commands.train import WORD_ENCODERS, TrainOptions
from muse.sentences.encoders.words import TrainedEncoder
from muse.sentences.systems import system
from muse.sentences.training import losses
from tests.support.command import Command, refused, refused_leaving, tree
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.spaces import saved

LOSSES = options_of(TrainOptions)["loss"].choices


@pytest.fixture
def files(tmp_path: Path) -> Path:
    toy_space(tmp_path / "space")
    write_text(tmp_path / "text.tsv", toy_text())
    return tmp_path


def good(files: Path, *more: object, text: str = "text.tsv") -> list[object]:
    quick = ["--epochs", 4, "--batch", 32, "--rate", 0.02]
    plain = ["train", files / "space", "--lang", "fr", "--out", files / "out", *quick]
    return [*plain, *(["--parallel", files / text] if text else []), *more]


@pytest.mark.slow
@pytest.mark.parametrize("encoder", WORD_ENCODERS)
def test_every_encoder(muse: Command, files: Path, encoder: str) -> None:
    found = muse(*good(files, "--encoder", encoder, "--json")).json
    assert (found["out"], found["language"], found["pivot"]) == (str(files / "out"), "fr", "en")
    assert (found["pairs"], found["held_out"], found["skipped"]) == (380, 20, 0)
    assert len(found["loss_curve"]) == found["epochs"] <= 4
    assert len(found["score_by_epoch"]) == found["epochs"] + 1
    assert found["p_at_1"] == max(found["score_by_epoch"]) == found["score_by_epoch"][found["best_epoch"]]
    assert found["p_at_1"] > found["score_by_epoch"][0]
    assert (found["score"], found["metric"]) == (found["p_at_1"], "P@1")
    assert found["loss_curve"][-1] < found["loss_curve"][0]
    assert set(found["seconds"]) == {"load", "training", "save", "total"}
    assert f"encoder:{found['encoder']} | held-out:20 | split:0" in found["signature"]
    assert sorted(path.name for path in files.iterdir()) == ["out", "space", "text.tsv"]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss(muse: Command, files: Path, loss: str) -> None:
    found = muse(*good(files, "--loss", loss, "--json")).json
    assert found["p_at_1"] > found["score_by_epoch"][0]


def test_the_command_line_names_what_there_is() -> None:
    assert (*losses.LOSSES,) == LOSSES


def test_a_projection_with_dropout(muse: Command, files: Path) -> None:
    found = muse(
        *good(files, "--encoder", "projection", "--dropout", 0.5, "--powers=-inf,1,2s", "--json")
    ).json
    assert found["encoder"] == "projection[softmax:0.3:20,dropout:0.5]+power-mean[-inf,1,2s]"
    assert found["p_at_1"] > found["score_by_epoch"][0]
    refused(muse(*good(files, "--dropout", 0.5)), "--dropout is for projection, not for x-cbow.", code=2)
    refused(muse(*good(files, "--encoder", "lens", "--dropout", 0.5)), "--dropout is for x-cbow", code=2)


def test_for_people_and_quietly(muse: Command, files: Path) -> None:
    ended = muse(*good(files, "-q"))
    assert ended.err == ""
    assert ended.out.startswith("P@1 = ")
    assert "before training" in ended.out
    assert "380 pairs, 0 skipped" in ended.out


def test_two_files(muse: Command, files: Path) -> None:
    expected = muse(*good(files, "--json")).json
    for name, column in (("en.txt", 0), ("fr.txt", 1)):
        (files / name).write_text("".join(f"{pair[column]}\n" for pair in toy_text()))
    two = ["--source", files / "fr.txt", "--target", files / "en.txt", "--json"]
    found = muse(*good(files, *two, text="")).json
    assert found["score_by_epoch"] == expected["score_by_epoch"]
    (files / "fr.txt").write_text("fr1\nfr2\n")
    refused(muse(*good(files, *two, text="")), "same number of lines, got 2 in", "fr.txt", "400 in")


BAD_TEXTS = (
    ("en1 en2\n" * 30, ["bad.tsv:1", "expected 2 columns", "got 1"]),
    ("", ["bad.tsv"]),
    ("\n\n", ["bad.tsv", "found none"]),
    ("the cat\tle chat\n" * 30, ["got 0 of 30", "0 of 60 tokens"]),
    ("fr1\ten1\n" * 30, ["distinct sentences"]),  # in whichever order
    ("en1\tfr1\n" * 30, ["distinct sentences"]),
    ("en1\tfr1\n", ["at least 20 pairs", "got 1 of 1"]),
)


def test_text_that_cannot_be_learned_from(muse: Command, files: Path) -> None:
    for content, parts in BAD_TEXTS:
        (files / "bad.tsv").write_text(content)
        refused_leaving(files, muse, good(files, text="bad.tsv"), *parts)


BAD_SETTINGS: dict[str, tuple[list[object], list[str]]] = {
    "lambda": (["--lambda", 0.7], ["lambda must be between 0 and 0.5"]),
    "lambda elsewhere": (["--loss", "hinge", "--lambda", 0.2], ["--lambda", "hinge"]),
    "margin elsewhere": (["--margin", 0.2], ["--margin", "align"]),
    "margin": (["--loss", "rank", "--margin", 0], ["margin must be", "above 0"]),
    "scale elsewhere": (["--loss", "rank", "--scale", 2], ["--scale", "rank"]),
    "rate": (["--rate", -1], ["rate must be", "above 0"]),
    "powers": (["--powers", "nan,1"], ["a power must be a number"]),
    "signed powers": (["--powers", "3s"], ["got 3s"]),
}
WRONG_USAGE = ("lambda elsewhere", "margin elsewhere", "scale elsewhere")


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_settings_are_checked_before_training(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def no_training(*_: Any, **__: Any) -> None:
        raise AssertionError("trained before everything was checked")

    monkeypatch.setattr(system, "make_pairs", no_training)
    more, parts = BAD_SETTINGS[name]
    before = tree(files)
    refused(muse(*good(files, *more)), *parts, code=2 if name in WRONG_USAGE else 1)
    assert tree(files) == before


def test_out_is_something_else(muse: Command, files: Path) -> None:
    saved(files / "other")
    before = tree(files)
    refused(muse(*good(files, "--out", files / "other")), "not a saved encoder", "choose another")
    refused(muse(*good(files, "--out", files / "text.tsv")), "would replace")
    refused(muse(*good(files, "--out", files / "text.tsv" / "deep")), "text.tsv")
    assert tree(files) == before


def test_training_that_breaks_down_leaves_nothing(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise NotConverged("the loss must be a finite number, got nan")

    monkeypatch.setattr(system, "train", broken)
    refused_leaving(files, muse, good(files, "--out", files / "a" / "b"), "finite number")


def test_a_rate_beyond_reason_is_told_and_the_last_good_epoch_kept(muse: Command, files: Path) -> None:
    beyond = good(files, "-q", "--encoder", "cvm-add", "--rate")
    parts = ["finite number", "lower the learning rate", "--resume and a --rate below 1e+30"]
    refused(muse(*beyond, 1e30), *parts)
    kept = tree(files)
    assert ".out.checkpoint/training.npz" in kept
    assert "out" not in kept
    refused(muse(*beyond, 1e30, "--resume"), *parts)
    assert tree(files).keys() == kept.keys()
    found = muse(*beyond, 0.02, "--resume", "--json").json
    assert found["score"] > found["score_by_epoch"][0]
    assert not (files / ".out.checkpoint").exists()


def test_a_resumed_run_that_fails_keeps_what_it_resumed(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def broken(*_: Any, **__: Any) -> None:
        raise Mismatch("the text is of another language")

    with monkeypatch.context() as patched:
        patched.setattr(TrainedEncoder, "save", killed)
        assert muse(*good(files)).code == 130
    kept = tree(files)
    assert ".out.checkpoint/training.npz" in kept
    with monkeypatch.context() as patched:
        patched.setattr(system, "train", broken)
        refused(muse(*good(files, "--resume")), "another language")
    assert tree(files) == kept
    assert muse(*good(files, "-q", "--resume")).code == 0


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--source", "x"],
        ["--parallel", "x", "--source", "x", "--target", "x"],
        ["--parallel", "x", "--powers", "a"],
    ],
)
def test_usage_errors(muse: Command, files: Path, more: list[str]) -> None:
    ended = muse(*good(files, *more, text=""))
    assert ended.code == 2
    assert "Usage: muse train" in ended.err
