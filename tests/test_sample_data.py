"""The sample vectors and the sample gold list that ship with the repository."""

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from muse.files import read_vectors
from tests.conftest import ROOT

SAMPLE = ROOT / "embeddings" / "sample"
GOLD = ROOT / "dictionaries" / "fr-en.sample.txt"
FIRST = ROOT / "dictionaries" / "fr-en.first-words.txt"
EVERYDAY = [ROOT / "dictionaries" / f"{direction}.everyday.txt" for direction in ("fr-en", "en-fr")]
SAME_STRINGS = [ROOT / "dictionaries" / f"{direction}.same-strings.txt" for direction in ("fr-en", "en-fr")]
LANGUAGES = ("fr", "en")
MAX_BYTES = 8_000_000
SOURCE_WORDS = {GOLD: 1_000, FIRST: 100}
MIN_COVERED = {GOLD: 0.94, FIRST: 1.0}  # share of the French words
DIMENSION = 250


def _checksums(folder: str) -> Iterator[tuple[Path, str]]:
    for line in (ROOT / folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split(maxsplit=1)
        yield ROOT / folder / name, digest


def _words(language: str) -> list[str]:
    """Words of a sample file, in its order, once its header and its rows are found to agree."""
    with gzip.open(SAMPLE / f"{language}.vec.gz", "rt", encoding="utf-8", newline="\n") as lines:
        count, dimension = map(int, next(lines).split())
        assert dimension == DIMENSION
        words = []
        for line in lines:
            word, _, numbers = line.partition(" ")
            assert numbers.count(" ") == DIMENSION - 1, word
            words.append(word)
    assert len(words) == count
    return words


def _pairs(path: Path) -> list[tuple[str, str]]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        source, target = line.split(" ")
        found.append((source, target))
    return found


@pytest.mark.parametrize("folder", ["embeddings", "dictionaries"])
def test_checksums_match(folder: str) -> None:
    listed = dict(_checksums(folder))
    for path, digest in listed.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest, path


def test_checksums_cover_every_file() -> None:
    listed = {path for folder in ("embeddings", "dictionaries") for path, _ in _checksums(folder)}
    assert listed == {
        GOLD,
        FIRST,
        *EVERYDAY,
        *SAME_STRINGS,
        *(SAMPLE / f"{language}.vec.gz" for language in LANGUAGES),
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_vectors_are_small_and_of_distinct_words_and_carry_no_name_and_no_time(language: str) -> None:
    path = SAMPLE / f"{language}.vec.gz"
    assert path.stat().st_size <= MAX_BYTES
    assert path.read_bytes()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
    words = _words(language)
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("gold", [GOLD, FIRST], ids=lambda path: path.name)
def test_gold_is_of_distinct_pairs_of_single_words_that_are_in_the_vocabularies(gold: Path) -> None:
    pairs = _pairs(gold)
    assert len(set(pairs)) == len(pairs)
    assert all(word.isalpha() and word == word.lower() for pair in pairs for word in pair)
    assert len({source for source, _ in pairs}) == SOURCE_WORDS[gold]
    known = [set(_words(language)) for language in LANGUAGES]
    covered = {source for source, target in pairs if source in known[0] and target in known[1]}
    assert len(covered) >= MIN_COVERED[gold] * SOURCE_WORDS[gold]


def test_first_words_are_in_the_gold_list() -> None:
    first = _pairs(FIRST)
    sources = {source for source, _ in first}
    assert first == [pair for pair in _pairs(GOLD) if pair[0] in sources]


@pytest.mark.parametrize(("path", "count"), [*zip(EVERYDAY, (147, 142), strict=True)])
def test_everyday_words_are_distinct(path: Path, count: int) -> None:
    found = _pairs(path)
    assert len(set(found)) == len(found)
    assert len({source for source, _ in found}) == count


@pytest.mark.parametrize("gold", [GOLD, FIRST], ids=lambda path: path.name)
def test_gold_follows_the_frequency_rank_in_french_novels(gold: Path, shared: Path) -> None:
    novels = read_vectors(shared / "data" / "vectors" / "fr.vec.gz", language="fr", max_vocab=14_000)
    ranks = [novels.index[source] for source, _ in _pairs(gold)]
    assert ranks == sorted(ranks)
