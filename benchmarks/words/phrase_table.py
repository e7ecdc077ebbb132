"""Phrase-based translation with the table that `muse export --format moses` writes, decoded by NLTK.

    pip install nltk     # beside muse's own packages; a stack decoder (Koehn, 2010), in plain Python
    python -m benchmarks.words.phrase_table --space SPACE --lm en=FILE.arpa --lm fr=FILE.arpa --out FILE.csv
        [--lang fr] [--sets multi30k,tatoeba] [--model FOLDER] [--sentences 200] [--top 10] [--stack 20]
        [--shared ../shared]

Neither Debian nor PyPI has Moses itself; NLTK's decoder reads the same table. A phrase is one word, so what
it adds to `muse translate --lm` is reordering. The weights are those that Moses has before tuning: 0.2 for
each of the table's four scores, 0.5 for the language model, 0.3 for distortion. Measured are the first
sentences of each test set, in lower case as the table is; beside it muse translate with and without the same
model, and with a Transformer (--model), on the same sentences, also in lower case.
"""

from __future__ import annotations

import argparse
import gzip
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, muse, row, today
from benchmarks.systems.translator_text import PIVOT, TESTS, test_pairs
from muse.ranking.lookup import lookup_entry
from muse.space import load_space
from muse.text.tokens import Tokeniser

COLUMNS = ("lang", "system", "set", "direction", "sentences", "bleu", "seconds", "commit", "date")
_TABLE, _LM, _DISTORTION = 0.2, 0.5, 0.3  # weights
_UNKNOWN = -7.0  # log10 of a word that a model without <unk> lacks


class Trigrams:
    """The n-grams of an ARPA file, as NLTK's decoder asks for them: natural logarithms."""

    def __init__(self, path: Path) -> None:
        self._log_p: dict[tuple[str, ...], float] = {}
        self._backoff: dict[tuple[str, ...], float] = {}
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                cells = line.rstrip("\n").split("\t")
                if len(cells) < 2:
                    continue
                words = tuple(cells[1].split(" "))
                self._log_p[words] = float(cells[0])
                if len(cells) > 2:
                    self._backoff[words] = float(cells[2])
        self._order = max(map(len, self._log_p))

    @lru_cache(maxsize=1 << 20)  # noqa: B019  # one model lives as long as the run
    def _word(self, context: tuple[str, ...], word: str) -> float:
        if (*context, word) in self._log_p:
            return self._log_p[(*context, word)]
        if not context:
            return self._log_p.get(("<unk>",), _UNKNOWN)
        return self._backoff.get(context, 0.0) + self._word(context[1:], word)

    def probability_change(self, hypothesis: Any, phrase: Sequence[str]) -> float:
        """The log-probability of a phrase after the last words of a hypothesis."""
        context = tuple(hypothesis.translation_so_far()[-self._order + 1 :])
        return self._phrase(context, phrase)

    def probability(self, phrase: Sequence[str]) -> float:
        """The log-probability of a phrase alone."""
        return self._phrase((), phrase)

    def _phrase(self, context: tuple[str, ...], phrase: Sequence[str]) -> float:
        total = 0.0
        for word in phrase:
            total += self._word(context, word)
            context = (*context, word)[-self._order + 1 :]
        return _LM * total * math.log(10)


def read_table(path: Path, words: set[str]) -> dict[str, list[tuple[str, float]]]:
    """The translations of these words with the weighted sum of their logarithmic scores."""
    found: dict[str, list[tuple[str, float]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            source, target, scores, *_ = line.split(" ||| ")
            if source in words:
                score = _TABLE * sum(map(math.log, map(float, scores.split())))
                found.setdefault(source, []).append((target, score))
    return found


def decoded(sentences: Sequence[str], way: tuple[str, str], asked: argparse.Namespace) -> list[str]:
    """The translations by NLTK's decoder."""
    nltk = import_module("nltk.translate")  # only this benchmark needs it
    tokeniser = Tokeniser(way[0])
    vectors = load_space(asked.space).vectors(way[0])

    def entry(token: str) -> str:  # as the table has it, like "ce" for "c'"
        return lookup_entry(token, vectors) or token.lower()

    text = [[entry(token) for token in tokeniser.tokens(sentence)] for sentence in sentences]
    known = {word for tokens in text for word in tokens}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "table.gz"
        muse(
            "export", asked.space, "--format", "moses", "--src", way[0], "--tgt", way[1], "--top",
            str(asked.top), "--out", out,
        )  # fmt: skip
        found = read_table(out, known)
    table = nltk.PhraseTable()
    for word in known:
        for target, score in found.get(word, [(word, 0.0)]):  # a word without translations stays
            table.add((word,), (target,), score)
    decoder = nltk.StackDecoder(table, Trigrams(asked.lm[way[1]]))
    decoder.stack_size, decoder.distortion_factor = asked.stack, math.exp(-_DISTORTION)
    joiner = Tokeniser(way[1])
    return [joiner.text(decoder.translate(tokens)) for tokens in text]


def by_muse(sentences: Sequence[str], way: tuple[str, str], options: Sequence[str]) -> list[str]:
    """The translations of muse translate."""
    words = ["translate", "--src", way[0], "--tgt", way[1], "--threads", "1", *options]
    text = "".join(f"{sentence}\n" for sentence in sentences)
    command = [sys.executable, "-m", "muse", *words]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    """BLEU of every system on every test set and direction."""
    metric = BLEU(lowercase=True)
    for name in asked.sets.split(","):
        pairs = test_pairs(asked.shared / "data", asked.lang, name)[: asked.sentences]
        sides = list(zip(*pairs, strict=True))
        for place, way in enumerate(((PIVOT, asked.lang), (asked.lang, PIVOT))):
            source, gold = sides[place], sides[1 - place]
            space, lm = str(asked.space), ["--lm", str(asked.lm[way[1]])]
            systems = {"words": [space], "words+lm": [space, *lm], "phrase table": None}
            if asked.model:
                systems["Transformer"] = ["--model", str(asked.model)]
            for system, options in systems.items():
                began = time.perf_counter()
                found = (
                    decoded(source, way, asked) if options is None
                    else by_muse(source, way, options)
                )  # fmt: skip
                yield {
                    "lang": asked.lang, "system": system, "set": name, "direction": "-".join(way),
                    "sentences": len(source), "bleu": float(metric.corpus_score(found, [list(gold)]).score),
                    "seconds": time.perf_counter() - began, "commit": commit(), "date": today(),
                }  # fmt: skip


def main() -> None:
    """Makes the rows and prints them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--lm", action="append", required=True, metavar="LANG=FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--lang", default="fr")
    parser.add_argument("--sets", default=",".join(TESTS))
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="of muse train-translator")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--stack", type=int, default=20)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    asked.lm = {name: Path(path) for name, _, path in (one.partition("=") for one in asked.lm)}
    append(asked.out, rows(asked), COLUMNS)
    header(COLUMNS)
    for one in read_rows(asked.out):
        row([one[name] for name in COLUMNS])


if __name__ == "__main__":
    main()
