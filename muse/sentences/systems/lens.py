"""The lens: a function of every word over a frozen backbone, and its maximum over the words of a sentence.

* simple: one map for every word (Kiros, 2020, section 3)
* gated: gates that depend on the context weigh each word by element (Kiros, 2020, eq. 1-4). An encoder H and
  a controller G, each a linear map and M convolutions over the words, are combined as

      F = relu(W_f (H_M * G_M + G_0) + b_f)

  where * is elementwise; all layers use relu except the last, which uses tanh in H and a sigmoid in G.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from muse.errors import BadSetting, Contradiction
from muse.run.seeds import TrainingStream, torch_seeded
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.backbone import Backbone, restored_backbone
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.sentences.systems.nli import pair_classes
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.losses import Hinge
from muse.sentences.training.optimising import Schedule
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.settings import Settings, Unused, setting
from muse.sentences.training.trainer import Learner, TrainerConfig
from muse.space import Space

KINDS = ("simple", "gated")
SENTENCES_IN_PART = (
    64  # sentences of similar lengths at once; more than half of a mixed batch would be padding
)


@dataclass(frozen=True)
class LensConfig(Settings):
    """The settings of a lens with `dimension` outputs D, and of its training.

    The mean of a static backbone's rows beside the lens is better before training and no better after it.
    """

    kind: str = setting("simple", "simple, or gated: weighs words by those around them", choices=KINDS)
    dimension: int = setting(512, "columns of a sentence vector", least=1)
    mean: bool = setting(False, "puts the mean of the backbone's rows before them")
    gate: int = setting(128, "width of the convolutions of a gated lens", least=1)
    layers: int = setting(1, "number of these convolutions", least=1, most=1_000)
    kernel: int = setting(3, "words that one of them sees", least=1)
    margin: float = setting(
        0.2, "how much closer a translation must be than the hardest negative", above=0, needs="parallel"
    )
    hidden: int = setting(512, "hidden layer of the classifier, with `--nli`", least=1, needs="nli")
    dropout: float = setting(0.0, "share of the backbone's rows that is left out", least=0, below=1)
    warmup: int = setting(100, "steps until the highest rate", least=1)

    def check(self) -> None:
        """Raise BadSetting for a kernel without a word in the middle."""
        if self.kernel % 2 == 0:
            raise BadSetting(f"kernel must be odd, to reach equally far on both sides; got {self.kernel}")

    def unused(self) -> tuple[Unused | None, ...]:
        """The convolutions, of a simple lens."""
        return (Unused("gate layers kernel", "kind") if self.kind == "simple" else None,)

    def __str__(self) -> str:
        return f"{'mean+' if self.mean else ''}{self.kind}:{self.dimension}"


class Simple(nn.Module):
    """F_t = relu(W E_t + b), with W (D, K)."""

    def __init__(self, width: int, config: LensConfig) -> None:
        super().__init__()
        self.map = nn.Linear(width, config.dimension)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """F (b, T, D), 0 or more, of the backbone's rows (b, T, K); its values in padding are arbitrary."""
        return torch.relu(self.map(rows))


class GatedConv(nn.Module):
    """The encoder, the controller and their fusion."""

    def __init__(self, width: int, config: LensConfig) -> None:
        super().__init__()
        self.encoder = Convolved(width, config, torch.tanh)
        self.controller = Convolved(width, config, torch.sigmoid)
        self.fusion = nn.Linear(config.gate, config.dimension)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """F (b, T, D), 0 or more, of the backbone's rows (b, T, K); its values in padding are arbitrary."""
        _, last = self.encoder(rows, mask)
        first, gates = self.controller(rows, mask)
        return torch.relu(self.fusion(last * gates + first))


