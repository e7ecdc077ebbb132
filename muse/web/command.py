"""muse serve: explore a space in the browser."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from muse.commands.options import backend, common
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand


@click.command(
    cls=SectionedCommand,
    sections={
        "Address": ("--host", "--port"),
        "Advanced": ("--allow-remote", "--backend"),
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
@backend
@common
def serve(space: Path, as_json: bool, quiet: bool, seed: int, device: str, **options: Any) -> None:
    """Explore a SPACE in the browser.

    The explorer shows words, sentences, neighbours and a map of the space. Stop it with Ctrl-C. Its API is
    described at /openapi.json.
    """
    from muse.run.runtime import pick_device
    from muse.space import load_space
    from muse.web.explorer import Explorer
    from muse.web.server import Address, bind, check_host, known_hosts, require_web, url

    require_web()
    address = Address(options["host"], options["port"], options["allow_remote"])
    check_host(address)
    name, device = space.resolve().name, pick_device(device)

    with bind(address) as listening:
        # Into memory: a file that is cut short under a memory map would end the server.
        explorer = Explorer(load_space(space, device=device, into_memory=True), name, seed)
        explorer.fill_caches()
        explorer.pictures.begin(explorer.direction(None, None))  # there before a page asks for it
        from muse.web.app import create_app
        from muse.web.app import serve as answer

        app = create_app(explorer, hosts=known_hosts(address.host))
        where = url(listening)
        echo(json.dumps({"url": where, "space": str(space)}) if as_json else f"{space}: {where}")
        with suppress(KeyboardInterrupt):  # Ctrl-C is how the server is stopped
            answer(app, listening)
