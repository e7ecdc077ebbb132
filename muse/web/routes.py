"""Routes: the endpoints of the API, each a query to the explorer with a typed answer.

/api/spaces tells what the manifest of a space records of how it was made and judged, for the page to show.
Pages of other sites are refused, and few requests are worked on at once; the others wait for their turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from muse.errors import BadSetting
from muse.evaluation.score import look_up_signature
from muse.files.space_manifest import InputFile, Manifest
from muse.installation import __version__
from muse.ranking.ranker import Ranker
from muse.ranking.translations import Translation
from muse.space import Space
from muse.translate.text import Choice
from muse.web import responses
from muse.web.explorer import Explorer
from muse.web.pictures import Direction, Drawn

Model = TypeVar("Model", responses.Judgement, responses.HeldOut)
SHOWN = 500  # characters of the text of a row
WORD = 500  # characters: words have at most some 40, ids of rows may be addresses or paths
TEXT = 2_000
TOP = 50
AT_ONCE = 4  # requests that are worked on: threads are left for the page, and /healthz needs none
OTHER_SITES = ("cross-site", "same-site")  # another port of this machine is of the same site
Lang = Annotated[str | None, Query(max_length=100, description="A language of the space.")]
# As the options of the command line, whose one language is --lang, and as keywords in Python.
OtherName = Annotated[str | None, Query(max_length=100, include_in_schema=False)]
Word = Annotated[str, Query(min_length=1, max_length=WORD)]
Known = Annotated[str | None, Query(max_length=WORD, description="Its best translation, if that is known.")]
Text = Annotated[str, Query(min_length=1, max_length=TEXT)]
Top = Annotated[int, Query(ge=1, le=TOP)]
Prefix = Annotated[str, Query(max_length=WORD, description="The first letters of a word.")]


def _source(src: Lang = None, lang: OtherName = None) -> str | None:
    """The language of what is asked, `src`, which may be called `lang` too."""
    if src is not None and lang not in (None, src):
        raise BadSetting(f"src and lang are one parameter, got {src!r} and {lang!r}; leave one out")
    return lang if src is None else src


Source = Annotated[str | None, Depends(_source)]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    403: {"model": responses.Problem, "description": "The request is that of a page of another site."},
    404: {"model": responses.Problem, "description": "The word is not in the space."},
    422: {"model": responses.Problem, "description": "The query is invalid."},
    503: {"model": responses.Problem, "description": "A package is not installed."},
}


def space_answer(space: Space, name: str, examples: Mapping[str, list[str]]) -> responses.SpaceFacts:
    """The languages of a space, with examples, and what its verdict rests on."""
    made = space.manifest
    verdict = _read(responses.Judgement, made.verdict.fields)
    return responses.SpaceFacts(
        name=name,
        folder="" if space.folder is None else str(space.folder.resolve()),
        pivot=space.pivot,
        dimension=space.vectors(space.pivot).dimension,
        languages=[_language(space, made, language, examples[language]) for language in space.languages],
        method=made.method,
        verdict=verdict.label if verdict else None,
        confidence=verdict.confidence if verdict else None,
        mapping=made.mapping,
        muse_version=made.muse_version,
    )


def _language(space: Space, made: Manifest, name: str, examples: list[str]) -> responses.Language:
    entry, mapped = made.language(name), name != space.pivot
    supervision = None if entry.supervision is None else entry.supervision.fields
    return responses.Language(
        name=name,
        words=len(space.vectors(name)),
        ranked=space.vectors(name).frequency_ordered,
        examples=examples,
        verdict=_read(responses.Judgement, entry.verdict.fields) if mapped else None,
        held_out=_read(responses.HeldOut, supervision) if mapped else None,
        signature=_signature(space, name, entry.signature) if mapped else None,
        files=[_file(file) for file in entry.files],
    )


def _signature(space: Space, language: str, recorded: str) -> str:
    return recorded or str(look_up_signature(Ranker(space, (language, space.pivot))))


def _file(file: InputFile) -> responses.VectorFile:
    return responses.VectorFile(name=file.name, sha256=file.sha256)


def _read(model: type[Model], fields: object) -> Model | None:
    try:
        return model.model_validate(fields)
    except ValueError:  # not recorded, or by hand
        return None


def routes(explorer: Explorer) -> APIRouter:
    """The router with all endpoints."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def in_turn() -> AsyncIterator[None]:
        async with turn:
            yield

    router = APIRouter(responses=PROBLEMS)
    working = APIRouter(dependencies=[Depends(refuse_other_sites), Depends(in_turn)])
    _about_the_space(working, explorer)
    _about_words(working, explorer)
    _about_sentences(working, explorer)
    _about_the_picture(working, explorer)

    @router.get("/healthz")
    async def healthz() -> responses.HealthAnswer:  # in the event loop: it waits for no thread
        """The status of the server."""
        return responses.HealthAnswer(status="ok", version=__version__)

    router.include_router(working)
    return router


