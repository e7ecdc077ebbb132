"""Pairs: the evaluation pairs under ../shared, their vectors, gold lists and training dictionaries."""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from muse.files import read_vectors
from muse.lexicon import Lexicon
from muse.vectors import Vectors

SHARED = Path("../shared")
TEST_SHARE = 4  # of a list that is split, one source word in so many is for the test


class Pair(NamedTuple):
    """Two languages, a file of vectors for each, and the lists to measure with."""

    name: str
    source: str
    target: str
    source_file: Path
    target_file: Path
    gold: tuple[Path, ...]  # read as one list
    training: Path | None  # shares no source word with `gold`; None where there is none such
    lower: bool = False  # lowercase the words of the vectors: the lists are in lower case
    split: bool = False  # `gold` and `training` are one list, to be split by source word

    def arguments(self) -> list[str | Path]:
        """The options of `muse align` that name the languages and their files."""
        files: list[str | Path] = ["--src-emb", self.source_file, "--tgt-emb", self.target_file]
        return ["--src", self.source, "--tgt", self.target, *files, *(["--lower"] if self.lower else [])]

    def gold_in(self, folder: Path) -> Path:
        """The gold list as one file, made in `folder` where it is several or a part of one."""
        if len(self.gold) == 1 and not self.split:
            return self.gold[0]
        lines = [line for path in self.gold for line in _lines(path) if not self.split or is_for_test(line)]
        return _written(folder / f"{self.name}.gold.txt", lines)

    def vectors(self, most: int | None = None) -> tuple[Vectors, Vectors]:
        """The vectors of both languages as they are on file, of the `most` frequent words alone."""
        files = (self.source_file, self.source), (self.target_file, self.target)
        source, target = (
            read_vectors(path, language=language, max_vocab=most, lowercase=self.lower)
            for path, language in files
        )
        return source, target

    def must_train_in(self, folder: Path) -> Path:
        """The training dictionary; SystemExit if there is none."""
        if (training := self.training_in(folder)) is None:
            raise SystemExit(f"{self.name} has no training dictionary")
        return training

    def training_in(self, folder: Path) -> Path | None:
        """The training dictionary, made in `folder` if it is a part of a list; None if there is none."""
        if self.training is None or not self.split:
            return self.training
        lines = [line for line in _lines(self.training) if not is_for_test(line)]
        return _written(folder / f"{self.name}.training.txt", lines)


def is_for_test(line: str) -> bool:
    """Whether a line of a split list is for the test: a hash of its source word decides.

    >>> is_for_test("ciudad town") == is_for_test("ciudad city")
    True
    """
    return sha256(line.split()[0].encode()).digest()[0] % TEST_SHARE == 0


def known_targets(lexicon: Lexicon, source: Vectors, target: Vectors) -> dict[int, set[int]]:
    """The targets of each source word of a lexicon, as row numbers."""
    gold: dict[int, set[int]] = {}
    for row, column in lexicon.indices(source.index, target.index).tolist():
        gold.setdefault(row, set()).add(column)
    return gold


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _written(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def find_pair(name: str, shared: Path) -> Pair:
    """The pair of a name such as "en-fr": vectors of ours, 300 d.

    "zhang-es-en" has vectors of Zhang et al. (2017), 50 d, on both sides, "zhang-glove-es-en" GloVe 50 d for
    English, "web-fr-en" vectors of web text for French.
    """
    *collection, source, target = name.split("-")
    data = shared / "data"
    lists = data / "dictionaries"
    training = lists / f"{source}-{target}.0-5000.txt"
    gold: tuple[Path, ...] = (lists / f"{source}-{target}.5000-6500.txt",)
    files = data / "vectors" / f"{source}.vec.gz", data / "vectors" / f"{target}.vec.gz"
    if not collection:
        return Pair(name, source, target, *files, gold, training)
    if collection == ["web"]:
        web = data / "vectors-web" / f"{source}.vec.gz"
        return Pair(name, source, target, web, files[1], gold, training, lower=True)
    if collection not in (["zhang"], ["zhang", "glove"]):
        raise SystemExit(f"pairs are named like en-fr, web-fr-en, zhang-es-en, zhang-glove-es-en; got {name}")
    home = data / "zhang2017" / f"{source}-{target}"
    own, files = home / "gold.txt", (home / f"{source}.vec.gz", home / f"{target}.vec.gz")
    if collection == ["zhang", "glove"]:
        files = files[0], data / "vectors-web" / f"{target}.glove50.vec.gz"
        if own.exists():
            return Pair(name, source, target, *files, (own,), own, split=True)
        return Pair(name, source, target, *files, gold, training)
    return Pair(name, source, target, *files, (own,) if own.exists() else (training, *gold), None)
