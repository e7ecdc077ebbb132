"""Links between words, against those that people made: AER of muse, and of fast_align and eflomal beside it.

    python -m benchmarks.links.aligners --space SPACE --source A.en,B.en --target A.fr,B.fr --gold B.gold
        [--more TAB-SEPARATED] [--encoder FOLDER] [--thot PYTHON] [--sentences 40000] [--partial] [--spans 5]
        [--csv FILE]

The text of all pairs of files is linked, and the last pair, whose gold links are given, is measured. --more
are further sentences, tokenised here, which every aligner that learns from text may learn from as well;
--thot is a Python that has sil-thot (`benchmarks/links/statistical.py`). Speed is by processor seconds.

With --partial, gold links are of some words alone, as in silver of SilverAlign: of the links found, those of
these words count. With --spans, labels are carried over: all spans of the source with so many words at most
whose first and last word have a sure link, and whose smallest target span has links with no other word. It
prints how many of their counterparts are the right ones, by the links of `muse carry-labels`.
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
from muse.links.evaluation import GoldLinks, Pairs, counts_of, read_gold, read_links, score_links
from muse.links.labels import carried
from muse.links.linker import Linker
from muse.links.links import Links, TokenPair
from muse.space import load_space
from muse.text.tokens import Tokeniser

COLUMNS = ("aligner", "text", "aer", "low", "high", "precision", "recall", "f1", "sentences_a_second")
SPANS = ("spans", "spans_precision", "spans_recall", "spans_f1", "words_f1")
ROUNDS = 1


def main() -> None:
    """Print the table."""
    given = command_line(
        __doc__, space=Path, source=str, target=str, gold=Path, more=Path, encoder=Path, thot=Path,
        sentences=40_000, partial=False, spans=0, csv=Path("aligners.csv"),
    )  # fmt: skip
    heading("Links between words")
    files = [[Path(one) for one in side.split(",")] for side in (given.source, given.target)]
    parts = [list(zip(*map(_tokens, both), strict=True)) for both in zip(*files, strict=True)]
    own: list[TokenPair] = [*chain(*parts)]
    direction = (files[0][0].suffix[1:], files[1][0].suffix[1:])
    more = [] if given.more is None else tokenised_pairs(given.more, direction, given.sentences)
    last = len(parts[-1])
    gold = read_gold(given.gold).of(last)
    spans = [spans_of(one, given.spans) for one in gold]

    def report(aligner: str, text: str, found: Sequence[Pairs], rate: float) -> None:
        links = [_of_gold(one, g) for one, g in zip(found[-last:], gold, strict=True)]
        counts = counts_of(links if given.partial else found[-last:], gold)
        score = score_links(counts, np.random.default_rng(0), Signature(aligner, "-".join(direction)))
        fields = {"aligner": aligner, "text": text, "sentences_a_second": round(rate)}
        fields |= {"aer": score.aer, "low": score.ci95[0], "high": score.ci95[1], "f1": score.f1}
        rest = {"precision": score.precision, "recall": score.recall}
        if given.spans:
            rest |= dict(zip(SPANS, span_measures(found[-last:], spans, parts[-1]), strict=True))
        append_rows(given.csv, COLUMNS + SPANS * bool(given.spans), [fields | rest])

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


def _of_gold(links: Pairs, gold: GoldLinks) -> Pairs:
    """The links of words that have gold links."""
    sources, targets = {i for i, _ in gold.possible}, {j for _, j in gold.possible}
    return frozenset((i, j) for i, j in links if i in sources or j in targets)


def spans_of(gold: GoldLinks, longest: int) -> list[tuple[range, range]]:
    """The source spans whose counterparts the sure links tell, and these."""
    found = []
    ends = sorted({i for i, _ in gold.sure})
    for begin in ends:
        for end in (one for one in ends if begin <= one < begin + longest):
            linked = [j for i, j in gold.sure if begin <= i <= end]
            target = range(min(linked), max(linked) + 1)
            if all(begin <= i <= end for i, j in gold.sure if j in target):
                found.append((range(begin, end + 1), target))
    return found


def span_measures(
    found: Sequence[Pairs], spans: Sequence[Sequence[tuple[range, range]]], pairs: Sequence[TokenPair]
) -> tuple[int, float, float, float, float]:
    """How many spans there are; precision, recall and F1 of counterparts, and F1 of their words, percent."""
    every, right, given, words = 0, 0, 0, np.zeros(3)
    for links, own, pair in zip(found, spans, pairs, strict=True):
        places = tuple([(n, n + 1) for n in range(len(side))] for side in pair)
        asked = [(source.start, source.stop, "") for source, _ in own]
        counterparts = carried(asked, places, Links.of_shares(dict.fromkeys(links, 1.0)))  # type: ignore[arg-type]
        for (_, wanted), one in zip(own, counterparts, strict=True):
            got = range(*one[:2]) if one else range(0)
            every, right, given = every + 1, right + (got == wanted), given + bool(got)
            words += len({*got} & {*wanted}), len(got), len(wanted)
    precision, recall = right / max(1, given), right / max(1, every)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return every, 100 * precision, 100 * recall, 100 * f1, float(200 * words[0] / words[1:].sum())


def _tokens(path: Path) -> list[tuple[str, ...]]:
    return [tuple(line.split()) for line in read_lines(path)]


def tokenised_pairs(path: Path, direction: tuple[str, str], count: int) -> list[TokenPair]:
    """Pairs of sentences of a table, at most `count`, drawn at random and tokenised."""
    lines = [line.split("\t") for line in read_lines(path)]
    random.Random(0).shuffle(lines)
    one, two = map(Tokeniser, direction)
    return [(one.tokens(source), two.tokens(target)) for source, target in lines[:count]]


if __name__ == "__main__":
    main()
