"""The state of adversarial training between two epochs, as the arrays of a checkpoint and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import index

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

State = dict[str, Tensor]  # all that training changes; restarts are the first axis of every tensor
REPORTED = ("criterion", "loss", "defect")  # of each epoch, in the history
WORST_DEFECT = 0.5  # beyond this the update of equation 4.7 cannot be trusted to bring a mapping back

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, eq=False)
class Position:
    """Where training stands: the epochs done, the seed, the state, and REPORTED of each epoch."""

    epoch: int
    seed: int
    state: State
    reported: list[list[float]] = field(default_factory=list)


def as_arrays(position: Position, signature: str) -> dict[str, NDArray[np.generic]]:
    """The arrays to save; `signature` is of the vectors and settings."""
    return {
        **{name: tensor.cpu().numpy() for name, tensor in position.state.items()},
        "epoch": np.array(position.epoch),
        "seed": np.array(position.seed),
        "reported": np.array(position.reported),
        "signature": np.array(signature),
    }


def taken_up(arrays: Arrays, start: Callable[[int], State], epochs: int) -> Position:
    """The position in saved arrays; `start` gives the state that training with a seed begins with.

    LookupError, TypeError or ValueError if they are not such arrays after one of the first `epochs` epochs.
    """
    epoch, seed = index(arrays["epoch"].item()), index(arrays["seed"].item())
    first = start(seed)
    # torch.tensor copies to aligned memory: the same kernels run, with the same results to the last bit.
    state = {name: torch.tensor(arrays[name], device=tensor.device) for name, tensor in first.items()}
    _check(state, first)
    reported = np.asarray(arrays.get("reported", np.empty((0, len(REPORTED)))), np.float64)  # (e, 3)
    if not 1 <= epoch <= epochs or reported.shape[1:] != (len(REPORTED),) or len(reported) not in (0, epoch):
        raise ValueError(f"{epoch} of {epochs} epochs, with figures of the shape {reported.shape}")
    if not np.isfinite(reported).all():
        raise ValueError("figures that are not finite")
    return Position(epoch, seed, state, reported.tolist())


def _check(state: State, first: State) -> None:
    restarts = len(state["mapping"])
    for name, tensor in state.items():
        begun = first[name]
        if tensor.dtype != begun.dtype or tensor.shape != (restarts, *begun.shape[1:]):
            raise ValueError(f"{name} of {tensor.dtype} and the shape {tuple(tensor.shape)}")
        if not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} that is not finite")
    if not 1 <= restarts <= len(first["mapping"]):
        raise ValueError(f"{restarts} restarts")
    if not all(bool((defect(state[name]) < WORST_DEFECT).all()) for name in ("mapping", "best_mapping")):
        raise ValueError("mappings far from orthogonal")


def defect(mapping: Tensor) -> Tensor:
    """The largest entry (r,) of |W W^T - I| of each of the mappings (r, d, d)."""
    identity = torch.eye(mapping.shape[-1], device=mapping.device)
    return (mapping @ mapping.mT - identity).abs().amax((1, 2))
