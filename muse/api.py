"""The Python door: the run of `muse align`, from files to a space on disk, in one call."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from muse.align import AlignConfig, Learned, check_pair, learn, prepare_
from muse.checkpoint import Checkpoint
from muse.errors import BadSetting, MuseError
from muse.evaluation.score import Signature
from muse.files import read_lexicon, read_vectors
from muse.files.locate import locate_vectors
from muse.files.space_folder import checksum
from muse.memory import peak_memory_mb
from muse.normalise import Normalisation
from muse.progress import Progress
from muse.runtime import Runtime
from muse.space import (
    AlignedSpace,
    Provenance,
    SideToSave,
    check_language,
    check_out,
    load_space,
    save_space,
)
from muse.vectors import Vectors

log = logging.getLogger(__name__)

# Above so many pairs of words a CPU takes minutes for the hubness of both sides, which those who
# never translate do not need: then it is left to the first evaluation.
HUBNESS_ON_CPU = 50_000 * 50_000


@dataclass(frozen=True)
class Request:
    """What to align, from which files, and where to put it; what is None is looked up or the default."""

    source: str
    target: str
    source_file: Path | None = None
    target_file: Path | None = None
    dictionary: Path | None = None
    out: Path | None = None
    max_vocab: int | None = None
    lowercase: bool = False
    resume: bool = False
    config: AlignConfig = AlignConfig()

    @property
    def folder(self) -> Path:
        """Where the space goes."""
        return self.out or Path("embeddings", "aligned", f"{self.source}-{self.target}")


@dataclass(frozen=True)
class Report:
    """What a run did: where the space is, what was learned, seconds by stage, words by language."""

    space: Path
    learned: Learned
    seconds: dict[str, float]
    words: dict[str, int]
    signature: Signature

    def as_json(self) -> dict[str, Any]:
        """The fields of `muse align --json`."""
        learned, verdict = self.learned, self.learned.verdict
        return {
            "space": str(self.space),
            "init": learned.alignment.init,
            "criterion": round(learned.alignment.criterion, 4),
            "verdict": verdict.label,
            "confidence": verdict.confidence,
            "agreement": verdict.agreement,
            "mutual": verdict.mutual,
            "unsupervised": learned.alignment.init not in ("identical", "dictionary"),
            "seconds": {stage: round(value, 2) for stage, value in self.seconds.items()},
            "candidates": [candidate.as_json() for candidate in learned.candidates],
            "words": self.words,
            "peak_memory_mb": peak_memory_mb(),
            "signature": str(self.signature),
        }


def align(source: str, target: str, **options: Any) -> AlignedSpace:
    """The space of two languages, learned from their vectors and saved; `options` as in `Request`.

    The verdict is in `space.manifest["verdict"]`; look at it before you use the space.
    """
    report = run(Request(source, target, **options))
    return load_space(report.space)


def run(request: Request, *, device: str = "auto", progress: Progress | None = None) -> Report:
    """Does what `request` asks: checks everything, reads, learns, saves.

    The state of a run longer than its first stage is kept beside the space until it is saved, so
    that a killed run can go on with `request.resume`.
    """
    began = time.perf_counter()
    device = pick_device(device)
    check_out(request.folder)
    for language in (request.source, request.target):
        check_language(language)
    source_file = request.source_file or locate_vectors(request.source)
    target_file = request.target_file or locate_vectors(request.target)
    request = _with_dictionary(request)
    source, source_steps = _read(request, request.source, source_file)
    target, target_steps = _read(request, request.target, target_file)
    check_pair(source, target, max_vocab=request.max_vocab)
    loaded = time.perf_counter()
    checkpoint = _open_checkpoint(request, source_file, target_file)
    runtime = Runtime(device, progress or Progress(quiet=True), checkpoint)
    try:
        learned = learn(source, target, config=request.config, runtime=runtime)
    except MuseError:
        checkpoint.clear()  # to go on from here would only end here again
        raise
    saving = time.perf_counter()
    sides = {
        request.source: SideToSave(source, source_steps, learned.alignment.source_map, (source_file,)),
        request.target: SideToSave(target, target_steps, learned.alignment.target_map, (target_file,)),
    }
    save_space(
        request.folder,
        sides,
        pivot=request.target,
        provenance=_provenance(request, learned),
        hubness=device == "cuda" or len(source) * len(target) <= HUBNESS_ON_CPU,
        device=device,
    )
    checkpoint.clear()
    end = time.perf_counter()
    seconds = {"load": loaded - began, **learned.seconds, "save": end - saving, "total": end - began}
    words = {side.language: len(side) for side in (source, target)}
    return Report(request.folder, learned, seconds, words, _signature(request, learned, words))


def pick_device(device: str) -> str:
    """The device to run on: what was asked for, or for "auto" a GPU where there is one."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise BadSetting(
            "--device cuda needs a CUDA GPU and a torch that sees it, found none; use --device cpu"
        )
    if device not in ("cpu", "cuda"):
        raise BadSetting(f"--device must be one of auto, cpu, cuda; got {device!r}")
    return device


def _with_dictionary(request: Request) -> Request:
    if request.dictionary is None:
        return request
    plan = replace(request.config.plan, init="dictionary", lexicon=read_lexicon(request.dictionary))
    return replace(request, config=replace(request.config, plan=plan))


def _read(request: Request, language: str, path: Path) -> tuple[Vectors, Normalisation]:
    vectors = read_vectors(path, language=language, max_vocab=request.max_vocab, lowercase=request.lowercase)
    check_language(language, vectors.words)
    if vectors.repeated:
        log.warning("%s: kept the first of %d repeated words (%s)", path, vectors.repeated, language)
    return prepare_(vectors, request.config.steps)


def _open_checkpoint(request: Request, *files: Path) -> Checkpoint:
    """The store beside the space, emptied unless the run resumes; BadSetting if it is another run's."""
    folder = request.folder.resolve()
    settings = repr((request.source, request.target, request.max_vocab, request.lowercase, request.config))
    fingerprint = [settings, *map(checksum, files)]
    return Checkpoint.open(folder.with_name(f".{folder.name}.checkpoint"), fingerprint, resume=request.resume)


def _provenance(request: Request, learned: Learned) -> Provenance:
    config = request.config
    settings = {
        "init": config.plan.init,
        "normalise": config.steps,
        "refine": config.refine,
        "self_learning": config.plan.self_learning,
        "reweight": config.reweight,
        "max_vocab": request.max_vocab,
        "lowercase": request.lowercase,
    }
    return Provenance(
        method=learned.alignment.method,
        settings=settings,
        seed=config.seed,
        criterion=learned.alignment.criterion,
        verdict=learned.verdict,
        inputs=() if request.dictionary is None else (request.dictionary,),
        more={"candidates": [candidate.as_json() for candidate in learned.candidates]},
    )


def _signature(request: Request, learned: Learned, words: dict[str, int]) -> Signature:
    config = request.config
    more: Sequence[str] = ["refine" if config.refine is not None else "no-refine"]
    return Signature(
        str(config.refine.retrieval) if config.refine is not None else "csls:10",
        f"{request.source}-{request.target}",
        ",".join(config.steps),
        learned.alignment.method,
        seed=config.seed,
        vocabulary=(words[request.source], words[request.target]),
        more=tuple(more),
    )
