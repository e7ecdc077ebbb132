"""The loop: a translator teaches a sentence encoder, which mines pairs, which teach the next translator.

    python -m benchmarks.systems.loop --spaces FOLDER --out FILE.csv --work FOLDER [--lang fr] [--seeds 0]
        [--rounds 2] [--translated 4000] [--kind multi30k] [--pieces 4000] [--steps 400] [--rate 2e-3]
        [--shared ../shared]

The text of two languages shares no sentence pair (translator_text.py). Round 0 is the translator that learned
from the answers of LANG.none, as in teachers.py. In each further round it translates some of the text of both
languages, an X-CBOW learns from these pairs, mines the text, and a new translator learns from what is mined
beside the same teacher, in as many steps. `idf` is a round whose pairs are mined by the space alone.

`mined` is the number of pairs, those of a score above the median; `chrf_of_pairs` how alike their second
sentences are to the true translations of the first, which the text has not. Rows that the file has are not
made again; a round is made from the one before, whose folder is kept in --work.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import sacrebleu

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, muse, numbers, row, today
from benchmarks.systems.inference_text import PIVOT
from benchmarks.systems.teachers import Bench
from benchmarks.systems.translator_text import TESTS
from muse.files.plain_text import read_lines

TEACHER = "evidence"
KEY = ("lang", "text", "seed", "round")
COLUMNS = (
    *KEY, "direction", "mined", "chrf_of_pairs", "bleu", "ci95_low", "ci95_high", "chrf", "seconds", "commit",
    "date",
)  # fmt: skip


class Loop:
    """The rounds of a language and a seed."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self.bench, self.seed, self.language = bench, seed, bench.language
        self.space = bench.asked.spaces / f"{bench.language}.none"
        lines = read_lines(bench.work / f"{PIVOT}-{bench.language}.tsv")
        self.true = dict(line.split("\t") for line in lines)

    def path(self, name: str) -> Path:
        """A file or folder of this loop."""
        path: Path = self.bench.work / f"loop.{self.language}.{self.seed}.{name}"
        return path

    def rows(self, name: str) -> Iterator[Row]:
        """BLEU of the translator of a round, in both directions."""
        mined: list[str] = []
        pairs: tuple[object, object] = "", ""
        if name != "0":
            encoder = "idf" if name == "idf" else self.encoder(str(int(name) - 1))
            mined = ["--parallel", f"{self.language}={self.mined(encoder, name)}"]
            pairs = self.judged(name)
        folder = self.path(name)
        seconds = self.bench.trained(self.bench.teacher(TEACHER), self.seed, folder, *mined)
        for way in self.bench.ways:
            yield {
                "lang": self.language, "text": self.bench.asked.kind, "seed": self.seed, "round": name,
                "direction": "-".join(way), "mined": pairs[0], "chrf_of_pairs": pairs[1],
                **self.bench.scores(["--model", folder], way), "seconds": seconds, "commit": commit(),
                "date": today(),
            }  # fmt: skip

    def encoder(self, before: str) -> Path:
        """An encoder that learned from what the translator of the round before made of the text."""
        table, folder = self.path(f"{before}.tsv"), self.path(f"{before}.x-cbow")
        with table.open("w", encoding="utf-8") as out:
            for way, text in zip(self.bench.ways, self.bench.text, strict=False):
                lines = list(read_lines(text))[: self.bench.asked.translated]
                way_of = ("--model", self.path(before), "--src", way[0], "--tgt", way[1], "--beam", "1")
                made = muse("translate", *way_of, lines=lines).fields["lines"]
                for pair in zip(lines, made, strict=True):
                    out.write("\t".join(pair[:: 1 if way[0] == PIVOT else -1]) + "\n")
        asked = ("--lang", self.language, "--parallel", table, "--seed", str(self.seed), "--out", folder)
        muse("train", self.space, *asked)
        return folder

    def mined(self, encoder: str | Path, name: str) -> Path:
        """The better half of the pairs that an encoder mines from the text."""
        found, kept = self.path(f"{name}.mined.tsv"), self.path(f"{name}.pairs.tsv")
        text = self.bench.text
        muse(
            "mine", self.space, "--src", PIVOT, "--source", text.english, "--tgt", self.language, "--target",
            text.other, "--encoder", encoder, "--out", found,
        )  # fmt: skip
        pairs = [line.split("\t", 1)[1] for line in read_lines(found)]
        kept.write_text("".join(f"{pair}\n" for pair in pairs[: len(pairs) // 2]), encoding="utf-8")
        return kept

    def judged(self, name: str) -> tuple[int, float]:
        """The number of mined pairs, and the chrF of their second sentences against true translations."""
        pairs = [line.split("\t") for line in read_lines(self.path(f"{name}.pairs.tsv"))]
        said, true = zip(*((other, self.true[one]) for one, other in pairs if one in self.true), strict=True)
        return len(pairs), float(sacrebleu.corpus_chrf([*said], [[*true]]).score)


def main() -> None:
    """Makes the rows that are missing, and prints the table."""
    asked: argparse.Namespace = command_line(
        __doc__, out=NEEDED, spaces=NEEDED, work=NEEDED, lang="fr", seeds="0", rounds=2,
        translated=(4_000, "sentences of each language that a translator translates"), steps=400, rate=2e-3,
        pieces=4_000, kind=("multi30k", f"of text and of test, of {', '.join(TESTS)}"), shared=SHARED,
    )  # fmt: skip
    done = {tuple(one[name] for name in KEY) for one in read_rows(asked.out)}
    for language in asked.lang.split(","):
        bench = Bench(asked, language)
        for seed in numbers(asked.seeds):
            loop = Loop(bench, seed)
            for name in (*map(str, range(asked.rounds + 1)), "idf"):
                if (language, asked.kind, str(seed), name) not in done:
                    append(asked.out, loop.rows(name), COLUMNS)
                    print(f"{language} {seed} {name}", file=sys.stderr, flush=True)
    header(["language", "seed", "round", "direction", "pairs", "chrF of them", "BLEU", "chrF"])
    for one in read_rows(asked.out):
        bleu = f"{one['bleu']} [{one['ci95_low']}, {one['ci95_high']}]"
        cells = (one[name] for name in ("lang", "seed", "round", "direction", "mined", "chrf_of_pairs"))
        row([*cells, bleu, one["chrf"]])


if __name__ == "__main__":
    main()
