"""What infersent_mt.py learns from: encoders that are trained once, and text translated word by word."""

import argparse
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.support.sick import official
from benchmarks.support.tables import muse
from benchmarks.systems.inference_text import PIVOT, Text, written

_PREMISE, _HYPOTHESIS = 1, 2  # columns of SICK
Options = Sequence[str | Path]


class Trained(NamedTuple):
    """The folder of an encoder, and what muse train said of it."""

    folder: Path
    told: dict[str, Any]


class Bench:
    """The options, the text, and the encoders that the folder has already, for one seed."""

    def __init__(self, asked: argparse.Namespace, seed: int) -> None:
        self.asked, self.seed = asked, seed
        self.text: Text = written(asked.shared / "data", asked.work / "text", asked.tatoeba)

    @cached_property
    def sick(self) -> Path:
        """SICK in its official parts; who only translates does not read it."""
        return official(self.asked.shared / "data")

    def encoder(self, name: str, system: str, options: Options) -> Trained:
        """An encoder and what muse train said of it; trained once."""
        folder = self.asked.work / f"{name}.{self.seed}"
        told = folder.with_suffix(f".{self.seed}.json")
        if not folder.exists():
            done = muse(
                "train", self.asked.space, "--encoder", system, *options, "--seed", str(self.seed),
                "--threads", "1", "--out", folder,
            )  # fmt: skip
            told.write_text(json.dumps(done.fields), encoding="utf-8")
        return Trained(folder, json.loads(told.read_text(encoding="utf-8")))

    def labelled(self, sick: Path | None = None, language: str = PIVOT) -> Options:
        """The options that give the labels."""
        return ["--lang", language, "--nli", sick or self.sick]

    def translated(self, path: Path, way: tuple[str, str]) -> Path:
        """A file of SICK's columns, translated word by word with a language model."""
        out: Path = self.asked.work / f"{path.stem}.{'-'.join(way)}.txt"
        if out.exists():
            return out
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        rows = [line.split("\t") for line in lines if line.strip()]
        sentences = [cells[column] for cells in rows for column in (_PREMISE, _HYPOTHESIS)]
        found = iter(self.translations(sentences, way))
        for cells in rows:
            cells[_PREMISE], cells[_HYPOTHESIS] = next(found), next(found)
        out.write_text("\n".join([first, *("\t".join(cells) for cells in rows)]) + "\n", encoding="utf-8")
        return out

    def translations(self, sentences: Sequence[str], way: tuple[str, str]) -> list[str]:
        """Sentences translated word by word with a language model."""
        once, model = list(dict.fromkeys(sentences)), self.language_model(way[1])
        direction = ["--src", way[0], "--tgt", way[1], "--threads", "1"]
        done = muse("translate", self.asked.space, *direction, "--lm", model, lines=once)
        found = dict(zip(once, done.fields["lines"], strict=True))
        return [found[sentence] for sentence in sentences]

    def language_model(self, language: str) -> Path:
        """A language model of the training text."""
        path: Path = self.asked.work / f"{language}.arpa"
        if not path.exists():
            muse("train-lm", self.text.plain[language], "--lang", language, "--out", path)
        return path


def infersent(bench: Bench, *more: str) -> Trained:
    """InferSent on the words of the space."""
    name = "-".join(("infersent", *(one.partition("=")[2] for one in more if "=" in one)))
    return bench.encoder(name, "infersent", [*bench.labelled(), *more])
