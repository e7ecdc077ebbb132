"""Requests: a setting without effect is refused; networks restored, in no more memory than needed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from muse.errors import BadFile, BadSetting
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reader
from muse.sentences.encoders.saving import Saved, write_encoder
from muse.sentences.systems.network_encoder import (
    KIND,
    NetworkEncoder,
    SentenceNetwork,
    open_network,
    restored,
)
from muse.sentences.systems.registry import FINE_TUNED, SAVED, SYSTEMS, train_system
from muse.sentences.systems.system import TrainingRequest
from muse.sentences.systems.xlm.tuning import TuningConfig
from muse.sentences.training.settings import TEXT_OF_MORE
from muse.sentences.training.trainer import EpochResult, TrainerConfig
from muse.space import load_space
from tests.support.toy_training import folder_of_three

BAG = {"bag": "words", "semantic": 4, "language": 4, "vocabulary": 50}
LAYERS = {"hidden": 8, "heads": 2, "layers": 1, "warmup": 1}
OF_CMLM = {**LAYERS, "feed_forward": 8, "longest": 8}
OF_XLM = {**LAYERS, "pieces": 120, "length": 12}
OF_TRANSLATOR = {**LAYERS, "pieces": 120}
TRAINER = {"epochs": 1, "batch": 16, "rate": 0.01, "steps": 2}


@dataclass(frozen=True)
class Case:
    """A system with settings, values of others without effect beside them, and the cause in the message."""

    system: str
    texts: str
    settings: Mapping[str, Any]
    ineffective: Mapping[str, Any]
    cause: str
    trainer: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needs_pieces(self) -> bool:
        """Whether it is trained with the library of word pieces."""
        names = "sp", "xlm", "translator"
        return self.system in names or bool({"pieces", "encoder_layers"} & {*self.settings})


CASES = {
    "sp mean": Case("sp", "parallel", {"pieces": 120, "dimension": 8}, {"units": 7}, "network=mean"),
    "lens simple": Case(
        "lens", "parallel", {"dimension": 8}, {"gate": 5, "layers": 2, "kernel": 5}, "kind=simple"
    ),
    "lens of translations": Case("lens", "parallel", {"dimension": 8}, {"hidden": 9}, "without --nli"),
    "lens of inferences": Case(
        "lens", "nli", {"dimension": 8, "hidden": 8}, {"margin": 0.9}, "without --parallel"
    ),
    "infersent": Case(
        "infersent", "nli", {"network": "convolution", "units": 2}, {"pooling": "last"}, "convolution"
    ),
    "cmlm of text alone": Case(
        "cmlm", "text", OF_CMLM, {"strategy": "joint", "alpha": 3.0, "margin": 0.1, "scale": 2.0},
        "without --parallel",
    ),
    "cmlm without inferences": Case(
        "cmlm", "text", OF_CMLM, {"tuning_rate": 0.5, "tuning_optimiser": "sgd"}, "without --nli"
    ),
    "mlm": Case(
        "cmlm", "text", {**OF_CMLM, "objective": "mlm"},
        {"projections": 7, "neighbour": "shuffled", "skip": True, "vector": "projected"}, "objective=mlm",
    ),
    "no projections": Case(
        "cmlm", "text", {**OF_CMLM, "projections": 0},
        {"neighbour": "shuffled", "skip": True, "vector": "projected"}, "projections=0",
    ),
    "the state itself": Case(
        "cmlm", "text", {**OF_CMLM, "projections": 1}, {"vector": "projected"}, "projections=1"
    ),
    "cmlm of pieces": Case("cmlm", "text", {**OF_CMLM, "pieces": 120}, {"asked": 5}, "pieces=120"),
    "one loss, then the other": Case(
        "cmlm", "text parallel", {**OF_CMLM, "strategy": "sequential"}, {"alpha": 3.0}, "sequential"
    ),
    "bgt without layers": Case(
        "bgt", "parallel", BAG, {"hidden": 16, "heads": 4, "feed_forward": 3, "dropout": 0.5},
        "encoder_layers=0 and decoder_layers=0",
    ),
    "bgt without language latents": Case(
        "bgt", "parallel", {**BAG, "language": 0}, {"counted": 3}, "language=0"
    ),
    "bgt with encoder layers": Case(
        "bgt", "parallel", {**BAG, "encoder_layers": 1, "hidden": 8}, {"counted": 3, "bag": "pieces"},
        "encoder_layers=1",
    ),
    "bgt without prior": Case("bgt", "parallel", {**BAG, "prior": 0.0}, {"annealing": 2}, "prior=0"),
    "bgt without translation": Case(
        "bgt", "parallel", {**BAG, "translation": 0.0}, {"smoothing": 0.3}, "translation=0"
    ),
    "bgt without reconstruction": Case(
        "bgt", "parallel", {**BAG, "reconstruction": 0.0},
        {"language": 5, "counted": 3, "prior": 0.5, "annealing": 2, "sides": "pairs"}, "reconstruction=0",
    ),
    "bgt of translations from samples": Case(
        "bgt", "parallel", {**BAG, "reconstruction": 0.0, "translates": "sample"},
        {"language": 5, "sides": "pairs"}, "reconstruction=0",
    ),
    "bgt of the pivot": Case(
        "bgt", "parallel", {**BAG, "language": 0, "read_from": "pivot"}, {"sides": "pairs"}, "pivot"
    ),
    "bgt of layers without reconstruction": Case(
        "bgt", "parallel",
        {**BAG, "encoder_layers": 1, "hidden": 8, "heads": 2, "dropout": 0.1, "reconstruction": 0.0},
        {"sides": "pairs"}, "reconstruction=0",
    ),
    "clm": Case("xlm", "text", {**OF_XLM, "objective": "clm"}, {"share": 0.5, "pair_tokens": 99}, "clm"),
    "mlm without pairs": Case(
        "xlm", "text", {**OF_XLM, "objective": "mlm"}, {"pair_tokens": 9}, "objective=mlm"
    ),
    "one language": Case(
        "xlm", "text of fr", {**OF_XLM, "objective": "mlm"}, {"exponent": 0.3}, "without --text of more"
    ),
    "no noise": Case(
        "translator", "text", {**OF_TRANSLATOR, "denoising": 0.0}, {"drop": 0.3, "blank": 0.3, "window": 1},
        "denoising=0",
    ),
    "no back-translation": Case(
        "translator", "text", {**OF_TRANSLATOR, "back_translation": 0.0}, {"words": 4}, "back_translation=0"
    ),
    "translator without pairs": Case(
        "translator", "text", OF_TRANSLATOR, {"translation": 2.0}, "without --parallel"
    ),
    "gradient descent": Case(
        "lens", "parallel", {"dimension": 8}, {"beta2": 0.5}, "optimiser=sgd", {"optimiser": "sgd"}
    ),
    "no second chance": Case(
        "lens", "parallel", {"dimension": 8}, {"shrink": 0.1}, "patience=1", {"patience": 1, "epochs": 5}
    ),
    "a constant rate": Case("lens", "parallel", {"dimension": 8}, {"lowest": 0.01}, "decay=1 and shrink=1"),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a space, parallel text, inferences, documents and plain text of three languages."""
    return folder_of_three(tmp_path_factory.mktemp("files"))


