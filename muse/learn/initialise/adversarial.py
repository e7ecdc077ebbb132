"""Adversarial: a mapping trained to deceive a discriminator, without any word pairs.

Conneau et al., "Word Translation Without Parallel Data" (2018), equations 4.3, 4.4 and 4.7 of Conneau's
thesis. A discriminator learns to distinguish mapped source words from target words, the mapping to deceive
it.

By default three things differ from the paper, and each makes seconds on a CPU of what took hours:

* training takes place in the leading principal components of each language, which are similar in both
  languages; the mapping of the whole space is then fitted to the pairs that this finds;
* several restarts are trained in parallel, as one batched computation, and the weakest are dropped;
* the learning rate of the mapping is ten times the paper's; it stays stable because only the rotational
  part of the gradient is used, clipped, and because the paper's orthogonality update has beta = 1/2,
  where it converges fastest (it is then Newton-Schulz).

PAPER has the settings of the paper instead. The state between two epochs is saved to the run's checkpoint, so
that training can be resumed.

On a GPU a step is some 200 small kernels, which take longer to start one by one than to run: it is recorded
as a CUDA graph, and replayed. Steps therefore change all tensors in place.
"""

import logging
import math
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import index
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from muse.alignment import Alignment
from muse.errors import Mismatch, NotConverged
from muse.learn.initialise.components import components, principal_axes
from muse.learn.pair import Criterion, LanguagePair
from muse.procrustes import procrustes
from muse.progress import duration
from muse.run.checkpoint import Arrays, Checkpoint
from muse.run.seeds import mixed
from muse.search.retrieval import Retrieval, mutual_neighbours
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)

State = dict[str, Tensor]  # all that training changes; restarts are the first axis of every tensor
REPORTED = ("criterion", "loss", "defect")  # of each epoch, in the history
TIMED, LONG = 100, 10_000  # steps by which the time of a long epoch is predicted, and what is a long one
UNRECORDED = 3  # first steps of an epoch on a GPU, in which its libraries make what they keep
WORST_DEFECT = 0.5  # beyond this the update of equation 4.7 cannot be trusted to bring a mapping back


@dataclass(frozen=True)
class AdversarialConfig:
    """The settings of adversarial training; r is the number of restarts not yet dropped."""

    restarts: int = 8  # random initial mappings, trained in parallel
    survivors: int = 2  # restarts that are trained to the end
    prune_from: int = 2  # from this epoch on, each epoch drops the weaker half of the restarts
    epochs: int = 8  # at most; it ends sooner when the criterion has stalled
    patience: int = 3  # epochs without a better criterion after which a restart has stalled
    steps: int = 1000  # mapping steps an epoch
    batch: int = 32  # words of each language a step
    most_frequent: int = 5000  # words to sample from; rare words have poor vectors and mislead
    dimensions: int = 50  # leading principal components; all of the space, as it is, if `whole`
    whole: bool = False  # the whole space, from the identity, instead of components and random rotations
    hidden: int = 500  # units of a hidden layer of the discriminator (paper: 2048)
    layers: int = 1  # hidden layers of the discriminator (paper: 2)
    dropout: float = 0.1  # share of the discriminator's input set to zero
    smoothing: float = 0.2  # the labels are 1 - smoothing and smoothing
    discriminator_steps: int = 5  # for each mapping step
    discriminator_rate: float = 0.3  # learning rate (paper: 0.1)
    mapping_rate: float = 1.0  # learning rate (paper: 0.1)
    rotational: bool = True  # keep only the part of the mapping's gradient that rotates
    clip: float = 0.5  # largest Frobenius norm of the gradient of the mapping
    decay: float = 0.95  # of both rates, each epoch
    beta: float = 0.5  # strength of the orthogonality update (paper: 0.01)
    halve_on_drop: bool = False  # shrink the rates if the criterion drops; False: if it is no best one
    shrink: float = 0.5  # the factor of both rates then; 1 leaves them as they are
    criterion_words: int | None = None  # most frequent words of the criterion; None: the usual ones
    method: str = "adversarial"  # the name in signatures


