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
from muse.text.markup import is_markup, split_at_tags
from muse.text.segmentation import is_unspaced, unspaced_language, without_spaces
from muse.text.tokens import LONGEST_PART, URL, WEB_SITE, Tokeniser, closed_up, next_part_kind

_FILES = (
    "txt|csv|tsv|json|xml|html?|css|py|js|ts|java|cc|cpp|hpp|sh|php|rb|rs|md|rst|tex|pdf|docx?|xlsx?|pptx?|odt|"
    "epub|png|jpe?g|gif|svg|mp[34]|avi|wav|zip|gz|bz2|xz|7z|tar|exe|dll|conf|cfg|ini|ya?ml|toml|log|sql|vec|bin"
)
# Capitals, and what may not stand beside them: letters without case may, as in Chinese.
_CAPITAL, _CASED = "[A-ZÀ-ÖØ-ÞΑ-ΩЀ-Я]", "[A-Za-zÀ-ÖØ-öø-ɏΑ-ωЀ-ӿ0-9_]"
_KEPT = re.compile(
    "|".join(
        (
            rf"(?<![A-Za-z0-9+.-]){URL}",
            WEB_SITE,
            r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.\w+)*",
            r"(?<![\w.@-])(?:[\w-]+\.)+[a-z]{2,}/\S*[\w/]",  # a domain with a path
            r"(?<![\w&/])[@#]\w+",
            r"(?<!\w)(?:\w{0,40}&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});)+\w{0,40}",  # &eacute;
            rf"(?<!{_CASED}){_CAPITAL}{{1,5}}(?:&{_CAPITAL}{{1,5}})+s?(?!{_CASED})",  # R&D
            r"(?<![\w/.-])[A-Za-z](?:/[A-Za-z]{1,2}[²³]?)+(?![\w/'’-])",  # A/B, n/a, m/s²
            r"^\(?[A-Za-z]\)(?=[.,:;]?$)",  # a) and (b) of a list
            r"(?<![\w'’])O['’][A-Z]\w+",  # O'Brien
            r"(?<![\w'’])\w+['’]n['’]\w+",  # rock'n'roll
            r"(?<![\w./@-])\w[\w.-]*\.(?:" + _FILES + r")(?!\w)",
            rf"(?<!{_CASED})[A-Z](?:\+\+|#)(?!{_CASED}|[+#])",
            r"(?<!\S)\.[^\W\d_]\w*",  # .NET
            r"(?<!\w)[nN][°º]",
            r"°[CFK](?!\w)",
            r"(?<![\w=])[A-Za-z]=\w+(?![\w=])",  # x=5
            r"(?<!\w)\d{2,4}['’]s(?!\w)",  # the 80's
            r"(?<!\w)\w*?[²³¹\u2070-\u209c]\w*",
            r"(?<![\w:;=])[:;=]['’]?-?[)(\]\[DPpOo/\\|*3](?!\w)",
        )
    )
)
_WITH_APOSTROPHES = re.compile("O['’][A-Z]|['’]n['’]|['’]s")
# Languages with words before apostrophes, but for McDonald's.
_KEPT_IN_ROMANCE = re.compile(rf"{_KEPT.pattern}|(?<![\w'’])[A-Z]\w+['’]s(?!\w)")
_PART = re.compile(r"\S+")
_NO_BREAK = frozenset("\u00a0\u202f\u2007")
# Apostrophes that may open and close a quotation: 'la mer', not l'homme.
_QUOTE = re.compile(r"(?<![^\s(\[{«“„—–-])'(?=\w)|(?<=[\w.,!?…»”)])'(?!\w)")
_IN_WORDS, _AFTER_WORDS = str.maketrans("", "", "'’-"), ",;:?!."
_FRENCH = frozenset("?!:;%")  # signs after a space in French, and after none in other languages
_OPENING = frozenset("([{«“„‘<>=+/*~—–-")
_CLOSING = frozenset([*")]}»”\"'.…?!", "..."])
_SOFT_HYPHEN = "\u00ad"
_BEGINNING, _ENDING = frozenset("“‘「『（《〈【([{"), frozenset("”’」』）》〉】)]}%％")
_OPENS, _CLOSES = "«", "»"


