"""Systems: the description of a sentence system, the request to train it, and the result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadSetting, Contradiction
from muse.run.runtime import Runtime
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.reading import Reader
from muse.sentences.encoders.saving import check_out
from muse.sentences.files.sentence_text import read_pairs
from muse.sentences.systems.backbone import Backbone
from muse.sentences.systems.network_encoder import NetworkEncoder, SentenceNetwork
from muse.sentences.training.pairs import Pairs, ParallelCorpus, make_pairs
from muse.sentences.training.settings import TEXT_OF_MORE, Settings
from muse.sentences.training.trainer import EpochResult, HeldOutScore, Learner, TrainerConfig, train
from muse.space import Space

TEXTS = ("parallel", "nli", "text")  # the kinds of text that systems learn from, named as their options
CALLED_OTHERWISE = ("epochs", "batch", "rate", "patience")  # options of their own
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Preset:
    """The settings of a system at one size, and the settings of its trainer."""

    config: Any  # of the system's class of Settings
    trainer: TrainerConfig


@dataclass(frozen=True)
class System:
    """A sentence system: its presets by name, the texts it needs, and those it can use.

    With `several` it takes parallel text of several languages at once, with `translated_nli` inferences
    with their translations. `network` rebuilds an untrained network from saved settings; encoders of words
    have none. `trainers` returns the settings of the trainer for each stage.
    """

    name: str
    presets: Mapping[str, Preset]
    needs: tuple[str, ...]
    train: "Callable[[Job], Fitted]"
    network: Callable[[Mapping[str, Any], Space], SentenceNetwork] | None = None
    uses: tuple[str, ...] = ()  # beside what it needs
    takes_backbone: bool = False
    several: bool = False
    translated_nli: bool = False
    trainers: Callable[[Preset], tuple[TrainerConfig, ...]] = lambda preset: (preset.trainer,)


@dataclass(frozen=True)
class TrainingRequest:
    """A request to train an encoder: the space, the language, the texts, the settings, the output folder.

    `parallel` is one file of lines `pivot<TAB>sentence`, or two files aligned by line, the pivot's first;
    `further` has such a file for other languages. `translated_nli` has the rows of `nli` in other languages.
    `texts` has the file of each language. The preset is changed by `settings` (from --set), `config`
    (settings of the system with separate options) and `trainer` (settings of TrainerConfig).
    """

    space: Space
    language: str
    out: Path
    preset: str = "small"
    parallel: tuple[Path, ...] = ()
    further: Mapping[str, Path] = field(default_factory=dict)
    nli: Path | None = None
    translated_nli: Mapping[str, Path] = field(default_factory=dict)
    texts: Mapping[str, Path] = field(default_factory=dict)
    backbone: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    trainer: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    resume: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        """All text files of the request."""
        texts = (path for _, path in sorted(self.texts.items()))
        parallel = chain.from_iterable(self.parallel_files.values())
        nli = () if self.nli is None else (self.nli,)
        return (*parallel, *texts, *nli, *self.translated_nli.values())

    @property
    def parallel_files(self) -> dict[str, tuple[Path, ...]]:
        """The files of parallel text by language, the language to train first."""
        own = {self.language: self.parallel} if self.parallel else {}
        return own | {language: (path,) for language, path in self.further.items()}

    def chosen_preset(self, system: System) -> Preset:
        """The preset with the settings applied; checks all that can be checked without reading text."""
        if self.preset not in system.presets:
            raise BadSetting(
                f"--preset of {system.name} must be one of {', '.join(system.presets)}; got {self.preset!r}"
            )
        self._check_texts(system)
        if self.backbone is not None and not system.takes_backbone:
            raise Contradiction(f"{system.name} learns its own words and takes no --backbone; leave it out")
        if self.further and not system.several:
            raise Contradiction(
                f"{system.name} uses parallel text of --lang alone; leave out --parallel "
                f"{next(iter(self.further))}=FILE"
            )
        self._check_languages(system)
        check_out(self.out)
        preset = _changed(system.presets[self.preset], self.settings, {**self.trainer}, {**self.config})
        self._check_effects(system, preset)
        return preset

    def _check_texts(self, system: System) -> None:
        given = {"parallel": bool(self.parallel), "nli": self.nli is not None, "text": bool(self.texts)}
        for name in TEXTS:
            if name in system.needs and not given[name]:
                of = f" of {self.language}, the --lang," if name == "parallel" and self.further else ""
                raise Contradiction(f"{system.name} needs --{name}{of} to train on, got none; add it")
            if given[name] and name not in (*system.needs, *system.uses):
                raise Contradiction(f"{system.name} does not use --{name}; leave it out")
        if len(self.parallel) > 2:
            raise BadSetting(f"--parallel takes one file, or --source and --target; got {len(self.parallel)}")

    def _check_languages(self, system: System) -> None:
        """Raise BadSetting for a language that the space lacks, or that cannot be trained with this text."""
        pivot = self.space.pivot
        for language in (self.language, *self.texts, *self.further, *self.translated_nli):
            self.space.side(language)
        for language in self.translated_nli:
            if not system.translated_nli:
                raise Contradiction(
                    f"{system.name} uses no translations of inferences; leave out --nli {language}=FILE"
                )
            if self.nli is None:
                raise Contradiction(
                    f"--nli {language}=FILE translates pairs of {pivot}, got none; give these as --nli FILE"
                )
            if language == pivot:
                raise BadSetting(
                    f"--nli LANG=FILE must have a language other than the pivot, got {pivot}; give its pairs "
                    "as --nli FILE"
                )
        others = ", ".join(sorted({*self.space.languages} - {pivot}))
        if pivot in self.parallel_files:
            if system.several and self.nli is not None and self.language == pivot:
                raise BadSetting(
                    f"--parallel with --nli of {pivot} must name the other language; give --parallel "
                    f"LANG=FILE, of one of {others}"
                )
            option = "--parallel LANG=FILE" if pivot in self.further else "--lang"
            raise BadSetting(
                f"{option} must have a language other than the pivot, got {pivot}; this space has "
                f"{', '.join(self.space.languages)}"
            )

    def _check_effects(self, system: System, preset: Preset) -> None:
        """Raise BadSetting for the first of `settings` that has no effect, unless it switches a thing off."""
        stages = (set(trainer.ineffective_settings().items()) for trainer in system.trainers(preset))
        given = {"parallel": self.parallel_files, "nli": self.nli, TEXT_OF_MORE: len(self.texts) > 1}
        ineffective = {
            **dict(set.intersection(*stages)),
            **preset.config.ineffective_settings(),
            **preset.config.without_texts([kind for kind, files in given.items() if files]),
        }
        values = {**vars(preset.trainer), **vars(preset.config)}
        for name, text in self.settings.items():
            if name in ineffective and values[name]:  # 0 or false says that it is switched off
                raise BadSetting(f"{name}={text} has no effect {ineffective[name]}")


@dataclass(frozen=True, eq=False)
class Job:
    """A checked request with its settings, backbone and runtime.

    `recipe`, which is saved with the encoder, has everything that determines the result of training, except
    the space and the backbone.
    """

    request: TrainingRequest
    config: Any
    trainer: TrainerConfig
    runtime: Runtime
    backbone: Backbone
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @property
    def languages(self) -> tuple[str, str]:
        """The pivot and the language to train."""
        return self.request.space.pivot, self.request.language

    def parallel(self, reader: Callable[[str], Reader] | None = None) -> ParallelCorpus:
        """The parallel text of every language, read by the backbone or a `reader`, with a part held out."""
        (pivot, _), runtime, pairs = self.languages, self.runtime, dict[str, Pairs]()
        for language, files in self.request.parallel_files.items():
            readers = [(reader or self.backbone.reader)(name) for name in (pivot, language)]
            rng = np.random.default_rng(self.request.seed)
            pairs[language] = make_pairs(
                read_pairs(files, self.request.space, language),
                readers,
                rng=rng,
                device=runtime.device,
                progress=runtime.progress,
            )
        return ParallelCorpus(pivot, pairs)

    def train(
        self, learner: Learner, trainer: TrainerConfig | None = None, stage: str = ""
    ) -> tuple[EpochResult, ...]:
        """The results of all epochs of a learner, which is left as at the best of them."""
        runtime = self.runtime
        if stage:
            runtime = replace(runtime, checkpoint=runtime.checkpoint.of(stage))
        return train(learner, trainer or self.trainer, seed=self.request.seed, runtime=runtime)

    def fitted(
        self,
        learner: Learner,
        epochs: tuple[EpochResult, ...],
        network: SentenceNetwork,
        label: str,
        settings: Mapping[str, Any],
        counts: Mapping[str, int],
        scored: tuple[str, ...] = (),
    ) -> "Fitted":
        """The result of these epochs; `settings` are the JSON values that rebuild the `network`.

        Among them are its `languages`, unless it has those of the space.
        """
        space = self.request.space
        languages = tuple(settings.get("languages", space.languages))
        settings = {"system": self.recipe["system"], **settings, "training": self.recipe}
        encoder = NetworkEncoder(label, space, languages, network.eval(), settings)
        return Fitted(encoder, epochs, learner.metric, learner.eval().held_out(), counts, scored)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of training a system: the encoder at its best epoch, and the results of all epochs.

    An epoch's score is its `metric` on held-out cases. `counts` are printed unchanged. `scored` are the
    languages of the held-out cases, unless these are all the languages that were trained.
    """

    encoder: SentenceEncoder
    epochs: tuple[EpochResult, ...]
    metric: str
    held_out: HeldOutScore
    counts: Mapping[str, int]
    scored: tuple[str, ...] = ()


