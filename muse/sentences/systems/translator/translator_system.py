"""The translation model as a system: its presets, how it learns, training and restoring, and what it writes.

It learns by denoising, by back-translation, and by translation where there is parallel text: Lample et al.
(2018, Phrase-Based & Neural Unsupervised Machine Translation, section 3), as Conneau (2019, section 4.3.4)
trains a pretrained Transformer. Noise leaves out, hides and moves words, and the model learns to restore the
sentence (Lample et al., 2018, Unsupervised Machine Translation Using Monolingual Corpora Only, section 2.3).
In the first steps text can be translated word by word in the space instead of by the model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from muse.errors import BadSetting, Contradiction, Mismatch
from muse.orthography import is_punctuation
from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import PIECE, Reading
from muse.sentences.files.sentence_text import read_sentences
from muse.sentences.systems.backbone import Backbone, warn_of_another_language
from muse.sentences.systems.network_encoder import open_network
from muse.sentences.systems.pieces import BEGINS, BOS, EOS, MASK, SPECIALS, UNK, Pieces
from muse.sentences.systems.system import Fitted, Job, Preset, System, TrainingRequest
from muse.sentences.systems.translator import seq2seq
from muse.sentences.systems.writing import LineWriter
from muse.sentences.systems.xlm.language_model import XlmNetwork
from muse.sentences.training.pairs import Pairs, hold_out
from muse.sentences.training.trainer import HeldOutScore, Learner, TrainerConfig
from muse.space import Space
from muse.text.language_model import learn_language_model
from muse.text.tokens import Tokeniser
from muse.translate.text import Translator

FEWEST_SENTENCES = 20  # in a language
SENTENCES_TRIED = 100  # sentences that are translated word by word before training
Direction = tuple[str, str]  # from, to
Example = tuple[Ragged, Ragged, Direction]  # source and target, framed
SENTENCES_IN_BATCH = 50  # held-out sentences in a batch
BATCHES_SORTED = 50  # batches that are sorted by length together


@dataclass(frozen=True, eq=False)
class TrainingText:
    """The text of each language, pairs with the pivot by language, and translations word by word.

    `by_words` has the sentences of the first language of a direction in the second.
    """

    pivot: str
    texts: "Mapping[str, Monolingual]"
    pairs: Mapping[str, Pairs] = field(default_factory=dict)
    by_words: "Mapping[Direction, WordByWord]" = field(default_factory=dict)

    @property
    def directions(self) -> list[Direction]:
        """The directions from and to the pivot."""
        others = [language for language in self.texts if language != self.pivot]
        return [way for other in others for way in ((self.pivot, other), (other, self.pivot))]


class TranslatorLearner(Learner):
    """Learns to restore a batch of each language from noise, and to translate one in each direction.

    The source of a translation is the model's own translation of the target text, made with the parameters of
    this step: back-translation. The score is the share of the pieces of held-out text that the
    model predicts from its own translation of them or, with parallel text, from the true one, in percent.
    """

    def __init__(self, network: seq2seq.TranslatorNetwork, text: TrainingText, noise: "Noise") -> None:
        super().__init__()
        self.network = network
        self._text, self._noise, self._step = text, noise, 0
        self.examples = max(len(part.training) for part in text.texts.values())
        self.metric = "accuracy" if text.pairs else "round-trip accuracy"

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """Batches of similar lengths: of every 50 batches of the order (n,), sorted, in a random order."""
        found: list[Tensor] = []
        for some in torch.split(order, BATCHES_SORTED * size):
            batches = torch.split(some.sort().values, size)
            found += [batches[place] for place in torch.randperm(len(batches), generator=generator).tolist()]
        return found

    def begin(self, step: int) -> None:
        """Stores the step, since the first ones translate word by word."""
        self._step = step

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The weighted sum () of the losses; a language with less text repeats it, at the same lengths."""
        config, total = self.network.config, torch.zeros((), device=rows.device)
        chosen = {
            name: text.training[rows * len(text.training) // self.examples]
            for name, text in self._text.texts.items()
        }
        if config.denoising:
            total = total + config.denoising * self._sum(self._noisy(chosen, generator))
        if config.back_translation:
            total = total + config.back_translation * self._sum(self._translated_back(chosen))
        if config.translation and self._text.pairs:
            total = total + config.translation * self._sum(self._translations(rows, generator))
        return total

    def _sum(self, examples: Iterable[Example]) -> Tensor:
        return torch.stack([self.network.loss(*example) for example in examples]).sum()

    def _noisy(self, chosen: Mapping[str, Tensor], generator: torch.Generator) -> Iterator[Example]:
        for language, rows in chosen.items():
            batch = self._text.texts[language].sentences.take(rows)
            yield _framed(self._noise(batch, generator)), _framed(batch), (language, language)

    def _translated_back(self, chosen: Mapping[str, Tensor]) -> Iterator[Example]:
        for source, target in self._text.directions:
            rows, way = chosen[target], (target, source)
            batch = _framed(self._text.texts[target].sentences.take(rows))
            if self._step <= self.network.config.words and way in self._text.by_words:
                yield _framed(self._text.by_words[way].take(rows)), batch, (source, target)
            else:
                yield self._translated(batch, way), batch, (source, target)

    def _translations(self, rows: Tensor, generator: torch.Generator) -> Iterator[Example]:
        for language, pairs in self._text.pairs.items():
            places = torch.randint(len(pairs.training), rows.shape, generator=generator, device=rows.device)
            yield from _both_ways(pairs, pairs.training[places], self._text.pivot, language)

    def _translated(self, batch: Ragged, direction: Direction) -> Ragged:
        """The model's own translations of a batch, without dropout."""
        training = self.network.training
        self.network.eval()
        made = seq2seq.generate(self.network, batch, direction)
        self.network.train(training)
        return made

    @torch.no_grad()
    def held_out(self) -> HeldOutScore:
        """The percentage of the held-out pieces that are predicted."""
        self.network.eval()
        hits = count = 0
        for source, target, direction in self._held_out():
            scores, answers = self.network.predictions(source, target, direction)
            hits += int((scores.argmax(dim=1) == answers).sum())
            count += len(answers)
        return HeldOutScore.of(hits, count)

    def _held_out(self) -> Iterator[Example]:
        for language, pairs in self._text.pairs.items():
            for rows in torch.split(pairs.held_out, SENTENCES_IN_BATCH):
                yield from _both_ways(pairs, rows, self._text.pivot, language)
        if self._text.pairs:
            return
        for source, target in self._text.directions:
            text = self._text.texts[target]
            for rows in torch.split(text.held_out, SENTENCES_IN_BATCH):
                batch = _framed(text.sentences.take(rows))
                yield self._translated(batch, (target, source)), batch, (source, target)


def _framed(sentences: Ragged) -> Ragged:
    return sentences.framed(BOS, EOS)


def _both_ways(pairs: Pairs, rows: Tensor, pivot: str, language: str) -> Iterator[Example]:
    """The pairs with these indices (b,) as source and target, in both directions."""
    ours, theirs = pairs.pivot.take(rows), pairs.other.take(rows)
    yield ours, theirs, (pivot, language)
    yield theirs, ours, (language, pivot)


@dataclass(frozen=True, eq=False)
class Noise:
    """The shares of words to leave out and to hide, how far words move, and the pieces that start a word.

    `begins` (v,) is True for such pieces.
    """

    drop: float
    blank: float
    window: int
    begins: Tensor

    def __call__(self, sentences: Ragged, generator: torch.Generator) -> Ragged:
        """The sentences with noise; each of at least one piece keeps one.

        Word i moves to its place in the order of i + u, with u uniform from 0 to `window` + 1: it moves by at
        most `window` places (Lample et al., 2018, section 2.3).
        """
        if not len(sentences.ids):
            return sentences
        device = sentences.ids.device
        rows = torch.arange(len(sentences), device=device)
        owners = torch.repeat_interleave(rows, sentences.lengths)  # (t,)
        starts = self.begins[sentences.ids] | (owners.diff(prepend=owners.new_full((1,), -1)) != 0)
        words = starts.long().cumsum(0) - 1  # (t,), numbered over all sentences
        drawn = torch.rand(3, int(words[-1]) + 1, generator=generator, device=device)[:, words]  # (3, t)
        ids = sentences.ids.where(drawn[1] >= self.blank, MASK)
        keys = words + (self.window + 1) * drawn[2]
        order = keys.argsort(stable=True)  # (t,) by sentence, and in it by key; equal keys stay in order
        order = order[owners[order].argsort(stable=True)]
        kept = drawn[0] >= self.drop
        lost = (sentences.keep(kept).lengths == 0) & (sentences.lengths > 0)  # (b,)
        kept[sentences.offsets[:-1][lost]] = True
        return Ragged(ids[order], sentences.offsets).keep(kept[order])


def word_begins(pieces: Pieces) -> Tensor:
    """Whether each piece (v,) begins a word: those that carry the mark, and punctuation."""
    tokens = pieces.tokens
    inside = [not (token.startswith(BEGINS) or is_punctuation(token[0])) for token in tokens]
    return ~torch.tensor(inside) | (torch.arange(len(tokens)) < len(SPECIALS))


@dataclass(frozen=True, eq=False)
class Monolingual:
    """The sentences of one language, and the indices of the training (n,) and the held-out ones.

    The training ones stand in the order of their lengths. `left_out` sentences were too long.
    """

    sentences: Ragged
    training: Tensor
    held_out: Tensor
    left_out: int

    def to(self, device: str) -> "Monolingual":
        """A copy on another device."""
        training, held_out = self.training.to(device), self.held_out.to(device)
        return Monolingual(self.sentences.to(device), training, held_out, self.left_out)


def read_texts(request: TrainingRequest, backbone: Backbone) -> dict[str, list[str]]:
    """The different sentences of each language; warns of a text that seems to be in another language."""
    found = {}
    for language, path in request.texts.items():
        text = list(dict.fromkeys(line for line in read_sentences(path) if line.strip()))
        if len(text) < FEWEST_SENTENCES:
            raise Mismatch(
                f"{path}: training needs at least {FEWEST_SENTENCES} different sentences of {language}, got "
                f"{len(text)}; give more text"
            )
        found[language] = text
        warn_of_another_language(text, language, path, backbone, request.space)
    return found


def monolingual(
    language: str, text: Sequence[str], pieces: Pieces, longest: int, generator: torch.Generator
) -> Monolingual:
    """The sentences of a language of at most `longest` pieces, some drawn at random and held out.

    The training sentences are sorted by length, those of one length in a random order.
    """
    encoded = [ids for ids in pieces.encode(text) if 0 < len(ids) <= longest]
    if len(encoded) < FEWEST_SENTENCES:
        raise Mismatch(
            f"training needs at least {FEWEST_SENTENCES} sentences of {language} with at most "
            f"{longest} pieces, got {len(encoded)} of {len(text)}; give shorter sentences, or --set longest=N"
        )
    sentences, (training, held_out) = Ragged.of(encoded), hold_out(len(encoded), generator)
    by_length = training[sentences.lengths[training].argsort(stable=True)]
    return Monolingual(sentences, by_length, held_out, len(text) - len(encoded))


class WordByWord:
    """The sentences of the first language of a direction, translated word by word into the second.

    A language model of the second language's text chooses between the translations of a word. A sentence
    is translated when it is first needed.
    """

    def __init__(
        self,
        texts: Mapping[str, Monolingual],
        direction: Direction,
        pieces: Pieces,
        space: Space,
        longest: int,
    ) -> None:
        source, target = direction
        tokeniser = Tokeniser(target)
        lines = map(pieces.decode, _parts(texts[target]))
        spoken = [[token.lower() for token in tokeniser.tokens(line)] for line in lines]
        model = learn_language_model(spoken)
        self._translator = Translator(space, source=source, target=target, model=model)
        self._own, self._pieces, self._longest = _parts(texts[source]), pieces, longest
        self._made: dict[int, list[int]] = {}
        # A text in another script is refused here.
        self.take(torch.arange(min(SENTENCES_TRIED, len(self._own))))

    def take(self, rows: Tensor) -> Ragged:
        """The translations of the sentences with these indices (b,), as pieces; none is empty."""
        chosen = rows.tolist()
        missing = [row for row in dict.fromkeys(chosen) if row not in self._made]
        lines = self._translator.translate([self._pieces.decode(self._own[row]) for row in missing])
        for row, ids in zip(missing, self._pieces.encode(lines), strict=True):
            self._made[row] = ids[: self._longest] or self._own[row]
        return Ragged.of([self._made[row] for row in chosen]).to(str(rows.device))


def _parts(text: Monolingual) -> list[list[int]]:
    ids = text.sentences
    return [part.tolist() for part in torch.split(ids.ids, ids.lengths.tolist())]


PRESETS = {
    "small": Preset(
        seq2seq.TranslatorConfig(),
        TrainerConfig(epochs=20, batch=32, rate=1e-3, patience=5, clip=5.0, steps=200),
    ),
    # XLM's model for unsupervised translation (section 5.1): 6 layers, 1,024 wide, 60,000 pieces.
    "paper": Preset(
        seq2seq.TranslatorConfig(pieces=60_000, layers=6, heads=8, hidden=1_024, longest=100, warmup=4_000),
        TrainerConfig(
            epochs=200, batch=32, rate=1e-4, patience=10, clip=5.0, precision="bf16", steps=1_000, beta2=0.98
        ),
    ),
}


def train_translator(job: Job) -> Fitted:
    """A model of the languages of --text, trained without parallel text or with some."""
    request = job.request
    check_request(job.config, request)
    pretrained = seq2seq.open_pretrained(job.config, request.space)
    config = seq2seq.sized_by(pretrained, job.config, {*request.settings, *request.config})
    text, network = _prepared(job, config, pretrained)
    device = job.runtime.device
    noise = Noise(config.drop, config.blank, config.window, word_begins(network.pieces).to(device))
    learner = TranslatorLearner(network, text, noise)
    epochs = job.train(learner, job.trainer.with_warmup(config.warmup))
    begins = {"encoder": config.encoder, "decoder": config.decoder}
    begins |= {part: model.config.objective for part, model in pretrained.items()}
    begins |= {"attention": seq2seq.ORDERED} if config.attention == seq2seq.ORDERED else {}
    settings = {"network": asdict(config), "languages": network.languages}
    settings["pieces"] = network.pieces.to_json()
    label, scored = f"translator[{','.join(begins.values())}]", tuple(request.parallel_files)
    counts = _counts(network, text)
    return job.fitted(learner, epochs, network, label, settings, counts, scored)


def check_request(config: seq2seq.TranslatorConfig, request: TrainingRequest) -> None:
    """Raise BadSetting unless there are texts of the pivot and another language, and a loss has a weight."""
    pivot = request.space.pivot
    if pivot not in request.texts or len(request.texts) < 2:
        raise BadSetting(
            f"a translation model needs text of {pivot}, the pivot, and of another language, got "
            f"{', '.join(request.texts)}; give --text LANG=FILE for each"
        )
    for language in request.parallel_files:
        if language not in request.texts:
            raise Contradiction(f"--parallel of {language} needs its text; give --text {language}=FILE")
    of_pairs = config.translation if request.parallel_files else 0.0
    if not (config.denoising or config.back_translation or of_pairs):
        raise BadSetting(
            "denoising, back_translation or, with --parallel, translation must be above 0, got 0 for each"
        )


def _prepared(
    job: Job, config: seq2seq.TranslatorConfig, pretrained: Mapping[str, XlmNetwork]
) -> tuple[TrainingText, seq2seq.TranslatorNetwork]:
    """The text as pieces, and the untrained network, both on the device."""
    request, device = job.request, job.runtime.device
    lines = read_texts(request, job.backbone)
    pieces = next((model.pieces for model in pretrained.values()), None) or Pieces.learned(
        lines, config.pieces, generator_for(request.seed, *TrainingStream.PIECES)
    )
    drawn = generator_for(request.seed, *TrainingStream.CHOICE)
    texts = {name: monolingual(name, part, pieces, config.longest, drawn) for name, part in lines.items()}
    ends = {name: torch.full((len(text.sentences),), EOS) for name, text in texts.items()}
    counts = {
        name: torch.cat([text.sentences.ids, ends[name]]).bincount(minlength=len(pieces))
        for name, text in texts.items()
    }
    network = seq2seq.untrained_translator(config, pieces, counts, request.space, pretrained, request.seed)
    text = TrainingText(request.space.pivot, texts)
    if config.words:
        made = {way: WordByWord(texts, way, pieces, request.space, config.longest) for way in text.directions}
        text = replace(text, by_words=made)
    if request.parallel_files:
        pairs = job.parallel(network.reader).pairs
        for name, part in pairs.items():
            network.also_written_with(text.pivot, part.pivot.ids)
            network.also_written_with(name, part.other.ids)
        text = replace(text, pairs=pairs)
    moved = {name: part.to(device) for name, part in texts.items()}
    return replace(text, texts=moved), network.to(device)


def _counts(network: seq2seq.TranslatorNetwork, text: TrainingText) -> dict[str, int]:
    sentences = {f"sentences_{name}": len(part.training) for name, part in text.texts.items()}
    pairs = {f"pairs_{name}": len(part.training) for name, part in text.pairs.items()}
    left_out = sum(part.left_out for part in text.texts.values())
    return {"pieces": len(network.pieces), **sentences, **pairs, "left_out": left_out}


def make_translator(settings: Mapping[str, Any], _: Space | None = None) -> seq2seq.TranslatorNetwork:
    """The network of a saved model, before its parameters are restored."""
    config, pieces = seq2seq.TranslatorConfig(**settings["network"]), Pieces.from_json(settings["pieces"])
    rows = torch.zeros(len(pieces), config.hidden)
    return seq2seq.TranslatorNetwork(config, pieces, settings["languages"], (rows, rows), torch.Generator())


TRANSLATOR = System(
    "translator", PRESETS, ("text",), train_translator, make_translator, uses=("parallel",), several=True
)


class Translating(LineWriter):
    """Writes lines of the first language of `direction` in the second, with a translation model."""

    network: seq2seq.TranslatorNetwork

    def __post_init__(self) -> None:
        """Raise BadSetting if the model lacks a language, Contradiction if both are the same."""
        super().__post_init__()
        if self.direction[0] == self.direction[1]:
            raise Contradiction(f"a translation needs two languages, got {self.direction[0]} twice")
        self.network.eval()

    def read(self, sentences: Sequence[str]) -> Reading:
        """The pieces of the sentences, unknown ones marked, as in the text that it learned from."""
        return Reading.of(self.pieces.encode(sentences), PIECE).marking(UNK).cut(self.longest)

    def write(self, source: Ragged, beam: int) -> Ragged:
        """The translations of the sentences."""
        framed = source.framed(BOS, EOS).to(str(self.network.bias.device))
        made = seq2seq.generate(self.network, framed, self.direction, beam=beam)
        return made.keep((made.ids != BOS) & (made.ids != EOS))


def load_translator(folder: Path, device: str = "cpu") -> seq2seq.TranslatorNetwork:
    """The model saved in a folder; BadSetting or BadFile if the folder holds no translation model."""
    needed = "expected a model of muse train-translator"
    return open_network(folder, TRANSLATOR.name, needed, make_translator).to(device)
