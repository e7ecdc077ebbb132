"""Answers: the translations of every word, chosen by all the evidence at the end of `muse align`.

Each mapped language and the pivot get a table in either direction, kept beside the space
(`muse.space.derived`). A mapping that failed, and rows without words, get none: CSLS ranks there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from muse.learn.bilingual import Learned
from muse.learn.supervise.cross_validation import HeldOutMaps
from muse.learn.verdict import LEAST_GOOD, capped
from muse.lexicon import Lexicon
from muse.optional import load
from muse.progress import Progress
from muse.ranking.external_scores import ExternalScores
from muse.ranking.features import HeldOutRows, KnownPairs
from muse.ranking.model import ChoiceReport, read_pretrained
from muse.ranking.oov import write_unseen
from muse.ranking.train_ranker import learn_answers
from muse.ranking.trees import BoostedTrees
from muse.run.seeds import AlignStream, generator
from muse.space import Space
from muse.space.derived import write_answers, write_hubness
from muse.vectors import Vectors

LABELLED = 1_000  # words of pairs: more hardly improve the choice, and each view needs a search of its own


@dataclass(frozen=True, eq=False)
class RankerInputs:
    """What is known beside the vectors: a dictionary's pairs, scores of an encoder or a program, and text.

    `text_pairs` is a file of sentence pairs. `pretrained` are trees learned on other languages than usual.
    """

    lexicon: Lexicon | None = None
    outside: ExternalScores | None = None
    pretrained: BoostedTrees | None = None
    text_pairs: Path | None = None


def choose_answers(
    space: Space,
    folder: Path,
    learned: Mapping[str, Learned],
    normalised: Mapping[str, Vectors],
    known: RankerInputs,
    *,
    seed: int,
    progress: Progress,
) -> dict[str, tuple[ChoiceReport, ChoiceReport]]:
    """How the answers of each mapped language, and those back, were chosen; they are written to `folder`.

    So is the hubness of the words, which choosing needs. `normalised` has the rows of every language before
    the mapping, by which maps of cross-validation give evidence for words whose pairs they do not know. Pairs
    that an encoder gave the mapping are no known translations.
    """
    reports, ordered = {}, space.vectors(space.pivot).frequency_ordered
    chosen = [
        language for language, one in learned.items()
        if ordered and space.vectors(language).frequency_ordered and one.verdict.label != "failed"
    ]  # fmt: skip
    for place, language in enumerate(chosen):
        with progress.stage(f"choosing answers ({language})", len(chosen)) as tick:
            supervision, given = learned[language].supervision, KnownPairs.none()
            held_out = None if supervision is None else supervision.held_out
            if held_out is not None and known.lexicon is not None:
                given = known_pairs(held_out, normalised[language], normalised[space.pivot])
            outside = [] if known.outside is None else [known.outside]
            if known.text_pairs is not None:
                link_scores, direction = load("links.evidence").link_scores, (language, space.pivot)
                outside.append(link_scores(space, direction, known.text_pairs))
            given = replace(given, outside=tuple(outside))
            trees = known.pretrained or read_pretrained()
            reports[language] = _choose(space, language, given, trees, seed, folder)
            tick(place + 1)
    return reports


def _choose(
    space: Space, language: str, given: KnownPairs, trees: BoostedTrees, seed: int, folder: Path
) -> tuple[ChoiceReport, ChoiceReport]:
    source, target = space.vectors(language), space.vectors(space.pivot)
    found = learn_answers(
        (source.words, target.words), (np.asarray(source.matrix), np.asarray(target.matrix)), given,
        rng=generator(seed, AlignStream.ANSWERS), pretrained=trees,
    )  # fmt: skip
    direction = language, space.pivot
    hubness = [torch.from_numpy(one.hubness) for one in found if one.hubness is not None]
    if len(hubness) == len(direction):
        write_hubness(folder, direction, (hubness[0], hubness[1]))
    reports = []
    for way, chosen in zip((direction, direction[::-1]), found, strict=True):
        one = chosen.expecting()
        report = one.report
        if report.by != "csls":
            write_answers(folder, way, replace(one.answers, report=report.as_json()))
            if one.unseen is not None:
                write_unseen(folder, way, one.unseen)
        reports.append(report)
    return reports[0], reports[1]


def judged(
    learned: Mapping[str, Learned], chosen: Mapping[str, tuple[ChoiceReport, ChoiceReport]]
) -> dict[str, Learned]:
    """What was learned, with verdicts no surer than the answers of the better direction make them."""
    found = dict(learned)
    for language, reports in chosen.items():
        known = [report.expected.at_least(LEAST_GOOD) for report in reports if report.expected is not None]
        if known:
            verdict = capped(learned[language].verdict, max(known))
            found[language] = replace(learned[language], verdict=verdict)
    return found


def known_pairs(held_out: HeldOutMaps, source: Vectors, target: Vectors) -> KnownPairs:
    """The pairs of a dictionary, with rows by maps that were fitted without some of them."""
    views = []
    for number, maps in enumerate(held_out.maps):
        device = str(maps.source.device)
        rows = maps.of_source(source.tensor(device)), maps.of_target(target.tensor(device))
        x, y = (side.cpu().numpy() for side in rows)
        views.append(HeldOutRows(x, y, held_out.fold == number))
        if len(np.unique(held_out.pairs[held_out.fold <= number, 0])) >= LABELLED:
            break
    return KnownPairs(held_out.pairs, held_out.weights, tuple(views))
