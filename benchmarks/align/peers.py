"""How long VecMap, from the checkout that --vecmap names, and muse take on the same files.

    python -m benchmarks.align.peers --vecmap PATH [--pair en-fr] [--iterations 5] [--shared ../shared]

VecMap's unsupervised mode never makes fewer than 255 iterations (five probabilities, each for 51 without
gain): it is stopped after a few, and the time of those is extended to 255. That leaves out its
initialisation, its last step and its writing: the ratio is a lower bound. It reads text that is not packed.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.support.tables import header, heading, muse, row

LEAST = 255
TOLD = re.compile(r"ITERATION (\d+) \((\d+\.\d+)s\)")


def unpacked(path: Path, folder: Path) -> Path:
    """The file without its compression."""
    out = folder / path.name.removesuffix(".gz")
    with gzip.open(path, "rb") as packed, out.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return out


def vecmap_seconds(checkout: Path, pair: Pair, folder: Path, iterations: int) -> list[float]:
    """The seconds of VecMap's first iterations, in order."""
    files = [unpacked(path, folder) for path in (pair.source_file, pair.target_file)]
    out = [folder / f"{language}.mapped" for language in (pair.source, pair.target)]
    script = str(checkout / "map_embeddings.py")
    command = [sys.executable, script, "--unsupervised", "--verbose", *map(str, [*files, *out])]
    found: list[float] = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            if told := TOLD.search(line):
                found.append(float(told[2]))
            if len(found) == iterations:
                process.kill()
                break
    return found


def main() -> None:
    """Runs both, one after the other, and prints their seconds and the ratio."""
    asked = command_line(
        __doc__, vecmap=NEEDED, pair="en-fr", iterations=5, shared=SHARED,
    )  # fmt: skip
    pair = find_pair(asked.pair, asked.shared)
    heading("muse beside VecMap: seconds")
    header(("pair", "tool", "measured", "seconds, end to end"))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        muse("align", *pair.arguments(), "--out", Path(folder) / "space")
        ours = time.perf_counter() - began
        row([pair.name, "muse", "all of it, loading and saving too", ours])
        each = vecmap_seconds(asked.vecmap, pair, Path(folder), asked.iterations)
    if not each:
        raise SystemExit("VecMap told of no iteration")
    least = LEAST * sum(each) / len(each)
    shown = " ".join(f"{seconds:.1f}" for seconds in each)
    row(
        [
            pair.name,
            "VecMap",
            f"{len(each)} iterations of {shown} s; {LEAST} of them at least",
            f"> {least:.0f}",
        ]
    )
    print(f"\nmuse is at least {least / ours:.0f} times as fast")


if __name__ == "__main__":
    main()
