"""A disk that is full: one line that says so, and nothing half-written."""

import subprocess
import sys
from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files.writing import replaced
from tests.support.command import tree
from tests.support.spaces import saved

resource = pytest.importorskip("resource")  # Windows has none

# The command in a process that can write so many bytes to a file; Python ignores the signal. It writes no
# bytecode (-B): Python would leave it cut short, for every later process to stumble over.
LIMITED = """
import resource, sys
from muse.cli import main
most = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "export space --format torch --out table.pt",
        "export space --format text --out folder",
        "export space --format npz --out folder",
        "export space --format moses --src fr --tgt en --top 5 --out table",
        "export space --format space --out copy",
        "train-lm text.txt --lang fr --out model.arpa",
        "induce space --out pairs.tsv --format tsv",
        "encode space --lang fr --input text.txt --out rows.npy",
        "report space --out page.html",
        "train space --encoder x-cbow --lang fr --parallel pairs.tsv --epochs 1 --out encoder",
    ],
)
def test_a_command_on_a_full_disk(tmp_path: Path, line: str) -> None:
    saved(tmp_path / "space", plain=True)
    (tmp_path / "text.txt").write_text("fr1 fr2 fr3\n" * 200)
    (tmp_path / "pairs.tsv").write_text("".join(f"en{n} en{n + 1}\tfr{n} fr{n + 1}\n" for n in range(2, 30)))
    before = tree(tmp_path)
    ended = subprocess.run(
        [sys.executable, "-B", "-c", LIMITED, "200", *line.split(), "-q"], cwd=tmp_path, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    (error,) = ended.stderr.splitlines()
    assert error.startswith("error: ") and ("free some space" in error or "is full" in error)
    kept = {name: content for name, content in tree(tmp_path).items() if "calibration" not in str(name)}
    assert kept == before


def test_an_error_that_is_not_of_the_disk_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="mine"), replaced(tmp_path / "x"):
        raise RuntimeError("mine")
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="expected a writable path"), replaced(tmp_path / "file" / "x"):
        pass
