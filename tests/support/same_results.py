"""Does a change of the code change any result? Records what muse prints and writes, and compares two records.

    python tests/support/same_results.py record BEFORE --cwd CHECKOUT
    python tests/support/same_results.py record AFTER
    python tests/support/same_results.py compare BEFORE AFTER

Every command runs as a process of its own, in a new folder, on the sample vectors of the checkout and on
files made of them: with one thread and one seed. Each becomes one JSON file of the record: exit code, stdout,
stderr and all files that are new or changed. What differs from run to run is masked: see FIELDS, TEXTS,
PROGRESS and STEADY. The figures printed while recording are seconds of the processor.
"""

import argparse
import difflib
import gzip
import hashlib
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

# What is masked, and why. Fields of JSON, at any depth: their shape stays, their values do not.
FIELDS = {
    "seconds": "how long a stage took",
    "peak_memory_mb": "how much memory the process had taken",
    "created": "when a language was mapped",
    "created_with": "the versions of Python, numpy and torch on this machine",
    "muse_version": "the version of muse, which a release changes; the case `version` has it",
}
MASK = "<masked>"
# Parts of text, by regular expressions: what is shown instead, and why. The folders are masked first.
TEXTS = (
    (r"\S*/bin/python[\d.]*", "<python>", "where the interpreter is, in commands to install a package"),
    (r"\bmuse \d+\.\d+\.\d+\w*", "muse <version>", "the version of muse, which a release changes"),
    (r"\b\d+(\.\d+)? (s|ms|min|h)\b( \d+ (s|min)\b)*", "<duration>", "how long something took"),
    (r"\b[\d,]+(\.\d+)? MB\b", "<memory>", "how much memory the process had taken"),
    (r"\b\d{4}-\d\d-\d\d(T[\d:+]+)?", "<date>", "when something was made"),
    (r"http://127\.0\.0\.1:\d+", "http://127.0.0.1:<port>", "the port that was free"),
)
# Lines of stderr that are left out: progress, which is logged every ten seconds of a stage.
PROGRESS = re.compile(r"(\[\d+/\d+\] )?[^:]+: ([\d,.]+ [^,]+, )?[\d,.]+ [^,/]+/(s|min|h)\b")
# What a space remembers of the clock and the machine, which reports show: replaced in its manifest as soon as
# it is recorded.
STEADY = {
    "seconds": 1.0,
    "peak_memory_mb": 100.0,
    "created": "2000-01-01T00:00:00+00:00",
    "created_with": "0",
}

SETTINGS = ("--seed", "0", "--threads", "1")
WORDS = 2_000  # words of the space that most cases use
FEW = 1_000  # words of the others, and of what is made for them
HEAD, WIDTH = 5, 120  # lines of a file of text that are shown, and their length
PATIENCE = 1_800  # seconds for a command, also on a busy machine


@dataclass(frozen=True)
class Case:
    """A command line by a name, and what it reads on stdin.

    `only_keys`: of its JSON the keys are recorded, not the values. `settings`: one seed and one thread.
    """

    name: str
    typed: str
    stdin: str = ""
    only_keys: bool = False
    settings: bool = True


# Options that have another name in some states of the code: that of the cases, and the other.
RENAMED = {"--src-texts": "--src-captions"}

# The cases ------------------------------------------------------------------------------------------------

FRENCH = "Le roi était dans la maison, avec 12 femmes.\n\nZorglub dort; la nuit est noire !\nmaisonnette\n"
STDIN = {
    **dict.fromkeys(("translate-text", "translate-text-json", "translate-lm", "translate-vectors"), FRENCH),
    "encode-said": "The king, in the night.\nzorglub\n",
    "translate-model": "la nuit\n",
}
ONLY_KEYS, WITHOUT_SETTINGS = ("doctor",), ("version",)


def cases(table: str) -> tuple[Case, ...]:
    """The cases of a table: a name and a command line each; lines that are set in go on."""
    rows = (" ".join(row.split()).split(": ", 1) for row in re.split(r"\n(?! )", table.strip()))
    return tuple(
        Case(name, typed, STDIN.get(name, ""), name in ONLY_KEYS, name not in WITHOUT_SETTINGS)
        for name, typed in rows
    )


