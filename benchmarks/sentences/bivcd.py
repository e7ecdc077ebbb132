"""Makes a bilingual space of parallel text alone, by pseudo-bilingual text (BIVCD, Vulic and Moens, 2015).

    python -m benchmarks.sentences.bivcd --lang fr --parallel tatoeba.en-fr.train.tsv.gz --out FOLDER
        [--dim 300] [--window 10] [--epochs 10] [--seed 0] [--threads 1]

Every pair of sentences becomes one line: the words of both sides, each marked with its language, in random
order. `muse embed` trains vectors on these lines, without n-grams, so that a word's neighbours are the words
of its sentences and those of their translations. Both languages are in one space from the start: no mapping
is learned. The folder is a space like any other, for --also and for benchmarks/sentences/power_means.py.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.sentence_sets import PIVOT
from benchmarks.support.tables import muse
from muse.files import read_vectors
from muse.normalise import normalise
from muse.sentences.files.sentence_text import ParallelText, read_parallel
from muse.space.saving import Provenance, SideToSave, save_space
from muse.text.tokens import Tokeniser
from muse.vectors import Vectors

STEPS = ("unit",)  # centring would move the two languages apart


class Names:
    """Words as names of letters and digits, which no tokeniser splits: word 7 of French is xfrx7."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._tokenisers = {language: Tokeniser(language) for language in languages}
        self._numbers: dict[tuple[str, str], int] = {}
        self.words: dict[str, tuple[str, str]] = {}

    def of(self, sentence: str, language: str) -> list[str]:
        """The names of the words of a sentence, in lower case; signs are left out."""
        tokens = self._tokenisers[language].tokens(sentence.lower())
        return [self._name(language, token) for token in tokens if any(map(str.isalpha, token))]

    def _name(self, language: str, word: str) -> str:
        number = self._numbers.setdefault((language, word), len(self._numbers))
        name = f"x{language}x{number}"
        self.words[name] = (language, word)
        return name


def pseudo_bilingual(
    pairs: ParallelText, languages: tuple[str, str], names: Names, rng: np.random.Generator
) -> Iterator[str]:
    """A line for each pair: the words of both sides, in random order."""
    for sides in zip(pairs.pivot, pairs.other, strict=True):
        words = [
            name for side, language in zip(sides, languages, strict=True) for name in names.of(side, language)
        ]
        yield " ".join(words[place] for place in rng.permutation(len(words)))


def split(vectors: Vectors, names: Names, languages: Sequence[str]) -> dict[str, SideToSave]:
    """The words of each language, with rows of unit length."""
    sides = {}
    for language in languages:
        mine = [
            place
            for place, name in enumerate(vectors.words)
            if names.words.get(name, ("", ""))[0] == language
        ]
        words = [names.words[vectors.words[place]][1] for place in mine]
        rows, fitted = normalise(vectors.matrix[mine], STEPS)
        sides[language] = SideToSave(Vectors(language, words, rows), fitted)
    return sides


def main() -> None:
    """Writes the space, and prints how many words it has."""
    asked = command_line(
        __doc__, lang="fr", parallel=NEEDED, out=NEEDED, dim=300, window=10, epochs=10, seed=0, threads=1,
    )  # fmt: skip
    languages = (PIVOT, asked.lang)
    names = Names(languages)
    with tempfile.TemporaryDirectory() as folder:
        text, out = Path(folder) / "text.txt", Path(folder) / "rows.vec"
        lines = pseudo_bilingual(
            read_parallel(asked.parallel, languages), languages, names, np.random.default_rng(asked.seed)
        )
        text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        settings = {"dim": asked.dim, "window": asked.window, "epochs": asked.epochs, "ngrams": "0-0"}
        options = [part for key, value in settings.items() for part in (f"--{key}", str(value))]
        common = ("--lang", "mixed", "--out", out, "--seed", str(asked.seed), "--threads", str(asked.threads))
        run = muse("embed", text, *common, *options)
        sides = split(read_vectors(out, language="mixed"), names, languages)
    provenance = Provenance("bivcd", settings, asked.seed, inputs=(asked.parallel,))
    save_space(asked.out, sides, pivot=PIVOT, provenance=provenance)
    counts = ", ".join(f"{len(side.vectors)} {language}" for language, side in sides.items())
    print(f"{asked.out}: {counts} words, {run.fields['tokens']} tokens, {run.seconds:.0f} s")


if __name__ == "__main__":
    main()
