"""Targets that training wrote: the encoder of every system, the translator, and interrupted runs."""

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from muse.progress import Progress
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from muse.sentences.loading import load_encoder
from muse.sentences.systems.backbone import SpaceBackbone, XlmBackbone
from muse.sentences.systems.bgt.bgt_system import Rewriting, load_bgt
from muse.sentences.systems.nli.infersent import open_english
from muse.sentences.systems.nli.pair_classes import classify
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.sentences.systems.translator.translator_system import Translating, load_translator
from muse.sentences.systems.xlm.tuning import open_xlm
from muse.space import Space
from tests.fuzz.folders import encoded, seal
from tests.fuzz.target import Target
from tests.support.parallel import toy_space, toy_text, write_text

_TINY = {"layers": "1", "heads": "2", "hidden": "8"}
_CMLM = {"heads": "2", "hidden": "8", "feed_forward": "8", "longest": "8"}
_WRITES = {
    "semantic": "8", "vocabulary": "80", "hidden": "8", "heads": "2", "feed_forward": "8",
    "encoder_layers": "1", "decoder_layers": "1", "longest": "20",
}  # fmt: skip
# Of each system the settings that make it small, and the text that it needs; a dot parts kinds of one system,
# a plus kinds of text.
SYSTEMS: Mapping[str, tuple[dict[str, str], str]] = {
    "x-cbow": ({}, "parallel"),
    "projection": ({}, "parallel"),
    "cvm-add": ({}, "parallel"),
    "sp": ({"pieces": "120", "dimension": "8"}, "parallel"),
    "lens": ({"dimension": "8"}, "parallel"),
    "infersent": ({"units": "4", "hidden": "8"}, "nli"),
    "x-bilstm": ({"units": "4"}, "parallel"),
    "cmlm": (_CMLM, "text"),
    "cmlm.nli": (_CMLM, "text+nli"),
    "bgt": ({"bag": "words", "semantic": "8", "language": "4", "vocabulary": "80"}, "parallel"),
    "bgt.pieces": ({"semantic": "8", "language": "4", "vocabulary": "80"}, "parallel"),
    "bgt.writes": ({**_WRITES, "language": "8"}, "parallel"),
    "bgt.pivot": ({**_WRITES, "language": "0", "read_from": "pivot", "translates": "sample"}, "parallel"),
    "xlm": (
        {"objective": "mlm", "pieces": "120", "layers": "1", "heads": "2", "hidden": "8", "length": "16"},
        "text",
    ),
    "xlm.nli": ({}, "nli"),
    "xlm.nli.apart": ({"reads": "apart", "hidden": "8"}, "nli"),
    "xlm.nli.aligned": ({"reads": "apart", "hidden": "8", "alignment_epochs": "0"}, "nli+translations"),
    "translator": ({"pieces": "120", **_TINY, "longest": "24"}, "text"),
}
# The setting with the folder of a system that is trained before.
BEFORE = {
    "x-bilstm": ("english", "infersent"), "xlm.nli": ("pretrained", "xlm"),
    "xlm.nli.apart": ("pretrained", "xlm"), "xlm.nli.aligned": ("pretrained", "xlm"),
}  # fmt: skip
TEXT = ("en1 en2 en3", "fr1 fr2", "")
CLASSIFIERS = ("infersent", "x-bilstm", "cmlm.nli", "xlm.nli", "xlm.nli.apart", "xlm.nli.aligned")
LABELS = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")


@cache
def _toys() -> Space:
    with tempfile.TemporaryDirectory() as folder:
        return replace(toy_space(Path(folder) / "x"), folder=None)


@cache
def _texts() -> Path:
    """A folder with text of every kind, for as long as the process lasts."""
    folder, pairs = Path(tempfile.mkdtemp(prefix="muse-fuzz-text-")), toy_text(60)
    write_text(folder / "parallel", pairs)
    drawn = random.Random(0)
    rows = [f"{i}\t{en}\t{en[::-1]} {en}\t{drawn.choice(LABELS)}" for i, (en, _) in enumerate(pairs)]
    header = "pair_ID\tsentence_A\tsentence_B\tentailment_judgment"
    (folder / "nli").write_text("\n".join([header, *rows]) + "\n")
    for language, lines in zip(("en", "fr"), zip(*pairs, strict=True), strict=True):
        (folder / language).write_text("".join(f"{i // 10}\t{line}\n" for i, line in enumerate(lines)))
    return folder


