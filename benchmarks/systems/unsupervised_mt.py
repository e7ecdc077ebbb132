"""Whether a translation model that sees no translation learns faster from muse's table than from random rows.

    python -m benchmarks.systems.unsupervised_mt [--space DIR] [--mlm EPOCHS] [--encoder NAME=DIR]
        [--tables muse,random,...] [--seeds 0-2] [--steps 400] [--shared ../shared]

Two texts, English and French, that share no sentence pair (two_halves.py); a small sequence-to-sequence
model for both languages (shared_seq2seq.py), trained by de-noising and on-the-fly back-translation. Its
lookup table begins with the rows of `muse export --format torch --tables shared` or with random numbers of
the same spread; all else is equal. Further beginnings are the rows that an xlm encoder has for the words:
with --mlm one that learned from the two texts and nothing else (the small preset, by MLM), with --encoder
any. One that learned by TLM has seen translations, some of the held-out pairs among them it may be: that is
no unsupervised translation, and is to be told.
A seed draws the two halves, the held-out pairs, and the model.
BLEU on 300 held-out pairs is the mean of both directions. Settings were sized on seed 100.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor

from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.shared_seq2seq import Recipe, Translator, padded, train
from benchmarks.support.tables import header, heading, muse, numbers, row
from benchmarks.support.two_halves import Halves, two_halves

LANGUAGES = ("en", "fr")
SPECIALS = ("<pad>", "<unk>", "</s>", "<en>", "<fr>")  # the first three as in shared_seq2seq
LONGEST, VOCABULARY, HELD_OUT = 10, 2_000, 300
Curve = dict[int, float]  # BLEU by step
METRIC = BLEU(tokenize="none", force=True)  # the sentences are tokens already


@dataclass(frozen=True)
class Task:
    """What a seed draws: texts as row numbers of the tables, the rows' names, and the pairs held out.

    `tables` (v, d) are what the model begins with, by condition.
    """

    halves: Halves
    names: Sequence[str]
    rows: Mapping[str, int]
    tables: Mapping[str, Tensor]

    def ids(self, words: Sequence[str]) -> list[int]:
        """The rows of the words."""
        return [self.rows[word] for word in words]


def prepare(asked: argparse.Namespace, space: Path, seed: int) -> tuple[Task, dict[str, Any]]:
    """The task of a seed, with the tables that `muse export` makes for its words, and what it says."""
    halves = two_halves(
        asked.shared / "data" / "parallel" / "tatoeba.en-fr.train.tsv.gz", LANGUAGES, longest=LONGEST,
        vocabulary=VOCABULARY, held_out=HELD_OUT, rng=np.random.default_rng(seed),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        encoders = dict(one.split("=", 1) for one in asked.encoder)
        if asked.mlm:
            more = "--seed", str(seed), "--epochs", str(asked.mlm)
            encoders["mlm"] = str(learned(space, halves, folder, more))
        words = dict.fromkeys(word for language in LANGUAGES for word in halves.words[language])
        (folder / "vocabulary.txt").write_text("\n".join(words), encoding="utf-8")
        table, said = exported(space, seed, folder, [])
        own = table["weight"]
        tables = {"muse": own, "random": random_table(own, seed)}
        for condition, encoder in encoders.items():
            tables[condition] = exported(space, seed, folder, ["--encoder", encoder])[0]["weight"]
    rows = {name: place for place, name in enumerate(table["names"])}
    return Task(halves, table["names"], rows, tables), said


def learned(space: Path, halves: Halves, folder: Path, more: Sequence[str]) -> Path:
    """An encoder that learned by MLM from the two texts."""
    out, texts = folder / "mlm", []
    for language in LANGUAGES:
        path = folder / f"{language}.txt"
        path.write_text("".join(f"{' '.join(s)}\n" for s in halves.texts[language]), encoding="utf-8")
        texts += ["--text", f"{language}={path}"]
    muse("train", space, "--encoder", "xlm", "--lang", LANGUAGES[1], *texts, "--set", "objective=mlm",
         "--threads", "1", "--out", out, *more)  # fmt: skip
    return out


def exported(
    space: Path, seed: int, folder: Path, more: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The table of the words of vocabulary.txt in the folder, and what `muse export` says of it."""
    out = folder / "table.pt"
    said = muse(
        "export", space, "--format", "torch", "--tables", "shared", "--vocab", folder / "vocabulary.txt",
        "--specials", ",".join(SPECIALS), "--src", LANGUAGES[0], "--tgt", LANGUAGES[1],
        "--seed", str(seed), "--out", out, *more,
    ).fields  # fmt: skip
    return torch.load(out, weights_only=True)["encoder"], said


