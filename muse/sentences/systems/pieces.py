"""Pieces: sentences in several languages as ids of word pieces from one shared vocabulary.

Byte-pair encoding (Sennrich et al., 2016) with the `tokenizers` library. Case is kept. The first piece of a
word begins with "▁"; punctuation marks are separate pieces. Characters unseen in training become <unk>.

The rows of pieces can be initialised from the words of a space, and words have rows made of their pieces.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from muse.errors import BadSetting, MissingExtra
from muse.installation import install_extra
from muse.normalise import Normalisation
from muse.orthography import is_punctuation
from muse.procrustes import eigenpairs, gram
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import PIECE, Limited, Reader, Reading, blocks
from muse.sentences.systems.networks.transformer import initial_deviation
from muse.sentences.training.pairs import PIECES_EXPONENT, balanced_text
from muse.space import Side, Space
from muse.space.lookup_table import lookup_table

SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>", "<mask>")
PAD, UNK, BOS, EOS, MASK = range(len(SPECIALS))
BEGINS = "▁"  # before the first piece of a word
MOST_CHARACTERS = 6000  # the maximum number of single characters among the pieces, enough for Chinese
INITIAL = ("aligned", "random")  # initialisations of the rows of pieces: by the space, or at random
WORDS_IN_BATCH = 10_000  # words embedded at once
Embed = Callable[[Tensor], Tensor]  # from ids (t,) to their rows (t, h)


class Pieces(Reader):
    """A vocabulary of word pieces and its tokenizer; SPECIALS have the first ids."""

    def __init__(self, tokenizer: Any) -> None:
        # A literal <mask> in a sentence is text, not a special token.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer

    @classmethod
    def learned(
        cls,
        texts: Mapping[str, Sequence[str]],
        size: int,
        generator: torch.Generator,
        exponent: float = PIECES_EXPONENT,
    ) -> "Pieces":
        """At most `size` pieces, special ones included, learned from the sentences of each language.

        Languages are weighted by p^a / sum p^a, a = `exponent` (see training.pairs). Needs tokenizers.
        """
        library, tokenizer = _require(), _without_pieces()
        lines = list(balanced_text(texts, exponent, generator))
        alphabet = _alphabet(map(tokenizer.normalizer.normalize_str, lines), size - len(SPECIALS))
        trainer = library.trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=list(SPECIALS),
            initial_alphabet=alphabet,
            limit_alphabet=len(alphabet),
            show_progress=False,
        )
        tokenizer.train_from_iterator(lines, trainer)
        return cls(tokenizer)

    @classmethod
    def from_json(cls, text: str) -> "Pieces":
        """The pieces that `to_json` wrote; BadSetting for anything else, MissingExtra without tokenizers.

        Only the pieces and their merges may differ from what is written here: other steps can grow a word
        until the process aborts, or draw pieces at random.
        """
        library, empty = _require(), _without_pieces()
        empty.add_special_tokens([*SPECIALS])
        try:
            given, own = json.loads(text), json.loads(empty.to_str())
            own["model"] |= {name: given["model"][name] for name in ("vocab", "merges")}
            if given != own:
                raise ValueError("other steps than those of muse")
            pieces = cls(library.Tokenizer.from_str(json.dumps(own)))
        except BaseException as error:
            if not is_failure(error):
                raise
            raise BadSetting(f"word pieces must be JSON written by tokenizers ({error})") from None
        if pieces.tokens[: len(SPECIALS)] != SPECIALS:
            found = ", ".join(pieces.tokens[: len(SPECIALS)])
            raise BadSetting(f"word pieces must begin with {', '.join(SPECIALS)}, found {found}")
        numbers = sorted(pieces._tokenizer.get_vocab().values())
        if numbers != list(range(len(numbers))):  # each is a row of a table
            raise BadSetting(
                f"word pieces must be numbered from 0 to {len(numbers) - 1}, found {numbers[-1]}; train the "
                "encoder again"
            )
        return pieces

    def to_json(self) -> str:
        """The vocabulary and tokenizer as JSON text."""
        return str(self._tokenizer.to_str())

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def id_of(self, piece: str) -> int | None:
        """The id of a piece; None if the vocabulary lacks it."""
        found: int | None = self._tokenizer.token_to_id(piece)
        return found

    @property
    def tokens(self) -> tuple[str, ...]:
        """The pieces in the order of their ids."""
        ids: dict[str, int] = self._tokenizer.get_vocab()
        return tuple(sorted(ids, key=ids.__getitem__))

    @property
    def punctuation(self) -> Tensor:
        """Whether each piece (v,) has only punctuation marks, or only the mark that begins a word."""
        written = (token.removeprefix(BEGINS) for token in self.tokens)
        return torch.tensor([all(map(is_punctuation, token)) for token in written])

    def encode(self, sentences: Iterable[str]) -> list[list[int]]:
        """The ids of the pieces of each sentence, <unk> among them."""
        found: list[list[int]] = []
        for block in blocks(sentences):  # in blocks, since the library returns large objects for each piece
            found += [encoding.ids for encoding in self._tokenizer.encode_batch(block)]
        return found

    def read(self, sentences: Iterable[str]) -> Reading:
        """The known pieces of the sentences, in any language, in order."""
        found = Ragged.of(self.encode(sentences))
        # The mark of the start of an unknown word says nothing. No sentence begins with <unk> without one.
        marks = (found.ids == self.id_of(BEGINS)) & (found.ids.roll(-1) == UNK)
        return Reading(found.keep(~marks), int((~marks).sum()), unit=PIECE).without(UNK)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of these ids without special ones: the encoded sentence in NFC, with single spaces."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))


class PieceReader(Reader):
    """Reads a sentence as the ids of its known pieces between <bos> and <eos>.

    A sentence without a known piece has no ids; a long one is cut.
    """

    def __init__(self, pieces: Pieces, longest: int) -> None:
        self._pieces = Limited(pieces, longest - 2)

    def read(self, sentences: Iterable[str]) -> Reading:
        """The pieces of the sentences, in order."""
        reading = self._pieces.read(sentences)
        return replace(reading, sentences=reading.sentences.framed(BOS, EOS))


def aligned_rows(pieces: Pieces, languages: Sequence[str], space: Space, hidden: int, seed: int) -> Tensor:
    """The rows (v, h) of pieces, from the words that they are or are part of, as in `muse export`.

    More than h dimensions are reduced to the h principal ones; fewer are padded with zeros. The rows are
    scaled to the spread of random rows.
    """
    sides = [space.vectors(language) for language in languages]
    rng = np.random.default_rng(seed)
    found = lookup_table(sides, pieces.tokens, specials=SPECIALS, fallback="mean", rng=rng)
    rows = principal(torch.from_numpy(found.weight), hidden)
    return rows * (initial_deviation(hidden) / rows.square().mean().sqrt())


def principal(rows: Tensor, hidden: int) -> Tensor:
    """The rows (v, h) whose inner products best match those of rows (v, d) (Eckart and Young, 1936)."""
    d = rows.shape[1]
    if d <= hidden:
        return functional.pad(rows, (0, hidden - d))
    return rows @ eigenpairs(gram(rows))[1][:, :hidden].to(rows)


@torch.no_grad()
def word_rows(pieces: Pieces, words: Sequence[str], embed: Embed) -> Tensor:
    """The rows (n, h) of words: the mean embeddings of their pieces."""
    parts = [embed(torch.zeros(0, dtype=torch.long)).cpu()]  # (0, h)
    for begin in range(0, len(words), WORDS_IN_BATCH):
        found = pieces.encode(words[begin : begin + WORDS_IN_BATCH])
        # A word without pieces, such as one of spaces alone, gets the row of <unk>.
        ids = Ragged.of([word or [UNK] for word in found])
        owners = torch.arange(len(ids)).repeat_interleave(ids.lengths)
        rows = embed(ids.ids).cpu()
        sums = torch.zeros(len(ids), rows.shape[1]).index_add_(0, owners, rows)
        parts.append(sums / ids.lengths[:, None])
    return torch.cat(parts)


def space_of_words(pieces: Pieces, languages: Sequence[str], space: Space, embed: Embed) -> Space:
    """The words of a space with unit-length rows from the embeddings of pieces, in these languages."""
    sides = {}
    for language in space.languages:
        if language in languages:
            side = space.side(language)
            rows = functional.normalize(word_rows(pieces, side.vectors.words, embed)).numpy()
            mapping = np.eye(rows.shape[1], dtype=np.float32)
            sides[language] = Side(replace(side.vectors, matrix=rows), mapping, Normalisation(("unit",), ()))
    return Space(sides, space.pivot, space.manifest)


def _alphabet(lines: Iterable[str], room: int) -> list[str]:
    """The characters that become pieces: the most frequent; of equally frequent ones the first in Unicode.

    Left to itself, the library would choose among equals differently in every process.
    """
    counts = Counter[str]()
    for line in lines:
        counts.update(BEGINS + line.replace(" ", BEGINS))
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    return ranked[: min(MOST_CHARACTERS, room)]


def is_failure(error: BaseException) -> bool:
    """Whether this error is a failure of tokenizers: an Exception, or a panic of its Rust code."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _without_pieces() -> Any:
    """A tokenizer that has all its steps, and no pieces."""
    library = _require()
    tokenizer = library.Tokenizer(library.models.BPE(unk_token=SPECIALS[UNK], fuse_unk=True))
    normalizers, pre_tokenizers = library.normalizers, library.pre_tokenizers
    spaces = normalizers.Replace(library.Regex(r"\s+"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), spaces, normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(replacement=BEGINS), pre_tokenizers.Punctuation("isolated")]
    )
    tokenizer.decoder = library.decoders.Metaspace(replacement=BEGINS)
    return tokenizer


def _require() -> Any:
    try:
        import tokenizers
    except ImportError:
        raise MissingExtra(f"word pieces need tokenizers; run {install_extra('networks')}") from None
    return tokenizers
