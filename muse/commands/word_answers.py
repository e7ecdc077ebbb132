"""The words of muse translate, or the ids of rows: their answers as lines for people, or as JSON."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from muse.search.retrieval import Retrieval
    from muse.space import AlignedSpace
    from muse.space.new_words import NewWords
    from muse.translate.answers import Answer, WordAnswer
    from muse.vectors import Vectors

log = logging.getLogger(__name__)


def show_words(
    space: AlignedSpace,
    words: Sequence[str],
    new_words: NewWords | None,
    retrieval: Retrieval,
    *,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the answers; unknown and doubtful words are named on stderr. BadSetting if no word is known."""
    from muse.errors import BadSetting
    from muse.space.calibrated import KEPT, find_calibration
    from muse.translate.answers import answer_words

    direction = options["source"], options["target"]
    if (retrieval.method, retrieval.k) == KEPT:
        find_calibration(space, *direction)
    found = answer_words(
        space, words, source=direction[0], target=direction[1],
        top=options["top"], retrieval=retrieval, new_words=new_words,
    )  # fmt: skip
    problems = [_not_found(space, direction[0], one.word) for one in found if one.form is None]
    known = [one for one in found if one.form is not None]
    if not known:
        raise BadSetting("; ".join(problems))
    if as_json:
        click.echo(json.dumps(_fields(found, *map(space.vectors, direction)), ensure_ascii=False))
    for one in known if not as_json else ():
        click.echo(_lines(one, *map(space.vectors, direction)))
    for problem in problems:
        log.warning("%s", problem)
    wanted = "translation" if space.vectors(direction[0]).ranked else "match"
    for one in known:
        if one.grade == "weak":
            advice = f"; it is more frequent in {' and '.join(one.languages)}; check --src and --tgt"
            log.warning(
                "%s: no %s to trust, the best has %s%s",
                one.word, wanted, _percent(one.answers[0]), advice if one.languages else "",
            )  # fmt: skip


def _not_found(space: AlignedSpace, language: str, word: str) -> str:
    from muse.translate.spelling import not_found

    with suppress(OSError):  # a name that is too long is none
        if Path(word).is_file():
            return f"{word}: expected a word, got a file; to translate its text, give it on stdin: < {word}"
    return not_found(space, language, word)


def _fields(found: Sequence[WordAnswer], source: Vectors, target: Vectors) -> dict[str, Any]:
    known = [one for one in found if one.form is not None]
    asked = {one.word: source.text_of(one.form) for one in known if one.form}
    return {
        "translations": {one.word: [[a.target, a.score] for a in one.answers] for one in known},
        "answers": {one.word: [_answer(a, target) for a in one.answers] for one in known},
        "forms": {one.word: one.form for one in known},
        "languages": {one.word: one.languages for one in known if one.languages},
        "unknown": {
            one.word: {"suggestions": one.suggestions, "languages": one.languages}
            for one in found
            if one.form is None
        },
        **({} if source.texts is None else {"texts": asked}),
    }


def _answer(answer: Answer, target: Vectors) -> dict[str, Any]:
    text = {} if target.texts is None else {"text": target.text_of(answer.target)}
    return {**asdict(answer), "grade": answer.grade, **text}


def _lines(found: WordAnswer, source: Vectors, target: Vectors) -> str:
    """A line with all answers or, if there are texts, a line with that of the row and one for each answer."""
    if source.texts is None and target.texts is None:
        return f"{found.word}\t" + "  ".join(map(_shown, found.answers))
    lines = [f"{found.word}\t{source.text_of(found.form or '') or ''}"]
    lines += [f"  {_shown(answer)}\t{target.text_of(answer.target) or ''}" for answer in found.answers]
    return "\n".join(line.rstrip() for line in lines)


def _shown(answer: Answer) -> str:
    text = f"{answer.target} {answer.score:.3f}"
    if answer.probability is not None:
        text += f" ({_percent(answer)})"
    return click.style(text, dim=True) if answer.grade == "weak" else text


def _percent(answer: Answer) -> str:
    return f"{100 * (answer.probability or 0):.0f} %"
