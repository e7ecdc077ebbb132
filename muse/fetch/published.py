"""Published: a file of the table, fetched, checked in every way there is, under its name in a folder."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting, MissingExtra
from muse.fetch.content import check_content
from muse.fetch.download import PartialFile, RetryPolicy, download
from muse.fetch.pins import SUMS, read_pins, write_pin
from muse.fetch.table import HOME, NON_COMMERCIAL, Item
from muse.files.space_folder import checksum, writing
from muse.files.writing import check_folder
from muse.installation import install_extra
from muse.progress import Progress, Tick

log = logging.getLogger(__name__)

MB = 1e6


@dataclass(frozen=True)
class FetchConfig:
    """Where files come from and go to, and whether those under a non-commercial licence may be fetched."""

    folder: Path
    home: str = HOME
    non_commercial: bool = False
    retries: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True)
class Fetched:
    """A file that is there now: its size in bytes, its checksum, and whether it had been there before."""

    path: Path
    url: str
    bytes: int
    sha256: str
    licence: str
    cached: bool

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON can hold them."""
        return {**vars(self), "path": str(self.path)}


def require_fetch() -> None:
    """Raises MissingExtra where requests is not installed."""
    try:
        import requests  # noqa: F401
    except ImportError:
        raise MissingExtra(f"fetching needs requests; run {install_extra('fetch')}") from None


def check_item(item: Item, config: FetchConfig) -> None:
    """Raise BadSetting for a licence that was not accepted or a home that is no address of the web."""
    if item.licence == NON_COMMERCIAL and not config.non_commercial:
        raise BadSetting(
            f"{item.name} is under {item.licence}, which forbids commercial use; accept it with "
            "--accept-non-commercial"
        )
    if not config.home.startswith(("https://", "http://")):
        raise BadSetting(f"--mirror must begin with https:// or http://, got {config.home!r}")


def fetch(item: Item, config: FetchConfig, progress: Progress) -> Fetched:
    """The file, fetched unless it is there as it was first fetched; BadFile if it cannot be had whole.

    The checksum of a file that is fetched for the first time is noted in SHA256SUMS beside it; a file
    that differs from what is noted there is not kept.
    """
    check_item(item, config)
    check_folder(config.folder)
    with writing(config.folder):
        config.folder.mkdir(parents=True, exist_ok=True)
    path, url, pin = config.folder / item.name, item.url(config.home), read_pins(config.folder).get(item.name)
    cached = path.exists() and pin is not None and checksum(path) == pin
    if not cached:
        if path.exists():
            raise BadFile(_stranger(path, pin))
        _retrieve(item, config, pin, progress)
    found = pin or checksum(path)
    if not pin:
        write_pin(config.folder, item.name, found)
    return Fetched(path, url, path.stat().st_size, found, item.licence, cached)


def _retrieve(item: Item, config: FetchConfig, pin: str | None, progress: Progress) -> None:
    """Fills the file and gives it its name once it is known to be whole, of its kind, and the one pinned."""
    url, part = item.url(config.home), PartialFile(config.folder / f".{item.name}.part")
    with writing(config.folder):
        _download(url, part, item.name, config.retries, progress)
        try:
            check_content(part.path, item.name, item.kind)
            if pin and checksum(part.path) != pin:
                raise BadFile(
                    f"{url}: expected the file of checksum {pin[:8]} noted in {config.folder / SUMS}, got "
                    "another; if it was published anew, remove the line"
                )
        except BadFile:
            part.remove()
            raise
        part.path.replace(config.folder / item.name)
        part.remove()


def _download(url: str, part: PartialFile, name: str, retries: RetryPolicy, progress: Progress) -> None:
    with ExitStack() as shown:
        ticks: list[Tick] = []

        def told(size: int, total: int) -> None:
            if not ticks:  # how much there is, only the server's answer tells
                stage = progress.stage(f"{name}, MB", round(total / MB))
                ticks.append(shown.enter_context(stage))
            ticks[0](round(size / MB))

        download(url, part, retries, told)


def _stranger(path: Path, pin: str | None) -> str:
    if pin is None:
        return f"{path}: expected no file of that name, got one that was not fetched; move it away"
    return f"{path}: expected the file that was fetched ({pin[:8]}), got another; remove it to fetch it again"