def request(files: Path, case: Case, more: Mapping[str, Any], given: Mapping[str, str]) -> TrainingRequest:
    """The request of a case: `more` settings of the system or trainer, and those `given` by --set."""
    suffix = "novels" if case.system == "cmlm" else "txt"
    languages = ("en", "fr") if "text" in case.texts else ()
    names = ("fr",) if case.texts == "text of fr" else languages
    of_trainer = {part.name for part in fields(TrainerConfig)}
    return TrainingRequest(
        load_space(files / "space"), "fr" if case.texts != "nli" else "en", files / "out",
        parallel=(files / "fr.tsv",) if "parallel" in case.texts else (),
        nli=files / "nli" if "nli" in case.texts else None,
        texts={name: files / f"{name}.{suffix}" for name in names},
        settings=given,
        config={**case.settings, **{name: more[name] for name in more if name not in of_trainer}},
        trainer={**TRAINER, **case.trainer, **{name: more[name] for name in more if name in of_trainer}},
    )  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_setting_without_effect_is_refused_unless_it_is_a_default(files: Path, name: str) -> None:
    case = CASES[name]
    system = SAVED[case.system]
    request(files, case, {}, {}).chosen_preset(system)
    for setting, value in case.ineffective.items():
        with pytest.raises(BadSetting, match=f"^{setting}={value} has no effect with") as error:
            request(files, case, {}, {setting: str(value)}).chosen_preset(system)
        assert case.cause in str(error.value)
        assert "; leave it out, or " in str(error.value)


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused_would_have_changed_nothing(files: Path, name: str) -> None:
    case = CASES[name]
    if case.needs_pieces:
        pytest.importorskip("tokenizers")
    (epochs, one), (same, other) = (_trained(files, case, more) for more in ({}, case.ineffective))
    assert [(epoch.loss, epoch.score) for epoch in epochs[1:]] == [(e.loss, e.score) for e in same[1:]]
    assert one.keys() == other.keys()
    assert all(torch.equal(weights, other[part]) for part, weights in one.items())


