"""Inference: fine-tuning on premises and hypotheses in different languages (section 4.3).

In the paper they are translated by machine. Here translations may be given; without them, each word becomes
its nearest one in the space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import torch

from muse.encoders.reading import Reading
from muse.files.nli import LABELS, Inference
from muse.progress import Progress
from muse.search.neighbours import nearest
from muse.space import AlignedSpace
from muse.systems.cmlm.network import CmlmEncoder
from muse.systems.networks.transformer import draw_
from muse.systems.nli.inferences import Inferences, inferences_of
from muse.systems.nli.pair_classes import PairClassifier, PairClassLearner, WithClassifier
from muse.text.tokens import Tokeniser
from muse.training.pairs import read_text

HIDDEN = 512  # of the classifier


def inference_learner(
    encoder: CmlmEncoder, pairs: Inferences, generator: torch.Generator
) -> PairClassLearner:
    """The learner that fine-tunes the encoder with a classifier of entailment on its rows."""
    network = with_classifier(encoder)
    draw_(network.classifier, generator)
    return PairClassLearner(network, pairs)


def with_classifier(encoder: CmlmEncoder) -> WithClassifier:
    """The encoder and an untrained classifier of inferences."""
    return WithClassifier(encoder, PairClassifier(encoder.dimension, HIDDEN, len(LABELS), dropout=0.0))


def inferences(
    texts: Mapping[str, Inference],
    space: AlignedSpace,
    languages: tuple[str, str],
    encoder: CmlmEncoder,
    progress: Progress,
) -> Inferences:
    """Each pair of the first language twice with every other: the hypothesis or the premise is translated.

    `texts` are the pairs of the first language and their translations, row by row; without one into the
    second language they are glossed. Mismatch if too few pairs have known words.
    """
    first, second = languages
    text = texts[first]
    translated = {language: other for language, other in texts.items() if language != first}
    if second not in translated:
        translated = {second: _glossed_pairs(text, space, languages), **translated}
    halves = []  # language and text of the premises, and those of the hypotheses
    for other in translated.items():
        halves += [((first, text), other), (other, (first, text))]

    def read(sentences: Sequence[str], language: str) -> Reading:
        return read_text(sentences, encoder.reader(language), progress)

    premises = Reading.joined([read(half.premises, language) for (language, half), _ in halves])
    hypotheses = Reading.joined([read(half.hypotheses, language) for _, (language, half) in halves])
    times = len(halves)
    repeated = Inference(
        times * text.premises, times * text.hypotheses,
        times * text.labels, times * text.parts, text.undecided,
    )  # fmt: skip
    return inferences_of(repeated, (premises, hypotheses), first, encoder.device)


def _glossed_pairs(text: Inference, space: AlignedSpace, languages: tuple[str, str]) -> Inference:
    premises, hypotheses = (
        tuple(glossed(side, space, languages)) for side in (text.premises, text.hypotheses)
    )
    return replace(text, premises=premises, hypotheses=hypotheses)


def glossed(sentences: Sequence[str], space: AlignedSpace, languages: tuple[str, str]) -> list[str]:
    """The sentences of the first language, glossed word by word in the second; unknown words are kept."""
    first, second = (space.vectors(language) for language in languages)
    tokens = [[t.lower() for t in Tokeniser(languages[0]).tokens(sentence)] for sentence in sentences]
    words = sorted(word for word in set(chain.from_iterable(tokens)) if word in first.index)
    rows = torch.from_numpy(first.matrix[[first.index[word] for word in words]])
    places = nearest(rows, torch.tensor(second.matrix), 1).indices[:, 0].tolist() if words else []
    gloss = {word: second.words[place] for word, place in zip(words, places, strict=True)}
    return [" ".join(gloss.get(token, token) for token in line) for line in tokens]