# Spaces, which other cases use and which are always made.
SPACES = cases(r"""
align: align --src fr --tgt en --max-vocab 2000 --out space --json
align-pairs: align --src fr --tgt en --max-vocab 1000 --init features --dictionary pairs.txt --out pairs
  --json
align-three: align --src fr --src xx --tgt en --max-vocab 1000 --init features --joint --out three --json
align-into: align --src xx --into pairs --init features --out into --json
align-rows: align --src a --tgt b --src-emb a.npy --tgt-emb b.npy --src-texts a.txt --out rows --json
align-rows-pairs: align --src a --tgt b --src-emb a.npy --tgt-emb b.npy --dictionary ids.tsv --init
  dictionary --no-refine --out rows-pairs --json
align-failed: align --src fr --tgt noise --max-vocab 600 --init features --no-reweight --out failed --json
align-said: align --src fr --tgt en --max-vocab 600 --init similarity --out said
align-verbose: align --src fr --tgt en --max-vocab 600 --init identical --lower --normalise unit --no-refine
  --out verbose -v
""")
CASES = (
    *SPACES,
    *cases(r"""
evaluate-words: evaluate space --dictionary gold.txt --retrieval csls --retrieval nn --retrieval isf
  --hubness --json
evaluate-words-said: evaluate space --dictionary gold.txt --hubness
evaluate-words-against: evaluate space --dictionary gold.txt --against pairs --json
evaluate-words-back: evaluate space --dictionary back.txt --src en --tgt fr --search approximate --json
evaluate-similarity: evaluate space --task similarity --pairs similarity.tsv --json
evaluate-sentences: evaluate space --task sentences --source fr.txt --target en.txt --retrieval csls
  --retrieval nn --retrieval isf --retrieval margin --both-ways --json
evaluate-sentences-two: evaluate space --task sentences --parallel parallel.tsv --encoder 'mean & sif+znorm'
  --fit fr=fr.txt --fit en=en.txt --json
evaluate-sentences-said: evaluate space --task sentences --source fr.txt --target en.txt
evaluate-sts: evaluate space --task sts --src fr --pairs rated.tsv --json
evaluate-relatedness: evaluate space --task relatedness --src fr --pairs rated.tsv --train-pairs
  rated-more.tsv --json
evaluate-rows: evaluate rows --task rows --source new-a.npy --target new-b.npy --retrieval csls --retrieval
  nn --retrieval isf --json
evaluate-rows-ids: evaluate rows --task rows --pairs ids.tsv
evaluate-transfer: evaluate space --task transfer --data task --runs 3 --json
evaluate-probe: evaluate space --task probe --text fr=fr.txt --text en=en.txt --probe length --probe order
  --probe language --size 120 --json
induce-muse: induce space --out induced.txt --max-vocab 1000 --json
induce-tsv: induce space --out induced.tsv --mutual --json
induce-jsonl: induce space --out induced.jsonl --top 3 --min-probability 0.2 --json
induce-both: induce space --out both.tsv.gz --both --retrieval isf --src-max 500 --tgt-max 900
induce-rows: induce rows --mutual --out rows.txt --json
translate-words: translate space roi cheval nuit Maison --top 5 --json
translate-words-said: translate space roi cheval nuit --top 3
translate-back: translate space queen --src en --tgt fr --retrieval nn --json
translate-of-three: translate three --src fr --tgt xx roi nuit --json
translate-text: translate space
translate-text-json: translate space --ngrams --json
train-lm: train-lm en.txt --lang en --out en.arpa --json
translate-lm: translate space --lm en.arpa --top 5 --beam 4 --json
translate-vectors: translate space --vectors new.vec --reference reference.txt --json
map-vec: map space --lang fr --vectors new.vec --out mapped.vec --json
map-fit: map space --lang fr --vectors other.vec --words words.txt --fit --out fitted.npz --json
map-said: map space --lang fr --vectors new.vec --words words.txt
map-rows: map rows --lang a --vectors new-a.npy --out mapped.npy --json
report-gold: report space --dictionary gold.txt --out gold.html --json
report-plain: report pairs --out plain.html
report-failed: report failed --out failed.html --json
report-rows: report rows --out rows.html --json
export-text: export space --format text --max-vocab 1000 --out exported/text --json
export-word2vec: export space --format word2vec --max-vocab 1000 --out exported/fr.bin --json
export-npz: export space --format npz --max-vocab 1000 --out exported/fr.npz --json
export-parquet: export space --format parquet --max-vocab 1000 --out exported/parquet --json
export-sentence-transformers: export space --format sentence-transformers --max-vocab 1000 --out
  exported/static --json
export-spacy: export space --format spacy --max-vocab 1000 --out exported/spacy --json
export-torch: export space --format torch --max-vocab 1000 --out exported/tables.pt --json
export-space: export space --format space --max-vocab 1000 --out exported/smaller --json
export-moses: export space --format moses --max-vocab 300 --top 5 --out exported/moses.gz --json
export-torch-shared: export three --format torch --tables shared --vocab units.txt --out exported/shared.pt
encode-idf: encode space --lang fr --input fr.txt --encoder 'idf' --fit fr=fr.txt --out encoded/idf.npy
  --save encoders/idf --json
encode-sif: encode space --lang fr --input fr.txt --encoder 'sif+pcr' --fit fr=fr.txt --out encoded/sif.npy
  --save encoders/sif --json
encode-ngrams: encode space --lang fr --input fr.txt --encoder 'mean+ngrams+binary' --fit fr=fr.txt --out
  encoded/ngrams.npy --json
encode-two: encode space --lang fr --input fr.txt --encoder 'mean & power-mean[-inf,1,inf]+centre' --fit
  fr=fr.txt --also pairs --out encoded/two.npy --json
encode-parquet: encode space --lang fr --input fr.txt --encoder 'mean' --out encoded/mean.parquet --json
encode-saved: encode space --lang fr --input fr.txt --encoder 'encoders/sif' --out encoded/saved.npy --json
encode-said: encode pairs --lang en --encoder mean
mine-margin: mine space --src-lang fr --tgt-lang en --source fr.txt --target en.txt --score margin --out
  mined/margin.tsv --json
mine-csls: mine space --src-lang fr --tgt-lang en --source fr.txt --target en.txt --score csls --gold
  mined.gold --neighbours 6 --out mined/csls.tsv --json
mine-cosine: mine space --src-lang fr --tgt-lang en --source fr.txt --target en.txt --score cosine
  --threshold 0.5 --encoder mean --out mined/cosine.tsv.gz --json
embed: embed fr.txt --lang fr --dim 16 --epochs 1 --min-count 1 --out embedded.vec --json
train-x-cbow: train pairs --lang fr --parallel cipher.tsv --epochs 2 --batch 16 --rate 0.02 --out
  encoders/x-cbow --json
train-projection: train pairs --encoder projection --lang fr --parallel cipher.tsv --epochs 2 --batch 16
  --rate 0.02 --dropout 0.2 --powers=-inf,1 --out encoders/projection --json
train-cvm-add: train pairs --encoder cvm-add --lang fr --parallel cipher.tsv --epochs 2 --batch 16 --rate
  0.02 --out encoders/cvm-add --json
train-sp: train pairs --encoder sp --lang fr --parallel cipher.tsv --epochs 2 --batch 16 --rate 0.01 --set
  pieces=300 --out encoders/sp --json
train-infersent: train pairs --encoder infersent --lang en --nli nli.txt --epochs 2 --batch 16 --set
  units=16 --out encoders/infersent --json
train-bgt: train pairs --encoder bgt --lang fr --parallel cipher.tsv --epochs 2 --batch 16 --rate 0.01 --out
  encoders/bgt --json
train-cmlm: train pairs --encoder cmlm --lang fr --parallel cipher.tsv --epochs 2 --batch 16 --text
  en=novels.en.tsv --text fr=novels.fr.tsv --rate 0.03 --set warmup=2 --set asked=500 --set heads=2 --set
  hidden=16 --set feed_forward=16 --out encoders/cmlm --json
train-xlm: train pairs --encoder xlm --lang fr --text en=en.txt --text fr=fr.txt --epochs 2 --batch 16 --set
  objective=mlm --set length=16 --set pieces=300 --set steps=4 --set warmup=2 --set hidden=16 --set heads=2
  --set layers=1 --out encoders/xlm --json
train-said: train pairs --encoder lens --lang fr --source cipher.fr --target cipher.en --epochs 2 --batch 16
  --rate 1 --out encoders/lens
train-x-bilstm: train pairs --encoder x-bilstm --lang fr --parallel parallel.tsv --epochs 2 --batch 16 --set
  english=encoders/infersent --set units=16 --out encoders/x-bilstm --json
train-translator: train-translator pairs --text en=en.txt --text fr=fr.txt --epochs 1 --batch 8 --rate 0.01
  --set hidden=16 --set heads=2 --set layers=1 --set pieces=200 --set steps=6 --set words=4 --set warmup=2
  --out translator --json
translate-model: translate --model translator --src fr --json
evaluate-nli: evaluate pairs --task nli --pairs nli.txt --src en --encoder encoders/infersent --json
evaluate-trained: evaluate pairs --task sentences --source fr.txt --target en.txt --encoder 'encoders/x-cbow
  & encoders/sp' --json
encode-trained: encode pairs --lang fr --input fr.txt --encoder encoders/bgt --out encoded/bgt.npy
export-trained: export pairs --encoder encoders/x-cbow --format text --lang fr --out exported/trained.vec
  --json
version: --version
doctor: doctor --json
fetch-list: fetch --list --json
fetch-dry-run: fetch vectors fr en --dry-run
"""),
)
# Wrong command lines: of names, values, languages, contradictions, files, folders and places to write.
WRONG = """
algin --src fr
align --scr fr
align fr en
align --src fr
align --src fr --tgt fr
align --src fra --tgt en
align --src fr,de --tgt en
align --src fr --tgt en --init gromo
align --src fr --tgt en --init dictionary
align --src fr --tgt en --max-vocab 50k
align --src fr --tgt en --normalise units
align --src fr --into space --joint
align --src fr --tgt en --src-emb nosuch.vec
align --src fr --tgt en --src-emb fr.txt
align --src fr --tgt en --src-emb https://host/x.vec
align --src fr --tgt en --dictionary utf16
align --src fr --tgt en --out fr.txt
align --src a --tgt b --src-emb a.npy --tgt-emb b.npy --init identical
evaluate space
evaluate space --dictionary gold.txt --encoder mean
evaluate fr.txt --dictionary gold.txt
evaluate space --task sentences --source fr.txt --target words.txt
evaluate rows --task rows
translate nosuch roi
translate space king
translate space roi --src fr --tgt fr
translate space roi --lm en.arpa
induce space
induce space --out x.txt --top 0
export space --format csv --out x
export space --format npz --out x.vec
encode space --lang fr --encoder maen --out x.npy --input fr.txt
mine space --src-lang fr --tgt-lang en --source fr.txt --target en.txt --out pairs.xlsx
map space --lang fr --vectors new.vec --json
train space --encoder sp --lang fr --out x
train space --lang fr --parallel fr.txt --out x
report space --out x.pdf
train-lm en.txt --lang en --out en.bin
serve space --host 0.0.0.0
fetch fr
fetch dictionary fr-en
""".strip().splitlines()
# What the explorer is asked, and how it answers.
QUESTIONS = (
    "/healthz",
    "/openapi.json",
    "/api/spaces",
    "/api/translate?word=nuit&top=3",
    "/api/translate?word=zorglub",
    "/api/suggest?lang=fr&prefix=ma",
    "/api/neighbours?word=roi&top=4",
    f"/api/sentence?text={urllib.parse.quote('Le roi dort, la nuit.')}",
    "/api/picture",
    "/api/place?word=roi&own=reine&other=queen",
    "/api/reasons?word=roi",
)


