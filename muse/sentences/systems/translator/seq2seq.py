"""The translation model: an encoder and a decoder of all languages, each with a table of pieces.

The decoder's table is tied to the output. Both are initialised at random, from the space, or from a language
model. With attention in order, a model translates word by word before it has learned anything: the last
dimensions, as many as one head has, hold positions alone, the others pieces; in the decoder's last layer
every head compares positions and copies pieces, whose aligned rows are close to those of their translations.
The decoder's positions are the encoder's, one further: piece i is predicted where piece i - 1 is read. Every
parameter is then learned.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadSetting
from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.systems import pieces as word_pieces
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks import transformer
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.sentences.systems.writing import Incremental, best_sequences, most_pieces
from muse.sentences.systems.xlm.language_model import XlmNetwork
from muse.sentences.systems.xlm.tuning import open_xlm
from muse.sentences.training.settings import Settings, Unused, setting
from muse.space import Space

RANDOM, SPACE = "random", "space"
ORDERED = "ordered"
NEVER_WRITTEN = [word_pieces.PAD, word_pieces.BOS, word_pieces.UNK, word_pieces.MASK]


@dataclass(frozen=True)
class TranslatorConfig(Settings):
    """The settings of a model with word pieces, and how it is trained.

    `encoder` and `decoder` are the initialisations of the parts: random, space (its lookup table has the rows
    of the aligned space), or the folder of an xlm encoder, whose pieces and sizes the model then has.
    With `attention` ordered, the model translates at once, word by word, as the space does. In the first
    `words` steps a language model of the text chooses between the translations of a word.
    """

    encoder: str = setting(
        SPACE, "begins as: random, space, or the folder of an xlm", folder_unless=(RANDOM, SPACE)
    )
    decoder: str = setting(SPACE, "the same", folder_unless=(RANDOM, SPACE))
    attention: str = setting(
        RANDOM, "to the source begins random, or ordered: word by word", choices=(RANDOM, ORDERED)
    )
    pieces: int = setting(8_000, "word pieces, which both languages share", above=len(word_pieces.SPECIALS))
    layers: int = setting(2, "Transformer layers of each part")
    heads: int = setting(4, "attention heads")
    hidden: int = setting(128, "width of the states")
    longest: int = setting(48, "pieces of a sentence", least=4)
    dropout: float = setting(0.1, "share of values left out")
    drop: float = setting(0.1, "share of words that noise leaves out", least=0, below=1)
    blank: float = setting(0.1, "share of words that noise hides", least=0, below=1)
    window: int = setting(3, "how far noise moves a word", least=0)
    denoising: float = setting(1.0, "weight of that loss", least=0)
    back_translation: float = setting(1.0, "weight of back-translation", least=0)
    translation: float = setting(1.0, "weight of parallel text", least=0, needs="parallel")
    words: int = setting(0, "first steps, which translate back word by word", least=0)
    warmup: int = setting(100, "steps until the highest rate", least=1)

    def check(self) -> None:
        """Raise BadSetting for sizes that are inconsistent, and for ordered attention without the space."""
        self.network(1, 1, memory=False)
        if self.attention == ORDERED and (self.encoder, self.decoder) != (SPACE, SPACE):
            raise BadSetting(
                f"attention=ordered needs --encoder space and --decoder space, got {self.encoder} and "
                f"{self.decoder}; leave it out, or initialise both with the space"
            )
        if self.attention == ORDERED and self.heads < 2:
            raise BadSetting(f"attention=ordered needs 2 heads or more, got {self.heads}")

    def unused(self) -> tuple[Unused | None, ...]:
        """The noise, and words translated back, where their losses have no weight."""
        return (
            None if self.denoising else Unused("drop blank window", "denoising"),
            None if self.back_translation else Unused("words", "back_translation"),
        )

    def network(self, pieces: int, languages: int, *, memory: bool) -> transformer.TransformerConfig:
        """The sizes of the encoder or, with a memory, of the decoder."""
        return transformer.TransformerConfig(
            pieces, self.layers, self.heads, self.hidden, dropout=self.dropout,
            positions=self.longest + 2, causal=memory, languages=languages, memory=memory,
        )  # fmt: skip


class TranslatorNetwork(SentenceNetwork):
    """Translates between its languages; as an encoder of sentences, the mean of the encoder's states.

    `tables` are the initial rows (v, h) of encoder and decoder, one tensor for both or two. `written`
    (languages, v) says which pieces each language may be written with.
    """

    written: Tensor

    def __init__(
        self,
        config: TranslatorConfig,
        pieces: word_pieces.Pieces,
        languages: Sequence[str],
        tables: tuple[Tensor, Tensor],
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.config, self.pieces, self.languages = config, pieces, tuple(languages)
        ours, theirs = (transformer.TokenTable(rows, config.hidden) for rows in tables)
        sizes = [config.network(len(pieces), len(self.languages), memory=memory) for memory in (False, True)]
        self.encoder = transformer.TransformerLayers(sizes[0], generator, ours)
        self.decoder = transformer.TransformerLayers(sizes[1], generator, theirs)
        self.bias = nn.Parameter(torch.zeros(len(pieces)))
        everything = torch.ones(len(self.languages), len(pieces), dtype=torch.bool)
        self.register_buffer("written", everything)
        self.dimension = config.hidden

    def reader(self, language: str) -> word_pieces.PieceReader:
        """The reader of pieces, the same for all languages."""
        return word_pieces.PieceReader(self.pieces, self.config.longest + 2)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, h) of sentences, the means of their states."""
        sentences = batch.padded()
        return masked_mean(self.memory(sentences, language).vectors, sentences.mask)

    def memory(self, sentences: Padded, language: str) -> transformer.Memory:
        """The states (b, t, h) of sentences (b, t) in a language, for the decoder."""
        ids, mask = sentences
        return transformer.Memory(
            self.encoder(transformer.Inputs(ids, mask, languages=self._number(language))), mask
        )

    def states(self, begun: Tensor, memory: transformer.Memory, language: str) -> Tensor:
        """The states (b, t, h) after each piece of translations (b, t) that begin with <bos>."""
        return self.decoder(transformer.Inputs(begun, languages=self._number(language)), memory)

    def decoding(self, memory: transformer.Memory, language: str) -> Incremental:
        """The decoder that reads translations a piece at a time, in evaluation mode alone."""
        return Incremental(self.decoder, memory, self._number(language))

    def scores(self, states: Tensor, language: str) -> Tensor:
        """The scores (..., v) of the next piece; minus infinity for those that the language does not use."""
        found = self.decoder.table.scores(states) + self.bias
        return found.masked_fill(~self.written[self.languages.index(language)], -torch.inf)

    def predictions(
        self, source: Ragged, target: Ragged, direction: tuple[str, str]
    ) -> tuple[Tensor, Tensor]:
        """The scores (p, v) of the pieces (p,) of the targets, each given those before it and the source.

        Sentences are framed by <bos> and <eos>.
        """
        memory = self.memory(source.padded(), direction[0])
        ids, mask = target.padded()
        read = self.states(ids[:, :-1], memory, direction[1])[mask[:, 1:]]  # (p, h)
        return self.scores(read, direction[1]), ids[:, 1:][mask[:, 1:]]

    def loss(self, source: Ragged, target: Ragged, direction: tuple[str, str]) -> Tensor:
        """The mean cross-entropy () of the targets' pieces, without unknown ones, which are never written."""
        scores, answers = self.predictions(source, target, direction)
        return functional.cross_entropy(scores, answers, ignore_index=word_pieces.UNK)

    def also_written_with(self, language: str, ids: Tensor) -> None:
        """Lets a language be written with these pieces (t,) too, such as pieces of parallel text."""
        found = torch.zeros_like(self.written[0])
        found[ids.to(found.device)] = True
        found[NEVER_WRITTEN] = False
        self.written[self.languages.index(language)] |= found

    def _number(self, language: str) -> Tensor:
        return torch.full((1, 1), self.languages.index(language), device=self.bias.device)


