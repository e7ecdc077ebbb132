"""Connection: to the Ray cluster at an address, or to one that is started on this machine."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import torch

from muse.errors import BadSetting, MissingExtra
from muse.installation import install_extra

LOCAL = "local"


@dataclass(frozen=True)
class Cluster:
    """The numbers of machines and of their CPUs."""

    machines: int
    cpus: int


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The cluster at `address`: local, auto, HOST:PORT or ray://HOST:PORT.

    local starts one on this machine, which ends with the block. Raise BadSetting if there is none.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # a replaced worker would be reported at length
    ray = require_ray()
    # Ray prints reports of its machines to stdout, where results go.
    with redirect_stdout(sys.stderr):
        _connect(ray, address)
        try:
            alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
            cpus = sum(int(node["Resources"]["CPU"]) for node in alive)
            if not cpus:
                raise BadSetting(
                    f"--ray {address}: there must be machines with CPUs, got none; add one to the cluster"
                )
            yield Cluster(len(alive), cpus)
        finally:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    own = {"num_cpus": torch.get_num_threads(), "include_dashboard": False} if address == LOCAL else {}
    try:
        with _native_stderr_discarded():
            ray.init(address, **quiet, **own)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        found = " ".join(str(error).split())
        raise BadSetting(
            f"--ray needs the address of a Ray cluster, or local to start one here; got {address!r} ({found})"
        ) from error


@contextmanager
def _native_stderr_discarded() -> Iterator[None]:
    # Ray's C++ reports there that its log level was set; no setting prevents that.
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def require_ray() -> Any:
    """The ray package; MissingExtra if it is not installed."""
    try:
        import ray
        import ray.data
        import ray.util.client
    except ImportError as error:
        raise MissingExtra(f"--ray needs Ray, which is missing; run {install_extra('ray')}") from error
    return ray
