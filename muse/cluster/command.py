"""muse induce --ray: the dictionary of one direction, made on a Ray cluster."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import one_machine_only

if TYPE_CHECKING:
    from muse.commands.induce import InduceOptions
    from muse.ranking.induction import InductionConfig
    from muse.search.approximate import Approximation
    from muse.space import Space


def induce_on_cluster(
    space: Space, languages: tuple[str, str], limits: InductionConfig, approximation: Approximation,
    options: InduceOptions,
) -> dict[str, Any]:  # fmt: skip
    """The summary of the dictionary in the parts of `out`."""
    from muse.cluster.induction import induce
    from muse.cluster.run import Run, spaces_as_settings
    from muse.search.retrieval import Retrieval

    one_machine_only("form", "both", "backend", "device")
    if options.retrieval == "isf":
        raise click.UsageError(
            "--retrieval isf needs all words on one machine; leave out --ray, or use csls."
        )
    settings = {
        "command": "induce", "spaces": spaces_as_settings(options.space), "languages": list(languages),
        "limits": list(astuple(limits))[:-1],  # without a list of words, which --ray does not take
        "method": options.retrieval, "search": options.search, "seed": options.seed,
    }  # fmt: skip
    run = Run(options.out, str(options.ray), settings, space.progress)
    return induce(
        space, languages, run,
        limits=limits, retrieval=Retrieval(options.retrieval), approximation=approximation,
    )  # fmt: skip
