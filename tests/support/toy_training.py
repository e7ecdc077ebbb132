"""A system trained on the toy text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.systems.registry import TrainedSystem, train_system
from muse.sentences.systems.system import TrainingRequest
from tests.support.parallel import toy_space, toy_text, write_text


def train_on_toy(
    system: str, folder: Path, settings: Mapping[str, str], trainer: Mapping[str, float], ends: str = ""
) -> TrainedSystem:
    """The system after training on 600 pairs of the toy text; space, text and `out` are in the folder.

    Sentences end in each of the characters `ends` in turn.
    """
    marks = list(ends) or [""]
    pairs = [
        (f"{english}{marks[i % len(marks)]}", f"{other}{marks[i % len(marks)]}")
        for i, (english, other) in enumerate(toy_text(600))
    ]
    request = TrainingRequest(
        toy_space(folder / "space"), "fr", folder / "out",
        parallel=(write_text(folder / "pairs.tsv", pairs),), settings=settings, trainer=trainer,
    )  # fmt: skip
    return train_system(system, request, Runtime(progress=Progress(quiet=True)))
