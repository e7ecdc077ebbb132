"""Translation of text with a saved translation model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from muse.encoders.ragged import Ragged
from muse.encoders.reading import PIECE, Reading
from muse.errors import Contradiction
from muse.systems.lines import LineWriter, Writer, check_direction
from muse.systems.network_encoder import opened, saved_by
from muse.systems.pieces import BOS, EOS, UNK, Pieces
from muse.systems.translator.generation import generate
from muse.systems.translator.network import TranslatorNetwork
from muse.systems.translator.system import TRANSLATOR, make_translator


@dataclass(frozen=True, eq=False)
class Translating(Writer):
    """A translation model in one direction."""

    network: TranslatorNetwork
    direction: tuple[str, str]

    @property
    def pieces(self) -> Pieces:
        """The pieces of the model."""
        return self.network.pieces

    @property
    def longest(self) -> int:
        """The largest number of pieces that the model reads."""
        return self.network.config.longest

    def read(self, sentences: Sequence[str]) -> Reading:
        """The pieces of the sentences, unknown ones marked, as in the text that it learned from."""
        return Reading.of(self.pieces.encode(sentences), PIECE).marking(UNK).cut(self.longest)

    def write(self, source: Ragged, beam: int) -> Ragged:
        """The translations of the sentences."""
        framed = source.framed(BOS, EOS).to(str(self.network.bias.device))
        made = generate(self.network, framed, self.direction, beam=beam)
        return made.keep((made.ids != BOS) & (made.ids != EOS))


def model_translator(
    network: TranslatorNetwork, direction: tuple[str, str], *, beam: int = 4, batch: int = 32
) -> LineWriter:
    """What translates lines in a direction; BadSetting if the model does not.

    Contradiction for a language and itself.
    """
    check_direction(network.languages, direction)
    if direction[0] == direction[1]:
        raise Contradiction(f"a translation needs two languages, got {direction[0]} twice")
    return LineWriter(Translating(network.eval(), direction), beam=beam, batch=batch)


def load_translator(folder: Path, device: str = "cpu") -> TranslatorNetwork:
    """The model saved in a folder; BadSetting or BadFile if it holds another thing."""
    saved = saved_by(TRANSLATOR.name, folder, "expected a model of muse train-translator")
    network = opened(folder, saved, "a translation model", lambda: make_translator(saved.settings))
    return network.to(device).eval()
