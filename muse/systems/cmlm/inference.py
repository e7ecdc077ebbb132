"""Inference: fine-tuning on premises and hypotheses in different languages (section 4.3).

The paper has them translated by machine; here each word becomes its nearest one in the space.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    classifier = PairClassifier(encoder.dimension, HIDDEN, len(LABELS), dropout=0.0)
    draw_(classifier, generator)
    return PairClassLearner(WithClassifier(encoder, classifier), pairs)


def inferences(
    text: Inference, space: AlignedSpace, languages: tuple[str, str], encoder: CmlmEncoder, progress: Progress
) -> Inferences:
    """Each pair of the first language twice: with the hypothesis or the premise glossed in the second one.

    Mismatch if too few of them have known words.
    """

    def read(sentences: Sequence[str], *, translated: bool) -> Reading:
        given = glossed(sentences, space, languages) if translated else sentences
        return read_text(given, encoder.reader(languages[translated]), progress)

    premises = Reading.joined([read(text.premises, translated=half) for half in (False, True)])
    hypotheses = Reading.joined([read(text.hypotheses, translated=half) for half in (True, False)])
    twice = Inference(2 * text.premises, 2 * text.hypotheses, 2 * text.labels, 2 * text.parts, text.undecided)
    device = str(next(encoder.parameters()).device)
    return inferences_of(twice, (premises, hypotheses), languages[0], device)


def glossed(sentences: Sequence[str], space: AlignedSpace, languages: tuple[str, str]) -> list[str]:
    """The sentences of the first language, glossed word by word in the second; unknown words are kept."""
    first, second = (space.vectors(language) for language in languages)
    tokens = [[t.lower() for t in Tokeniser(languages[0]).tokens(sentence)] for sentence in sentences]
    words = sorted(first.index.keys() & set(chain.from_iterable(tokens)))
    rows = torch.from_numpy(first.matrix[[first.index[word] for word in words]])
    places = nearest(rows, torch.tensor(second.matrix), 1).indices[:, 0].tolist() if words else []
    gloss = {word: second.words[place] for word, place in zip(words, places, strict=True)}
    return [" ".join(gloss.get(token, token) for token in line) for line in tokens]
