"""LAMB: Adam with steps scaled to the norm of each weight, for batches of thousands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer


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
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group)

    def _move(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state, (first, second) = self.state[parameter], group["betas"]
        if not state:
            state.update(step=0, mean=torch.zeros_like(parameter), square=torch.zeros_like(parameter))
        state["step"] += 1
        state["mean"].lerp_(gradient, 1 - first)
        state["square"].lerp_(gradient.square(), 1 - second)
        mean = state["mean"] / (1 - first ** state["step"])
        root = (state["square"] / (1 - second ** state["step"])).sqrt()
        update = mean / (root + group["eps"])
        weight_norm, update_norm = parameter.norm(), update.norm()
        usable = (weight_norm > 0) & (update_norm > 0)
        trust = torch.where(usable, weight_norm / update_norm.clamp_min(1e-30), 1.0)
        parameter.sub_(group["lr"] * trust * update)
