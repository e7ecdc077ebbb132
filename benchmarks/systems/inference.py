"""Natural language inference in languages without labels: XLM, X-BiLSTM, lens, and translation.

    python -m benchmarks.systems.inference --space SPACE --out FILE.csv --work FOLDER [--seeds 0-2]
        [--systems NAME,NAME] [--steps 16000] [--reads together,apart] [--aligned] [--patience N]
        [--tatoeba 29000] [--shared ../shared]
    python -m benchmarks.systems.inference --out FILE.csv --table

The table of Conneau's thesis (2019) for XNLI, on the text of two cores: every system learns from the labels
of SICK's English train part and chooses its epoch on the dev part; it is tested on 160 pairs of the test part
in English and in our French and German translations (inference_pairs.py). XLM and X-BiLSTM learn from the
same captions and sentences (inference_text.py), for all three languages at once, XLM with each objective for
as many steps; it reads both sentences of a pair together, as in the thesis, and apart, and with --aligned a
copy of it then learns French and German from the translations, by the loss of the X-BiLSTM. translate-test
classifies word-by-word translations into English, translate-train learns from SICK's train part in the
language, translated word by word, both with a language model. The mean of words and X-CBOW, which leaves
English as it is, are read by one logistic regression of English pairs. The space joins the three languages.
Rows that the file has are not made again; FILE_models.csv has the perplexities of the language models, and
P@1 (CSLS) of Tatoeba's test pairs by the means of their states.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.sick import official
from benchmarks.support.tables import commit, header, muse, numbers, row, today
from benchmarks.systems.inference_pairs import LANGUAGES, written
from benchmarks.systems.inference_text import OTHERS, PIVOT, Text
from benchmarks.systems.inference_text import written as text_written
from muse.evaluation.score import bootstrap_interval
from muse.files.nli import Inference, read_nli
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, accuracy, fitted
from muse.sentences.loading import load_encoder
from muse.sentences.systems.nli.pair_classes import pair_features
from muse.space import load_space

KEY = ("system", "seed")
COLUMNS = (
    *KEY, "lang", "pairs", "accuracy", "ci95_low", "ci95_high", "unread", "dev", "seconds", "commit", "date",
)  # fmt: skip
MODEL = (
    "objective", "seed", *(f"perplexity_{name}" for name in LANGUAGES),
    *(f"p_at_1_{name}" for name in OTHERS), "steps", "seconds", "commit", "date",
)  # fmt: skip
XLM = ("--set", "layers=3", "--set", "warmup=500", "--set", "steps=400", "--rate", "1e-3")
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
        self.sick = official(asked.shared / "data")
        self.text: Text = text_written(asked.shared / "data", asked.work / "text", asked.tatoeba)
        self.tests = written(self.sick, asked.work)

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

    def parallel(self) -> Options:
        """The options that give the translations."""
        return [part for name in OTHERS for part in ("--parallel", f"{name}={self.text.parallel[name]}")]

    def tested(self, system: str, trained: Trained, tests: dict[str, Path]) -> Iterator[Row]:
        """The accuracy of an encoder in each language."""
        folder, told = trained
        for language, path in tests.items():
            found = muse(
                "evaluate", self.asked.space, "--task", "nli", "--pairs", path, "--src", language,
                "--encoder", folder,
            ).fields  # fmt: skip
            low, high = found["ci95"]
            yield {
                "system": system, "seed": self.seed, "lang": language, "pairs": found["pairs"],
                "accuracy": found["accuracy"], "ci95_low": low, "ci95_high": high, "unread": found["unread"],
                "dev": told["score"], "seconds": told["seconds"]["training"], "commit": commit(),
                "date": today(),
            }  # fmt: skip

    def model(self, objective: str, trained: Trained) -> Row:
        """The perplexities of a language model, and how well its states find translations."""
        found: dict[str, object] = {"objective": objective, "seed": self.seed}
        for name in LANGUAGES:
            found[f"perplexity_{name}"] = trained.told[f"perplexity_{name}"]
        for name in OTHERS:
            text = self.asked.shared / "data" / "parallel" / f"tatoeba.{PIVOT}-{name}.test.tsv.gz"
            asked = ["--task", "sentences", "--src", name, "--tgt", PIVOT, "--parallel", text]
            score = muse("evaluate", self.asked.space, *asked, "--encoder", trained.folder).fields
            found[f"p_at_1_{name}"] = score["p_at_1"]
        steps = trained.told["epochs"] * 400
        return {
            **found,
            "steps": steps,
            "seconds": trained.told["seconds"]["training"],
            "commit": commit(),
            "date": today(),
        }

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
        more = ["--src", way[0], "--tgt", way[1], "--lm", self.language_model(way[1]), "--threads", "1"]
        command = [sys.executable, "-m", "muse", "translate", str(self.asked.space), *map(str, more)]
        once = list(dict.fromkeys(sentences))
        text = "\n".join(once) + "\n"
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        found = dict(zip(once, done.stdout.splitlines(), strict=True))
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


def xlm(objective: str) -> Callable[[Bench], Iterator[Row]]:
    """A language model of this objective, fine-tuned."""

    def rows(bench: Bench) -> Iterator[Row]:
        texts = [part for name, path in bench.text.plain.items() for part in ("--text", f"{name}={path}")]
        epochs = str(bench.asked.steps // 400)
        told = bench.parallel() if objective == "mlm+tlm" else []
        options = ["--lang", OTHERS[0], *texts, *told, *XLM, "--epochs", epochs, "--patience", epochs]
        model = bench.encoder(f"xlm-{objective}", "xlm", [*options, "--set", f"objective={objective}"])
        append(bench.asked.models, [bench.model(objective, model)], MODEL)
        patience = bench.asked.patience
        for reads in bench.asked.reads.split(","):
            tuned = [*bench.labelled(), "--set", f"pretrained={model.folder}", "--set", f"reads={reads}"]
            more = []
            if bench.asked.aligned:
                tuned += bench.parallel()
                more.append("aligned")
            if patience is not None:
                tuned += ["--patience", str(patience)]
                more.append(f"patience {patience}")
            found = bench.encoder(_folder(f"xlm {objective}", reads, *more), "xlm", tuned)
            name = f"xlm {objective}" if reads == "together" else f"xlm {objective} {reads}"
            yield from bench.tested(", ".join([name, *more]), found, bench.tests)

    return rows


def _folder(*parts: str) -> str:
    return "-".join(parts).replace(" ", "-")


def x_bilstm(
    name: str, english: Sequence[str] = (), more: Sequence[str] = ()
) -> Callable[[Bench], Iterator[Row]]:
    """X-BiLSTM, and with the plain one the InferSent that it copies."""

    def rows(bench: Bench) -> Iterator[Row]:
        teacher = infersent(bench, *english)
        options = ["--lang", OTHERS[0], *bench.parallel(), "--set", f"english={teacher.folder}", *more]
        found = bench.encoder(_folder(name), "x-bilstm", options)
        yield from bench.tested(name, found, bench.tests)

    return rows


def zero_shot(bench: Bench) -> Iterator[Row]:
    """InferSent, whose words are those of every language."""
    yield from bench.tested("infersent", infersent(bench), bench.tests)


def of_words(name: str) -> Callable[[Bench], Iterator[Row]]:
    """The mean of words, or X-CBOW, which leaves English as it is: a logistic regression of English pairs.

    It sees [u, v, |u - v|, u * v], the dev part chooses its strength, and it reads the other languages.
    """

    def rows(bench: Bench) -> Iterator[Row]:
        space, sick = load_space(bench.asked.space), read_nli(bench.sick)
        parts, pairs = np.array(sick.parts), _pair_rows(load_encoder("mean", space), sick, PIVOT)
        train, dev = (pairs.part(np.flatnonzero(parts == part)) for part in ("train", "dev"))
        answer = fitted(train, dev, ClassifierConfig(), accuracy)
        for language, path in bench.tests.items():
            encoder, seconds = "mean", 0.0
            if name == "x-cbow" and language != PIVOT:
                options: Options = ["--lang", language, "--parallel", bench.text.parallel[language]]
                trained = bench.encoder(f"x-cbow-{language}", "x-cbow", options)
                encoder, seconds = str(trained.folder), trained.told["seconds"]["training"]
            tested = _pair_rows(load_encoder(encoder, space), read_nli(path), language)
            hits = answer(tested.rows) == tested.labels
            low, high = bootstrap_interval(hits, np.random.default_rng(0))
            yield {
                "system": name, "seed": bench.seed, "lang": language, "pairs": len(hits),
                "accuracy": 100 * hits.mean(), "ci95_low": low, "ci95_high": high, "unread": "",
                "dev": accuracy(dev.labels, answer(dev.rows)), "seconds": seconds, "commit": commit(),
                "date": today(),
            }  # fmt: skip

    return rows


def _pair_rows(encoder: SentenceEncoder, text: Inference, language: str) -> Labelled:
    both = (
        torch.from_numpy(encoder.encode(side, language).matrix) for side in (text.premises, text.hypotheses)
    )
    return Labelled(pair_features(*both).numpy(), np.array(text.labels))


def lens(bench: Bench) -> Iterator[Row]:
    """A lens that learned from inferences."""
    yield from bench.tested("lens", bench.encoder("lens", "lens", bench.labelled()), bench.tests)


def translate_test(bench: Bench) -> Iterator[Row]:
    """InferSent on what was translated into English."""
    for language in OTHERS:
        path = bench.translated(bench.tests[language], (language, PIVOT))
        for one in bench.tested("translate-test", infersent(bench), {PIVOT: path}):
            yield {**one, "lang": language}


def translate_train(bench: Bench) -> Iterator[Row]:
    """InferSent that learned from what was translated into the language."""
    for language in OTHERS:
        labels = bench.translated(bench.sick, (PIVOT, language))
        found = bench.encoder(f"translate-{language}", "infersent", bench.labelled(labels, language))
        yield from bench.tested("translate-train", found, {language: bench.tests[language]})


SYSTEMS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "mean": of_words("mean"),
    "x-cbow": of_words("x-cbow"),
    "infersent": zero_shot,
    "lens": lens,
    "translate-test": translate_test,
    "translate-train": translate_train,
    "x-bilstm": x_bilstm("x-bilstm"),
    "x-bilstm last state": x_bilstm("x-bilstm last state", ["--set", "pooling=last"]),
    "x-bilstm fixed words": x_bilstm("x-bilstm fixed words", more=["--set", "words=false"]),
    "x-bilstm random start": x_bilstm("x-bilstm random start", more=["--set", "copied=false"]),
    "x-bilstm weight 0": x_bilstm("x-bilstm weight 0", more=["--set", "weight=0"]),
    "x-bilstm weight .05": x_bilstm("x-bilstm weight .05", more=["--set", "weight=0.05"]),
    "x-bilstm weight .5": x_bilstm("x-bilstm weight .5", more=["--set", "weight=0.5"]),
    "xlm mlm+tlm": xlm("mlm+tlm"),
    "xlm mlm": xlm("mlm"),
    "xlm clm": xlm("clm"),
}


def show(rows: Sequence[dict[str, str]]) -> None:
    """Prints the accuracy by system and language, means over seeds with minimum and maximum."""
    cells: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in rows:
        cells[one["system"], one["pairs"]][one["lang"]].append(float(one["accuracy"]))
    header(["system", "pairs", *LANGUAGES])
    for name, found in cells.items():
        row([*name, *(_range(found[language]) for language in LANGUAGES)])


def _range(values: Sequence[float]) -> str:
    return f"{np.mean(values):.1f} ({min(values):.1f}-{max(values):.1f})" if values else ""


def main() -> None:
    """Makes the rows that are missing, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--space", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--steps", type=int, default=16_000, help="of a language model")
    parser.add_argument("--reads", default="together,apart", help="how a language model reads pairs")
    parser.add_argument("--aligned", action="store_true", help="language models learn from translations last")
    parser.add_argument("--patience", type=int, help="epochs without gain after which its tuning ends")
    parser.add_argument("--tatoeba", type=int, default=29_000, help="pairs beside the captions")
    parser.add_argument("--table", action="store_true", help="print the table of the rows there are")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    if asked.aligned and asked.reads != "apart":
        parser.error("--aligned needs --reads apart: it compares the vectors of sentences")
    asked.models = asked.out.with_name(f"{asked.out.stem}_models.csv")
    done = {(one["system"], one["seed"]) for one in read_rows(asked.out)}
    for seed in [] if asked.table else numbers(asked.seeds):
        for name in asked.systems.split(","):
            if (name, str(seed)) in done:
                continue
            began = time.perf_counter()
            append(asked.out, SYSTEMS[name](Bench(asked, seed)), COLUMNS)
            print(f"{name}, seed {seed}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
