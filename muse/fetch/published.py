"""Published: download a file of the table into a folder, and verify it."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting, MissingExtra
from muse.fetch.content import check_content
from muse.fetch.download import Part, RetryPolicy, download
from muse.fetch.pins import SUMS, read_pins, write_pin
from muse.fetch.table import HOME, NON_COMMERCIAL, Item
from muse.files.space_folder import checksum, writing
from muse.files.writing import check_folder
from muse.progress import Progress, Tick

log = logging.getLogger(__name__)

MB = 1e6


@dataclass(frozen=True)
class FetchConfig:
    """Where files come from and go to, and whether a non-commercial licence is accepted."""

    folder: Path
    home: str = HOME
    non_commercial: bool = False
    retries: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True)
class Fetched:
    """A downloaded file: its size in bytes, its checksum, and whether it had been downloaded before."""

    path: Path
    url: str
    bytes: int
    sha256: str
    licence: str
    cached: bool

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {**vars(self), "path": str(self.path)}


def require() -> None:
    """Raise MissingExtra if a package of the extra is not installed."""
    try:
        import pooch  # noqa: F401
        import requests  # noqa: F401
    except ImportError:
        raise MissingExtra("downloading needs pooch and requests; run pip install 'muse[fetch]'") from None


def check(item: Item, config: FetchConfig) -> None:
    """Raise BadSetting if the licence is not accepted, or `home` is not a web address."""
    if item.licence == NON_COMMERCIAL and not config.non_commercial:
        raise BadSetting(
            f"{item.name} has the non-commercial licence {item.licence}; accept it with "
            "--accept-non-commercial"
        )
    if not config.home.startswith(("https://", "http://")):
        raise BadSetting(f"--mirror must begin with https:// or http://, got {config.home!r}")


def fetch(item: Item, config: FetchConfig, progress: Progress) -> Fetched:
    """The file, downloaded unless it is there with the recorded checksum; BadFile if that fails.

    The checksum of a file that is downloaded for the first time is recorded in SHA256SUMS beside it; a
    later download with another checksum is not kept.
    """
    check(item, config)
    check_folder(config.folder)
    with writing(config.folder):
        config.folder.mkdir(parents=True, exist_ok=True)
    path, url, pin = config.folder / item.name, item.url(config.home), read_pins(config.folder).get(item.name)
    cached = path.exists() and pin is not None and checksum(path) == pin
    if not cached:
        if path.exists():
            raise BadFile(_conflict(path, pin))
        _retrieve(url, pin, _Downloader(item, config, progress))
    found = pin or checksum(path)
    if not pin:
        write_pin(config.folder, item.name, found)
    return Fetched(path, url, path.stat().st_size, found, item.licence, cached)


def _retrieve(url: str, pin: str | None, downloader: _Downloader) -> None:
    import pooch

    folder = downloader.config.folder
    pooch.get_logger().setLevel("WARNING")
    try:
        with writing(folder):
            pooch.retrieve(
                url, f"sha256:{pin}" if pin else None, downloader.item.name, folder, downloader=downloader
            )
    except ValueError as error:  # pooch raises it for another checksum
        raise BadFile(
            f"{url}: expected the checksum {str(pin)[:8]} recorded in {folder / SUMS}, got another; if the "
            "published file has changed, remove the line"
        ) from error


def _conflict(path: Path, pin: str | None) -> str:
    if pin is None:
        return f"{path}: expected no such file, got one that muse did not download; move it elsewhere"
    return f"{path}: expected the downloaded file ({pin[:8]}), got another; remove it to download it again"


@dataclass(frozen=True)
class _Downloader:
    """The downloader for pooch, which verifies the checksum and then renames the file."""

    item: Item
    config: FetchConfig
    progress: Progress

    def __call__(self, url: str, output: str, _: object, check_only: bool = False) -> None:
        """Download the file to `output`, complete and of the right kind."""
        part = Part(self.config.folder / f".{self.item.name}.part")
        with ExitStack() as shown:
            ticks: list[Tick] = []

            def progressed(size: int, total: int) -> None:
                if not ticks:  # the total is known from the server's response only
                    stage = self.progress.stage(f"{self.item.name}, MB", round(total / MB))
                    ticks.append(shown.enter_context(stage))
                ticks[0](round(size / MB))

            download(url, part, self.config.retries, progressed)
        try:
            check_content(part.path, self.item.name, self.item.kind)
        except BadFile:
            part.remove()
            raise
        part.path.replace(output)
        part.remove()
