"""The encoders that benchmarks/systems/bgt.py compares: what each is, and how it is trained."""

import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.sentences.senteval import YEARS
from benchmarks.support.sentence_sets import PIVOT, Aligned, SpaceOf, training
from benchmarks.support.tables import numbers
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.suite import SuiteConfig, TaskScore, evaluate_suite
from muse.sentences.files.suite_folder import read_suite
from muse.sentences.loading import load_encoder
from muse.sentences.systems.bgt.bgt_system import language_latents
from muse.sentences.systems.bgt.inputs import BgtConfig
from muse.sentences.systems.bgt.latent_network import BgtNetwork, Gaussian
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.vectors import Matrix

UNTRAINED = "bgt, untrained"
VARIANTS: Mapping[str, Mapping[str, str]] = {
    UNTRAINED: {},
    "bgt": {},
    "without prior": {"prior": "0"},
    "without language latents": {"language": "0"},
    # Above, the reconstruction is left; the paper's is BilingualTrans with a prior and its divergence.
    "without language latents (paper)": {"reconstruction": "0", "translates": "sample"},
    "BilingualTrans": {"reconstruction": "0"},  # the paper's name for the translation loss alone
    # The paper's monolingual baselines, which have no language latents and never read the other language.
    "EnglishAE": {"read_from": "pivot", "translation": "0", "prior": "0", "language": "0"},
    "EnglishVAE": {"read_from": "pivot", "translation": "0", "language": "0"},
    "EnglishTrans": {"read_from": "pivot", "reconstruction": "0"},
}
# Those that read sentences as bags of word pieces too, whose rows are learned, as SP's are.
OF_PIECES = ("bgt", "without prior", "BilingualTrans")
# As in the paper, the language encoders read nothing that the semantic one does not.
_EQUAL = {"bag": "pieces", "punctuation": "true", "features": "false"}
TRAINED: Mapping[str, Mapping[str, str]] = {
    **{name: {"bag": "words", **own} for name, own in VARIANTS.items()},
    **{f"{name}, pieces": {"bag": "pieces", **VARIANTS[name]} for name in OF_PIECES},
    "bgt, pieces, with punctuation": {"bag": "pieces", "punctuation": "true"},  # in the meaning too
    **{f"bgt, pieces, equal inputs, prior {prior}": {**_EQUAL, "prior": prior} for prior in ("0", "1", "5")},
    # A bag's rows begin as those of the space; those of layers are random, as in the paper's random encoder.
    f"{UNTRAINED}, pieces": {"bag": "pieces"},
    f"{UNTRAINED}, Transformer": {"encoder_layers": "1", "language": "0"},
}
# The paper's contrastive baselines, from the space and as there from nothing.
SP: Mapping[str, Mapping[str, str]] = {
    "SP": {}, "SP, random": {"initial": "random"}, "SP, without punctuation": {"punctuation": "false"},
    "BiLSTM": {"network": "bilstm"},
}  # fmt: skip
TEXT = "text.tsv"  # what all learn from, in the folder of the encoders
ROWS = ("mean", "sif", "x-cbow", *TRAINED, *SP)


