"""Dictionaries in Python: one induced from a space, and a space measured against one.

Both do what the commands `muse induce` and `muse evaluate` do, with their options by the same names.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from muse.errors import BadSetting, counted, named_as_in_python
from muse.evaluation.score import gold_name
from muse.evaluation.words import WordScore, evaluate_words, warn_of_dictionary
from muse.exchange import lexicon_from
from muse.files.lexicons import Write, can_store_entry, dictionary_writer, form_of_name
from muse.files.tables import require_form
from muse.lexicon import Entry, Lexicon
from muse.options import check_names, takes
from muse.progress import Progress
from muse.ranking.induction import InductionConfig, entries
from muse.ranking.query import direction_of
from muse.ranking.settings import InducedPairs, Translated
from muse.ranking.translations import Translation
from muse.run.runtime import pick_device
from muse.search.retrieval import Retrieval
from muse.space import Space, load_space
from muse.space.derived import AnswersBy
from muse.space.saving import check_not_an_input
from muse.text.strings import all_strings
from muse.translate.text import listed_words

log = logging.getLogger(__name__)


@takes(InducedPairs)
@named_as_in_python()
def induce(
    space: Space | Path | str,
    *,
    out: Path | str | None = None,
    format: str | None = None,
    retrieval: Retrieval | str = "csls",
    words: Iterable[str] | None = None,
    **options: Any,
) -> Lexicon:
    """The dictionary of a space, or of the space in a folder, most frequent words first.

    `words` is a list of one's own. Other `options` are those of `muse induce`, by their names: `src` and
    `tgt`, the languages; `top`, `mutual`, `max_vocab`, `src_max`, `tgt_max`, `min_probability`, `precision`,
    `answers`, `seed`. With `out` it is also written, in the `format` that the name says, or that is given.
    `Space.dictionary` gives a DataFrame.
    """
    if not isinstance(out, str | PathLike | None):
        raise BadSetting(f"out must be the name of a file, got {out!r}")
    check_names(induce, options)
    wanted = InducedPairs(**options)
    found = opened(space, wanted.answers)
    way, made = induced(found, wanted, words, retrieval)
    with ExitStack() as files:
        if out is not None:
            check_not_an_input(found.manifest, [Path(out)], written="out")
            form = format or form_of_name(Path(out))
            require_form(Path(out), form)
            write = files.enter_context(dictionary_writer(out, form=form, languages=way))
            made = _written(made, write, form, Path(out))
        entries = list(made)
    probabilities = tuple(one.probability for one in entries if one.probability is not None)
    return Lexicon(
        tuple((one.source, one.target) for one in entries),
        tuple(float(one.score or 0) for one in entries),
        probabilities if len(probabilities) == len(entries) else None,
    )


def _written(made: Iterable[Entry], write: Write, form: str, out: Path) -> Iterator[Entry]:
    """The entries, each written as it passes, but for words that the format cannot hold."""
    left_out = 0
    for entry in made:
        if can_store_entry(form, entry):
            write(entry)
        else:
            left_out += 1
        yield entry
    if left_out:
        log.warning(
            "%s: left out %s that the format %s cannot hold; jsonl can", out, counted(left_out, "pair"), form
        )


@takes(Translated)
@named_as_in_python()
def evaluate(
    space: Space | Path | str,
    dictionary: Any,
    *,
    dictionary_format: str | None = None,
    retrieval: Retrieval | str = "csls",
    **options: Any,
) -> WordScore:
    """How often the space, or that in a folder, gives a translation that a gold dictionary has first: P@1.

    The `dictionary` is a file, a Lexicon, pairs of words, or a DataFrame with the columns source and target;
    `dictionary_format` is the format of a file that should not be recognised.
    `src` and `tgt` are its languages, by default those of the space; it may be in either direction.
    `seed` is for the intervals. Other tasks have commands: `muse evaluate --help`.
    """
    check_names(evaluate, options)
    wanted = Translated(**options)
    found = opened(space, wanted.answers)
    lexicon = lexicon_from(dictionary, direction_of(found, wanted.src, wanted.tgt), dictionary_format)
    way = _way(found, lexicon, (wanted.src, wanted.tgt))
    warn_of_dictionary(found, lexicon, *way)
    name = gold_name(Path(dictionary)) if isinstance(dictionary, str | PathLike) else None
    return evaluate_words(
        found, lexicon, rng=np.random.default_rng(wanted.seed), source=way[0], target=way[1],
        retrieval=as_retrieval(retrieval), gold=name,
    )  # fmt: skip


def _way(space: Space, lexicon: Lexicon, given: tuple[str | None, str | None]) -> tuple[str, str]:
    """The direction of a dictionary: as given or, if it is not, the one in which its words are known."""
    way = direction_of(space, *given)
    source, target = (space.vectors(language).index for language in way)
    swapped = 2 * lexicon.known(source, target) < lexicon.known(target, source)
    if swapped and given == (None, None):
        return way[::-1]
    if swapped:
        log.warning("the dictionary seems to be from %s to %s: swap src and tgt", *way[::-1])
    return way


def opened(space: Space | Path | str, answers: AnswersBy = "all") -> Space:
    """The space, loaded if it is a folder, by CSLS alone if `answers` says so; BadSetting for all else."""
    if isinstance(space, str | PathLike):
        return load_space(space, device=pick_device("auto"), progress=Progress(), answers=answers)
    if not isinstance(space, Space):
        raise BadSetting(f"expected a space or its folder, got {shorten(repr(space), 60)}; use muse.load")
    return space.by_csls() if answers == "csls" else space


def as_retrieval(given: Retrieval | str | None) -> Retrieval:
    """The retrieval, which may be given by its name: csls, the default, nn or isf."""
    return given if isinstance(given, Retrieval) else Retrieval(given or "csls")


def induced(
    space: Space, wanted: InducedPairs, words: Iterable[str] | None, retrieval: Retrieval | str | None
) -> tuple[tuple[str, str], Iterator[Entry]]:
    """The two languages of a dictionary of a space, and its entries, most frequent words first."""
    way = direction_of(space, wanted.src, wanted.tgt)
    only, by = None, as_retrieval(retrieval)
    terms: Mapping[str, Translation] = {}
    if words is not None:
        only, terms = listed_words(space, way, all_strings(words, "words"), by, options="src")
    limits = InductionConfig.of(wanted, only, terms)
    rng = np.random.default_rng(wanted.seed)
    return way, entries(space, *way, limits=limits, retrieval=by, rng=rng)