def _trained(
    files: Path, case: Case, more: Mapping[str, Any]
) -> tuple[tuple[EpochResult, ...], dict[str, torch.Tensor]]:
    """The epochs and the parameters of a training with settings that are not checked for their effect."""
    trained = train_system(
        case.system, request(files, case, more, {}), Runtime(progress=Progress(quiet=True))
    )
    assert isinstance(trained.encoder, NetworkEncoder)
    return trained.epochs, dict(trained.encoder.network.state_dict())


HAVE_EFFECT = {
    "sp": ("sp", "parallel", {"network": "bilstm", "units": "7"}),
    "lens": ("lens", "parallel", {"kind": "gated", "gate": "5", "layers": "2", "margin": "0.9"}),
    "lens of inferences": ("lens", "nli", {"hidden": "9"}),
    "infersent": ("infersent", "nli", {"pooling": "last"}),
    "cmlm": ("cmlm", "text parallel", {"alpha": "3", "scale": "2", "asked": "5", "vector": "projected"}),
    "bgt": ("bgt", "parallel", {"counted": "3", "annealing": "2", "smoothing": "0.3", "sides": "pairs"}),
    "bgt with layers": ("bgt", "parallel", {"encoder_layers": "1", "hidden": "64", "dropout": "0.5"}),
    "bgt of samples": ("bgt", "parallel", {"reconstruction": "0", "translates": "sample", "prior": "2"}),
    "xlm": ("xlm", "text parallel", {"share": "0.5", "pair_tokens": "999", "exponent": "0.3"}),
    # What has no effect need not fit the others either.
    "xlm of long streams": ("xlm", "text", {"objective": "clm", "length": "2000"}),
    "bgt of layers alone": ("bgt", "parallel", {"reconstruction": "0", "decoder_layers": "1"}),
    "translator": ("translator", "text parallel", {"words": "4", "drop": "0.3", "translation": "2"}),
    "trainer": ("lens", "parallel", {"beta2": "0.5", "shrink": "0.5", "lowest": "0.1"}),
}


@pytest.mark.parametrize("name", HAVE_EFFECT)
def test_a_setting_with_an_effect_is_taken(files: Path, name: str) -> None:
    system, texts, given = HAVE_EFFECT[name]
    case = Case(system, texts, {}, {}, "")
    preset = request(files, case, {}, given).chosen_preset(SAVED[system])
    values = {**vars(preset.trainer), **vars(preset.config)}
    assert {name: type(values[name])(text) for name, text in given.items()}.items() <= values.items()


def test_what_is_switched_off_is_never_without_effect(files: Path) -> None:
    case = Case("translator", "text", {}, {}, "")
    off = {"back_translation": "0", "words": "0", "translation": "0"}
    assert request(files, case, {}, off).chosen_preset(SAVED["translator"]).config.words == 0


def test_the_layer_of_a_classifier_that_a_tuned_xlm_does_not_have(files: Path) -> None:
    given = {"pretrained": "nosuch", "hidden": "9"}
    system = FINE_TUNED["xlm"]
    with pytest.raises(
        BadSetting, match="hidden=9 has no effect with reads=together; leave it out, or change"
    ):
        request(files, Case("xlm", "nli", {}, {}, ""), {}, given).chosen_preset(system)
    apart = request(files, Case("xlm", "nli", {}, {}, ""), {}, {**given, "reads": "apart"})
    assert apart.chosen_preset(system).config == TuningConfig("nosuch", "apart", 9)


