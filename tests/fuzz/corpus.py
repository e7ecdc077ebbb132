"""The corpus: inputs that showed a defect, kept as folders of files, which the tests replay."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.contract import put
from tests.fuzz.mutators import Files
from tests.fuzz.target import contents

CORPUS = Path(__file__).parent / "corpus"


def keep(target: str, kind: str, number: int, files: Files) -> Path:
    """The folder in which an input is kept, named after what it showed."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", kind).strip("-")[:60]
    folder = CORPUS / target / f"{name}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    put(files, folder)
    return folder


def kept() -> Iterator[tuple[str, str, Files]]:
    """The target, the name and the files of each input that is kept."""
    for folder in sorted(CORPUS.glob("*/*")):
        yield folder.parent.name, folder.name, contents(folder)
