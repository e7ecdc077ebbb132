"""What the benchmarks measure of an encoder's rows: translations found, similarity, what can be read out."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.sentence_sets import PIVOT, Aligned
from muse.evaluation.ratings import read_rated
from muse.evaluation.score import Signature
from muse.search.retrieval import PairScore
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, Parts
from muse.sentences.evaluation.probing import Probe, ProbeScore, evaluate_probe
from muse.sentences.evaluation.retrieval import Queries, different, sentence_ranks
from muse.sentences.evaluation.sts import StsScore, evaluate_sts

TAUGHT = 5_000  # sentences of each language that the weights of words are learned from
NOTHING = Signature("", "")  # the tables say it


def answered(
    encoder: SentenceEncoder, text: Aligned, language: str, ways: Iterable[PairScore]
) -> list[NDArray[np.bool_]]:
    """Which queries (q,) find their translation first among all English sentences, by each score."""
    targets, gold = different(text.english)
    rows = encoder.encode(text.other, language).matrix, encoder.encode(targets, PIVOT).matrix
    return [sentence_ranks(Queries(*rows, gold), how) == 1 for how in ways]


def sides_of(other: str) -> tuple[tuple[str, str], ...]:
    """The languages of the two sides of STS-B's pairs: in either, and across."""
    return (PIVOT, PIVOT), (other, other), (other, PIVOT)


def similarity(encoder: SentenceEncoder, data: Path, languages: tuple[str, str]) -> StsScore:
    """How cosines agree with people's ratings of STS-B's test pairs, whose sides are in these languages."""
    one, two = (read_rated(data / "sts" / f"stsb-{name}-test.csv") for name in languages)
    x, y = encoder.encode(one.first, languages[0]), encoder.encode(two.second, languages[1])
    return evaluate_sts(x.matrix, y.matrix, np.array(one.ratings), NOTHING, rng=np.random.default_rng(0))


def read_out(
    encoder: SentenceEncoder,
    probe: Probe,
    config: ClassifierConfig,
    *,
    seed: int = 0,
    split: Parts | None = None,
) -> ProbeScore:
    """What a classifier reads out of the rows of a probe's sentences, which come language by language."""
    parts = []
    for language in dict.fromkeys(probe.languages):
        own = [text for text, name in zip(probe.sentences, probe.languages, strict=True) if name == language]
        parts.append(encoder.encode(own, language).matrix)
    labelled, rng = Labelled(np.concatenate(parts), np.array(probe.labels)), np.random.default_rng(seed)
    return evaluate_probe(probe.name, labelled, NOTHING, config=config, rng=rng, split=split)
