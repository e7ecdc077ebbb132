"""What a lens is worth: similarity, relatedness, inference and translations found, each with its interval."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.kept_rows import with_interval
from benchmarks.support.sentence_sets import PIVOT
from benchmarks.support.sick import related
from benchmarks.systems.lens_text import tested
from muse.evaluation.score import Signature, bootstrap_interval, bootstrap_mean
from muse.files.nli import read_nli
from muse.files.sentence_text import RatedSentences, read_rated_sentences
from muse.progress import Progress
from muse.search.retrieval import PairScore
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.retrieval import Queries, different, sentence_ranks
from muse.sentences.evaluation.sts import RatedRows, evaluate_relatedness, evaluate_sts
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.nli.pair_classes import PairNetwork, classify

NOTHING = Signature("", "")  # the row says it
SETS = ("sts", "sick", "sick_r", "sick_e", "retrieval")
FIGURES = ("sts_en", "sts_other", "sick", "sick_r", "sick_e", "p_at_1", "match_error", "match_error_margin")
JsonScore = dict[str, float]


@dataclass(frozen=True)
class Tests:
    """The sets of SETS to measure with, SICK's file, and the language beside English.

    * sts        Spearman's correlation of cosines with ratings of STS-B's test part, x 100
    * sick       that of SICK's test part: nothing is learned (table 2 of Kiros, 2020)
    * sick_r     Pearson's correlation of a regression from SICK's train part, x 100
    * sick_e     accuracy of the classifier that was trained with the lens, on SICK's test part
    * retrieval  LASER's set, cosine: P@1 into English, the match error of both directions, and that by margin
    """

    sets: Collection[str]
    data: Path
    sick: Path
    other: str

    def figures(self, encoder: NetworkEncoder, *, reads_other: bool) -> JsonScore:
        """The figures of an encoder; those of the other language only where its core reads that."""
        found: JsonScore = {}
        if "sts" in self.sets:
            for name, language in (("sts_en", PIVOT), ("sts_other", self.other)):
                if language == PIVOT or reads_other:
                    rated = read_rated_sentences(self.data / "sts" / f"stsb-{language}-test.csv")
                    found |= similarity(name, encoder, rated, language)
        if "sick" in self.sets:
            found |= similarity("sick", encoder, related(self.sick, "test"), PIVOT)
        if "sick_r" in self.sets:
            found |= self.relatedness(encoder)
        if "sick_e" in self.sets and isinstance(encoder.network, PairNetwork):
            found |= classified(encoder, self.sick)
        if "retrieval" in self.sets and reads_other:
            found |= self.matched(encoder)
        return found

    def relatedness(self, encoder: SentenceEncoder) -> JsonScore:
        """SICK-R as in SentEval."""
        train, test = (rated_rows(encoder, related(self.sick, part), PIVOT) for part in ("train", "test"))
        score = evaluate_relatedness(train, test, NOTHING, rng=np.random.default_rng(0))
        return with_interval("sick_r", score.pearson, score.pearson_ci95, times=100)

    def matched(self, encoder: SentenceEncoder) -> JsonScore:
        """P@1 into English, and match errors (Kiros, 2020, section 4.3), the mean of both directions."""
        text = tested(self.data, self.other)
        sides = ((self.other, text.other), (PIVOT, text.english))
        both = [queries(encoder, *way) for way in (sides, sides[::-1])]
        into, out = (sentence_ranks(way, PairScore("nn")) == 1 for way in both)
        found = with_interval(
            "p_at_1", 100 * float(into.mean()), bootstrap_interval(into, np.random.default_rng(0))
        )
        found |= match_error("match_error", [into, out])
        by_margin = [sentence_ranks(way, PairScore("margin", k=4)) == 1 for way in both]
        return found | match_error("match_error_margin", by_margin)


def queries(encoder: SentenceEncoder, *sides: tuple[str, Sequence[str]]) -> Queries:
    """The sentences of one side to find among those of another."""
    (source, sentences), (target, translations) = sides
    targets, gold = different(translations)
    return Queries(encoder.encode(sentences, source).matrix, encoder.encode(targets, target).matrix, gold)


def match_error(name: str, hits: Sequence[NDArray[np.bool_]]) -> JsonScore:
    """The percentage of misses in both directions, with an interval over the pairs (q,)."""
    misses = 100 * (1 - np.mean(hits, axis=0))  # (q,)
    return with_interval(name, float(misses.mean()), bootstrap_mean(misses, np.random.default_rng(0)))


def rated_rows(encoder: SentenceEncoder, rated: RatedSentences, language: str) -> RatedRows:
    """The rows of rated pairs."""
    x, y = (encoder.encode(side, language).matrix for side in (rated.first, rated.second))
    return RatedRows(x, y, np.array(rated.ratings))


def similarity(name: str, encoder: SentenceEncoder, rated: RatedSentences, language: str) -> JsonScore:
    """Spearman's correlation of cosines with people's ratings, x 100."""
    score = evaluate_sts(*rated_rows(encoder, rated, language), NOTHING, rng=np.random.default_rng(0))
    return with_interval(name, score.spearman, score.spearman_ci95, times=100)


def classified(encoder: SentenceEncoder, path: Path) -> JsonScore:
    """The accuracy of the encoder's classifier on the test part of a file of inferences, in percent."""
    text = read_nli(path).part("test")
    found = classify(encoder, text.premises, text.hypotheses, PIVOT, progress=Progress(quiet=True))
    hits = found == np.array(text.labels)
    interval = bootstrap_interval(hits, np.random.default_rng(0))
    return with_interval("sick_e", 100 * float(hits.mean()), interval)
