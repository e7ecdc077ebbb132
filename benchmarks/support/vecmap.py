"""VecMap (Artetxe et al., 2018), run from a checkout; its vectors are read and written as arrays."""

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.align.supervision_cells import Task

WITH_PAIRS = ("supervised", "semi_supervised")
LEAST = 255  # iterations of self-learning: five probabilities, each for 51 without gain
TOLD = re.compile(r"ITERATION (\d+) \((\d+\.\d+)s\)")
# Reading and writing 60,000 x 300 numbers as text takes longer than the supervised mode itself.
WITH_ARRAYS = """
import runpy, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import embeddings
def read(file, threshold=0, vocabulary=None, dtype="float"):
    return file.read().split(), np.load(file.name + ".npy").astype(dtype)
def write(words, matrix, file):
    np.save(file.name + ".npy", matrix)
embeddings.read, embeddings.write = read, write
sys.argv = ["map_embeddings.py", *sys.argv[2:]]
runpy.run_path(sys.path[0] + "/map_embeddings.py", run_name="__main__")
"""


@dataclass(frozen=True, eq=False)
class Mapped:
    """The unit rows (n, d) and (m, d) of both, None if stopped before; seconds; how it was run."""

    rows: tuple[Tensor, Tensor] | None
    seconds: float
    setting: str = ""


def vecmap(task: Task, checkout: Path, mode: str, iterations: int | None) -> Mapped:
    """What VecMap makes of the pairs in a mode, or the seconds it needs at least, by some iterations."""
    inputs = _inputs(task)
    outputs = [path.with_suffix(".mapped") for path in inputs]
    given = [task.dictionary_of_tokens()] if mode in WITH_PAIRS else []
    driver: list[str | Path] = [sys.executable, "-W", "ignore", "-c", WITH_ARRAYS, checkout]
    began = time.perf_counter()
    each = _run([*driver, "--verbose", f"--{mode}", *given, *inputs, *outputs], iterations)
    seconds = time.perf_counter() - began
    if iterations is not None and len(each) >= iterations:
        mean = sum(each[1:]) / max(1, len(each) - 1)
        return Mapped(None, LEAST * mean, f"{mean:.1f} s an iteration; {LEAST} at least")
    rows = [torch.from_numpy(np.load(f"{path}.npy").astype(np.float32)) for path in outputs]
    setting = f"{len(each)} iterations" if each else ""
    return Mapped((normalize(rows[0]), normalize(rows[1])), seconds, setting)


def _inputs(task: Task) -> list[Path]:
    paths = []
    for side, tokens in zip(task.loaded.sides, task.loaded.tokens(), strict=True):
        paths.append(task.loaded.folder / f"{task.cell.pair}.{side.language}.words")
        paths[-1].write_text("\n".join(tokens), encoding="utf-8")
        np.save(f"{paths[-1]}.npy", side.matrix)
    return paths


def _run(command: Sequence[str | Path], iterations: int | None) -> list[float]:
    # The seconds of the iterations; stopped after so many of them unless None.
    found, said = list[float](), list[str]()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            said.append(line.strip())
            if told := TOLD.search(line):
                found.append(float(told[2]))
            if len(found) == iterations:
                process.kill()
                return found
    if process.returncode:
        raise RuntimeError(f"VecMap: exit {process.returncode}: {next(filter(None, reversed(said)), '')}")
    return found