@torch.no_grad()
def generate(
    network: TranslatorNetwork, source: Ragged, direction: tuple[str, str], *, beam: int = 1
) -> Ragged:
    """The translations of sentences, framed by <bos> and <eos> like the source; see `best_sequences`."""
    limits = most_pieces(source.lengths, network.config.longest)
    vectors, mask = network.memory(source.padded(), direction[0])
    memory = transformer.Memory(
        *(part.repeat_interleave(beam, dim=0) for part in (vectors, mask) if part is not None)
    )
    decoding = network.decoding(memory, direction[1])
    found = best_sequences(decoding, lambda states: network.scores(states, direction[1]), limits, beam)
    return found.framed(word_pieces.BOS, word_pieces.EOS)


POSITIONS = 2.0  # the scale of positions relative to pieces
SHARPNESS = 2.0  # of attention, squared in the product of queries and keys
COPIED = 4.0  # the scale of copied states relative to the decoder's own
GAIN = 4.0  # of the last norm, so that rows count for more than the frequencies of pieces
BIAS = 0.2  # of the logarithms of the counts


def untrained_translator(
    config: TranslatorConfig,
    pieces: word_pieces.Pieces,
    counts: Mapping[str, Tensor],
    space: Space,
    pretrained: Mapping[str, XlmNetwork],
    seed: int,
) -> TranslatorNetwork:
    """The network before training; `counts` (v,) are the counts of pieces in the text of each language.

    The output bias is initialised with the logarithms of the counts, or copied from the decoder's model.
    """
    generator, languages = generator_for(seed, *TrainingStream.FIRST), tuple(counts)
    rows = {
        RANDOM: transformer.random_rows(
            len(pieces), config.hidden, generator_for(seed, *TrainingStream.SECOND)
        )
    }
    if SPACE in (config.encoder, config.decoder):
        rows[SPACE] = word_pieces.aligned_rows(pieces, languages, space, config.hidden, seed)
    tables = [rows.get(name, rows[RANDOM]) for name in (config.encoder, config.decoder)]
    network = TranslatorNetwork(config, pieces, languages, (tables[0], tables[1]), generator)
    table = torch.stack(list(counts.values()))  # (languages, v)
    network.written.copy_(table > 0)  # each language is written only with the pieces of its text
    network.written[:, NEVER_WRITTEN] = False
    with torch.no_grad():
        network.bias.copy_(table.sum(dim=0).clamp(min=1).log())
    for part, model in pretrained.items():
        layers = network.encoder if part == "encoder" else network.decoder
        copy_layers(model.model.transformer, layers, [_number(model, name) for name in languages])
        if part == "decoder":
            network.bias.data.copy_(model.model.bias.data)
    if config.attention == ORDERED:
        attend_in_order(network)
    return network


