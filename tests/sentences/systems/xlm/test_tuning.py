"""XLM tuned on inferences: its states, commands, and alignment of a copy by translations."""

from pathlib import Path

import numpy as np
import pytest
import torch

from muse.files.space_folder import checksum
from muse.run.seeds import generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.saving import ARRAYS
from muse.sentences.loading import load_encoder
from muse.sentences.systems.networks.transformer import Inputs
from muse.sentences.systems.nli.pair_classes import PairClassLearner, WithClassifier
from muse.sentences.systems.xlm.language_model import XlmConfig
from muse.sentences.systems.xlm.tuning import AlignedCopy, TuningConfig, XlmInference, tuned
from muse.sentences.systems.xlm.tuning import tuned as make_network
from muse.sentences.training.losses import Align, draw_negatives
from muse.sentences.training.pair_learner import PairLearner
from muse.space import load_space
from tests.sentences.systems.xlm.test_xlm import TINY, files, good, made, toy_pieces
from tests.support.command import Command, refused, refused_leaving
from tests.support.killed import killed_at
from tests.support.parallel import part_of

__all__ = ["files"]  # a fixture
LABELS = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")


def network(config: XlmConfig = TINY) -> XlmInference:
    """An untrained network of the toy languages with its linear layer."""
    pytest.importorskip("tokenizers")
    return XlmInference(made(toy_pieces(), config, parallel=False)[0], generator_for(1)).eval()


def sides() -> tuple[Ragged, Ragged]:
    """Premises and hypotheses of several lengths, as pieces."""
    return Ragged.of([[2, 9, 8, 3], [2, 7, 3]]), Ragged.of([[2, 6, 3], [2, 11, 12, 13, 3]])


@pytest.mark.parametrize(("objective", "place"), [("mlm", 0), ("clm", -1)])
def test_the_state_of_both_sentences_is_classified(objective: str, place: int) -> None:
    tuned = network(XlmConfig(**{**vars(TINY), "objective": objective}))
    first, second = sides()
    found = tuned.logits(first, second, ("en", "fr"))
    for row in range(2):
        one, other = (side.take(torch.tensor([row])).ids for side in (first, second))
        tokens, languages = torch.cat([one, other])[None], torch.tensor([[0] * len(one) + [1] * len(other)])
        states = tuned.xlm.model.transformer(Inputs(tokens, languages=languages))
        torch.testing.assert_close(found[row], tuned.head[1](states[0, place]), atol=1e-5, rtol=1e-4)


def test_the_whole_model_is_tuned() -> None:
    pretrained = network().xlm
    tuned = make_network(pretrained, TuningConfig(), generator_for(1)).eval()
    loss = torch.nn.functional.cross_entropy(tuned.logits(*sides(), ("en", "en")), torch.tensor([0, 2]))
    loss.backward()  # type: ignore[no-untyped-call]
    for name, value in tuned.named_parameters():  # several processes wait for the gradient of each
        assert not value.requires_grad or (value.grad is not None and value.grad.any()), name
    assert not pretrained.model.bias.requires_grad  # which predicts pieces


