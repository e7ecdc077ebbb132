"""The cross-lingual language model as a sentence system: its corpus, presets, training and restoring.

The text of each language, and translations, are sources of masked batches. In streams the sentences of a
language stand end to end, cut into sequences of a fixed length. A batch has streams in one sampled language;
batches of streams alternate with batches of translation pairs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor

from muse.errors import BadSetting, Contradiction, Mismatch
from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.encoders.ragged import Ragged, passes, token_batches
from muse.sentences.files.sentence_text import read_documents, read_sentences
from muse.sentences.systems.backbone import warn_of_another_language
from muse.sentences.systems.networks.masked_prediction import Masking, Predicted, rarity
from muse.sentences.systems.networks.transformer import random_rows
from muse.sentences.systems.pieces import BOS, EOS, PieceReader, Pieces, aligned_rows
from muse.sentences.systems.system import Fitted, Job, Preset, System, TrainingRequest
from muse.sentences.systems.xlm import language_model
from muse.sentences.training.pairs import (
    BATCH_EXPONENT,
    Consecutive,
    ParallelCorpus,
    draw_languages,
    hold_out,
    language_shares,
)
from muse.sentences.training.trainer import HeldOutScore, Learner, TrainerConfig
from muse.space import Space

FEWEST_STREAMS = 20  # in a language
Documents = Sequence[Sequence[str]]
HELD_OUT_PAIRS = 400  # pairs scored after every epoch
EXAMPLES_IN_BATCH = 64  # held-out streams or pairs in a batch


def check_texts(config: language_model.XlmConfig, request: TrainingRequest) -> None:
    """Raise BadSetting if the given files do not fit the objective."""
    pivot, language = request.space.pivot, request.language
    if language not in request.texts:
        raise Contradiction(f"xlm needs text of --lang {language}; give --text {language}=FILE")
    if config.judged and config.judged not in request.texts:
        raise BadSetting(
            f"judged must be a language with --text, one of {', '.join(request.texts)}; got {config.judged!r}"
        )
    if config.objective != language_model.TLM:
        if request.parallel_files:
            raise Contradiction(
                f"{config.objective} does not use --parallel; leave it out, or --set objective=mlm+tlm"
            )
        return
    if not request.parallel or pivot not in request.texts:
        raise Contradiction(
            f"mlm+tlm needs --parallel and --text of both its languages, {pivot} and {language}; give them, "
            "or --set objective=mlm"
        )
    for name in request.further:
        if name not in request.texts:
            raise Contradiction(
                f"--parallel {name}=FILE needs text of {name}; give --text {name}=FILE, or leave it out"
            )


@dataclass(frozen=True, eq=False)
class MaskedSource:
    """Streams of one language, or translations in two, as masked batches.

    The `sides` are sentences with the number of their language; `training` (n,) and `held_out` are the rows
    to train on and to score. With a `masking`, pieces are hidden by their `weights` (v,): MLM, or TLM on two
    sides; without one, each predicts the next: CLM. A batch has at most `tokens` pieces, unless that is 0.
    """

    name: str  # the language, or both, such as en-fr
    sides: tuple[tuple[Ragged, int], ...]
    training: Tensor
    held_out: Tensor
    masking: Masking | None
    weights: Tensor
    tokens: int = 0

    @property
    def examples(self) -> int:
        """The number n of training examples."""
        return len(self.training)

    def batches(self, size: int, generator: torch.Generator) -> Iterator[Tensor]:
        """Endless batches of the indices (b,) of examples, in random order and each equally often.

        They have `size` examples, the last of a pass maybe fewer, or `tokens` in pairs of similar lengths.
        """
        if not self.tokens:
            yield from passes(self.examples, size, generator)
        lengths = torch.stack([text.lengths[self.training] for text, _ in self.sides])  # (sides, n)
        longest = len(self.sides) * lengths.amax(dim=0).cpu()  # (n,)
        while True:
            yield from token_batches(longest, self.tokens, generator)

    def batch(self, rows: Tensor, generator: torch.Generator) -> language_model.MaskedBatch:
        """The examples with these indices (b,) in the text, whose sides are masked independently."""
        sides = [(text.take(rows).padded(), number) for text, number in self.sides]
        return language_model.masked_batch(sides, self.masking, self.weights, generator)


class Sources(NamedTuple):
    """Streams and pairs, and the `counts` (v,) of the pieces in the streams of each language."""

    streams: tuple[MaskedSource, ...]
    pairs: tuple[MaskedSource, ...]
    counts: Mapping[str, Tensor]


def make_sources(
    config: language_model.XlmConfig,
    documents: Mapping[str, Documents],
    parallel: ParallelCorpus | None,
    pieces: Pieces,
    *,
    seed: int,
    device: str,
) -> Sources:
    """The sources of the documents of each language, and of translations.

    Mismatch if there is too little text.
    """
    generator = generator_for(seed, *TrainingStream.SECOND)
    cut = {
        name: make_streams(name, texts, pieces, config.length, generator, device)
        for name, texts in documents.items()
    }
    counts = {
        name: torch.bincount(text.take(training).ids, minlength=len(pieces))
        for name, (text, training, _) in cut.items()
    }
    masking = None if config.causal else config.masking(len(pieces))
    weights = rarity(torch.stack(list(counts.values())).sum(dim=0))
    numbers = {name: number for number, name in enumerate(documents)}
    streams = [
        MaskedSource(name, ((text, numbers[name]),), training, held_out, masking, weights)
        for name, (text, training, held_out) in cut.items()
    ]
    parallel = parallel or ParallelCorpus("", {})
    pairs = [
        MaskedSource(
            f"{parallel.pivot}-{name}",
            ((found.pivot, numbers[parallel.pivot]), (found.other, numbers[name])),
            found.training, found.held_out[:HELD_OUT_PAIRS], masking, weights, config.pair_tokens,
        )
        for name, found in parallel.pairs.items()
    ]  # fmt: skip
    return Sources(tuple(streams), tuple(pairs), counts)


def make_streams(
    language: str, texts: Documents, pieces: Pieces, length: int, generator: torch.Generator, device: str
) -> tuple[Ragged, Tensor, Tensor]:
    """The streams of a language, which do not cross documents, and the training and held-out rows among them.

    Mismatch if there are too few.
    """
    cut = chain.from_iterable(cut_streams(pieces.encode(text), length) for text in texts)
    found = [stream for stream in cut if len(stream) > 2]  # <bos> and one piece are useless
    if len(found) < FEWEST_STREAMS:
        raise Mismatch(
            f"{language} needs text for at least {FEWEST_STREAMS} streams of {length} pieces, got "
            f"{len(found)}; give more text, or set a smaller length"
        )
    training, held_out = (part.sort().values.to(device) for part in hold_out(len(found), generator))
    return Ragged.of(found).to(device), training, held_out


def cut_streams(sentences: Iterable[Sequence[int]], length: int) -> Iterator[list[int]]:
    """The ids of the sentences, each with <eos> after it, in pieces of `length` that begin with <bos>.

    >>> list(cut_streams([[7, 8, 9], [5], [6, 7]], 5))
    [[2, 7, 8, 9, 3], [2, 5, 3, 6, 7], [2, 3]]
    """
    ids = list(chain.from_iterable((*sentence, EOS) for sentence in sentences))
    for begin in range(0, len(ids), length - 1):
        yield [BOS, *ids[begin : begin + length - 1]]


PRESETS = {
    "small": Preset(
        language_model.XlmConfig(), TrainerConfig(epochs=8, batch=32, rate=2e-3, clip=5.0, steps=150)
    ),
    # The model for XNLI: 15 languages. An epoch is 3,000 steps, some 200,000 streams.
    "paper": Preset(
        language_model.XlmConfig(
            pieces=95_000, layers=12, heads=8, hidden=1_024, length=256, pair_tokens=4_000,
            initial="random", pooling="first", warmup=30_000,
        ),
        TrainerConfig(
            epochs=1_000, batch=64, rate=1e-4, patience=10, clip=5.0, precision="bf16", steps=3_000
        ),
    ),
}  # fmt: skip


def train_xlm(job: Job) -> Fitted:
    """A model trained with its objectives, with early stopping on the perplexity of held-out text."""
    request, config = job.request, job.config
    check_texts(config, request)
    documents: dict[str, Documents] = {
        language: [*read_documents(path).values()]
        if config.documents
        else [[line for line in read_sentences(path) if line.strip()]]
        for language, path in request.texts.items()
    }
    sentences = {language: list(chain.from_iterable(texts)) for language, texts in documents.items()}
    for language, text in sentences.items():
        warn_of_another_language(text, language, request.texts[language], job.backbone, request.space)
    pieces = Pieces.learned(sentences, config.pieces, generator_for(request.seed, *TrainingStream.PIECES))
    reader, device = PieceReader(pieces, config.length), job.runtime.device
    parallel = job.parallel(lambda _: reader) if request.parallel_files else None
    sources = make_sources(config, documents, parallel, pieces, seed=request.seed, device=device)
    network = untrained_network(config, pieces, sources.counts, request.space, request.seed).to(device)
    judged = (config.judged,) if config.judged else ()
    learner = XlmLearner(network.model, sources.streams, sources.pairs, judged, config.exponent)
    epochs = job.train(learner, job.trainer.with_warmup(config.warmup))
    label = f"xlm[{config.objective},{config.initial},{config.pooling}]"
    settings = {"network": asdict(config), "languages": [*documents], "pieces": pieces.to_json()}
    found = learner.predictions()
    perplexities = {f"perplexity_{name}": round(part.perplexity) for name, part in found.items()}
    counts = {"pieces": len(pieces), "streams": sum(source.examples for source in sources.streams)}
    counts |= ({} if parallel is None else parallel.counts) | perplexities
    return job.fitted(learner, epochs, network, label, settings, counts, judged)


def untrained_network(
    config: language_model.XlmConfig,
    pieces: Pieces,
    counts: Mapping[str, Tensor],
    space: Space | None,
    seed: int,
) -> language_model.XlmNetwork:
    """The network before training, with the bias of every piece initialised by how often it is masked.

    `counts` (v,) are the counts of the pieces in the text of each language; `space` gives aligned rows.
    """
    generator, languages = generator_for(seed, *TrainingStream.FIRST), tuple(counts)
    if config.initial == "random" or space is None:
        rows = random_rows(len(pieces), config.hidden, generator)
    else:
        rows = aligned_rows(pieces, languages, space, config.hidden, seed)
    model = language_model.XlmModel(config, rows, len(languages), generator)
    total = torch.stack(list(counts.values())).sum(dim=0)  # (v,)
    with torch.no_grad():
        predicted = total if config.causal else total * rarity(total)
        model.bias.copy_(predicted.clamp(min=1).log())
    return language_model.XlmNetwork(config, pieces, languages, model)


class XlmLearner(Learner):
    """Trains a model with CLM, with MLM, or with MLM and TLM in turn.

    Its examples come from the stream sources, followed by the pair sources. It is scored on the
    `judged` sources, by default the streams of all languages.
    """

    metric = "100/perplexity"

    def __init__(
        self,
        model: language_model.XlmModel,
        streams: Sequence[MaskedSource],
        pairs: Sequence[MaskedSource] = (),
        judged: Sequence[str] = (),
        exponent: float = BATCH_EXPONENT,
    ) -> None:
        super().__init__()
        self.model = model
        self._judged = judged or [source.name for source in streams]
        self._reported = judged or [source.name for source in (*streams, *pairs)]
        self._kinds = [kind for kind in (streams, pairs) if kind]
        self._by_name, self._exponent = {source.name: source for source in (*streams, *pairs)}, exponent
        self._numbers = Consecutive({name: source.examples for name, source in self._by_name.items()})
        self.examples = len(self._numbers)

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """One batch for every `size` examples of the order (n,): streams, alternating with pairs if any.

        Each batch is from one source, sampled by its share p^a / sum p^a of the examples of its kind.
        """
        count = max(1, len(order) // size)
        sizes = [{source.name: source.examples for source in kind} for kind in self._kinds]
        drawn = [draw_languages(language_shares(one, self._exponent), count, generator) for one in sizes]
        endless = {name: source.batches(size, generator) for name, source in self._by_name.items()}
        names = [drawn[turn % len(drawn)][turn] for turn in range(count)]
        return self._numbers.batches(names, endless)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of a batch (b,) of one source."""
        name, own = self._numbers.source(rows)
        source = self._by_name[name]
        return self.model.loss(source.batch(source.training[own], generator))

    def held_out(self) -> HeldOutScore:
        """100 / the mean perplexity of held-out pieces over all judged sources."""
        found = self._predicted(self._judged).values()
        score = 100 * len(found) / sum(part.perplexity for part in found)
        return HeldOutScore(sum(part.targets for part in self.predictions().values()), score)

    def predictions(self) -> dict[str, Predicted]:
        """The counts of correct predictions of held-out pieces by source: the judged ones if named.

        The mask is the same at every call.
        """
        return self._predicted(self._reported)

    def _predicted(self, names: Sequence[str]) -> dict[str, Predicted]:
        self.model.eval()
        device, found = str(self.model.bias.device), {}
        for number, (name, source) in enumerate(self._by_name.items()):
            if name in names:
                generator = generator_for(0, number, device=device)
                parts = torch.split(source.held_out, EXAMPLES_IN_BATCH)
                batches = (source.batch(rows, generator) for rows in parts)
                found[name] = sum(map(self.model.predict, batches), Predicted())
        return found


XLM = System(
    "xlm", PRESETS, ("text",), train_xlm, language_model.network_of, uses=("parallel",), several=True
)
