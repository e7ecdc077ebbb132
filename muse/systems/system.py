"""Systems: what a sentence system is, what is asked of it, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from muse.encoders.reading import Reader
from muse.encoders.saving import check_out
from muse.errors import BadSetting, Mismatch
from muse.files.parallel_text import read_pairs
from muse.run.runtime import Runtime
from muse.space import AlignedSpace
from muse.systems.core import Core, SpaceCore
from muse.systems.hugging_face import HuggingFaceCore
from muse.systems.network_encoder import SentenceNetwork
from muse.training.pairs import Pairs, make_pairs
from muse.training.trainer import Epoch, TrainerConfig

TEXTS = ("parallel", "nli", "text")  # what a system may learn from, as the options call it
_CONVERTED = (bool, int, float, str)
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Preset:
    """The settings of a system at one size, and how it is trained; where text is long, an epoch is a part."""

    config: Any
    trainer: TrainerConfig


@dataclass(frozen=True)
class System:
    """A sentence system: its presets by name, the texts it needs, and those it can use.

    `train` learns a network by a job. `network` makes one again, as it was before it learned, from the
    settings it was saved with. `reads` are the files, beside texts, that a config names.
    """

    name: str
    presets: Mapping[str, Preset]
    needs: tuple[str, ...]
    train: Callable[[Job], Fitted]
    network: Callable[[Mapping[str, Any], AlignedSpace], SentenceNetwork]
    uses: tuple[str, ...] = ()  # beside what it needs
    takes_core: bool = False
    reads: Callable[[Any], tuple[Path, ...]] = lambda config: ()


@dataclass(frozen=True)
class Request:
    """What to train, on what, and where to put it.

    `texts` has the file of each language, `settings` what --set names, `trainer` the settings of
    TrainerConfig that are not the preset's.
    """

    space: AlignedSpace
    language: str
    out: Path
    preset: str = "small"
    parallel: tuple[Path, ...] = ()
    nli: Path | None = None
    texts: Mapping[str, Path] = field(default_factory=dict)
    core: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    trainer: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    resume: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        """All files of text that it names."""
        texts = (path for _, path in sorted(self.texts.items()))
        return (*self.parallel, *texts, *([] if self.nli is None else [self.nli]))

    def settled(self, system: System) -> Preset:
        """The preset with the settings put in, once all that can be checked without reading text is."""
        if self.preset not in system.presets:
            raise BadSetting(
                f"a preset of {system.name} is one of {', '.join(system.presets)}; got {self.preset!r}"
            )
        self._check_texts(system)
        if self.core is not None and not system.takes_core:
            raise BadSetting(f"{system.name} learns its own words and takes no --core; leave it out")
        for language in (self.language, *self.texts):
            self.space.side(language)
        if self.parallel and self.language == self.space.pivot:
            raise BadSetting(
                f"--lang must be another language than the pivot, {self.space.pivot}, which it meets; "
                f"this space has {', '.join(self.space.languages)}"
            )
        check_out(self.out)
        return _changed(system.presets[self.preset], self.settings, self.trainer)

    def _check_texts(self, system: System) -> None:
        given = {"parallel": bool(self.parallel), "nli": self.nli is not None, "text": bool(self.texts)}
        for name in TEXTS:
            if name in system.needs and not given[name]:
                raise BadSetting(f"{system.name} is trained on --{name}, which is missing; give it")
            if given[name] and name not in (*system.needs, *system.uses):
                raise BadSetting(f"{system.name} does not look at --{name}; leave it out")


@dataclass(frozen=True, eq=False)
class Job:
    """A request that was checked, and what it runs with."""

    request: Request
    config: Any
    trainer: TrainerConfig
    runtime: Runtime
    core: Core

    @property
    def languages(self) -> tuple[str, str]:
        """The pivot and the language to train."""
        return self.request.space.pivot, self.request.language

    def pairs(self, reader: Callable[[str], Reader] | None = None) -> Pairs:
        """The parallel text, as the core or what is given reads either language, with a part held out."""
        text = read_pairs(self.request.parallel)
        readers = [(reader or self.core.reader)(language) for language in self.languages]
        rng, runtime = np.random.default_rng(self.request.seed), self.runtime
        return make_pairs(text, readers, rng=rng, device=runtime.device, progress=runtime.progress)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a system learned: a network at its best epoch, and how it got there.

    An epoch's score is `metric`: in percent of `held_out` cases, or where it is not `counted` a figure of all
    of them. `settings` make the network again, as JSON has them; `counts` are told as they are.
    """

    label: str
    network: SentenceNetwork
    languages: tuple[str, ...]
    epochs: tuple[Epoch, ...]
    metric: str
    held_out: int
    counts: Mapping[str, int]
    settings: Mapping[str, Any]
    counted: bool = True


def open_core(space: AlignedSpace, folder: Path | None, device: str = "cpu") -> Core:
    """The core of a folder, or without one that of the space."""
    return SpaceCore(space, device) if folder is None else HuggingFaceCore(folder, device)


def restored_core(saved: Mapping[str, Any], space: AlignedSpace) -> Core:
    """The core of a saved encoder, by its settings; Mismatch where it has other weights now."""
    core = open_core(space, Path(saved["folder"]) if saved else None)
    if core.settings.get("sha256") != saved.get("sha256"):
        raise Mismatch(
            f"{saved['folder']}: the encoder was trained over weights with the checksum "
            f"{saved['sha256'][:8]}, got {core.settings['sha256'][:8]}; put back those it was trained over"
        )
    return core


def _changed(preset: Preset, settings: Mapping[str, str], trainer: Mapping[str, Any]) -> Preset:
    """The preset with what --set names, which is the system's before it is the trainer's."""
    kinds = {name: kind for name, kind in _kinds(preset.trainer).items() if name not in CALLED_OTHERWISE}
    of_system, given, changed = _kinds(preset.config), dict(trainer), {}
    for name, text in settings.items():
        if name in of_system:
            changed[name] = _value(name, text, of_system[name])
        elif name in kinds:
            given[name] = _value(name, text, kinds[name])
        else:
            raise BadSetting(f"--set takes one of {', '.join([*of_system, *kinds])}; got {name!r}")
    return Preset(replace(preset.config, **changed), replace(preset.trainer, **given))


CALLED_OTHERWISE = ("epochs", "batch", "rate", "patience")  # options of their own


def _kinds(config: Any) -> dict[str, type]:
    """The type of each setting that a text can give."""
    hints = get_type_hints(type(config))
    return {part.name: hints[part.name] for part in fields(config) if hints[part.name] in _CONVERTED}


def _value(name: str, text: str, kind: type) -> Any:
    try:
        return _BOOLEANS[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError):
        expected = "true or false" if kind is bool else f"a value of type {kind.__name__}"
        raise BadSetting(f"--set {name} takes {expected}, got {text!r}") from None
