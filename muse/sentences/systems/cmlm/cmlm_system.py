"""CMLM as a sentence system: its presets, training stages and restoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import torch

from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.files.nli import read_translated_nli
from muse.sentences.files.sentence_text import read_documents
from muse.sentences.systems.cmlm import predictor
from muse.sentences.systems.cmlm.learning import (
    CmlmLearner,
    Cotrained,
    hold_out,
    inferences,
    read_corpus,
)
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.transformer import draw_
from muse.sentences.systems.nli.pair_classes import Inferences, PairClassLearner, with_inference
from muse.sentences.systems.pieces import Pieces
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.losses import PairLearner, Softmax
from muse.sentences.training.optimising import Schedule
from muse.sentences.training.pairs import ParallelCorpus
from muse.sentences.training.trainer import EpochResult, Learner, TrainerConfig, check_batches
from muse.space import Space

PRESETS = {
    # Chosen on held-out novels and pairs: batch, rate, and no dropout, which short training does not need. At
    # that rate inferences would undo what was learned before: a tenth of it is better on SICK's dev part too.
    "small": Preset(
        predictor.CmlmConfig(tuning_rate=2e-4),
        TrainerConfig(epochs=6, batch=32, rate=2e-3, patience=2, steps=250, clip=1.0),
    ),
    # The multilingual model (sections 3 and 4.4): 1.5 million steps of each stage, scored every 5,000; the
    # paper takes a million for a second stage, and two million where there is one stage alone. Weights,
    # gradients and moments take 7.7 GB, and the scores of the 80 hidden words of a pair about 0.5 GB more, so
    # the batch needs many devices to share it. LAMB at 1e-3 does not suit fine-tuning, and the paper says no
    # more: BERT is fine-tuned by Adam with 2e-5 (Devlin et al., 2019).
    "paper": Preset(
        predictor.CmlmConfig(
            pieces=501_153, asked=0, layers=12, heads=12, hidden=768, feed_forward=3_072, dropout=0.1,
            longest=256, projections=15, warmup=10_000, tuning_rate=2e-5, tuning_optimiser="adam",
        ),
        TrainerConfig(epochs=300, batch=2_048, patience=20, steps=5_000, optimiser="lamb", precision="bf16"),
    ),
}  # fmt: skip
PIECES_EXPONENT = 0.3  # the exponent of language sampling for learning pieces
_INFERENCE = "nli"


def train_cmlm(job: Job) -> Fitted:
    """An encoder trained on hidden words of neighbours, then on translations and inferences if given."""
    training, request = prepare(job), job.request
    for name in training.stages:  # before any of them takes its time
        check_batches(training.learners[name], training.trainer(name), seed=request.seed, runtime=job.runtime)
    words, last = training.model.encoder.words, training.stages[-1]
    epochs, learner = [training.stage(name) for name in training.stages][-1], training.learners[last]
    settings = {
        "network": asdict(job.config),
        "languages": list(words.readers),
        "pieces": None if words.pieces is None else words.pieces.to_json(),
        "classifies": last == _INFERENCE,
    }
    # In brackets the stages beside the objective, and the languages of translated, not glossed, inferences.
    learned = [name for name in ("br", _INFERENCE) if any(name in stage for stage in training.stages)]
    learned += [f"translated:{'/'.join(request.translated_nli)}"] if request.translated_nli else []
    label = job.config.objective + (f"[{','.join(learned)}]" if learned else "")
    network = learner.network if isinstance(learner, PairClassLearner) else training.model.encoder
    scored = tuple(request.parallel_files) if learner.metric == "P@1" else ()
    return job.fitted(learner, epochs, network, label, settings, training.counts, scored)


@dataclass(frozen=True, eq=False)
class CmlmTraining:
    """A job with its text read: the learners of its stages, all of the same networks, and what they count."""

    job: Job
    model: predictor.Cmlm
    learners: Mapping[str, Learner]
    stages: tuple[str, ...]
    counts: Mapping[str, int]

    def stage(self, name: str) -> tuple[EpochResult, ...]:
        """The epochs of training with one objective; the networks are left as at the best of them."""
        return self.job.train(self.learners[name], self.trainer(name), name)

    def trainer(self, name: str) -> TrainerConfig:
        """The settings of a stage, whose rate rises during the warm-up and then falls to 0."""
        trainer = tuned(self.job.trainer, self.job.config) if name == _INFERENCE else self.job.trainer
        languages = len(self.job.request.texts) if "cmlm" in name else 1
        return scheduled(trainer, self.job.config.warmup, self.learners[name].examples, languages)


def prepare(job: Job) -> CmlmTraining:
    """The job with its text read and checked, and with untrained networks."""
    request, config, device = job.request, job.config, job.runtime.device
    rng = np.random.default_rng(request.seed)
    text = {name: hold_out(read_documents(path), rng, path) for name, path in request.texts.items()}
    of_pivot = {} if request.nli is None else {job.languages[0]: request.nli, **request.translated_nli}
    nli = read_translated_nli(of_pivot) if of_pivot else {}
    languages = tuple(dict.fromkeys((*job.languages, *text, *request.further, *nli)))
    pieces = None
    if config.pieces:
        paragraphs = {name: [*chain.from_iterable(part.values())] for name, (part, _) in text.items()}
        generator = generator_for(request.seed, *TrainingStream.PIECES)
        pieces = Pieces.learned(paragraphs, config.pieces, generator, PIECES_EXPONENT)
    words = predictor.Words.of(config, request.space, languages, pieces)
    encoder = predictor.CmlmEncoder(config, words, generator_for(request.seed, *TrainingStream.FIRST)).to(
        device
    )
    parallel = job.parallel(encoder.reader) if request.parallel_files else None
    corpus = read_corpus(text, encoder, job.runtime)
    ids = torch.cat([part.passages.ids for part in corpus.training.values()])
    generator = generator_for(request.seed, *TrainingStream.SECOND)
    model = predictor.Cmlm(encoder, config, ids.bincount(minlength=words.count), generator).to(device)
    labelled = inferences(nli, request.space, job.languages, encoder, job.runtime.progress) if nli else None
    return _with_learners(job, CmlmLearner(model, corpus, config.share), parallel, labelled)


def _with_learners(
    job: Job, first: CmlmLearner, parallel: ParallelCorpus | None, labelled: Inferences | None
) -> CmlmTraining:
    config, encoder = job.config, first.model.encoder
    learners: dict[str, Learner] = {"cmlm": first}
    stages: tuple[str, ...] = ("cmlm",)
    counts = {"neighbours": first.examples} | ({"truncated": 0} if parallel is None else parallel.counts)
    if parallel is not None:
        bitext = PairLearner(encoder, Softmax(config.margin, config.scale), parallel, job.runtime.processes)
        learners |= {"br": bitext, "cmlm+br": Cotrained(first, bitext, config.alpha)}
        stages = predictor.STRATEGIES[config.strategy]
    if labelled is not None:
        network = with_inference(encoder)
        draw_(network.classifier, generator_for(job.request.seed, *TrainingStream.INFERENCES))
        learners[_INFERENCE] = PairClassLearner(network, labelled)
        stages = (*stages, _INFERENCE)
        counts |= {"inferences": len(labelled), "truncated": counts["truncated"] + labelled.truncated}
    moved = {name: learner.to(job.runtime.device) for name, learner in learners.items()}
    return CmlmTraining(job, first.model, moved, stages, counts)


def tuned(trainer: TrainerConfig, config: predictor.CmlmConfig) -> TrainerConfig:
    """The trainer of inference: with the rate and the optimiser that the config has for it, if any."""
    return replace(
        trainer,
        rate=config.tuning_rate or trainer.rate,
        optimiser=config.tuning_optimiser or trainer.optimiser,
    )


def scheduled(trainer: TrainerConfig, warmup: int, examples: int, languages: int = 1) -> TrainerConfig:
    """The trainer with a rate that rises during the warm-up and then falls to 0.

    A batch is of one of the `languages`; the last one of each may be small.
    """
    batches = -(-trainer.examples_in_epoch(examples) // trainer.batch) + languages - 1
    steps = max(trainer.epochs * batches, warmup)
    return replace(trainer, schedule=Schedule("linear", warmup, steps + 1))


def make_cmlm(settings: Mapping[str, Any], space: Space) -> SentenceNetwork:
    """The encoder of a saved model, with its classifier if it has one, before its parameters are restored."""
    config = predictor.CmlmConfig(**settings["network"])
    pieces = None if settings["pieces"] is None else Pieces.from_json(settings["pieces"])
    words = predictor.Words.of(config, space, settings["languages"], pieces)
    encoder = predictor.CmlmEncoder(config, words, torch.Generator())
    return with_inference(encoder) if settings["classifies"] else encoder


CMLM = System(
    "cmlm",
    PRESETS,
    ("text",),
    train_cmlm,
    make_cmlm,
    uses=("parallel", "nli"),
    several=True,
    translated_nli=True,
    trainers=lambda preset: (preset.trainer, tuned(preset.trainer, preset.config)),
)