class WrittenToken(NamedTuple):
    """A token, what stands before it in its line, "" or a space, and how it is written there.

    `kept` ones are no words. The written form may have another apostrophe than the token, or accents apart.
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
        return not any(map(str.isalnum, self.token.text)) or is_markup(self.token.text)


def written_tokens(tokeniser: Tokeniser, line: str) -> list[WrittenToken]:
    """The tokens of a line; tags with spaces in them, and comments, are one each.

    >>> [token.text for token in written_tokens(Tokeniser("fr"), "R&D 'à la mer', 20 °C")]
    ['R&D', "'", 'à', 'la', 'mer', "'", ',', '20', '°C']
    """
    found, glued = list[WrittenToken](), False
    for text, tag in split_at_tags(line):
        found += _tokens(tokeniser, text, tag, glued=glued)
        if tag:
            found.append(WrittenToken(tag, "" if text and not text[-1].isspace() else " ", tag, kept=True))
        glued = bool(tag)
    return found


def _tokens(tokeniser: Tokeniser, text: str, then: str, *, glued: bool) -> Iterator[WrittenToken]:
    parts = list(_parts(text, glued=glued))
    followings = [*(part for _, part, _ in parts[1:]), then]
    for (before, part, quote), following in zip(parts, followings, strict=False):
        pieces = [(part, True)] if quote else _split_at_kept(part, tokeniser.language)
        for place, (piece, kept) in enumerate(pieces, 1):
            space = before if place == 1 else ""
            if kept:
                yield WrittenToken(piece, space, piece, kept=True)
                continue
            follows = next_part_kind(piece, following) if place == len(pieces) else ""
            yield from _in_place(tokeniser.part_tokens(piece, follows), piece, space)


def _parts(text: str, *, glued: bool) -> Iterator[tuple[str, str, bool]]:
    """The parts of a text between spaces with what is before each; a quotation mark is a part of its own."""
    quotes = iter(_quotes(text) if "'" in text else ())
    quote = next(quotes, len(text))
    end = 0
    for match in _PART.finditer(text):
        between = text[end : match.start()]
        begin, end = match.span()
        space = between if between in _NO_BREAK else " " if between or not (begin or glued) else ""
        while quote < end:
            if begin < quote:
                yield space, text[begin:quote], False
                space = ""
            yield space, "'", True
            space, begin, quote = "", quote + 1, next(quotes, len(text))
        if begin < end:
            yield space, text[begin:end], False


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
    if (is_word and not _WITH_APOSTROPHES.search(part)) or len(part) > LONGEST_PART:
        return [(part, False)]
    found, end = list[tuple[str, bool]](), 0
    kept = _KEPT_IN_ROMANCE if language in ("fr", "it") else _KEPT
    for match in kept.finditer(part):
        found += [(part[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [(text, kept) for text, kept in [*found, (part[end:], False)] if text]


def _in_place(tokens: Sequence[str], piece: str, space: str) -> Iterator[WrittenToken]:
    """The tokens of a piece with what stands before them there: a space, if they are not in it as such."""
    plain, end = composed(piece).replace("\u2019", "'"), 0
    as_written = len(plain) == len(piece)
    places = [place for place, letter in enumerate(plain) if letter != _SOFT_HYPHEN]
    plain = plain.replace(_SOFT_HYPHEN, "")
    for place, token in enumerate(tokens):
        begin = plain.find(token.replace("\u2019", "'"), end)
        before = space if place == 0 else "" if begin == end else " "
        if begin < 0:  # of a contraction that is written out
            yield WrittenToken(token, before, token)
            continue
        end = begin + len(token)
        yield WrittenToken(token, before, piece[places[begin] : places[end - 1] + 1] if as_written else token)


def joined_line(words: Sequence[TranslatedToken], tokeniser: Tokeniser) -> str:
    """The line of a translation in the language of a tokeniser, with the spaces of the line translated.

    >>> found = written_tokens(Tokeniser("fr"), "20 °C : 'oui' !")
    >>> joined_line([TranslatedToken(token.text, token, True) for token in found], Tokeniser("en"))
    "20 °C: 'oui'!"
    """
    found, run = list[str](), list[str]()
    for place, word in enumerate(words):
        space = _space(words, place, tokeniser.language) if place else ""
        if space is not None:
            found += [tokeniser.text(run) if len(run) > 1 else "".join(run), space]
            run = []
        run.append(word.text)
    found.append(tokeniser.text(run) if len(run) > 1 else "".join(run))
    line = closed_up("".join(found), tokeniser.language)
    parts = split_at_tags(line)  # the spaces in a tag are its own
    return "".join(without_spaces(between, tokeniser.language) + tag for between, tag in parts)


def _space(words: Sequence[TranslatedToken], place: int, language: str) -> str | None:
    """What stands before a word, which is not the first; None between words if Moses' rules say it."""
    last, word = words[place - 1 : place + 1]
    before = word.token.before
    if not (last.copied and word.copied):
        before = before and " "  # a no-break space is for what it holds together
    if not (last.sign or word.sign):
        return before if last.copied and word.copied else None
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
    """Whether nothing but signs that close is joined to a sign."""
    following = words[place + 1] if place + 1 < len(words) else None
    return following is None or following.token.before != "" or following.text in _CLOSING
