"""Whether muse runs on a GPU (CUDA) and finds there what it finds on the CPU: all checks, in one command.

    python -m benchmarks.scale.gpu [--kept gpu-checks.json] [--out FILE.csv] [--minutes 8]
        [--parts tests,neighbours,...] [--size 20000] [--dimension 300] [--k 10] [--repeat 3] [--steps 300]
        [--words 200000]

* the tests that need a GPU (`pytest -m gpu`);
* k nearest neighbours and mutual CSLS neighbours of random clusters, and their seconds beside those of one
  matrix product on the GPU in single precision;
* `muse align --src fr --tgt en` with the repository's sample vectors on both devices: verdict, P@1, seconds
  and the peak of the GPU's memory;
* on the GPU alone: an epoch of the paper's adversarial training (31,250 steps, from the seconds of --steps),
  whether faiss, if it was built for GPUs, finds the same neighbours and pairs as torch, and the seconds of
  both by turns, the alignment of --words random words a language, and a few steps of each sentence system at
  its paper preset (gpu_networks.py).

It needs the repository alone. What was checked is kept in a file: run again with the same sizes, the command
goes on where it stopped. It begins nothing new after --minutes.

Exit code 1 if a check fails, 2 without a GPU, 3 if the minutes did not suffice.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.scale.gpu_networks import SYSTEMS, paper_steps
from benchmarks.scale.neighbours import clustered, same
from benchmarks.support.kept_rows import append
from benchmarks.support.options import command_line
from benchmarks.support.tables import ROOT, commit, header, heading, muse, row, today
from muse.api.run import run
from muse.errors import MuseError
from muse.learn.bilingual import learn
from muse.learn.initialise.adversarial import PAPER, _Training
from muse.learn.pair import LanguagePair
from muse.learn.settings import AlignConfig
from muse.run.runtime import Runtime
from muse.search.exact import Neighbours, installed_faiss, nearest
from muse.search.retrieval import Retrieval, mutual_neighbours
from muse.vectors import Vectors

LEAST_SAME = 0.999  # of neighbours or pairs: the last digits of two devices differ, and with them near ties
MARKER = "@pytest.mark.gpu"
SAMPLE = ROOT / "embeddings" / "sample"
DICTIONARY = ROOT / "dictionaries" / "fr-en.sample.txt"
COLUMNS = ("name", "cpu", "gpu", "limit", "kept", "device", "torch", "commit", "date")
FAILED, NO_GPU, UNFINISHED = 1, 2, 3
BACKENDS = ("faiss", "torch")
PARTS = ("tests", "neighbours", "sample", "adversarial", "faiss", "large", *SYSTEMS)

Seconds = tuple[float, float, float]  # of a product, of the k nearest, of the mutual CSLS neighbours


class Check(NamedTuple):
    """What was compared, the figures of the CPU and the GPU, the limit, and whether it was kept."""

    name: str
    cpu: str
    gpu: str
    limit: str
    kept: bool


class Searched(NamedTuple):
    """What one device found, with the seconds of each search and of one product of the two matrices."""

    neighbours: Neighbours
    pairs: Tensor
    seconds: Seconds


class Aligned(NamedTuple):
    """The sample pair on one device: verdict, P@1 with its 95 % interval, seconds, MB at the GPU's peak."""

    verdict: str
    p_at_1: float
    ci95: tuple[float, float]
    seconds: float
    megabytes: float


def gpu_tests() -> Check:
    """The tests with the marker gpu, run by pytest; other files may need what is not installed there."""
    files = [
        path for path in sorted((ROOT / "tests").rglob("test_*.py")) if MARKER in path.read_text("utf-8")
    ]
    # Its libraries may be newer than those that the project is tested with, and warn.
    options = ["-m", "gpu", "-q", "-n", "0", "-o", "filterwarnings=default"]
    command = [sys.executable, "-m", "pytest", *options, *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-4_000:], done.stderr[-1_000:], file=sys.stderr)
    last = (done.stdout.strip().splitlines() or ["nothing printed"])[-1]
    return Check("pytest -m gpu", "", last.strip("= "), "all pass", done.returncode == 0)


