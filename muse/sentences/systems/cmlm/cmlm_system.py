"""CMLM as a sentence system: adjacent paragraphs, the learners, the presets, and training in stages.

Hidden words are predicted from a neighbour's vector, alone or with translations. Fine-tuning on inference has
premises and hypotheses in different languages (section 4.3). In the paper they are translated by machine;
here translations may be given, and without them each word becomes its nearest one in the space.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from muse.errors import Mismatch
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.run.seeds import TrainingStream, generator_for
from muse.search.exact import nearest
from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.encoders.reading import Ids, Reader, Reading
from muse.sentences.files.nli import Inference, read_translated_nli
from muse.sentences.files.sentence_text import read_documents
from muse.sentences.systems.cmlm import predictor
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks import masked_prediction
from muse.sentences.systems.networks.transformer import draw_
from muse.sentences.systems.nli.pair_classes import (
    Inferences,
    PairClassLearner,
    inferences_of,
    with_inference,
)
from muse.sentences.systems.pieces import MASK, Pieces
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.losses import Softmax
from muse.sentences.training.optimising import Schedule
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.pairs import Consecutive, ParallelCorpus, read_text
from muse.sentences.training.trainer import EpochResult, HeldOutScore, Learner, TrainerConfig, check_batches
from muse.space import Space
from muse.text.tokens import Tokeniser

SHARE_HELD_OUT = 0.1  # of the documents of a language, at least one
Documents = Mapping[str, Sequence[str]]
CONDITIONS = ("true", "shuffled", "none")  # the neighbour that held-out words are predicted from
MOST_PAIRS_SCORED = 1_000  # pairs of each language that an epoch is scored on
PAIRS_IN_BATCH = 64  # held-out pairs predicted at once, because their scores of all words are large


@dataclass(frozen=True, eq=False)
class NeighbourPairs:
    """Passages of one language, and pairs (k, 2) of adjacent passages in text order."""

    passages: Ragged
    pairs: Tensor

    def __len__(self) -> int:
        return len(self.pairs)


def find_neighbours(
    documents: Documents, reader: Reader, longest: int, device: str, progress: Progress
) -> NeighbourPairs:
    """The neighbours in documents: adjacent passages of one document that both have a known word.

    A passage is a paragraph, or a part of a paragraph with more than `longest` words; the neighbour of a
    part is the next part, not the next paragraph. Mismatch if there are no neighbours.
    """
    text = list(chain.from_iterable(documents.values()))
    read = read_text(text, reader, progress)
    ids, whole = read.sentences.ids, read.sentences.lengths.numpy()
    parts = np.maximum(-(-whole // longest), 1)  # (s,) of each paragraph
    lengths = in_parts(whole, parts)  # (p,)
    document = np.repeat(np.arange(len(documents)), list(map(len, documents.values())))  # (s,)
    document, known = np.repeat(document, parts), lengths > 0  # (p,)
    first = np.flatnonzero((document[1:] == document[:-1]) & known[1:] & known[:-1])  # (k,)
    if not len(first):
        raise Mismatch(
            f"text must have adjacent paragraphs with known {read.unit}s, got none in {len(text)} paragraphs "
            f"of {len(documents)} documents ({len(ids)} known {read.unit}s, {read.unknown} unknown); check "
            "the language and the order of the paragraphs"
        )
    pairs = torch.from_numpy(np.stack([first, first + 1], axis=1)).to(device)
    offsets = torch.from_numpy(np.concatenate([[0], lengths.cumsum()]))
    return NeighbourPairs(Ragged(ids, offsets).to(device), pairs)


def in_parts(lengths: Ids, parts: Ids) -> Ids:
    """The lengths (p,) of `parts` (s,) nearly equal parts of each sequence, longer parts first.

    >>> in_parts(np.array([7, 0, 2]), np.array([3, 1, 1])).tolist()
    [3, 2, 2, 0, 2]
    """
    place = np.arange(parts.sum()) - np.repeat(parts.cumsum() - parts, parts)  # of a part in its sequence
    return np.repeat(lengths // parts, parts) + (place < np.repeat(lengths % parts, parts))


def hold_out(
    documents: Documents, rng: np.random.Generator, where: object = "the text"
) -> tuple[Documents, Documents]:
    """Documents to train on and held-out ones, drawn whole at random, since parts share names and topics."""
    names = sorted(documents)
    if len(names) < 2:
        raise Mismatch(
            f"{where}: text must have at least two documents, one of them to hold out, got {len(names)}; "
            "give more text, or split it into documents"
        )
    chosen = set(rng.permutation(names)[: max(1, round(SHARE_HELD_OUT * len(names)))].tolist())
    training, held_out = (
        {name: documents[name] for name in names if (name in chosen) is out} for out in (False, True)
    )
    return training, held_out


Neighbours = Mapping[str, NeighbourPairs]  # of each language


def read_corpus(
    texts: Mapping[str, tuple[Documents, Documents]], encoder: predictor.CmlmEncoder, runtime: Runtime
) -> tuple[Neighbours, Neighbours]:
    """The training and the held-out neighbours of each language, read by the encoder's readers."""
    found: list[dict[str, NeighbourPairs]] = [{}, {}]
    for name, parts in texts.items():
        reader, longest = encoder.words.readers[name], encoder.longest
        for one, part in zip(found, parts, strict=True):
            one[name] = find_neighbours(part, reader, longest, runtime.device, runtime.progress)
    return found[0], found[1]


