"""Whether a better lexicon makes a better translator without parallel text.

    python -m benchmarks.systems.teachers --spaces FOLDER --out FILE.csv --work FOLDER [--lang fr,de]
        [--teachers nn,csls,evidence,encoder,pairs,oracle] [--seeds 0-2] [--kind multi30k] [--pieces 4000]
        [--steps 600] [--rate 2e-3] [--shared ../shared]
    python -m benchmarks.systems.teachers --out FILE.csv --picture FILE.svg

FOLDER of the spaces has LANG.none, LANG.5000 (with pairs) and LANG.encoder, aligned with English. A
Transformer learns from text of two languages that share no sentence pair (translator_text.py), for three
quarters of its steps from translations word by word, then from its own. Text, network, its initialisation
from LANG.none, steps and seed are the same; only what translates word by word differs:

- nn, csls: LANG.none by nearest neighbours and by CSLS; evidence: the answers of LANG.none;
- encoder, pairs: the answers of LANG.encoder and of LANG.5000;
- oracle: the links of words in parallel text of the kind of the test set, of which the others see none.

The seed draws everything but the text. `steps` is 0 for the word-by-word translation itself, with a language
model of the text. `p_at_1` is that of gold lists, `right` the share of the words of that parallel text, with
repetitions, whose first translation has at least a tenth of their links in it. Both are of the direction that
the row translates; the model learns that direction from translations of the other one. A folder of --work is
for one kind of text, of which the table and the picture are. Rows that the file has are not made again.
"""

import argparse
import contextlib
import io
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy.stats import rankdata, spearmanr

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.scatter import Point, scatter
from benchmarks.support.tables import commit, header, muse, numbers, over_seeds, row, today
from benchmarks.systems.inference_text import PIVOT, one_line
from benchmarks.systems.translator import language_model, training, translated
from benchmarks.systems.translator_text import TESTS, Text, test_pairs, written
from muse.cli import commands
from muse.files.plain_text import read_lines
from muse.links.parallel import linked_text
from muse.search.retrieval import Retrieval
from muse.sentences.systems.translator import translator_system
from muse.space import Space, load_space
from muse.text.phrase_table import escaped, read_phrase_table, unescaped
from muse.translate.text import TextConfig, Translator

KINDS = ("nn", "csls", "evidence", "encoder", "pairs", "oracle")
SPACES = {"encoder": "encoder", "pairs": "5000"}  # of the others: none
FEWEST, LEAST = 5, 0.1  # links of a word that is judged, and the share of a translation that is right
TOP = 10
KEY = ("lang", "text", "teacher", "seed", "steps")
COLUMNS = (
    *KEY, "direction", "p_at_1", "right", "words", "bleu", "ci95_low", "ci95_high", "chrf", "seconds",
    "commit", "date",
)  # fmt: skip
Direction = tuple[str, str]
Links = Mapping[str, Counter[str]]


class Teacher(NamedTuple):
    """What translates word by word: a space, how its words are looked up, and tables of links that win."""

    folder: Path
    space: Space
    retrieval: str
    tables: Mapping[Direction, Path]

    def translator(self, _: Space | None = None, **options: Any) -> Translator:
        """The translator of a direction, in whatever space it is asked for."""
        table = self.tables.get((options["source"], options["target"]))
        return Translator(
            self.space, phrases=None if table is None else read_phrase_table(table, top=TOP),
            config=TextConfig(retrieval=Retrieval(self.retrieval)), **options,
        )  # fmt: skip

    def options(self, way: Direction) -> list[str | Path]:
        """What muse translate takes to translate by it."""
        answers: list[str | Path] = [] if self.space.answers_by == "all" else ["--answers", "csls"]
        phrases: list[str | Path] = ["--phrases", self.tables[way]] if way in self.tables else []
        return [self.folder, *answers, "--retrieval", self.retrieval, *phrases]


