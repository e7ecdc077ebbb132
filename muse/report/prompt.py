"""Prompt: what a space at the prompt draws: a map of words and their translations, and the report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.errors import BadSetting
from muse.evaluation.score import gold_name
from muse.exchange import lexicon_from
from muse.files.atomic import atomic_path
from muse.ranking.lookup import known_entries
from muse.ranking.ranker import translate_words
from muse.report.charts import map_drawing
from muse.report.facts import ReportConfig, gather_facts, least_certain_direction
from muse.report.measured import Gold
from muse.report.next_steps import base_of
from muse.report.page import as_svg, check_page, write_report
from muse.report.word_map import draw_picture, frequent_pairs
from muse.space import Space

MOST_PAIRS = 60
WIDTH, HEIGHT = 900.0, 600.0


class Plot(NamedTuple):
    """A picture, which notebooks show: the text of an SVG file."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path | str) -> Path:
        """Where it was written."""
        with atomic_path(Path(path)) as partial:
            partial.write_text(self.svg, encoding="utf-8")
        return Path(path)


def plot(space: Space, way: tuple[str, str], words: Sequence[str] | None = None) -> Plot:
    """The map of the first translations of some words or, without any, of frequent mutual pairs."""
    source, target = (space.vectors(language) for language in way)
    if words is None:
        pairs = frequent_pairs(space, *way)[:MOST_PAIRS]
    else:
        entries = known_entries(space, way[0], words)
        known = [word for word in dict.fromkeys(words) if word in entries]
        found = translate_words(space, known, source=way[0], target=way[1], top=1)
        rows = [(source.index[one.word], target.index[one[0].target]) for one in found if one]
        pairs = np.array(rows, np.int64).reshape(-1, 2)
    drawing = map_drawing(draw_picture(space, *way, pairs, seed=0), WIDTH, HEIGHT) if len(pairs) else None
    if drawing is None:
        raise BadSetting(f"a plot needs words with a translation from {way[0]} to {way[1]}, got none")
    return Plot(as_svg(drawing))


def write_page(space: Space, out: Path, dictionary: Any, way: tuple[str | None, str | None]) -> Path:
    """Where the report about a space was written, measured by a gold dictionary if one is given."""
    check_page(out)
    direction, gold = least_certain_direction(space, *way), None
    if dictionary is not None:
        name = gold_name(Path(dictionary)) if isinstance(dictionary, str | Path) else "the dictionary"
        gold = Gold(space, direction, lexicon_from(dictionary, direction), name)
    base = base_of(space.folder or Path(), Path.cwd())
    write_report(gather_facts(space, ReportConfig(*direction, base, gold), space.progress), out)
    return out
