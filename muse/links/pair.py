"""Pair: a sentence and its translation as they are written, with the links between their words."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from muse.errors import BadSetting
from muse.files.pages import language_attributes
from muse.links.labels import SURE, Place, Span, carried
from muse.links.linker import LinkConfig, Linker
from muse.links.links import Links
from muse.links.sentence import Tokenised, places_of
from muse.space import Space

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
    try:
        one, two = (
            Tokenised(language, space.vectors(language).index)(text)
            for language, text in zip(languages, texts, strict=True)
        )
    except ValueError as error:
        raise BadSetting(str(error)) from error
    (links,) = linker.link([(one.tokens, two.tokens)])
    return LinkedPair.of(texts, (one.written, two.written), links, languages)
