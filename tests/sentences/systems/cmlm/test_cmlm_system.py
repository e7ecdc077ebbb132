"""CMLM through muse train: its stages, what is saved, going on after a kill, and bad input."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

from muse.progress import Progress
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.saving import read_encoder
from muse.sentences.files.nli import Inference, read_nli
from muse.sentences.loading import load_encoder
from muse.sentences.systems.cmlm import cmlm_system
from muse.sentences.systems.cmlm.predictor import CmlmConfig, CmlmEncoder, Words
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.networks import masked_prediction
from muse.sentences.systems.nli import pair_classes
from muse.sentences.training import trainer
from muse.sentences.training.losses import Softmax
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.trainer import TrainerConfig
from muse.space import load_space
from tests.sentences.systems.cmlm.test_cmlm import SMALL, generator, topical
from tests.support.command import Command, refused, refused_leaving, tree
from tests.support.parallel import WORDS, part_of, toy_space, toy_text, write_text
from tests.support.spaces import saved
from tests.support.toy_training import set_options, texts_of

QUIET = Progress(quiet=True)
LABELS = ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a space, parallel text, documents of both languages, and inferences of the pivot."""
    toy_space(tmp_path / "space")
    write_text(tmp_path / "text.tsv", toy_text(200))
    for name in ("en", "fr"):
        lines = [f"{document}\t{line}\n" for document, text in topical(name).items() for line in text]
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
    rows = [
        f"{i}\t{en}\t{' '.join(reversed(en.split()))}\t{LABELS[i % 3]}\t{part_of(i)}\n"
        for i, (en, _) in enumerate(toy_text(40))
    ]
    (tmp_path / "nli.txt").write_text(
        "pair_ID\tsentence_A\tsentence_B\tentailment_judgment\tSemEval_set\n" + "".join(rows)
    )
    return tmp_path


def good(files: Path, *more: object) -> list[object]:
    config = {name: getattr(SMALL, name) for name in ("heads", "hidden", "feed_forward", "longest", "warmup")}
    settings = set_options(**config)
    quick = ["--epochs", 2, "--batch", 32, *settings]
    texts = texts_of(files, "tsv")
    plain = ["train", files / "space", "--encoder", "cmlm", "--lang", "fr", *texts]
    return [*plain, *quick, "--out", files / "out", *more]


def test_by_neighbours_alone(muse: Command, files: Path) -> None:
    found = muse(*good(files, "--json", "--set", "longest=4")).json
    assert (found["encoder"], found["metric"], found["epochs"]) == ("cmlm", "masked accuracy", 2)
    # Of eighteen documents of twenty in each language: twelve paragraphs of five words, read as 3 + 2.
    assert found["neighbours"] == 2 * 18 * 23
    assert found["truncated"] == 0
    assert found["loss_curve"][1] < found["loss_curve"][0]
    encoder = load_encoder(files / "out", load_space(files / "space"))
    encoded = encoder.encode(["fr1 fr2 fr3 fr4 fr5", "", "fr1 nosuch"], "fr")
    assert (encoded.matrix.shape, encoded.empty, encoded.unknown, encoded.truncated) == ((3, 16), 1, 1, 1)
    with np.load(files / "out" / "arrays.npz") as arrays:
        assert not any("_rows" in name for name in arrays.files)  # the space has the words


def test_by_translations_and_inference_too(muse: Command, files: Path) -> None:
    more = ["--parallel", files / "text.tsv", "--nli", files / "nli.txt"]
    found = muse(*good(files, "--json", *more)).json
    assert (found["encoder"], found["metric"]) == ("cmlm[br,nli]", "accuracy")
    assert (found["pairs"], found["inferences"], found["held_out"]) == (190, 56, 8)
    twin = muse(*good(files, "--json", *more, "--epochs", 0)).json
    assert (twin["encoder"], twin["epochs"]) == ("cmlm[br,nli]", 0)


