"""muse induce --ray: the dictionary of one direction, made on a Ray cluster."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import one_machine_only

if TYPE_CHECKING:
    from muse.ranking.induction import InductionConfig
    from muse.search.approximate import Approximation
    from muse.space import Space


def induce_on_cluster(
    space: Space, folder: Path, languages: tuple[str, str], out: Path, limits: InductionConfig,
    approximation: Approximation, options: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The summary of the dictionary in the parts of `out`."""
    from muse.cluster.induction import induce
    from muse.cluster.run import Run, spaces_as_settings
    from muse.search.retrieval import Retrieval

    one_machine_only("form", "both", "backend", "device")
    if options["method"] == "isf":
        raise click.UsageError(
            "--retrieval isf needs all words on one machine; leave out --ray, or use csls."
        )
    settings = {
        "command": "induce", "spaces": spaces_as_settings(folder), "languages": list(languages),
        "limits": list(astuple(limits))[:-1],  # without a list of words, which --ray does not take
        **{name: options[name] for name in ("method", "search", "seed")},
    }  # fmt: skip
    run = Run(out, options["address"], settings, space.progress)
    return induce(
        space, languages, run,
        limits=limits, retrieval=Retrieval(options["method"]), approximation=approximation,
    )  # fmt: skip
