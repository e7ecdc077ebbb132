"""Translation without parallel text: how encoder and decoder begin, and the systems it stands beside.

    python -m benchmarks.systems.translator --space SPACE --out FILE.csv --work FOLDER [--lang fr]
        [--seeds 0-2]
        [--cells random-random,space-space,clm-clm,mlm-mlm] [--steps 600] [--pretraining 2000]
        [--kind multi30k] [--rate 1e-3] [--pieces 6000] [--set KEY=VALUE] [--name NAME] [--held-out]
        [--shared ../shared]
    python -m benchmarks.systems.translator --out FILE.csv --table

Tables 4.13 and 4.14 of Conneau's thesis (2019) on two cores: `muse train-translator` on text of two languages
that share no sentence pair (translator_text.py), from every beginning that --cells names, all else equal; the
language models learned from the same text alone; `mlm:0.3` predicts that share of the pieces. `words` is
`muse translate`, word by word, and `words+lm` the same with a language model of that text. A cell that ends
in `+pairs` learns from 10,000 pairs alone, one in `+all` from the text as well. --kind leaves the text of
one test set alone, and wants a work folder of its own. --set changes settings, and --name then names the
row; --held-out measures with other pairs, to choose settings by. The seed draws everything but the text.
BLEU is sacreBLEU's, on the whole test sets, with a beam of 4; `seconds` are those of the training, on
whatever else ran beside it. Rows that the file has are not made again.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, muse, numbers, over_seeds, row, today
from benchmarks.systems.inference_text import PIVOT, Pairs
from benchmarks.systems.translator_text import TESTS, Text, held_out_pairs, test_pairs, written

CELLS = (
    "random-random,space-space,clm-clm,mlm-mlm,random-mlm,mlm-random,space-mlm,mlm-space,clm-mlm,mlm-clm,"
    "random-space,space-random,random-clm,clm-random,space-clm,clm-space"
)
BASELINES = ("words", "words+lm")
PAIRS = {"pairs": ("denoising=0", "back_translation=0"), "all": ()}  # what a cell with pairs leaves out
NOVELS = 10_000  # sentences of each language
KEY = ("lang", "text", "system", "seed", "steps")
COLUMNS = (
    *KEY, "set", "direction", "bleu", "ci95_low", "ci95_high", "chrf", "seconds", "commit", "date",
)  # fmt: skip


class Bench:
    """The options, the text, and the models that this folder has already."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.data = asked.shared / "data"
        kinds, novels = ((asked.kind,), 0) if asked.kind else (tuple(TESTS), NOVELS)
        self.text: Text = written(self.data, asked.work, asked.lang, kinds=kinds, novels=novels)

    def texts(self) -> list[str]:
        """The options that give the text."""
        return ["--text", f"{PIVOT}={self.text.english}", "--text", f"{self.asked.lang}={self.text.other}"]

    def beginning(self, name: str, seed: int) -> str:
        """What --encoder and --decoder take for a beginning; a language model is trained once a seed."""
        if name in ("random", "space"):
            return name
        folder = self.asked.work / f"{self.asked.lang}.{name}.{seed}"
        if not folder.exists():
            epochs = max(1, self.asked.pretraining // 200)
            objective, _, share = name.partition(":")
            muse(
                "train", self.asked.space, "--encoder", "xlm", "--lang", self.asked.lang, *self.texts(),
                "--set", f"objective={objective}", *(["--set", f"share={share}"] if share else []),
                "--set", "length=50", "--set", f"pieces={self.asked.pieces}",
                "--set", "steps=200", "--set", "warmup=400", "--epochs", str(epochs),
                "--patience", str(epochs), "--seed", str(seed), "--threads", "1", "--out", folder,
            )  # fmt: skip
        return str(folder)

    def trained(self, system: str, seed: int) -> tuple[list[str | Path], float]:
        """The options of muse translate that use a system, and the seconds of its training."""
        asked = self.asked
        if system in BASELINES:
            return [asked.space], 0.0
        begins, _, with_pairs = asked.cell.partition("+")
        encoder, decoder = (self.beginning(name, seed) for name in begins.split("-"))
        pairs = ["--parallel", f"{asked.lang}={self.text.pairs}"] if with_pairs else []
        changed = (*PAIRS.get(with_pairs, ()), *asked.set)
        folder = asked.work / f"{asked.lang}.{system}.{seed}"
        done = muse(
            "train-translator", asked.space, *self.texts(), *pairs,
            "--encoder", encoder, "--decoder", decoder, *training(asked, seed, folder, changed),
        )  # fmt: skip
        return ["--model", folder], done.fields["seconds"]["training"]

    def rows(self, system: str, seed: int) -> Iterator[Row]:
        """BLEU on every test set, in both directions."""
        options, seconds = self.trained(system, seed)
        steps = 0 if system in BASELINES else self.asked.steps
        same = {
            "lang": self.asked.lang, "system": system, "seed": seed, "steps": steps,
            "text": self.asked.kind or "all", "seconds": seconds,
        }  # fmt: skip
        for name in [self.asked.kind] if self.asked.kind else TESTS:
            sides = list(zip(*self.pairs(name), strict=True))
            for place, way in enumerate(((PIVOT, self.asked.lang), (self.asked.lang, PIVOT))):
                more = self.language_model(way[1]) if system == "words+lm" else []
                found = translated([*options, *more], way, (sides[place], sides[1 - place]), self.asked.work)
                yield {
                    **same, "set": name, "direction": "-".join(way), **found, "commit": commit(),
                    "date": today(),
                }  # fmt: skip

    def pairs(self, name: str) -> Pairs:
        """The pairs to measure with."""
        if self.asked.held_out:
            return held_out_pairs(self.data, self.text, self.asked.lang, name)
        return test_pairs(self.data, self.asked.lang, name)

    def language_model(self, language: str) -> list[str | Path]:
        """The options that use a language model of the text."""
        return ["--lm", language_model(self.text, self.asked.work, self.asked.lang, language)]


def training(asked: argparse.Namespace, seed: int, folder: Path, changed: Sequence[str]) -> list[str]:
    """The options of muse train-translator that say how long and how it learns, with `changed` settings."""
    epochs = str(max(1, asked.steps // 200))
    settings = (f"pieces={asked.pieces}", "steps=200", *changed)
    return [
        *(part for one in settings for part in ("--set", one)), "--epochs", epochs, "--patience", epochs,
        "--seed", str(seed), "--rate", str(asked.rate), "--threads", "1", "--out", str(folder),
    ]  # fmt: skip


def language_model(text: Text, work: Path, other: str, language: str) -> Path:
    """A language model of the side of a text that is in a language, English or the `other`, learned once."""
    path = work / f"{other}.{language}.arpa"
    if not path.exists():
        side = text.english if language == PIVOT else text.other
        muse("train-lm", side, "--lang", language, "--out", path)
    return path


def translated(
    options: Sequence[str | Path],
    way: tuple[str, str],
    lines: tuple[Sequence[str], Sequence[str]],
    work: Path,
) -> Row:
    """BLEU with its interval, and chrF, of what muse translate makes of lines, given their translations."""
    reference = work / "reference"
    reference.write_text("".join(f"{line}\n" for line in lines[1]), encoding="utf-8")
    words = [*options, "--src", way[0], "--tgt", way[1], "--reference", reference, "--threads", "1"]
    found = muse("translate", *words, lines=lines[0]).fields
    low, high = found["bleu"]["ci95"]
    return {
        "bleu": found["bleu"]["value"], "ci95_low": low, "ci95_high": high, "chrf": found["chrf"]["value"],
    }  # fmt: skip


def show(rows: Sequence[dict[str, str]]) -> None:
    """Prints BLEU by system, means over seeds with minimum and maximum."""
    cells: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in rows:
        column = f"{one['set']} {one['direction']}"
        cells[one["text"], f"{one['system']}, {one['steps']} steps"][column].append(float(one["bleu"]))
    columns = list(dict.fromkeys(column for found in cells.values() for column in found))
    header(["text", "system", *columns])
    for (text, system), found in cells.items():
        row([text, system, *(over_seeds(found[column]) for column in columns)])


def main() -> None:
    """Makes the rows that are missing, and prints the table."""
    asked = command_line(
        __doc__, out=NEEDED, space=Path, work=Path, lang="fr", seeds="0-2", cells=CELLS, steps=600, rate=1e-3,
        pieces=6_000, kind=(str, f"the only kind of text and of test, of {', '.join(TESTS)}; all by default"),
        pretraining=(2_000, "steps of a language model"), set=REPEATED,
        name=("", "of the row, where settings are changed"),
        held_out=(False, "measure with pairs to choose settings by"), table=False, shared=SHARED,
    )  # fmt: skip
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)}
    for seed in [] if asked.table else numbers(asked.seeds):
        for cell in asked.cells.split(","):
            asked.cell, system = cell, cell + asked.name
            steps = 0 if cell in BASELINES else asked.steps
            if (asked.lang, asked.kind or "all", system, str(seed), str(steps)) in done:
                continue
            began = time.perf_counter()
            append(asked.out, Bench(asked).rows(system, seed), COLUMNS)
            print(f"{system}, seed {seed}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
