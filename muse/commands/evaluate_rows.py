"""The task rows of `muse evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import choose_direction, open_space, retrievals

if TYPE_CHECKING:
    from muse.space import AlignedSpace
    from muse.vectors import Vectors


def rows(space: Path, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """How often the counterpart of a row is found, by ids or row numbers."""
    files = options["source_file"], options["target_file"]
    if (files[0] is None) != (files[1] is None):
        raise click.UsageError("--source and --target go together: give both, or neither.")
    if files[0] is None and options["pairs"] is None:
        raise click.UsageError("--task rows needs --pairs FILE, or --source FILE and --target FILE.")
    if "margin" in options["methods"]:
        raise click.UsageError("--retrieval margin is for --task sentences.")
    import numpy as np

    from muse.evaluation.rows import evaluate_rows
    from muse.evaluation.score import gold_name
    from muse.files import read_lexicon

    pairs = None if options["pairs"] is None else read_lexicon(options["pairs"], "two ids")
    loaded = open_space(space, options["device"], options["quiet"])
    languages = choose_direction(loaded, options["source"], options["target"])
    sides = tuple(_side(loaded, language, file) for language, file in zip(languages, files, strict=True))
    gold = "" if options["pairs"] is None else gold_name(options["pairs"])
    fields, lines = {}, []
    for retrieval in retrievals(options["methods"], options["backend"]):
        rng = np.random.default_rng(options["seed"])
        score = evaluate_rows(
            loaded, (sides[0], sides[1]), pairs, retrieval=retrieval, rng=rng, gold=gold
        )  # fmt: skip
        fields[retrieval.method] = score.as_json()
        lines.append(str(score))
    return next(iter(fields.values())) if len(fields) == 1 else fields, lines


def _side(space: AlignedSpace, language: str, file: Path | None) -> Vectors:
    """The rows of a file in the space, or, without one, those of the space."""
    if file is None:
        return space.vectors(language)
    from dataclasses import replace

    from muse.files import read_vectors

    read = read_vectors(file, language=language)
    space.check_raw(language, read.dimension, str(file))
    return replace(read, matrix=space.map_words(language, read.matrix))