@pytest.mark.parametrize(("strategy", "count"), [("staged", 2), ("joint", 1), ("sequential", 2)])
def test_the_strategies(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, count: int
) -> None:
    stages = []

    def counted(*given: Any, **named: Any) -> Any:
        stages.append(given)
        return trainer.train(*given, **named)

    monkeypatch.setattr("muse.sentences.systems.system.train", counted)
    more = ["--parallel", files / "text.tsv", "--set", f"strategy={strategy}"]
    found = muse(*good(files, "--json", "--epochs", 1, *more)).json
    assert (found["encoder"], found["metric"], len(stages)) == ("cmlm[br]", "P@1", count)


def test_batches_too_small_for_a_later_stage_are_refused_before_the_first(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PairLearner, "fewest", 999)
    monkeypatch.setattr(cmlm_system.CmlmLearner, "held_out", lambda _: pytest.fail("a stage began"))
    more = ["--parallel", files / "text.tsv", "--set", "strategy=sequential"]
    refused_leaving(files, muse, good(files, *more), "a batch must have at least 999 pairs")


def test_words_are_hidden_by_the_share_in_training_and_in_scores(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide, shares = masked_prediction.hide, dict[bool, list[float]]({True: [], False: []})

    def noted(ids: Tensor, *given: Any) -> Any:
        cloze = hide(ids, *given)
        shares[torch.is_grad_enabled()].append(len(cloze.answers) / int((ids > 0).sum()))
        return cloze

    monkeypatch.setattr(masked_prediction, "hide", noted)
    assert muse(*good(files, "-q", "--epochs", 1, "--set", "share=0.6")).code == 0
    for found in shares.values():  # of five words three
        assert np.mean(found) == pytest.approx(0.6, abs=0.02)


def test_each_stage_has_its_own_trainer_and_loss(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[tuple[Any, TrainerConfig]] = []

    def noted(learner: Any, config: TrainerConfig, **named: Any) -> Any:
        stages.append((learner, config))
        return trainer.train(learner, replace(config, epochs=0), **named)

    monkeypatch.setattr("muse.sentences.systems.system.train", noted)
    sizes = {"alpha": 0.7, "margin": 0.1, "scale": 7, "tuning_rate": 3e-4, "tuning_optimiser": "lamb"}
    settings = set_options(**sizes)
    more = ["--parallel", files / "text.tsv", "--nli", files / "nli.txt", "--rate", 0.004]
    assert muse(*good(files, "-q", *more, *settings)).code == 0
    assert [(config.rate, config.optimiser) for _, config in stages] == [
        (0.004, "adam"), (0.004, "adam"), (3e-4, "lamb"),
    ]  # fmt: skip
    cotrained = stages[1][0]
    assert isinstance(cotrained, cmlm_system.Cotrained)
    assert cotrained._alpha == 0.7
    assert isinstance(cotrained.bitext, PairLearner)
    assert cotrained.bitext._loss == Softmax(0.1, 7)


def test_pieces_are_learned_and_saved(muse: Command, files: Path) -> None:
    pytest.importorskip("tokenizers")
    found = muse(*good(files, "--json", "--epochs", 1, "--set", "pieces=60")).json
    assert found["encoder"] == "cmlm"
    encoder = load_encoder(files / "out", load_space(files / "space"))
    rows = encoder.encode(["fr1 fr2", "en1"], "fr").matrix
    assert rows.shape == (2, 16)
    assert rows.any(axis=1).all()


def test_a_word_is_glossed_by_its_nearest(files: Path) -> None:
    space = load_space(files / "space")
    gloss = cmlm_system.glossed(("en3", "nosuch"), space, ("en", "fr"))
    rows = {name: space.vectors(name) for name in ("en", "fr")}
    nearest = (rows["en"].matrix[3] @ rows["fr"].matrix.T).argmax()
    assert gloss == [rows["fr"].words[nearest], "nosuch"]


def spelled(sentences: Ragged, words: Words) -> list[str]:
    """Sentences from their ids: the words of the space are fr0, fr1, and so on."""
    names = {ids[i]: f"{name}{i}" for name, ids in words.predictable.items() for i in range(len(ids))}
    parts = torch.split(sentences.ids, sentences.lengths.tolist())
    return [" ".join(names[one] for one in part.tolist()) for part in parts]


SAID = {  # premises, then hypotheses; the numbers of the words say that none glosses another
    "en": ("1 2", "3", "5", "4", "6 7", "8"),
    "fr": ("9", "10", "11 1", "12", "13", "14"),
    "de": ("15", "16 17", "18", "19", "20", "21"),
}


@pytest.mark.parametrize("given", [("fr",), ("de",), ("fr", "de")])
def test_translations_take_the_place_of_glosses(tmp_path: Path, given: tuple[str, ...]) -> None:
    space = saved(tmp_path / "space", "fr", "de", plain=True)
    words = Words.of(CmlmConfig(asked=0), space, ("en", "fr", "de"), None)
    encoder, labels = CmlmEncoder(SMALL, words, generator()), (0, 1, 2)
    said = {
        name: [" ".join(f"{name}{n}" for n in one.split()) for one in SAID[name]] for name in ("en", *given)
    }
    parts = ("train", "train", "dev")
    texts = {name: Inference((*both[:3],), (*both[3:],), labels, parts, 0) for name, both in said.items()}
    pairs = cmlm_system.inferences(texts, space, ("en", "fr"), encoder, QUIET)
    if "fr" not in given:
        said["fr"] = cmlm_system.glossed(said["en"], space, ("en", "fr"))
    expected = [
        (said[first][row], said[second][3 + row], labels[row])
        for row in range(3)
        for other in said.keys() - {"en"}
        for first, second in (("en", other), (other, "en"))
    ]
    batches = [pairs.training(torch.arange(len(pairs)), generator()), *pairs.held_out()]
    found = [
        row
        for batch in batches
        for row in zip(
            spelled(batch.first, words), spelled(batch.second, words), batch.labels.tolist(), strict=True
        )
    ]
    assert sorted(found) == sorted(expected)
    assert len(pairs) == 2 * 2 * (len(said) - 1)


def write_translation(files: Path, shift: int = 20) -> Path:
    """Writes nli.fr.txt, in which the word i of nli.txt is the word i + shift of fr."""

    def other(word: re.Match[str]) -> str:
        return f"fr{(int(word[1]) + shift) % WORDS}"

    (files / "nli.fr.txt").write_text(re.sub(r"en(\d+)", other, (files / "nli.txt").read_text()))
    return files / "nli.fr.txt"


def test_the_command_learns_from_translated_inferences(muse: Command, files: Path) -> None:
    translation = ["--nli", files / "nli.txt", "--nli", f"fr={write_translation(files)}"]
    found = muse(*good(files, "--json", "--epochs", 0, *translation)).json
    name = "cmlm[nli,translated:fr]"  # another than that of an encoder of glosses
    assert (found["encoder"], found["inferences"], found["held_out"]) == (name, 56, 8)
    assert load_encoder(files / "out", load_space(files / "space")).name == name
    assert "nli.txt@" in found["signature"] and "nli.fr.txt@" in found["signature"]


def test_translated_inferences_that_do_not_fit(muse: Command, files: Path) -> None:
    plain, french = ["--nli", files / "nli.txt"], write_translation(files)
    lines = french.read_text().splitlines()
    (files / "short.txt").write_text("\n".join(lines[:-3]) + "\n")
    (files / "shuffled.txt").write_text("\n".join([*lines[:4], *lines[5:], lines[4]]) + "\n")
    for file, parts in (
        ("short.txt", ["nli.txt:39", "got 37 for 40"]),
        ("shuffled.txt", ["shuffled.txt:5", "nli.txt:5"]),
    ):
        refused_leaving(files, muse, good(files, *plain, "--nli", f"fr={files / file}"), *parts)
    refused(muse(*good(files, "--nli", f"fr={french}")), "translates pairs of en, got none", code=2)
    refused(muse(*good(files, *plain, "--nli", f"en={french}")), "a language other than the pivot, got en")
    refused(muse(*good(files, *plain, "--nli", f"de={french}")), "'de'")
    twice = [*plain, "--nli", f"fr={french}", "--nli", f"fr={french}"]
    refused(muse(*good(files, *twice)), "--nli needs each language once, got fr twice", code=2)
    start = ["train", files / "space", "--lang", "fr", "--out", files / "out", *twice[:-2], "--encoder"]
    for system, name in (("lens", "lens"), ("infersent", "infersent"), ("xlm", "xlm --nli")):
        told = f"{name} uses no translations of inferences; leave out --nli fr=FILE"
        refused(muse(*start, system), told, code=2)


def test_the_classifier_of_inferences_is_saved_and_evaluated(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learners: list[Any] = []

    def noted(learner: Any, *given: Any, **named: Any) -> Any:
        learners.append(learner)
        return trainer.train(learner, *given, **named)

    monkeypatch.setattr("muse.sentences.systems.system.train", noted)
    rates = "--rate", 0.01, "--set", "tuning_rate=0.01"
    found = muse(*good(files, "--json", "--nli", files / "nli.txt", "--epochs", 3, *rates)).json
    space, text = load_space(files / "space"), read_nli(files / "nli.txt")
    encoder = load_encoder(files / "out", space)
    network = cast(NetworkEncoder, encoder).network
    assert isinstance(network, pair_classes.WithClassifier)
    again = cmlm_system.inferences(
        {"en": text}, space, ("en", "fr"), cast(CmlmEncoder, network.network), QUIET
    )
    assert (
        pair_classes.PairClassLearner(network, again).held_out().score
        == found["score"]
        > found["score_by_epoch"][0]
    )
    asked: list[object] = ["evaluate", files / "space", "--task", "nli", "--pairs", files / "nli.txt"]
    told = muse(*asked, "--src", "en", "--encoder", files / "out", "--json").json
    test = text.part("test")
    u, v = (encoder.encode(side, "en").matrix for side in (test.premises, test.hypotheses))
    head = read_encoder(files / "out").arrays
    for name, trained in learners[-1].network.head.named_parameters():
        np.testing.assert_array_equal(head[f"head.{name}"], trained.detach())
    (w, b), (top, c) = ([head[f"head.layers.{n}.{x}"] for x in ("weight", "bias")] for n in (0, 3))
    logits = np.tanh(np.hstack([u, v, abs(u - v), u * v]) @ w.T + b) @ top.T + c
    assert told["accuracy"] == 100 * float((logits.argmax(axis=1) == test.labels).mean())
    assert told["pairs"] == len(test.labels) == 8
    french = muse(*asked, "--src", "fr", "--encoder", files / "out")
    assert french.code == 0  # it was trained for both languages


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("en1 en2\nen3\n", ["en.tsv:1", "document"]),
        ("a\ten1\nb\ten2\n", ["two or more paragraphs"]),
        ("a\ten1\na\ten2\n", ["at least two documents"]),
        ("a\ten1\na\t?\nb\t?\nb\ten2\n", ["adjacent paragraphs"]),
    ],
)
def test_text_without_neighbours_is_told_what_is_needed(
    muse: Command, files: Path, text: str, parts: list[str]
) -> None:
    (files / "en.tsv").write_text(text)
    before = tree(files)
    refused(muse(*good(files)), *parts)
    assert tree(files) == before


def test_without_text(muse: Command, files: Path) -> None:
    plain = ["train", files / "space", "--encoder", "cmlm", "--lang", "fr", "--out", files / "out"]
    refused(muse(*plain), "cmlm needs --text to train on, got none", code=2)
