"""Processes: several processes, started by torchrun, that train one network together."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed

from muse.errors import BadSetting

_TIMEOUT = timedelta(hours=2)  # the others wait while the first one scores and saves


@dataclass(frozen=True)
class Processes:
    """The `rank` of this process among `count`; a single process is the first of one and sends nothing."""

    rank: int = 0
    count: int = 1
    device: str = "cpu"

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and prints."""
        return self.rank == 0

    def share(self, rows: Tensor) -> Tensor:
        """The part of the rows (b,) of a batch that this process has; parts differ by one row at most."""
        return rows[self.rank :: self.count]

    def alike(self, generator: torch.Generator) -> torch.Generator:
        """A generator that draws the same in all processes, seeded by the generator of the first."""
        if self.count == 1:
            return generator
        seed = torch.randint(2**62, (1,), generator=generator, device=generator.device)
        distributed.broadcast(seed, 0)
        return torch.Generator(generator.device).manual_seed(int(seed))

    def wait(self) -> None:
        """Return once all processes have called this."""
        if self.count > 1:
            distributed.barrier()

    def sum(self, value: float) -> float:
        """The sum of the values of all processes."""
        if self.count == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return float(total)

    def gather(self, *own: Tensor) -> tuple[Tensor, ...]:
        """The rows (b, ...) of all processes, in order of rank; all tensors of `own` have as many rows.

        Gradients flow to the rows of this process only; those of the others are constants.
        """
        if self.count == 1:
            return own
        sizes = self._all_gathered(torch.tensor([len(own[0])], device=own[0].device))
        counts, found = [int(size) for size in sizes], list[Tensor]()
        for rows in own:
            sent = rows.new_zeros(max(counts), *rows.shape[1:])  # all must send the same shape
            sent[: len(rows)] = rows.detach()
            parts = [part[:size] for part, size in zip(self._all_gathered(sent), counts, strict=True)]
            parts[self.rank] = rows
            found.append(torch.cat(parts))
        return tuple(found)

    def copy_first_(self, parameters: Iterable[Tensor]) -> None:
        """Gives all processes the parameters of the first."""
        for parameter in parameters if self.count > 1 else ():
            distributed.broadcast(parameter.data, 0)

    def average_gradients_(self, parameters: Sequence[Tensor]) -> None:
        """Replaces the gradients by their means over all processes; what none of them used has none.

        All are sent at once. (DistributedDataParallel has no public way to leave out tables or frozen rows.)
        """
        used = torch.tensor([p.grad is not None for p in parameters], dtype=torch.int32, device=self.device)
        distributed.all_reduce(used)
        chosen = [p for p, count in zip(parameters, used.tolist(), strict=True) if count]
        if not chosen:
            return
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in chosen])
        distributed.all_reduce(flat)
        means = torch.split(flat / self.count, [p.numel() for p in chosen])
        for parameter, mean in zip(chosen, means, strict=True):
            parameter.grad = mean.view_as(parameter)

    def _all_gathered(self, sent: Tensor) -> list[Tensor]:
        found = [torch.empty_like(sent) for _ in range(self.count)]
        distributed.all_gather(found, sent)
        return found


ALONE = Processes()


@contextmanager
def joined(device: str) -> Iterator[Processes]:
    """The processes that torchrun started, connected until the block ends; or this one alone.

    On GPUs each process has its own, and "cuda" means that one. Raise BadSetting if a variable that torchrun
    sets is missing or no number.
    """
    count = _number("WORLD_SIZE", "1")
    if count == 1:
        yield ALONE
        return
    if device == "cuda":
        torch.cuda.set_device(_number("LOCAL_RANK"))
    rank = _number("RANK")
    _number("MASTER_PORT")
    if not os.environ.get("MASTER_ADDR"):
        raise BadSetting(
            "several processes need MASTER_ADDR, which torchrun sets, got none; start them with torchrun, or "
            "unset WORLD_SIZE"
        )
    distributed.init_process_group("nccl" if device == "cuda" else "gloo", timeout=_TIMEOUT)
    try:
        yield Processes(rank, count, device)
    finally:
        distributed.destroy_process_group()


def _number(variable: str, default: str = "") -> int:
    value = os.environ.get(variable, default)
    if not value.isdecimal():
        raise BadSetting(
            f"several processes need the variables that torchrun sets, got {variable}={value!r}; start them "
            "with torchrun, or unset WORLD_SIZE"
        )
    return int(value)
