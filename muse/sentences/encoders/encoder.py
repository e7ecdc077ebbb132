"""The interface of sentence encoders: sentences of a language in, one row for each out.

Every encoder can also be used as a scikit-learn transformer, and on a stream, block by block.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from muse.errors import BadFile, BadSetting, NotConverged
from muse.files.corpora import check_lines
from muse.files.parquet import is_parquet, read_column
from muse.files.plain_text import read_lines
from muse.sentences.encoders.reading import all_sentences, check_sentences
from muse.space import Space
from muse.vectors import Matrix, ShortRepr

Write = Callable[[Sequence[str], Matrix], None]


@dataclass(frozen=True, eq=False, repr=False)
class Encoded(ShortRepr):
    """The rows (s, d') of s sentences, with counts of what the encoder did not know.

    A sentence without a known word has a row of zeros and counts as `empty`. Of all `tokens`, `unknown` ones
    had no vector and were left out. `truncated` sentences were cut to the encoder's maximum length.
    """

    matrix: Matrix
    empty: int
    tokens: int
    unknown: int
    truncated: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """All fields but the rows."""
        return {name: getattr(self, name) for name in ("empty", "tokens", "unknown", "truncated")}

    def __post_init__(self) -> None:
        if not np.isfinite(self.matrix).all():
            raise NotConverged(
                "the rows of sentences must be finite, got nan or inf; the weights of the encoder are "
                "damaged: train or save it again"
            )


class SentenceEncoder(Protocol):
    """The interface of every encoder, trained or not; all its languages share one space of d' dimensions.

    Encoders are immutable: `fit` returns a new one.
    """

    @property
    def name(self) -> str:
        """The name in signatures, such as idf, power-mean[-inf,1,inf] or x-cbow[align:0.25]."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it encodes."""

    @property
    def dimension(self) -> int:
        """The number of columns d'."""

    def fit(self, sentences: Iterable[str], language: str) -> "SentenceEncoder":
        """A new encoder that has learned from text in one language, in place of what it had learned of it.

        One with nothing to learn returns itself. BadSetting for what is no list of str.
        """

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences; BadSetting for another language, or for what is no list of str."""

    def save(self, folder: Path) -> None:
        """Writes the encoder completely or not at all, without pickles, with the checksums of its space."""

    def for_language(self, language: str) -> "Transformer":
        """The encoder for one language, as a scikit-learn transformer."""
        return Transformer(self, language)


@dataclass(frozen=True, eq=False)
class Wrapped(SentenceEncoder):
    """An encoder that wraps another one and has its languages and dimension."""

    inner: SentenceEncoder

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the inner encoder."""
        return self.inner.languages

    @property
    def dimension(self) -> int:
        """The dimension of the inner encoder."""
        return self.inner.dimension


@dataclass(frozen=True, eq=False)
class Trained(SentenceEncoder):
    """An encoder that was trained for some of the languages of a space; it learns nothing more from text."""

    label: str
    space: Space
    trained_for: tuple[str, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it was trained for."""
        return self.trained_for

    def fit(self, sentences: Iterable[str], language: str) -> Self:
        """Returns self."""
        check_trained_for(self, language)
        check_sentences(sentences)
        return self


def check_encodes(encoder: SentenceEncoder, language: str, advice: str = "") -> None:
    """Raise BadSetting, which ends with the advice, if the encoder lacks the language."""
    if language not in encoder.languages:
        raise BadSetting(f"{encoder.name} encodes {', '.join(encoder.languages)}; got {language!r}{advice}")


def check_trained_for(encoder: SentenceEncoder, language: str) -> None:
    """Raise BadSetting if the encoder was not trained for the language."""
    check_encodes(encoder, language, ": train an encoder for it with muse train")


class Transformer:
    """A sentence encoder for one language as a scikit-learn transformer, from sentences to rows.

    `fit` fits a copy of the encoder, `encoder_`; the given encoder never changes.
    """

    def __init__(self, encoder: SentenceEncoder, language: str) -> None:
        self.encoder = encoder
        self.language = language

    def fit(self, sentences: Iterable[str], labels: object = None) -> "Transformer":
        """Returns self, with `encoder_` fitted on the sentences."""
        self.encoder_ = self.encoder.fit(sentences, self.language)
        return self

    def transform(self, sentences: Iterable[str]) -> Matrix:
        """The rows (s, d') of the sentences."""
        return getattr(self, "encoder_", self.encoder).encode(sentences, self.language).matrix

    def fit_transform(self, sentences: Iterable[str], labels: object = None) -> Matrix:
        """The rows (s, d') of the sentences after fitting on them."""
        sentences = all_sentences(sentences)
        return self.fit(sentences).transform(sentences)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The two parameters by name."""
        return {"encoder": self.encoder, "language": self.language}

    def set_params(self, **params: Any) -> "Transformer":
        """Returns self with these parameters set; BadSetting for an unknown name."""
        for name, value in params.items():
            if name not in self.get_params():
                raise BadSetting(f"a parameter must be encoder or language, got {name!r}")
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> "Transformer":
        # A clone shares the immutable encoder, so that no table of words is copied.
        return Transformer(self.encoder, self.language)

    def __sklearn_is_fitted__(self) -> bool:
        return True  # a loaded encoder needs no fit

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn calls this, so it is installed.
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(string=True, two_d_array=False),
        )


def stream_sentences(path: Path, column: str | None = None) -> Iterator[str]:
    """The sentences of a file: the lines of a text, which may be a .gz, or a column of a Parquet file."""
    if is_parquet(path):
        return chain.from_iterable(read_column(path, column))
    if column is not None:
        raise BadSetting(f"--column needs a Parquet file, got {path}; leave it out")
    check_lines(path)
    return read_lines(path)


def encode_stream(
    encoder: SentenceEncoder, sentences: Iterable[list[str]], language: str, write: Write, *, name: str
) -> dict[str, int]:
    """The number of `sentences` and their counts; each block is encoded, and given to `write` with its rows.

    Raises BadFile if there are no sentences; `name` is the file or stream in the message.
    """
    total = Counter[str]()
    for block in filter(None, sentences):
        found = encoder.encode(block, language)
        write(block, found.matrix)
        total.update(sentences=len(block), **found.counts)
    if not total:
        raise BadFile(f"{name}: expected sentences to encode, one on each line, got nothing; send some")
    return dict(total)
