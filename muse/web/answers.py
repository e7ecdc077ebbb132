"""Answers: the typed responses of the API, for OpenAPI and for callers."""

from __future__ import annotations

from pydantic import BaseModel


class Scored(BaseModel):
    """A word and its score; higher is better."""

    word: str
    score: float


class TranslationsAnswer(BaseModel):
    """The best translations of a word; `retrieval` names the scores: csls:10, or nn for cosines."""

    source: str
    target: str
    word: str
    retrieval: str
    translations: list[Scored]


class Nearby(BaseModel):
    """The nearest neighbours of a word in one language, by cosine."""

    language: str
    words: list[Scored]


class NeighboursAnswer(BaseModel):
    """The nearest neighbours of a word in both languages."""

    language: str
    word: str
    neighbours: list[Nearby]


class Token(BaseModel):
    """A token of a sentence with its translations, best first; none if it is copied."""

    token: str
    options: list[Scored]


class SentenceAnswer(BaseModel):
    """A sentence translated word by word: its tokens, and the text of their best translations."""

    source: str
    target: str
    retrieval: str
    text: str
    tokens: list[Token]


class Language(BaseModel):
    """A language of a space, the number of its words, and a few examples."""

    name: str
    words: int
    examples: list[str]


class Space(BaseModel):
    """The explored space: its languages, and the verdict on its least confident mapping."""

    name: str
    pivot: str
    dimension: int
    languages: list[Language]
    method: str
    verdict: str | None
    confidence: float | None


class SpacesAnswer(BaseModel):
    """The spaces of this server, of which there is one."""

    spaces: list[Space]


class Point(BaseModel):
    """A word of the picture: its language, its place, and the index of the point of its translation."""

    word: str
    language: str
    x: float
    y: float
    pair: int


class PictureAnswer(BaseModel):
    """Words on a plane; without points and not `ready` while it is being drawn."""

    source: str
    target: str
    ready: bool
    points: list[Point]


class PlaceAnswer(BaseModel):
    """The place of a word in the picture; estimated from its neighbours, unless `exact`."""

    word: str
    language: str
    x: float
    y: float
    exact: bool


class HealthAnswer(BaseModel):
    """The status of the server, and its version."""

    status: str
    version: str


class Problem(BaseModel):
    """An error, and suggested words."""

    error: str
    suggestions: list[str] = []
