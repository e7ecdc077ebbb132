r"""Lines as they are written: their tokens with the spaces before them, and the line of their translations.

A translation has a space where the line has one: 20 °C, 12 km/h, 'la mer', and emoji of several characters
come back as they were, without a rule for each. Two rules are the target language's: of words, those of Moses
(l'eau, Tom's), and of French, a space before ? ! : ; % and inside « ». What is no word is one token and never
looked up: addresses, #mot, @nom, R&D, &eacute;, roi.txt, C++, m², :-), and whatever has a digit.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from muse.orthography import composed
from muse.text.markup import ENTITY, NO_WORDS, OpenSpan, is_markup, sign_of, split_at, split_at_spans
from muse.text.segmentation import is_unspaced, unspaced_language, without_spaces
from muse.text.tokens import LONGEST_PART, Tokeniser, closed_up, next_part_kind

_KEPT = re.compile("|".join(NO_WORDS))
_WITH_APOSTROPHES = re.compile("O['’][A-Z]|['’]n['’]|['’]s")
# Languages with words before apostrophes, but for McDonald's.
_KEPT_IN_ROMANCE = re.compile(rf"{_KEPT.pattern}|(?<![\w'’])[A-Z]\w+['’]s(?!\w)")
_PART = re.compile(r"\S+")
_NO_BREAK = frozenset("\u00a0\u202f\u2007")
_ENTITIES = frozenset(["&nbsp;", "&#160;", "&#xa0;", "&#xA0;", "&#8239;", "&#x202f;", "&#x202F;", "~"])
_SPACES = _NO_BREAK | _ENTITIES | {"", " "}
_UNITS = re.compile(rf"{ENTITY.pattern}|\w[\u0300-\u036f]+|(?<=\w)\u00ad+(?=\w)")
_VISIBLE = re.compile("[^\\s\x00-\x1f\x7f\ufeff]")
# Apostrophes that may open and close a quotation: 'la mer', not l'homme.
_QUOTE = re.compile(r"(?<![^\s(\[{«“„—–-])['`](?=\w)|(?<=[\w.,!?…»”)])'(?!\w)")
_IN_WORDS, _AFTER_WORDS = str.maketrans("", "", "'’-"), ",;:?!."
_FRENCH = frozenset("?!:;%")  # signs after a space in French, and after none in other languages
_OPENING = frozenset("([{«“„‘<>=+/*~—–-")
_CLOSING = frozenset([*")]}»”\"'.…?!", "..."])
_SOFT_HYPHEN = "\u00ad"
_BEGINNING, _ENDING = frozenset("“‘「『（《〈【([{"), frozenset("”’」』）》〉】)]}%％")
_OPENS, _CLOSES = "«", "»"


class WrittenToken(NamedTuple):
    """A token, all that stands before it in its line, mostly "" or a space, and how it is written there.

    `kept` ones are no words. The written form may have another apostrophe than the token, or entities.
    """

    text: str
    before: str = " "
    written: str = ""
    kept: bool = False


class TranslatedToken(NamedTuple):
    """A word or sign of a translation, and the token that it stands for.

    `copied`: it is what the line has. `sign`: it has no letter and no digit, or is markup.
    """

    text: str
    token: WrittenToken
    copied: bool

    @property
    def sign(self) -> bool:
        """Whether Moses' rules for words say nothing of it."""
        return not any(map(str.isalnum, self.token.text)) or self.is_span or is_markup(self.token.text)

    @property
    def is_span(self) -> bool:
        """Whether it is kept and may have spaces in it."""
        return self.token.kept and any(map(str.isspace, self.text))


def written_tokens(tokeniser: Tokeniser, line: str) -> list[WrittenToken]:
    """The tokens of a line; what is kept with spaces in it, as tags and comments, are one each.

    >>> [token.text for token in written_tokens(Tokeniser("fr"), "R&D 'à la mer', 20 °C")]
    ['R&D', "'", 'à', 'la', 'mer', "'", ',', '20', '°C']
    """
    return written_line(tokeniser, line)[0]


def written_line(
    tokeniser: Tokeniser, line: str, opened: OpenSpan | None = None
) -> tuple[list[WrittenToken], str]:
    """The tokens of a line, and what is behind the last one; `opened` is what the lines before leave open."""
    found, between = list[WrittenToken](), ""
    for text, span in split_at_spans(line, opened):
        plain, places = _plain(text)
        end = 0
        for token, begin, stop, kept in _tokens(tokeniser, plain, span):
            # What is neither space nor invisible is of a word that is written out: can't, viens-tu.
            gap = text[places[end] : places[begin]] if not _VISIBLE.search(plain, end, begin) else " "
            written = text[places[begin] : places[stop]] or token
            found.append(WrittenToken(token, between + gap or " " * (begin == stop), written, kept))
            end, between = stop, ""
        between += text[places[end] :] if not _VISIBLE.search(plain, end) else text[len(text.rstrip()) :]
        if span:
            found.append(WrittenToken(span, between, span, kept=True))
            between = ""
    return found, between


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """The text with composed letters, the signs of entities and no soft hyphens, and where each letter is."""
    found, places, end = list[str](), list[int](), 0
    for match in _UNITS.finditer(text):
        sign = composed(sign_of(match)).strip(_SOFT_HYPHEN)
        places += [*range(end, match.start()), *[match.start()] * len(sign)]
        found += text[end : match.start()], sign
        end = match.end()
    return "".join([*found, text[end:]]), [*places, *range(end, len(text) + 1)]