class CmlmLearner(Learner):
    """Learns to predict the hidden words of passages from their neighbours: L_CMLM."""

    metric = "masked accuracy"

    def __init__(self, model: predictor.Cmlm, corpus: tuple[Neighbours, Neighbours], share: float) -> None:
        super().__init__()
        self.model = model
        (self.training_text, self.held_out_text), self._share = corpus, share
        self._numbers = Consecutive({name: len(text) for name, text in self.training_text.items()})
        self.examples = len(self._numbers)  # the pairs of neighbours of all languages

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """Batches of one language each, with every language spread evenly over the epoch."""
        language = self._numbers.places(order)  # (n,)
        placed: list[tuple[float, Tensor]] = []
        for number in range(len(self._numbers.names)):
            parts = torch.split(order[language == number], size)
            placed += [((place + 0.5) / len(parts), part) for place, part in enumerate(parts) if len(part)]
        return [part for _, part in sorted(placed, key=lambda one: one[0])]

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The mean cross-entropy () of words hidden in pairs (b,) of one language, swapped half the time."""
        name, own = self._numbers.source(rows)
        text = self.training_text[name]
        pairs = text.pairs[own]  # (b, 2)
        swapped = torch.rand(len(rows), generator=generator, device=rows.device) < 0.5
        pairs = torch.where(swapped[:, None], pairs.flip(1), pairs)
        read = text.passages.take(pairs[:, 1]).padded()
        predictable = self.model.encoder.words.predictable[name]
        cloze = masked_prediction.hide(read.ids, _masking(predictable, self._share), generator)
        neighbours = self._neighbours(text, pairs)
        scores = self.model(cloze, read.mask, neighbours, predictable)  # (p, a)
        return masked_prediction.prediction_loss(scores, cloze.answers - predictable.start)

    def _neighbours(self, text: NeighbourPairs, pairs: Tensor) -> Padded | None:
        """The passages that words of pairs (b, 2) are predicted from; none for a masked language model."""
        config = self.model.config
        if config.objective == "mlm":
            return None
        first = _of_others(pairs, text) if config.neighbour == "shuffled" else pairs[:, 0]
        return text.passages.take(first).padded() if len(first) else None

    def held_out(self) -> HeldOutScore:
        """The percentage of hidden words in held-out documents that rank first."""
        found = self.predictions()
        return HeldOutScore(found.targets, found.accuracy, found.first)

    def predictions(self) -> masked_prediction.Predicted:
        """The counts of correct predictions in the first held-out pairs, by neighbours as in training."""
        config = self.model.config
        condition = "none" if config.objective == "mlm" else config.neighbour
        found = (
            predict_parts(self.model, text, name, condition, share=self._share, most=MOST_PAIRS_SCORED)
            for name, text in self.held_out_text.items()
        )
        return sum(chain.from_iterable(found), start=masked_prediction.Predicted())


class Cotrained(Learner):
    """L_CMLM + alpha L_br, with one translation for each pair of neighbours (section 4.2)."""

    def __init__(self, words: CmlmLearner, bitext: PairLearner, alpha: float) -> None:
        super().__init__()
        self.words, self.bitext = words, bitext
        self.examples, self.fewest = words.examples, bitext.fewest
        self._alpha = alpha

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """The batches of the neighbours."""
        return self.words.batches(order, size, generator)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The weighted sum () of the losses of neighbours (b,) and of b random translations."""
        drawn = self.bitext.drawn(len(rows), generator)
        return self.words.loss(rows, generator) + self._alpha * self.bitext.loss(drawn, generator)

    def held_out(self) -> HeldOutScore:
        """The P@1 of held-out translations."""
        return self.bitext.held_out()


