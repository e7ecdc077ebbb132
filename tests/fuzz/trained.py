"""Targets that training wrote: the encoder of every system, the translator, and interrupted runs."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from muse.api.encoders import load_encoder
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from muse.space import AlignedSpace
from muse.systems.registry import train_system
from muse.systems.system import TrainingRequest
from muse.systems.translator.translation import ModelTranslator, load_translator
from tests.fuzz.folders import encoded
from tests.fuzz.target import Target
from tests.parallel import toy_space, toy_text, write_text

_TINY = {"layers": "1", "heads": "2", "hidden": "8"}
# Of each system the settings that make it small, and the text that it needs.
SYSTEMS: Mapping[str, tuple[dict[str, str], str]] = {
    "x-cbow": ({}, "parallel"),
    "lens": ({"dimension": "8"}, "parallel"),
    "infersent": ({"units": "4", "hidden": "8"}, "nli"),
    "cmlm": ({"heads": "2", "hidden": "8", "feed_forward": "8", "longest": "8"}, "text"),
    "bgt": ({"semantic": "8", "language": "4", "vocabulary": "80", "hidden": "8", "heads": "2"}, "parallel"),
    "xlm": (
        {"objective": "mlm", "pieces": "120", "layers": "1", "heads": "2", "hidden": "8", "length": "16"},
        "text",
    ),
    "translator": ({"pieces": "120", **_TINY, "longest": "24"}, "text"),
}
TEXT = ("en1 en2 en3", "fr1 fr2", "")
LABELS = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")


@cache
def _toys() -> AlignedSpace:
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
    kinds: dict[str, dict[str, Any]] = {
        "parallel": {"parallel": (_texts() / "parallel",)},
        "nli": {"nli": _texts() / "nli"},
        "text": {"texts": {language: _texts() / language for language in ("en", "fr")}},
    }
    given = kinds[kind]
    trainer = {"epochs": epochs, "batch": 16}
    language = "en" if kind == "nli" else "fr"
    return TrainingRequest(_toys(), language, out, settings=settings, trainer=trainer, resume=resume, **given)


def _of(system: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "0").mkdir()
        train_system(system, _request(system, folder / "0" / "x", epochs=0), Runtime())

    return write


def _encoder(folder: Path) -> Iterable[Any]:
    return encoded(load_encoder(folder / "x", _toys()), TEXT)


def _translator(folder: Path) -> Iterator[Any]:
    network = load_translator(folder / "x")
    list(ModelTranslator(network, ("en", "fr")).translate(TEXT))
    yield dict(network.named_parameters())


def _interrupted(folder: Path) -> None:
    # The last step of a run is to clear its checkpoint: one that does not is as if killed before.
    (folder / "0").mkdir()
    with mock.patch.object(Checkpoint, "clear"):
        train_system("x-cbow", _request("x-cbow", folder / "0" / "x", epochs=1), Runtime())


def _resumed(folder: Path) -> Iterable[Any]:
    request = _request("x-cbow", folder / "x", epochs=1, resume=True)
    return encoded(train_system("x-cbow", request, Runtime()).encoder, TEXT)


TARGETS = (
    *(Target(name, _of(name), _encoder) for name in SYSTEMS if name != "translator"),
    Target("translator", _of("translator"), _translator),
    Target("resumed", _interrupted, _resumed),
)
