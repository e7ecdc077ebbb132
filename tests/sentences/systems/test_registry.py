"""Every system through muse train: saved, loaded, resumed; bad input is told before training."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from muse.errors import BadSetting
from muse.options import options_of
from muse.sentences.commands import train as commands
from muse.sentences.commands.train import WORD_ENCODERS
from muse.sentences.loading import load_encoder
from muse.sentences.systems.bgt.latent_network import BgtNetwork
from muse.sentences.systems.lens import Lens
from muse.sentences.systems.nli.infersent import InferSent, InferSentConfig, sentence_layers
from muse.sentences.systems.registry import SAVED, SYSTEMS
from muse.sentences.training.trainer import Training
from muse.space import load_space
from tests.support.bgt import given_ids, parameter_count
from tests.support.command import Command, refused, refused_leaving
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.toy_training import folder_of_three, set_options


@pytest.fixture
def files(tmp_path: Path) -> Path:
    toy_space(tmp_path / "space")
    write_text(tmp_path / "text.tsv", toy_text())
    return tmp_path


def good(files: Path, *more: object) -> list[object]:
    quick = ["--epochs", 3, "--batch", 64, "--rate", 0.3]
    quick += set_options("dimension=32", "warmup=5", "mean=true")
    text = ["--lang", "fr", "--parallel", files / "text.tsv"]
    return ["train", files / "space", "--encoder", "lens", *text, *quick, "--out", files / "out", *more]


def test_the_command_line_names_what_there_is() -> None:
    assert (*SYSTEMS,) == (*WORD_ENCODERS, *commands.SYSTEMS)
    presets = options_of(commands.TrainOptions)["preset"].choices
    assert all((*SYSTEMS[name].presets,) == presets for name in commands.SYSTEMS)
    assert all((*SYSTEMS[name].presets,) == ("small",) for name in WORD_ENCODERS)


@pytest.mark.parametrize("name", SAVED)
def test_settings_of_a_folder_cannot_ask_for_any_size(name: str) -> None:
    config = SAVED[name].presets["small"].config
    kinds: dict[type, list[Any]] = {int: [10**30, "1", 1.5], bool: ["no", 1], float: [1e300], str: [3]}
    for field in (one for one in fields(config) if "declared" in one.metadata):
        more = [10**7] if field.name.endswith("layers") else []
        for wrong in kinds[type(field.default)] + more:
            with pytest.raises(BadSetting, match="must be"):
                replace(config, **{field.name: wrong})


V, H = 20_000, 1_024  # the pieces of BGT, and the width of its states, feed-forward parts and latents
GATES = 2 * (512 * 768 + 512 + 3 * 512 * 512 + 512)  # of the lens: M = 1 and a width of 3 are not printed
WORDS: Any = SimpleNamespace(dimension=300, reader=None)  # what is read; by the lens mBERT, by BGT pieces
SIZES: dict[str, tuple[Callable[[Any, torch.Generator], torch.nn.Module], int]] = {
    "lens": (lambda config, _: Lens(768, config), GATES + 4_096 * (512 + 1)),
    "lens of 1024": (lambda config, _: Lens(768, replace(config, dimension=1_024)), GATES + 1_024 * 513),
    "lens of one map": (lambda config, _: Lens(768, replace(config, kind="simple")), 4_096 * (768 + 1)),
    "infersent": (
        lambda config, _: InferSent(WORDS, config),
        2 * 4 * 2_048 * (300 + 2_048 + 2) + 512 * (4 * 4_096 + 1) + 3 * (512 + 1),
    ),
    "x-bilstm": (
        lambda config, _: sentence_layers(300, InferSentConfig(units=config.units)),
        2 * 4 * 512 * (300 + 512 + 2),
    ),
    "bgt": (  # three encoders of 5 layers, two decoders of both latents, two translators of one
        lambda config, drawn: BgtNetwork(config, ("en", "fr"), given_ids(dimension=None), drawn),
        7 * V * H + (15 + 4) * 6 * H**2 + 3 * 2 * H**2 + (2 * 3 + 2 * 2) * (H**2 + V * H),
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_the_paper_presets_have_the_sizes_of_their_equations(name: str) -> None:
    (build, expected), config = SIZES[name], SYSTEMS[name.split()[0]].presets["paper"].config
    found = parameter_count(lambda drawn: build(config, drawn))
    assert found == pytest.approx(expected, rel=0.02 if name == "bgt" else 0)  # without biases and norms


def test_a_lens_learns_is_saved_and_loaded(muse: Command, files: Path) -> None:
    found = muse(*good(files, "--json")).json
    assert found["encoder"] == "lens[mean+simple:32,space]"
    assert (found["pairs"], found["held_out"], found["parameters"]) == (380, 20, 16 * 32 + 32)
    assert found["score"] > found["score_by_epoch"][0]
    assert found["loss_curve"][-1] < found["loss_curve"][0]
    assert "preset:small | held-out:20 | split:0" in found["signature"]
    assert sorted(path.name for path in files.iterdir()) == ["out", "space", "text.tsv"]
    encoder = load_encoder(files / "out", load_space(files / "space"))
    text = ["fr1 fr2", "nosuch", "", "fr3 fr1 fr7 fr9"]
    encoded = encoder.encode(iter(text), "fr")
    assert (encoded.matrix.shape, encoded.empty, encoded.unknown) == ((4, 48), 2, 1)
    assert not encoded.matrix[1:3].any()
    np.testing.assert_allclose(encoded.matrix[3], encoder.encode([text[3]], "fr").matrix[0], rtol=1e-5)
    assert encoder.encode([], "en").matrix.shape == (0, 48)
    with pytest.raises(Exception, match="encodes en, fr; got 'de'"):
        encoder.encode([], "de")
    with pytest.raises(Exception, match="checksum"):
        load_encoder(files / "out", toy_space(files / "other", seed=9))


BAD: dict[str, tuple[list[object], list[str]]] = {
    "an option of its own": (["--set", "epochs=1"], ["got 'epochs'; use --epochs"]),
    "no such setting": (["--set", "nosuch=1"], ["--set takes one of kind, dimension, mean", "'nosuch'"]),
    "no number": (["--set", "dimension=many"], ["--set dimension", "type int", "'many'"]),
    "no yes or no": (["--set", "mean=maybe"], ["true or false"]),
    "a size of nothing": (["--set", "dimension=0"], ["dimension must be", "at least 1"]),
    "a choice": (["--set", "kind=wide"], ["kind must be one of simple, gated, got 'wide'"]),
    "a kernel without a middle": (["--set", "kernel=4"], ["kernel must be odd"]),
    "text that is not looked at": (["--text", "fr=x"], ["does not use --text"]),
    "two texts to learn from": (["--nli", __file__], ["give --parallel or --nli, got both"]),
    "a language": (["--lang", "xx"], ["'xx'"]),
    "the pivot": (["--lang", "en"], ["a language other than the pivot"]),
    "no backbone": (["--backbone", "nosuch"], ["nosuch", "folder"]),
    "no file": (["--parallel", "nosuch.tsv"], ["nosuch.tsv"]),
    "nothing to resume": (["--resume"], ["--resume needs the checkpoints"]),
}
WRONG_USAGE = ("text that is not looked at", "two texts to learn from")


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_and_leaves_nothing(muse: Command, files: Path, name: str) -> None:
    more, parts = BAD[name]
    refused_leaving(files, muse, good(files, *more), *parts, code=2 if name in WRONG_USAGE else 1)


def test_no_text_and_usage(muse: Command, files: Path) -> None:
    plain = ["train", files / "space", "--encoder", "lens", "--lang", "fr", "--out", files / "out"]
    refused(muse(*plain), "give --parallel or --nli, got neither", code=2)
    assert muse(*good(files, "--margin", 0.1)).code == 2
    assert muse(*good(files, "--set", "dimension")).code == 2
    twice = ["--text", "fr=a", "--text", "fr=b"]
    refused(muse(*good(files, *twice)), "each language once, got fr twice", code=2)
    assert muse(*good(files, "--encoder", "x-cbow")).code == 2


_LAYERS = "--set layers=1 --set heads=2 --set hidden=16 --set warmup=2 --set steps=4 --batch 8"
_TEXTS = "--text en=F/en.txt --text fr=F/fr.txt --text de=F/de.txt"
_BOTH = "--lang fr --parallel F/fr.tsv --parallel de=F/de.tsv"
RUNS = {  # F is the folder of the of_three, and of what other runs have saved
    "x-cbow": "--lang fr --parallel F/fr.tsv",
    "projection": "--lang fr --parallel F/fr.tsv --dropout 0.2",
    "cvm-add": "--lang fr --parallel F/fr.tsv",
    "sp": f"{_BOTH} --set pieces=200 --set network=bilstm --set units=8 --batch 32",
    "lens": "--lang fr --parallel F/fr.tsv --set dimension=16 --set dropout=0.1",
    "infersent": "--lang en --nli F/nli --set units=4 --set hidden=8 --set dropout=0.1",
    "x-bilstm": f"{_BOTH} --set units=4 --set english=F/infersent --batch 32",
    "cmlm": f"{_BOTH} --text fr=F/fr.novels --text de=F/de.novels {_LAYERS} --set feed_forward=16",
    "bgt": "--lang fr --parallel F/fr.tsv --set bag=words --set semantic=8 --set language=4",
    "xlm": f"{_BOTH} {_TEXTS} {_LAYERS} --set length=16 --set pair_tokens=64 --set pieces=200",
    "translator": f"{_TEXTS} {_LAYERS} --set pieces=200 --set words=5",
    "xlm --nli": "--lang en --nli F/nli --parallel fr=F/fr.tsv --set pretrained=F/xlm --set reads=apart "
    "--set alignment_epochs=2 --set alignment_steps=4",
}
NEEDED = {"x-bilstm": "infersent", "xlm --nli": "xlm"}
KILLED_AT = {"cmlm": 5, "xlm --nli": 5}  # in the second of two stages, each of three scores; else the first
QUICK = ("x-cbow", "lens")


@pytest.fixture(scope="module")
def of_three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of_three(tmp_path_factory.mktemp("of_three"))


def run(of_three: Path, name: str, *more: object) -> list[object]:
    """The arguments that train a system for two epochs, into a folder of its name."""
    command: list[object] = ["train", of_three / "space", "--encoder", name.split()[0]]
    start = ["train-translator", of_three / "space"] if name == "translator" else command
    given = RUNS[name].replace("F/", f"{of_three}/").split()
    return [*start, *given, "--epochs", 2, "--out", of_three / name, "-q", "--json", *more]


def test_every_system_has_a_run() -> None:
    assert {*RUNS} == {*SAVED}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RUNS]
)
def test_it_is_saved_and_loaded_and_a_killed_run_goes_on_to_the_same_bytes(
    muse: Command, of_three: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name in NEEDED:
        assert muse(*run(of_three, NEEDED[name])).code == 0
    found = muse(*run(of_three, name)).json
    encoder = load_encoder(of_three / name, load_space(of_three / "space"))
    assert encoder.name == found["encoder"]
    assert encoder.encode([f"{encoder.languages[-1]}1 ."], encoder.languages[-1]).matrix.any()
    score, calls = Training.score, 0

    def killed(self: Training) -> float:
        nonlocal calls
        calls += 1
        if calls == KILLED_AT.get(name, 3):
            raise KeyboardInterrupt
        return score(self)

    monkeypatch.setattr(Training, "score", killed)
    again = run(of_three, name, "--out", of_three / "again")
    assert muse(*again).code == 130
    if "--text" in again:  # languages are numbered in this order
        first = again.index("--text")
        second = again.index("--text", first + 1)
        turned = [*again]
        turned[first + 1], turned[second + 1] = again[second + 1], again[first + 1]
        refused(muse(*turned, "--resume"), "those in", "differ")
    assert muse(*again, "--resume").code == 0
    same = [(of_three / folder / "arrays.npz").read_bytes() for folder in (name, "again")]
    assert same[0] == same[1]
