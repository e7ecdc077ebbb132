"""Optimisation: schedules of the learning rate, LAMB, and the optimisers of a module's parameters.

LAMB is Adam with steps scaled to the norm of each weight, for batches of thousands.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Schedule:
    """A factor of the learning rate for each step t, counted from 1.

    With w steps of `warmup`, T `steps` in total and D the `width` of the model:

    * constant        min(1, t / w)
    * linear          t / w, then (T - t) / (T - w) down to 0
    * inverse-sqrt    t / w, then sqrt(w / t)
    * noam            D^-1/2 min(t^-1/2, t w^-3/2); this is the whole rate, so use a learning rate of 1
                      (Vaswani et al., 2017, eq. 3)

    >>> [Schedule("linear", warmup=2, steps=6)(step) for step in (1, 2, 4, 6)]
    [0.5, 1.0, 0.5, 0.0]
    """

    name: Literal["constant", "linear", "inverse-sqrt", "noam"] = "constant"
    warmup: int = 0
    steps: int = 0
    width: int = 0

    def __call__(self, step: int) -> float:
        """The factor at a step, counted from 1."""
        match self.name:
            case "linear" if step > self.warmup:
                return max(0.0, (self.steps - step) / (self.steps - self.warmup))
            case "inverse-sqrt":
                return float(min(step / self.warmup, (self.warmup / step) ** 0.5))
            case "noam":
                return float(self.width**-0.5 * min(step**-0.5, step * self.warmup**-1.5))
        return min(1.0, step / max(self.warmup, 1))


class Lamb(Optimizer):
    """w <- w - rate |w| / |r| r, r = m / (sqrt(v) + e), m and v Adam's unbiased moments (You et al., 2020).

    If either norm is 0, as for a bias that starts at 0, the step is r itself. There is no weight decay.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Updates every parameter that has a gradient."""
        for group in self.param_groups:
            first, second = group["betas"]
            for parameter in (one for one in group["params"] if one.grad is not None):
                state = self.state[parameter]
                if not state:
                    state.update(step=0, mean=torch.zeros_like(parameter), square=torch.zeros_like(parameter))
                state["step"] += 1
                state["mean"].lerp_(parameter.grad, 1 - first)
                state["square"].lerp_(parameter.grad.square(), 1 - second)
                mean = state["mean"] / (1 - first ** state["step"])
                root = (state["square"] / (1 - second ** state["step"])).sqrt()
                update = mean / (root + group["eps"])
                weight_norm, update_norm = parameter.norm(), update.norm()
                usable = (weight_norm > 0) & (update_norm > 0)
                trust = torch.where(usable, weight_norm / update_norm.clamp_min(1e-30), 1.0)
                parameter.sub_(group["lr"] * trust * update)


_MAKERS: Mapping[str, tuple[Any, Any]] = {  # for sparse word tables, and for all other parameters
    "adam": (torch.optim.SparseAdam, torch.optim.Adam),
    "sgd": (torch.optim.SGD, torch.optim.SGD),
    "lamb": (torch.optim.SparseAdam, Lamb),
}
OPTIMISER_NAMES = tuple(_MAKERS)


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
        """The norm of the gradients, after updating the parameters and clearing the gradients.

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
