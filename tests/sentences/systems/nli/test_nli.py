"""InferSent, translation detection and X-BiLSTM: their mathematics, settings, and classification."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from muse.errors import BadSetting, Mismatch
from muse.progress import Progress
from muse.run.seeds import torch_seeded
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Vocabulary
from muse.sentences.files.nli import read_nli
from muse.sentences.loading import load_encoder
from muse.sentences.systems.backbone import Matrices
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.networks.sentence_rows import POOLINGS, HierarchicalConvolution, Recurrent
from muse.sentences.systems.nli.infersent import (
    InferSent,
    InferSentConfig,
    TranslationExamples,
    XBiLSTM,
    make_infersent,
    sentence_layers,
    within_window,
)
from muse.sentences.systems.nli.pair_classes import PairClassifier, classify, pair_features
from muse.sentences.training import trainer
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.pairs import Pairs, make_pairs
from muse.space import load_space
from tests.support.command import Command, refused, refused_leaving, tree
from tests.support.killed import killed_at
from tests.support.parallel import WORDS, part_of, toy_space, toy_text, write_text
from tests.support.toy_training import set_options

LENGTHS = (4, 1, 3)
HEADER = "pair_ID\tsentence_A\tsentence_B\tentailment_judgment\tSemEval_set\n"


def seeded(units: int, pooling: str, width: int = 5) -> Recurrent:
    with torch_seeded(1):
        return Recurrent("bilstm", width, units, pooling)


def matrices(width: int = 5) -> Matrices:
    """Sentences of several lengths, with numbers in the padding that would be seen."""
    rows = torch.randn(len(LENGTHS), max(LENGTHS), width, generator=torch.Generator().manual_seed(0))
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return Matrices(rows.masked_fill(~mask[..., None], 1e6), mask)


def pooled(found: Tensor, pooling: str, network: Recurrent) -> Tensor:
    """The row of a sentence from its states (T, h)."""
    if pooling == "attention":
        keys = torch.tanh(found @ network.keys.weight.T + network.keys.bias)
        weights = [(keys @ query).softmax(dim=0) for query in network.queries.weight]
        return torch.cat([(weight[:, None] * found).sum(dim=0) for weight in weights])
    return found.amax(dim=0) if pooling == "max" else found.mean(dim=0)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_bilstm_is_pooled_and_padding_changes_no_row(pooling: str) -> None:
    network, (rows, mask) = seeded(7, pooling), matrices()
    lstm = network.get_submodule("lstm")
    assert isinstance(lstm, torch.nn.LSTM)
    found = network(rows, mask)
    assert found.shape == (len(LENGTHS), network.dimension)
    for place, length in enumerate(LENGTHS):
        words = rows[place, :length]
        states = lstm(words)[0]  # (T, 2 units)
        if pooling == "last":
            expected = torch.cat([states[-1, :7], states[0, 7:]])
        else:
            expected = pooled(states, pooling, network)
        torch.testing.assert_close(found[place], expected)
        torch.testing.assert_close(
            found[place : place + 1], network(words[None], mask[place : place + 1, :length])
        )


@pytest.mark.parametrize("network", ["lstm", "gru", "bigru", "convolution"])
def test_other_networks_see_no_padding(network: str) -> None:
    with torch_seeded(1):
        layers = sentence_layers(5, InferSentConfig(network=network, units=7, pooling="last"))
    rows, mask = matrices()
    found = layers(rows, mask)
    assert layers.dimension == {"lstm": 7, "gru": 7, "bigru": 14, "convolution": 8 * 7}[network]
    for place, length in enumerate(LENGTHS):
        alone = layers(rows[place : place + 1, :length], mask[place : place + 1, :length])
        torch.testing.assert_close(found[place : place + 1], alone)


def test_a_convolution_reads_three_words_and_keeps_the_largest_of_every_layer() -> None:
    with torch_seeded(1):
        network = HierarchicalConvolution(5, 2)
    rows, mask = matrices()
    for place, length in enumerate(LENGTHS):
        words, expected = rows[place, :length], []
        for layer in network.layers:
            weight, bias = layer.get_parameter("weight"), layer.get_parameter("bias")
            wide = torch.cat([torch.zeros(1, words.shape[1]), words, torch.zeros(1, words.shape[1])])
            windows = torch.stack([wide[t : t + 3] for t in range(length)])  # (T, 3, K)
            words = torch.relu(torch.einsum("tkd,odk->to", windows, weight) + bias)
            expected.append(words.amax(dim=0))
        torch.testing.assert_close(network(rows, mask)[place], torch.cat(expected))


def test_the_features_and_the_classifier_of_a_pair() -> None:
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 0.5]])
    assert pair_features(u, v).tolist() == [[1, -2, 3, 0.5, 2, 2.5, 3, -1]]
    head = PairClassifier(2, 4, 3, dropout=0.0)
    first, last = (part for part in head.layers if isinstance(part, torch.nn.Linear))
    hidden = torch.tanh(pair_features(u, v) @ first.weight.T + first.bias)
    torch.testing.assert_close(head(u, v), hidden @ last.weight.T + last.bias)


def toy_pairs(text: list[tuple[str, str]]) -> Pairs:
    readers = [Vocabulary(name, {f"{name}{i}": i for i in range(WORDS)}) for name in ("en", "fr")]
    sides = [[pair[side] for pair in text] for side in (0, 1)]
    return make_pairs(
        sides, readers, rng=np.random.default_rng(0), device="cpu", progress=Progress(quiet=True)
    )


def test_wrong_translations_are_others_as_long() -> None:
    pairs = toy_pairs(toy_text())
    examples = TranslationExamples(pairs, ("en", "fr"), seed=0)
    assert len(examples) == 2 * len(pairs.training)
    found = examples.training(torch.arange(len(examples)), torch.Generator().manual_seed(0))
    lengths = found.second.padded().mask.sum(dim=1)
    right, wrong = lengths[: len(pairs.training)], lengths[len(pairs.training) :]
    assert (right - wrong).abs().float().mean() < 0.7  # of 3 to 6 words, and a window of most of the text
    assert found.labels[: len(pairs.training)].all()
    assert not found.labels[len(pairs.training) :].any()
    once, again = ([part.second.ids for part in examples.held_out()] for _ in range(2))
    assert all(map(torch.equal, once, again))


def test_a_translation_that_is_drawn_is_called_one() -> None:
    text = [(f"en{i % 6} en{i % 6 + 1}", f"fr{i} fr{i + 1}") for i in range(36)] + toy_text(60)
    examples = TranslationExamples(toy_pairs(text), ("en", "fr"), seed=0)
    found = examples.training(torch.arange(len(examples)), torch.Generator().manual_seed(0))
    sides = zip(sentences(found.first, "en"), sentences(found.second, "fr"), strict=True)
    assert found.labels.tolist() == [int(pair in text) for pair in sides]
    assert found.labels[len(examples) // 2 :].any()


def sentences(batch: Ragged, name: str) -> list[str]:
    parts = torch.split(batch.ids, batch.lengths.tolist())
    return [" ".join(f"{name}{i}" for i in part.tolist()) for part in parts]


@pytest.mark.parametrize("count", [2, 3, 500])
def test_what_is_drawn_is_another_one_within_the_window(count: int) -> None:
    places = torch.arange(count).repeat(20)
    found = within_window(places, count, torch.Generator().manual_seed(0))
    assert ((found >= 0) & (found < count) & (found != places)).all()
    assert (found - places).abs().max() <= min(100, max(1, count // 2))


def inferences(path: Path, count: int = 300) -> Path:
    """A language of one rule: what has a word twice entails, what has none in common contradicts."""
    rng, lines = np.random.default_rng(0), []
    for number in range(count):
        drawn, label = rng.permutation(WORDS)[:6], number // 10 % 3
        hypothesis = (drawn[:2], [drawn[0], drawn[4]], drawn[4:])[label]
        sides = [" ".join(f"en{i}" for i in words) for words in (drawn[:4], hypothesis)]
        lines.append(
            "\t".join(
                [str(number), *sides, ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")[label], part_of(number)]
            )
        )
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    toy_space(tmp_path / "space")
    write_text(tmp_path / "text.tsv", toy_text())
    inferences(tmp_path / "nli.txt")
    return tmp_path


QUICK = ["--set", "units=8", "--set", "hidden=16", "--set", "optimiser=adam", "--rate", 0.01, "--epochs", 4]


def infersent(files: Path, *more: object) -> list[object]:
    text = ["--encoder", "infersent", "--lang", "en", "--nli", files / "nli.txt"]
    return ["train", files / "space", *text, *QUICK, "--out", files / "out", *more]


def detection(files: Path, *more: object) -> list[object]:
    text = ["--lang", "fr", "--set", "objective=td", "--parallel", files / "text.tsv"]
    return ["train", files / "space", "--encoder", "infersent", *text, *QUICK, "--out", files / "td", *more]


def x_bilstm(files: Path, *more: object) -> list[object]:
    """The same that copies what was learned on inferences."""
    copied = ["--set", f"english={files / 'out'}", "--set", "units=8", "--parallel", files / "text.tsv"]
    text = ["--encoder", "x-bilstm", "--lang", "fr", *copied, "--epochs", 3, "--rate", 0.01, "--batch", 32]
    return ["train", files / "space", *text, "--out", files / "x", *more]


def opened(files: Path, name: str) -> NetworkEncoder:
    found = load_encoder(files / name, load_space(files / "space"))
    assert isinstance(found, NetworkEncoder)
    return found


def test_infersent_learns_is_saved_with_its_classifier_and_goes_on(muse: Command, files: Path) -> None:
    found = muse(*infersent(files, "--json")).json
    assert found["encoder"] == "infersent[nli,max:16,space]"
    assert (found["metric"], found["pairs"], found["held_out"]) == ("accuracy", 210, 30)
    assert found["loss_curve"][-1] < found["loss_curve"][0]
    assert found["parameters"] == 2 * 4 * 8 * (16 + 8 + 2) + 16 * (4 * 16 + 1) + 3 * 17
    encoder = opened(files, "out")
    assert encoder.languages == ("en", "fr")  # its words are those of every language of the space
    rows = encoder.encode(["en1 en2 en3 en4", "en1 en2", "nosuch"], "en")
    assert (rows.matrix.shape, rows.empty) == ((3, 16), 1)
    network = encoder.network
    assert isinstance(network, InferSent)
    assert network.classifier(*torch.from_numpy(rows.matrix[:2, None])).shape == (1, 3)
    assert muse(*infersent(files, "-q", "--out", files / "again")).code == 0
    assert (files / "again" / "arrays.npz").read_bytes() == (files / "out" / "arrays.npz").read_bytes()
    last = muse(*infersent(files, "--json", "--set", "pooling=last", "--epochs", 0)).json
    assert (last["encoder"], last["epochs"]) == ("infersent[nli,last:16,space]", 0)


def test_translation_detection_needs_no_inferences(muse: Command, files: Path) -> None:
    found = muse(*detection(files, "--json")).json
    assert found["encoder"] == "infersent[td,max:16,space]"
    assert (found["pairs"], found["held_out"]) == (380, 40)
    assert found["loss_curve"][-1] < found["loss_curve"][0]


def test_only_words_of_the_batch_move(files: Path) -> None:
    space = load_space(files / "space")
    backbone = make_infersent({"backbone": {}, "network": {"units": 4}}, space)
    network = XBiLSTM(backbone, {"fr": torch.tensor(space.vectors("fr").matrix)})
    pairs = toy_pairs(toy_text())
    network(pairs.other.take(torch.tensor([0, 1])), "fr").sum().backward()  # type: ignore[no-untyped-call]
    words = network.get_parameter("others.fr.words.weight")
    gradient = words.grad
    assert gradient is not None
    touched = set(gradient.coalesce().indices()[0].tolist())
    ends = pairs.other.offsets.tolist()
    assert touched == set(pairs.other.ids[: ends[2]].tolist())
    assert all(p.grad is None for p in network.english.parameters())


def test_bad_input_of_labels_and_texts(muse: Command, files: Path) -> None:
    both = ["--parallel", files / "text.tsv", "--lang", "fr"]
    refused(
        muse(*infersent(files, *both)), "does not use --parallel; leave it out, or --set objective=td", code=2
    )
    td = ["--set", "objective=td"]
    refused(muse(*infersent(files, *td)), "does not use --nli; leave it out, or --set objective=nli", code=2)
    plain = ["train", files / "space", "--encoder", "infersent", "--lang", "fr", "--out", files / "out"]
    refused(muse(*plain), "needs --nli to train on", code=2)
    refused(muse(*plain, *td), "needs --parallel to train on", code=2)
    unread = "known fr words in both sentences, got 0 and 0"
    refused_leaving(files, muse, infersent(files, "--lang", "fr"), unread)
    with (files / "nli.txt").open("a") as stream:
        stream.write("9\ten1\ten2\tMAYBE\tTRAIN\n")
    refused(muse(*infersent(files)), "nli.txt:302", "'MAYBE'")


def test_bad_input_of_x_bilstm(muse: Command, files: Path) -> None:
    assert muse(*infersent(files, "-q", "--epochs", 0)).code == 0
    assert muse(*detection(files, "-q", "--epochs", 0)).code == 0
    before = tree(files)
    refused(muse(*x_bilstm(files, "--set", "english=nosuch")), "nosuch")
    no_folder = [word for word in x_bilstm(files) if not str(word).startswith("english=")]
    no_folder.remove("--set")
    refused(muse(*no_folder), "give --set english=FOLDER")
    refused(muse(*x_bilstm(files, "--set", "units=9")), "of 9 units, got 8", "--set units=8")
    refused(muse(*x_bilstm(files, "--preset", "paper", "--set", "units=512")), "of 512 units, got 8")
    refused(muse(*x_bilstm(files, "--set", "weight=0.6")), "at most 0.5")
    toy_space(files / "space", seed=5)
    refused(muse(*x_bilstm(files)), "checksum")
    toy_space(files / "space")
    assert tree(files) == before
    manifest = files / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"hidden": 16', '"hidden": 17'))
    refused(muse(*x_bilstm(files)), "expected a model of infersent")
    manifest.write_text(manifest.read_text().replace('"infersent"', '"lens"'))
    refused(muse(*x_bilstm(files)), "x-bilstm needs an encoder trained with")


ENGLISH, FRENCH = ([pair[side] for pair in toy_text(20, seed=9)] for side in (0, 1))


def copied_from(muse: Command, files: Path, *settings: str) -> NetworkEncoder:
    """An InferSent encoder of these settings, for the other tests to copy."""
    more = set_options(*settings)
    assert muse(*infersent(files, "-q", "--epochs", 1, *more)).code == 0
    return opened(files, "out")


@pytest.mark.parametrize("words", ["false", "true"])
def test_words_keep_the_rows_of_the_space_or_are_trained(muse: Command, files: Path, words: str) -> None:
    english = copied_from(muse, files).network
    found = muse(*x_bilstm(files, "--json", "--set", f"words={words}")).json
    assert found["best_epoch"] > 0
    network = opened(files, "x").network
    rows = network.get_parameter("others.fr.words.weight").detach().numpy()
    kept = np.array_equal(rows, load_space(files / "space").vectors("fr").matrix)
    assert kept == (words == "false")
    for name, weights in english.get_submodule(
        "encoder"
    ).named_parameters():  # the BiLSTM is trained with both
        assert not torch.equal(network.get_parameter(f"others.fr.encoder.{name}"), weights)


def test_lambda_weighs_the_negatives_and_0_leaves_the_mean_distance(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied_from(muse, files)
    learners, rows = list[PairLearner](), torch.arange(32)

    def noted(learner: PairLearner, *given: Any, **named: Any) -> Any:
        learners.append(learner)
        return trainer.train(learner, *given, **named)

    monkeypatch.setattr("muse.sentences.systems.system.train", noted)
    for weight in (0.0, 0.1, 0.5):
        found = muse(*x_bilstm(files, "--json", "--epochs", 0, "--set", f"weight={weight}")).json
        assert found["encoder"] == f"x-bilstm[max:16,align:{weight:g}]"
    network, pairs = learners[0].network, learners[0].corpus.pairs["fr"]
    with torch.no_grad():
        losses = [one.loss(rows, torch.Generator().manual_seed(0)) for one in learners]
        sides = {"en": pairs.pivot, "fr": pairs.other}
        u, v = (network(side.take(pairs.training[rows]), name) for name, side in sides.items())
    torch.testing.assert_close(losses[0], (u - v).norm(dim=1).mean())
    torch.testing.assert_close((losses[0] - losses[1]) / 0.1, (losses[0] - losses[2]) / 0.5)
    assert losses[0] - losses[2] > losses[0]  # two negatives, farther than the translation


def test_a_run_beside_another_english_encoder_does_not_go_on(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert muse(*infersent(files, "-q", "--epochs", 0)).code == 0
    killed_at(monkeypatch, PairLearner, 2)
    assert muse(*x_bilstm(files, "-q")).code == 130
    kept = tree(files)
    assert muse(*infersent(files, "-q", "--epochs", 0, "--seed", 1)).code == 0
    refused(muse(*x_bilstm(files, "--resume")), "those in", "differ")
    assert muse(*infersent(files, "-q", "--epochs", 0)).code == 0
    assert tree(files) == kept  # what was refused took nothing away
    assert muse(*x_bilstm(files, "-q", "--resume")).code == 0


def test_random_weights_are_not_those_that_english_began_with(muse: Command, files: Path) -> None:
    assert muse(*infersent(files, "-q", "--epochs", 0)).code == 0
    assert muse(*x_bilstm(files, "-q", "--epochs", 0, "--set", "copied=false")).code == 0
    network = opened(files, "x").network
    for name, weights in opened(files, "out").network.get_submodule("encoder").named_parameters():
        own = network.get_parameter(f"others.fr.encoder.{name}")
        assert (own != weights).float().mean() > 0.9


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ((), "max:16"),
        (("pooling=last",), "last:16"),
        (("network=lstm", "pooling=mean"), "lstm-mean:8"),
        (("network=gru", "pooling=attention"), "gru-attention:32"),
        (("network=convolution",), "convolution:64"),
    ],
)
def test_an_infersent_of_any_form_is_copied(
    muse: Command, files: Path, settings: tuple[str, ...], name: str
) -> None:
    english = copied_from(muse, files, *settings)
    expected = {
        language: english.encode(text, language).matrix
        for language, text in (("en", ENGLISH), ("fr", FRENCH))
    }
    found = muse(*x_bilstm(files, "--json", "--epochs", 0)).json
    assert found["encoder"] == f"x-bilstm[{name},align:0.25]"
    # Over the same word vectors a copy of the layers makes the same rows.
    np.testing.assert_allclose(opened(files, "x").encode(FRENCH, "fr").matrix, expected["fr"], atol=1e-6)
    found = muse(*x_bilstm(files, "--json")).json
    assert found["loss_curve"][-1] < found["loss_curve"][0]
    trained = opened(files, "x")
    np.testing.assert_array_equal(trained.encode(ENGLISH, "en").matrix, expected["en"])
    far = [
        np.linalg.norm(one - expected["en"]) for one in (expected["fr"], trained.encode(FRENCH, "fr").matrix)
    ]
    assert far[1] < far[0]


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