def searched(x: Tensor, y: Tensor, *, k: int, repeat: int, backend: str = "auto") -> Searched:
    """The neighbours of x (n, d) among y (m, d) and the mutual pairs, on the device of the two."""
    how, room = Retrieval(k=k, backend=backend), x.new_empty(len(x), len(y))
    find = partial(nearest, x, y, k, backend=backend)
    found, pairs = find(), mutual_neighbours(x, y, how)  # first: what starts slowly is then ready
    works: list[Callable[[], object]] = [
        lambda: torch.mm(x, y.T, out=room), find, lambda: mutual_neighbours(x, y, how),
    ]  # fmt: skip
    product, one_way, both_ways = (min(_seconds(work, repeat)) for work in works)
    return Searched(found, pairs, (product, one_way, both_ways))


def _seconds(work: Callable[[], object], repeat: int) -> Iterator[float]:
    """Yields the seconds of each run of `work`, with the GPU idle before and after."""
    for _ in range(repeat):
        _wait()
        began = time.perf_counter()
        work()
        _wait()
        yield time.perf_counter() - began


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def compared(cpu: Searched, gpu: Searched) -> list[Check]:
    """Whether both devices found the same, with the seconds of each beside those of the product."""
    shares = shared_part(gpu, cpu)
    return [
        Check(
            f"{name}: {100 * share:.2f} % the same", _beside(cpu, place), _beside(gpu, place),
            f"{100 * LEAST_SAME:.1f} % the same", share >= LEAST_SAME,
        )
        for place, (name, share) in enumerate(shares.items(), start=1)
    ]  # fmt: skip


def shared_part(one: Searched, other: Searched) -> dict[str, float]:
    """The share of neighbours and of pairs that both found."""
    here, there = ({(i, j) for i, j in found.pairs.tolist()} for found in (one, other))
    expected = Neighbours(*(part.cpu() for part in other.neighbours))
    return {
        "k nearest neighbours": same(one.neighbours, expected),
        "mutual CSLS neighbours": len(here & there) / max(1, len(here | there)),
    }


def _beside(one: Searched, place: int) -> str:
    product = one.seconds[0]
    return f"{one.seconds[place]:.4f} s, {one.seconds[place] / product:.1f} products of {product:.4f} s"


def aligned(device: str, folder: Path) -> Aligned:
    """The sample pair aligned on a device, into `folder`, and evaluated."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    config = AlignConfig(
        src=("fr",), tgt="en", src_emb=(SAMPLE / "fr.vec.gz",), tgt_emb=SAMPLE / "en.vec.gz",
        out=folder / device,
    )  # fmt: skip
    verdict = run(config, device=device).learned["fr"].verdict
    seconds = time.perf_counter() - began
    peak = torch.cuda.max_memory_allocated() / 1e6 if device == "cuda" else 0.0
    score = muse("evaluate", folder / device, "--dictionary", DICTIONARY, "--device", device).fields
    low, high = score["ci95"]
    return Aligned(verdict.label, score["p_at_1"], (low, high), seconds, peak)


def agreeing(cpu: Aligned, gpu: Aligned) -> list[Check]:
    """Whether both devices give the sample pair the same verdict, and P@1 within the CPU's interval."""
    low, high = cpu.ci95
    return [
        Check("verdict on fr-en", cpu.verdict, gpu.verdict, "the same", cpu.verdict == gpu.verdict),
        Check(
            "P@1 of fr-en", f"{cpu.p_at_1:.1f}", f"{gpu.p_at_1:.1f}", f"{low:.1f} to {high:.1f}",
            low <= gpu.p_at_1 <= high,
        ),
        Check("seconds of fr-en", f"{cpu.seconds:.1f}", f"{gpu.seconds:.1f}", "", True),
        Check("peak of the GPU's memory for fr-en", "", f"{gpu.megabytes:.0f} MB", "", True),
    ]  # fmt: skip


