"""What cmlm.py and cmlm_control.py share: the space, the texts to learn from, the training."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.support.sentence_sets import PIVOT, Aligned
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.files.sentence_text import read_documents
from muse.sentences.systems.backbone import open_backbone
from muse.sentences.systems.cmlm.cmlm_system import CMLM, Documents
from muse.sentences.systems.system import Job, TrainingRequest
from muse.space import Space


class Bench(NamedTuple):
    """What every table needs: the space, the texts, and what was asked for."""

    space: Space
    other: str
    folder: Path
    asked: argparse.Namespace
    text: Aligned  # Tatoeba's training pairs

    @property
    def data(self) -> Path:
        """The shared data."""
        return Path(self.asked.shared) / "data"


def part_novels(bench: Bench, language: str) -> Documents:
    """The novels that are held out; writes the others, to learn from."""
    novels = read_documents(bench.data / "text" / f"novels.{language}.tsv.gz")
    novels = {name: text[: bench.asked.paragraphs] for name, text in novels.items()}
    test = sorted(novels)[-bench.asked.novels :]
    lines = (f"{name}\t{line}\n" for name, text in novels.items() if name not in test for line in text)
    (bench.folder / f"{language}.tsv").write_text("".join(lines), encoding="utf-8")
    return {name: novels[name] for name in test}


def write_pairs(bench: Bench) -> None:
    """Writes the translations to learn from: all, or so many of them, which are in random order."""
    pairs = zip(bench.text.english[: bench.asked.pairs], bench.text.other, strict=False)
    text = "".join(f"{english}\t{other}\n" for english, other in pairs)
    (bench.folder / "pairs.tsv").write_text(text, encoding="utf-8")


def job(bench: Bench, seed: int, more: Mapping[str, object], nli: Path | None = None) -> Job:
    """The training of one seed, with what was asked for, more settings, and inferences last if given."""
    settings = {**dict(one.split("=", 1) for one in bench.asked.set), **{k: str(v) for k, v in more.items()}}
    trainer = {name: getattr(bench.asked, name) for name in ("epochs", "batch", "rate")}
    request = TrainingRequest(
        bench.space, bench.other, bench.folder / "out", parallel=(bench.folder / "pairs.tsv",),
        texts={name: bench.folder / f"{name}.tsv" for name in (bench.other, PIVOT)}, settings=settings,
        trainer={name: value for name, value in trainer.items() if value is not None}, seed=seed, nli=nli,
    )  # fmt: skip
    preset = request.chosen_preset(CMLM)
    runtime = Runtime(progress=Progress(quiet=not sys.stderr.isatty()))
    return Job(request, preset.config, preset.trainer, runtime, open_backbone(bench.space, None))
