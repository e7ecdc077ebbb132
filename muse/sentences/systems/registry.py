"""The sentence systems by name, and the functions that train any of them and restore its encoder.

A request and a runtime go in; a folder with the encoder and a TrainedSystem that reports on it come out.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting, MuseError, NotConverged
from muse.files.atomic import only_writer
from muse.files.source import cannot_open
from muse.files.space_folder import checksum
from muse.run.checkpoint import Checkpoint, checkpoint_folder
from muse.run.runtime import Runtime
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.saving import Saved, checksums, encoder_files
from muse.sentences.systems.backbone import PRETRAINED, Backbone, open_backbone, restored_pretrained
from muse.sentences.systems.bgt.bgt_system import BGT
from muse.sentences.systems.cmlm.cmlm_system import CMLM
from muse.sentences.systems.lens import LENS
from muse.sentences.systems.network_encoder import NetworkEncoder, restored
from muse.sentences.systems.nli.infersent import INFERSENT, X_BILSTM
from muse.sentences.systems.system import Fitted, Job, System, TrainingRequest
from muse.sentences.systems.translator.translator_system import TRANSLATOR
from muse.sentences.systems.word_encoders import CVM_ADD, PROJECTION, SP, X_CBOW
from muse.sentences.systems.xlm.tuning import XLM_NLI
from muse.sentences.systems.xlm.xlm_system import XLM
from muse.sentences.training.trainer import EpochResult, best_epoch
from muse.space import Space

_ALL = (X_CBOW, PROJECTION, CVM_ADD, SP, LENS, INFERSENT, X_BILSTM, CMLM, BGT, XLM)
SYSTEMS: Mapping[str, System] = {system.name: system for system in _ALL}  # for muse train
FINE_TUNED: Mapping[str, System] = {XLM.name: XLM_NLI}  # the system that --nli makes of one
SAVED: Mapping[str, System] = {system.name: system for system in (*_ALL, TRANSLATOR, *FINE_TUNED.values())}


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedSystem(Fitted):
    """The result of a request: what its system reports, and the seconds of every stage.

    `inputs` are the files it was trained on, with their sha256: first the files of the request, then those in
    folders that its config names. `contents` has, by setting, the sha256 of the files in each such folder, of
    the weights last.
    """

    system: System
    inputs: tuple[tuple[str, str], ...]
    seconds: dict[str, float]
    contents: Mapping[str, str]

    @property
    def best(self) -> EpochResult:
        """The epoch whose parameters the encoder has."""
        return best_epoch(self.epochs)


def train_system(name: str, request: TrainingRequest, runtime: Runtime) -> TrainedSystem:
    """The result of training the named system; its encoder is saved at `request.out`.

    Until then, the state after every epoch is kept beside that folder, for `request.resume`. If training
    diverged it stays there, and can be resumed from the last good epoch with a lower rate.
    """
    if name not in SAVED:
        raise BadSetting(f"the encoder to train must be one of {', '.join(SYSTEMS)}; got {name!r}")
    system = SAVED[name] if request.nli is None else FINE_TUNED.get(name, SAVED[name])
    with only_writer(request.out) if runtime.processes.first else nullcontext():
        return _trained(system, request, runtime)


def _trained(system: System, request: TrainingRequest, runtime: Runtime) -> TrainedSystem:
    began = time.perf_counter()
    preset = request.chosen_preset(system)
    folders = {name: encoder_files(folder) for name, folder in preset.config.folders().items()}
    read = dict.fromkeys(chain.from_iterable(folders.values()))
    target = request.out.resolve()
    for folder in (path.resolve().parent for path in read):
        if folder.is_relative_to(target) or target.is_relative_to(folder):
            raise BadSetting(
                f"{request.out}: --out must be apart from {folder}, an encoder that --set names, since a "
                "saved folder is replaced as a whole; choose another --out"
            )
    inputs = tuple((str(path), _checksum(path)) for path in (*request.files, *read))
    backbone = open_backbone(request.space, request.backbone, runtime.device)
    recipe = {  # everything that determines the result, except the space and the backbone
        "system": system.name,
        "preset": request.preset,
        "language": request.language,
        "config": preset.config,
        "trainer": preset.trainer,
        "seed": request.seed,
        "inputs": inputs,
    }
    digests = dict(inputs)
    contents = {name: " ".join(digests[str(path)] for path in files) for name, files in folders.items()}
    fingerprint = _fingerprint(request, recipe, backbone, contents)
    folder = checkpoint_folder(request.out)
    checkpoint = Checkpoint.open(folder, fingerprint, resume=request.resume, processes=runtime.processes)
    runtime = replace(runtime, checkpoint=checkpoint)
    prepared = time.perf_counter()
    fitted = _fitted(system, Job(request, preset.config, preset.trainer, runtime, backbone, recipe))
    training = time.perf_counter()
    if runtime.processes.first:
        fitted.encoder.save(request.out)
        checkpoint.clear()
    end = time.perf_counter()
    seconds = {"load": prepared - began, "training": training - prepared, "save": end - training}
    seconds["total"] = end - began
    return TrainedSystem(**vars(fitted), system=system, inputs=inputs, seconds=seconds, contents=contents)


def _fitted(system: System, job: Job) -> Fitted:
    """The trained encoder with its report; after an error, a checkpoint is kept only if it can be resumed."""
    checkpoint = job.runtime.checkpoint if job.runtime.processes.first else Checkpoint()
    try:
        return system.train(job)
    except NotConverged as error:
        if not checkpoint.abandon(breakdown=True):
            raise
        stages = "".join(f", or a lower {name} if it was in use" for name in _rates(job.config))
        raise NotConverged(
            f"{error}. The last good epoch is kept: resume from it with --resume and a --rate below "
            f"{job.trainer.rate:g}{stages}"
        ) from error
    except MuseError:
        checkpoint.abandon()
        raise
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(checkpoint.interrupted()) from error


def restore_system(saved: Saved, space: Space, _: Sequence[SentenceEncoder] = ()) -> NetworkEncoder:
    """The saved encoder, for its space; KeyError, TypeError or ValueError if its settings are incomplete."""
    settings, languages = dict(saved.settings), tuple(saved.settings["languages"])
    system = settings["system"]
    make = restored_pretrained if system == PRETRAINED else SAVED[system].network
    if make is None:
        raise KeyError(f"{system} is saved as rows of words, not as a network")
    network = restored(lambda: make(settings, space), saved.arrays, backbone=bool(settings.get("backbone")))
    return NetworkEncoder(saved.name, space, languages, network, settings)


def _fingerprint(
    request: TrainingRequest, recipe: Mapping[str, Any], backbone: Backbone, contents: Mapping[str, str]
) -> list[str]:
    """The texts that must be equal in a run and the interrupted run that it resumes.

    The rates may differ, since a diverged run is resumed with a lower one, and so may the paths of files and
    of folders that settings name: such a setting is replaced by the folder's `contents`. The folder of the
    backbone may differ as well, but not its weights.
    """
    digests = [digest for _, digest in recipe["inputs"][: len(request.files)]]
    trainer = replace(recipe["trainer"], rate=1.0)
    config = replace(recipe["config"], **contents, **dict.fromkeys(_rates(recipe["config"]), 1.0))
    given = {"texts": request.texts, "further": request.further, "nli": request.translated_nli}
    languages = {name: list(files) for name, files in given.items()}  # numbered in this order
    settings = {**recipe, "config": config, "trainer": trainer, "inputs": digests, **languages}
    spaces = [f"{language} {digest}" for language, digest in checksums(request.space).items()]
    of_backbone = {name: value for name, value in backbone.settings.items() if name != "folder"}
    return [repr(settings), repr(of_backbone), *spaces]


def _rates(config: Any) -> list[str]:
    """The settings of a config that are the learning rates of stages."""
    return [name for name in vars(config) if name.endswith("_rate")]


def _checksum(path: Path) -> str:
    try:
        return checksum(path)
    except OSError as error:
        raise BadFile(cannot_open(path, error)) from error
