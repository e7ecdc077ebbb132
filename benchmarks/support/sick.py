"""SICK in its official parts, as one file with a column that names the part of each pair.

Neighbouring numbers are pairs made from the same sentences, so parts by number share most of them: 93 % of
the sentences of the part whose numbers end in 8 or 9 are among the other pairs. The official parts share
fewer, but still 75 % (of the test part's sentences in the train part); 116 of its 4,927 test pairs have no
sentence of the train part. muse says so whenever it reads the file.
"""

import os
import tempfile
from pathlib import Path

from muse.evaluation.ratings import RatedPairs
from muse.files.plain_text import read_lines

COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment", "SemEval_set")
_NAMES = {"train": "TRAIN", "dev": "TRIAL", "test": "TEST"}


def official(data: Path) -> Path:
    """The file of all pairs in their official parts, written to the folder of temporary files."""
    lines = ["\t".join(COLUMNS)]
    for part, name in _NAMES.items():
        lines += [f"{line}\t{name}" for line in read_lines(data / "nli" / f"SICK.{part}.tsv.gz")]
    folder = Path(tempfile.gettempdir()) / f"muse-benchmarks-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / "SICK.official.txt"
    written = folder / f"{path.name}.{os.getpid()}"
    written.write_text("\n".join(lines) + "\n", encoding="utf-8")
    written.replace(path)
    return path


def related(path: Path, part: str) -> RatedPairs:
    """The pairs of a part, train or test, of that file, with the ratings of their relatedness, 1 to 5."""
    first, *lines = read_lines(path)
    header, rows = first.split("\t"), list[tuple[str, str, float]]()
    places = [header.index(name) for name in COLUMNS[1:4]]
    for line in lines:
        cells = line.split("\t")
        if cells[header.index(COLUMNS[-1])] == _NAMES[part]:
            one, two, rating = (cells[place] for place in places)
            rows.append((one, two, float(rating)))
    return RatedPairs(*zip(*rows, strict=True))