def adversarial_epoch(x: Tensor, y: Tensor, steps: int) -> Check:
    """The seconds of an epoch of the paper's adversarial training on x (n, d) and y (m, d), from `steps`."""
    pair = LanguagePair(_vectors("a", x), _vectors("b", y), Runtime("cuda"))
    training = _Training(pair, replace(PAPER, steps=steps))
    state, began = training.start(0), time.perf_counter()
    training.run_epoch(state, 0, 0, lambda _: 0.0)
    seconds = (time.perf_counter() - began) * PAPER.steps / steps
    return Check("an epoch of adversarial-paper", "", f"{seconds:.0f} s, from {steps} steps", "", True)


def by_faiss(x: Tensor, y: Tensor, k: int, repeat: int) -> list[Check]:
    """Whether faiss and torch find the same of x (n, d) and y (m, d), with the seconds of each, by turns."""
    if not installed_faiss().gpu:
        return [Check("faiss on the GPU", "", "faiss-cpu is installed", "", True)]
    turns = [{name: searched(x, y, k=k, repeat=1, backend=name) for name in BACKENDS} for _ in range(repeat)]
    least = {
        name: turns[0][name]._replace(seconds=_least([turn[name].seconds for turn in turns]))
        for name in BACKENDS
    }
    shares = shared_part(*(least[name] for name in BACKENDS))
    return [
        Check(
            f"{name} by faiss: {100 * share:.2f} % those of torch", "",
            ", ".join(f"{backend} {_beside(least[backend], place)}" for backend in BACKENDS),
            f"{100 * LEAST_SAME:.1f} % the same", share >= LEAST_SAME,
        )
        for place, (name, share) in enumerate(shares.items(), start=1)
    ]  # fmt: skip


def _least(seconds: Sequence[Seconds]) -> Seconds:
    """The least of each kind."""
    product, one_way, both_ways = map(min, zip(*seconds, strict=True))
    return product, one_way, both_ways


def large(words: int, dimension: int) -> Check:
    """The verdict and the seconds of the alignment of random words with their own rotation."""
    rows = clustered(words, dimension, 2)
    turned = rows @ torch.linalg.qr(torch.randn(dimension, dimension)).Q.T
    noisy = normalize(turned + 0.3 * normalize(torch.randn_like(turned)))
    source, target = _vectors("a", rows), _vectors("b", noisy)
    _wait()
    began = time.perf_counter()
    learned = learn(source, target, config=AlignConfig(init="similarity"), runtime=Runtime("cuda"))
    seconds = time.perf_counter() - began
    return Check(f"{words} words aligned", "", f"{learned.verdict.label}, {seconds:.1f} s", "", True)


def _vectors(language: str, rows: Tensor) -> Vectors:
    return Vectors(language, [f"{language}{row}" for row in range(len(rows))], rows.cpu().numpy())


def network(name: str, folder: Path) -> Check:
    """A few steps of a sentence system at its paper preset; a failure is told, and the others go on."""
    try:
        found, kept = str(paper_steps(name, folder, device="cuda")), True
    except (MuseError, RuntimeError, AssertionError) as error:  # torch's lack of memory is a RuntimeError
        found, kept = shorten(str(error), 200), False
    return Check(f"{name}, paper preset", "", found, "a finite loss", kept)


def show(checks: Sequence[Check]) -> None:
    """Prints the rows of these checks."""
    for check in checks:
        row([*check[:-1], "yes" if check.kept else "NO"])


