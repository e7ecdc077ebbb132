"""Whether UnsupervisedMT, by its published code, learns faster from muse's table than from random rows.

    python -m benchmarks.systems.handover --checkout UnsupervisedMT [--space DIR] [--seeds 0-2] [--steps 400]
        [--every 200] [--tables muse,random] [--words 2000] [--longest 10] [--held-out 300] [--batch 32]
        [--stage prepare|train] [--at-once 1] [--generators 1] [--seconds S] [--device cpu|cuda]
        [--work DIR] [--shared ../shared] [--out benchmarks/results/systems]

UnsupervisedMT is the system of Lample et al. (2018), "Phrase-Based & Neural Unsupervised Machine
Translation", https://github.com/facebookresearch/UnsupervisedMT. None of its code is here and none of its
files is changed: TODAY supplies what it expects of a torch of 2018 and, without one, of a GPU; RUN ends a run
in time; and BLEU, which it takes from a script of Moses, is sacrebleu's on the same tokens.

The two texts are those of benchmarks/support/two_halves.py: short English and French sentences of frequent
words that share no pair, and pairs held out, nearly all for its test. The table is both.vec of
docs/pages/how-to/translation-systems.md for the words of the texts, given as --pretrained_emb; without it the
system draws random rows, which have the same spread. All else, the seed among it, is equal. The losses are
those that the system prints every 50 steps; BLEU is of greedy translations of at most LONGEST words, and its
interval from 1,000 resamples of the pairs.

--stage prepare writes what a run needs into --work, and --stage train runs from there, on another machine
too. All runs together take --seconds if these end before the --steps, and some more for the last evaluation;
the rows so far are written to --out as the runs go on.
"""

import argparse
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import torch
from sacrebleu.metrics.bleu import BLEU

from benchmarks.support.kept_rows import append, interval_columns
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import ROOT, commit, heading, muse, numbers, today
from benchmarks.support.two_halves import Halves, Words, two_halves
from muse.files import write_vectors_text

