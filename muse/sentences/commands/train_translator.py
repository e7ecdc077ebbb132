"""muse train-translator: a translation model, learned from text that need not be parallel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from muse.commands.command import command
from muse.commands.outputs import Report
from muse.options import OneSpace, option
from muse.sentences.commands.encoders import by_language
from muse.sentences.commands.train import TrainingOptions, changed_settings, run_training, trainer_settings

if TYPE_CHECKING:
    from muse.sentences.systems.system import TrainingRequest


def _initial(part: str) -> Any:
    return option(
        "space", section="Learning", metavar="random|space|FOLDER",
        help=f"Initial {part}: random, the vectors of the space, or a saved xlm.",
    )  # fmt: skip


class TranslatorOptions(OneSpace, TrainingOptions):
    text: tuple[str, ...] = option(
        section="Input", metavar="LANG=FILE",
        help="Text in a language, a sentence on each line; repeat it for the pivot and each other language.",
    )  # fmt: skip
    parallel: tuple[str, ...] = option(
        (), section="Input", metavar="LANG=FILE",
        help="Parallel text to learn from too, pivot<TAB>sentence on each line; may be repeated.",
    )  # fmt: skip
    encoder: str = _initial("encoder")
    decoder: str = _initial("decoder")
    out: Path = option(section="Output", metavar="FOLDER", written=True, help="Folder for the model.")
    batch: int | None = option(
        None, section="Advanced", least=1,
        help="Number of sentences of each language in a batch.  [default: the preset's]",
    )  # fmt: skip


@command(
    "muse train-translator SPACE --text fr=a.fr --text en=b.en --out models/fr-en",
    "muse train-translator SPACE --text fr=a.fr --text en=b.en --encoder encoders/xlm --out models/x",
)
def train_translator(options: TranslatorOptions) -> Report | None:
    """Train a translation model without parallel text.

    It translates between the languages of a SPACE that --text names. An encoder and a decoder learn to
    restore sentences from noise, and to translate back what they have translated themselves. Part of the text
    is held out: how well it is predicted from the model's own translation of it decides when training stops
    and which epoch is kept. Use the model with muse translate --model.
    """
    return run_training(lambda: _request(options), "translator", options)


def _request(options: TranslatorOptions) -> TrainingRequest:
    from muse.sentences.systems.system import TrainingRequest
    from muse.space import load_space

    space = load_space(options.space)
    texts = dict(by_language(options.text, "--text"))
    pairs = dict(by_language(options.parallel, "--parallel"))
    language = next((name for name in texts if name != space.pivot), space.pivot)
    own = pairs.pop(language, None)
    return TrainingRequest(
        space, language, options.out, options.preset, () if own is None else (own,), pairs, texts=texts,
        settings=changed_settings(options.set),
        config={"encoder": options.encoder, "decoder": options.decoder},
        trainer=trainer_settings(options), seed=options.seed, resume=options.resume,
    )  # fmt: skip
