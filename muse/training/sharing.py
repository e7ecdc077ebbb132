"""Sharing: several processes compute the loss of a batch, each for its share of the examples.

Every process ends up with the gradients of the whole batch, as a single process would. Of a loss that is a
mean over tokens, each share counts by its examples, however many tokens they have.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from muse.run.processes import Processes
from muse.training.learner import Learner
from muse.training.optimising import sparse_tables


class Shared:
    """A learner and the processes that train it together, each on its own device."""

    def __init__(self, learner: Learner, processes: Processes, device: str) -> None:
        self._learner, self._processes, self._device = learner, processes, device
        self._sparse = sparse_tables(learner) if processes.count > 1 else []
        self._module = self._averaging() if processes.count > 1 else learner

    def backward(self, rows: Tensor, generator: torch.Generator, *, bf16: bool) -> float:
        """The loss of a batch (b,); adds its gradients to those of the parameters."""
        processes = self._processes
        share = processes.share(rows)
        # Every process must take part in collective operations: one without a share computes the first row,
        # which then counts with weight 0.
        part = share if len(share) else rows[:1]
        with torch.autocast(self._device, torch.bfloat16, enabled=bf16):
            loss = self._module(part.to(self._device), generator)
        # Gradients are averaged over processes, so each mean is weighted by the size of its share.
        loss = loss * (processes.count * len(share) / len(rows))
        loss.backward()
        self._sum_sparse()
        return processes.sum(float(loss.detach())) / processes.count

    def _averaging(self) -> nn.Module:
        """The learner, wrapped so that all gradients but those of sparse tables are averaged."""
        names = {id(table): name for name, table in self._learner.named_parameters()}
        ignored = [names[id(table)] for table in self._sparse]
        if not any(p.requires_grad and n not in ignored for n, p in self._learner.named_parameters()):
            return self._learner
        # Buffers are frozen word rows, equal in all processes: broadcasting them would take longer than the
        # step itself.
        buffers = [name for name, _ in self._learner.named_buffers()]
        ignore: Callable[..., None] = DistributedDataParallel._set_params_and_buffers_to_ignore_for_model
        ignore(self._learner, [*ignored, *buffers])
        return DistributedDataParallel(self._learner, find_unused_parameters=not self._learner.uses_all)

    def _sum_sparse(self) -> None:
        """Averages the sparse gradients of word tables over the processes.

        DistributedDataParallel would use NCCL for this, which does not support sparse tensors.
        """
        for table in self._sparse:
            found = torch.zeros_like(table, layout=torch.sparse_coo) if table.grad is None else table.grad
            found = found.coalesce()
            rows, values = self._processes.gather(found.indices()[0], found.values())
            values = values / self._processes.count
            # An optimiser counts steps by gradients, and alone an unused table has none.
            table.grad = (
                torch.sparse_coo_tensor(rows[None], values, table.shape).coalesce() if len(rows) else None
            )