LANGUAGES = ("en", "fr")
VALIDATION = 16  # pairs of the held-out ones: the system asks for some, and nothing is chosen by them
PER_STEP = 4  # batches of a step: two languages to restore, two directions
PRINTED = 50  # steps between two lines of losses
WAYS = ("en_fr", "fr_en")
LONGEST = 40  # words of a translation that is scored: one that never ends costs as much as a good batch
RESAMPLES = 1_000  # for an interval of BLEU
GRACE = 120  # seconds after those of a run in which its last evaluation ends
TOLD = 3_000  # last characters of what a failed run wrote
POLLED = 5  # seconds between two looks at the logs
COLUMNS = (
    *("system", "table", "seed", "step", "seconds", "loss_en", "loss_fr", "loss_en_fr_en", "loss_fr_en_fr"),
    *interval_columns("bleu_en_fr", "bleu_fr_en"),
    *("perplexity_en_fr", "perplexity_fr_en", "commit", "date"),
)
LOSSES = {"loss_en": "en-en", "loss_fr": "fr-fr", "loss_en_fr_en": "en-fr-en", "loss_fr_en_fr": "fr-en-fr"}
METRIC = BLEU(tokenize="none", force=True)  # the sentences are tokens already

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
# Its training script, which evaluates and ends once the seconds are over, after a line of losses. It leaves
# out the scores of translations there and back, which take twice the time of those that are looked at.
RUN = """
import runpy, sys, time

ends, longest = time.monotonic() + float(sys.argv.pop(1)), int(sys.argv.pop(1))

def limited():
    from src.evaluator import EvaluatorMT
    from src.model.transformer import TransformerDecoder
    from src.trainer import TrainerMT

    iter_, end_epoch = TrainerMT.iter, TrainerMT.end_epoch

    def iter_in_time(self):
        iter_(self)
        if self.n_iter % {printed} == 0 and time.monotonic() > ends:
            self.n_sentences = self.params.epoch_size

    def end_in_time(self, scores):
        if time.monotonic() > ends:
            sys.exit()
        end_epoch(self, scores)

    TrainerMT.iter, TrainerMT.end_epoch = iter_in_time, end_in_time
    EvaluatorMT.eval_back = lambda *_: None
    TransformerDecoder.generate.__defaults__ = (longest, *TransformerDecoder.generate.__defaults__[1:])

if __name__ == "__main__":
    limited()
    sys.argv[0] = "main.py"
    runpy.run_path("main.py", run_name="__main__")
"""
SCORE = """#!{python} -I
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
    script.write_text(SCORE.format(python=sys.executable), encoding="utf-8")
    script.chmod(0o755)
    (copy / "sitecustomize.py").write_text(TODAY, encoding="utf-8")
    (copy / "run.py").write_text(RUN.format(printed=PRINTED), encoding="utf-8")
    return copy


def begun(
    copy: Path, *arguments: str | Path, device: str = "cpu", told: int | None = None
) -> subprocess.Popen[bytes]:
    """A script of the copy as it begins, on one thread; what it tells goes to the open file `told`."""
    environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    if device == "cpu":
        environment["CUDA_VISIBLE_DEVICES"] = ""
    command = [sys.executable, *map(str, arguments)]
    # A session of its own: its workers end with it.
    return subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, stderr=told, start_new_session=True
    )


def run(copy: Path, *arguments: str | Path) -> None:
    """Runs a script of the copy to its end."""
    if (done := begun(copy, *arguments)).wait():
        raise subprocess.CalledProcessError(done.returncode, done.args)


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
        "otf_num_processes": asked.generators, "otf_sync_params_every": asked.sync,
        "enc_optimizer": f"adam,lr={asked.rate}",
        "batch_size": asked.batch, "epoch_size": asked.batch * PER_STEP * asked.every,
        "max_epoch": math.ceil(asked.steps / asked.every),
    }  # fmt: skip
    return [f"--{name}={value}" for name, value in settings.items() if value != ""]


def measured(log: str, dumped: Path) -> Iterator[dict[str, object]]:
    """Yields the figures of every line of losses in the system's log, with BLEU where it was evaluated.

    The translations that were scored lie in the folder `dumped`.
    """
    found: list[dict[str, object]] = []
    for line in log.splitlines():
        if losses := dict(re.findall(r"XE-(\S+): +([\d.]+)", line)):
            hours, minutes, seconds, step = map(int, re.findall(r"(\d+):(\d\d):(\d\d) - +(\d+) - ", line)[0])
            about = {"step": step, "seconds": 3_600 * hours + 60 * minutes + seconds}
            found.append(about | {name: float(losses[key]) for name, key in LOSSES.items() if key in losses})
        if "__log__:" in line and found:
            scores = json.loads(line.split("__log__:", 1)[1])
            for way in WAYS:
                found[-1] |= scored(dumped, scores["epoch"], way)
                found[-1][f"perplexity_{way}"] = scores[f"ppl_{way}_test"]
    yield from found


@cache  # of each look at the logs
def scored(dumped: Path, epoch: int, way: str) -> dict[str, object]:
    """BLEU of the translations after an epoch, with its interval."""
    languages = way.replace("_", "-")
    files = dumped / f"hyp{epoch}.{languages}.test.txt", dumped / f"ref.{languages}.test.txt"
    found, gold = (path.read_text(encoding="utf-8").splitlines() for path in files)
    score = METRIC.corpus_score(found, [gold], n_bootstrap=RESAMPLES)
    interval = score._mean - score._ci, score._mean + score._ci
    return dict(zip(interval_columns(f"bleu_{way}"), (score.score, *interval), strict=True))


def signature() -> str:
    """How BLEU was taken, though nothing may have been scored yet."""
    METRIC.corpus_score(["a b c d"], [["a b c d"]], n_bootstrap=RESAMPLES)
    return str(METRIC.get_signature())


@dataclass(frozen=True)
class Run:
    """A run of the system, of a seed from a table, in the folder of the seed."""

    table: str
    seed: int
    folder: Path

    @property
    def dumped(self) -> Path:
        """Where the system writes."""
        return self.folder / f"dumped.{self.table}"

    def begin(self, copy: Path, asked: argparse.Namespace) -> subprocess.Popen[bytes]:
        """The run as it begins."""
        vectors = self.folder / "both.vec"
        with vectors.open(encoding="utf-8") as lines:
            dimension = int(next(lines).split()[1])
        pretrained = [f"--pretrained_emb={vectors}", "--pretrained_out=True"] if self.table == "muse" else []
        shutil.rmtree(self.dumped, ignore_errors=True)
        given = arguments(self.folder, self.dumped, dimension, self.seed, asked)
        limits = f"{asked.seconds}", f"{LONGEST}"
        with self.told.open("wb") as told:
            return begun(
                copy, "run.py", *limits, *given, *pretrained, device=asked.device, told=told.fileno()
            )

    @property
    def told(self) -> Path:
        """The file with what it writes beside its log: its last words where it fails."""
        return self.folder / f"told.{self.table}.txt"

    def rows(self) -> list[dict[str, object]]:
        """What its log says so far."""
        about = {"system": "UnsupervisedMT", "table": self.table, "seed": self.seed}
        return [
            {**about, **figures, "commit": commit(), "date": today()}
            for log in self.dumped.glob("run/*/train.log")
            for figures in measured(log.read_text(encoding="utf-8"), log.parent)
        ]


def train(runs: Sequence[Run], copy: Path, asked: argparse.Namespace) -> None:
    """Makes the runs, so many at once, and writes their rows as they go on."""
    path = asked.out / "handover.csv"
    before = path.read_bytes() if path.exists() else b""
    waiting, going = list(runs), dict[Run, tuple[subprocess.Popen[bytes], float]]()
    while waiting or going:
        while waiting and len(going) < asked.at_once:
            one = waiting.pop(0)
            going[one] = one.begin(copy, asked), time.monotonic() + asked.seconds + GRACE
        time.sleep(POLLED)
        for one, (process, ends) in list(going.items()):
            if process.poll() is None and time.monotonic() < ends:
                continue
            stop(process)
            del going[one]
            print(f"{one.table}, seed {one.seed}: ended with {process.returncode}", flush=True)
            if process.returncode:
                print(one.told.read_text(encoding="utf-8", errors="replace")[-TOLD:], flush=True)
        path.write_bytes(before)
        if not before:
            path.unlink()
        append(path, [row for one in runs for row in one.rows()], COLUMNS, decimals=3)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a run, and the workers that it may have left."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def prepare_seed(copy: Path, folder: Path, seed: int, asked: argparse.Namespace) -> None:
    """Writes the texts and the table of a seed."""
    text = asked.shared / "data/parallel/tatoeba.en-fr.train.tsv.gz"
    halves = two_halves(text, LANGUAGES, longest=asked.longest, vocabulary=asked.words,
                        held_out=asked.held_out, rng=np.random.default_rng(seed))  # fmt: skip
    prepare(copy, folder, halves)
    words = [line.split()[0] for line in (folder / "vocabulary.txt").read_text(encoding="utf-8").splitlines()]
    exported(asked.space, folder / "both.vec", words, seed)
    sizes: Mapping[str, int] = {language: len(text) for language, text in halves.texts.items()}
    print(f"seed {seed}: {len(words)} words, sentences {sizes}, pairs {len(halves.held_out)}", flush=True)


def main() -> None:
    """Trains from each table with each seed; appends the rows and prints them."""
    asked = command_line(
        __doc__, checkout=(NEEDED, "a checkout of UnsupervisedMT"), space=ROOT / "embeddings/aligned/fr-en",
        seeds="0-2", steps=400, every=(200, "steps between two evaluations, in fifties"), batch=32,
        words=(2_000, "most frequent ones of each text"), longest=(10, "words of a sentence"),
        held_out=(300, "pairs"), rate=(0.0005, "learning rate of Adam"), tables="muse,random",
        stage=(str, "prepare or train; both unless given"), at_once=(1, "runs at a time"),
        generators=(1, "processes of a run that translate back"),
        sync=(1, "steps after which these get new parameters"),
        seconds=(86_400.0, "of a run, its last evaluation left out"), device="cpu", work=Path("handover"),
        shared=SHARED, out=ROOT / "benchmarks/results/systems",
    )  # fmt: skip
    heading("UnsupervisedMT from muse's table and from random rows")
    work, seeds = asked.work.resolve(), numbers(asked.seeds)
    copy = installed(asked.checkout, work)
    if asked.stage != "train":
        for seed in seeds:
            prepare_seed(copy, work / str(seed), seed, asked)
    if asked.stage != "prepare":
        runs = [Run(table, seed, work / str(seed)) for seed, table in product(seeds, asked.tables.split(","))]
        train(runs, copy, asked)
        print((asked.out / "handover.csv").read_text(encoding="utf-8"), signature(), sep="\n")


if __name__ == "__main__":
    main()
