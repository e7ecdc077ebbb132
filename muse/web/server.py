"""Server: the address that the explorer listens on, by default of this machine only."""

import ipaddress
import socket

from muse.errors import BadSetting

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bind(host: str = "127.0.0.1", port: int = 0, *, allow_remote: bool = False) -> socket.socket:
    """A listening socket.

    Raise BadSetting if the port is in use, the host is not of this machine, or others can reach it, unless
    that is allowed.
    """
    if not (allow_remote or is_loopback(host)):
        raise BadSetting(
            f"--host must be local (127.0.0.1, ::1 or localhost), got {host!r}: anyone who can reach it "
            "could read the space and keep the processor busy; add --allow-remote to allow that"
        )
    host = host.strip("[]")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadSetting(
            f"{host}:{port} must be free to listen on, got {reason}; choose another --port or --host"
        ) from error
    # Its connections inherit this. Else an answer is sent in two parts, and the second waits for the
    # client to confirm the first, which takes it 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def url(listening: socket.socket) -> str:
    """The address of the page."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def known_hosts(host: str) -> tuple[str, ...] | None:
    """The host names that requests to a local server may have; None for a server that is not local."""
    bound = f"[{host.strip('[]')}]" if ":" in host else host
    return (*LOOPBACK, bound) if is_loopback(host) else None
