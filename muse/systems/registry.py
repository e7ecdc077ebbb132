"""The sentence systems by name, the one way to train any of them, and to restore what was trained."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from muse.encoders.encoder import SentenceEncoder
from muse.encoders.saving import Saved, checksums
from muse.errors import BadFile, BadSetting, MuseError, NotConverged
from muse.files.space_folder import checksum
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from muse.space import AlignedSpace
from muse.systems.bgt.system import BGT
from muse.systems.cmlm.system import CMLM
from muse.systems.lens.system import LENS
from muse.systems.network_encoder import NetworkEncoder, load_state
from muse.systems.nli.infersent import INFERSENT
from muse.systems.nli.x_bilstm import X_BILSTM
from muse.systems.system import Fitted, Job, Preset, Request, System, open_core
from muse.systems.xlm.system import XLM
from muse.training.trainer import Epoch, best_epoch

SYSTEMS: Mapping[str, System] = {s.name: s for s in (LENS, INFERSENT, X_BILSTM, CMLM, BGT, XLM)}


@dataclass(frozen=True, eq=False)
class TrainedSystem:
    """What came of a request: the encoder, all that its system told, the seconds of every stage.

    `inputs` are the files it learned from, with their sha256.
    """

    encoder: NetworkEncoder
    fitted: Fitted
    inputs: tuple[tuple[str, str], ...]
    seconds: dict[str, float]

    @property
    def best(self) -> Epoch:
        """The epoch that the encoder is of."""
        return best_epoch(self.fitted.epochs)


def train_system(name: str, request: Request, runtime: Runtime) -> TrainedSystem:
    """Checks everything, trains the system of that name, and saves the encoder at `request.out`.

    The state after every epoch is kept beside it until it is saved, for `request.resume`; it stays there
    where training broke down, so that it goes on from the last good epoch with a lower rate.
    """
    began = time.perf_counter()
    if name not in SYSTEMS:
        raise BadSetting(f"a sentence system is one of {', '.join(SYSTEMS)}; got {name!r}")
    system = SYSTEMS[name]
    preset = request.settled(system)
    inputs = tuple((str(path), _checksum(path)) for path in (*request.files, *system.reads(preset.config)))
    core = open_core(request.space, request.core, runtime.device)
    told = _told(system, request, preset, inputs)
    checkpoint = _open_checkpoint(request, runtime, [repr(told), repr(core.settings)])
    runtime = replace(runtime, checkpoint=checkpoint)
    try:
        fitted = system.train(Job(request, preset.config, preset.trainer, runtime, core))
    except NotConverged as error:
        raise NotConverged(
            f"{error}. The last good epoch is kept: go on from it with --resume and a --rate below "
            f"{preset.trainer.rate:g}"
        ) from error
    except MuseError:
        if runtime.processes.first and not request.resume:  # what a run killed before has learned stays
            checkpoint.clear()
        raise
    training = time.perf_counter()
    settings = {"system": system.name, **fitted.settings, "training": {**told, "trainer": preset.trainer}}
    encoder = NetworkEncoder(fitted.label, request.space, fitted.languages, fitted.network, settings)
    if runtime.processes.first:
        encoder.save(request.out)
        checkpoint.clear()
    end = time.perf_counter()
    seconds = {"training": training - began, "save": end - training, "total": end - began}
    return TrainedSystem(encoder, fitted, inputs, seconds)


def restore_system(saved: Saved, space: AlignedSpace, _: Sequence[SentenceEncoder] = ()) -> NetworkEncoder:
    """The encoder as it was saved, for its space; KeyError and the like where its settings are not whole."""
    settings = dict(saved.settings)
    network = SYSTEMS[settings["system"]].network(settings, space)
    return NetworkEncoder(
        saved.name, space, tuple(settings["languages"]), load_state(network, saved.arrays), settings
    )


def _told(
    system: System, request: Request, preset: Preset, inputs: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """All that decides what comes of it but the space and the core.

    The rate is left out: a run that broke down goes on with a lower one.
    """
    return {
        "system": system.name,
        "preset": request.preset,
        "language": request.language,
        "config": preset.config,
        "trainer": replace(preset.trainer, rate=1.0),
        "seed": request.seed,
        "inputs": inputs,
    }


def _open_checkpoint(request: Request, runtime: Runtime, fingerprint: Sequence[str]) -> Checkpoint:
    """The store beside the encoder, emptied unless the run resumes; BadSetting if it is another run's."""
    folder = request.out.resolve()
    folder = folder.with_name(f".{folder.name}.checkpoint")
    checkpoint = Checkpoint(folder)
    if runtime.processes.first:
        spaces = [f"{language} {found}" for language, found in checksums(request.space).items()]
        checkpoint = Checkpoint.open(folder, [*fingerprint, *spaces], resume=request.resume)
    runtime.processes.wait()  # the others read what the first one has opened
    return checkpoint


def _checksum(path: Path) -> str:
    try:
        return checksum(path)
    except OSError as error:
        raise BadFile(f"{path}: expected a file, got {error.strerror or error}; check its name") from error
