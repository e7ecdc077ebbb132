"""Pieces: sentences of several languages as ids of word pieces, in one vocabulary that they share.

Byte-pair encoding (Sennrich et al., 2016) by the `tokenizers` library, which this module alone of the
sentences uses. Case is kept. A piece that begins a word begins with "▁"; signs are pieces of their own. What
no sentence had when the pieces were learned becomes <unk>.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader, Reading, blocks
from muse.errors import BadFile, BadSetting, MissingExtra
from muse.installation import install_extra
from muse.systems.sampling import PIECES_EXPONENT, balanced_text

SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>", "<mask>")
PAD, UNK, BOS, EOS, MASK = range(len(SPECIALS))
BEGINS = "▁"  # before the first piece of a word
CHARACTERS = 6000  # the most characters that are pieces: thousands are enough for Chinese


class Pieces(Reader):
    """The pieces of a vocabulary and how words fall into them; the first ids are those of SPECIALS."""

    def __init__(self, tokenizer: Any) -> None:
        # Where a sentence says <mask>, that is text.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer

    @classmethod
    def learned(
        cls,
        texts: Mapping[str, Sequence[str]],
        size: int,
        generator: torch.Generator,
        exponent: float = PIECES_EXPONENT,
    ) -> Pieces:
        """Those of the sentences of each language, at most `size` of them, special ones included.

        Languages count by p^a / sum p^a, a = `exponent`: see sampling. MissingExtra without tokenizers.
        """
        library = _require()
        if size <= len(SPECIALS):
            raise BadSetting(f"a vocabulary of pieces must have more than {len(SPECIALS)}, got {size}")
        tokenizer = _untrained(library)
        trainer = library.trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=list(SPECIALS),
            limit_alphabet=min(CHARACTERS, size - len(SPECIALS)),
            show_progress=False,
        )
        tokenizer.train_from_iterator(balanced_text(texts, exponent, generator), trainer)
        return cls(tokenizer)

    @classmethod
    def from_json(cls, text: str) -> Pieces:
        """Those that `to_json` wrote; BadFile for anything else, MissingExtra without tokenizers."""
        library = _require()
        try:
            pieces = cls(library.Tokenizer.from_str(text))
        except Exception as error:  # noqa: BLE001  # the library raises no narrower one
            raise BadFile(f"word pieces must be JSON of tokenizers, got none: {error}") from None
        if pieces.tokens[: len(SPECIALS)] != SPECIALS:
            found = ", ".join(pieces.tokens[: len(SPECIALS)])
            raise BadFile(f"word pieces must begin with {', '.join(SPECIALS)}, found {found}")
        return pieces

    def to_json(self) -> str:
        """All of them, as a JSON text."""
        return str(self._tokenizer.to_str())

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    @property
    def tokens(self) -> tuple[str, ...]:
        """The pieces, by their ids."""
        ids: dict[str, int] = self._tokenizer.get_vocab()
        return tuple(sorted(ids, key=ids.__getitem__))

    def encode(self, sentences: Iterable[str]) -> list[list[int]]:
        """The ids of the pieces of each sentence, <unk> among them."""
        found: list[list[int]] = []
        for block in blocks(sentences):  # what the library returns for each piece takes much more than its id
            found += [encoding.ids for encoding in self._tokenizer.encode_batch(block)]
        return found

    def read(self, sentences: Iterable[str]) -> Reading:
        """The known pieces of the sentences, of any language, in order."""
        return Reading(Ragged.of(self.encode(sentences))).without(UNK)

    def decode(self, ids: Sequence[int]) -> str:
        """The sentence of these ids, special ones left out: what was encoded, in NFC, with single spaces."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))


def _untrained(library: Any) -> Any:
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
