"""Pair: a sentence and its translation as they are written, with the links between their words."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from muse.errors import BadSetting
from muse.languages import english_name, language_code, writes_right_to_left
from muse.links.labels import SURE, Place, Span, carried
from muse.links.linker import MOST_WORDS, LinkConfig, Linker
from muse.links.links import Links
from muse.space import Space
from muse.text.tokens import Tokeniser
from muse.text.written import written_tokens

PART = re.compile(r"\S+")  # of a text, between spaces
UNSURE = 0.2  # the least probability of a link that is shown, pale, between two sentences
_COLOURS = ("70, 130, 240", "235, 120, 40")  # seen on white and on black


@dataclass(frozen=True, eq=False)
class LinkedPair:
    """Two sentences as they are written, the places of the words in each, and the links between these.

    `pairs` has the linked words, each pair with the probability that the link is right. Notebooks show both
    sentences, in which a word lights up with its counterparts under the pointer.
    """

    texts: tuple[str, str]
    places: tuple[Sequence[Place], Sequence[Place]]
    links: Links
    languages: tuple[str, str] = ("", "")

    @classmethod
    def of(
        cls,
        texts: tuple[str, str],
        words: tuple[Sequence[str], Sequence[str]],
        links: Links,
        languages: tuple[str, str],
    ) -> LinkedPair:
        """The pair with these words, which are in the texts in this order; those of one place become one."""
        one, two = (places_of(side, text) for side, text in zip(words, texts, strict=True))
        first, second = dict.fromkeys(one), dict.fromkeys(two)
        if len(first) < len(one) or len(second) < len(two):
            numbers = [{place: number for number, place in enumerate(side)} for side in (first, second)]
            best = dict[tuple[int, int], float]()
            for i, j, share in links:
                key = numbers[0][one[i]], numbers[1][two[j]]
                best[key] = max(share, best.get(key, 0.0))
            links = replace(Links.of_shares(best), score=links.score)
        return cls(texts, ([*first], [*second]), links, languages)

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """The words of both sentences as they are written."""
        one, two = (
            [text[begin:end] for begin, end in places]
            for text, places in zip(self.texts, self.places, strict=True)
        )
        return one, two

    @property
    def pairs(self) -> list[tuple[str, str, float]]:
        """The linked words, in the order of the first sentence, with their probabilities."""
        one, two = self.words
        return [(one[i], two[j], share) for i, j, share in self.links]

    def carry(self, spans: Iterable[Span], least: float = SURE) -> list[Span | None]:
        """The counterpart in the second sentence of each span of the first one, by links of this probability.

        A span is (begin, end, label) with places of characters, and None has no counterpart.
        """
        return carried(spans, self.places, self.links, least)

    def __repr__(self) -> str:
        return " ".join(f"{one}-{two}:{share:.2f}" for one, two, share in self.pairs) or "no links"

    def _repr_html_(self) -> str:
        """Both sentences, with rules that light up what is linked with the word under the pointer."""
        name = f"muse-{hashlib.sha256(repr((self.texts, self)).encode()).hexdigest()[:12]}"
        rules = [f"#{name} span:hover {{outline: 1px solid}}"]
        for i, j, share in self.links:
            for here, there, colour in ((f"s{i}", f"t{j}", _COLOURS[1]), (f"t{j}", f"s{i}", _COLOURS[0])):
                lit = f"background: rgba({colour}, {0.1 + 0.5 * share:.2f})"
                rules.append(f"#{name}:has(.{here}:hover) .{there} {{{lit}}}")
        style = f"<style>{' '.join(rules)}</style>"
        return f'<div id="{name}">{style}{self._side_html(0)}{self._side_html(1)}</div>'

    def _side_html(self, side: int) -> str:
        others, linked = self.words[1 - side], defaultdict[int, list[str]](list)
        for i, j, share in sorted(self.links, key=lambda link: -link[2]):
            here, there = (i, j) if side == 0 else (j, i)
            linked[here].append(f"{others[there]}, {100 * share:.0f} %")
        found, last, text = list[str](), 0, self.texts[side]
        for number, (begin, end) in enumerate(self.places[side]):
            title, word = escape("; ".join(linked[number])), escape(text[begin:end])
            found.append(
                f'{escape(text[last:begin])}<span class="{"st"[side]}{number}" title="{title}">{word}</span>'
            )
            last = end
        return f"<p{language_attributes(self.languages[side])}>{''.join(found)}{escape(text[last:])}</p>"


def link_texts(space: Space, languages: tuple[str, str], texts: tuple[str, str]) -> LinkedPair:
    """Two sentences with the links between their words, uncertain ones too, by a space of both languages."""
    linker = space.once(Linker, languages, lambda: Linker(space, languages, config=LinkConfig(UNSURE)))
    one, two = (
        written_tokens(Tokeniser(language, space.vectors(language).index), text)
        for language, text in zip(languages, texts, strict=True)
    )
    words = [token.text for token in one], [token.text for token in two]
    if (most := max(map(len, words))) > MOST_WORDS:
        raise BadSetting(
            f"a sentence must have at most {MOST_WORDS:,} words, got {most:,}; give one sentence"
        )
    (links,) = linker.link([words])
    written = [token.written for token in one], [token.written for token in two]
    return LinkedPair.of(texts, written, links, languages)


def places_of(words: Iterable[str], text: str) -> list[Place]:
    """Where each of the words is in a text that has them in this order.

    Those that the text spells otherwise, as contractions are, have together what is between the words around
    them, or the place of the word before.

    >>> places_of(["l'", "eau", "!"], "l'eau !"), places_of(["it", "will", "not", "do"], "it won't do")
    ([(0, 2), (2, 5), (6, 7)], [(0, 2), (3, 8), (3, 8), (9, 11)])
    """
    parts, part = [match.span() for match in PART.finditer(text)], 0
    found, end, missing = list[Place](), 0, 0
    for word in [*words, None]:
        while part < len(parts) and parts[part][1] <= end:
            part += 1
        begin = len(text) if word is None else _begin(word, text, end, parts[part : part + 2 + missing // 2])
        if begin < 0:
            missing += 1
            continue
        between, last = text[end:begin].strip(), (begin, begin + len(word or ""))
        first = text.find(between, end)
        found += [(first, first + len(between)) if between else found[-1] if found else last] * missing
        found.append(last)
        end, missing = last[1], 0
    return found[:-1]


def _begin(word: str, text: str, end: int, parts: Sequence[Place]) -> int:
    """Where a word begins behind `end`: in the first of the parts between spaces, or with another; or -1."""
    begins = [max(end, begin) for begin, _ in parts]
    if (
        parts
        and not text.startswith(word, begins[0])
        and (inside := text.find(word, begins[0], parts[0][1])) >= 0
    ):
        return inside
    return next((begin for begin in begins if text.startswith(word, begin)), -1)


def language_attributes(language: str) -> str:
    """The attributes of HTML that say the language of a text and its direction, as far as they are known.

    >>> language_attributes("fra"), language_attributes("he"), language_attributes("xx")
    (' lang="fr" dir="ltr"', ' lang="he" dir="rtl"', ' dir="auto"')
    """
    if english_name(language) == language:
        return ' dir="auto"'
    return f' lang="{language_code(language)}" dir="{"rtl" if writes_right_to_left(language) else "ltr"}"'
