"""muse mine: mine sentence pairs from texts in two languages."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muse.commands.encoders import encoded, encoder_options, made_by, open_encoder
from muse.commands.numbers import Finite
from muse.commands.options import backend, cluster, common, one_machine_only, open_space, search
from muse.version import __version__

if TYPE_CHECKING:
    from muse.encoders.encoder import SentenceEncoder
    from muse.evaluation.mining import MiningScore
    from muse.mining import MiningConfig, Values
    from muse.progress import Progress
    from muse.search.approximate import Recall
    from muse.vectors import Matrix

log = logging.getLogger(__name__)

SIDES = ("source", "target")
UNTRAINED = "idf"  # finds translations best without training on the whole; sif compares sentences best


@click.command()
@click.argument("space", type=Path)
@click.option("--src-lang", required=True, metavar="LANG", help="Language of --source.")
@click.option("--tgt-lang", required=True, metavar="LANG", help="Language of --target.")
@click.option("--source", required=True, type=Path, metavar="FILE", help="Text with a sentence on each line.")
@click.option("--target", required=True, type=Path, metavar="FILE", help="Text with a sentence on each line.")
@click.option(
    "--out", required=True, type=Path, metavar="FILE",
    help="Pairs as score<TAB>source<TAB>target, best first; compressed if the name ends in .gz.",
)  # fmt: skip
@click.option(
    "--score", default="margin", show_default=True, type=click.Choice(["margin", "csls", "cosine"]),
    help="Score of a pair; margin and csls compare it with its neighbourhood, cosine does not.",
)  # fmt: skip
@click.option(
    "--threshold", type=Finite(), metavar="X", help="Drop pairs with a lower score.  [default: keep all]"
)
@click.option(
    "--gold", type=Path, metavar="FILE",
    help="Known pairs as source<TAB>target: report F1 at --threshold or, without it, the threshold with "
    "the best F1.",
)  # fmt: skip
@click.option(
    "--neighbours", default=4, show_default=True, type=click.IntRange(1), metavar="K",
    help="Number of candidates for each sentence, and size of its neighbourhood.",
)  # fmt: skip
@encoder_options(UNTRAINED)
@backend
@search
@cluster
@common
def mine(space: Path, out: Path, as_json: bool, **options: Any) -> None:
    """Mine sentence pairs from texts in two languages.

    A pair is kept if each of its sentences is the best candidate for the other. Scores depend on the
    encoder and the text: choose a --threshold with --gold, on text whose translations you know. A threshold
    for margin usually transfers between language pairs. Sentences that are repeated, empty or without a
    known word are left out and counted. Accents written apart and white space make no difference.
    """
    from muse.errors import BadSetting
    from muse.files.sentence_text import read_sentences, write_scored_pairs
    from muse.files.writing import check_place
    from muse.mining import mine

    recalls: list[Recall] = []
    config = _config(options, recalls)
    languages = (options["src_lang"], options["tgt_lang"])
    if languages[0] == languages[1]:
        raise BadSetting(f"pairs are mined between two languages, got {languages[0]!r} twice")
    if options["address"] is not None:
        _on_cluster(space, out, config, {**options, "as_json": as_json}, recalls)
        return
    check_place(out)
    texts = [read_sentences(options[side]) for side in SIDES]
    known = _known(options["gold"], texts)
    loaded = open_space(space, config.device, options["quiet"])
    for language in languages:
        loaded.side(language)
    encoder = open_encoder(loaded, options)
    sides = [
        _side(encoder, text, language, loaded.progress.part(number, 3))
        for number, (text, language) in enumerate(zip(texts, languages, strict=True), 1)
    ]
    found = mine(sides[0].rows, sides[1].rows, config=config, progress=loaded.progress.part(3, 3))
    pairs = [(sides[0].sentences[row], sides[1].sentences[column]) for row, column in found.pairs]
    write_scored_pairs(out, ((float(value), *pair) for value, pair in zip(found.scores, pairs, strict=True)))
    score = None if known is None else _score(found.scores, pairs, known, config.threshold)
    counts = {name: side.counts for name, side in zip(SIDES, sides, strict=True)}
    made = " | ".join((str(config.score), *made_by(encoder, options)))
    _print_result(_Written(len(pairs), out, counts, made, score, recalls), as_json)


def _on_cluster(
    space: Path, out: Path, config: MiningConfig, options: dict[str, Any], recalls: list[Recall]
) -> None:
    from muse.cluster.encoding import Text
    from muse.cluster.mining import mine, mined
    from muse.cluster.run import Run, encoder_as_settings, files_as_settings, spaces_as_settings
    from muse.files.sentence_text import read_sentences

    one_machine_only("backend", "device")
    spaces = (space, *options["also"])
    languages = (options["src_lang"], options["tgt_lang"])
    texts = tuple(Text(options[side], language) for side, language in zip(SIDES, languages, strict=True))
    known = (
        _known(options["gold"], [read_sentences(text.path) for text in texts]) if options["gold"] else None
    )
    loaded = open_space(space, config.device, options["quiet"])
    for language in languages:
        loaded.side(language)
    encoder = open_encoder(loaded, options)
    settings = {
        "command": "mine", "encoder": encoder_as_settings(encoder), "languages": list(languages),
        "spaces": spaces_as_settings(*spaces), "score": str(config.score),
        "threshold": config.threshold, "search": options["search"], "seed": options["seed"],
        **{side: files_as_settings(options[side]) for side in SIDES},
    }  # fmt: skip
    run = Run(out, options["address"], settings, loaded.progress)
    found = mine(encoder, spaces, (texts[0], texts[1]), run, config)
    score = None if known is None else _score(*mined(out), known, config.threshold)
    counts = {side: found[side] for side in SIDES}
    made = " | ".join((str(config.score), *made_by(encoder, options)))
    _print_result(_Written(found["pairs"], out, counts, made, score, recalls), options["as_json"])


def _config(options: dict[str, Any], recalls: list[Recall]) -> MiningConfig:
    from muse.mining import MiningConfig
    from muse.run.runtime import pick_device
    from muse.search.approximate import Approximation
    from muse.search.pair_score import PairScore

    method = "nn" if options["score"] == "cosine" else options["score"]
    score = PairScore(method, k=options["neighbours"])
    return MiningConfig(
        score, options["threshold"], options["backend"], pick_device(options["device"]),
        Approximation(options["search"], options["seed"], recalls.append),
    )  # fmt: skip


class _Side(NamedTuple):
    """The distinct non-empty sentences (n,) of a text, their rows (n, d), and counts of what was left out."""

    sentences: list[str]
    rows: Matrix
    counts: dict[str, int]


def _side(encoder: SentenceEncoder, text: list[str], language: str, progress: Progress) -> _Side:
    from muse.text.identity import canonical

    full = [line for line in text if line.strip()]
    first: dict[str, str] = {}
    for line in full:  # a repeated sentence finds no better pair
        first.setdefault(canonical(line), line)
    kept = list(first.values())
    rows = encoded(encoder, kept, language, progress)
    return _Side(kept, rows, {
        "lines": len(text), "empty": len(text) - len(full), "repeated": len(full) - len(kept),
        "unknown": int((~rows.any(axis=1)).sum()),
    })  # fmt: skip


def _known(gold: Path | None, texts: list[list[str]]) -> set[tuple[str, str]] | None:
    """The canonical pairs of a file whose two sides are both in the texts; Mismatch if there are none."""
    from muse.errors import Mismatch
    from muse.files.parallel_text import read_parallel
    from muse.text.identity import canonical

    if gold is None:
        return None
    source, target = (set(map(canonical, text)) for text in texts)
    columns, advice = "source<TAB>target", "keep the first two with cut -f1,2"
    pairs = set(zip(*(map(canonical, side) for side in read_parallel(gold, columns, advice)), strict=True))
    known = {(one, two) for one, two in pairs if one in source and two in target}
    if not known:
        raise Mismatch(
            f"{gold}: expected pairs of a line of --source and a line of --target, got none among "
            f"{len(pairs)}; check the order of the columns"
        )
    if len(known) < len(pairs):
        log.warning(
            "%s: %d of %d pairs left out: they are no line of --source and line of --target",
            gold, len(pairs) - len(known), len(pairs),
        )  # fmt: skip
    return known


def _score(
    scores: Values, pairs: Sequence[tuple[str, str]], known: set[tuple[str, str]], threshold: float | None
) -> MiningScore:
    """The quality of the mined pairs at the threshold or, without it, at the best threshold."""
    import numpy as np

    from muse.evaluation.mining import Judged
    from muse.text.identity import canonical

    right = [(canonical(one), canonical(two)) in known for one, two in pairs]
    judged = Judged(scores, np.array(right, np.bool_), len(known))
    return judged.best() if threshold is None else judged.at(threshold)


class _Written(NamedTuple):
    """The number of pairs, their file, counts by side, the score, its quality on a gold list, the recalls."""

    pairs: int
    out: Path
    sides: dict[str, dict[str, int]]
    made: str
    score: MiningScore | None
    recalls: list[Recall]


def _print_result(written: _Written, as_json: bool) -> None:
    from muse.search.approximate import worst

    pairs, out, named, made, score, recalls = written
    if as_json:
        gold = {} if score is None else {"gold": score.as_json()}
        fields = {
            "pairs": pairs,
            "out": str(out),
            **named,
            **gold,
            **worst(recalls),
            "signature": f"{made} | muse {__version__}",
        }
        click.echo(json.dumps(fields, ensure_ascii=False))
        return
    for side, counts in named.items():
        log.info(
            "%s: %d lines, left out %d empty, %d repeated, %d without a known word", side, *counts.values()
        )
    click.echo(f"{pairs} pairs in {out} | {made}")
    for recall in recalls:
        click.echo(str(recall))
    if score is not None:
        click.echo(f"{score} | {made}")
