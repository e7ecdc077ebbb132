"""LibreTranslate: its endpoints, answered with a space, so that its clients can call this server.

As it does, they take JSON, forms and query parameters; an error is a status and a JSON object with `error`.
Text is translated word by word, and keeps its tags whichever format it is said to have.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.concurrency import run_in_threadpool

from muse.errors import MuseError
from muse.languages import english_name, language_code
from muse.ranking.lookup import lookup_entry
from muse.text.tokens import Tokeniser
from muse.vectors import Vectors
from muse.web.explorer import Explorer
from muse.web.routes import TEXT, TOP, Asked, in_turn, refuse_other_sites

LARGEST_BODY = 12 * TOP * TEXT  # bytes: as many characters as may be asked, each escaped as two of UTF-16
UNKNOWN = 1e-7  # the share of text that a word is taken for which a vocabulary lacks
# LibreTranslate's own description is the one to follow.
router = APIRouter(include_in_schema=False, dependencies=[Depends(refuse_other_sites)])
WORKING = [Depends(in_turn)]


async def _parameters(request: Request) -> Mapping[str, Any]:
    """The parameters of a request; 400 if they cannot be read, 413 if they are too long."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise HTTPException(413, f"Invalid request: more than {LARGEST_BODY} bytes")
    try:
        if "json" in request.headers.get("content-type", ""):
            found = json.loads(body)
            if not isinstance(found, dict):
                raise ValueError
            return found
        form = parse_qs(body.decode(), keep_blank_values=True)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "Invalid request: expected a JSON object or a form in UTF-8") from error
    return {**request.query_params, **{name: values[-1] for name, values in form.items()}}


Parameters = Annotated[Mapping[str, Any], Depends(_parameters)]


@router.post("/translate", dependencies=WORKING)
async def translate(explorer: Asked, given: Parameters) -> dict[str, Any]:
    """The translation of a text, or of each of a list, with the language found and alternatives if asked."""
    return await run_in_threadpool(_translate, explorer, given)


@router.post("/detect", dependencies=WORKING)
async def detect(explorer: Asked, given: Parameters) -> list[dict[str, Any]]:
    """The languages of the space in percent, the most probable one first; of several texts the means."""
    return await run_in_threadpool(_detected_in_all, explorer, _texts(given))


@router.get("/languages")
def languages(explorer: Asked) -> list[dict[str, Any]]:
    """The languages with words, each with those it is translated into."""
    names = _names(explorer)
    return [
        {"code": name, "name": english_name(name), "targets": [other for other in names if other != name]}
        for name in names
    ]


@router.get("/frontend/settings")
def settings(explorer: Asked) -> dict[str, Any]:
    """What clients want to know of the server: the longest text, and that no key is needed."""
    source, target = ({"code": name, "name": english_name(name)} for name in explorer.direction(None, None))
    return {
        "charLimit": TEXT, "frontendTimeout": 500, "apiKeys": False, "keyRequired": False,
        "suggestions": False, "filesTranslation": False, "supportedFilesFormat": [],
        "language": {"source": source, "target": target},
    }  # fmt: skip


@router.get("/health")
async def health() -> dict[str, str]:
    """That the server answers."""
    return {"status": "ok"}


def _translate(explorer: Explorer, given: Mapping[str, Any]) -> dict[str, Any]:
    texts, several = _texts(given), isinstance(given["q"], list)
    asked, target = _required(given, "source"), _required(given, "target")
    if (form := given.get("format") or "text") not in ("text", "html"):
        raise HTTPException(400, f"{form} format is not supported")
    try:
        wanted = min(max(int(given.get("alternatives") or 0), 0), TOP)
    except (TypeError, ValueError, OverflowError):
        raise HTTPException(400, "Invalid request: alternatives must be a number") from None
    target = _named(explorer, target)
    found = [detected(explorer, text)[0] for text in texts] if asked == "auto" else []
    sources = [one["language"] for one in found] or [_named(explorer, asked)] * len(texts)
    done = [
        _translated(explorer, source, target, text, wanted)
        for source, text in zip(sources, texts, strict=True)
    ]
    answers: dict[str, list[Any]] = {"translatedText": [first for first, _ in done]}
    answers |= {"detectedLanguage": found} if found else {}
    answers |= {"alternatives": [others for _, others in done]} if wanted else {}
    return answers if several else {name: values[0] for name, values in answers.items()}


def _translated(
    explorer: Explorer, source: str, target: str, text: str, wanted: int
) -> tuple[str, list[str]]:
    if source == target:
        return text, []
    try:
        return explorer.text((source, target), text, wanted)
    except MuseError as error:  # in another script, for example
        raise HTTPException(400, str(error)) from error


def detected(explorer: Explorer, text: str) -> list[dict[str, Any]]:
    """The languages of the space by how well their frequent words fit a text, the best first; in percent."""
    fits = {name: _fit(explorer.space.vectors(name), text) for name in _names(explorer)}
    words = len(text.split()) if any(map(str.isalpha, text)) else 0
    weights = {name: math.exp(words * (fit - max(fits.values()))) for name, fit in fits.items()}
    found = [
        {"confidence": round(100 * weight / sum(weights.values())) if words else 0, "language": name}
        for name, weight in weights.items()
    ]
    return sorted(found, key=lambda one: -one["confidence"])


def _detected_in_all(explorer: Explorer, texts: Sequence[str]) -> list[dict[str, Any]]:
    total = Counter[str]()
    for text in texts:
        total.update({one["language"]: one["confidence"] for one in detected(explorer, text)})
    return [{"confidence": round(sum_ / len(texts)), "language": one} for one, sum_ in total.most_common()]


def _fit(vectors: Vectors, text: str) -> float:
    """The mean logarithm of the shares of text that its words have by Zipf's law, from their ranks."""
    tokens = [token for token in Tokeniser(vectors.language, vectors.index).tokens(text) if token.isalpha()]
    entries = [lookup_entry(token, vectors) for token in tokens]
    total = math.log(len(vectors)) + 1
    logs = [math.log(UNKNOWN if one is None else 1 / total / (vectors.index[one] + 1)) for one in entries]
    return sum(logs) / max(1, len(logs))


def _names(explorer: Explorer) -> list[str]:
    space = explorer.space
    return [name for name in space.languages if space.vectors(name).frequency_ordered] or [*space.languages]


def _named(explorer: Explorer, language: str) -> str:
    """The language of the space with this name or code; 400 if it has none."""
    names = _names(explorer)
    for name in names:
        if language in (name, language_code(name)):
            return name
    raise HTTPException(400, f"{language} is not supported")


def _required(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not value or not isinstance(value, str):
        raise HTTPException(400, f"Invalid request: missing {name} parameter")
    return value


def _texts(given: Mapping[str, Any]) -> list[str]:
    """The texts to work on, one or several; 400 if there are none or more than may be."""
    q = given.get("q")
    texts: list[Any] = q if isinstance(q, list) else [q]
    if not q or not all(isinstance(text, str) for text in texts):
        raise HTTPException(400, "Invalid request: missing q parameter")
    if any("\ud800" <= letter <= "\udfff" for text in texts for letter in text):
        raise HTTPException(400, "Invalid request: q has half a character (a lone surrogate)")
    if len(texts) > TOP:
        raise HTTPException(400, f"Invalid request: {len(texts)} texts exceed the batch limit of {TOP}")
    if (size := max(map(len, texts))) > TEXT:
        raise HTTPException(400, f"Invalid request: request ({size}) exceeds text limit ({TEXT})")
    return texts
