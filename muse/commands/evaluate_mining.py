"""The task mining of muse evaluate: how many known pairs are mined from two texts, without writing them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.encoders import encoder_options, open_encoder
from muse.commands.evaluate_tasks import FILE, Report, prints_scores, require
from muse.commands.mine import (
    UNTRAINED,
    mined_pairs,
    mining_config,
    mining_score,
    mining_signature,
    read_texts,
    score_options,
)
from muse.commands.options import backend, choose_direction, common, open_space, search
from muse.commands.sections import SectionedCommand

if TYPE_CHECKING:
    from muse.search.approximate import Recall


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--source", "--target", "--gold", "--src", "--tgt"),
        "Encoder": ("--encoder", "--also", "--fit"),
        "What it measures": ("--score", "--threshold"),
        "Advanced": ("--neighbours", "--search", "--backend"),
    },
    examples=(
        "muse evaluate mining SPACE --source a.fr --target b.en --gold pairs.tsv",
        "muse evaluate mining SPACE --source a.fr --target b.en --gold pairs.tsv --threshold 1.06",
    ),
)
@click.argument("space", type=Path)
@click.option("--source", **FILE, help="Text in --src, a sentence on each line.  [required]")
@click.option("--target", **FILE, help="Text in --tgt, a sentence on each line.  [required]")
@click.option("--gold", **FILE, help="Known pairs of lines, as source<TAB>target.  [required]")
@click.option("--src", "src_lang", metavar="LANG", help="Language of --source.  [default: not the pivot]")
@click.option("--tgt", "tgt_lang", metavar="LANG", help="Language of --target.  [default: the pivot]")
@score_options
@encoder_options(UNTRAINED)
@backend
@search
@common
@prints_scores
def mining(space: Path, options: dict[str, Any]) -> Report:
    """F1, precision and recall of mined sentence pairs.

    The figures are those at --threshold or, without it, at the threshold with the best F1. muse mine writes
    the pairs.
    """
    require(options, "--source FILE", "--target FILE", "--gold FILE")
    from muse.search.approximate import worst

    recalls: list[Recall] = []
    config = mining_config(options, recalls)
    loaded = open_space(space, config.device, options["quiet"])
    direction = choose_direction(loaded, options["src_lang"], options["tgt_lang"])
    options = {**options, "src_lang": direction[0], "tgt_lang": direction[1], "address": None}
    texts, known = read_texts(direction, options)
    encoder = open_encoder(loaded, options)
    signature = mining_signature(loaded, encoder, config, options)
    found = mined_pairs(encoder, texts, config, loaded.progress)
    score = mining_score(found, known or set(), config.threshold)
    fields = {"pairs": found.pairs, **score.as_json(), **worst(recalls), "signature": str(signature)}
    return fields, [*map(str, recalls), f"{score} | {signature}"]
