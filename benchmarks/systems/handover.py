"""Whether UnsupervisedMT, by its published code, learns faster from muse's table than from random rows.

    python -m benchmarks.systems.handover --checkout UnsupervisedMT [--space DIR] [--seeds 0-2] [--steps 400]
        [--every 200] [--tables muse,random] [--words 2000] [--longest 10] [--held-out 300] [--batch 32]
        [--work DIR] [--shared ../shared] [--out benchmarks/results/systems]

UnsupervisedMT is the system of Lample et al. (2018), "Phrase-Based & Neural Unsupervised Machine
Translation", https://github.com/facebookresearch/UnsupervisedMT. None of its code is here and none of its
files is changed: TODAY supplies what it expects of a torch of 2018 and of a GPU, and BLEU, which it takes
from a script of Moses, is sacrebleu's on the same tokens.

The two texts are as in benchmarks/systems/unsupervised_mt.py: short English and French sentences of frequent
words that share no pair, and pairs held out, nearly all for its test. The table is both.vec of
docs/pages/how-to/translation-systems.md for the words of the texts, given as --pretrained_emb; without it the
system draws random rows, which have the same spread. All else, the seed among it, is equal. The losses are
those that the system prints every 50 steps.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.support.kept_rows import append
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import ROOT, commit, heading, muse, numbers, today
from benchmarks.support.two_halves import Halves, Words, two_halves
from benchmarks.systems.unsupervised_mt import LANGUAGES
from muse.files import write_vectors_text

VALIDATION = 16  # pairs of the held-out ones: the system asks for some, and nothing is chosen by them
PER_STEP = 4  # batches of a step: two languages to restore, two directions
PRINTED = 50  # steps between two lines of losses
COLUMNS = (
    *("system", "table", "seed", "step", "loss_en", "loss_fr", "loss_en_fr_en", "loss_fr_en_fr"),
    *("bleu_en_fr", "bleu_fr_en", "perplexity_en_fr", "perplexity_fr_en", "commit", "date"),
)

# Imported by Python before the system's first line, in its workers too (sitecustomize).
TODAY = """
import functools, inspect, torch

inspect.getargspec = lambda function: inspect.getfullargspec(getattr(function, "__wrapped__", function))
torch.load = functools.partial(torch.load, weights_only=False)  # its files are pickled classes
if not torch.cuda.is_available():
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *_, **__: self
torch.Tensor.chunk = torch.Tensor.unsafe_chunk  # whose parts may be changed in place
masked_fill_ = torch.Tensor.masked_fill_
torch.Tensor.masked_fill_ = lambda self, mask, value: masked_fill_(self, mask.bool(), value)
torch.set_num_threads(1)
"""
# Its script for one file, for several: most of the time it takes is torch's start.
PREPROCESS = """
import runpy, sys
vocabulary, *texts = sys.argv[1:]
for text in texts:
    sys.argv = ["preprocess.py", vocabulary, text]
    runpy.run_path("preprocess.py", run_name="__main__")
"""
BLEU = """#!{python}
import sys
from pathlib import Path
from sacrebleu.metrics.bleu import BLEU
found = sys.stdin.read().splitlines()
score = BLEU(tokenize="none", force=True).corpus_score(found, [Path(sys.argv[1]).read_text().splitlines()])
print(f"BLEU = {{score.score:.2f}}, of sacrebleu")
"""


def installed(checkout: Path, work: Path) -> Path:
    """A copy of the system's neural half, with a BLEU script and what it expects of torch."""
    copy = work / "NMT"
    shutil.copytree(checkout / "NMT", copy, dirs_exist_ok=True)
    script = copy / "tools/mosesdecoder/scripts/generic/multi-bleu.perl"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(BLEU.format(python=sys.executable), encoding="utf-8")
    script.chmod(0o755)
    (copy / "sitecustomize.py").write_text(TODAY, encoding="utf-8")
    return copy


def run(copy: Path, *arguments: str | Path) -> None:
    """Runs a script of the copy, on one thread."""
    environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, *map(str, arguments)]
    subprocess.run(command, cwd=copy, env=environment, check=True, stdout=subprocess.DEVNULL)


