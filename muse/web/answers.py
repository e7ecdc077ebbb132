"""Answers: what the API says, typed, for OpenAPI and for those who call it."""

from __future__ import annotations

from pydantic import BaseModel


class Scored(BaseModel):
    """A word and how well it fits; higher is better."""

    word: str
    score: float


class TranslationsAnswer(BaseModel):
    """The best translations of a word; `retrieval` says what the scores are: csls:10 or nn (cosines)."""

    source: str
    target: str
    word: str
    retrieval: str
    translations: list[Scored]


class Nearby(BaseModel):
    """The words of one language that are nearest to a word, by cosine."""

    language: str
    words: list[Scored]


class NeighboursAnswer(BaseModel):
    """The nearest words of both languages."""

    language: str
    word: str
    neighbours: list[Nearby]


class Token(BaseModel):
    """A token of a sentence with its translations, best first; one that is copied has none."""

    token: str
    options: list[Scored]


class SentenceAnswer(BaseModel):
    """A sentence word by word, and as the text that the best of each word makes."""

    source: str
    target: str
    retrieval: str
    text: str
    tokens: list[Token]


class Language(BaseModel):
    """A language of a space, how many words it has, and a few that one may try."""

    name: str
    words: int
    examples: list[str]


class Space(BaseModel):
    """The space that is explored: its languages, and the verdict on its weakest mapping."""

    name: str
    pivot: str
    dimension: int
    languages: list[Language]
    method: str
    verdict: str | None
    confidence: float | None


class SpacesAnswer(BaseModel):
    """The spaces that this server has: one."""

    spaces: list[Space]


class Point(BaseModel):
    """A word of the picture: its language, its place, and the number of the point of its translation."""

    word: str
    language: str
    x: float
    y: float
    pair: int


class PictureAnswer(BaseModel):
    """Words on a plane; not `ready` while it is being drawn, and then it has no points."""

    source: str
    target: str
    ready: bool
    points: list[Point]


class PlaceAnswer(BaseModel):
    """Where on the picture a word is; one that is not among its points is put amid its neighbours."""

    word: str
    language: str
    x: float
    y: float
    exact: bool


class HealthAnswer(BaseModel):
    """That the server is there."""

    status: str
    version: str


class Problem(BaseModel):
    """Why there is no answer, and the words that may have been meant."""

    error: str
    suggestions: list[str] = []