def effective(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings but those that the others leave without effect, which `muse train` refuses.

    >>> effective({"annealing": "2500", "prior": "0", "steps": "20"})
    {'prior': '0', 'steps': '20'}
    """
    kinds = {name: type(value) for name, value in vars(BgtConfig()).items()}
    own = {name: kinds[name](text) for name, text in settings.items() if name in kinds}
    ineffective = BgtConfig(**own).ineffective_settings()
    return {name: text for name, text in settings.items() if name not in ineffective}


class Bench(SpaceOf):
    """The space, its language beside English, and what is asked."""

    def text(self) -> tuple[Aligned, Aligned]:
        """The pairs to learn from, and those that come after them."""
        whole, count = training(self.asked.shared / "data", self.other), self.asked.pairs
        return (
            Aligned("learned from", whole.other[:count], whole.english[:count]),
            Aligned("not seen", whole.other[count:], whole.english[count:]),
        )

    def rng(self) -> np.random.Generator:
        """The same draws for every row."""
        return np.random.default_rng(0)


class Row(NamedTuple):
    """An encoder for each seed, and the divergences of its latents where it has any."""

    name: str
    encoders: list[SentenceEncoder]
    nats: list[list[float]]


def rows(bench: Bench) -> Iterator[Row]:
    """The rows that are asked for, in the order of ROWS."""
    learned, _ = bench.text()
    wanted = [name for name in ROWS if name in bench.asked.rows.split(";")]
    with tempfile.TemporaryDirectory() as name:
        folder = bench.asked.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        lines = zip(learned.english, learned.other, strict=True)
        (folder / TEXT).write_text("".join(f"{en}\t{other}\n" for en, other in lines), encoding="utf-8")
        for label in wanted:
            out = folder / label.replace(", ", "-").replace(" ", "-")
            if label in TRAINED:
                epochs = 0 if label.startswith(UNTRAINED) else bench.asked.epochs
                settings = effective({**dict(bench.asked.set), **TRAINED[label]})
                yield from _both(bench, label, _trained("bgt", bench, out, settings, epochs))
            elif label in SP:
                yield Row(label, _trained("sp", bench, out, SP[label], bench.asked.epochs), [])
            elif label != "x-cbow" or bench.asked.x_cbow:
                encoder = load_encoder(bench.asked.x_cbow if label == "x-cbow" else label, bench.space)
                fitted = encoder.fit(learned.other, bench.other).fit(learned.english, PIVOT)
                yield Row(label, [fitted], [])


def _trained(
    system: str, bench: Bench, out: Path, settings: Mapping[str, str], epochs: int | None
) -> list[SentenceEncoder]:
    of_words = {"epochs": 5, "rate": 3e-3} if settings.get("bag") == "words" else {}
    asked = {"epochs": epochs, "rate": bench.asked.rate if system == "bgt" else None}
    given = of_words | {name: value for name, value in asked.items() if value is not None}
    found = []
    for seed in numbers(bench.asked.seeds):
        folder = out.with_name(f"{out.name}.{seed}")
        if folder.exists():
            found.append(load_encoder(folder, bench.space))
            continue
        request = TrainingRequest(
            bench.space, bench.other, folder, parallel=(out.with_name(TEXT),), settings=settings,
            trainer=given, seed=seed,
        )  # fmt: skip
        trained = train_system(system, request, Runtime(progress=Progress()))
        found.append(trained.encoder)
        scores = " ".join(f"{epoch.score:.1f}" for epoch in trained.epochs)
        seconds = trained.seconds["training"]
        # On stderr: tables are printed as they are measured, and take no line between theirs.
        print(
            f"{system} {dict(settings)}, seed {seed}: held-out {trained.metric} {scores}; {seconds:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    return found


def over_years(encoder: SentenceEncoder, data: Path) -> list[TaskScore]:
    """Pearson's correlation x 100 of cosines with the ratings of STS 2012 to 2016, in English."""

    def encode(sentences: Sequence[str]) -> Matrix:
        return encoder.encode(sentences, PIVOT).matrix

    return evaluate_suite(read_suite(data, names=YEARS), encode, SuiteConfig(), Progress(quiet=True))


def mean_over_years(scores: Sequence[TaskScore]) -> TaskScore:
    """The mean of scores, whose interval takes the years as independent."""
    mean = fmean(score.value for score in scores)
    half = math.hypot(*(score.ci95[1] - score.ci95[0] for score in scores)) / 2 / len(scores)
    tested = sum(score.tested for score in scores)
    return replace(scores[0], name="mean", value=mean, ci95=(mean - half, mean + half), tested=tested)


def _both(bench: Bench, name: str, encoders: list[SentenceEncoder]) -> Iterator[Row]:
    """The semantic latent, and the language latents where there are any."""
    networks = [encoder.network for encoder in encoders if isinstance(encoder, NetworkEncoder)]
    nats = [_nats(bench, network) for network in networks if isinstance(network, BgtNetwork)]
    yield Row(f"{name}: semantic", encoders, nats)
    own = [
        language_latents(encoder)
        for encoder, network in zip(encoders, networks, strict=True)
        if isinstance(network, BgtNetwork) and network.config.own
    ]
    if own:
        yield Row(f"{name}: language", list(own), [])


@torch.no_grad()
def _nats(bench: Bench, network: BgtNetwork) -> list[float]:
    """The mean divergence of the semantic latent, of English and of the other; then of the language ones."""
    _, fresh = bench.text()
    found = []
    for posterior in (network.semantic_posterior, network.language_posterior):
        if posterior == network.language_posterior and not network.config.own:
            continue
        for language, text in ((PIVOT, fresh.english), (bench.other, fresh.other)):
            read = network.reader(language).read(text[:2_000]).sentences
            gaussian: Gaussian = posterior(read.take(read.lengths.nonzero()[:, 0]), language)
            found.append(float(gaussian.divergence().mean()))
    return found
