"""Muse without a dictionary beside Procrustes with one, on lists that no default of muse was chosen on.

    python -m benchmarks.align.unseen [--pairs en-fr,fr-en] [--seeds 0] [--shared ../shared]

Both lists of en-fr, en-de and de-fr were in view when defaults were chosen. For these pairs, in both
directions, a list is made of the Tatoeba training sentences: pairs of words that choose each other by
Dice's coefficient of how often they stand in the same pair of sentences, 2 c(x, y) / (c(x) + c(y)), without
the source words of either list. It is noisy, for both methods alike. For the pairs with Italian it is the
list `5000-6500`, on which nothing was chosen. Procrustes learns from `0-5000`; the p-value is that of a
paired test over the queries both cover.
"""

import gzip
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.support.tables import header, heading, muse, numbers, row

COLUMNS = ("pair", "seed", "list", "queries", "muse", "95 %", "Procrustes", "difference", "95 %", "p")
PAIRS = "en-fr,fr-en,en-de,de-en,de-fr,fr-de,en-it,it-en,fr-it,it-fr"
WORD = re.compile(r"[^\W\d_]+")
LEAST_TOGETHER, LEAST_DICE = 4, 0.3

Sentences = Iterable[tuple[str, str]]


def sentences(pair: Pair, shared: Path) -> Iterator[tuple[str, str]]:
    """The sentences of both languages, over English where neither is English."""
    if "en" in (pair.source, pair.target):
        other = pair.target if pair.source == "en" else pair.source
        for english, translated in _tatoeba(other, shared):
            yield (english, translated) if pair.source == "en" else (translated, english)
        return
    first = defaultdict(list)
    for english, translated in _tatoeba(pair.source, shared):
        first[english].append(translated)
    for english, translated in _tatoeba(pair.target, shared):
        yield from ((source, translated) for source in first[english])


def has_sentences(pair: Pair, shared: Path) -> bool:
    """Whether there are sentences of both languages."""
    return all(_path(language, shared).exists() for language in {pair.source, pair.target} - {"en"})


def _path(language: str, shared: Path) -> Path:
    return shared / "data" / "parallel" / f"tatoeba.en-{language}.train.tsv.gz"


def _tatoeba(language: str, shared: Path) -> Iterator[tuple[str, str]]:
    path = _path(language, shared)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            english, translated = line.rstrip("\n").split("\t")[:2]
            yield english.lower(), translated.lower()


class Dice(NamedTuple):
    """Dice's coefficient of words that often stand in the same sentences, and the best of either word.

    `of_source` and `of_target` have the highest value of each word, and the word of the other language.
    """

    values: dict[tuple[str, str], float]
    of_source: dict[str, tuple[float, str]]
    of_target: dict[str, tuple[float, str]]

    def chosen(self) -> list[tuple[str, str]]:
        """The pairs of words that choose each other."""
        return [
            (x, y)
            for x, (value, y) in self.of_source.items()
            if value >= LEAST_DICE and self.of_target[y][1] == x
        ]


def dice(text: Sentences, *, together_at_least: int) -> Dice:
    """Dice's coefficient of words of a text and its translation that share that many pairs of sentences."""
    sources, targets, together = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for sentence, translated in text:
        left, right = ({*WORD.findall(side)} for side in (sentence, translated))
        sources.update(left)
        targets.update(right)
        together.update(product(left, right))
    values = {
        (x, y): 2 * count / (sources[x] + targets[y])
        for (x, y), count in together.items()
        if count >= together_at_least
    }
    of_source, of_target = dict[str, tuple[float, str]](), dict[str, tuple[float, str]]()
    for (x, y), value in values.items():
        of_source[x] = max(of_source.get(x, (0.0, "")), (value, y))
        of_target[y] = max(of_target.get(y, (0.0, "")), (value, x))
    return Dice(values, of_source, of_target)


def mutual_by_dice(text: Sentences, known: set[str]) -> list[tuple[str, str]]:
    """The pairs of words that choose each other by Dice's coefficient; no source word of `known`."""
    return [(x, y) for x, y in dice(text, together_at_least=LEAST_TOGETHER).chosen() if x not in known]


def unseen_list(pair: Pair, shared: Path, folder: Path) -> Path:
    """The list to measure with: nothing was chosen on it."""
    if "it" in (pair.source, pair.target):
        return pair.gold_in(folder)
    lists = [*pair.gold, *([] if pair.training is None else [pair.training])]
    lines = [line for path in lists for line in path.read_text(encoding="utf-8").splitlines()]
    found = mutual_by_dice(sentences(pair, shared), {line.split()[0] for line in lines})
    path = folder / f"{pair.name}.tatoeba.txt"
    path.write_text("".join(f"{x}\t{y}\n" for x, y in found), encoding="utf-8")
    return path


def measure(pair: Pair, seeds: list[int], shared: Path) -> None:
    """Prints a row for each seed of muse on a pair, beside Procrustes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        training = pair.must_train_in(folder)
        gold, other = unseen_list(pair, shared, folder), folder / "procrustes"
        muse("align", *pair.arguments(), "--dictionary", training, "--no-refine", "--out", other)
        for seed in seeds:
            space = folder / f"muse.{seed}"
            muse("align", *pair.arguments(), "--seed", str(seed), "--out", space)
            scored = muse("evaluate", space, "--dictionary", gold, "--against", other).fields
            against, (low, high) = scored["against"], scored["ci95"]
            between = "{:+.1f} to {:+.1f}".format(*against["ci95"])
            row([
                pair.name, seed, gold.stem.partition(".")[2], scored["covered"], f"{scored['p_at_1']:.2f}",
                f"{low:.1f}-{high:.1f}", f"{against['p_at_1']:.2f}", f"{against['difference']:+.2f}", between,
                f"{against['p_value']:.3f}",
            ])  # fmt: skip


def main() -> None:
    """Prints the table."""
    asked = command_line(__doc__, pairs=PAIRS, seeds="0", shared=SHARED)
    heading("Word translation beside Procrustes, on lists that nothing was chosen on")
    header(COLUMNS)
    for name in asked.pairs.split(","):
        measure(find_pair(name, asked.shared), numbers(asked.seeds), asked.shared)


if __name__ == "__main__":
    main()