def _number(model: XlmNetwork, language: str) -> int:
    if language not in model.languages:
        raise BadSetting(
            f"the language models must know every language of the text, got one of "
            f"{', '.join(model.languages)} without {language}"
        )
    return model.languages.index(language)


def open_pretrained(config: TranslatorConfig, space: Space) -> dict[str, XlmNetwork]:
    """The language models of a config, by the part that each initialises; BadSetting if two do not fit."""
    models = {part: open_xlm(folder, space) for part, folder in config.folders().items()}
    if len(models) == 2 and _sizes(models["encoder"]) != _sizes(models["decoder"]):
        raise BadSetting(
            f"encoder and decoder must have models of the same pieces and sizes, got {config.encoder} "
            f"and {config.decoder}; train both on the same text with the same --seed"
        )
    return models


def _sizes(model: XlmNetwork) -> tuple[object, ...]:
    own = model.config
    return own.layers, own.heads, own.hidden, own.length, model.pieces.tokens


def sized_by(
    models: Mapping[str, XlmNetwork], config: TranslatorConfig, named: Collection[str] = ()
) -> TranslatorConfig:
    """The config with the sizes of the models; BadSetting if a setting that was `named` differs from them."""
    if not models:
        return config
    own = next(iter(models.values())).config
    sizes = {name: getattr(own, name) for name in ("pieces", "layers", "heads", "hidden")}
    sizes["longest"] = min(config.longest, own.length - 2)
    for name, needed in sizes.items():
        given = getattr(config, name)
        if name in named and given != needed:
            most = "at most " if name == "longest" else ""
            raise BadSetting(
                f"{name} must be {most}{needed}, as in the language model of the {' and '.join(models)}, "
                f"got {given}; leave it out, or train such a language model"
            )
    return replace(config, **sizes)


def copy_layers(
    model: transformer.TransformerLayers, part: transformer.TransformerLayers, languages: Sequence[int]
) -> None:
    """Gives an encoder or a decoder the parameters of a language model; attention to a memory stays as it is.

    `languages` are the numbers in the model of the part's languages.
    """
    given, own = model.state_dict(), part.state_dict()
    for name, value in given.items():
        if name == "_languages":
            own[name] = value[list(languages)]
        elif name == "_positions":
            own[name] = value[: len(own[name])]
        elif part.config.memory and ".norm2." in name:
            # In a decoder's layer the second norm belongs to the memory, the third to the feed-forward part.
            own[name.replace(".norm2.", ".norm3.")] = value
        else:
            own[name] = value
    part.load_state_dict(own)


@torch.no_grad()
def attend_in_order(network: TranslatorNetwork) -> None:
    """Sets the parameters of a network before training; encoder and decoder have rows of one space."""
    hidden, heads = network.config.hidden, network.config.heads
    of_pieces = torch.arange(hidden) < hidden - hidden // heads  # (h,)
    encoder, decoder = (part.state_dict() for part in (network.encoder, network.decoder))  # not copies
    for part in (encoder, decoder):
        rows = part["table._rows"]  # (v, h)
        spread = float(rows.square().mean().sqrt())
        rows[:, ~of_pieces] = 0.0
        rows *= spread / float(rows[:, of_pieces].square().mean().sqrt())
        part["_positions"][:, of_pieces] = 0.0
        part["_languages"].zero_()
    encoder["_positions"] *= POSITIONS
    decoder["_positions"][:-1] = encoder["_positions"][1:]
    positions = torch.eye(hidden)[~of_pieces].repeat(heads, 1)  # (h, h), the same for every head
    copied = torch.diag(of_pieces.float())
    layer = network.decoder.layers[-1]
    layer.multihead_attn.in_proj_weight.copy_(
        torch.cat([SHARPNESS * positions, SHARPNESS * positions, copied])
    )
    layer.multihead_attn.out_proj.weight.copy_(COPIED * torch.eye(hidden))
    layer.norm3.weight.fill_(GAIN)
    network.bias.mul_(BIAS)
