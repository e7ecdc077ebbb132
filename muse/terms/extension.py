"""Extension: units of several words become entries of a space, or of vectors, behind the words.

In a space they have the answers that `muse terms` gives, with their probabilities, where words have answers
by all the evidence; by CSLS they are ranked as words are. The rows of words and their answers stay as they
are. What a space had of units of a language is replaced, and answers by these go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from muse.errors import Mismatch
from muse.files.space_manifest import Manifest
from muse.normalise import unit
from muse.ranking.model import ANSWERS
from muse.space import Space, space_of_saved
from muse.space.derived import AnswerTable, write_answers, write_hubness
from muse.space.saving import save_with_units
from muse.terms.evidence import hubness_of, mixed_rows
from muse.terms.glossary import (
    TermConfig,
    TermText,
    entries_of,
    numbered_term_text,
    read_term_text,
    unit_answers,
)
from muse.terms.model import TermModel
from muse.terms.parts import word_shares
from muse.text.surface import joined
from muse.vectors import Vectors


def add_units(
    space: Space,
    out: Path,
    texts: Mapping[str, Sequence[Path]],
    *,
    config: TermConfig | None = None,
    model: TermModel | None = None,
) -> Space:
    """The saved `space` with the units in texts of some of its languages, saved in `out`, atomically.

    It may be saved where it was. Raise Mismatch for a space in memory, or of rows without words, BadFile for
    files without text.
    """
    if (saved := space.folder) is None:
        raise Mismatch("units are added to a space in a folder, got one in memory; save it first")
    config, model, words = config or TermConfig(), model or TermModel.shipped(), space.without_units()
    for language in texts:
        if not words.vectors(language).frequency_ordered:
            raise Mismatch(f"{language}: units of text need words, got unlabelled rows; align words instead")
    pairs = [pair for pair in combinations(space.languages, 2) if space.pivot in pair]
    units, answers = _found(words, pairs, texts, config, model)

    def derive(place: Path, manifest: Manifest) -> Manifest:
        grown = space_of_saved(place, manifest)
        for pair in pairs:
            ways = pair, pair[::-1]
            hubness = [_hubness(space, grown, units, way) for way in ways]
            approximate = words.is_approximate(*pair)
            write_hubness(place, pair, (hubness[0], hubness[1]), approximate=approximate)
            for way in ways:
                if (table := space.answers(*way)) is not None:
                    counts = [len((words if one in units else space).vectors(one)) for one in way]
                    new = len(grown.vectors(way[0])) - counts[0]
                    table = table.only(*counts).followed_by(answers.get(way) or _none(new))
                    write_answers(place, way, table)
        return manifest

    return space_of_saved(out, save_with_units(out, saved, units, derive=derive))


def _found(
    space: Space,
    pairs: Sequence[tuple[str, str]],
    texts: Mapping[str, Sequence[Path]],
    config: TermConfig,
    model: TermModel,
) -> tuple[dict[str, Vectors], dict[tuple[str, str], AnswerTable]]:
    """The units of each language, and their answers in both directions of each pair with two texts."""
    answers, units = dict[tuple[str, str], AnswerTable](), dict[str, Vectors]()
    with TemporaryDirectory() as folder:
        sides = {
            language: _named(
                read_term_text(files, space.vectors(language), Path(folder), config, config.answers)
            )
            for language, files in texts.items()
        }
        for pair in pairs:
            if {*pair} <= {*sides}:
                entries = {one: entries_of(space, sides[one], two) for one, two in (pair, pair[::-1])}
                for one, two in (pair, pair[::-1]):
                    both = (sides[one], sides[two]), (entries[one], entries[two])
                    answers[one, two] = _best(unit_answers(space, *both, config, model))
                    rows = entries[one].mixed[len(space.vectors(one)) :]
                    units[one] = Vectors(one, names_of(sides[one]), rows)
    return units, answers


def _hubness(space: Space, grown: Space, units: Mapping[str, Vectors], way: tuple[str, str]) -> torch.Tensor:
    """The hubness of words as it was, and that of new units among all that the other language has."""
    one, other = way
    if one not in units:
        return space.find_hubness(*way)[0]
    of_words = space.without_units().find_hubness(*way)[0]
    others = np.asarray(grown.vectors(other).matrix)
    return torch.cat([of_words, torch.from_numpy(hubness_of(units[one].matrix, others))])


def _best(table: AnswerTable) -> AnswerTable:
    """As many answers to each unit as words have."""
    counts = np.diff(table.pointers)
    ranks = np.arange(len(table.columns)) - np.repeat(table.pointers[:-1], counts)
    some = ranks < ANSWERS
    pointers = np.append(0, np.minimum(counts, ANSWERS).cumsum())
    return AnswerTable(pointers, table.columns[some], table.csls[some], table.probability[some])


def _none(words: int) -> AnswerTable:
    """No answers to so many words."""
    none = np.zeros(0, np.float32)
    return AnswerTable(np.zeros(words + 1, np.int64), none.astype(np.int64), none, none)


def names_of(text: TermText) -> list[str]:
    """The units of a text as entries: pomme_de_terre."""
    return [joined([text.text.words[one] for one in words], "_") for words in text.units.words]


def _named(text: TermText) -> TermText:
    """The text without units that are words of the space already."""
    first = {name: place for place, name in reversed([*enumerate(names_of(text))])}
    kept = [place for name, place in first.items() if text.vectors.index.entry(name) is None]
    return replace(text, units=text.units.chosen(sorted(kept)))


def with_units(vectors: Vectors, tokens: Path, folder: Path, config: TermConfig | None = None) -> Vectors:
    """The vectors of one language, and behind them the units in a file of tokens; `folder` is for files."""
    config = config or TermConfig()
    text = _named(numbered_term_text(tokens, vectors, folder, config, config.answers))
    lengths = np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    by_words = unit(np.asarray(vectors.matrix / np.maximum(lengths, 1e-9)))
    parts = unit(np.asarray(word_shares(text.parts, text.word_rarity()) @ by_words, np.float32))
    rows = mixed_rows(text.context_rows()[1], parts, text.units.counts) * lengths.mean()
    words = [*vectors.words, *names_of(text)]
    return Vectors(vectors.language, words, np.concatenate([vectors.matrix, rows]))