def prepare(copy: Path, folder: Path, halves: Halves) -> None:
    """Writes the texts of a seed, as words and in the system's format."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = Counter(word for text in halves.texts.values() for words in text for word in words)
    vocabulary = folder / "vocabulary.txt"
    vocabulary.write_text("".join(f"{word} {n}\n" for word, n in counts.most_common()), encoding="utf-8")
    written: list[Path] = []
    parts = {"valid": halves.held_out[:VALIDATION], "test": halves.held_out[VALIDATION:]}
    for side, language in enumerate(LANGUAGES):
        texts: dict[str, Sequence[Words]] = {"train": halves.texts[language]}
        texts |= {name: [pair[side] for pair in pairs] for name, pairs in parts.items()}
        for name, sentences in texts.items():
            path = folder / f"{name}.{language}"
            path.write_text("".join(f"{' '.join(words)}\n" for words in sentences), encoding="utf-8")
            written.append(path)
    run(copy, "-c", PREPROCESS, vocabulary, *written)


def exported(space: Path, out: Path, words: Sequence[str], seed: int) -> int:
    """The dimension of both.vec, which is written by the steps of the page on translation systems."""
    tables, vocabulary = out.with_suffix(".pt"), out.with_suffix(".txt")
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    more: list[str | Path] = ["--vocab", vocabulary, "--seed", str(seed), "--out", tables]
    muse("export", space, "--format", "torch", "--tables", "shared", *more)
    saved = torch.load(tables, weights_only=True)
    shared, first = saved["encoder"], len(saved["specials"])
    write_vectors_text(out, shared["names"][first:], shared["weight"][first:].numpy())
    return int(shared["weight"].shape[1])


def arguments(folder: Path, dumped: Path, dimension: int, seed: int, asked: argparse.Namespace) -> list[str]:
    """The arguments of its published command, with smaller numbers and losses that keep their weights."""
    en, fr = LANGUAGES
    settings = {
        "exp_name": "run", "exp_id": "", "dump_path": dumped, "seed": seed, "transformer": True,
        "n_enc_layers": 2, "n_dec_layers": 2, "share_enc": 2, "share_dec": 2, "share_lang_emb": True,
        "share_output_emb": True, "emb_dim": dimension, "transformer_ffn_emb_dim": 2 * dimension,
        "encoder_attention_heads": 5, "decoder_attention_heads": 5, "dropout": 0.1, "langs": f"{en},{fr}",
        "n_mono": -1, "mono_dataset": f"{en}:{folder}/train.{en}.pth,,;{fr}:{folder}/train.{fr}.pth,,",
        "para_dataset": f"{en}-{fr}:,{folder}/valid.XX.pth,{folder}/test.XX.pth",
        "mono_directions": f"{en},{fr}", "word_shuffle": 3, "word_dropout": 0.1, "word_blank": 0.2,
        "pivo_directions": f"{fr}-{en}-{fr},{en}-{fr}-{en}", "lambda_xe_mono": 1, "lambda_xe_otfd": 1,
        "otf_num_processes": 1, "otf_sync_params_every": 1, "enc_optimizer": f"adam,lr={asked.rate}",
        "batch_size": asked.batch, "epoch_size": asked.batch * PER_STEP * asked.every,
        "max_epoch": math.ceil(asked.steps / asked.every),
    }  # fmt: skip
    return [f"--{name}={value}" for name, value in settings.items() if value != ""]


def measured(log: str) -> Iterator[dict[str, float]]:
    """Yields the figures of every line of losses in the system's log, with BLEU where it was evaluated."""
    found: list[dict[str, float]] = []
    for line in log.splitlines():
        if losses := dict(re.findall(r"XE-(\S+): +([\d.]+)", line)):
            names = {
                "loss_en": "en-en",
                "loss_fr": "fr-fr",
                "loss_en_fr_en": "en-fr-en",
                "loss_fr_en_fr": "fr-en-fr",
            }
            found.append({name: float(losses[key]) for name, key in names.items()})
        if "__log__:" in line:
            scores = json.loads(line.split("__log__:", 1)[1])
            for name, key in (("bleu", "bleu"), ("perplexity", "ppl")):
                found[-1] |= {f"{name}_{way}": scores[f"{key}_{way}_test"] for way in ("en_fr", "fr_en")}
    yield from found


def learn(
    copy: Path, folder: Path, table: str, seed: int, asked: argparse.Namespace
) -> Iterator[dict[str, object]]:
    """Yields a row for each line of losses of a run from a table."""
    words = [line.split()[0] for line in (folder / "vocabulary.txt").read_text(encoding="utf-8").splitlines()]
    dimension = exported(asked.space, folder / "both.vec", words, seed)
    more = [f"--pretrained_emb={folder / 'both.vec'}", "--pretrained_out=True"] if table == "muse" else []
    dumped = folder / f"dumped.{table}"
    shutil.rmtree(dumped, ignore_errors=True)
    run(copy, "main.py", *arguments(folder, dumped, dimension, seed, asked), *more)
    (log,) = dumped.glob("run/*/train.log")
    for number, figures in enumerate(measured(log.read_text(encoding="utf-8")), 1):
        about = {"system": "UnsupervisedMT", "table": table, "seed": seed, "step": number * PRINTED}
        yield {**about, **figures, "commit": commit(), "date": today()}


def main() -> None:
    """Trains from each table with each seed; appends the rows and prints them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--checkout", type=Path, required=True, help="a checkout of UnsupervisedMT")
    parser.add_argument("--space", type=Path, default=ROOT / "embeddings/aligned/fr-en")
    parser.add_argument("--seeds", default="0-2", help="such as 0-2 or 0,3,5")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--every", type=int, default=200, help="steps between two evaluations, in fifties")
    parser.add_argument("--batch", type=int, default=32, help="sentences of a batch")
    parser.add_argument("--words", type=int, default=2_000, help="most frequent ones of each text")
    parser.add_argument("--longest", type=int, default=10, help="words of a sentence")
    parser.add_argument("--held-out", type=int, default=300, help="pairs")
    parser.add_argument("--rate", type=float, default=0.0005, help="learning rate of Adam")
    parser.add_argument("--tables", default="muse,random")
    parser.add_argument("--work", type=Path, default=Path("handover"))
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/systems")
    asked = parser.parse_args()
    heading("UnsupervisedMT from muse's table and from random rows")
    copy = installed(asked.checkout, asked.work.resolve())
    for seed in numbers(asked.seeds):
        folder = asked.work.resolve() / str(seed)
        text = asked.shared / "data/parallel/tatoeba.en-fr.train.tsv.gz"
        halves = two_halves(text, LANGUAGES, longest=asked.longest, vocabulary=asked.words,
                            held_out=asked.held_out, rng=np.random.default_rng(seed))  # fmt: skip
        prepare(copy, folder, halves)
        for table in asked.tables.split(","):
            rows = [*learn(copy, folder, table, seed, asked)]
            append(asked.out / "handover.csv", rows, COLUMNS, decimals=3)
            for found in rows:
                print({key: one for key, one in found.items() if key not in ("commit", "date")}, flush=True)


if __name__ == "__main__":
    main()
