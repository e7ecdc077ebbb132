"""Six tasks as their commands alone: how many there are, and how long they take.

    python -m benchmarks.scale.tasks FOLDER --out FILE.csv [--tasks translator,manager] [--clean]
        [--shared ../shared]

With --clean, muse is first installed from this checkout into a new environment, FOLDER/venv, in which the
commands run then, and the installation has a row of its own, a task with one command.

Each task begins in an empty folder, with the files of its user: the translator has two folders of text, half
the captions of Multi30k in French and the other half in English; the search engineer the vectors of two
models, here made up; the others have nothing but the checkout, whose sample vectors muse finds.
"""

import gzip
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.support.options import POSITIONAL, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import append_rows, commit, today

ROOT = Path(__file__).resolve().parents[2]
PAIR = "muse align --src fr --tgt en --out fr-en"
TASKS = {
    "translator": ("muse terms --src fr --src-text fr/ --tgt en --tgt-text en/ --out terms.xlsx",),
    "data scientist": (
        """python -c 'import muse
space = muse.align("fr", "en", out="fr-en")
space.dictionary(min_probability=0.8).to_csv("pairs.csv")
print(space.evaluate([("roi", "king"), ("cheval", "horse")]))'""",
    ),
    "linguist": (
        PAIR, "muse neighbours fr-en roi --lang fr",
        "muse induce fr-en --src fr --tgt en --group lemma --top 3 --out words.xlsx",
    ),
    "search engineer": (
        "muse align --src new --tgt old --src-emb new.npy --tgt-emb old.npy --dictionary ids.tsv "
        "--init dictionary --out moved",
        "muse map moved --lang new --vectors queries.npy --among old --out mapped.npy",
        "muse evaluate rows moved --src new --store old.npy --source queries.npy --target queries-old.npy",
    ),
    "translation researcher": (
        PAIR, "muse export fr-en --format text --shared --out both.vec",
        "muse export fr-en --format moses --max-vocab 5000 --out phrase-table.gz",
    ),
    "manager": ("muse demo", "muse report embeddings/demo --out page.html"),
}  # fmt: skip
COLUMNS = ("task", "commands", "wall_s", "processor_s", "results", "commit", "date")


def prepare(task: str, folder: Path, shared: Path) -> None:
    """Write what the user of a task has."""
    if task == "translator":
        for place, language in enumerate(("fr", "en")):
            path = shared / "data" / "parallel" / f"multi30k.train.{language}.gz"
            lines = gzip.decompress(path.read_bytes()).decode().splitlines()
            (folder / language).mkdir()
            (folder / language / "captions.txt").write_text("\n".join(lines[place::2]), encoding="utf-8")
    if task == "search engineer":
        rng = np.random.default_rng(0)
        said = rng.gamma(0.7, size=(60, 24))[rng.integers(60, size=5_300)] + rng.gamma(0.2, size=(5_300, 24))
        for name, dimension in (("old", 48), ("new", 32)):
            rows = said @ rng.normal(size=(24, dimension)) + 0.1 * rng.normal(size=(len(said), dimension))
            queries = {"old": "queries-old", "new": "queries"}[name]
            np.save(folder / f"{name}.npy", rows[: 5_000 if name == "old" else 1_000].astype(np.float32))
            np.save(folder / f"{queries}.npy", rows[5_000:].astype(np.float32))
        (folder / "ids.tsv").write_text("".join(f"{row}\t{row}\n" for row in range(1_000)))


def processor_seconds() -> float:
    """Those of all commands so far, of all cores together."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(task: str, commands: Sequence[str], folder: Path, programs: Path) -> dict[str, object]:
    """The row of a task whose commands are run in a folder, by the `programs` before those of the system."""
    before, began, spent = {*folder.iterdir()}, time.perf_counter(), processor_seconds()
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MUSE", "PYTHON"))}
    for command in commands:
        path = f"{programs}{os.pathsep}{own['PATH']}"
        subprocess.run(command, shell=True, cwd=folder, env={**own, "PATH": path}, check=True)
    took = round(time.perf_counter() - began, 1), round(processor_seconds() - spent, 1)
    made = " ".join(sorted(one.name for one in {*folder.iterdir()} - before))
    return dict(zip(COLUMNS, (task, len(commands), *took, made, commit(), today()), strict=True))


def main() -> None:
    """Run the tasks, and append a row for each."""
    asked = command_line(
        __doc__, folder=POSITIONAL, out=Path, tasks=",".join(TASKS), clean=False, shared=SHARED
    )
    programs = Path(sys.executable).parent
    if asked.clean:
        asked.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(asked.folder / "venv", ignore_errors=True)
        install = f"VENV=$PWD/venv {shlex.quote(str(ROOT / 'scripts' / 'install'))} --all"
        append_rows(asked.out, COLUMNS, [measured("installation", [install], asked.folder, programs)])
        programs = asked.folder.resolve() / "venv" / "bin"
    for task in asked.tasks.split(","):
        folder = asked.folder / task.replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        prepare(task, folder, asked.shared)
        append_rows(asked.out, COLUMNS, [measured(task, TASKS[task], folder, programs)])


if __name__ == "__main__":
    main()