# As published, and where the paper is silent as in the released tool. The paper sums the discriminator's loss
# over both languages: with the mean, its rate of 0.1 is 0.2.
PAPER = AdversarialConfig(
    restarts=1, survivors=1, epochs=5, patience=5, steps=31_250, most_frequent=50_000, whole=True,
    hidden=2_048, layers=2, discriminator_rate=0.2, mapping_rate=0.1, rotational=False, clip=math.inf,
    beta=0.01, halve_on_drop=True, criterion_words=10_000, method="adversarial:paper",
)  # fmt: skip


class Position(NamedTuple):
    """Where training stands: the seed, the state, and REPORTED of each epoch that is done."""

    seed: int
    state: State
    reported: list[list[float]]

    def as_arrays(self, signature: str) -> dict[str, NDArray[np.generic]]:
        """The arrays to save; `signature` is of the vectors and settings."""
        return {
            **{name: tensor.cpu().numpy() for name, tensor in self.state.items()},
            "seed": np.array(self.seed),
            "reported": np.array(self.reported),
            "signature": np.array(signature),
        }


def restored_position(arrays: Arrays, start: Callable[[int], State], epochs: int) -> Position:
    """The position in saved arrays; `start` gives the state that training with a seed begins with.

    LookupError, TypeError or ValueError if they are not such arrays after one of the first `epochs` epochs.
    """
    seed, reported = index(arrays["seed"].item()), np.asarray(arrays["reported"], np.float64)  # (e, 3)
    first = start(seed)
    # torch.tensor copies to aligned memory: the same kernels run, with the same results to the last bit.
    state = {name: torch.tensor(arrays[name], device=tensor.device) for name, tensor in first.items()}
    restarts = len(state["mapping"])
    for name, begun in first.items():
        found = state[name]
        if found.dtype != begun.dtype or found.shape != (restarts, *begun.shape[1:]):
            raise ValueError(f"{name} of {found.dtype} and the shape {tuple(found.shape)}")
        rotates = not name.endswith("mapping") or bool((defect(found) < WORST_DEFECT).all())
        if not (rotates and bool(found.isfinite().all())):
            raise ValueError(f"{name} that is not finite, or far from orthogonal")
    known = 1 <= len(reported) <= epochs and 1 <= restarts <= len(first["mapping"])
    if not known or reported.shape[1:] != (len(REPORTED),) or not np.isfinite(reported).all():
        raise ValueError(f"{restarts} restarts, and figures of the shape {reported.shape} or not finite")
    return Position(seed, state, reported.tolist())


def defect(mapping: Tensor) -> Tensor:
    """The largest entry (r,) of |W W^T - I| of each of the mappings (r, d, d)."""
    identity = torch.eye(mapping.shape[-1], device=mapping.device)
    return (mapping @ mapping.mT - identity).abs().amax((1, 2))


def adversarial(
    pair: LanguagePair, score: Criterion, rng: np.random.Generator, *, config: AdversarialConfig
) -> Iterator[Alignment]:
    """Yields the mapping of each surviving restart, the best by `score` first.

    A killed run resumes from `pair.runtime.checkpoint` with a result that is equal to the last bit.
    Raise NotConverged if no restart stays finite and orthogonal.
    """
    judge = score if config.criterion_words is None else pair.criterion(config.criterion_words)
    training, runtime = _Training(pair, config), pair.runtime
    seed, state, reported = _resumed(runtime.checkpoint, training, seed=int(rng.integers(2**31)))
    with runtime.progress.stage(
        "adversarial", config.epochs, "epochs", first=len(reported), may_end_early=True
    ) as tick:
        for done, row in enumerate(reported, 1):  # the history of a resumed run begins with its first epoch
            tick(done, **dict(zip(REPORTED, row, strict=True)))
        while len(reported) < config.epochs and int(state["stalled"].min()) < config.patience:
            state, figures = training.run_epoch(state, seed, len(reported), judge)
            reported.append(figures)
            position = Position(seed, state, reported)
            runtime.checkpoint.save("adversarial", position.as_arrays(training.signature))
            tick(len(reported), **dict(zip(REPORTED, figures, strict=True)))
    maps = [training.complete(mapping) for mapping in state["best_mapping"]]
    found = [Alignment(mapping, method=config.method, criterion=score(mapping)) for mapping in maps]
    yield from sorted(found, key=lambda alignment: -alignment.criterion)


