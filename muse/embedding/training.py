"""Word vectors from text: fastText on a corpus, in a process of its own, and the result as a .vec file.

The settings suit vectors that are to be aligned. py3langid, which only this module uses, guesses the language
of lines, so that a user is warned of text in another language.
"""

import json
import logging
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from muse.embedding.config import EmbedConfig
from muse.embedding.corpus import RESERVED, Corpus, write_corpus
from muse.embedding.fasttext_process import TOLD
from muse.errors import BadFile, NotConverged
from muse.files import read_vectors
from muse.files.atomic import atomic_path, parents_made
from muse.files.writing import check_place, check_text_name, write_vectors_text
from muse.languages import language_code
from muse.optional import load
from muse.progress import Progress
from muse.run.memory import peak_memory_mb
from muse.text.segmentation import unspaced_advice
from muse.vectors import Vectors

log = logging.getLogger(__name__)

SHORTEST_LINE = 30  # letters: with fewer, its language cannot be guessed
LEAST_LINES = 20  # that are long enough
DISTINGUISHED_LANGUAGES = frozenset(
    "ar be bg bn ca cs da de el en eo es et fa fi fr gl gu he hi hr hu hy id is it ja ka kn ko la lt lv mk "
    "ml mr nl nn no pl pt ro ru sk sl sq sr sv ta te th tr uk ur vi zh".split()
)  # that py3langid distinguishes well
OTHER_LANGUAGE_SHARE = 0.03  # of the lines: less are names, quotations and mistakes
FEW_TOKENS = 5_000_000  # a rule of thumb
FEWEST_WORDS = 500  # that can be aligned: MINIMUM_WORDS of muse.learn.bilingual
DECIMALS = 5
SEEDS = 1 << 31  # that fastText distinguishes
_PROGRESS = re.compile(r"Progress:\s*([0-9.]+)%")
_PROCESS = "muse.embedding.fasttext_process"


def language_warnings(lines: Sequence[str], language: str) -> list[str]:
    """What a user should know of the languages that lines of a text are in; nothing without py3langid."""
    try:
        from py3langid import classify
    except ImportError:
        return []
    long = [line for line in lines if sum(map(str.isalpha, line)) >= SHORTEST_LINE]
    if len(long) < LEAST_LINES:
        return []
    found = Counter(str(classify(line)[0]) for line in long)
    shares = {other: count / found.total() for other, count in found.most_common()}
    main, *others = shares
    told = [
        f"{100 * shares[other]:.0f} % of the lines look like {other!r} in a text that looks like {main!r}; "
        "if they are, remove them: words of two languages in one space disturb its alignment"
        for other in others
        if shares[other] >= OTHER_LANGUAGE_SHARE
    ]
    code = language_code(language)
    language = "no" if code == "nb" else code  # not py3langid's name of Bokmål
    if main != language and language in DISTINGUISHED_LANGUAGES:
        told.append(
            f"{100 * shares[main]:.0f} % of the lines look like {main!r}, not {language!r}; check --lang"
        )
    return told


