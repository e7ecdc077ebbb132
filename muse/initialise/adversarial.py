"""Adversarial: a mapping learnt by deceiving a discriminator, with no word pair given.

Conneau et al., "Word Translation Without Parallel Data" (2018), equations 4.3, 4.4 and 4.7 of the thesis.
A discriminator learns to tell mapped source words from target words, the mapping learns to deceive it.

Three things differ from the paper, each because it turned hours on a CPU into seconds:

* the game is played in the space of the leading principal components of each language, which
  hold what two languages share; the mapping of the whole space then comes from the pairs it makes;
* several restarts play at once, as one batched computation, and the weakest are dropped;
* the rate of the mapping is ten times the paper's, made safe by a bound on its gradient and by the
  paper's orthogonality update with a beta of 1/2, where it converges fastest (Newton-Schulz).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from muse.alignment import Alignment
from muse.errors import BadSetting, Mismatch, NotConverged
from muse.runtime import Runtime
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)

Criterion = Callable[[Matrix], float]

# Everything that training changes, by name; restarts run along the first axis of every tensor.
State = dict[str, Tensor]

# Beyond this the update of equation 4.7 diverges, so the mapping is lost for good.
WORST_DEFECT = 0.5


@dataclass(frozen=True)
class AdversarialConfig:
    """Every setting of the adversarial game; r is the number of restarts still in it."""

    restarts: int = 8  # random starts that play side by side
    survivors: int = 2  # restarts that play to the end
    prune_from: int = 2  # epochs before the weaker half of the restarts is dropped, each epoch
    epochs: int = 8  # at most; it ends sooner when the criterion has stalled
    patience: int = 3  # epochs without a better criterion after which a restart has stalled
    steps: int = 1000  # mapping steps an epoch
    batch: int = 32  # words of each language a step
    most_frequent: int = 5000  # words that play; rare words have poor vectors and mislead
    dimensions: int = 50  # leading principal components that play
    hidden: int = 500  # units of a hidden layer of the discriminator (paper: 2048)
    layers: int = 1  # hidden layers of the discriminator (paper: 2)
    dropout: float = 0.1  # share of the discriminator's input set to zero
    smoothing: float = 0.2  # the labels are 1 - smoothing and smoothing
    discriminator_steps: int = 5  # for each mapping step
    discriminator_rate: float = 0.3  # learning rate (paper: 0.1)
    mapping_rate: float = 1.0  # learning rate (paper: 0.1)
    clip: float = 0.5  # largest Frobenius norm of the gradient of the mapping
    decay: float = 0.95  # of both rates, each epoch
    beta: float = 0.5  # strength of the orthogonality update (paper: 0.01)
    orthogonal_updates: int = 2  # after each mapping step

    def __post_init__(self) -> None:
        if not 1 <= self.survivors <= self.restarts:
            raise BadSetting(f"survivors must lie in 1..restarts ({self.restarts}), got {self.survivors}")
        if min(self.epochs, self.steps, self.batch, self.hidden, self.layers, self.discriminator_steps) < 1:
            raise BadSetting(
                "epochs, steps, batch, hidden, layers and discriminator_steps must be at least 1"
            )


@dataclass(frozen=True)
class Epoch:
    """The figures of one epoch; `samples_per_second` counts words of both languages at mapping steps."""

    number: int
    criteria: tuple[float, ...]  # of each restart still in the game
    samples_per_second: float
    defect: float  # worst |W W^T - I| of the restarts
    mapping_rate: float  # of the best restart


def adversarial(  # noqa: PLR0913 - the contract of every way in, and one listener
    source: Vectors,
    target: Vectors,
    *,
    config: AdversarialConfig,
    criterion: Criterion,
    rng: np.random.Generator,
    runtime: Runtime,
    on_epoch: Callable[[Epoch], None] | None = None,
) -> Iterator[Alignment]:
    """Yield the mapping of each surviving restart, the best by `criterion` first.

    An epoch can be killed and resumed from `runtime.checkpoint`: the result is the same to the bit.
    NotConverged if no restart stays finite and orthogonal.
    """
    seed = int(rng.integers(2**31))
    game = _Game(source, target, config, criterion, torch.device(runtime.device))
    epoch, seed, state = _resume(runtime, game, seed)
    with runtime.progress.stage("adversarial", config.epochs) as tick:
        while epoch < config.epochs and int(state["stalled"].min()) < config.patience:
            state, figures = game.play(state, seed, epoch)
            epoch += 1
            runtime.checkpoint.save("adversarial", _arrays(state, epoch, seed, game.signature))
            log.info(
                "epoch %d: criterion %.4f, %.0f samples/s, defect %.4f, learning rate %.3g",
                *(
                    epoch,
                    max(figures.criteria),
                    figures.samples_per_second,
                    figures.defect,
                    figures.mapping_rate,
                ),
            )
            tick(epoch, criterion=max(figures.criteria), defect=figures.defect)
            if on_epoch is not None:
                on_epoch(figures)
    for restart in torch.argsort(state["best"], descending=True).tolist():
        mapping = game.complete(state["best_mapping"][restart])
        yield Alignment(mapping, method="adversarial", criterion=criterion(mapping))


class _Game:
    """The two sides in their principal components, and the rules by which they play."""

    def __init__(
        self,
        source: Vectors,
        target: Vectors,
        config: AdversarialConfig,
        criterion: Criterion,
        device: torch.device,
    ) -> None:
        if source.dimension != target.dimension:
            raise Mismatch(f"both sides need one dimension, got {source.dimension} and {target.dimension}")
        self.config, self.criterion, self.device = config, criterion, device
        self.k = min(config.dimensions, source.dimension)
        self.source = source.most_frequent(config.most_frequent).matrix
        self.target = target.most_frequent(config.most_frequent).matrix
        self.source_basis = _principal(source.language, self.source, self.k)  # (d, k)
        self.target_basis = _principal(target.language, self.target, self.k)  # (d, k)
        self.x = _unit_variance(self.source @ self.source_basis).to(device)  # (n, k)
        self.y = _unit_variance(self.target @ self.target_basis).to(device)  # (m, k)
        self.signature = repr(
            (source.language, target.language, self.source.shape, self.target.shape, config)
        )

    def start(self, seed: int) -> State:
        """The state before the first epoch: random rotations, random discriminators."""
        c, r = self.config, self.config.restarts
        generator = _generator(seed, 0, torch.device("cpu"))  # the same start on every device
        gauss = torch.randn(r, self.k, self.k, generator=generator)
        mapping = torch.linalg.qr(gauss).Q.contiguous()
        state = {"mapping": mapping, "best_mapping": mapping.clone(), "rate": torch.ones(r, 1, 1)}
        state |= {"best": torch.full((r,), -torch.inf, dtype=torch.float64), "stalled": torch.zeros(r)}
        widths = [self.k, *[c.hidden] * c.layers, 1]
        for layer, (a, b) in enumerate(zip(widths, widths[1:], strict=False)):
            for name, rows in (("weight", a), ("bias", 1)):
                uniform = torch.rand(r, rows, b, generator=generator) * 2 - 1
                state[f"{name}{layer}"] = uniform / a**0.5
        return {name: tensor.to(self.device) for name, tensor in state.items()}

    def play(self, state: State, seed: int, epoch: int) -> tuple[State, Epoch]:
        """The state and the figures after one more epoch."""
        c, began = self.config, time.perf_counter()
        decay = c.decay**epoch
        generator = _generator(seed, epoch + 1, self.device)
        for _ in range(c.steps):
            for _ in range(c.discriminator_steps):
                self._discriminator_step(state, c.discriminator_rate * decay, generator)
            self._mapping_step(state, c.mapping_rate * decay, generator)
        samples = 2 * c.batch * c.steps * len(state["mapping"]) / (time.perf_counter() - began)
        state = _healthy(state)
        criteria = self._judge(state)
        figures = Epoch(
            number=epoch + 1,
            criteria=tuple(criteria.tolist()),
            samples_per_second=samples,
            defect=float(_defect(state["mapping"]).max()),
            mapping_rate=c.mapping_rate * decay * float(state["rate"][state["best"].argmax()]),
        )
        return self._prune(state, epoch + 1), figures

    def _discriminator_step(self, state: State, rate: float, generator: torch.Generator) -> None:
        # Equation 4.3: mapped source words are labelled 1, target words 0, both smoothed.
        c = self.config
        x, y = self._sample(self.x, generator), self._sample(self.y, generator)  # (b, k)
        with torch.no_grad():
            mapped = x @ state["mapping"].mT  # (r, b, k)
            z = torch.cat([mapped, y.expand_as(mapped)], 1)  # (r, 2b, k)
            keep = torch.rand(z.shape[1:], generator=generator, device=self.device) >= c.dropout
            z *= keep / (1 - c.dropout)
        names = [name for name in state if name.startswith(("weight", "bias"))]
        weights = [state[name].requires_grad_() for name in names]
        labels = torch.full_like(z[..., :1], c.smoothing)  # (r, 2b, 1)
        labels[:, : c.batch] = 1 - c.smoothing
        for weight, gradient in zip(
            weights, torch.autograd.grad(_loss(state, z, labels), weights), strict=True
        ):
            weight.detach_().sub_(rate * state["rate"] * gradient)

    def _mapping_step(self, state: State, rate: float, generator: torch.Generator) -> None:
        # Equation 4.4: labels swapped. Its target half does not depend on W, so only source words play.
        c, mapping = self.config, state["mapping"].requires_grad_()
        mapped = self._sample(self.x, generator) @ mapping.mT  # (r, b, k)
        labels = torch.full_like(mapped[..., :1], c.smoothing)  # (r, b, 1)
        (gradient,) = torch.autograd.grad(_loss(state, mapped, labels), mapping)
        # What would only stretch W, the update below must undo: keep the part that turns it. The clip
        # then bounds the turn of one bad batch, and with it the defect.
        stretch = mapping.detach().mT @ gradient  # (r, k, k)
        gradient = gradient - mapping.detach() @ (stretch + stretch.mT) / 2
        norm = gradient.flatten(1).norm(dim=1)[:, None, None]
        mapping.detach_().sub_(rate * state["rate"] * gradient * (c.clip / norm.clamp(min=c.clip)))
        for _ in range(c.orthogonal_updates):
            mapping = orthogonality_update(mapping, c.beta)
        state["mapping"] = mapping

    def _sample(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        return rows[torch.randint(len(rows), (self.config.batch,), generator=generator, device=self.device)]

    def _judge(self, state: State) -> Tensor:
        # A restart below its best moves on with half the learning rate (section 4.1.3).
        found = torch.tensor([self.criterion(self._lift(w)) for w in state["mapping"]], dtype=torch.float64)
        found = found.to(self.device)
        better = found > state["best"]
        state["best"] = torch.where(better, found, state["best"])
        state["best_mapping"] = torch.where(better[:, None, None], state["mapping"], state["best_mapping"])
        state["rate"] = torch.where(better[:, None, None], state["rate"], state["rate"] / 2)
        state["stalled"] = torch.where(better, 0, state["stalled"] + 1)
        return found

    def _prune(self, state: State, epochs: int) -> State:
        r, c = len(state["best"]), self.config
        if epochs < c.prune_from or r <= c.survivors:
            return state
        kept = torch.argsort(state["best"], descending=True)[: max(c.survivors, r // 2)]
        return {name: tensor[kept] for name, tensor in state.items()}

    def _lift(self, mapping: Tensor) -> Matrix:
        """The mapping between the components as a map of the whole space, (d, d); the rest goes to 0."""
        lifted: Matrix = self.target_basis @ mapping.cpu().numpy() @ self.source_basis.T
        return lifted

    def complete(self, mapping: Tensor) -> Matrix:
        """An orthogonal map of the whole space (d, d): Procrustes over the pairs that `mapping` makes."""
        if self.k == self.source.shape[1]:
            return self._lift(mapping)
        a = functional.normalize(self.x @ mapping.T)  # (n, k)
        cosine = a @ functional.normalize(self.y).T  # (n, m)
        forward, backward = cosine.argmax(1).cpu().numpy(), cosine.argmax(0).cpu().numpy()
        rows = np.flatnonzero(backward[forward] == np.arange(len(forward)))  # mutual nearest neighbours
        u, _, vt = np.linalg.svd(self.target[forward[rows]].T @ self.source[rows])
        completed: Matrix = u @ vt
        return completed


def orthogonality_update(mapping: Tensor, beta: float) -> Tensor:
    """The mappings (r, d, d) a step nearer to orthogonal: (1 + beta) W - beta W W^T W (equation 4.7)."""
    return (1 + beta) * mapping - beta * (mapping @ mapping.mT @ mapping)


def _loss(state: State, z: Tensor, labels: Tensor) -> Tensor:
    # The sum over the restarts of each one's mean: no restart's gradient depends on another.
    last = sum(name.startswith("weight") for name in state) - 1
    for layer in range(last):
        z = functional.leaky_relu(torch.baddbmm(state[f"bias{layer}"], z, state[f"weight{layer}"]), 0.2)
    logits = torch.baddbmm(state[f"bias{last}"], z, state[f"weight{last}"])  # (r, b, 1)
    return functional.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean((1, 2)).sum()


def _defect(mapping: Tensor) -> Tensor:
    identity = torch.eye(mapping.shape[-1], device=mapping.device)
    return (mapping @ mapping.mT - identity).abs().amax((1, 2))  # (r,)


def _healthy(state: State) -> State:
    """The restarts that are finite and near orthogonal; NotConverged if there are none."""
    finite = torch.stack(
        [tensor.flatten(1).isfinite().all(1) for tensor in state.values() if tensor.ndim == 3]
    )
    good = finite.all(0) & (_defect(state["mapping"]) < WORST_DEFECT)
    if not bool(good.any()):
        raise NotConverged(
            f"adversarial training must keep one mapping finite and orthogonal, all {len(good)} restarts "
            "broke down; lower mapping_rate and discriminator_rate, or choose another way in"
        )
    if not bool(good.all()):
        log.warning("dropped %d of %d restarts: not finite, or not orthogonal", int((~good).sum()), len(good))
    return {name: tensor[good] for name, tensor in state.items()}


def _principal(language: str, rows: Matrix, k: int) -> Matrix:
    """The k leading principal axes of the rows, (d, k), in falling order."""
    if not np.isfinite(rows).all():
        raise NotConverged(
            f"{language}: every vector must be finite, found nan or inf; repair the file of vectors"
        )
    wide = rows.astype(np.float64)
    axes: Matrix = np.linalg.eigh(wide.T @ wide)[1][:, ::-1][:, :k].astype(np.float32)
    return axes


def _unit_variance(rows: Matrix) -> Tensor:
    return torch.tensor(rows / max(float(np.sqrt(np.mean(rows**2))), 1e-12))


def _generator(seed: int, stream: int, device: torch.device) -> torch.Generator:
    # Each epoch has a generator of its own, so that a resumed run needs no generator's state.
    return torch.Generator(device).manual_seed(
        int(np.random.SeedSequence([seed, stream]).generate_state(1)[0])
    )


def _arrays(state: State, epoch: int, seed: int, signature: str) -> dict[str, np.ndarray]:
    arrays = {name: tensor.cpu().numpy() for name, tensor in state.items()}
    return arrays | {"epoch": np.array(epoch), "seed": np.array(seed), "signature": np.array(signature)}


def _resume(runtime: Runtime, game: _Game, seed: int) -> tuple[int, int, State]:
    """The epoch, seed and state to go on from: the checkpoint's where there is one."""
    saved = runtime.checkpoint.load("adversarial")
    if saved is None:
        return 0, seed, game.start(seed)
    if str(saved.pop("signature")) != game.signature:
        raise Mismatch(
            "the adversarial checkpoint must come from this run, found other settings; run without --resume"
        )
    epoch, seed = int(saved.pop("epoch")), int(saved.pop("seed"))
    # torch.tensor copies to aligned memory: the same kernels run, to the same last bit, as before the kill.
    return epoch, seed, {name: torch.tensor(array, device=game.device) for name, array in saved.items()}