async def refuse_other_sites(request: Request) -> None:
    """Raise 403 for a request of another site's page, which cannot read the answer, but can cause the work.

    Browsers say so of every request to this machine; programs say nothing, and are answered.
    """
    if request.headers.get("sec-fetch-site") in OTHER_SITES:
        raise HTTPException(403, "expected a request of the explorer's page or a program, got another site's")


def _about_the_space(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/spaces")
    def spaces() -> responses.SpacesAnswer:
        """The explored space."""
        examples = {language: explorer.examples(language) for language in explorer.space.languages}
        return responses.SpacesAnswer(spaces=[space_answer(explorer.space, explorer.name, examples)])


def _about_words(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/translate", response_model_exclude_unset=True)
    def translate(word: Word, src: Source, tgt: Lang = None, top: Top = 10) -> responses.TranslationsAnswer:
        """The best translations of a word."""
        source, target = explorer.direction(src, tgt)
        retrieval, found = explorer.translations((source, target), word, top)
        return responses.TranslationsAnswer(
            source=source,
            target=target,
            word=word,
            form=found.form or word,
            **_text(explorer, source, found.form or word),
            retrieval=str(retrieval),
            answers=explorer.answers((source, target)),
            grade=found.grade,
            languages=list(found.languages),
            translations=[_option(one, **_text(explorer, target, one.target)) for one in found],
        )

    @router.get("/api/suggest", response_model_exclude_unset=True)
    def suggest(lang: Lang = None, prefix: Prefix = "", top: Top = 8) -> responses.SuggestAnswer:
        """The most frequent words with a prefix; capitals and accents make no difference."""
        language = lang or explorer.direction(None, None)[0]
        found = explorer.suggestions(language, prefix, top)
        ranked = explorer.space.vectors(language).frequency_ordered
        words = [
            responses.Suggested(word=word, rank=rank if ranked else None, **_text(explorer, language, word))
            for word, rank in found
        ]
        return responses.SuggestAnswer(language=language, prefix=prefix, words=words)

    @router.get("/api/neighbours", response_model_exclude_unset=True)
    def neighbours(word: Word, src: Source, tgt: Lang = None, top: Top = 10) -> responses.NeighboursAnswer:
        """The nearest neighbours, in both languages, of a word of the source language."""
        direction = explorer.direction(src, tgt)
        form, found = explorer.neighbours(direction, word, top)
        nearby = [
            responses.Nearby(language=name, words=_scored(explorer, name, words))
            for name, words in found.items()
        ]
        return responses.NeighboursAnswer(language=direction[0], word=word, form=form, neighbours=nearby)


def _about_sentences(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/sentence")
    def sentence(text: Text, src: Source, tgt: Lang = None) -> responses.SentenceAnswer:
        """A sentence translated word by word, with alternatives for each word."""
        source, target = explorer.direction(src, tgt)
        retrieval, translated, choices = explorer.sentence((source, target), text)
        tokens = [_token(choice) for choice in choices]
        return responses.SentenceAnswer(
            source=source, target=target, retrieval=str(retrieval),
            answers=explorer.answers((source, target)), text=translated, tokens=tokens,
        )  # fmt: skip


def _about_the_picture(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/api/picture")
    def picture(src: Source, tgt: Lang = None) -> responses.PictureAnswer:
        """Frequent words of both languages on a plane; the first request starts drawing it."""
        return _picture(explorer, explorer.direction(src, tgt))

    @router.get("/api/place")
    def place(
        word: Word, src: Source, tgt: Lang = None, answer: Known = None
    ) -> responses.PlaceAnswer | None:
        """The place of a source word in the picture; null while that is being drawn, and if it is empty."""
        direction = explorer.direction(src, tgt)
        found = explorer.place(direction, word)
        if found is None:
            return None
        x, y = map(_rounded, found.place)
        return responses.PlaceAnswer(
            word=word, form=found.form, language=direction[0], x=x, y=y, exact=found.exact, near=found.near,
            answer=_landmark(explorer, direction, answer or _best(explorer, direction, found.form)),
        )  # fmt: skip


def _best(explorer: Explorer, direction: Direction, form: str) -> str | None:
    """The best translation of a word."""
    _, found = explorer.translations(direction, form, 1)
    return None if found.best is None else found.best.target


def _landmark(explorer: Explorer, direction: Direction, best: str | None) -> responses.Landmark | None:
    """The best translation of a word, where the picture has it."""
    if best is None:
        return None
    placed = explorer.place(direction[::-1], best)
    if placed is None:
        return None
    x, y = map(_rounded, placed.place)
    return responses.Landmark(word=best, language=direction[1], x=x, y=y, exact=placed.exact)


def _scored(explorer: Explorer, language: str, found: Iterable[tuple[str, float]]) -> list[responses.Scored]:
    return [
        responses.Scored(word=word, score=round(score, 4), **_text(explorer, language, word))
        for word, score in found
    ]


def _text(explorer: Explorer, language: str, word: str) -> dict[str, str]:
    """The field with the text of a row, or its beginning; none if that is not known, and for every word."""
    text = explorer.space.vectors(language).text_of(word)
    if text is None:
        return {}
    return {"text": text if len(text) <= SHOWN else f"{text[:SHOWN]}…"}


def _option(found: Translation, **text: str) -> responses.Option:
    return responses.Option(
        word=found.target,
        score=round(found.score, 4),
        probability=None if found.probability is None else round(found.probability, 4),
        mutual=found.mutual,
        grade=found.grade,
        **text,
    )


def _token(choice: Choice) -> responses.Token:
    options = [_option(answer) for answer in choice.options]
    return responses.Token(token=choice.token, form=choice.form, kept=choice.kept, options=options)


def _picture(explorer: Explorer, direction: Direction) -> responses.PictureAnswer:
    drawn = explorer.picture(direction)
    return responses.PictureAnswer(
        source=direction[0],
        target=direction[1],
        ready=drawn is not None,
        points=[] if drawn is None else list(_points(drawn)),
        regions=[] if drawn is None else [responses.Part(**asdict(region)) for region in drawn.regions],
    )


def _points(drawn: Drawn) -> Iterator[responses.Point]:
    picture = drawn.picture
    p, languages = len(picture.pairs), (picture.source, picture.target)
    shares = None if drawn.probabilities is None else drawn.probabilities.tolist()
    for number, (x, y) in enumerate(picture.places.tolist()):
        side, pair = divmod(number, p)
        yield responses.Point(
            word=picture.pairs[pair][side], language=languages[side], x=_rounded(x), y=_rounded(y),
            pair=pair + p * (1 - side), probability=None if shares is None else round(shares[pair], 4),
        )  # fmt: skip


def _rounded(coordinate: float) -> float:
    return round(coordinate, 5)  # finer than the pixels of any screen
