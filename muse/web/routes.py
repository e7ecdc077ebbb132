"""Routes: the endpoints of the API, each a query to the explorer with a typed answer.

/api/spaces tells what the manifest of a space records of how it was made and judged, for the page to show.
Pages of other sites are refused, and few requests are worked on at once; the others wait for their turn.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import HTMLResponse

from muse.errors import BadSetting
from muse.evaluation.score import look_up_signature
from muse.installation import __version__
from muse.optional import has
from muse.ranking.expected import ExpectedPrecision
from muse.ranking.ranker import Ranker
from muse.ranking.reasons import Reasons
from muse.ranking.translations import Translation
from muse.space import Space
from muse.web import responses
from muse.web.explorer import Explorer
from muse.web.pictures import Direction, Drawn, Located

Model = TypeVar("Model", responses.Judgement, responses.HeldOut)
SHOWN_CHARACTERS = 500  # characters of the text of a row
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
Others = Annotated[Sequence[str], Query(max_length=TOP, description="Words to place beside it.")]
Text = Annotated[str, Query(min_length=1, max_length=TEXT)]
Top = Annotated[int, Query(ge=1, le=TOP)]
Prefix = Annotated[str, Query(max_length=WORD, description="The first letters of a word.")]


async def _explorer(request: Request) -> Explorer:
    explorer: Explorer = request.app.state.explorer
    return explorer


Asked = Annotated[Explorer, Depends(_explorer)]


async def _direction(
    explorer: Asked, src: Lang = None, tgt: Lang = None, lang: OtherName = None
) -> Direction:
    """Source and target; the language of what is asked, `src`, may be called `lang` too."""
    if src is not None and lang not in (None, src):
        raise BadSetting(f"src and lang are one parameter, got {src!r} and {lang!r}; leave one out")
    return explorer.direction(lang if src is None else src, tgt)


Way = Annotated[Direction, Depends(_direction)]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    403: {"model": responses.Problem, "description": "The request is that of a page of another site."},
    404: {"model": responses.Problem, "description": "The word is not in the space."},
    422: {"model": responses.Problem, "description": "The query is invalid."},
    503: {"model": responses.Problem, "description": "A package is not installed."},
}


async def refuse_other_sites(request: Request) -> None:
    """Raise 403 for a request of another site's page, which cannot read the answer, but can cause the work.

    Browsers say so of every request to this machine, and of one that may change something to others too, by
    its origin; programs say nothing, and are answered.
    """
    origins, host = request.headers.getlist("origin"), request.headers.get("host")
    said = ",".join(request.headers.getlist("sec-fetch-site")).lower()  # there may be several
    sites = {site.strip() for site in said.split(",")}
    elsewhere = any(origin.partition("://")[2] != host for origin in origins)
    if not sites.isdisjoint(OTHER_SITES) or (elsewhere and sites != {"same-origin"}):
        raise HTTPException(403, "expected a request of the explorer's page or a program, got another site's")


async def in_turn(request: Request) -> AsyncIterator[None]:
    """Wait for one of AT_ONCE places."""
    async with request.app.state.turn:
        yield


router = APIRouter(responses=PROBLEMS)
working = APIRouter(
    prefix="/api", responses=PROBLEMS, dependencies=[Depends(refuse_other_sites), Depends(in_turn)]
)


@router.get("/healthz")
async def healthz() -> responses.HealthAnswer:  # in the event loop: it waits for no thread
    """The status of the server."""
    return responses.HealthAnswer(status="ok", version=__version__)


@working.get("/spaces")
def spaces(explorer: Asked) -> responses.SpacesAnswer:
    """The explored space."""
    examples = {language: explorer.examples(language) for language in explorer.space.languages}
    facts = space_answer(explorer.space, explorer.name, examples)
    return responses.SpacesAnswer(
        spaces=[facts], links=has("links"), examples=explorer.indexed, terms=explorer.terms is not None
    )


def space_answer(space: Space, name: str, examples: Mapping[str, list[str]]) -> responses.SpaceFacts:
    """The languages of a space, with examples, and what its verdict rests on."""
    made = space.manifest
    verdict = _read(responses.Judgement, made.verdict.fields)
    return responses.SpaceFacts(
        name=name,
        folder="" if space.folder is None else str(space.folder.resolve()),
        pivot=space.pivot,
        dimension=space.vectors(space.pivot).dimension,
        languages=[_language(space, language, examples[language]) for language in space.languages],
        method=made.method,
        verdict=verdict.label if verdict else None,
        confidence=verdict.confidence if verdict else None,
        mapping=made.mapping,
        muse_version=made.muse_version,
    )


def _language(space: Space, name: str, examples: list[str]) -> responses.Language:
    entry, mapped, vectors = space.manifest.language(name), name != space.pivot, space.vectors(name)
    supervision = None if entry.supervision is None else entry.supervision.fields
    signature = entry.signature
    if mapped and not signature:
        signature = str(look_up_signature(Ranker(space, (name, space.pivot))))
    table = space.answers(name, space.pivot) if mapped else None
    expected = None if table is None else ExpectedPrecision.of_report(table.report)
    return responses.Language(
        name=name,
        words=len(vectors) - entry.units,
        units=entry.units,
        ranked=vectors.frequency_ordered,
        examples=examples,
        texts=[] if vectors.frequency_ordered else [_text(space, name, id_).get("text") for id_ in examples],
        verdict=_read(responses.Judgement, entry.verdict.fields) if mapped else None,
        held_out=_read(responses.HeldOut, supervision) if mapped else None,
        expected_p_at_1=None if expected is None else expected.p_at_1,
        expected_ci95=None if expected is None else expected.ci95,
        signature=signature if mapped else None,
        files=[responses.VectorFile(name=file.name, sha256=file.sha256) for file in entry.files],
    )


def _read(model: type[Model], fields: object) -> Model | None:
    try:
        return model.model_validate(fields)
    except ValueError:  # not recorded, or by hand
        return None


@working.get("/translate", response_model_exclude_unset=True)
def translate(explorer: Asked, word: Word, way: Way, top: Top = 10) -> responses.TranslationsAnswer:
    """The best translations of a word."""
    source, target = way
    retrieval, found = explorer.translations(way, word, top)
    form = found.form or word
    return responses.TranslationsAnswer(
        source=source, target=target, word=word, form=form, **_text(explorer.space, source, form),
        retrieval=str(retrieval), answers=explorer.answers(way),
        grade=found.grade, languages=list(found.languages),
        verdict=explorer.space.manifest.verdict_on(source, target).label,
        translations=[_option(one, **_text(explorer.space, target, one.target)) for one in found],
    )  # fmt: skip


@working.get("/reasons")
def reasons(explorer: Asked, word: Word, way: Way) -> Reasons | None:
    """What spoke for the best translation of a word, and against the next; null if CSLS alone chose it."""
    return explorer.reasons(way, word)


@working.get("/suggest", response_model_exclude_unset=True)
def suggest(explorer: Asked, lang: Lang = None, prefix: Prefix = "", top: Top = 8) -> responses.SuggestAnswer:
    """The most frequent words with a prefix; capitals and accents make no difference."""
    language = lang or explorer.direction(None, None)[0]
    space = explorer.space
    ranked = len(space.single_words(language)) if space.vectors(language).frequency_ordered else 0
    words = [
        responses.Suggested(
            word=word, rank=rank if rank <= ranked else None, **_text(explorer.space, language, word)
        )
        for word, rank in explorer.suggestions(language, prefix, top)
    ]
    return responses.SuggestAnswer(language=language, prefix=prefix, words=words)


@working.get("/neighbours", response_model_exclude_unset=True)
def neighbours(explorer: Asked, word: Word, way: Way, top: Top = 10) -> responses.NeighboursAnswer:
    """The nearest neighbours, in both languages, of a word of the source language."""
    form, found = explorer.neighbours(way, word, top)
    nearby = [
        responses.Nearby(language=language, words=[
            responses.Scored(word=near, score=round(score, 4), **_text(explorer.space, language, near))
            for near, score in words
        ])
        for language, words in found.items()
    ]  # fmt: skip
    return responses.NeighboursAnswer(language=way[0], word=word, form=form, neighbours=nearby)


@working.get("/sentence")
def sentence(explorer: Asked, text: Text, way: Way) -> responses.SentenceAnswer:
    """A sentence translated word by word, with alternatives for each word."""
    retrieval, translated, choices = explorer.sentence(way, text)
    tokens = [
        responses.Token(
            token=one.token, form=one.form, kept=one.kept, options=[_option(answer) for answer in one.options]
        )
        for one in choices
    ]
    return responses.SentenceAnswer(
        source=way[0], target=way[1], retrieval=str(retrieval), answers=explorer.answers(way),
        text=translated, entry=explorer.entry(way[0], text), tokens=tokens,
    )  # fmt: skip


@working.get("/link")
def link(explorer: Asked, source: Text, target: Text, way: Way) -> responses.LinkAnswer:
    """The words of a sentence linked with those of its translation."""
    found = explorer.link(way, (source, target))
    one, two = map(_linked_text, way, found.texts, found.places)
    links = [responses.Link(source=i, target=j, probability=round(share, 4)) for i, j, share in found.links]
    return responses.LinkAnswer(source=one, target=two, links=links)


@working.get("/examples")
def examples(explorer: Asked, word: Word, way: Way, answer: Known = None) -> responses.ExamplesAnswer:
    """Sentences with a word, and with its translation if that is given, from the texts that are indexed."""
    found = explorer.sentences(way, word, answer)
    source, target = (
        [
            responses.ExampleSentence(
                **dict(_linked_text(language, one.text, one.places)), file=one.file, line=one.line
            )
            for one in side
        ]
        for language, side in found.sides
    )
    return responses.ExamplesAnswer(source=source, target=target)


def _linked_text(language: str, text: str, places: Sequence[tuple[int, int]]) -> responses.LinkedText:
    ends = [0, *(end for _, end in places)]
    words = [
        responses.LinkedWord(before=text[last:begin], word=text[begin:end])
        for last, (begin, end) in zip(ends, places, strict=False)
    ]
    return responses.LinkedText(language=language, text=text, words=words, after=text[ends[-1] :])


@working.get("/picture")
def picture(explorer: Asked, way: Way) -> responses.PictureAnswer:
    """Frequent words of both languages on a plane; the first request starts drawing it."""
    drawn = explorer.pictures.get(way)
    return responses.PictureAnswer(
        source=way[0],
        target=way[1],
        ready=drawn is not None,
        points=[] if drawn is None else list(_points(drawn)),
        regions=[] if drawn is None else list(drawn.regions),
    )


@working.get("/place")
def place(  # noqa: PLR0913 - parameters of a query
    explorer: Asked, word: Word, way: Way, answer: Known = None, own: Others = (), other: Others = ()
) -> responses.PlaceAnswer | None:
    """The place of a source word in the picture; null while that is being drawn, and if it is empty.

    So are those of its translation, and of words of its `own` and the `other` language.
    """
    found = explorer.place(way, word)
    if found is None:
        return None
    if answer is None and (best := explorer.translations(way, found.form, 1)[1].best) is not None:
        answer = best.target

    def landmark(direction: Direction, word: str) -> responses.Landmark | None:
        beside = explorer.place(direction, word)
        return beside and responses.Landmark(word=word, language=direction[0], **_placed(beside))

    asked = [(way, one) for one in own] + [(way[::-1], one) for one in other]
    return responses.PlaceAnswer(
        word=word, form=found.form, language=way[0], **_placed(found),
        near=[beside for one in asked if (beside := landmark(*one))],
        answer=landmark(way[::-1], answer) if answer else None,
    )  # fmt: skip


@working.post("/decisions")
def decide(
    explorer: Asked, term: Word, translation: Word, decision: Literal["accepted", "rejected", ""]
) -> responses.Decided:
    """Keep what was decided of a translation in the glossary: accepted, rejected, or nothing any more."""
    explorer.decide((term, translation), decision)
    return responses.Decided(term=term, translation=translation, decision=decision)


@router.get("/terms", include_in_schema=False)
def terms(explorer: Asked) -> HTMLResponse:
    """The page of the glossary, which shows and sends decisions."""
    return HTMLResponse("".join(explorer.glossary.page(served=True)))


router.include_router(working)


def _text(space: Space, language: str, word: str) -> dict[str, str]:
    """The field with the text of a row, or its beginning; none if that is not known, and for every word."""
    text = space.vectors(language).text_of(word)
    if text is None:
        return {}
    return {"text": text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"}


def _option(found: Translation, **text: str) -> responses.Option:
    return responses.Option(
        word=found.target,
        score=round(found.score, 4),
        probability=None if found.probability is None else round(found.probability, 4),
        mutual=found.mutual,
        grade=found.grade,
        **text,
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


def _placed(found: Located) -> dict[str, Any]:
    x, y = map(_rounded, found.place)
    return {"x": x, "y": y, "exact": found.exact}


def _rounded(coordinate: float) -> float:
    return round(coordinate, 5)  # finer than the pixels of any screen