def _tokens(tokeniser: Tokeniser, plain: str, then: str) -> Iterator[tuple[str, int, int, bool]]:
    """The tokens, from where to where each is, and whether it is kept; a word written out is nowhere."""
    parts, folded = list(_parts(plain)), plain.replace("\u2019", "'")
    followings = [*(plain[begin:end] for begin, end, _ in parts[1:]), then]
    for (begin, end, quote), following in zip(parts, followings, strict=False):
        part = plain[begin:end]
        for piece, kept in [(part, True)] if quote else _split_at_kept(part, tokeniser.language):
            stop = begin + len(piece)
            if kept:
                yield piece, begin, stop, True
            else:
                follows = next_part_kind(piece, following) if stop == end else ""
                for token in tokeniser.part_tokens(piece, follows):
                    at = folded.find(token.replace("\u2019", "'"), begin, stop)
                    yield token, max(at, begin), at + len(token) if at >= 0 else begin, False
                    begin = at + len(token) if at >= 0 else begin
            begin = stop


def _parts(text: str) -> Iterator[tuple[int, int, bool]]:
    """From where to where each part between spaces is; a quotation mark is a part of its own."""
    quotes = iter(_quotes(text) if "'" in text else ())
    quote = next(quotes, len(text))
    for match in _PART.finditer(text):
        begin, end = match.span()
        while quote < end:
            if begin < quote:
                yield begin, quote, False
            yield quote, quote + 1, True
            begin, quote = quote + 1, next(quotes, len(text))
        if begin < end:
            yield begin, end, False


def _quotes(text: str) -> list[int]:
    """The places of apostrophes that are quotation marks: each that opens and the next that closes."""
    found, opened = list[int](), -1
    for match in _QUOTE.finditer(text):
        if text[match.end() : match.end() + 1].isalnum():
            opened = match.start()
        elif opened >= 0:
            found += [opened, match.start()]
            opened = -1
    return found


def _split_at_kept(part: str, language: str) -> list[tuple[str, bool]]:
    # Most parts are words, in which there is nothing to search for.
    is_word = part.isalpha() or part.rstrip(_AFTER_WORDS).translate(_IN_WORDS).isalpha()
    if (is_word and part[0] != "-" and not _WITH_APOSTROPHES.search(part)) or len(part) > LONGEST_PART:
        return [(part, False)]
    return split_at(_KEPT_IN_ROMANCE if language in ("fr", "it") else _KEPT, part)


def joined_line(words: Sequence[TranslatedToken], tokeniser: Tokeniser, source: str | None = None) -> str:
    """The line of a translation in the language of a tokeniser, with the spaces of the line, in `source`.

    >>> found = written_tokens(Tokeniser("fr"), "20 °C : 'oui' !")
    >>> joined_line([TranslatedToken(token.text, token, True) for token in found], Tokeniser("en"))
    "20 °C: 'oui'!"
    """
    pieces, text, run = list[tuple[str, str]](), "", list[str]()  # text and the span behind it
    for place, word in enumerate(words):
        space = _space(words, place, tokeniser.language) if place else word.token.before
        if space is not None or word.is_span:
            text += (tokeniser.text(run) if len(run) > 1 else "".join(run)) + (space or "")
            run = []
        if word.is_span:
            pieces.append((text, word.text))
            text = ""
        else:
            run.append(word.text)
    pieces.append((text + (tokeniser.text(run) if len(run) > 1 else "".join(run)), ""))
    language = tokeniser.language
    return closed_up(((without_spaces(text, language), span) for text, span in pieces), language, source)


def _space(words: Sequence[TranslatedToken], place: int, language: str) -> str | None:
    """What stands before a word, which is not the first; None between words if Moses' rules say it."""
    last, word = words[place - 1 : place + 1]
    before = word.token.before
    if before in _NO_BREAK and (last.sign or word.sign) and not (last.copied and word.copied):
        before = " "  # the languages differ in it
    if last.is_span or word.is_span or before not in _SPACES:
        return before
    if not (last.sign or word.sign):
        return before if (last.copied and word.copied) or before.strip(" ") else None
    if not before and _is_parted(last, word, language):
        return " "
    if not before and last.token.text.endswith("'") and not last.sign and not last.text.endswith("'"):
        return " "  # "l'" is "the"
    if word.text == _CLOSES or last.text == _OPENS:
        return before or (" " if language == "fr" else "")
    opens = last.text[-1:] in _OPENING and not last.text.startswith("</")
    if word.text in _FRENCH | {",", "."} and not opens and _ends(words, place):
        if language != "fr" or word.text not in _FRENCH:
            return ""
        return before or (" " if not last.sign or last.text in _CLOSING - _FRENCH else "")
    return before


def _is_parted(last: TranslatedToken, word: TranslatedToken, language: str) -> bool:
    """Whether a sign beside a word of a language without spaces has a space there in one with spaces."""
    if unspaced_language(language):
        return False
    if last.sign and not word.sign:
        return last.text[-1:] in _ENDING and is_unspaced(word.token.text[:1])
    return word.text[:1] in _BEGINNING and not last.sign and is_unspaced(last.token.text[-1:])


def _ends(words: Sequence[TranslatedToken], place: int) -> bool:
    """Whether nothing but signs that close, or an escape, is joined to a sign."""
    following = words[place + 1] if place + 1 < len(words) else None
    if following is None or following.token.before != "":
        return True
    return following.text in _CLOSING or following.text.startswith("\\")
