"""muse doctor: print what is installed and what is missing."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from muse.commands.options import common_without
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand


@click.command(
    cls=SectionedCommand,
    sections={},
    examples=(
        "muse doctor",
        "muse doctor --json",
    ),
)
@common_without("seed", "device")
def doctor(as_json: bool, quiet: bool) -> None:
    """Print what is installed and what is missing.

    This covers versions, threads, the GPU, the faiss build, and what each optional extra is for.
    """
    from muse.commands.machine import examine, extras

    found, known = examine(), extras()
    if as_json:
        shown = [{**asdict(one), "missing": list(one.missing), "advice": one.advice} for one in known]
        echo(json.dumps({**found, "extras": shown}, ensure_ascii=False))
        return
    packages = ", ".join(f"{name} {version}" for name, version in found["packages"].items())
    threads = ", ".join(f"{name} {count}" for name, count in found["threads"].items())
    folders = ", ".join(f"{folder} ({count} files)" for folder, count in found["vectors"].items())
    for name, text in (
        ("muse", f"{found['muse']}, Python {found['python']}, {found['system']}"),
        ("packages", packages),
        ("threads", f"{threads}, of {found['processors']} processors"),
        ("GPU", ", ".join(found["gpu"]) or "none found by torch"),
        ("faiss", found["faiss"]),
        ("vectors", f"looked for in {folders}"),
    ):
        echo(f"{name:12}  {text}")
    for one in known:
        state = f"missing {', '.join(one.missing)}: {one.advice}" if one.missing else "installed"
        echo(f"{one.name:12}  {state} ({one.purpose})")
