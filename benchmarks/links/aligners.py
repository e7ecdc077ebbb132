"""Links between words, against those that people made: AER of muse, and of fast_align and eflomal beside it.

    python -m benchmarks.links.aligners --space SPACE --source A.en,B.en --target A.fr,B.fr --gold B.gold
        [--more TAB-SEPARATED] [--encoder FOLDER] [--thot PYTHON] [--sentences 40000] [--csv FILE]

The text of all pairs of files is linked, and the last pair, whose gold links are given, is measured. --more
are further sentences, tokenised here, which every aligner that learns from text may learn from as well;
--thot is a Python that has sil-thot (`benchmarks/links/statistical.py`). Speed is by processor seconds.
"""

import random
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from benchmarks.support.options import command_line
from benchmarks.support.tables import append_rows, heading
from muse.evaluation.score import Signature
from muse.files.plain_text import read_lines
from muse.links.contextual import TokenEncoder
from muse.links.evaluation import Pairs, counts_of, read_gold, read_links, score_links
from muse.links.linker import Linker
from muse.links.links import TokenPair
from muse.space import load_space
from muse.text.tokens import Tokeniser

COLUMNS = ("aligner", "text", "aer", "low", "high", "precision", "recall", "f1", "sentences_a_second")
ROUNDS = 1


def main() -> None:
    """Print the table."""
    given = command_line(
        __doc__, space=Path, source=str, target=str, gold=Path, more=Path, encoder=Path, thot=Path,
        sentences=40_000, csv=Path("aligners.csv"),
    )  # fmt: skip
    heading("Links between words")
    files = [[Path(one) for one in side.split(",")] for side in (given.source, given.target)]
    parts = [list(zip(*map(_tokens, both), strict=True)) for both in zip(*files, strict=True)]
    own: list[TokenPair] = [*chain(*parts)]
    direction = (files[0][0].suffix[1:], files[1][0].suffix[1:])
    more = [] if given.more is None else _more(given.more, direction, given.sentences)
    last = len(parts[-1])
    gold = read_gold(given.gold, last)

    def report(aligner: str, text: str, found: Sequence[Pairs], rate: float) -> None:
        score = score_links(
            counts_of(found[-last:], gold), np.random.default_rng(0), Signature(aligner, "-".join(direction))
        )
        fields = {"aligner": aligner, "text": text, "sentences_a_second": round(rate)}
        fields |= {"aer": score.aer, "low": score.ci95[0], "high": score.ci95[1], "f1": score.f1}
        rest = {"precision": score.precision, "recall": score.recall}
        append_rows(given.csv, COLUMNS, [fields | rest])

    for aligner, text, linker in _linkers(given.space, direction, given.encoder, own, more):
        began = time.process_time()
        found = [frozenset((i, j) for i, j, _ in one) for one in linker.link(own)]
        report(aligner, text, found, len(own) / (time.process_time() - began))
    for model in () if given.thot is None else ("fast_align", "eflomal"):
        for text, extra in (("none", []), *([("more", more)] if more else [])):
            report(model, text, *_statistical(given.thot, model, own, extra))


def _linkers(
    folder: Path,
    direction: tuple[str, str],
    encoder: Path | None,
    own: list[TokenPair],
    more: list[TokenPair],
) -> Iterator[tuple[str, str, Linker]]:
    """Yields linkers that have learned from more and more, with what they are called."""
    space = load_space(folder)
    yield "space, nothing learned", "none", Linker(space, direction)
    linker = Linker(space, direction)
    linker.adapt(own)
    yield "space, jumps and frequencies of the text", "none", linker
    for text, every in (("none", own), *([("more", own + more)] if more else [])):
        linker = Linker(space, direction)
        linker.learn(lambda every=every: every, ROUNDS)  # type: ignore[misc]
        yield "space and counts", text, linker
    if encoder is not None:
        linker = Linker(space, direction, encoder=TokenEncoder(space, direction, encoder))
        linker.adapt(own)
        yield f"encoder {encoder.name}", "none", linker


def _statistical(
    python: Path, model: str, own: list[TokenPair], more: list[TokenPair]
) -> tuple[list[Pairs], float]:
    """The links of another program, and sentences a second of learning and linking all."""
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / name for name in ("own.s", "own.t", "more.s", "more.t", "links")]
        for place, pairs in ((0, own), (2, more)):
            for side in (0, 1):
                lines = (" ".join(pair[side]) for pair in pairs)
                names[place + side].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        script = Path(__file__).with_name("statistical.py")
        words = [python, script, model, names[0], names[1], names[4]]
        words += ["--more", names[2], names[3]] if more else []
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True)
        rate = float(done.stdout.partition(" a second")[0].rpartition(" ")[2])
        return read_links(names[4]), rate


def _tokens(path: Path) -> list[tuple[str, ...]]:
    return [tuple(line.split()) for line in read_lines(path)]


def _more(path: Path, direction: tuple[str, str], count: int) -> list[TokenPair]:
    """Pairs of sentences of a table, drawn at random and tokenised."""
    lines = [line.split("\t") for line in read_lines(path)]
    random.Random(0).shuffle(lines)
    one, two = map(Tokeniser, direction)
    return [(one.tokens(source), two.tokens(target)) for source, target in lines[:count]]


if __name__ == "__main__":
    main()
