"""Raylets: a Ray cluster of several machines, each of them a raylet of one CPU on this one."""

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def cluster(raylets: int, **head: Any) -> Iterator[Any]:
    """A cluster of so many raylets; `head` has more options of the first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster

        options = {"num_cpus": 1, "include_dashboard": False, **head}
        made = Cluster(initialize_head=True, head_node_args=options)
        try:
            for _ in range(raylets - 1):
                made.add_node(num_cpus=1)
            yield made
        finally:
            made.shutdown()  # type: ignore[no-untyped-call]
            del made
            gc.collect()  # Ray leaves files open, of which Python warns when it finds them