def inferences(path: Path, language: str = "en", count: int = 300) -> Path:
    """Pairs whose hypothesis begins with the word of its label."""
    rng = np.random.default_rng(0)
    lines = ["pair_ID\tsentence_A\tsentence_B\tentailment_judgment\tSemEval_set"]
    for number in range(count):
        label, *words = rng.integers((3, *[60] * 5))
        premise, hypothesis = ([f"{language}{word}" for word in part] for part in (words[:3], words[3:]))
        sentence = " ".join([f"{language}{label}", *hypothesis])
        lines.append(f"{number}\t{' '.join(premise)}\t{sentence}\t{LABELS[label]}\t{part_of(number)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def tuning(files: Path, *more: object) -> list[object]:
    start = ["train", files / "space", "--encoder", "xlm", "--lang", "en", "--out", files / "tuned", "-q"]
    text = ["--nli", files / "en.nli", "--set", f"pretrained={files / 'out'}", "--epochs", 3, "--rate", 0.01]
    return [*start, *text, *more]


@pytest.fixture
def pretrained(muse: Command, files: Path) -> Path:
    """The folder of a pretrained model with the files to tune it on."""
    assert muse(*good(files)).code == 0
    inferences(files / "en.nli")
    return files


def test_it_learns_and_is_evaluated_in_any_language_of_the_model(muse: Command, pretrained: Path) -> None:
    # In 6 epochs it learns with any seed; in 3 one of five seeds still guesses.
    found = muse(*tuning(pretrained, "--json", "--epochs", 6)).json
    assert (found["metric"], found["encoder"]) == ("accuracy", "xlm[mlm+tlm,nli]")
    weights = checksum(pretrained / "out" / ARRAYS)[:4]
    assert f"| gold:en.nli@{checksum(pretrained / 'en.nli')[:4]} |" in found["signature"]
    assert f"| pretrained:out@{weights} |" in found["signature"]
    assert found["score"] > 80 > 50 > found["score_by_epoch"][0]
    space = load_space(pretrained / "space")
    assert load_encoder(pretrained / "tuned", space).encode(["fr1 fr2"], "fr").matrix.any()
    scores = {}
    for language in ("en", "fr"):
        pairs = inferences(pretrained / f"{language}.test", language)
        arguments = ["--pairs", pairs, "--src", language, "--encoder", pretrained / "tuned", "--json"]
        scores[language] = muse("evaluate", pretrained / "space", "--task", "nli", *arguments).json
    assert scores["en"]["accuracy"] > 80
    # Two epochs of toy text align no states: that another language works is for real text to show.
    assert (scores["fr"]["pairs"], scores["fr"]["unread"]) == (60, 0)
    assert "encoder:xlm[mlm+tlm,nli]" in scores["fr"]["signature"]


@pytest.mark.parametrize("place", ["out", "out/tuned"])
def test_the_model_that_is_tuned_is_not_replaced(muse: Command, pretrained: Path, place: str) -> None:
    tuned = tuning(pretrained, "--out", pretrained / place)
    refused_leaving(pretrained, muse, tuned, "--out must be apart from", "choose another --out")


def test_bad_input_is_told_and_leaves_nothing(muse: Command, pretrained: Path) -> None:
    folder = pretrained / "tuned"

    def bad(more: list[object], *parts: str) -> None:
        refused_leaving(pretrained, muse, tuning(pretrained, *more), *parts)

    bad(["--set", "pretrained=nosuch"], "nosuch", "expected a saved encoder")
    bad(["--set", "objective=mlm"], "--set takes one of pretrained, reads, hidden, warmup")
    unused = tuning(pretrained, "--text", "en=x")
    refused_leaving(pretrained, muse, unused, "xlm --nli does not use --text", code=2)
    few = inferences(pretrained / "few.nli", count=1)
    bad(["--nli", few], "known en word pieces in both sentences, got", "of 1 pairs")
    plain = tuning(pretrained)
    place = plain.index("--set")
    refused(muse(*plain[:place], *plain[place + 2 :]), "give --set pretrained=FOLDER")
    assert muse(*plain).code == 0
    bad(["--set", f"pretrained={folder}", "--out", pretrained / "more"], "expected a model trained with xlm")


APART = ("--set", "reads=apart", "--set", "hidden=32")
ENGLISH = Ragged.of([[2, 9, 8, 3], [2, 7, 3], [2, 6, 10, 3]])
FRENCH = Ragged.of([[2, 6, 3], [2, 11, 12, 13, 3], [2, 9, 3]])


def copied(dropout: float = 0.0) -> AlignedCopy:
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


def test_bad_input_of_an_alignment_is_told(muse: Command, pretrained: Path) -> None:
    pairs = pretrained / "pairs.tsv"

    def bad(more: list[object], *parts: str) -> None:
        refused_leaving(pretrained, muse, tuning(pretrained, *more), *parts)

    bad(["--parallel", f"fr={pairs}"], "reads each apart, got reads=together", "--set reads=apart")
    bad([*APART, "--parallel", f"fr={pretrained / 'nosuch'}"], "nosuch")
    bad([*APART, "--parallel", pairs], "must name the other language", "give --parallel LANG=FILE")
    bad([*APART, "--lang", "fr", "--parallel", pairs], "needs labels in the pivot, en, got --lang fr")
    bad([*APART, "--set", "alignment_rate=0.1"], "alignment_rate=0.1 has no effect without --parallel")
