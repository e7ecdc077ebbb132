"""How fast words are linked, by turns: every mode of `muse link`, and fast_align beside it.

    python -m benchmarks.links.speed --space SPACE --pairs en-fr.tsv.gz --csv FILE.csv [--src en] [--tgt fr]
        [--sentences 40000] [--turns 2] [--encoder FOLDER] [--encoded 1000] [--thot PYTHON]

The sentences are those of a table, --src TAB --tgt, in random order, tokenised here; where there are too few,
they are repeated. Every run is a process of its own, of one thread, measured from its start to its end: each
learns as it does by default, and links. --encoder links the first --encoded sentences; --thot is a Python
that has sil-thot (`benchmarks/links/statistical.py`).
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.links.aligners import tokenised_pairs
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.tables import append_rows, commit, heading, today

COLUMNS = (
    "aligner", "turn", "sentences", "seconds", "processor_seconds", "sentences_a_second", "memory_mb",
    "commit", "date",
)  # fmt: skip


def measured(command: list[str | Path], sentences: int) -> dict[str, Any]:
    """The figures of a process; its sentences a second are by processor seconds."""
    words, began = [*map(str, command)], time.perf_counter()
    process = subprocess.Popen(words, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"exit {os.waitstatus_to_exitcode(status)} from {' '.join(words)}")
    spent = used.ru_utime + used.ru_stime
    fields = {"sentences": sentences, "seconds": time.perf_counter() - began, "processor_seconds": spent}
    return fields | {"sentences_a_second": round(sentences / spent), "memory_mb": used.ru_maxrss // 1024}


def commands(asked: Any, folder: Path) -> Mapping[str, tuple[list[str | Path], int]]:
    """The command of each aligner, and how many sentences it links, of files that are written to a folder."""
    direction = asked.src, asked.tgt
    pairs = [*islice(cycle(tokenised_pairs(asked.pairs, direction, asked.sentences)), asked.sentences)]
    files: dict[int, list[Path]] = {}
    for count in {len(pairs), asked.encoded}:
        files[count] = [folder / f"{count}.{language}" for language in direction]
        for side, path in enumerate(files[count]):
            lines = (" ".join(pair[side]) + "\n" for pair in pairs[:count])
            path.write_text("".join(lines), encoding="utf-8")

    def link(count: int, *options: str | Path) -> tuple[list[str | Path], int]:
        ways = [
            "--src",
            asked.src,
            "--source",
            files[count][0],
            "--tgt",
            asked.tgt,
            "--target",
            files[count][1],
        ]
        fixed = ["--words", "spaced", "--threads", "1", "--quiet", "--out", folder / "links"]
        return [sys.executable, "-m", "muse", "link", asked.space, *ways, *fixed, *options], count

    table = folder / "table.npz"
    found = {
        "space and counts": link(len(pairs), "--save-table", table),
        "space and counts that were saved": link(len(pairs), "--table", table),
        "space, nothing learned of words": link(len(pairs), "--rounds", "0"),
    }
    if asked.encoder is not None:
        found["space and encoder"] = link(asked.encoded, "--encoder", asked.encoder)
    if asked.thot is not None:
        script = Path(__file__).with_name("statistical.py")
        command = [asked.thot, script, "fast_align", *files[len(pairs)], folder / "links"]
        found["fast_align"] = command, len(pairs)
    return found


def main() -> None:
    """Prints the table."""
    asked = command_line(
        __doc__, space=NEEDED, pairs=NEEDED, csv=NEEDED, src="en", tgt="fr", sentences=40_000, turns=2,
        encoder=Path, encoded=1_000, thot=Path,
    )  # fmt: skip
    heading("Speed of links")
    with tempfile.TemporaryDirectory() as folder:
        runs = commands(asked, Path(folder))
        for turn in range(asked.turns):
            for aligner, (command, sentences) in runs.items():
                fields = {"aligner": aligner, "turn": turn + 1, "commit": commit(), "date": today()}
                append_rows(asked.csv, COLUMNS, [fields | measured(command, sentences)])


if __name__ == "__main__":
    main()