def test_a_stage_with_an_optimiser_of_its_own_has_its_settings(files: Path) -> None:
    case = Case("cmlm", "text", {}, {}, "", {"optimiser": "sgd"})
    asked = request(files, case, {}, {"beta2": "0.5"})
    with pytest.raises(BadSetting, match="beta2=0.5 has no effect with optimiser=sgd"):
        asked.chosen_preset(SYSTEMS["cmlm"])
    tuned = request(files, case, {}, {"beta2": "0.5", "tuning_optimiser": "adam"})
    with pytest.raises(BadSetting, match="tuning_optimiser=adam has no effect without --nli"):
        tuned.chosen_preset(SYSTEMS["cmlm"])
    case = replace(case, texts="text nli")
    tuned = request(files, case, {}, {"beta2": "0.5", "tuning_optimiser": "adam"})
    assert tuned.chosen_preset(SYSTEMS["cmlm"]).trainer.beta2 == 0.5


def test_ineffective_settings_are_settings(files: Path) -> None:
    for case in CASES.values():
        asked, system = request(files, case, {}, {}), SAVED[case.system]
        config = asked.chosen_preset(system).config
        assert {*config.ineffective_settings()} <= {part.name for part in fields(config)}
        needed = {part.metadata["needs"] for part in fields(config) if part.metadata} - {""}
        assert needed <= {*system.needs, *system.uses, TEXT_OF_MORE}


ARRAYS = {"layer.weight": np.eye(3, dtype=np.float32), "layer.bias": np.arange(3, dtype=np.float32)}


class _Linear(SentenceNetwork):
    def __init__(self, units: int) -> None:
        super().__init__()
        self.layer = nn.Linear(units, units)
        self.dimension = units
        self.devices.add(self.layer.weight.device.type)

    devices: set[str] = set()

    def reader(self, language: str) -> Reader:
        raise NotImplementedError

    def forward(self, batch: Ragged, language: str) -> Tensor:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def _forget() -> None:
    _Linear.devices = set()


def test_a_network_gets_its_own_arrays() -> None:
    network = restored(lambda: _Linear(3), ARRAYS)
    assert not network.training
    assert torch.equal(network.layer.weight, torch.eye(3))
    assert network.layer.bias.tolist() == [0, 1, 2]
    assert _Linear.devices == {"meta", "cpu"}


@pytest.mark.parametrize("units", [2, 4, 1 << 20, 1 << 40])
def test_one_of_another_size_is_refused_before_it_takes_memory(units: int) -> None:
    with pytest.raises(ValueError, match=r"size mismatch|overflow"):
        restored(lambda: _Linear(units), ARRAYS)
    assert "cpu" not in _Linear.devices


def test_with_a_core_of_its_own_it_is_built_once() -> None:
    assert torch.equal(restored(lambda: _Linear(3), ARRAYS, backbone=True).layer.weight, torch.eye(3))
    assert _Linear.devices == {"cpu"}
    with pytest.raises(ValueError, match="size mismatch"):
        restored(lambda: _Linear(2), ARRAYS, backbone=True)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_are_missing_or_not_finite_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Missing.*" + re.escape(name)):
        restored(lambda: _Linear(3), {key: array for key, array in ARRAYS.items() if key != name})
    with pytest.raises(ValueError, match="not finite"):
        restored(lambda: _Linear(3), {**ARRAYS, name: np.full_like(ARRAYS[name], np.nan)})


def test_only_what_a_system_has_saved_is_opened_as_its_own(tmp_path: Path) -> None:
    write_encoder(tmp_path / "lens", Saved(KIND, "lens[simple:3]", {}, {"system": "lens"}, ARRAYS))
    write_encoder(tmp_path / "mean", Saved("weighted", "mean", {}))  # of no system
    network = open_network(tmp_path / "lens", "lens", "expected a lens", lambda _: _Linear(3))
    assert torch.equal(network.layer.weight, torch.eye(3))
    with pytest.raises(BadFile, match="expected a model of lens, got another.*size mismatch"):
        open_network(tmp_path / "lens", "lens", "expected a lens", lambda _: _Linear(2))
    for system, name, found in (("xlm", "lens", "lens[simple:3]"), ("lens", "mean", "mean")):
        told = re.escape(f"{tmp_path / name}: expected a {system}, got {found}")
        with pytest.raises(BadSetting, match=f"^{told}$"):
            open_network(tmp_path / name, system, f"expected a {system}", lambda _: _Linear(3))
