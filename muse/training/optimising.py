"""Optimising: the optimisers of a module's parameters, and their state as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from muse.training.lamb import Lamb

Arrays = dict[str, NDArray[Any]]
_MAKERS: Mapping[str, tuple[Any, Any]] = {  # for sparse word tables, and for all other parameters
    "adam": (torch.optim.SparseAdam, torch.optim.Adam),
    "sgd": (torch.optim.SGD, torch.optim.SGD),
    "lamb": (torch.optim.SparseAdam, Lamb),
}
NAMES = tuple(_MAKERS)


def sparse_tables(module: nn.Module) -> list[Tensor]:
    """The word tables of a module with sparse gradients, which cover only the rows of a batch's words."""
    tables = [part for part in module.modules() if isinstance(part, nn.Embedding | nn.EmbeddingBag)]
    return [table.weight for table in tables if table.sparse and table.weight.requires_grad]


class Optimisers:
    """Adam, LAMB or plain gradient descent for all trainable parameters of a module.

    Sparse word tables use the sparse variant of Adam, which updates only the rows of a batch's words.
    """

    def __init__(self, module: nn.Module, name: str, rate: float, beta2: float = 0.999) -> None:
        sparse = sparse_tables(module)
        touched = {id(weight) for weight in sparse}
        self._dense = [p for p in module.parameters() if p.requires_grad and id(p) not in touched]
        more: dict[str, Any] = {} if name == "sgd" else {"betas": (0.9, beta2)}
        both = zip(_MAKERS[name], (sparse, self._dense), strict=True)
        self._all: Sequence[torch.optim.Optimizer] = [make(of, lr=rate, **more) for make, of in both if of]

    def step(self, rate: float, clip: float) -> float:
        """Updates the parameters, clears their gradients, and returns the norm that these had.

        With a `clip` above 0, gradients are clipped to that norm. The norm leaves out sparse word tables, and
        is 0 without a `clip`.
        """
        norm = float(nn.utils.clip_grad_norm_(self._dense, clip)) if clip > 0 else 0.0
        for optimiser in self._all:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.step()
            optimiser.zero_grad()
        return norm

    def state(self) -> Arrays:
        """The state of all optimisers as arrays, by optimiser, parameter and name."""
        arrays = {}
        for number, optimiser in enumerate(self._all):
            for place, state in optimiser.state_dict()["state"].items():
                for name, value in state.items():
                    kept = value.cpu().numpy() if isinstance(value, Tensor) else np.array(value)
                    arrays[f"optimiser/{number}/{place}/{name}"] = kept
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restores the state that `state` returned."""
        for number, optimiser in enumerate(self._all):
            states: dict[int, dict[str, Any]] = {}
            for name, array in arrays.items():
                part, *rest = name.split("/")
                if part == "optimiser" and int(rest[0]) == number:
                    # torch.tensor copies to aligned memory, so that the same kernels run, to the last bit.
                    value = int(array) if array.ndim == 0 and array.dtype.kind == "i" else torch.tensor(array)
                    states.setdefault(int(rest[1]), {})[rest[2]] = value
            optimiser.load_state_dict({**optimiser.state_dict(), "state": states})
