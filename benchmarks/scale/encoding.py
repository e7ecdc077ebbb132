"""How many sentences a second become vectors: every untrained encoder, beside two other tools.

    python -m benchmarks.scale.encoding SPACE TEXT [--lang en] [--sentences 200000] [--threads N]

TEXT has a sentence a line (its first column, where it has tabs); the lines are repeated up to --sentences.
model2vec's StaticModel and sentence-transformers' StaticEmbedding get the same words and vectors and a
word-level tokeniser in Rust; they are measured where they are installed, which muse does not ask for.
"First" is an encoder that has seen no text, "then" the best of --repeat further runs over the same sentences:
ours remembers the words that each piece of text between spaces holds. "Of the limit" is the least time that
memory allows, over the time of the whole of "then": to read the rows of all words once, in their order, and
to write a row a sentence.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from benchmarks.support.tables import header, heading, row
from muse.files.plain_text import read_lines
from muse.sentences.encoders.pooling import mean
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.words import Lookup
from muse.sentences.loading import load_encoder
from muse.space import Space, load_space
from muse.vectors import Matrix, Vectors

Encode = Callable[[Sequence[str]], Matrix]

OURS = [
    "mean",
    "idf",
    "sif",
    "power-mean[-inf,1,inf]",
    "power-mean[-inf,1,inf,3]",
    "idf+pcr",
    "power-mean[-inf,1,inf]+znorm",
]
FITTED = 20_000  # sentences that weights and corrections are learned from; not timed
UNKNOWN = "[UNK]"


def sentences_of(path: Path, count: int) -> list[str]:
    """`count` lines of a text, from the beginning again where it has fewer."""
    return list(islice(cycle([line.split("\t")[0] for line in read_lines(path)]), count))


def ours(name: str, space: Space, language: str, text: Sequence[str]) -> Encode:
    """One of muse's encoders, its weights and corrections fitted, its memory of text empty."""
    fitted = load_encoder(name, space).fit(text, language)
    parts: list[object] = [fitted]
    while parts:
        part = parts.pop()
        parts += [value for key, value in vars(part).items() if key == "inner"]
        if isinstance(lookup := getattr(part, "lookup", None), Lookup):
            lookup.forget()
    return lambda sentences: fitted.encode(sentences, language).matrix


def word_level(vectors: Vectors) -> object:
    """A tokeniser in Rust with the same words: lower case, parted at white space and signs."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({UNKNOWN: 0} | {w: i + 1 for i, w in enumerate(vectors.words)}, UNKNOWN))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    return tokenizer


def with_unknown(vectors: Vectors) -> Matrix:
    """The rows (n + 1, d), zeros first for what is unknown."""
    return np.insert(np.asarray(vectors.matrix, np.float32), 0, 0, axis=0)


def model2vec(vectors: Vectors, *, processes: bool) -> Encode:
    """StaticModel, with or without the processes that it starts for many sentences."""
    from model2vec import StaticModel

    # Any: the types are checked alike where it is installed and where it is not.
    weights: Any = with_unknown(vectors)
    tokenizer: Any = word_level(vectors)
    model = StaticModel(weights, tokenizer)
    return lambda sentences: model.encode(list(sentences), use_multiprocessing=processes)


def static_embedding(vectors: Vectors) -> Encode:
    """StaticEmbedding in a SentenceTransformer, as its users call it."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    tokenizer: Any = word_level(vectors)
    weights: Any = with_unknown(vectors)
    module = StaticEmbedding(tokenizer, embedding_weights=weights)
    model = SentenceTransformer(modules=[module], device="cpu")
    return lambda sentences: np.asarray(
        model.encode(list(sentences), batch_size=1024, show_progress_bar=False)
    )


def seconds(work: Callable[[], object]) -> float:
    """The time that `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def write_limit(count: int, dimension: int, repeat: int) -> float:
    """The seconds to write rows (s, d') to new memory, as every encoder must."""
    return min(seconds(lambda: np.full((count, dimension), 1, np.float32)) for _ in range(repeat))


def gather_limit(words: Ragged, rows: torch.Tensor, repeat: int) -> float:
    """The seconds to read the rows (n, d) of all words once, in their order: one sum, nothing written."""
    ids, start = words.ids, torch.zeros(1, dtype=torch.int64)
    parts = [part.contiguous() for part in ids.chunk(torch.get_num_threads())]
    return min(
        seconds(lambda: [embedding_bag(part, rows, start, mode="sum") for part in parts])
        for _ in range(repeat)
    )


def compare(name: str, make: Callable[[], Encode], text: Sequence[str], limit: float, repeat: int) -> None:
    """Prints the line of one encoder."""
    try:
        encode = make()
    except ImportError as error:
        row([name, "", "", "", f"not installed ({error.name})"])
        return
    first = seconds(lambda: encode(text))
    then = min(seconds(lambda: encode(text)) for _ in range(repeat))
    dimension = encode(text[:1]).shape[1]
    least = limit + write_limit(len(text), dimension, repeat)
    row([name, dimension, f"{len(text) / first:,.0f}", f"{len(text) / then:,.0f}", f"{least / then:.2f}"])


def main() -> None:
    """Compares all encoders over the same sentences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("space", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--lang", default="en")
    parser.add_argument("--sentences", type=int, default=200_000)
    parser.add_argument("--threads", type=int, help="of torch  [default: all]")
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    if asked.threads:
        torch.set_num_threads(asked.threads)
    space, text = load_space(asked.space), sentences_of(asked.text, asked.sentences)
    vectors = space.vectors(asked.lang)
    heading(f"Encoding {len(text):,} sentences")
    reading, rows = Lookup(space).read(text, asked.lang)
    words = reading.sentences
    limit = gather_limit(words, rows, asked.repeat)
    read = len(words.ids) * rows.shape[1] * rows.element_size()
    pooled = min(seconds(lambda: mean(words, rows)) for _ in range(asked.repeat))
    written = write_limit(len(text), rows.shape[1], asked.repeat)
    print(
        f"{len(words.ids):,} known words of {vectors.dimension} numbers, {torch.get_num_threads()} threads. "
        f"The limit: {limit:.3f} s to read their rows ({read / limit / 1e9:.1f} GB/s, caches and all) and "
        f"{written:.3f} s to write a row a sentence. Pooling alone, the words looked up already: "
        f"{pooled:.3f} s, {(limit + written) / pooled:.2f} of the limit.\n"
    )
    header(["encoder", "numbers", "sentences/s, first", "then", "of the limit"])
    makes: dict[str, Callable[[], Encode]] = {
        name: lambda name=name: ours(name, space, asked.lang, text[:FITTED])  # type: ignore[misc]
        for name in OURS
    }
    makes["model2vec, one process"] = lambda: model2vec(vectors, processes=False)
    makes["model2vec, its default"] = lambda: model2vec(vectors, processes=True)
    makes["StaticEmbedding"] = lambda: static_embedding(vectors)
    for name, make in makes.items():
        compare(name, make, text, limit, asked.repeat)


if __name__ == "__main__":
    main()
