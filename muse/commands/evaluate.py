"""muse evaluate: scores of a space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from muse.commands.options import common, direction, retrievals


@click.command()
@click.argument("space", type=Path)
@click.option(
    "--dictionary", required=True, type=Path, metavar="FILE", help="Gold translations, a pair a line."
)
@direction
@common
def evaluate(
    space: Path, dictionary: Path, methods: tuple[str, ...], as_json: bool, seed: int, **options: Any
) -> None:
    """Word translation accuracy of a SPACE: P@1, P@5, P@10 against a gold dictionary."""
    import numpy as np

    from muse.api import pick_device
    from muse.evaluation.score import gold_name
    from muse.evaluation.words import evaluate_words
    from muse.files import read_lexicon
    from muse.space import load_space

    lexicon = read_lexicon(dictionary)
    loaded = load_space(space, device=pick_device(options["device"]))
    scores = {}
    for retrieval in retrievals(methods, options["backend"]):
        scores[retrieval.method] = evaluate_words(
            loaded, lexicon, rng=np.random.default_rng(seed),
            source=options["source"], target=options["target"],
            retrieval=retrieval, gold=gold_name(dictionary),
        )  # fmt: skip
    if as_json:
        shown = {name: score.as_json() for name, score in scores.items()}
        click.echo(json.dumps(next(iter(shown.values())) if len(shown) == 1 else shown, ensure_ascii=False))
        return
    for score in scores.values():
        click.echo(f"{score.score}")
        click.echo(
            f"P@5 = {score.p_at_5:.1f}, P@10 = {score.p_at_10:.1f}, P@1 over all {score.queries} queries = "
            f"{score.p_at_1_all:.1f}, coverage {score.covered}/{score.queries}"
        )
