"""What commands take of the processor, at this revision and at an earlier one, by turns.

    python -m benchmarks.scale.by_turns REVISION --encoder FOLDER [--repeat 5] [--words 200000]

Each revision aligns the sample for itself. Then both translate words, induce a dictionary, read vectors from
text and load an encoder's folder, each in a process of its own, in turns, so that a busy machine is busy for
both.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.scale.loading import make_file
from benchmarks.support.options import NEEDED, POSITIONAL, command_line

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "embeddings" / "sample"
WORDS = "roi reine maison chat chien eau livre rouge grand manger dire monde".split()
READ = "from muse.files import read_vectors; read_vectors(sys.argv[1], language='xx')"
LOAD = (
    "from pathlib import Path; from muse.embedding.pretrained import PretrainedEncoder\n"
    "PretrainedEncoder(Path(sys.argv[1])).opened('cpu')(['a', 'cats'])"
)


@contextmanager
def checked_out(revision: str, place: Path) -> Iterator[Path]:
    """A checkout of a revision, for as long as the block takes."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--detach", str(place), revision], check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run([*git, "remove", "--force", str(place)], check=True)


def processor_seconds(checkout: Path, arguments: Sequence[object]) -> float:
    """The seconds of all processors that Python takes with these arguments and the muse of a checkout."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, check=False)
    if ended.returncode:
        sys.exit(f"{command} in {checkout}: {ended.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def jobs(space: Path, vectors: Path, encoder: Path) -> Mapping[str, Sequence[object]]:
    """The arguments of Python for each job."""
    run = ["-m", "muse"]
    return {
        "translate": [*run, "translate", space, *WORDS, "--src", "fr", "--tgt", "en"],
        "induce": [*run, "induce", space, "--src", "fr", "--tgt", "en", "--out", space.with_suffix(".tsv")],
        "read vectors": ["-c", f"import sys; {READ}", vectors],
        "load an encoder": ["-c", f"import sys; {LOAD}", encoder],
    }


def main() -> None:
    """Measure both and print the medians."""
    asked = command_line(__doc__, before=POSITIONAL, encoder=NEEDED, repeat=5, words=200_000, dimension=300)
    with tempfile.TemporaryDirectory() as folder, checked_out(str(asked.before), Path(folder) / "old") as old:
        vectors = Path(folder) / "x.vec"
        make_file(
            vectors, words=asked.words, dimension=asked.dimension, numbers="5", rng=np.random.default_rng(0)
        )
        both = {}
        for name, checkout in (("old", old), ("new", ROOT)):
            space = Path(folder) / f"{name}-space"
            align = ["align", "--src", "fr", "--tgt", "en", "--out", space]
            files = ["--src-emb", SAMPLE / "fr.vec.gz", "--tgt-emb", SAMPLE / "en.vec.gz"]
            processor_seconds(checkout, ["-m", "muse", *align, *files])
            both[checkout] = jobs(space, vectors, asked.encoder.resolve())
        print(f"{'processor seconds':20}{'before':>9}{'now':>9}{'ratio':>8}")
        for job in both[ROOT]:
            turns = [[processor_seconds(one, both[one][job]) for one in both] for _ in range(asked.repeat)]
            before, now = map(median, zip(*turns, strict=True))
            print(f"{job:20}{before:9.2f}{now:9.2f}{now / before:8.2f}", flush=True)


if __name__ == "__main__":
    main()
