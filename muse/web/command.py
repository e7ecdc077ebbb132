"""muse serve: explore a space in the browser."""

import json
import threading
import webbrowser
from pathlib import Path
from typing import Literal

from muse.commands.command import command
from muse.commands.outputs import echo
from muse.options import Backend, Common, Device, OneSpace, OwnTranslations, Seed, Threads, option


class ServeOptions(OneSpace, OwnTranslations, Backend, Seed, Device, Threads, Common):
    terms: Path | None = option(
        None, section="Input", package="terms", metavar="FILE",
        help="Glossary of muse terms, .jsonl, to show, accept and reject; what is decided is kept beside it.",
    )  # fmt: skip
    api: Literal["libretranslate"] | None = option(
        None, section="What it does",
        help="Also answer programs that call this interface: /translate, /languages, /detect.",
    )  # fmt: skip
    host: str = option("127.0.0.1", section="Address", metavar="HOST", help="Address to listen on.")
    port: int = option(
        8765, section="Address", metavar="PORT", least=0, most=65535,
        help="Port to listen on; 0 picks a free one.",
    )  # fmt: skip
    open: bool = option(False, section="Address", help="Open it in the browser.")
    allow_remote: bool = option(
        False, section="Advanced", help="Allow a --host that other machines can reach."
    )


@command("muse serve embeddings/aligned/fr-en", "muse serve SPACE --api libretranslate --port 5000")
def serve(options: ServeOptions) -> None:
    """Explore a SPACE in the browser.

    The explorer shows words, sentences, neighbours and a map of the space, and with --terms a glossary. Stop
    it with Ctrl-C. Its API is described at /openapi.json.
    """
    from muse.files import read_lexicon
    from muse.optional import load
    from muse.run.runtime import pick_device
    from muse.space import load_space
    from muse.web.explorer import Explorer
    from muse.web.server import bind, known_hosts, url

    device = pick_device(options.device)
    with bind(options.host, options.port, allow_remote=options.allow_remote) as listening:
        # Into memory: a file that is cut short under a memory map would end the server.
        space = load_space(options.space, device=device, into_memory=True)
        terms = options.terms and load("terms.kept").KeptGlossary.read(options.terms, space.languages)
        glossary = options.glossary
        own = None if glossary is None else (lambda way: read_lexicon(glossary, languages=way))
        explorer = Explorer(space, options.space.resolve().name, options.seed, terms, own)
        if own is not None:
            own(explorer.direction(None, None))  # one that cannot be read is told now
        try:
            explorer.fill_caches()
            explorer.pictures.begin(explorer.direction(None, None))  # there before a page asks for it
            from muse.web.app import create_app, ended_by_signals, make_server
            from muse.web.app import serve as answer

            app = create_app(explorer, hosts=known_hosts(options.host), api=options.api)
            where = url(listening)
            shown = {"url": where, "space": str(options.space)}
            with ended_by_signals(make_server(app)) as server:
                echo(json.dumps(shown) if options.as_json else f"{options.space}: {where}")
                if options.open:
                    # A browser in a terminal is waited for, and it waits for the server.
                    threading.Thread(target=webbrowser.open, args=(where,), daemon=True).start()
                answer(server, listening)
        finally:
            explorer.pictures.background.join()