def _request(system: str, out: Path, *, epochs: int, resume: bool = False) -> TrainingRequest:
    settings, kind = SYSTEMS[system]
    if system in BEFORE:
        option, first = BEFORE[system]
        settings = {**settings, option: str(_trained_before(first))}
    kinds: dict[str, dict[str, Any]] = {
        "parallel": {"parallel": (_texts() / "parallel",)},
        "nli": {"nli": _texts() / "nli"},
        "translations": {"further": {"fr": _texts() / "parallel"}},
        "text": {"texts": {language: _texts() / language for language in ("en", "fr")}},
    }
    given = {name: value for one in kind.split("+") for name, value in kinds[one].items()}
    trainer = {"epochs": epochs, "batch": 16}
    language = "en" if kind.startswith("nli") else "fr"
    return TrainingRequest(_toys(), language, out, settings=settings, trainer=trainer, resume=resume, **given)


@cache
def _trained_before(system: str) -> Path:
    """The folder of an encoder, for as long as the process lasts."""
    folder = Path(tempfile.mkdtemp(prefix="muse-fuzz-encoder-"))
    _train(system, folder)
    return folder / "x"


def _train(system: str, folder: Path) -> None:
    train_system(system.partition(".")[0], _request(system, folder / "x", epochs=0), Runtime())


def _of(system: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "0").mkdir()
        _train(system, folder / "0")

    return write


def _encoder(folder: Path) -> Iterable[Any]:
    seal(folder / "x")
    return encoded(load_encoder(folder / "x", _toys()), TEXT)


def _classifier(folder: Path) -> Iterator[Any]:
    seal(folder / "x")
    encoder = load_encoder(folder / "x", _toys())
    yield from encoded(encoder, TEXT)
    for language in encoder.languages:
        text = [f"{language}1 {language}2", f"{language}3", ""]
        yield classify(encoder, text, text[::-1], language, progress=Progress(quiet=True))


def _english(folder: Path) -> Iterator[Any]:
    seal(folder / "x")
    network = open_english(folder / "x", SpaceBackbone(_toys()), _toys())
    yield dict(network.named_parameters())


def _pretrained(folder: Path) -> Iterator[Any]:
    seal(folder / "x")
    yield dict(open_xlm(folder / "x", _toys()).named_parameters())


def _translator(folder: Path) -> Iterator[Any]:
    seal(folder / "x")
    network = load_translator(folder / "x")
    list(Translating(network, ("en", "fr")).translate(TEXT))
    yield dict(network.named_parameters())


def _writer(folder: Path) -> Iterator[Any]:
    seal(folder / "x")
    network = load_bgt(folder / "x")
    for direction, style in ((("en", "fr"), None), (("en", "en"), "en1 en2" if network.config.own else None)):
        Rewriting(network, direction, style).translate(TEXT)
    yield dict(network.named_parameters())


def _backbone(folder: Path) -> Iterator[Any]:
    seal(folder / "x")
    backbone = XlmBackbone(folder / "x")
    reading = backbone.reader("en").read(TEXT[:1])
    yield backbone.matrices(reading.sentences, "en").rows.numpy()


def _interrupted(folder: Path) -> None:
    # The last step of a run is to clear its checkpoint: one that does not is as if killed before.
    (folder / "0").mkdir()
    with mock.patch.object(Checkpoint, "clear"):
        train_system("x-cbow", _request("x-cbow", folder / "0" / "x", epochs=1), Runtime())


def _resumed(folder: Path) -> Iterable[Any]:
    request = _request("x-cbow", folder / "x", epochs=1, resume=True)
    return encoded(train_system("x-cbow", request, Runtime()).encoder, TEXT)


TARGETS = (
    *(
        Target(name, _of(name), _classifier if name in CLASSIFIERS else _encoder)
        for name in SYSTEMS
        if name != "translator"
    ),
    Target("writer", _of("bgt.writes"), _writer),
    Target("writer.pivot", _of("bgt.pivot"), _writer),
    Target("backbone.xlm", _of("xlm"), _backbone),
    Target("english", _of("infersent"), _english),
    Target("pretrained", _of("xlm"), _pretrained),
    Target("translator", _of("translator"), _translator),
    Target("resumed", _interrupted, _resumed),
)