class Bench:
    """The text of a language and English, its links, and the teachers."""

    def __init__(self, asked: argparse.Namespace, language: str) -> None:
        self.asked, self.language, self.ways = asked, language, ((PIVOT, language), (language, PIVOT))
        self.data, self.work = asked.shared / "data", asked.work
        self.text: Text = written(self.data, self.work, language, kinds=(asked.kind,), novels=0)
        self.links = {way: self._links(way) for way in self.ways}
        self._lexicons = dict[tuple[str, Direction], Row]()  # whatever the seed

    def _links(self, way: Direction) -> Links:
        """The links of the words of the first language in parallel text, by a space aligned with pairs."""
        table = self.work / f"{'-'.join(way)}.table"
        if not table.exists():
            pairs = self._parallel(way)
            space = load_space(self.asked.spaces / f"{self.language}.5000")
            counts = defaultdict[str, Counter[str]](Counter)
            for (source, target), links in linked_text(space, way, pairs):
                for here, there, _ in links:
                    counts[source[here].lower()][target[there].lower()] += 1
            lines = (
                f"{escaped(word)} ||| {escaped(other)} ||| 1 1 {many / linked.total():.6f} 1 ||| ||| {many}"
                for word, linked in sorted(counts.items())
                for other, many in linked.most_common(TOP)
            )
            table.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        found = defaultdict[str, Counter[str]](Counter)
        for line in read_lines(table):
            word, other, *_, count = line.split(" ||| ")
            found[unescaped(word)][unescaped(other)] = int(count.removeprefix("||| "))
        return found

    def _parallel(self, way: Direction) -> Path:
        path: Path = self.work / f"{'-'.join(way)}.tsv"
        folder = self.data / "parallel"
        if self.asked.kind == "tatoeba":
            lines = read_lines(folder / f"tatoeba.{PIVOT}-{self.language}.train.tsv.gz")
            pairs = [tuple(line.split("\t")[:2])[:: 1 if way[0] == PIVOT else -1] for line in lines]
        else:
            sides = [read_lines(folder / f"multi30k.train.{name}.gz") for name in way]
            pairs = list(zip(*sides, strict=True))
        path.write_text("".join("\t".join(map(one_line, pair)) + "\n" for pair in pairs), encoding="utf-8")
        return path

    def teacher(self, kind: str) -> Teacher:
        """The teacher of a kind."""
        folder = self.asked.spaces / f"{self.language}.{SPACES.get(kind, 'none')}"
        space = load_space(folder, answers="csls" if kind in ("nn", "csls") else "all")
        tables = {way: self.work / f"{'-'.join(way)}.table" for way in self.ways} if kind == "oracle" else {}
        return Teacher(folder, space, "nn" if kind == "nn" else "csls", tables)

    def lexicon(self, teacher: Teacher, way: Direction) -> Row:
        """How good it is: P@1 of a gold list, which links have none of, and the share right in the text."""
        gold, said = find_pair("-".join(way), self.asked.shared).gold_in(self.work), dict[str, Any]()
        if not teacher.tables:
            asked = (*teacher.options(way), "--src", way[0], "--tgt", way[1], "--dictionary", gold)
            said = muse("evaluate", *asked).fields
        counts = Counter({word: found.total() for word, found in self.links[way].items()})
        words = [word for word, count in counts.items() if count >= FEWEST and word.isalpha()]
        made = teacher.translator(source=way[0], target=way[1], model=None).translate(words)
        links = self.links[way]
        found = [
            links[word][one.lower()] >= LEAST * counts[word] for word, one in zip(words, made, strict=True)
        ]
        return {
            "p_at_1": said.get("p_at_1", ""), "words": len(words),
            "right": 100 * float(np.average(found, weights=[counts[word] for word in words])),
        }  # fmt: skip

    def trained(self, teacher: Teacher, seed: int, folder: Path, *more: str | Path) -> float:
        """Trains a model from a teacher, with `more` options; the seconds of the training."""
        asked = self.asked
        changed = ("attention=ordered", f"words={asked.steps * 3 // 4}", "denoising=0")
        began = time.perf_counter()
        taught = mock.patch.object(translator_system, "Translator", teacher.translator)
        with taught, contextlib.redirect_stdout(io.StringIO()):
            commands.main([
                "train-translator", str(asked.spaces / f"{self.language}.none"),
                "--text", f"{PIVOT}={self.text.english}", "--text", f"{self.language}={self.text.other}",
                "--encoder", "space", "--decoder", "space", *training(asked, seed, folder, changed), "--json",
                *map(str, more),
            ], standalone_mode=False)  # fmt: skip
        return time.perf_counter() - began

    def rows(self, kind: str, seed: int, steps: int) -> Iterator[Row]:
        """BLEU in both directions, of the teacher without steps, else of the model that learned from it."""
        teacher = self.teacher(kind)
        folder, seconds = self.work / f"{self.language}.{kind}.{seed}", 0.0
        if steps:
            seconds = self.trained(teacher, seed, folder)
        for way in self.ways:
            options: list[str | Path] = ["--model", folder]
            if not steps:
                model = language_model(self.text, self.work, self.language, way[1])
                options = [*teacher.options(way), "--lm", model]
            if (kind, way) not in self._lexicons:
                self._lexicons[kind, way] = self.lexicon(teacher, way)
            yield {
                "lang": self.language, "text": self.asked.kind, "teacher": kind, "seed": seed, "steps": steps,
                "direction": "-".join(way), **self._lexicons[kind, way], **self.scores(options, way),
                "seconds": seconds, "commit": commit(), "date": today(),
            }  # fmt: skip
        if steps:
            shutil.rmtree(folder)

    def scores(self, options: Sequence[str | Path], way: Direction) -> Row:
        """BLEU with its interval, and chrF, of the test set translated with these options."""
        pairs = test_pairs(self.data, self.language, self.asked.kind)
        lines, references = zip(*(pair if way[0] == PIVOT else pair[::-1] for pair in pairs), strict=True)
        return translated(options, way, (lines, references), self.work)