# The files that cases read ----------------------------------------------------------------------------------

Row = list[str]  # a word and its numbers, as they are written
Pair = tuple[str, str]  # of French and English: words or sentences


def write_inputs(checkout: Path, folder: Path) -> None:
    """Write all files that the cases read, made of the sample vectors and dictionaries of the checkout."""
    rows = {name: _sample(checkout, name) for name in ("fr", "en")}
    gold = (checkout / "dictionaries" / "fr-en.sample.txt").read_text(encoding="utf-8")
    pairs = [(line.split()[0], line.split()[1]) for line in gold.splitlines()]
    _lines(folder / "gold.txt", gold.splitlines())
    _lines(folder / "back.txt", [f"{english} {french}" for french, english in pairs])
    _lines(folder / "pairs.txt", gold.splitlines()[:500])
    french, english = ({row[0] for row in some[:FEW]} for some in rows.values())
    pairs = list(dict(pair for pair in pairs if pair[0] in french and pair[1] in english).items())
    _write_vectors(folder, rows["fr"])
    _write_text(folder, pairs)
    _write_cipher(folder, pairs)
    _write_rated(folder, pairs)
    _write_task(folder, pairs)
    (folder / "empty").write_bytes(b"")
    (folder / "utf16").write_bytes("roi king\n".encode("utf-16"))


