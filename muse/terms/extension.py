"""Extension: units of several words become entries of a space, or of vectors, behind the words.

In a space they have the answers that `muse terms` gives, with their probabilities, where words have answers
by all the evidence; by CSLS they are ranked as words are. The rows of words and their answers stay as they
are. What a space had of units of a language is replaced, and answers by these go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from muse.embedding.corpus import Corpus, write_corpora
from muse.errors import Mismatch
from muse.files.space_manifest import Manifest
from muse.normalise import unit
from muse.ranking.model import ANSWERS
from muse.space import Space, space_of_saved
from muse.space.derived import AnswerTable, write_answers, write_hubness
from muse.space.saving import save_with_units
from muse.terms import glossary
from muse.terms.evidence import hubness_of, mixed_rows
from muse.terms.parts import word_shares
from muse.text.surface import joined
from muse.vectors import Vectors


def add_units(
    space: Space, out: Path, texts: Mapping[str, Sequence[Path]], config: glossary.TermConfig | None = None
) -> Space:
    """The saved `space` with the units in texts of some of its languages, saved in `out`, atomically.

    It may be saved where it was. Raise Mismatch for a space in memory, or of rows without words, BadFile for
    files without text.
    """
    config = config or glossary.TermConfig()
    _folder_of_words(space, texts)
    with TemporaryDirectory() as folder:
        read = glossary.read_term_texts(write_corpora(texts, Path(folder)), space.without_units(), config)
        return add_counted_units(space, out, read, config)


def add_counted_units(
    space: Space, out: Path, texts: Mapping[str, glossary.TermText], config: glossary.TermConfig
) -> Space:
    """The same, of texts that were counted by the words of the space."""
    words, saved = space.without_units(), _folder_of_words(space, texts)
    pairs = [pair for pair in combinations(space.languages, 2) if space.pivot in pair]
    shared = [pair for pair in pairs if {*pair} <= {*texts}]
    units, answers = _found(words, shared, texts, config)

    def hubness(grown: Space, one: str, other: str) -> torch.Tensor:
        """The hubness of words as it was, and that of new units among all that the other language has."""
        known = (words if one in units else space).find_hubness(one, other)[0]
        if one not in units:
            return known
        others = np.asarray(grown.vectors(other).matrix)
        return torch.cat([known, torch.from_numpy(hubness_of(units[one].matrix, others))])

    def derive(folder: Path, manifest: Manifest) -> Manifest:
        grown = space_of_saved(folder, manifest)
        for one, two in pairs:
            found = hubness(grown, one, two), hubness(grown, two, one)
            write_hubness(folder, (one, two), found, approximate=words.is_approximate(one, two))
            for way in ((one, two), (two, one)):
                if (table := space.answers(*way)) is not None:
                    counts = [len((words if one in units else space).vectors(one)) for one in way]
                    table, more = table.only(*counts), answers.get(way)
                    every = len(grown.vectors(way[0])), counts[1]
                    table = table.only(*every) if more is None else table.followed_by(more)
                    write_answers(folder, way, table)
        return manifest

    sides = {one: (words.vectors(one), found) for one, found in units.items()}
    return space_of_saved(out, save_with_units(out, saved, sides, derive=derive))


def _folder_of_words(space: Space, languages: Collection[str]) -> Path:
    if space.folder is None or not all(space.vectors(one).frequency_ordered for one in languages):
        raise Mismatch(
            f"units of text are added to words of a space in a folder, got {space!r}; save it first"
        )
    return space.folder


def _found(
    space: Space,
    pairs: Sequence[tuple[str, str]],
    texts: Mapping[str, glossary.TermText],
    config: glossary.TermConfig,
) -> tuple[dict[str, Vectors], dict[tuple[str, str], AnswerTable]]:
    """The units of each language, and their answers in both directions of each pair."""
    answers, units = dict[tuple[str, str], AnswerTable](), dict[str, Vectors]()
    sides = {one: _named(text) for one, text in texts.items()}
    for pair in pairs:
        entries = {one: glossary.entries_of(space, sides[one], two) for one, two in (pair, pair[::-1])}
        for one, two in (pair, pair[::-1]):
            both = (sides[one], sides[two]), (entries[one], entries[two])
            answers[one, two] = glossary.unit_answers(space, *both, config).best(ANSWERS)
            rows = entries[one].mixed[len(space.vectors(one)) :]
            units[one] = Vectors(one, names_of(sides[one]), rows)
    return units, answers


def names_of(text: glossary.TermText) -> list[str]:
    """The units of a text as entries: pomme_de_terre."""
    return [joined([text.text.words[one] for one in words], "_") for words in text.units.words]


def _named(text: glossary.TermText) -> glossary.TermText:
    """The text without units that are words of the space already."""
    first = {name: place for place, name in reversed([*enumerate(names_of(text))])}
    kept = [place for name, place in first.items() if text.vectors.index.entry(name) is None]
    return replace(text, units=text.units.chosen(sorted(kept)))


def with_units(vectors: Vectors, corpus: Corpus, config: glossary.TermConfig | None = None) -> Vectors:
    """The vectors of one language, and behind them the units in a corpus, beside which files are made."""
    text = _named(glossary.read_term_text(corpus, vectors, config or glossary.TermConfig()))
    lengths = np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    by_words = unit(np.asarray(vectors.matrix / np.maximum(lengths, 1e-9)))
    parts = unit(np.asarray(word_shares(text.parts, text.word_rarity()) @ by_words, np.float32))
    rows = mixed_rows(text.context_rows()[1], parts, text.units.counts) * lengths.mean()
    words = [*vectors.words, *names_of(text)]
    return Vectors(vectors.language, words, np.concatenate([vectors.matrix, rows]))