def show(rows: Sequence[Mapping[str, str]]) -> None:
    """Prints lexicon and BLEU by teacher, of the words themselves and of the models, means over seeds."""
    cells = defaultdict[tuple[str, ...], dict[str, list[float]]](lambda: defaultdict(list))
    for one in rows:
        key: tuple[str, ...] = (one["text"], one["direction"], one["teacher"])
        cells[key]["words" if one["steps"] == "0" else one["steps"]].append(float(one["bleu"]))
        for name in ("p_at_1", "right"):
            cells[key][name] = [float(one[name])] if one[name] else []
    columns = list(dict.fromkeys(name for found in cells.values() for name in found))
    header(["text", "direction", "teacher", *columns])
    for key, found in cells.items():
        row([*key, *(over_seeds(found[name]) if found.get(name) else "" for name in columns)])


def rising(rows: Sequence[Mapping[str, str]], measure: str) -> str:
    """How BLEU of the models follows a measure of their teachers: Spearman's correlations, and chance.

    The correlation is of means over seeds and directions, in each language, and in brackets the least and
    most of a seed and direction alone. Under chance a language's teachers have their BLEU in any order: p is
    the share of all pairs of orders, one a language, whose correlations sum to as much or more.
    """
    cells = defaultdict[str, dict[str, list[tuple[float, float]]]](lambda: defaultdict(list))
    for one in sorted(rows, key=lambda one: (one["seed"], one["direction"])):
        if one["steps"] != "0" and one[measure]:
            cells[one["lang"]][one["teacher"]].append((float(one[measure]), float(one["bleu"])))
    said, found, chance = [], 0.0, np.zeros(1)
    for language, teachers in cells.items():
        figures = np.array([*zip(*teachers.values(), strict=False)])  # seeds and directions x teachers x 2
        alone = [spearmanr(*part.T).statistic for part in figures]
        x, y = rankdata(figures.mean(axis=0), axis=0).T
        orders = np.array([*permutations(y - y.mean())]) @ (x - x.mean())  # the first as it is
        orders /= len(x) * x.std() * y.std()
        said.append(f"{language} {orders[0]:.2f} ({min(alone):.2f}-{max(alone):.2f}) of {len(x)} teachers")
        found, chance = found + float(orders[0]), np.add.outer(chance, orders).ravel()
    return f"BLEU by {measure}: {', '.join(said)}; p = {np.mean(chance >= found - 1e-9):.2g}"


def points(rows: Sequence[Mapping[str, str]]) -> list[Point]:
    """BLEU of each model against the share of words right, both directions; a series for each language."""
    by_model = defaultdict[tuple[str, ...], list[Mapping[str, str]]](list)
    for one in rows:
        if one["steps"] != "0":
            by_model[one["lang"], one["teacher"], one["seed"]].append(one)
    found = []
    for (lang, teacher, seed), rows_of in by_model.items():
        right, bleu = (fmean(float(one[name]) for one in rows_of) for name in ("right", "bleu"))
        found.append(Point(right, bleu, lang, f"{teacher}, seed {seed}", filled=seed == "0"))
    return found


def main() -> None:
    """Makes the rows that are missing, and prints the table."""
    asked = command_line(
        __doc__, out=NEEDED, spaces=Path, work=Path, lang="fr,de", teachers=",".join(KINDS), seeds="0-2",
        kind=("multi30k", f"of text and of test, of {', '.join(TESTS)}"), steps=600, rate=2e-3, pieces=4_000,
        shared=SHARED, picture=(Path, "an SVG to draw: BLEU against the share of words right"),
    )  # fmt: skip
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)}
    benches = {language: Bench(asked, language) for language in asked.lang.split(",")} if asked.spaces else {}
    for seed in numbers(asked.seeds):
        for language, made in benches.items():
            for kind in asked.teachers.split(","):
                for steps in (0, asked.steps):
                    if steps == 0 and seed:
                        continue  # nothing is drawn
                    if (language, asked.kind, kind, str(seed), str(steps)) in done:
                        continue
                    began = time.perf_counter()
                    append(asked.out, made.rows(kind, seed, steps), COLUMNS)
                    took = time.perf_counter() - began
                    print(f"{language} {kind} {seed} {steps}: {took:.0f} s", file=sys.stderr, flush=True)
    show(rows := [one for one in read_rows(asked.out) if one["text"] == asked.kind])
    print("\n" + "\n".join(rising(rows, measure) for measure in ("p_at_1", "right")))
    if asked.picture:
        drawn = scatter(points(rows), "words of the text translated right, %", "BLEU of the Transformer")
        asked.picture.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
