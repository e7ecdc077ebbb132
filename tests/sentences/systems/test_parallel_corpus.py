"""Parallel text of several languages: batches by language, and the systems that take it, by muse train."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from muse.progress import Progress
from muse.run.processes import ALONE
from muse.run.seeds import generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.loading import load_encoder
from muse.sentences.systems.backbone import SpaceBackbone
from muse.sentences.systems.nli.infersent import InferSent, InferSentConfig, XBiLSTM
from muse.sentences.training.losses import Align
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.pairs import ParallelCorpus, make_pairs
from muse.space import load_space
from tests.support.command import Command, refused
from tests.support.toy_training import OTHERS, folder_of_three, set_options, text_of_three


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return folder_of_three(tmp_path)


def learner_of(files: Path) -> tuple[PairLearner, XBiLSTM]:
    space, backbone = load_space(files / "space"), SpaceBackbone(load_space(files / "space"))
    words = {name: torch.tensor(space.vectors(name).matrix) for name in OTHERS}
    network = XBiLSTM(InferSent(backbone, InferSentConfig(units=4)), words)
    text = text_of_three()
    pairs = {
        name: make_pairs(
            list(zip(*text[name], strict=True)), [backbone.reader("en"), backbone.reader(name)],
            rng=np.random.default_rng(0), device="cpu", progress=Progress(quiet=True),
        )
        for name in OTHERS
    }  # fmt: skip
    return PairLearner(network, Align(0.25), ParallelCorpus("en", pairs), ALONE), network


def test_languages_may_be_called_as_modules_may_not(files: Path) -> None:
    space = load_space(files / "space")
    words = {name: torch.tensor(space.vectors("fr").matrix) for name in ("to", "cc.fr.300")}
    network = XBiLSTM(InferSent(SpaceBackbone(space), InferSentConfig(units=4)), words)
    for other in network.others.children():
        other.get_submodule("encoder").load_state_dict(network.english.encoder.state_dict())
    batch = Ragged.of([[1, 2, 3]])
    torch.testing.assert_close(network(batch, "to"), network(batch, "cc.fr.300"))
    assert network(batch, "to").shape == (1, network.dimension)
    assert {key for key in network.state_dict() if ".words." in key} == {
        "others.to%.words.weight", "others.cc%2Efr%2E300.words.weight"
    }  # fmt: skip


def test_every_batch_is_of_one_language_drawn_by_its_share(files: Path) -> None:
    learner, _ = learner_of(files)
    fr = 300 - 15  # a twentieth is held out
    de = learner.examples - fr
    counts: Counter[str] = Counter()
    seen: set[int] = set()
    for epoch in range(60):
        order = torch.randperm(learner.examples, generator=generator_for(epoch))
        batches = learner.batches(order, 10, generator_for(epoch, 1))
        assert len(batches) == learner.examples // 10
        for batch in batches:
            assert (batch < fr).all() or (batch >= fr).all()
            counts["fr" if batch[0] < fr else "de"] += 1
            seen |= set(batch.tolist())
    assert seen == set(range(learner.examples))
    expected = fr**0.7 / (fr**0.7 + de**0.7)
    assert abs(counts["fr"] / counts.total() - expected) < 0.04
    assert all((learner.drawn(5, generator_for(seed)) < learner.examples).all() for seed in range(9))


def test_a_loss_is_that_of_its_language_and_hits_are_of_all(files: Path) -> None:
    learner, network = learner_of(files)
    begin = 300 - 15
    chosen, generator = torch.arange(begin, begin + 6), generator_for(3)
    alone = [
        PairLearner(network, Align(0.25), ParallelCorpus("en", {name: learner.corpus.pairs[name]}))
        for name in OTHERS
    ]
    value = alone[1].loss(chosen - begin, generator_for(3))
    assert torch.equal(learner.loss(chosen, generator), value)
    value.backward()  # type: ignore[no-untyped-call]
    moved = [name for name, p in network.others.named_parameters() if p.grad is not None]
    touched = {name.partition(".")[0] for name in moved}
    assert touched == {"de"}
    hits = [one.held_out().hits or 0 for one in alone]
    assert learner.held_out().hits == sum(hits)
    assert learner.held_out().score == 100 * sum(hits) / (15 + 5)


def both_ways(files: Path) -> list[object]:
    """Parallel text of both languages; that of --lang may go without its name."""
    return ["--lang", "fr", "--parallel", files / "fr.tsv", "--parallel", f"de={files / 'de.tsv'}"]


def test_x_bilstm_of_two_languages(muse: Command, files: Path) -> None:
    start: list[object] = ["train", files / "space", "-q", "--encoder"]
    english = [*start, "infersent", "--lang", "en", "--nli", files / "nli", "--set", "units=4"]
    assert muse(*english, "--epochs", 1, "--out", files / "english").code == 0
    settings = ["--set", "units=4", "--set", f"english={files / 'english'}", "--epochs", 2]
    training = [*start, "x-bilstm", *both_ways(files), *settings]
    found = muse(*training, "--out", files / "out", "--json").json
    assert found["held_out"] == 15 + 5
    assert " | fr+de-en | " in found["signature"]
    assert found["pairs"] == 300 - 15 + 100 - 5 - found["skipped"]
    encoder = load_encoder(files / "out", load_space(files / "space"))
    assert encoder.languages == ("en", "fr", "de")
    french, german = (encoder.encode([f"{name}1 {name}2"], name).matrix for name in OTHERS)
    assert french.any() and german.any() and not np.allclose(french, german)


def test_a_signature_names_the_languages_that_are_scored(muse: Command, files: Path) -> None:
    pytest.importorskip("tokenizers")

    def direction(name: str, *more: object) -> str:
        options = ["--out", files / "out", "--encoder", name, "--lang", "fr", "--epochs", 0, "--batch", 8]
        found = muse("train", files / "space", "-q", "--json", *options, *more).json
        return next(part for part in str(found["signature"]).split(" | ") if part.endswith("-en"))

    texts = [part for name in ("en", *OTHERS) for part in ("--text", f"{name}={files / name}.txt")]
    sizes = set_options("hidden=16", "heads=2", "layers=1")
    xlm = [*texts, *sizes, "--set", "length=16", "--set", "pieces=200", "--set", "objective=mlm"]
    assert direction("xlm", *xlm) == "fr+de-en"
    assert direction("xlm", *xlm, "--set", "judged=de") == "de-en"
    novels = [part for name in OTHERS for part in ("--text", f"{name}={files / name}.novels")]
    cmlm = [*novels, *sizes, "--set", "feed_forward=16", "--set", "warmup=2"]
    assert direction("cmlm", *cmlm) == "fr+de-en"
    assert direction("cmlm", *cmlm, "--parallel", files / "fr.tsv") == "fr-en"


def test_other_systems_take_one_language(muse: Command, files: Path) -> None:
    start = ["train", files / "space", "--out", files / "out", "--encoder"]
    refused(muse(*start, "lens", *both_ways(files)), "lens uses parallel text of --lang alone", code=2)
    twice = [*both_ways(files), "--parallel", f"de={files / 'de.tsv'}"]
    refused(muse(*start, "x-bilstm", *twice), "each language once, got de twice", code=2)
    refused(
        muse(*start, "x-bilstm", *both_ways(files), "--parallel", f"en={files / 'de.tsv'}"),
        "a language other than the pivot",
    )
    alone = ["--lang", "fr", "--parallel", f"de={files / 'de.tsv'}"]
    refused(muse(*start, "xlm", *alone, "--text", f"fr={files}/fr.txt"), "mlm+tlm needs --parallel", code=2)
