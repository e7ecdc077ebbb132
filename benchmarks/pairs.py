"""Pairs: the evaluation pairs under ../shared, their vectors, gold lists and training dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SHARED = Path("../shared")


class Pair(NamedTuple):
    """Two languages, a file of vectors for each, and the lists to measure with."""

    name: str
    source: str
    target: str
    source_file: Path
    target_file: Path
    gold: tuple[Path, ...]  # read as one list
    training: Path | None  # shares no source word with `gold`; None where there is none such

    def arguments(self) -> list[str | Path]:
        """The options of `muse align` that name the languages and their files."""
        files: list[str | Path] = ["--src-emb", self.source_file, "--tgt-emb", self.target_file]
        return ["--src", self.source, "--tgt", self.target, *files]

    def gold_in(self, folder: Path) -> Path:
        """The gold list as one file, made in `folder` where it is several."""
        if len(self.gold) == 1:
            return self.gold[0]
        merged = folder / f"{self.source}-{self.target}.gold.txt"
        merged.write_text("".join(path.read_text(encoding="utf-8") for path in self.gold), encoding="utf-8")
        return merged


def find_pair(name: str, shared: Path) -> Pair:
    """The pair of a name such as "zhang-es-en" (Zhang et al., 2017, 50 d) or "en-fr" (ours, 300 d)."""
    *collection, source, target = name.split("-")
    data = shared / "data"
    lists = data / "dictionaries"
    training = lists / f"{source}-{target}.0-5000.txt"
    gold: tuple[Path, ...] = (lists / f"{source}-{target}.5000-6500.txt",)
    if collection == ["zhang"]:
        home = data / "zhang2017" / f"{source}-{target}"
        own = home / "gold.txt"
        gold = (own,) if own.exists() else (training, *gold)
        files = home / f"{source}.vec.gz", home / f"{target}.vec.gz"
        return Pair(name, source, target, *files, gold, None)
    files = data / "vectors" / f"{source}.vec.gz", data / "vectors" / f"{target}.vec.gz"
    return Pair(name, source, target, *files, gold, training)