def random_table(like: Tensor, seed: int) -> Tensor:
    """Random numbers of the shape (v, d) and the spread of a table; the row of padding is zero as there."""
    spread = float(like.square().mean().sqrt())
    table = torch.randn(like.shape, generator=torch.Generator().manual_seed(seed)) * spread
    table[0] = 0
    return table


def learn(task: Task, condition: str, seed: int, recipe: Recipe, every: int) -> tuple[Curve, float]:
    """The curve of one run and the seconds of processor time it took."""
    torch.manual_seed(seed)  # of the model's first weights and its dropout
    outputs = {
        language: torch.tensor(sorted([1, 2, *task.ids(task.halves.words[language])]))
        for language in LANGUAGES
    }
    starts = {language: task.rows[f"<{language}>"] for language in LANGUAGES}
    model = Translator(task.tables[condition], starts, outputs, recipe.hidden)
    texts = {language: [task.ids(s) for s in text] for language, text in task.halves.texts.items()}
    curve: Curve = {}

    def after(step: int) -> None:
        if step % every == 0:
            curve[step] = bleu(model, task)
            print(f"seed {seed}, {condition}, step {step}: {curve[step]:.2f}", file=sys.stderr, flush=True)

    began = time.process_time()
    train(model, texts, recipe, np.random.default_rng(seed), after)
    return curve, time.process_time() - began


def bleu(model: Translator, task: Task) -> float:
    """The mean BLEU of the two directions on the pairs held out."""
    scores = []
    for side, target in ((0, LANGUAGES[1]), (1, LANGUAGES[0])):
        source = padded([task.ids(pair[side]) for pair in task.halves.held_out])
        found = model.translate(source, target, LONGEST + 2)
        text = [" ".join(task.names[place] for place in sentence) for sentence in found]
        gold = [" ".join(pair[1 - side]) for pair in task.halves.held_out]
        scores.append(float(METRIC.corpus_score(text, [gold]).score))
    return sum(scores) / 2


def show(curves: Mapping[tuple[str, int], Curve], seeds: Sequence[int]) -> None:
    """Prints the curves as a table: every run, and the mean of each condition."""
    conditions = list(dict.fromkeys(condition for condition, _ in curves))
    header(["step", *(f"{c}, {s}" for c in conditions for s in [*(f"seed {n}" for n in seeds), "mean"])])
    for step in curves[conditions[0], seeds[0]]:
        cells = []
        for condition in conditions:
            found = [curves[condition, seed][step] for seed in seeds]
            cells += [*(f"{score:.2f}" for score in found), f"**{sum(found) / len(found):.2f}**"]
        row([step, *cells])


def main() -> None:
    """Runs every condition with every seed and prints the curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--space", type=Path, help="an aligned space fr-en; made where none is given")
    parser.add_argument("--mlm", type=int, default=0, help="epochs of an xlm encoder on the two texts")
    parser.add_argument("--encoder", action="append", default=[], metavar="NAME=DIR", help="xlm; may repeat")
    parser.add_argument("--tables", help="what to begin with, all unless given")
    parser.add_argument("--seeds", default="0-2", help="such as 0-9 or 0,3,5")
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--every", type=int, default=50, help="steps between two scores")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    recipe, seeds = Recipe(steps=asked.steps), numbers(asked.seeds)
    heading("Unsupervised translation: the table from muse against random vectors")
    with tempfile.TemporaryDirectory() as folder:
        space = asked.space or Path(folder) / "fr-en"
        if asked.space is None:
            muse("align", *find_pair("fr-en", asked.shared).arguments(), "--out", space)
        curves, notes = {}, []
        for seed in seeds:
            task, said = prepare(asked, space, seed)
            sizes = {language: len(text) for language, text in task.halves.texts.items()}
            notes.append(f"seed {seed}: sentences {sizes}, rows {said['tables']['encoder']['rows']}")
            for condition in asked.tables.split(",") if asked.tables else task.tables:
                curves[condition, seed], seconds = learn(task, condition, seed, recipe, asked.every)
                notes.append(f"seed {seed}, {condition}: {seconds:.0f} s of processor time")
    show(curves, seeds)
    print(f"\nBLEU {METRIC.get_signature()}; {recipe}", *notes, sep="\n")


if __name__ == "__main__":
    main()