class Convolved(nn.Module):
    """H_0 = relu(W_0 E + b_0), H_i = relu(W_i conv H_(i-1) + b_i), with `last` for relu in the last layer."""

    def __init__(self, width: int, config: LensConfig, last: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.map = nn.Linear(width, config.gate)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(config.gate, config.gate, config.kernel, padding=config.kernel // 2)
            for _ in range(config.layers)
        )
        self._functions = [torch.relu] * (config.layers - 1) + [last]

    def forward(self, rows: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """H_0 and H_M (b, T, g) of the backbone's rows (b, T, K)."""
        inside = mask[..., None]  # (b, T, 1)
        first = found = torch.relu(self.map(rows)) * inside
        for convolution, function in zip(self.convolutions, self._functions, strict=True):
            # Zero after the end of every sentence, as after the longest one.
            found = function(convolution(found.transpose(1, 2))).transpose(1, 2) * inside
        return first, found


FORMS: dict[str, Callable[[int, LensConfig], nn.Module]] = {"simple": Simple, "gated": GatedConv}


class Lens(nn.Module):
    """s = maxpool_t F_t (D,), or [mean_t E_t; s] (K + D,), of a sentence's matrix E (T, K)."""

    def __init__(self, width: int, config: LensConfig) -> None:
        super().__init__()
        self.form = FORMS[config.kind](width, config)
        self.dropout = nn.Dropout(config.dropout)
        self.dimension = config.dimension + (width if config.mean else 0)
        self._mean = config.mean

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """The rows (b, d') of sentences with at least one word each.

        :param rows: (b, T, K), 0 in padding.
        :param mask: (b, T)
        """
        rows = self.dropout(rows)
        # F is 0 or more, so zeros in padding do not change the maximum.
        found: Tensor = (self.form(rows, mask) * mask[..., None]).amax(dim=1)  # (b, D)
        if not self._mean:
            return found
        return torch.cat([masked_mean(rows, mask), found], dim=1)


class LensNetwork(SentenceNetwork):
    """A backbone, which is not saved, and one lens for all of its languages."""

    def __init__(self, backbone: Backbone, config: LensConfig) -> None:
        super().__init__()
        self.backbone, self.lens = backbone, Lens(backbone.dimension, config)
        self.dimension, self.reader = self.lens.dimension, backbone.reader

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences."""
        order = batch.lengths.argsort(stable=True)  # (b,)
        matrices = (
            self.backbone.matrices(batch.take(rows), language)
            for rows in torch.split(order, SENTENCES_IN_PART)
        )
        found = torch.cat([self.lens(*part) for part in matrices])  # (b, d')
        return found[order.argsort()]


PRESETS = {
    # Chosen on held-out pairs of fr-en training text: the form, without the mean, and the rate.
    "small": Preset(LensConfig(), TrainerConfig(epochs=10, batch=256, rate=1.0, patience=2)),
    # One pass over the paper's 100 million pairs, with a held-out score every 10,000 steps.
    "paper": Preset(
        LensConfig("gated", dimension=4_096, gate=512, dropout=0.1, warmup=4_000),
        TrainerConfig(epochs=20, batch=512, rate=1.0, patience=20, steps=10_000),
    ),
}


def train_lens(job: Job) -> Fitted:
    """A lens trained by ranking translations, given parallel text, or by classifying inferences."""
    request, config = job.request, job.config
    if bool(request.parallel) == (request.nli is not None):
        got = "both" if request.parallel else "neither"
        raise Contradiction(
            f"a lens is trained on translations or on inferences: give --parallel or --nli, got {got}"
        )
    with torch_seeded(request.seed, *TrainingStream.FIRST):
        lens = LensNetwork(job.backbone, config)
        network = (pair_classes.with_inference(lens, config.hidden) if request.nli else lens).to(
            job.runtime.device
        )
    learner: Learner
    if isinstance(network, pair_classes.PairNetwork):
        inferences = pair_classes.read_inferences(job, job.backbone.reader)
        learner, counts = pair_classes.PairClassLearner(network, inferences), inferences.counts
    else:
        parallel = job.parallel()
        loss = Hinge(config.margin, "cosine", "hardest")  # that of VSE++ (Faghri et al., 2018)
        learner = PairLearner(network, loss, parallel, job.runtime.processes)
        counts = parallel.counts
    schedule = Schedule("noam", config.warmup, width=config.dimension)
    epochs = job.train(learner, replace(job.trainer, schedule=schedule))
    settings = {
        "network": asdict(config),
        "backbone": dict(job.backbone.settings),
        "classifies": request.nli is not None,
    }
    label = f"lens[{config},{job.backbone.name}]"
    return job.fitted(learner, epochs, network, label, settings, counts)


def make_lens(settings: Mapping[str, Any], space: Space) -> SentenceNetwork:
    """The network of a saved lens; Mismatch if the weights of its backbone have changed."""
    config = LensConfig(**settings["network"])
    lens = LensNetwork(restored_backbone(settings["backbone"], space), config)
    return pair_classes.with_inference(lens, config.hidden) if settings["classifies"] else lens


LENS = System("lens", PRESETS, (), train_lens, make_lens, uses=("parallel", "nli"), takes_backbone=True)