def _sample(checkout: Path, language: str) -> list[Row]:
    # More words than any space has: some are new to it.
    path = checkout / "embeddings" / "sample" / f"{language}.vec.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        return [line.rstrip("\n").split(" ") for line, _ in zip(lines, range(WORDS + 500), strict=False)]


def _lines(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _turned(row: Row) -> Row:
    # The numbers in another order, every other one with the other sign: an exact rotation, also as text.
    order = list(range(1, len(row)))
    random.Random(0).shuffle(order)
    flipped = [row[place].removeprefix("-") if row[place][0] == "-" else f"-{row[place]}" for place in order]
    return [row[0], *(flipped[i] if i % 2 else row[place] for i, place in enumerate(order))]


def _write_vectors(folder: Path, french: list[Row]) -> None:
    """Write a third language, vectors of noise, new words, and rows without words."""
    rng = random.Random(1)
    noise = [[f"w{place}", *(f"{rng.gauss(0, 1):.3f}" for _ in french[0][1:])] for place in range(600)]
    turned = [_turned(row) for row in french]
    _vectors(folder / "embeddings" / "xx.vec", [[f"{row[0]}x", *row[1:]] for row in turned[:FEW]])
    _vectors(folder / "embeddings" / "noise.vec", noise)
    _vectors(folder / "new.vec", french[WORDS : WORDS + 200])
    _vectors(folder / "other.vec", [*turned[:1_500], *turned[WORDS : WORDS + 200]])
    _lines(folder / "words.txt", [row[0] for row in french[WORDS : WORDS + 5]])
    units = [row[0] for row in french[:50]]
    _lines(
        folder / "units.txt",
        [*units, *(f"{unit[:3]}@@" for unit in dict.fromkeys(units) if len(unit) > 6)][:60],
    )
    for name, rows in (("a", french), ("b", turned)):
        np.save(folder / f"{name}.npy", np.array([row[1:] for row in rows[:1_000:2]], dtype=np.float32))
        np.save(folder / f"new-{name}.npy", np.array([row[1:] for row in rows[1:601:2]], dtype=np.float32))
    _lines(folder / "a.txt", [f"text of {row[0]}" for row in french[:1_000:2]])
    _lines(folder / "ids.tsv", [f"{row}\t{row}" for row in range(200)])


def _vectors(path: Path, rows: list[Row]) -> None:
    _lines(path, [f"{len(rows)} {len(rows[0]) - 1}", *map(" ".join, rows)])


def _sentences(pairs: list[Pair], count: int, seed: int) -> list[Pair]:
    """Sentences of French and their translations, word by word; some have a number or an unknown word."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        drawn = rng.sample(pairs, rng.randint(3, 8))
        extra = ["1789"] * (number % 7 == 0) + ["Zorglub"] * (number % 11 == 0)
        french, english = (" ".join([*words, *extra]) for words in zip(*drawn, strict=True))
        end = rng.choice([".", " !", "?"])
        made.append(
            (f"{french[0].upper()}{french[1:]}{end}", f"{english[0].upper()}{english[1:]}{end.strip()}")
        )
    return made


def _write_text(folder: Path, pairs: list[Pair]) -> None:
    """Write translated sentences in one file and in two, some of them as known pairs, and as documents."""
    both = _sentences(pairs, 200, 0)
    sides = {"fr": [here for here, _ in both], "en": [there for _, there in both]}
    _lines(folder / "parallel.tsv", [f"{there}\t{here}" for here, there in both])
    _lines(folder / "mined.gold", [f"{here}\t{there}" for here, there in both[:60]])
    _lines(folder / "reference.txt", ["The king was at home, with 12 women.", "", "Zorglub sleeps.", "house"])
    for name, lines in sides.items():
        _lines(folder / f"{name}.txt", lines)
        _lines(folder / f"novels.{name}.tsv", [f"{place // 40}\t{line}" for place, line in enumerate(lines)])
    _write_inferences(folder / "nli.txt", sides["en"])


def _write_inferences(path: Path, sentences: list[str]) -> None:
    lines = ["pair_ID\tsentence_A\tsentence_B\tentailment_judgment\tSemEval_set"]
    for place, one in enumerate(sentences):
        said = [one.rpartition(" ")[0], sentences[place - 1], f"No {one}"][place % 3]
        label = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")[place % 3]
        part = (*["TRAIN"] * 7, "TRIAL", "TEST", "TEST")[place % 10]
        lines.append(f"{place}\t{one}\t{said}\t{label}\t{part}")
    _lines(path, lines)


def _write_cipher(folder: Path, pairs: list[Pair]) -> None:
    """Write parallel text in which each word is translated as another one is."""
    moved = [(here, pairs[place - 1][1]) for place, (here, _) in enumerate(pairs)]
    both = _sentences(moved, 200, 4)
    _lines(folder / "cipher.tsv", [f"{there}\t{here}" for here, there in both])
    _lines(folder / "cipher.fr", [here for here, _ in both])
    _lines(folder / "cipher.en", [there for _, there in both])


def _write_rated(folder: Path, pairs: list[Pair]) -> None:
    """Write rated pairs of words and of sentences: the more they share, the higher the rating."""
    rng = random.Random(2)
    words = [
        (french, english if place % 2 else rng.choice(pairs)[1])
        for place, (french, english) in enumerate(pairs)
    ]
    _lines(
        folder / "similarity.tsv",
        [f"{a}\t{b}\t{9 if (a, b) in pairs else rng.randint(0, 4)}" for a, b in words[:80]],
    )
    for name in ("rated", "rated-more"):
        rated = []
        for _ in range(60):
            drawn, shared = [one for one, _ in rng.sample(pairs, 10)], rng.randint(0, 5)
            rated.append(f"{' '.join(drawn[:5])}\t{' '.join(drawn[5 - shared : 10 - shared])}\t{shared}")
        _lines(folder / f"{name}.tsv", rated)


def _write_task(folder: Path, pairs: list[Pair]) -> None:
    """Write a folder with sentences of two classes in both languages: each class has words of its own."""
    rng = random.Random(3)
    half = len(pairs) // 2
    drawn = [rng.sample(pairs[:half] if place % 2 else pairs[half:], 5) for place in range(80)]
    for side, name in enumerate(("fr", "en")):
        _lines(folder / "task" / f"{name}.txt", [" ".join(pair[side] for pair in line) for line in drawn])
    _lines(folder / "task" / "labels.txt", ["yes" if place % 2 else "no" for place in range(80)])


# Running ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """The muse that is recorded: its command, its checkout, and the folder that it runs in."""

    command: tuple[str, ...]
    checkout: Path
    folder: Path

    def run(self, words: Iterable[str], stdin: str = "") -> subprocess.CompletedProcess[bytes]:
        """How a command line ended."""
        return subprocess.run(
            [*self.command, *words], cwd=self.folder, env=self.environment(), input=stdin.encode(),
            capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip

    def environment(self) -> dict[str, str]:
        """The variables of its processes: the code of the checkout, one thread, nothing of the user's."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MUSE_", "PYTHON"))}
        return kept | {
            "PYTHONPATH": str(self.checkout), "OMP_NUM_THREADS": "1", "COLUMNS": "80", "TERM": "dumb",
            "LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1",
        }  # fmt: skip

    def check(self) -> None:
        """Exit if the command runs the code of another folder than the checkout."""
        if "-m" not in self.command:
            return
        python = self.command[: self.command.index("-m")]
        asked = [*python, "-c", "import muse; print(muse.__file__)"]
        ended = subprocess.run(
            asked, cwd=self.folder, env=self.environment(), capture_output=True, check=False
        )
        found = ended.stdout.decode().strip()
        if not Path(found).resolve().is_relative_to(self.checkout) or not found:
            sys.exit(f"{self.checkout}: expected its muse to run, got {found or ended.stderr.decode()}")

    def masked(self, text: str) -> str:
        """The text without what differs between runs, machines and places."""
        for path, shown in ((self.folder, "<folder>"), (self.checkout, "<checkout>")):
            text = text.replace(str(path), shown)
        for pattern, shown, _ in TEXTS:
            text = re.sub(pattern, shown, text)
        return text

    def masked_json(self, value: Any) -> Any:
        """The same for a value of JSON, in which fields are masked too."""
        if isinstance(value, Mapping):
            return {
                self.masked(key): _blank(one) if key in FIELDS else self.masked_json(one)
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [self.masked_json(one) for one in value]
        return self.masked(value) if isinstance(value, str) else value


def _blank(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _blank(one) for key, one in value.items()}
    return MASK


def _shape(value: Any) -> Any:
    # The keys, with the types of their values; of a list its first entry.
    if isinstance(value, Mapping):
        return {key: _shape(one) for key, one in value.items()}
    return [_shape(one) for one in value[:1]] if isinstance(value, list) else type(value).__name__


def outcome(program: Program, case: Case, commands: Mapping[str, list[str]]) -> dict[str, Any]:
    """The record of a case: how it ended, what it said and what it wrote."""
    words = [*shlex.split(case.typed), *(SETTINGS if case.settings else ())]
    before = _stamps(program.folder)
    ended = program.run(_as_command(words, commands), case.stdin)
    files = {name: contents(program, program.folder / name) for name in _changed(before, program.folder)}
    _steady(program.folder, files)
    out = program.masked_json(_parsed(ended.stdout.decode(errors="replace")))
    errors = ended.stderr.decode(errors="replace").splitlines()
    return {
        "typed": f"muse {case.typed}",
        "code": ended.returncode,
        "stdout": _shape(out) if case.only_keys else out,
        "stderr": [program.masked(line) for line in errors if not PROGRESS.match(line)],
        "files": files,
    }


def _parsed(out: str) -> Any:
    # What --json prints, else the lines.
    try:
        return json.loads(out)
    except ValueError:
        return out.split("\n")


def _as_command(words: list[str], commands: Mapping[str, list[str]]) -> list[str]:
    # The command line of a case in the words of this muse, which its help tells.
    if words[0] == "evaluate":
        words = _as_task(words, commands)
    known = "\n".join(commands.get(words[0], []))
    return [RENAMED[word] if word in RENAMED and RENAMED[word] in known else word for word in words]


def _as_task(words: list[str], commands: Mapping[str, list[str]]) -> list[str]:
    # Where a task is a command of its own, `muse evaluate TASK SPACE` for `muse evaluate SPACE --task TASK`.
    place = words.index("--task") if "--task" in words else None
    task = "words" if place is None else words[place + 1]
    if f"evaluate {task}" not in commands:
        return words
    rest = words[1:] if place is None else words[1:place] + words[place + 2 :]
    return ["evaluate", task, *rest]


def _stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        if not path.is_dir():
            found[path.relative_to(folder).as_posix()] = state.st_mtime_ns, state.st_size, state.st_ino
    return found


def _changed(before: Mapping[str, object], folder: Path) -> list[str]:
    after = _stamps(folder)
    return [name for name, stamp in after.items() if before.get(name) != stamp]


def _steady(folder: Path, files: Iterable[str]) -> None:
    """Replace the seconds, dates and versions in the manifests of new spaces by those of STEADY."""
    for path in (folder / name for name in files if name.endswith("manifest.json")):
        manifest = json.loads(path.read_bytes())
        if manifest.get("format") == "muse-space":
            path.write_text(json.dumps(_steadied(manifest), indent=2) + "\n", encoding="utf-8")


def _steadied(value: Any, instead: Any = None) -> Any:
    if isinstance(value, Mapping):
        return {key: _steadied(one, STEADY.get(key, instead)) for key, one in value.items()}
    if isinstance(value, list):
        return [_steadied(one, instead) for one in value]
    return value if instead is None or value is None else instead


# What files contain -----------------------------------------------------------------------------------------


def contents(program: Program, path: Path) -> Any:
    """What a file contains, so that a difference can be read; of an archive the contents alone."""
    data = path.read_bytes()
    if path.suffix == ".json":
        return program.masked_json(json.loads(data))
    if path.suffix in (".html", ".svg"):
        return _page(program, data.decode(errors="replace"))
    if path.suffix == ".npy":
        return _array(path, data)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {name: _digest(archive.read(name)) for name in sorted(archive.namelist())}
    if data[:2] == b"\x1f\x8b":
        return {"compressed": _text(gzip.decompress(data))}
    return _text(data)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _array(path: Path, data: bytes) -> dict[str, Any]:
    # The size of its numbers tells a difference in the last bit from another result.
    array = np.load(path, allow_pickle=False)
    size = f"{np.abs(array.astype(np.float64)).mean():.6g}" if array.size else "0"
    return {"sha256": _digest(data), "shape": list(array.shape), "type": str(array.dtype), "mean size": size}


def _text(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {"sha256": _digest(data), "bytes": len(data)}
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return found
    return found | {"lines": len(lines), "begins": [line[:WIDTH] for line in lines[:HEAD]]}


class _Words(HTMLParser):
    """Collects the visible text of a page, a piece on each line."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.lines.append(" ".join(data.split()))


def _page(program: Program, text: str) -> dict[str, Any]:
    words = _Words()
    words.feed(text)
    return {"sha256": _digest(program.masked(text).encode()), "text": program.masked_json(words.lines)}


# The record -------------------------------------------------------------------------------------------------


def helps(program: Program) -> dict[str, list[str]]:
    """The lines of the help of muse and of every command by its name, those of groups of commands too."""
    found: dict[str, list[str]] = {}
    waiting = [""]
    while waiting:
        name = waiting.pop()
        lines = program.run([*name.split(), "--help"]).stdout.decode().splitlines()
        if lines and lines[0].startswith(f"Usage: muse {name}".rstrip()):  # else it was no command
            found[name] = [program.masked(line) for line in lines]
            waiting += [f"{name} {one}".strip() for one in _listed(lines)]
    return found


def _listed(lines: list[str]) -> list[str]:
    # What may be a command: the first words of the lists under headings.
    heading = next((place for place, line in enumerate(lines) if re.fullmatch(r"[A-Z].*:", line)), len(lines))
    return [found[1] for line in lines[heading:] if (found := re.match(r"  ([a-z][\w-]*)  ", line))]


def explorer(program: Program) -> dict[str, Any]:
    """The answers of `muse serve`, by what it was asked."""
    words = ["serve", "space", "--port", "0", "--json", *SETTINGS]
    process = subprocess.Popen(
        [*program.command, *words], cwd=program.folder, env=program.environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = str(json.loads(process.stdout.readline())["url"]).rstrip("/")
        answers = {question: _answer(program, url, question) for question in QUESTIONS}
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=PATIENCE)[1].decode()
    finally:
        process.kill()
    return {"answers": answers, "code": process.returncode, "stderr": program.masked(errors).splitlines()}


def _answer(program: Program, url: str, question: str) -> Any:
    for _ in range(PATIENCE):
        try:
            with urllib.request.urlopen(url + question, timeout=PATIENCE) as answer:
                found = program.masked_json(json.load(answer))
        except urllib.error.HTTPError as error:
            return {"status": error.code, "problem": program.masked_json(json.load(error))}
        if not (question == "/api/picture" and found.get("ready") is False):
            return found
        time.sleep(1)  # it is being drawn
    return "never ready"


def results(program: Program, only: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The record of every case, by its name; those of SPACES and those whose name has the pattern `only`."""
    commands = helps(program)
    for name, lines in sorted(commands.items()):
        yield f"help {name}".strip(), {"help": lines}
    for case in CASES:
        if case in SPACES or re.search(only, case.name):
            yield case.name, outcome(program, case, commands)
    if re.search(only, "serve"):
        yield "serve", explorer(program)
    for typed in WRONG:
        if re.search(only, f"wrong {typed}"):
            yield f"wrong {typed}", outcome(program, Case("", typed, settings=False), commands)
    if not only:
        yield "files", {"left at the end": sorted(_stamps(program.folder))}


def record(out: Path, command: str, checkout: Path, only: str = "") -> None:
    """Write the record of a checkout to a new folder, a file for each case (`only`: as in `results`)."""
    if out.exists() and any(out.iterdir()):
        sys.exit(f"{out}: expected a new or an empty folder")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        program = Program(tuple(shlex.split(command)), checkout.resolve(), folder)
        program.check()
        write_inputs(program.checkout, folder)
        began = last = _processor_seconds()
        for case, found in results(program, only):
            (out / f"{_slug(case)}.json").write_text(_dump(found), encoding="utf-8")
            now = _processor_seconds()
            code = found.get("code")
            _say(f"{now - last:6.1f} s  {case}{f' (exit {code})' if code else ''}")
            last = now
        _say(f"{last - began:6.1f} s of the processor in all, {len(list(out.iterdir()))} cases in {out}")


def _processor_seconds() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system


def _slug(case: str) -> str:
    name = re.sub(r"[^a-z0-9.]+", "-", case.lower()).strip("-.")
    return name if len(name) <= 100 else f"{name[:90]}-{_digest(case.encode())[:8]}"


def _dump(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def compare(first: Path, second: Path, *, complete: bool = True) -> int:
    """The number of cases that differ, after their differences; not `complete`: of those in both records."""
    texts = [
        {path.name: path.read_text(encoding="utf-8").splitlines() for path in sorted(folder.glob("*.json"))}
        for folder in (first, second)
    ]
    if not all(texts):
        sys.exit(f"{first if not texts[0] else second}: expected a record, found none")
    names = sorted({*texts[0], *texts[1]} if complete else {*texts[0]} & {*texts[1]})
    differing = [name for name in names if texts[0].get(name) != texts[1].get(name)]
    for name in differing:
        labels = f"{first.name}/{name}", f"{second.name}/{name}"
        for line in _difference(texts[0].get(name), texts[1].get(name), labels):
            _say(line)
    _say(f"{len(differing)} of {len(names)} cases differ" if differing else f"equal: {len(names)} cases")
    return len(differing)


def _difference(one: list[str] | None, other: list[str] | None, labels: tuple[str, str]) -> Iterator[str]:
    if one is None or other is None:
        yield f"only in one record: {labels[one is None]}"
    else:
        yield from difflib.unified_diff(one, other, labels[0], labels[1], n=2, lineterm="")


def main() -> None:
    """Record or compare, as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record", help="run all cases, and write what came of them")
    recording.add_argument("out", type=Path, help="new folder for the record")
    recording.add_argument("--muse", default=f"{sys.executable} -m muse", help="command [%(default)s]")
    recording.add_argument(
        "--cwd", type=Path, default=Path.cwd(), metavar="DIR",
        help="checkout whose code and samples are used [the working directory]",
    )  # fmt: skip
    recording.add_argument(
        "--only", default="", metavar="REGEX", help="only the spaces and the cases so named"
    )
    comparing = actions.add_parser("compare", help="print all differences of two records; exit 1 if any")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    comparing.add_argument("--both", action="store_true", help="compare only the cases that are in both")
    given = parser.parse_args()
    if given.action == "compare":
        sys.exit(1 if compare(given.first, given.second, complete=not given.both) else 0)
    record(given.out, given.muse, given.cwd, given.only)


if __name__ == "__main__":
    main()