@dataclass(frozen=True)
class Run:
    """What was asked for, a folder for what is made on the way, and the two random matrices."""

    asked: argparse.Namespace
    folder: Path

    def rows(self, device: str) -> tuple[Tensor, Tensor]:
        """Sources and targets (n, d) on a device."""
        x, y = (clustered(self.asked.size, self.asked.dimension, seed) for seed in (1, 0))
        return x.to(device), y.to(device)

    def key(self, part: str) -> str:
        """The part with the sizes that it depends on: what is kept of others is not its own."""
        a = self.asked
        sizes = {
            "neighbours": (a.size, a.dimension, a.k, a.repeat), "adversarial": (a.size, a.dimension, a.steps),
            "faiss": (a.size, a.dimension, a.k, a.repeat), "large": (a.words, a.dimension),
        }.get(part, ())  # fmt: skip
        return " ".join(map(str, (part, *sizes)))

    def checked(self, part: str) -> list[Check]:
        """The checks of a part."""
        a = self.asked
        if part == "tests":
            return [gpu_tests()]
        if part == "neighbours":
            found = (searched(*self.rows(device), k=a.k, repeat=a.repeat) for device in ("cpu", "cuda"))
            return compared(*found)
        if part == "sample":
            return agreeing(*(aligned(device, self.folder) for device in ("cpu", "cuda")))
        if part == "adversarial":
            return [adversarial_epoch(*self.rows("cpu"), a.steps)]
        if part == "faiss":
            return by_faiss(*self.rows("cuda"), a.k, a.repeat)
        return [large(a.words, a.dimension) if part == "large" else network(part, self.folder)]


def kept_checks(path: Path) -> dict[str, list[Check]]:
    """The checks of each part that a file has; none if there is no file."""
    if not path.exists():
        return {}
    return {key: [Check(*one) for one in found] for key, found in json.loads(path.read_text("utf-8")).items()}


def checked(run_: Run, ends: float) -> Iterator[list[Check]]:
    """Yields the checks of each part, kept or made; no part is begun after the time `ends`."""
    kept = kept_checks(run_.asked.kept)
    for part in run_.asked.parts.split(","):
        key = run_.key(part)
        if key in kept:
            yield kept[key]
        elif time.monotonic() < ends:
            yield (found := run_.checked(part))
            if all(check.kept for check in found):  # a failure is tried again
                kept[key] = found
                run_.asked.kept.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """What was asked for."""
    asked = command_line(
        __doc__, size=20_000, dimension=300, k=10, repeat=3,
        steps=(300, "of adversarial training that are timed"),
        words=(200_000, "of each language of the large alignment"),
        parts=(",".join(PARTS), "what is checked, in this order"),
        kept=(Path("gpu-checks.json"), "file of what was checked"), out=Path, minutes=8.0,
    )  # fmt: skip
    if unknown := [part for part in asked.parts.split(",") if part not in PARTS]:
        sys.exit(f"--parts must be of {', '.join(PARTS)}; got {unknown[0]}")
    return asked


def main() -> None:
    """Runs and prints all checks."""
    asked, ends = arguments(), time.monotonic()
    ends += 60 * asked.minutes
    if not torch.cuda.is_available():
        print("no GPU: torch finds no CUDA device")
        sys.exit(NO_GPU)
    heading("Checks on a GPU")
    print(f"GPU: {torch.cuda.get_device_name()}, CUDA {torch.version.cuda}\n")
    header(["check", "CPU", "GPU", "limit", "kept"])
    parts, checks = 0, list[Check]()
    with tempfile.TemporaryDirectory() as folder:
        for found in checked(Run(asked, Path(folder)), ends):
            show(found)
            checks += found
            parts += 1
    if asked.out is not None:
        about = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        about |= {"commit": commit(), "date": today()}
        append(asked.out, [{**check._asdict(), **about} for check in checks], COLUMNS)
    if not all(check.kept for check in checks):
        sys.exit(FAILED)
    left = len(asked.parts.split(",")) - parts
    if left:
        print(f"\n{left} parts were not begun: run the same command again")
    sys.exit(UNFINISHED if left else 0)


if __name__ == "__main__":
    main()