def _changed(
    preset: Preset, texts: Mapping[str, str], trainer: dict[str, Any], config: dict[str, Any]
) -> Preset:
    """The preset with these settings; a name in --set is looked up in the system first, then the trainer."""
    of_system, of_trainer = _kinds(preset.config), _kinds(preset.trainer)
    of_trainer = {name: kind for name, kind in of_trainer.items() if name not in CALLED_OTHERWISE}
    for name, text in texts.items():
        values, kinds = (config, of_system) if name in of_system else (trainer, of_trainer)
        if name not in kinds:
            own = f"; use --{name}" if name in CALLED_OTHERWISE else ""
            raise BadSetting(f"--set takes one of {', '.join([*of_system, *of_trainer])}; got {name!r}{own}")
        kind = kinds[name]
        try:
            values[name] = _BOOLEANS[text.lower()] if kind is bool else kind(text)
        except (ValueError, KeyError):
            expected = "true or false" if kind is bool else f"a value of type {kind.__name__}"
            raise BadSetting(f"--set {name} takes {expected}, got {text!r}") from None
    for default, given in ((preset.config, config), (preset.trainer, trainer)):
        for name in given.keys() - vars(default):
            raise BadSetting(
                f"{type(default).__name__} takes one of {', '.join(vars(default))}; got {name!r}"
            )
    return Preset(replace(preset.config, **config), replace(preset.trainer, **trainer))


def _kinds(config: Settings) -> dict[str, type]:
    """The type of each declared setting."""
    return {part.name: type(part.default) for part in fields(config) if "declared" in part.metadata}
