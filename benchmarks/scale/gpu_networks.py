"""A few steps of each sentence system at its paper preset, on a GPU: seconds, loss and memory.

Called by benchmarks/scale/gpu.py. The text is random words of a random space, so that nothing has to be
fetched: the layers have the published sizes, the tables of pieces as many rows as such text gives. Batches
are BATCH, as the published ones need several devices.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from muse.normalise import Normalisation, normalise
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.space import SideToSave, Space, load_space, save_space
from muse.space.saving import Provenance
from muse.vectors import Vectors

# The systems, with what each learns from. x-bilstm begins with another encoder, and is its network.
SYSTEMS = {
    "sp": ("parallel",), "lens": ("parallel",), "infersent": ("nli",), "cmlm": ("documents",),
    "bgt": ("parallel",), "xlm": ("text", "parallel"), "translator": ("text",),
}  # fmt: skip
LANGUAGES = ("en", "fr")
LABELS = ("entailment", "neutral", "contradiction")
WORDS, DIMENSION, SENTENCES, BATCH, STEPS = 5_000, 300, 2_000, 64, 5


class Steps(NamedTuple):
    """Seconds of a step with its share of the held-out score, the last loss, MB at the GPU's peak."""

    seconds: float
    loss: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.3f} s a step, loss {self.loss:.3f}, {self.megabytes:.0f} MB"


def random_space(folder: Path) -> Space:
    """A space of random rows, whose words are as long as those of a language."""
    rng, steps = np.random.default_rng(0), Normalisation(("unit",), ())
    sides = {}
    for language in LANGUAGES:
        letters = rng.integers(26, size=(2 * WORDS, 8))
        spelled = ("".join(chr(97 + one) for one in row[: 3 + row[0] % 6]) for row in letters)
        words = [*dict.fromkeys(spelled)][:WORDS]
        rows = normalise(rng.normal(size=(len(words), DIMENSION)).astype(np.float32), ["unit"])[0]
        sides[language] = SideToSave(Vectors(language, words, rows), steps)
    save_space(folder, sides, pivot=LANGUAGES[0], provenance=Provenance("random"))
    return load_space(folder)


def write_texts(space: Space, folder: Path) -> None:
    """Writes text of every kind: pairs, inferences, and lines and documents of each language."""
    rng = np.random.default_rng(1)
    lines = {}
    for language in LANGUAGES:
        words = space.vectors(language).words
        drawn = (rng.zipf(1.2, rng.integers(4, 30)) % len(words) for _ in range(SENTENCES))
        lines[language] = [" ".join(words[place] for place in places) for places in drawn]
        documents = (f"document {place // 20}\t{line}" for place, line in enumerate(lines[language]))
        _write(folder / f"{language}.txt", lines[language])
        _write(folder / f"{language}.tsv", [*documents])
    english, other = (lines[language] for language in LANGUAGES)
    _write(folder / "parallel.tsv", [f"{one}\t{two}" for one, two in zip(english, other, strict=True)])
    halves = zip(english[::2], english[1::2], strict=True)  # no sentence is in two pairs
    rows = (f"{one}\t{two}\t{LABELS[row % 3]}" for row, (one, two) in enumerate(halves))
    _write(folder / "nli.tsv", ["premise\thypothesis\tlabel", *rows])


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def given(folder: Path, kind: str) -> dict[str, Any]:
    """The part of a request with that kind of text."""
    if kind == "parallel":
        return {"parallel": (folder / "parallel.tsv",)}
    if kind == "nli":
        return {"nli": folder / "nli.tsv"}
    ending = "txt" if kind == "text" else "tsv"
    return {"texts": {language: folder / f"{language}.{ending}" for language in LANGUAGES}}


def paper_steps(name: str, folder: Path, *, device: str, preset: str = "paper", batch: int = BATCH) -> Steps:
    """The first steps of a system on a device; `folder` gets the texts and the space unless it has them.

    Raise AssertionError if the loss is not finite.
    """
    if not (folder / "space").exists():
        write_texts(random_space(folder / "space"), folder)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    texts = {key: value for kind in SYSTEMS[name] for key, value in given(folder, kind).items()}
    language = LANGUAGES[0] if "nli" in texts else LANGUAGES[1]
    request = TrainingRequest(
        load_space(folder / "space"), language, folder / name, preset=preset,
        trainer={"epochs": 1, "batch": batch, "steps": STEPS}, **texts,
    )  # fmt: skip
    last = train_system(name, request, Runtime(device, Progress(quiet=True))).epochs[-1]
    peak = torch.cuda.max_memory_allocated() / 1e6 if device == "cuda" else 0.0
    if not np.isfinite(last.loss):
        raise AssertionError(f"the loss of {name} must be finite, got {last.loss}")
    return Steps(last.seconds / max(1, last.steps), last.loss, peak)
