"""Jobs: the commands that write, on toy data, and when two results are the same."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muse.files.atomic import present
from tests.faults import forks
from tests.support.command import tree
from tests.support.parallel import toy_text, write_text
from tests.support.spaces import saved
from tests.support.toys import raw_pair, write_vec

_VARYING = ("seconds", "peak_memory_mb", "created")  # fields of manifests that no two runs share
_NO_CHECKPOINT = "--resume needs the checkpoints"
ENDED = (0, 3)  # done; 3: done, and called failed or doubtful, as adversarial training on toys may be


@dataclass(frozen=True)
class Job:
    """A command, what it writes, and whether it can be resumed."""

    name: str
    line: str
    out: str
    resumes: bool = False

    def arguments(self, *more: str) -> list[str]:
        """Those of `muse`."""
        return [*self.line.split(), "--out", self.out, "-q", *more]


_TRAIN = "--parallel pairs.tsv --epochs 3 --set steps=20 --batch 16"
JOBS = (
    Job(
        "align",
        "align --src fr --tgt en --src-emb fr.vec --tgt-emb en.vec --init gromov --force",
        "out",
        True,
    ),
    Job(
        "align adversarial",
        "align --src fr --tgt en --src-emb fr.vec --tgt-emb en.vec --init adversarial --force",
        "out",
        True,
    ),
    Job("train", "train space --encoder x-cbow --lang fr --parallel pairs.tsv --epochs 20", "out", True),
    Job("train lens", f"train space --encoder lens --lang fr {_TRAIN} --set dimension=32", "out", True),
    Job("induce", "induce space --format tsv", "out.tsv"),
    Job("mine", "mine space --source text.fr --target text.en --src-lang fr --tgt-lang en", "out.tsv"),
    Job("encode", "encode space --lang fr --input text.fr", "out.npy"),
    Job("train-lm", "train-lm text.fr --lang fr", "out.arpa"),
    Job("export text", "export space --format text", "out"),
    Job("export torch", "export space --format torch", "out.pt"),
    Job("export moses", "export space --format moses --src fr --tgt en --top 5", "out"),
    Job("export space", "export space --format space", "out"),
)


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True)
    source, target, _ = raw_pair(600)
    for vectors in (source, target):
        write_vec(folder / f"{vectors.language}.vec", vectors)
    saved(folder / "space", plain=True)
    pairs = toy_text(200)
    write_text(folder / "pairs.tsv", pairs)
    for side, language in enumerate(("en", "fr")):
        lines = "".join(f"{pair[side]}\n" for pair in pairs)
        (folder / f"text.{language}").write_text(lines, encoding="utf-8")


def run(job: Job, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The job, run to its end, of which the output is not kept."""
    return forks.run(job.arguments(*more), folder)


def finished(job: Job, folder: Path) -> str:
    """What went wrong when the job is run again after a fault, resumed if it can be; empty if nothing did."""
    ended = run(job, folder, "--resume") if job.resumes else None
    if ended is None or (ended.returncode == 1 and _NO_CHECKPOINT in ended.stderr):
        ended = run(job, folder)
    return "" if ended.returncode in ENDED else f"exit {ended.returncode}: {ended.stderr.strip()[-300:]}"


def result(folder: Path, out: str) -> dict[str, Any] | None:
    """All that was written at `out`, without what varies; None if there is nothing."""
    path = present(folder / out)  # a kill may have left the old one aside
    if path.is_dir():
        return {name: _comparable(name, content) for name, content in tree(path).items()}
    return {"": _comparable(out, path.read_bytes())} if path.exists() else None


def others(folder: Path, out: str) -> set[str]:
    return {path.name for path in folder.iterdir()} - {out}


def _comparable(name: str, content: bytes | None) -> Any:
    if content is None or not name.endswith(".json"):
        return content
    return _without_varying(json.loads(content))


def _without_varying(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_varying(one) for key, one in value.items() if key not in _VARYING}
    if isinstance(value, list):
        return [_without_varying(one) for one in value if one != "--resume"]  # of the command that wrote it
    return value
