"""muse serve: explore a space in the browser."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from muse.commands.options import common
from muse.commands.sections import SectionedCommand


@click.command(
    cls=SectionedCommand,
    sections={
        "Address": ("--host", "--port"),
        "Advanced": ("--allow-remote",),
    },
    examples=(
        "muse serve embeddings/aligned/fr-en",
        "muse serve SPACE --port 0 --json",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="Address to listen on.")
@click.option(
    "--port",
    default=8765,
    show_default=True,
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--allow-remote", is_flag=True, help="Allow a --host that other machines can reach.")
@common
def serve(space: Path, as_json: bool, quiet: bool, seed: int, device: str, **options: Any) -> None:
    """Explore a SPACE in the browser.

    The explorer shows words, sentences, neighbours and a map of the space. Stop it with Ctrl-C. Its API is
    described at /openapi.json.
    """
    from muse.run.runtime import pick_device
    from muse.space import load_space
    from muse.web import Address, Explorer, bind, check_host, known_hosts, require_web, url

    require_web()
    address = Address(**options)
    check_host(address)
    # Checksums are not verified: reading a gigabyte would delay the first answer too long.
    loaded = load_space(space, device=pick_device(device), check=False)
    from muse.web.app import create_app
    from muse.web.app import serve as answer

    explorer = Explorer(loaded, space.resolve().name, seed)
    app = create_app(explorer, hosts=known_hosts(address.host))
    with bind(address) as listening:
        explorer.fill_caches()
        where = url(listening)
        click.echo(json.dumps({"url": where, "space": str(space)}) if as_json else f"{space}: {where}")
        with suppress(KeyboardInterrupt):  # Ctrl-C is how the server is stopped
            answer(app, listening)