@dataclass(frozen=True)
class Embedded:
    """What was trained: the file, its words, the tokens read, the epochs, the seconds of each stage.

    Behind the words stand `units` of several words, if they were asked for.
    """

    out: Path
    words: int
    tokens: int
    lines: int
    epochs: int
    seconds: dict[str, float]
    warnings: tuple[str, ...]
    units: int = 0

    def __str__(self) -> str:
        """The line to print."""
        units = f" and {self.units:,} units" if self.units else ""
        read = "once" if self.epochs == 1 else f"{self.epochs} times"
        return f"{self.words:,} words{units} in {self.out}, from {self.tokens:,} tokens, read {read}"

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` shows."""
        seconds = {name: round(value, 2) for name, value in self.seconds.items()}
        fields = {**vars(self), "out": str(self.out), "seconds": seconds, "warnings": list(self.warnings)}
        return {**fields, "peak_memory_mb": peak_memory_mb()}


def embed(
    texts: Sequence[Path | str] | Corpus,
    out: Path | str,
    *,
    language: str,
    config: EmbedConfig | None = None,
    column: str | None = None,
    model: Path | None = None,
    progress: Progress | None = None,
) -> Embedded:
    """Trains word vectors on texts, which `write_corpus` reads, or has read; most frequent words come first.

    With `model` the fastText model is kept there too: it knows vectors of words that the text does not have.
    Raise BadFile where there is no text, or no word often enough, NotConverged where training is ended.
    """
    config, progress, out = config or EmbedConfig(), progress or Progress(quiet=True), Path(out)
    places = [out] if model is None else [out, model]
    check_text_name(out, "vectors", ".vec or .vec.gz")
    for place in places:
        check_place(place)
    with ExitStack() as stack:
        for place in places:
            stack.enter_context(parents_made(place))
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=out.parent, prefix=".embed-"))
        began = time.perf_counter()
        corpus = texts if isinstance(texts, Corpus) else write_corpus(
            [Path(text) for text in texts], Path(folder) / "tokens", language=language,
            keep_case=config.keep_case, column=column, progress=progress.part(1, 3),
        )  # fmt: skip
        few = (
            f"{corpus.tokens:,} tokens are little: vectors of fewer than {FEW_TOKENS:,} are noisy; add text, "
            "or help muse align with a few translations (--dictionary)"
        )
        told = [few if corpus.tokens < FEW_TOKENS else "", unspaced_advice(corpus.sample, language)]
        told += language_warnings(corpus.sample, language)
        warnings = tuple(filter(None, told))
        for line in warnings:
            log.warning("%s: %s", language, line)
        read, trained = time.perf_counter(), Path(folder) / "model.bin"
        _train(corpus, trained, config, language, progress.part(2, 3))
        fitted = time.perf_counter()
        with progress.part(3, 3).stage("saving", 0):
            vectors = read_vectors(trained, language=language, max_vocab=config.max_vocab + 1)
            kept = [row for row, word in enumerate(vectors.words) if word != RESERVED][: config.max_vocab]
            named, words = [vectors.words[row] for row in kept], len(kept)
            vectors = Vectors(language, named, np.asarray(vectors.matrix[kept]))
            if config.terms:
                vectors = load("terms.extension").with_units(vectors, corpus)
            write_vectors_text(out, vectors.words, vectors.matrix, decimals=DECIMALS)
        if words < FEWEST_WORDS:
            advice = "raise --max-vocab" if words == config.max_vocab else "add text, or lower --min-count"
            few = f"{words} words are too few for muse align, which needs at least {FEWEST_WORDS}; {advice}"
            warnings = (*warnings, few)
            log.warning("%s: %s", language, few)
        if model is not None:
            with atomic_path(model) as place:
                shutil.move(trained, place)
        seconds = {"read": read - began, "train": fitted - read, "save": time.perf_counter() - fitted}
    units = len(vectors) - words
    return Embedded(
        out, words, corpus.tokens, corpus.lines, config.epochs_for(corpus.tokens), seconds, warnings, units
    )


def _check_words(corpus: Corpus, least: int) -> None:
    """Raise BadFile where only one word stands often enough: fastText would look for another one forever."""
    counts, frequent = Counter[str](), set[str]()
    with corpus.path.open(encoding="utf-8") as lines:
        for word in (word for line in lines for word in (*line.split(), RESERVED)):
            counts[word] += 1
            if counts[word] == least:
                frequent.add(word)
                if len(frequent) > 1:
                    return
    if frequent:
        raise BadFile(
            f"fastText needs two words that stand at least {least} times in the text, got {frequent.pop()!r} "
            "alone; give more text, or lower --min-count"
        )


def _train(corpus: Corpus, out: Path, config: EmbedConfig, language: str, progress: Progress) -> None:
    _check_words(corpus, config.min_count)
    (shortest, longest), epochs = config.ngrams, config.epochs_for(corpus.tokens)
    settings = {
        "input": str(corpus.path), "model": "skipgram", "dim": config.dim, "ws": config.window,
        "epoch": epochs, "neg": config.negatives, "minCount": config.min_count, "minn": shortest,
        "maxn": longest, "bucket": config.buckets(corpus.tokens), "thread": config.threads or 1,
        "seed": config.seed % SEEDS, "verbose": 2,
    }  # fmt: skip
    command = [sys.executable, "-m", _PROCESS, str(out), json.dumps(settings)]
    # In a process of its own it can be interrupted, and what it prints is read instead of shown.
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            tokens = corpus.tokens * epochs
            with progress.stage(f"training ({language})", tokens, "tokens") as tick:
                last = ""
                # fastText ends its lines by a return, which universal newlines read as an end.
                for line in cast(IO[str], process.stderr):
                    last = line.strip() or last
                    if share := _PROGRESS.search(line):
                        tick(round(tokens * float(share[1]) / 100))
        except BaseException:
            process.kill()
            raise
    if process.returncode == TOLD:
        raise BadFile(
            f"fastText needs words that stand at least {config.min_count} times in the text, got none "
            f"({last.rstrip('.')}); give more text, or lower --min-count"
        )
    if process.returncode:
        code = process.returncode
        signal = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise NotConverged(
            f"fastText must come to its end, got {signal} ({last[:80] or 'and no word'}): most likely too "
            "little memory; lower --dim or --max-vocab, or raise --min-count"
        )
