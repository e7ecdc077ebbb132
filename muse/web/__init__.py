"""Web: the explorer of a space, as an API on this machine and a page in the browser that uses it."""

from muse.web.explorer import Explorer
from muse.web.server import Address, bind, check_host, known_hosts, require_web, serve, url

# muse.web.app needs the extra `web` to be imported: it is not among these.
__all__ = ["Address", "Explorer", "bind", "check_host", "known_hosts", "require_web", "serve", "url"]
