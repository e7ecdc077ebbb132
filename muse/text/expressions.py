"""Expressions: several tokens that are one word in all but spelling, such as French aujourd'hui."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from muse.text.codes import iso_code

# By language, as tokens. Each was tried in translating held-out training text and lowers no BLEU there;
# hyphenated words in general are better translated word by word.
_EXPRESSIONS = {
    "fr": (
        "aujourd' hui", "d' accord", "parce que", "petit déjeuner", "presqu' île", "quelqu' un",
        "quelqu' une", "s' il te plaît", "s' il vous plaît",
    ),
}  # fmt: skip


def _by_first_token(expressions: Sequence[str]) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for tokens in map(str.split, expressions):
        found.setdefault(tokens[0], []).append(tokens)
    return found


_BY_FIRST = {language: _by_first_token(expressions) for language, expressions in _EXPRESSIONS.items()}


def grouped(tokens: Sequence[str], language: str) -> Iterator[Sequence[str]]:
    """The tokens in order: those of an expression together, every other by itself.

    >>> list(grouped(["Quelqu'", "un", "vient"], "fr"))
    [["Quelqu'", 'un'], ['vient']]
    """
    candidates, place = _BY_FIRST.get(iso_code(language), {}), 0
    while place < len(tokens):
        length = 1
        for expression in candidates.get(tokens[place].lower(), ()):
            if [token.lower() for token in tokens[place : place + len(expression)]] == expression:
                length = len(expression)
        yield tokens[place : place + length]
        place += length


def joined(tokens: Sequence[str], between: str = " ") -> str:
    """An expression as it is written: no space follows an apostrophe.

    >>> joined(["s'", "il", "vous", "plaît"]), joined(["parce", "que"], "_")
    ("s'il vous plaît", 'parce_que')
    """
    return between.join(tokens).replace(f"'{between}", "'")
