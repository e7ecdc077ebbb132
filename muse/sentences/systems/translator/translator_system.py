"""The translation model as a system: its presets, training and restoring, and translation of text with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from muse.errors import BadSetting, Contradiction
from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import PIECE, Reading
from muse.sentences.systems.network_encoder import open_network
from muse.sentences.systems.pieces import BOS, EOS, UNK, Pieces
from muse.sentences.systems.system import Fitted, Job, Preset, System, TrainingRequest
from muse.sentences.systems.translator import learning, seq2seq
from muse.sentences.systems.writing import LineWriter
from muse.sentences.systems.xlm.language_model import XlmNetwork
from muse.sentences.training.trainer import TrainerConfig
from muse.space import Space

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
    noise = learning.Noise(
        config.drop, config.blank, config.window, learning.word_begins(network.pieces).to(device)
    )
    learner = learning.TranslatorLearner(network, text, noise)
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
) -> tuple[learning.TrainingText, seq2seq.TranslatorNetwork]:
    """The text as pieces, and the untrained network, both on the device."""
    request, device = job.request, job.runtime.device
    lines = learning.read_texts(request, job.backbone)
    pieces = next((model.pieces for model in pretrained.values()), None) or Pieces.learned(
        lines, config.pieces, generator_for(request.seed, *TrainingStream.PIECES)
    )
    drawn = generator_for(request.seed, *TrainingStream.CHOICE)
    texts = {
        name: learning.monolingual(name, part, pieces, config.longest, drawn) for name, part in lines.items()
    }
    ends = {name: torch.full((len(text.sentences),), EOS) for name, text in texts.items()}
    counts = {
        name: torch.cat([text.sentences.ids, ends[name]]).bincount(minlength=len(pieces))
        for name, text in texts.items()
    }
    network = seq2seq.untrained_translator(config, pieces, counts, request.space, pretrained, request.seed)
    text = learning.TrainingText(request.space.pivot, texts)
    if config.words:
        made = {
            way: learning.WordByWord(texts, way, pieces, request.space, config.longest)
            for way in text.directions
        }
        text = replace(text, by_words=made)
    if request.parallel_files:
        pairs = job.parallel(network.reader).pairs
        for name, part in pairs.items():
            network.also_written_with(text.pivot, part.pivot.ids)
            network.also_written_with(name, part.other.ids)
        text = replace(text, pairs=pairs)
    moved = {name: part.to(device) for name, part in texts.items()}
    return replace(text, texts=moved), network.to(device)


def _counts(network: seq2seq.TranslatorNetwork, text: learning.TrainingText) -> dict[str, int]:
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
