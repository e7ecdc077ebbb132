"""Routes: the endpoints of the API, each a query to the explorer with a typed answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Query

from muse.version import __version__
from muse.web import answers
from muse.web.explorer import Direction, Explorer

WORD = 200  # characters; the longest words of 200,000 have about 40
TEXT = 2_000
TOP = 50

Lang = Annotated[str | None, Query(max_length=100, description="A language of the space.")]
Word = Annotated[str, Query(min_length=1, max_length=WORD)]
Text = Annotated[str, Query(min_length=1, max_length=TEXT)]
Top = Annotated[int, Query(ge=1, le=TOP)]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    404: {"model": answers.Problem, "description": "The word is not in the space."},
    422: {"model": answers.Problem, "description": "The query is invalid."},
    429: {"model": answers.Problem, "description": "Too many requests."},
    503: {"model": answers.Problem, "description": "A package is not installed."},
}


def routes(explorer: Explorer) -> APIRouter:
    """The router with all endpoints."""
    router = APIRouter(responses=PROBLEMS)
    _about_the_server(router, explorer)
    _about_words(router, explorer)
    _about_sentences(router, explorer)
    _about_the_picture(router, explorer)
    return router


def _about_the_server(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/healthz")
    def healthz() -> answers.HealthAnswer:
        """The status of the server."""
        return answers.HealthAnswer(status="ok", version=__version__)

    @router.get("/api/spaces")
    def spaces() -> answers.SpacesAnswer:
        """The explored space."""
        return answers.SpacesAnswer(spaces=[_space(explorer)])


def _about_words(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/translate")
    def translate(
        word: Word, src: Lang = None, tgt: Lang = None, top: Top = 10
    ) -> answers.TranslationsAnswer:
        """The best translations of a word."""
        source, target = explorer.direction(src, tgt)
        retrieval, found = explorer.translations((source, target), word, top)
        return answers.TranslationsAnswer(
            source=source, target=target, word=word, retrieval=str(retrieval), translations=_scored(found)
        )

    @router.get("/api/neighbours")
    def neighbours(word: Word, src: Lang = None, tgt: Lang = None, top: Top = 10) -> answers.NeighboursAnswer:
        """The nearest neighbours, in both languages, of a word of the source language."""
        direction = explorer.direction(src, tgt)
        found = explorer.neighbours(direction, word, top)
        nearby = [answers.Nearby(language=name, words=_scored(words)) for name, words in found.items()]
        return answers.NeighboursAnswer(language=direction[0], word=word, neighbours=nearby)


def _about_sentences(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/sentence")
    def sentence(text: Text, src: Lang = None, tgt: Lang = None) -> answers.SentenceAnswer:
        """A sentence translated word by word, with alternatives for each word."""
        source, target = explorer.direction(src, tgt)
        retrieval, translated, choices = explorer.sentence((source, target), text)
        tokens = [
            answers.Token(token=one.token, options=_scored((a.target, a.score) for a in one.options))
            for one in choices
        ]
        return answers.SentenceAnswer(
            source=source, target=target, retrieval=str(retrieval), text=translated, tokens=tokens
        )


def _about_the_picture(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/picture")
    def picture(src: Lang = None, tgt: Lang = None) -> answers.PictureAnswer:
        """Frequent words of both languages on a plane; the first request starts drawing it."""
        return _picture(explorer, explorer.direction(src, tgt))

    @router.get("/api/place")
    def place(word: Word, src: Lang = None, tgt: Lang = None) -> answers.PlaceAnswer | None:
        """The place in the picture of a word of the source language; null while it is being drawn."""
        direction = explorer.direction(src, tgt)
        found = explorer.place(direction, direction[0], word)
        if found is None:
            return None
        return answers.PlaceAnswer(word=word, language=direction[0], x=found[0], y=found[1], exact=found[2])


def _scored(found: Iterable[tuple[str, float]]) -> list[answers.Scored]:
    return [answers.Scored(word=word, score=round(score, 4)) for word, score in found]


def _space(explorer: Explorer) -> answers.Space:
    space, manifest = explorer.space, explorer.space.manifest
    verdict = manifest.get("verdict")
    verdict = verdict if isinstance(verdict, dict) else {}
    return answers.Space(
        name=explorer.name,
        pivot=space.pivot,
        dimension=space.vectors(space.pivot).dimension,
        languages=[
            answers.Language(name=name, words=len(space.vectors(name)), examples=explorer.examples(name))
            for name in space.languages
        ],
        method=str(manifest.get("method") or ""),
        verdict=verdict.get("label"),
        confidence=verdict.get("confidence"),
    )


def _picture(explorer: Explorer, direction: Direction) -> answers.PictureAnswer:
    drawn, points = explorer.picture(direction), []
    if drawn is not None:
        p = len(drawn.pairs)
        for number, (x, y) in enumerate(drawn.places.tolist()):
            side, pair = divmod(number, p)
            word, other = drawn.pairs[pair][side], pair + p * (1 - side)
            points.append(answers.Point(word=word, language=direction[side], x=x, y=y, pair=other))
    return answers.PictureAnswer(
        source=direction[0], target=direction[1], ready=drawn is not None, points=points
    )
