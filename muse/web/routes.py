"""Routes: the endpoints of the API, each a query to the explorer with a typed answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query

from muse.picture import Picture
from muse.translate import Answer, Choice
from muse.version import __version__
from muse.web import answers
from muse.web.evidence import space_answer
from muse.web.explorer import Explorer
from muse.web.pictures import Direction

SHOWN = 500  # characters of the text of a row
WORD = 500  # characters: words have at most some 40, ids of rows may be addresses or paths
TEXT = 2_000
TOP = 50

Lang = Annotated[str | None, Query(max_length=100, description="A language of the space.")]
Word = Annotated[str, Query(min_length=1, max_length=WORD)]
Text = Annotated[str, Query(min_length=1, max_length=TEXT)]
Top = Annotated[int, Query(ge=1, le=TOP)]
Prefix = Annotated[str, Query(max_length=WORD, description="The first letters of a word.")]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    404: {"model": answers.Problem, "description": "The word is not in the space."},
    413: {"model": answers.Problem, "description": "The request has a large body, which none needs."},
    422: {"model": answers.Problem, "description": "The query is invalid."},
    429: {"model": answers.Problem, "description": "Too many requests; Retry-After says how long to wait."},
    503: {
        "model": answers.Problem,
        "description": "Too much work waits (ask again after Retry-After), or a package is not installed.",
    },
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
    async def healthz() -> answers.HealthAnswer:  # in the event loop: it waits for no thread
        """The status of the server."""
        return answers.HealthAnswer(status="ok", version=__version__)

    @router.get("/api/spaces")
    def spaces() -> answers.SpacesAnswer:
        """The explored space."""
        examples = {language: explorer.examples(language) for language in explorer.space.languages}
        return answers.SpacesAnswer(spaces=[space_answer(explorer.space, explorer.name, examples)])


def _about_words(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/translate", response_model_exclude_unset=True)
    def translate(
        word: Word, src: Lang = None, tgt: Lang = None, top: Top = 10
    ) -> answers.TranslationsAnswer:
        """The best translations of a word."""
        source, target = explorer.direction(src, tgt)
        retrieval, found = explorer.translations((source, target), word, top)
        return answers.TranslationsAnswer(
            source=source,
            target=target,
            word=word,
            form=found.form or word,
            **_text(explorer, source, found.form or word),
            retrieval=str(retrieval),
            grade=found.grade,
            languages=list(found.languages),
            translations=[_option(one, **_text(explorer, target, one.target)) for one in found.answers],
        )

    @router.get("/api/suggest", response_model_exclude_unset=True)
    def suggest(lang: Lang = None, prefix: Prefix = "", top: Top = 8) -> answers.SuggestAnswer:
        """The most frequent words with a prefix; capitals and accents make no difference."""
        language = lang or explorer.direction(None, None)[0]
        found = explorer.suggestions(language, prefix, top)
        ranked = explorer.space.vectors(language).ranked
        words = [
            answers.Suggested(word=word, rank=rank if ranked else None, **_text(explorer, language, word))
            for word, rank in found
        ]
        return answers.SuggestAnswer(language=language, prefix=prefix, words=words)

    @router.get("/api/neighbours", response_model_exclude_unset=True)
    def neighbours(word: Word, src: Lang = None, tgt: Lang = None, top: Top = 10) -> answers.NeighboursAnswer:
        """The nearest neighbours, in both languages, of a word of the source language."""
        direction = explorer.direction(src, tgt)
        form, found = explorer.neighbours(direction, word, top)
        nearby = [
            answers.Nearby(language=name, words=_scored(explorer, name, words))
            for name, words in found.items()
        ]
        return answers.NeighboursAnswer(language=direction[0], word=word, form=form, neighbours=nearby)


def _about_sentences(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/sentence")
    def sentence(text: Text, src: Lang = None, tgt: Lang = None) -> answers.SentenceAnswer:
        """A sentence translated word by word, with alternatives for each word."""
        source, target = explorer.direction(src, tgt)
        retrieval, translated, choices = explorer.sentence((source, target), text)
        tokens = [_token(choice) for choice in choices]
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
        """The place of a source word in the picture; null while that is being drawn, and if it is empty."""
        direction = explorer.direction(src, tgt)
        found = explorer.place(direction, word)
        if found is None:
            return None
        x, y = map(_rounded, found.place)
        return answers.PlaceAnswer(
            word=word, form=found.form, language=direction[0], x=x, y=y, exact=found.exact, near=found.near
        )


def _scored(explorer: Explorer, language: str, found: Iterable[tuple[str, float]]) -> list[answers.Scored]:
    return [
        answers.Scored(word=word, score=round(score, 4), **_text(explorer, language, word))
        for word, score in found
    ]


def _text(explorer: Explorer, language: str, word: str) -> dict[str, str]:
    """The field with the text of a row, or its beginning; none where that is not known, as of every word."""
    text = explorer.space.vectors(language).text_of(word)
    if text is None:
        return {}
    return {"text": text if len(text) <= SHOWN else f"{text[:SHOWN]}…"}


def _option(found: Answer, **text: str) -> answers.Option:
    return answers.Option(
        word=found.target,
        score=round(found.score, 4),
        probability=None if found.probability is None else round(found.probability, 4),
        mutual=found.mutual,
        grade=found.grade,
        **text,
    )


def _token(choice: Choice) -> answers.Token:
    options = [_option(answer) for answer in choice.options]
    return answers.Token(token=choice.token, form=choice.form, kept=choice.kept, options=options)


def _picture(explorer: Explorer, direction: Direction) -> answers.PictureAnswer:
    drawn = explorer.picture(direction)
    return answers.PictureAnswer(
        source=direction[0],
        target=direction[1],
        ready=drawn is not None,
        points=[] if drawn is None else list(_points(drawn.picture)),
        regions=[] if drawn is None else [answers.Part(**asdict(region)) for region in drawn.regions],
    )


def _points(picture: Picture) -> Iterator[answers.Point]:
    p, languages = len(picture.pairs), (picture.source, picture.target)
    for number, (x, y) in enumerate(picture.places.tolist()):
        side, pair = divmod(number, p)
        word, other = picture.pairs[pair][side], pair + p * (1 - side)
        yield answers.Point(word=word, language=languages[side], x=_rounded(x), y=_rounded(y), pair=other)


def _rounded(coordinate: float) -> float:
    return round(coordinate, 5)  # finer than the pixels of any screen
