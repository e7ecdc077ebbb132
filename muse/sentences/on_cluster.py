"""Sentences on a cluster: a text encoded in parts, and pairs mined from two texts.

Both texts are encoded and searched in parts.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.cluster.parts import PartFolder, open_parts
from muse.cluster.run import Make, Run, Site
from muse.cluster.shards import KeySearch, look_up, sentence_blocks
from muse.files.atomic import atomic_path
from muse.files.parquet import SENTENCE, VECTOR
from muse.files.space_folder import checksum
from muse.files.text_slices import TextSlice, slices
from muse.orthography import canonical
from muse.search.bidirectional_search import BothDirections
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.loading import load_encoder
from muse.sentences.mining import NOTHING, Mined, MiningConfig, Values, paired
from muse.space import load_space

ROW = "row"
SIDES = ("source", "target")
DIGEST = "digest"
PAIRS = 65_536  # in a part


@dataclass(frozen=True)
class Text:
    """A text in a language: a file of lines, Parquet with a `column` of text, or a folder of such files."""

    path: Path
    language: str
    column: str | None = None


@dataclass(frozen=True)
class Encoding:
    """The job of encoding the slices of a text, each to one part, with the numbers of the sentences.

    The saved encoder and its spaces are on a disk that all machines share. With `only`, a file of a bool for
    each sentence, the others are left out, and those without a vector too.
    """

    encoder: Path
    spaces: tuple[Path, ...]
    language: str
    slices: tuple[TextSlice, ...]
    parts: PartFolder
    only: Path | None = None

    def begin(self) -> Make:
        """A function that encodes a part."""
        # The spaces are not checked again, as they were when the encoder was saved.
        encoder = load_encoder(self.encoder, *(load_space(space, check=False) for space in self.spaces))

        def encode(number: int) -> None:
            part = self.slices[number]
            sentences, rows = part.sentences(), np.arange(part.first, part.first + part.rows)
            if self.only is not None:
                kept = np.load(self.only, mmap_mode="r")[part.first : part.first + part.rows]
                sentences, rows = [*compress(sentences, kept)], rows[kept]
            encoded = encoder.encode(sentences, self.language)
            matrix = encoded.matrix  # (s, d)
            if self.only is not None:
                known = np.flatnonzero(matrix.any(axis=1))
                sentences, rows, matrix = [sentences[place] for place in known], rows[known], matrix[known]
            self.parts.write(number, {ROW: rows, SENTENCE: sentences, VECTOR: matrix}, encoded.counts)

        return encode


def encoder_as_settings(encoder: SentenceEncoder) -> list[str]:
    """The settings that identify an encoder: its name, and the checksum of its saved form."""
    with tempfile.TemporaryDirectory(prefix="muse-") as folder:
        encoder.save(Path(folder) / "encoder")
        return [encoder.name, checksum(Path(folder) / "encoder")]


def _saved(encoder: SentenceEncoder, site: Site, spaces: tuple[Path, ...]) -> tuple[Path, tuple[Path, ...]]:
    # In place of one that an interrupted run has saved.
    folder = site.parts.stage("encoder", 0).folder / "encoder"
    encoder.save(folder)
    return folder.resolve(), tuple(space.resolve() for space in spaces)


def encode(encoder: SentenceEncoder, spaces: tuple[Path, ...], text: Text, run: Run) -> dict[str, Any]:
    """The counts of encoding a text in parts with the columns row, sentence and vector.

    `spaces` are those that the encoder was made for.
    """
    if (done := run.result()) is not None:
        return done
    found = tuple(slices(text.path, text.column))
    with run.begun(len(found)) as site:
        if site.parts.missing():
            job = Encoding(*_saved(encoder, site, spaces), text.language, found, site.parts)
            site.make("parts of the text", site.parts, job.begin)
        counts = site.parts.counts()
        return site.finish(sentences=counts.pop("rows"), **counts, parts=len(found))


@dataclass(frozen=True)
class Digests:
    """The job of condensing every sentence to two numbers, (0, 0) for one that is empty."""

    slices: tuple[TextSlice, ...]
    parts: PartFolder

    def begin(self) -> Make:
        """A function that condenses the sentences of a slice."""

        def digest(number: int) -> None:
            digests = [
                blake2b(canonical(line).encode(), digest_size=16).digest() if line.strip() else bytes(16)
                for line in self.slices[number].sentences()
            ]
            self.parts.write(number, {DIGEST: np.frombuffer(b"".join(digests), np.int64).reshape(-1, 2)})

        return digest


class EncodedText(NamedTuple):
    """The distinct sentences of a text that have a vector, in parts, and counts of what was left out."""

    parts: PartFolder
    counts: dict[str, int]


def mine(
    encoder: SentenceEncoder,
    spaces: tuple[Path, ...],
    texts: tuple[Text, Text],
    run: Run,
    config: MiningConfig,
) -> dict[str, Any]:
    """The counts of mining pairs into parts, best first, with the columns row, score, source and target."""
    if (done := run.result()) is not None:
        return done
    found_in = [tuple(slices(text.path, text.column)) for text in texts]
    with run.begun(0) as site:
        saved = _saved(encoder, site, spaces)
        sides = [
            _encoded_side(site, side, Encoding(*saved, text.language, found, site.parts))
            for side, text, found in zip(SIDES, texts, found_in, strict=True)
        ]
        found = _searched(site, sides, config)
        source, target = (
            [text for number in range(side.parts.count) for text in side.parts.read(number, SENTENCE)[0]]
            for side in sides
        )
        for number, begin in enumerate(range(0, max(len(found.scores), 1), PAIRS)):
            pairs = found.pairs[begin : begin + PAIRS]
            site.parts.write(number, {
                "row": np.arange(begin, begin + len(pairs)), "score": found.scores[begin : begin + PAIRS],
                "source": [source[row] for row in pairs[:, 0]],
                "target": [target[row] for row in pairs[:, 1]],
            })  # fmt: skip
        counts = {side: one.counts for side, one in zip(SIDES, sides, strict=True)}
        return site.finish(pairs=len(found.scores), **counts)


def _encoded_side(site: Site, side: str, encoding: Encoding) -> EncodedText:
    """The encoded text of a side, with only the first of repeated sentences."""
    lines = encoding.slices[-1].first + encoding.slices[-1].rows
    digests = site.parts.stage(f"digests-of-{side}", len(encoding.slices))
    site.make(f"lines of the {side}", digests, Digests(encoding.slices, digests).begin)
    found = np.concatenate([digests.read(number, DIGEST)[0] for number in range(digests.count)])  # (n, 2)
    empty, first = ~found.any(axis=1), np.zeros(len(found), np.bool_)
    first[np.unique(found.view("V16").ravel(), return_index=True)[1]] = True
    first &= ~empty
    only = digests.folder / "only.npy"
    with atomic_path(only) as partial, partial.open("wb") as stream:
        np.save(stream, first)
    rows = site.parts.stage(f"rows-of-{side}", len(encoding.slices))
    site.make(f"sentences of the {side}", rows, replace(encoding, parts=rows, only=only).begin)
    kept = int(first.sum())
    return EncodedText(rows, {
        "lines": lines, "empty": int(empty.sum()), "repeated": lines - int(empty.sum()) - kept,
        "unknown": kept - rows.counts()["rows"],
    })  # fmt: skip


def _searched(site: Site, sides: Sequence[EncodedText], config: MiningConfig) -> Mined:
    x, y = (sentence_blocks(one.parts) for one in sides)
    if not x.starts[-1] or not y.starts[-1]:
        return NOTHING
    found = []
    for side, queries, keys in ((SIDES[0], x, y), (SIDES[1], y, x)):
        k = min(config.score.k, keys.starts[-1])
        search = KeySearch(queries, keys, k, approximation=config.approximation)
        found.append(look_up(f"candidates of the {side}", search, site))
    return paired(BothDirections(*found), config)


def mined(folder: Path) -> tuple[Values, list[tuple[str, str]]]:
    """The scores (p,) and the pairs of sentences in the parts of a complete run."""
    parts = open_parts(folder)
    read = [parts.read(number, "score", "source", "target") for number in range(parts.count)]
    scores = np.concatenate([one for one, _, _ in read])
    return scores, [pair for _, *sides in read for pair in zip(*sides, strict=True)]
