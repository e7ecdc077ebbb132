"""Text: translated word by word, with or without a language model to choose among translations.

Punctuation, numbers and capitals are kept; a word without a vector is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from muse.errors import BadSetting
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.space.new_words import NewWords
from muse.text.language_model import LanguageModel
from muse.text.tokens import Tokeniser
from muse.translate.beam import Options, best_path
from muse.translate.script import check_script
from muse.translate.surface import (
    elide,
    forms,
    has_name_capital,
    in_text,
    is_all_caps,
    is_always_capital,
    with_capitals,
)
from muse.translate.words import Translation, rows_of

CACHED = 200_000  # words whose translations are cached: about 300 MB
HYPHEN = "@-@"  # Moses' token for a hyphen between two tokens
ENDS = frozenset(".!?…")  # tokens after which a sentence begins
_COPIED = np.zeros(1, np.float32)  # the score of a token that is copied


@dataclass(frozen=True)
class TextConfig:
    """How text is translated.

    With a language model, `top` translations of a word are compared and `beam` sentences kept; a nat of the
    model counts as much as `weight` points of CSLS (default from benchmarks/translation.py --tune).
    `alternatives` keeps the `top` translations of a word even without a model, for `Translator.choices`.
    """

    retrieval: Retrieval = Retrieval()
    top: int = 10
    beam: int = 10
    weight: float = 0.06
    alternatives: bool = False

    def __post_init__(self) -> None:
        for name, value in (("--top", self.top), ("--beam", self.beam)):
            if value < 1:
                raise BadSetting(f"{name} must be at least 1, got {value}")
        if not 0 <= self.weight < float("inf"):
            raise BadSetting(f"--lm-weight must be a finite number, at least 0, got {self.weight}")


class Piece(NamedTuple):
    """A token of a line, or a part of one, and the vocabulary word for it; None if it is copied.

    `first` is true at the start of a sentence.
    """

    token: str
    word: str | None
    first: bool = False


class Choice(NamedTuple):
    """A token of a line, or a part of one, with its translations, best first; none if it is copied."""

    token: str
    options: list[Translation]


@dataclass
class WordCounts:
    """The number of words so far, and of those that were copied: names, and words without a vector."""

    words: int = 0
    copied: int = 0


class Translator:
    """Translates lines of one language into another; caches the translations of words."""

    def __init__(
        self,
        space: AlignedSpace,
        *,
        source: str | None = None,
        target: str | None = None,
        model: LanguageModel | None = None,
        new_words: NewWords | None = None,
        config: TextConfig | None = None,
    ) -> None:
        self.source, self.target = space.direction(source, target)
        self.counts = WordCounts()
        self._space, self._model, self._new_words = space, model, new_words
        self.config = config or TextConfig()
        self._tokeniser, self._joiner = Tokeniser(self.source), Tokeniser(self.target)
        self._options: dict[str, Options] = {}
        self._script_is_known = False

    def translate(self, lines: Sequence[str]) -> list[str]:
        """The translated lines; BadSetting if the first ones are in another script."""
        if not self._script_is_known:
            check_script(lines, self._space.vectors(self.source))
            self._script_is_known = any(map(str.strip, lines))
        pieces = [self._pieces(self._tokeniser.tokens(line)) for line in lines]
        self._look_up(piece.word for line in pieces for piece in line if piece.word is not None)
        return [self._line(line) for line in pieces]

    def choices(self, line: str) -> list[Choice]:
        """The tokens of a line, each with its alternative translations, capitalised as required."""
        pieces = self._pieces(self._tokeniser.tokens(line))
        self._look_up(piece.word for piece in pieces if piece.word is not None)
        all_caps = is_all_caps([piece.token for piece in pieces])
        return [
            Choice("-" if piece.token == HYPHEN else piece.token, self._written(piece, all_caps))
            for piece in pieces
        ]

    def _written(self, piece: Piece, all_caps: bool) -> list[Translation]:
        if piece.word is None:
            return []
        options = self._options[piece.word]
        words = [self._cased(word, piece, all_caps) for word in options.words]
        return list(dict(zip(words, map(float, options.scores), strict=True)).items())

    def _pieces(self, tokens: Sequence[str]) -> list[Piece]:
        pieces: list[Piece] = []
        first = True
        for token in tokens:
            if not any(map(str.isalpha, token)):
                pieces.append(Piece(token, None))
                first = first or token in ENDS
                continue
            found = [Piece(token, None)] if self._is_name(token, first) else self._found(token, first=first)
            pieces += found
            first = False
            self.counts.words += 1
            self.counts.copied += found[0].word is None
        return pieces

    def _found(self, token: str, *, first: bool) -> list[Piece]:
        # The token as one word or, if it is unknown, as the words between its hyphens.
        word = self._known(token, first=first)
        if word is None and "-" in token:
            parts = [Piece(part, self._known(part, first=first), first) for part in token.split("-")]
            if all(part.word is not None for part in parts):
                return [piece for part in parts for piece in (Piece(HYPHEN, None), part)][1:]
        return [Piece(token, self._new(token, first=first) if word is None else word, first)]

    def _is_name(self, token: str, first: bool) -> bool:
        # The vectors of names are close to those of other names: a name known in both languages is copied.
        if first or not has_name_capital(token, self.source):
            return False
        index = self._space.vectors(self.target).index
        return token in index or token.lower() in index

    def _known(self, token: str, *, first: bool) -> str | None:
        index = self._space.vectors(self.source).index
        found = [form for form in forms(token) if form in index]
        # Capitals that the place requires are no evidence: take the more frequent form.
        if first or token.isupper():
            found.sort(key=lambda form: index[form])
        return found[0] if found else None

    def _new(self, token: str, *, first: bool) -> str | None:
        # A capital inside a sentence marks a name, which n-grams would turn into a word.
        if self._new_words is None or (token[0].isupper() and not first):
            return None
        return next((form for form in reversed(forms(token)) if self._new_words.has(form)), None)

    def _look_up(self, words: Iterable[str]) -> None:
        if len(self._options) > CACHED:
            self._options.clear()
        missing = sorted({word for word in words if word not in self._options})
        if not missing:
            return
        rows = rows_of(self._space, self.source, missing, self._new_words)
        queries = torch.stack([rows[word] for word in missing])  # (q, d)
        config, direction = self.config, (self.source, self.target)
        top = 1 if self._model is None and not config.alternatives else config.top
        scale = 1.0 if config.retrieval.method == "csls" else 2.0  # CSLS has twice the scale of a cosine
        found = self._space.look_up(queries, direction, top=top, retrieval=config.retrieval)
        for word, best in zip(missing, found, strict=True):
            surfaces = [in_text(translation, self.target) for translation, _ in best]
            scores = np.array([scale * score for _, score in best], dtype=np.float32)
            self._options[word] = Options(surfaces, scores)

    def _line(self, pieces: Sequence[Piece]) -> str:
        options = [
            Options([piece.token], _COPIED) if piece.word is None else self._options[piece.word]
            for piece in pieces
        ]
        path = [0] * len(options)
        if self._model is not None:
            path = best_path(options, self._model, weight=self.config.weight, beam=self.config.beam)
        words = elide([option.words[place] for option, place in zip(options, path, strict=True)], self.target)
        all_caps = is_all_caps([piece.token for piece in pieces])
        for place, piece in enumerate(pieces):
            if piece.word is not None:
                words[place] = self._cased(words[place], piece, all_caps)
        return self._joiner.text(words)

    def _cased(self, word: str, piece: Piece, all_caps: bool) -> str:
        alone = is_always_capital(piece.token, self.source) and not piece.first
        token = piece.token.lower() if alone and not all_caps else piece.token
        return with_capitals(word, token, all_caps=all_caps)
