"""Classification of inferences by the encoders that can, and refusal by all others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from muse.errors import BadSetting, Mismatch
from muse.progress import Progress
from muse.sentences.files.nli import read_nli
from muse.sentences.loading import load_encoder
from muse.sentences.systems.nli.infersent import InferSent
from muse.sentences.systems.nli.pair_classes import classify
from muse.space import load_space
from tests.sentences.systems.nli.test_nli import detection, files, infersent, opened
from tests.support.command import Command, refused

__all__ = ["files"]  # a fixture
QUIET = Progress(quiet=True)


def test_labels_are_those_of_the_classifier_and_unread_pairs_have_none(muse: Command, files: Path) -> None:
    assert muse(*infersent(files, "-q")).code == 0
    encoder = opened(files, "out")
    rng = np.random.default_rng(0)
    first, second = (
        [" ".join(f"en{i}" for i in rng.integers(60, size=4)) for _ in range(600)] for _ in range(2)
    )
    first[7] = second[300] = "nosuch"
    found = classify(encoder, first, second, "en", progress=QUIET)
    assert classify(encoder, ["unknown"], ["unknown"], "en", progress=QUIET).tolist() == [-1]
    assert np.flatnonzero(found < 0).tolist() == [7, 300]
    network = encoder.network
    assert isinstance(network, InferSent)
    u, v = (torch.from_numpy(encoder.encode(side, "en").matrix) for side in (first, second))
    with torch.no_grad():
        expected = network.classifier(u, v).argmax(dim=1).numpy()
    assert (found == expected)[found >= 0].all()
    assert len(set(found.tolist())) == 4


def test_who_cannot_classify_inferences(muse: Command, files: Path) -> None:
    assert muse(*detection(files, "-q")).code == 0
    space = load_space(files / "space")
    for encoder in (opened(files, "td"), load_encoder("mean", space)):
        with pytest.raises(BadSetting, match="trained with --nli"):
            classify(encoder, ["en1"], ["en2"], "en", progress=QUIET)


def test_the_command_evaluates_the_test_part_alone(muse: Command, files: Path, tmp_path: Path) -> None:
    assert muse(*infersent(files, "-q")).code == 0
    header, *lines = (files / "nli.txt").read_text(encoding="utf-8").splitlines()
    start: list[object] = ["evaluate", files / "space", "--task", "nli", "--encoder", files / "out"]
    found = muse(*start, "--pairs", files / "nli.txt", "--src", "en", "--json").json
    text = read_nli(files / "nli.txt").part("test")
    right = (
        classify(opened(files, "out"), text.premises, text.hypotheses, "en", progress=QUIET) == text.labels
    )
    assert found["pairs"] == len(text.labels) < len(lines)
    assert found["accuracy"] == 100 * right.mean()
    dev = [line for line in lines if line.split("\t")[0].endswith("7")]
    (tmp_path / "dev.tsv").write_text("\n".join([header, *dev]) + "\n", encoding="utf-8")
    refused(muse(*start, "--pairs", tmp_path / "dev.tsv", "--src", "en"), "pairs of the test part are needed")
    with pytest.raises(Mismatch, match="train part"):
        read_nli(tmp_path / "dev.tsv").part("train")
    assert muse(*start, "--pairs", files / "nli.txt").code == 2  # no --src
    assert muse(*start, "--src", "en").code == 2  # no --pairs
    refused(muse(*start, "--pairs", files / "nli.txt", "--src", "xx"), "'xx'")
