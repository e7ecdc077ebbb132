"""The run of `muse train`: from a space and parallel text to a trained encoder on disk."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from muse.encoders.pooling import check_powers
from muse.encoders.reading import Vocabulary
from muse.encoders.saving import check_out, checksums
from muse.encoders.trained import TrainedEncoder
from muse.errors import BadSetting, MuseError
from muse.files.parallel_text import ParallelText, read_pairs
from muse.files.space_folder import checksum
from muse.files.space_manifest import input_file
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from muse.space import AlignedSpace
from muse.training.kinds import KINDS, Kind, LossChoice
from muse.training.losses import Loss
from muse.training.pairs import Pairs, make_pairs
from muse.training.trainer import Epoch, TrainerConfig, best_epoch, train
from muse.training.two_sides import PairLearner
from muse.training.word_tables import WordTables


@dataclass(frozen=True)
class Training:
    """What to train, on what, and where to put it.

    `parallel` is one file of lines `pivot<TAB>sentence`, or two aligned by line, the pivot's first.
    `config` names the settings of TrainerConfig that are not the encoder's defaults.
    """

    space: AlignedSpace
    language: str
    parallel: tuple[Path, ...]
    out: Path
    encoder: str = "x-cbow"
    loss: LossChoice = LossChoice()
    config: dict[str, Any] = field(default_factory=dict)
    powers: tuple[float, ...] = (1.0,)
    seed: int = 0
    resume: bool = False

    @property
    def kind(self) -> Kind:
        """The kind of encoder; BadSetting where there is none of that name."""
        if self.encoder not in KINDS:
            raise BadSetting(f"a trained encoder is one of {', '.join(KINDS)}; got {self.encoder!r}")
        return KINDS[self.encoder]

    def settled(self) -> tuple[Loss, TrainerConfig]:
        """The loss and the trainer's settings, once all that can be checked without reading text is."""
        kind = self.kind
        found = self.loss.loss(kind), replace(kind.config, **self.config)
        self.space.side(self.language)
        if self.language == self.space.pivot:
            raise BadSetting(
                f"--lang must be another language than the pivot, {self.space.pivot}, which it meets; "
                f"this space has {', '.join(self.space.languages)}"
            )
        if len(self.parallel) not in (1, 2):
            raise BadSetting("--parallel FILE is needed, or --source FILE and --target FILE")
        check_powers(self.powers)
        check_out(self.out)
        return found


@dataclass(frozen=True)
class Trained:
    """What came of it: the encoder, the epochs, the numbers of pairs, the seconds of every stage."""

    encoder: TrainedEncoder
    epochs: tuple[Epoch, ...]
    pairs: int
    held_out: int
    skipped: int
    seconds: dict[str, float]

    @property
    def best(self) -> Epoch:
        """The epoch that the encoder is of."""
        return best_epoch(self.epochs)


def train_encoder(request: Training, runtime: Runtime) -> Trained:
    """Checks everything, reads, trains, and saves the encoder at `request.out`.

    The state after every epoch is kept beside it until it is saved, for `request.resume`.
    """
    began = time.perf_counter()
    loss, config = request.settled()
    text = read_pairs(request.parallel)
    checkpoint = _open_checkpoint(request, loss, config)
    runtime = replace(runtime, checkpoint=checkpoint)
    try:
        pairs = _pairs(request, text, runtime)
        reading = time.perf_counter()
        encoder = request.kind.make(*_rows(request, runtime.device))
        learner = PairLearner(encoder, loss, pairs)
        epochs = train(learner, config, seed=request.seed, runtime=runtime)
    except MuseError:
        if not request.resume:  # what a run killed before has learned stays
            checkpoint.clear()
        raise
    training = time.perf_counter()
    made = _made(request, encoder, loss, config)
    made.save(request.out)
    checkpoint.clear()
    end = time.perf_counter()
    seconds = {"load": reading - began, "training": training - reading, "save": end - training}
    counts = len(pairs.training), len(pairs.held_out), pairs.skipped
    return Trained(made, epochs, *counts, {**seconds, "total": end - began})


def _pairs(request: Training, text: ParallelText, runtime: Runtime) -> Pairs:
    languages = request.space.pivot, request.language
    vocabularies = [Vocabulary(name, request.space.vectors(name).index) for name in languages]
    rng = np.random.default_rng(request.seed)
    return make_pairs(text, vocabularies, rng=rng, device=runtime.device, progress=runtime.progress)


def _rows(request: Training, device: str) -> list[Tensor]:
    languages = request.space.pivot, request.language
    # A copy: the folder that the rows are mapped from may be replaced while they are in use.
    return [torch.tensor(request.space.vectors(name).matrix, device=device) for name in languages]


def _open_checkpoint(request: Training, loss: Loss, config: TrainerConfig) -> Checkpoint:
    """The store beside the encoder, emptied unless the run resumes; BadSetting if it is another run's."""
    folder = request.out.resolve()
    settings = repr((request.encoder, request.language, str(loss), config, request.seed))
    files = [checksum(path) for path in request.parallel]
    spaces = checksums(request.space)
    fingerprint = [settings, spaces[request.space.pivot], spaces[request.language], *files]
    return Checkpoint.open(folder.with_name(f".{folder.name}.checkpoint"), fingerprint, resume=request.resume)


def _made(request: Training, encoder: WordTables, loss: Loss, config: TrainerConfig) -> TrainedEncoder:
    tables = {request.space.pivot: encoder.pivot_table(), request.language: encoder.other_table()}
    return TrainedEncoder(
        label=f"{request.encoder}[{loss}]",
        space=request.space,
        trained_for=(request.language, request.space.pivot),
        tables={name: rows.cpu().numpy() for name, rows in tables.items() if rows is not None},
        pooling=encoder.pooling,
        powers=check_powers(request.powers),
        settings={
            "encoder": request.encoder,
            "loss": str(loss),
            "trainer": config,
            "seed": request.seed,
            "parallel": [input_file(path) for path in request.parallel],
        },
    )
