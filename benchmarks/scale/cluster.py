"""muse encode, mine and induce on a Ray cluster: seconds by the number of machines, and the same results.

    python -m benchmarks.scale.cluster SPACE [--raylets 1,2,4] [--sentences 400000] [--pairs 29000]
        [--commands start,encode,mine,induce] [--shared ../shared]

SPACE has en and fr. The machines are raylets of one CPU each on this one, so more of them than it has cores
gain nothing. Beside each command is the same without Ray on one thread; `differ` is the largest difference of
a number. The sentences are captions of Multi30k, two joined at random for those that are encoded. `start` is
the time of a command on one part of a text: Ray's processes, each of which imports torch and loads the space.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import dataset

from benchmarks.support.pairs import SHARED
from benchmarks.support.raylets import cluster
from benchmarks.support.sentence_sets import captions
from benchmarks.support.tables import header, heading, muse, row

LANGUAGES = ("en", "fr")


def make_texts(folder: Path, sentences: int, pairs: int, shared: Path) -> None:
    """Writes the texts to mine, en and fr, and those to encode: long.en and, with one part, short.en."""
    for language in LANGUAGES:
        (folder / language).write_text("\n".join(captions(language, shared)[:pairs]) + "\n", encoding="utf-8")
    lines = captions("en", shared)
    drawn = np.random.default_rng(0).integers(len(lines), size=(sentences, 2))
    joined = [f"{lines[one]} {lines[two]}" for one, two in drawn]
    (folder / "long.en").write_text("\n".join(joined) + "\n", encoding="utf-8")
    (folder / "short.en").write_text("\n".join(joined[:100]) + "\n", encoding="utf-8")


def commands(space: Path, folder: Path) -> dict[str, list[str | Path]]:
    """The commands without what they write."""
    encode: list[str | Path] = ["encode", space, "--lang", "en", "--input"]
    texts: list[str | Path] = ["--source", folder / "en", "--target", folder / "fr"]
    return {
        "start": [*encode, folder / "short.en"],
        "encode": [*encode, folder / "long.en"],
        "mine": ["mine", space, "--src-lang", "en", "--tgt-lang", "fr", *texts],
        "induce": ["induce", space, "--src", "en", "--tgt", "fr", "--mutual"],
    }


def numbers_of(path: Path, name: str) -> tuple[list[Any], np.ndarray[Any, Any]]:
    """What a command wrote, with Ray or without: keys in order, and a number or a row for each."""
    if path.is_dir():
        table = dataset.dataset(path).to_table()
        if name in ("start", "encode"):
            return table["row"].to_pylist(), np.stack(table["vector"].to_numpy(zero_copy_only=False))
        return list(zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)), np.array(
            table["score"]
        )
    if name in ("start", "encode"):
        rows = np.load(path)
        return list(range(len(rows))), rows
    lines = path.read_text(encoding="utf-8").splitlines()
    if name == "mine":
        fields = [line.split("\t") for line in lines]
        return [(one, two) for _, one, two in fields], np.array([float(score) for score, *_ in fields])
    entries = [json.loads(line) for line in lines]
    keys = [(entry["source"], entry["target"]) for entry in entries]
    return keys, np.array([entry["score"] for entry in entries])


def measure(space: Path, folder: Path, raylets: list[int], names: list[str]) -> None:
    """Prints a row for every command, without Ray and on each number of raylets."""
    header(["command", "machines", "seconds", "result", "differ"])
    alone = {}
    asked = {name: commands(space, folder)[name] for name in names}
    for name, arguments in asked.items():
        out = folder / f"{name}.npy"
        more = ["--format", "jsonl"] if name == "induce" else []
        run = muse(*arguments, *more, "--threads", "1", "--out", out)
        alone[name] = numbers_of(out, name)
        row([name, "no Ray", run.seconds, len(alone[name][0]), ""])
    for count in raylets:
        with cluster(count) as made:
            for name, arguments in asked.items():
                out = folder / f"{name}-{count}"
                run = muse(*arguments, "--ray", str(made.address), "--out", out)
                keys, numbers = numbers_of(out, name)
                same = keys == alone[name][0]
                differ = f"{np.abs(numbers - alone[name][1]).max():.0e}" if same else "other rows"
                row([name, count, run.seconds, len(keys), differ])


def main() -> None:
    """Measures all commands on all clusters."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("space", type=Path)
    parser.add_argument("--raylets", default="1,2,4")
    parser.add_argument("--sentences", type=int, default=400_000)
    parser.add_argument("--pairs", type=int, default=29_000)
    parser.add_argument("--commands", default="start,encode,mine,induce")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    heading("Encode, mine and induce on a Ray cluster")
    with tempfile.TemporaryDirectory() as folder:
        make_texts(Path(folder), asked.sentences, asked.pairs, asked.shared)
        raylets = [int(count) for count in asked.raylets.split(",")]
        measure(asked.space, Path(folder), raylets, asked.commands.split(","))


if __name__ == "__main__":
    main()
