"""Stand-in for muse.translate.answers, until that exists."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from muse.search.calibration import calibrate
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.translate.surface import forms
from muse.translate.words import spellings

_KNOWN: dict = {}


@dataclass(frozen=True)
class Answer:
    target: str
    score: float
    probability: float | None
    mutual: bool

    @property
    def trusted(self) -> bool:
        return self.mutual and (self.probability is None or self.probability >= 0.5)


@dataclass(frozen=True)
class WordAnswer:
    word: str
    form: str | None
    answers: tuple[Answer, ...]
    suggestions: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


def known_form(vectors, word):
    for form in (word, *forms(unicodedata.normalize("NFC", word))):
        if form in vectors.index:
            return form
    return None


def answer_words(space: AlignedSpace, words: Sequence[str], *, source, target, top=10, retrieval=None, new_words=None):
    retrieval = retrieval or Retrieval()
    out = []
    vectors, others = space.vectors(source), space.vectors(target)
    for word in words:
        form = known_form(vectors, word)
        if form is None:
            languages = tuple(n for n in space.languages if n != source and known_form(space.vectors(n), word))
            out.append(WordAnswer(word, None, (), tuple(spellings(word, vectors)), languages))
            continue
        query = space.tensor(source)[vectors.index[form]][None]
        calibration = None
        if retrieval.method == "csls" and len(vectors) * len(others) < 1e9:
            key = (id(space), source, target)
            if key not in _KNOWN:
                _KNOWN[key] = calibrate(space.tensor(source)[:4000], space.tensor(target)[:4000], rng=np.random.default_rng(0))
            calibration = _KNOWN[key]
        bias = space.bias(source, target, retrieval)
        found = retrieval.translate(query, space.tensor(target), max(top, 10), bias=bias)
        probabilities = [None] * top if calibration is None else calibration.probabilities(found.scores)[0].tolist()
        answers = []
        back_bias = space.bias(target, source, retrieval)
        for row, score, probability in zip(found.indices[0, :top].tolist(), found.scores[0].tolist(), probabilities):
            back = retrieval.translate(space.tensor(target)[row][None], space.tensor(source), 1, bias=back_bias)
            answers.append(Answer(others.words[row], score, probability, int(back.indices[0, 0]) == vectors.index[form]))
        out.append(WordAnswer(word, form, tuple(answers)))
    return out
