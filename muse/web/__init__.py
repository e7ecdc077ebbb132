"""Web: the explorer of a space: a local API, and a page in the browser that uses it."""

from muse.web.current import CurrentExplorer
from muse.web.explorer import Explorer
from muse.web.server import Address, bind, check_host, known_hosts, require_web, url

# muse.web.app is not imported here, since it needs the extra `web`.
__all__ = [
    "Address", "CurrentExplorer", "Explorer", "bind", "check_host", "known_hosts", "require_web", "url",
]  # fmt: skip
