"""Other languages: what languages the lines of a text look like, by py3langid, used by this module alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from muse.text.codes import iso_code

SHORTEST = 30  # letters: of less it cannot be told
LEAST = 20  # lines that are long enough
LANGUAGES = frozenset(
    "ar be bg bn ca cs da de el en eo es et fa fi fr gl gu he hi hr hu hy id is it ja ka kn ko la lt lv mk "
    "ml mr nl nn no pl pt ro ru sk sl sq sr sv ta te th tr uk ur vi zh".split()
)  # that are told from others
SHARE = 0.03  # of the lines: less are names, quotations and mistakes


def lines_by_language(lines: Sequence[str]) -> Counter[str] | None:
    """The number of lines in each language, by its ISO 639-1 code; None if py3langid is not installed."""
    try:
        from py3langid import classify
    except ImportError:
        return None
    long = [line for line in lines if sum(map(str.isalpha, line)) >= SHORTEST]
    return Counter(str(classify(line)[0]) for line in long)


def warnings(found: Counter[str] | None, language: str) -> list[str]:
    """What a user should know of the languages that a text of `language` is in."""
    if found is None or found.total() < LEAST:
        return []
    shares = {other: count / found.total() for other, count in found.most_common()}
    main, *others = shares
    told = [
        f"{100 * shares[other]:.0f} % of the lines look like {other!r} in a text that looks like {main!r}; "
        "if they are, remove them: words of two languages in one space disturb its alignment"
        for other in others
        if shares[other] >= SHARE
    ]
    language = {"nb": "no"}.get(iso_code(language), iso_code(language))  # py3langid's name of Bokmål
    if main != language and language in LANGUAGES:
        told.append(
            f"{100 * shares[main]:.0f} % of the lines look like {main!r}, not {language!r}; check --lang"
        )
    return told
