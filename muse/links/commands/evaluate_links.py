"""muse evaluate links: how many links are right, and how many are found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from muse.commands.command import command
from muse.commands.options import choose_direction, open_space, this_task
from muse.commands.outputs import Report
from muse.links.commands.link import LinkingOptions, link_config, linked
from muse.options import Common, Seed, option

if TYPE_CHECKING:
    from muse.evaluation.score import Signature
    from muse.links.evaluation import Pairs


class LinksOptions(LinkingOptions, Seed, Common):
    space: Path | None = option(None, argument=True)
    gold: Path = option(
        section="Input", help="Gold links: i-j (sure) and ipj (possible) in lines, or as in NAACL 2003."
    )
    links: Path | None = option(
        None,
        section="Input",
        group="sentences",
        help="Links to measure, i-j from 0, instead of a SPACE and sentences.",
    )
    against: Path | None = option(
        None, section="What it measures", help="Other links, i-j from 0; test whether the AER differs."
    )


@command(
    "muse evaluate links SPACE --source a.fr --target a.en --gold a.gold",
    "muse evaluate links --links a.links --gold a.gold --against b.links",
    name="links",
)
def evaluate_links(options: LinksOptions) -> Report:
    """AER, precision, recall and F1 of linked words.

    The words of the sentences in SPACE's languages are linked, as by muse link, and compared with gold links.
    """
    import numpy as np

    from muse.evaluation.score import Signature, text_name
    from muse.links.evaluation import (
        check_count,
        check_gold,
        compare_links,
        counts_of,
        read_gold,
        read_links,
        score_links,
    )

    name, read = text_name(options.gold), read_gold(options.gold)  # before long work
    others = None if options.against is None else read_links(options.against)
    if options.links is None:
        found, lengths, signature = _linked(options, name)
        gold = read.of(len(found))
        check_gold(gold, lengths, options.gold)
    else:
        found = read_links(options.links)
        gold = read.of(len(found))
        signature = Signature(text_name(options.links), "", gold=name, seed=options.seed)
    counts = counts_of(found, gold)
    score = score_links(counts, np.random.default_rng(options.seed), signature)
    fields, lines = score.as_json(), [str(score)]
    if options.against is not None and others is not None:
        check_count(options.against, len(others), len(gold))
        compared = compare_links(counts, counts_of(others, gold), np.random.default_rng(options.seed))
        fields["against"] = vars(compared)
        lines.append(f"against {options.against}: {compared}")
    return fields, lines


def _linked(options: LinksOptions, gold: str) -> tuple[list[Pairs], list[tuple[int, int]], Signature]:
    """The links of the sentences, the numbers of their words, and the signature."""
    from muse.evaluation.score import space_signature

    if options.space is None or (options.source is None and options.pairs is None):
        raise click.UsageError(f"{this_task()} needs --source and --target, --pairs, or --links.")
    space = open_space(options.space, options.device, options.quiet)
    found, lengths = list[frozenset[tuple[int, int]]](), list[tuple[int, int]]()
    config = link_config(options)
    for one, two, links in linked(space, options, config):
        found.append(frozenset((i, j) for i, j, _ in links))
        lengths.append((len(one.tokens), len(two.tokens)))
    how = "hmm" if options.encoder is None else f"encoder:{options.encoder.resolve().name}"
    rounds = "" if options.rounds is None else f"rounds:{options.rounds}"
    kept = config.symmetrisation or f"threshold:{config.threshold:g}"
    least = "" if config.min_score is None else f"min-score:{config.min_score:g}"
    signature = space_signature(
        space, *choose_direction(space, options.src, options.tgt), retrieval=how,
        gold=gold, more=tuple(filter(None, (rounds, kept, least))),
    )  # fmt: skip
    return found, lengths, signature
