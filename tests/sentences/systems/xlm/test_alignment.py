"""A tuned XLM and its aligned copy: what learns, what stays fixed, and the run by commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from muse.run.seeds import generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.nli.pair_classes import PairClassLearner, WithClassifier
from muse.sentences.systems.xlm.language_model import XlmConfig
from muse.sentences.systems.xlm.tuning import AlignedCopy, TuningConfig, tuned
from muse.sentences.training.losses import Align, PairLearner, draw_negatives
from tests.sentences.systems.xlm.test_tuning import inferences, network, pretrained, tuning
from tests.sentences.systems.xlm.test_xlm import TINY, files
from tests.support.command import Command, refused_leaving
from tests.support.killed import killed_at

__all__ = ["files", "pretrained"]  # fixtures
APART = ("--set", "reads=apart", "--set", "hidden=32")
ENGLISH = Ragged.of([[2, 9, 8, 3], [2, 7, 3], [2, 6, 10, 3]])
FRENCH = Ragged.of([[2, 6, 3], [2, 11, 12, 13, 3], [2, 9, 3]])


def copied(dropout: float = 0.0) -> AlignedCopy:
    """An untrained network and its copy, which learns fr."""
    xlm = network(XlmConfig(**{**vars(TINY), "dropout": dropout})).xlm
    whole = tuned(xlm, TuningConfig(reads="apart", hidden=8), generator_for(2))
    assert isinstance(whole, WithClassifier)
    return AlignedCopy(whole, ["fr"])


def loss(pair: AlignedCopy) -> torch.Tensor:
    """L_align of three sentences and their translations."""
    keys, sides = torch.arange(3), pair.both((ENGLISH, FRENCH), ("en", "fr"), generator_for(0))
    return Align(0.25)(*sides, draw_negatives(keys, keys, generator_for(0)))


def test_the_copy_begins_as_the_original_and_alone_learns() -> None:
    pair = copied().eval()
    expected = pair.original(FRENCH, "fr")
    torch.testing.assert_close(pair(FRENCH, "fr"), expected)
    loss(pair).backward()  # type: ignore[no-untyped-call]
    moved = {name for name, value in pair.named_parameters() if value.grad is not None and value.grad.any()}
    assert moved == {name for name, value in pair.named_parameters() if value.requires_grad}
    assert {name.partition(".")[0] for name in moved} == {"copied"}
    with torch.no_grad():
        for value in pair.copied.parameters():
            value.mul_(1.1)
    torch.testing.assert_close(pair.original(FRENCH, "fr"), expected)
    assert not torch.allclose(pair(FRENCH, "fr"), expected)
    assert torch.equal(pair(ENGLISH, "en"), pair.original(ENGLISH, "en"))
    labels = pair.logits(FRENCH, FRENCH, ("fr", "fr"))
    torch.testing.assert_close(labels, pair.original.classifier(*[pair.copied(FRENCH, "fr")] * 2))


def test_the_original_has_no_dropout_while_the_copy_learns() -> None:
    pair = copied(dropout=0.5).train()
    assert torch.equal(pair(ENGLISH, "en"), pair(ENGLISH, "en"))
    assert not torch.equal(pair(FRENCH, "fr"), pair(FRENCH, "fr"))


def accuracy(muse: Command, folder: Path, language: str) -> float:
    """The accuracy of the tuned encoder on pairs of a language."""
    pairs = inferences(folder / f"{language}.test", language)
    asked = ["--pairs", pairs, "--src", language, "--encoder", folder / "tuned", "--json"]
    return float(muse("evaluate", folder / "space", "--task", "nli", *asked).json["accuracy"])


@pytest.mark.slow
def test_translations_carry_inference_into_another_language(muse: Command, pretrained: Path) -> None:
    assert muse(*tuning(pretrained, *APART)).code == 0
    english, french = (accuracy(muse, pretrained, language) for language in ("en", "fr"))
    alone = np.load(pretrained / "tuned" / "arrays.npz")
    more = ["--parallel", f"fr={pretrained / 'pairs.tsv'}", "--json"]
    more += ["--set", "alignment_batch=16", "--set", "alignment_rate=0.01"]
    found = muse(*tuning(pretrained, *APART, *more)).json
    assert (found["metric"], found["encoder"]) == ("P@1", "xlm[mlm+tlm,nli,apart,align:0.25]")
    assert found["score"] > found["score_by_epoch"][0]
    assert "fr-en" in found["signature"]
    assert accuracy(muse, pretrained, "en") == english  # by the tuned model, as it was
    assert accuracy(muse, pretrained, "fr") > french + 20
    arrays = np.load(pretrained / "tuned" / "arrays.npz")
    prefix = "array.original."
    kept = {f"array.{name.removeprefix(prefix)}": name for name in arrays if name.startswith(prefix)}
    assert {*kept} == {name for name in alone if name.startswith("array.")}
    for name, own in kept.items():
        assert np.array_equal(arrays[own], alone[name]), name


@pytest.mark.slow
def test_a_run_killed_while_it_aligns_goes_on_with_a_lower_rate(
    muse: Command, pretrained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ["--parallel", f"fr={pretrained / 'pairs.tsv'}", "--epochs", 1, "--set", "alignment_epochs=3"]
    killed_at(monkeypatch, PairLearner, 3)
    slower = tuning(pretrained, *APART, *more, "--out", pretrained / "slower")
    assert muse(*slower).code == 130
    assert muse(*slower, "--set", "alignment_rate=1e-5", "--resume").code == 0  # as a diverged run needs


def test_batches_too_small_for_the_processes_are_refused_before_it_is_tuned(
    muse: Command, pretrained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tuned_already(*_: object) -> float:
        pytest.fail("tuning began")

    monkeypatch.setattr(PairLearner, "fewest", 65)
    monkeypatch.setattr(PairClassLearner, "held_out", tuned_already)
    run = tuning(pretrained, *APART, "--parallel", f"fr={pretrained / 'pairs.tsv'}", "--epochs", 1)
    message = "a batch must have at least 65 pairs, negatives of each other, got 64"
    refused_leaving(pretrained, muse, run, message)


def test_bad_input_is_told_and_leaves_nothing(muse: Command, pretrained: Path) -> None:
    pairs = pretrained / "pairs.tsv"

    def bad(more: list[object], *parts: str) -> None:
        refused_leaving(pretrained, muse, tuning(pretrained, *more), *parts)

    bad(["--parallel", f"fr={pairs}"], "reads each apart, got reads=together", "--set reads=apart")
    bad([*APART, "--parallel", f"fr={pretrained / 'nosuch'}"], "nosuch")
    bad([*APART, "--parallel", pairs], "must name the other language", "give --parallel LANG=FILE")
    bad([*APART, "--lang", "fr", "--parallel", pairs], "needs labels in the pivot, en, got --lang fr")
    bad([*APART, "--set", "alignment_rate=0.1"], "alignment_rate=0.1 has no effect without --parallel")