@torch.no_grad()
def predict_parts(
    model: predictor.Cmlm,
    text: NeighbourPairs,
    language: str,
    condition: str,
    *,
    share: float,
    most: int | None = None,
) -> list[masked_prediction.Predicted]:
    """The counts of correct predictions in the second passages of the first `most` pairs, or of all.

    The neighbour is the `true` one, the one of a pair half the text away (`shuffled`), or `none`. There is a
    count for each part of the pairs, which hides the same words at every call and in all conditions.
    """
    pairs = text.pairs[:most]
    first = pairs[:, 0].roll(len(pairs) // 2) if condition == "shuffled" else pairs[:, 0]
    order = text.passages.lengths[pairs[:, 1]].argsort(stable=True)  # similar lengths together
    predictable = model.encoder.words.predictable[language]
    generator = generator_for(0, device=pairs.device.type)
    model.eval()
    parts = []
    for rows in torch.split(order, PAIRS_IN_BATCH):
        read = text.passages.take(pairs[rows, 1]).padded()
        cloze = masked_prediction.hide(read.ids, _masking(predictable, share), generator)
        neighbours = None if condition == "none" else text.passages.take(first[rows]).padded()
        scores = model(cloze, read.mask, neighbours, predictable)
        parts.append(masked_prediction.predicted(scores, cloze.answers - predictable.start))
    return parts


def _of_others(pairs: Tensor, text: NeighbourPairs) -> Tensor:
    """A passage for each of these pairs (b, 2) from another pair of the batch or the text; none without one.

    It is neither of the pair's own passages; the second has the hidden words.
    """
    taken = pairs[:, 0].roll(1)
    for row in (taken[:, None] == pairs).any(dim=1).nonzero()[:, 0].tolist():
        others = text.pairs[:, 0]
        others = others[(others[:, None] != pairs[row]).all(dim=1)]
        if not len(others):
            return others
        taken[row] = others[row % len(others)]
    return taken


def _masking(predictable: range, share: float) -> masked_prediction.Masking:
    """Masking that hides and inserts only the words of one language that may be predicted."""
    return masked_prediction.Masking(
        vocabulary=predictable.stop, mask=MASK, specials=predictable.start, share=share
    )


def inferences(
    texts: Mapping[str, Inference],
    space: Space,
    languages: tuple[str, str],
    encoder: predictor.CmlmEncoder,
    progress: Progress,
) -> Inferences:
    """Each pair of the first language twice with every other: the hypothesis or the premise is translated.

    `texts` are the pairs of the first language and their translations, row by row; without one into the
    second language they are glossed. Mismatch if too few pairs have known words.
    """
    first, second = languages
    text = texts[first]
    translated = {language: other for language, other in texts.items() if language != first}
    if second not in translated:
        one, two = (tuple(glossed(side, space, languages)) for side in (text.premises, text.hypotheses))
        translated = {second: replace(text, premises=one, hypotheses=two), **translated}
    halves = []  # language and text of the premises, and those of the hypotheses
    for other in translated.items():
        halves += [((first, text), other), (other, (first, text))]

    def read(sentences: Sequence[str], language: str) -> Reading:
        return read_text(sentences, encoder.reader(language), progress)

    premises = Reading.joined([read(half.premises, language) for (language, half), _ in halves])
    hypotheses = Reading.joined([read(half.hypotheses, language) for _, (language, half) in halves])
    times = len(halves)
    repeated = Inference(
        times * text.premises, times * text.hypotheses,
        times * text.labels, times * text.parts, text.undecided,
    )  # fmt: skip
    return inferences_of(repeated, (premises, hypotheses), first, encoder.device)


def glossed(sentences: Sequence[str], space: Space, languages: tuple[str, str]) -> list[str]:
    """The sentences of the first language, glossed word by word in the second; unknown words are kept."""
    first, second = (space.vectors(language) for language in languages)
    tokens = [[t.lower() for t in Tokeniser(languages[0]).tokens(sentence)] for sentence in sentences]
    words = sorted(word for word in set(chain.from_iterable(tokens)) if word in first.index)
    rows = torch.from_numpy(first.matrix[[first.index[word] for word in words]])
    places = nearest(rows, torch.tensor(second.matrix), 1).indices[:, 0].tolist() if words else []
    gloss = {word: second.words[place] for word, place in zip(words, places, strict=True)}
    return [" ".join(gloss.get(token, token) for token in line) for line in tokens]


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
    ids = torch.cat([part.passages.ids for part in corpus[0].values()])
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