class _Training:
    """The adversarial training of two languages in their principal components."""

    def __init__(self, pair: LanguagePair, config: AdversarialConfig) -> None:
        source, target = pair.sides
        if source.dimension != target.dimension:
            raise Mismatch(
                f"both languages need vectors of the same dimension, got {source.dimension} and "
                f"{target.dimension}; train or reduce them to the same size"
            )
        self.config, self.device = config, torch.device(pair.runtime.device)
        d = source.dimension
        self.k = d if config.whole else min(config.dimensions, d)
        self.source = source.most_frequent(config.most_frequent)
        self.target = target.most_frequent(config.most_frequent)
        self.source_basis, self.x = self._seen(self.source)  # (d, k), (n, k)
        self.target_basis, self.y = self._seen(self.target)  # (d, k), (m, k)
        sums = [zlib.crc32(side.fitted().tobytes()) for side in (self.source, self.target)]
        self.signature = repr((source.language, target.language, sums, config))

    def _seen(self, side: Vectors) -> tuple[Matrix, Tensor]:
        """The basis (d, k) of what is seen of a language, and its words (n, k) in it."""
        if self.config.whole:
            principal_axes(side, 1)  # raises if they are not finite
            return np.eye(self.k, dtype=np.float32), side.fitted_tensor().to(self.device)
        rows = side.fitted()
        basis = principal_axes(replace(side, matrix=rows), self.k)
        return basis, components(rows, basis).to(self.device)

    def start(self, seed: int) -> State:
        """The state before the first epoch: random rotations or the identity, random discriminators."""
        c, r = self.config, self.config.restarts
        generator = _generator(seed, 0, torch.device("cpu"))  # the same initial state on every device
        mapping = torch.linalg.qr(torch.randn(r, self.k, self.k, generator=generator)).Q.contiguous()
        if c.whole:
            mapping = torch.eye(self.k).repeat(r, 1, 1)
        state = {"mapping": mapping, "best_mapping": mapping.clone(), "rate": torch.ones(r, 1, 1)}
        lowest = torch.full((r,), -torch.inf)
        state |= {"best": lowest, "last": lowest.clone(), "stalled": torch.zeros(r)}
        widths = [self.k, *[c.hidden] * c.layers, 1]
        for layer, (a, b) in enumerate(zip(widths, widths[1:], strict=False)):
            for name, rows in (("weight", a), ("bias", 1)):
                uniform = torch.rand(r, rows, b, generator=generator) * 2 - 1
                state[f"{name}{layer}"] = uniform / a**0.5
        return {name: tensor.to(self.device) for name, tensor in state.items()}

    def run_epoch(
        self, state: State, seed: int, epoch: int, criterion: Criterion
    ) -> tuple[State, list[float]]:
        """The state after one more epoch, and what is REPORTED of it."""
        c, began = self.config, time.perf_counter()
        decay = c.decay**epoch
        generator = _generator(seed, epoch + 1, self.device)
        loss = torch.zeros((), device=self.device)

        def step() -> None:
            for _ in range(c.discriminator_steps):
                loss.add_(self._discriminator_step(state, c.discriminator_rate * decay, generator))
            self._mapping_step(state, c.mapping_rate * decay, generator)

        for done in _repeated(step, c.steps, generator):
            if done == TIMED and c.steps >= LONG:
                float(loss)  # a GPU has then done what was started
                # The first epoch alone may take an hour, in which nothing else would be seen.
                left = (c.epochs - epoch) * c.steps
                longest = duration(left * (time.perf_counter() - began) / TIMED)
                log.info("adversarial training: %s steps take at most %s here", f"{left:,}", longest)
        mean_loss = float(loss / (c.steps * c.discriminator_steps))
        pace = 2 * c.batch * c.steps * len(state["mapping"]) / (time.perf_counter() - began)
        state = _healthy(state)
        found = torch.tensor([criterion(self._lift(mapping)) for mapping in state["mapping"]])
        _judge(state, found.to(self.device), halve_on_drop=c.halve_on_drop, shrink=c.shrink)
        rate = c.mapping_rate * decay * float(state["rate"][state["best"].argmax()])
        worst = float(defect(state["mapping"]).max())
        figures = [float(found.max()), mean_loss, worst]
        log.info(
            "epoch %d: criterion %.4f, defect %.4f, %.0f samples/s, learning rate %.3g",
            epoch + 1, figures[0], worst, pace, rate,
        )  # fmt: skip
        r = len(state["best"])
        if epoch + 1 >= c.prune_from and r > c.survivors:
            kept = torch.argsort(state["best"], descending=True)[: max(c.survivors, r // 2)]
            state = {name: tensor[kept] for name, tensor in state.items()}
        return state, figures

    def _discriminator_step(self, state: State, rate: float, generator: torch.Generator) -> Tensor:
        # Equation 4.3: mapped source words are labelled 1, target words 0, both smoothed.
        c = self.config
        x, y = self._sample(self.x, generator), self._sample(self.y, generator)  # (b, k)
        with torch.no_grad():
            mapped = x @ state["mapping"].mT  # (r, b, k)
            z = torch.cat([mapped, y.expand_as(mapped)], 1)  # (r, 2b, k)
            keep = torch.rand(z.shape[1:], generator=generator, device=self.device) >= c.dropout
            z *= keep / (1 - c.dropout)
        weights = [state[name].requires_grad_() for name in state if name.startswith(("weight", "bias"))]
        labels = torch.full_like(z[..., :1], c.smoothing)  # (r, 2b, 1)
        labels[:, : c.batch] = 1 - c.smoothing
        loss = _loss(state, z, labels)
        gradients = torch.autograd.grad(loss, weights)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.detach_().sub_(gradient.mul_(rate * state["rate"]))
        return loss.detach() / len(mapped)

    def _mapping_step(self, state: State, rate: float, generator: torch.Generator) -> None:
        # Equation 4.4: labels swapped. Its target half does not depend on W, so only source words are used.
        c, mapping = self.config, state["mapping"].requires_grad_()
        mapped = self._sample(self.x, generator) @ mapping.mT  # (r, b, k)
        labels = torch.full_like(mapped[..., :1], c.smoothing)  # (r, b, 1)
        (gradient,) = torch.autograd.grad(_loss(state, mapped, labels), mapping)
        if c.rotational:
            # The update below would undo any stretch. The clip then bounds the rotation by one bad batch, and
            # with it the defect.
            stretch = mapping.detach().mT @ gradient  # (r, k, k)
            gradient = gradient - mapping.detach() @ (stretch + stretch.mT) / 2
        norm = gradient.flatten(1).norm(dim=1)[:, None, None]
        mapping.detach_().sub_(rate * state["rate"] * gradient * (c.clip / norm).clamp(max=1))
        mapping.copy_(orthogonality_update(mapping, c.beta))

    def _sample(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        return rows[torch.randint(len(rows), (self.config.batch,), generator=generator, device=self.device)]

    def _lift(self, mapping: Tensor) -> Matrix:
        """The mapping between the components as a map of the whole space (d, d), of rank k."""
        lifted = self.target_basis @ mapping.cpu().numpy() @ self.source_basis.T
        return np.asarray(lifted, dtype=np.float32)

    def complete(self, mapping: Tensor) -> Matrix:
        """An orthogonal map of the whole space (d, d): Procrustes over the pairs that `mapping` finds."""
        if self.k == self.source.dimension:
            return self._lift(mapping)
        x, y = functional.normalize(self.x @ mapping.T), functional.normalize(self.y)  # (n, k), (m, k)
        rows, columns = mutual_neighbours(x, y, Retrieval()).cpu().T
        found = procrustes(self.source.fitted_tensor()[rows], self.target.fitted_tensor()[columns])
        return np.asarray(found.numpy(), dtype=np.float32)


def _repeated(step: Callable[[], None], times: int, generator: torch.Generator) -> Iterator[int]:
    """Yields 1 to `times`, each after a run of the step; on the GPU of the generator most are replayed."""
    started = times if generator.device.type == "cpu" else min(times, UNRECORDED)
    for number in range(1, started + 1):
        step()
        yield number
    replay = _recorded(step, generator) if started < times else step
    for number in range(started + 1, times + 1):
        replay()
        yield number


def _recorded(step: Callable[[], None], generator: torch.Generator) -> Callable[[], None]:
    """The step as a CUDA graph; each replay draws the next numbers of the generator."""
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(generator)
    with torch.cuda.graph(graph):  # nothing runs yet
        step()
    return graph.replay


def orthogonality_update(mapping: Tensor, beta: float) -> Tensor:
    """The mappings (r, d, d) one step closer to orthogonal: (1 + beta) W - beta W W^T W (equation 4.7)."""
    return (1 + beta) * mapping - beta * (mapping @ mapping.mT @ mapping)


def _loss(state: State, z: Tensor, labels: Tensor) -> Tensor:
    # The sum of the restarts' means: the gradient of each restart is independent of the others.
    last = sum(name.startswith("weight") for name in state) - 1
    for layer in range(last):
        z = functional.leaky_relu(torch.baddbmm(state[f"bias{layer}"], z, state[f"weight{layer}"]), 0.2)
    logits = torch.baddbmm(state[f"bias{last}"], z, state[f"weight{last}"])  # (r, b, 1)
    return functional.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean((1, 2)).sum()


def _judge(state: State, found: Tensor, *, halve_on_drop: bool, shrink: float = 0.5) -> None:
    """Record the criterion `found` of each restart; the rate shrinks if it drops or, else, is not its best.

    (Conneau et al., 2018, section 3.1: it is halved every time the criterion decreases.)
    """
    better = found > state["best"]  # (r,)
    worse = found < state["last"] if halve_on_drop else ~better
    wide, state["last"] = better[:, None, None], found
    state["best"] = torch.where(better, found, state["best"])
    state["best_mapping"] = torch.where(wide, state["mapping"], state["best_mapping"])
    state["rate"] = torch.where(worse[:, None, None], state["rate"] * shrink, state["rate"])
    state["stalled"] = torch.where(better, 0, state["stalled"] + 1)


def _healthy(state: State) -> State:
    """The restarts that are finite and near orthogonal; NotConverged if there are none."""
    finite = [tensor.flatten(1).isfinite().all(1) for tensor in state.values() if tensor.ndim == 3]
    good = torch.stack(finite).all(0) & (defect(state["mapping"]) < WORST_DEFECT)
    if not bool(good.any()):
        raise NotConverged(
            f"adversarial training must keep one mapping finite and orthogonal, all {len(good)} restarts "
            "diverged; lower mapping_rate and discriminator_rate, or choose another initialisation"
        )
    if not bool(good.all()):
        log.warning("dropped %d of %d restarts: not finite, or not orthogonal", int((~good).sum()), len(good))
    return {name: tensor[good] for name, tensor in state.items()}


def _generator(seed: int, stream: int, device: torch.device) -> torch.Generator:
    # Each epoch has its own generator, so that a checkpoint need not store a generator's state.
    return torch.Generator(device).manual_seed(mixed(seed, stream))


def _resumed(checkpoint: Checkpoint, training: _Training, seed: int) -> Position:
    """The position to start with: the checkpoint's, if there is one."""
    saved = checkpoint.load("adversarial")
    if saved is None:
        return Position(seed, training.start(seed), [])
    with checkpoint.complete():
        if str(saved["signature"]) != training.signature:
            raise Mismatch("the adversarial checkpoint is of other vectors or settings; run without --resume")
        return restored_position(saved, training.start, training.config.epochs)
