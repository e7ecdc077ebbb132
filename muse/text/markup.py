r"""Markup: what stands in text for programs, not readers, and whatever else is no word: what is kept.

`MARKUP` is one token wherever text is read: paths, placeholders, tags, escapes, identifiers. Where text is
translated, `SPANS` are kept too, which may have spaces in them: whole tags and comments, variables of
templates, code, formulas, commands of LaTeX; and of the parts between spaces `NO_WORDS`: addresses, #mot,
R&D, roi.txt, C++. Ordinary text has none: and/or, km/h, 50 %, he /she. A tag that is not closed on its line
is markup if HTML has an element of that name and nothing else makes it doubtful.
"""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

# Tags that need not be closed, and their attributes that have no value.
_UNCLOSED = dict.fromkeys("area base br col embed link meta param source wbr".split(), "") | {
    "audio": "autoplay controls loop muted", "button": "autofocus disabled formnovalidate hidden",
    "details": "open", "dialog": "open", "fieldset": "disabled", "form": "novalidate", "hr": "noshade",
    "iframe": "allowfullscreen", "img": "hidden ismap",
    "input": "autofocus checked disabled formnovalidate hidden multiple readonly required",
    "ol": "reversed", "optgroup": "disabled", "option": "disabled selected",
    "script": "async defer nomodule", "select": "autofocus disabled multiple required",
    "textarea": "autofocus disabled readonly required", "track": "default",
    "video": "autoplay controls loop muted playsinline",
}  # fmt: skip
_EXTENSIONS = (  # those of files that texts name; "and/or.it" is none
    "txt|csv|tsv|json|xml|html?|css|py|js|ts|java|cc|cpp|hpp|sh|php|rb|rs|md|rst|tex|pdf|docx?|xlsx?|pptx?|odt|"
    "epub|png|jpe?g|gif|svg|mp[34]|avi|wav|zip|gz|bz2|xz|7z|tar|exe|dll|conf|cfg|ini|ya?ml|toml|log|sql|vec|bin"
)
_NAME = r"[A-Za-z][\w:.-]*"  # of a tag
_ELEMENTS = (  # of HTML; <nom du fichier> is none
    "a|abbr|acronym|article|aside|b|blockquote|body|br|button|caption|center|cite|code|dd|div|dl|dt|em|font|"
    "footer|form|h[1-6r]|header|html|i|iframe|img|input|label|li|link|meta|nav|ol|option|p|pre|q|s|script|"
    "section|select|small|span|strong|style|su[bp]|svg|table|tbody|t[dhrt]|textarea|title|u|ul|video"
)
# Commands of LaTeX that begin as an escape does.
_TEX = (
    r"\\(?:advance|alpha|backslash|be(?:ta|gingroup)|bf(?:series)?|b(?:ig|ottom)[a-z]+|fi|f(?:ill|oot|or)[a-z]+|new[a-z]+|"
    r"no(?:expand|indent|rmal[a-z]+)|n(?:e|u|umber)|r(?:elax|ho|ight)|t(?:au|heta|ext[a-z]+|ikz|imes|iny|itle|oc[a-z]*)|"
    r"tableofcontents|the(?:[A-Z]\w*|page|section)|v(?:box|erb|fill|offset|rule|skip|space))\b"
)
_ESCAPE = r"\\(?:u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|x[\dA-Fa-f]{2}|[ntrvfab0\"'\\Nh]|[A-Za-z](?!\w))"
# Paths of Windows, which may have what looks like an escape.
_WINDOWS = r"(?<!\w)[A-Za-z]:\\(?:[^\s/:*?\"<>|,;]*[\w\\])?|(?<!\\)\\\\\w[^\s/:*?\"<>|,;]*[\w\\]"
MARKUP = (
    r"(?<![\w/.:])/[\w.+-]*\w(?:/[\w.+-]*\w)+/?",  # of two folders at least
    r"(?<![\w/.:~])(?:~|\.{1,2})(?:/[\w.+-]*\w)+/?|(?<![\w/.:])/(?:bin|dev|etc|home|lib|proc|sys|tmp|usr|var)/?(?!\w)",
    rf"(?<![\w./-])[\w-][\w.-]*(?:/[\w.-]+)+\.(?:{_EXTENSIONS}|[cho]|so|go|po|mo)(?![\w/])",
    _WINDOWS,
    rf"\\[A-Za-z]+\*?(?=[\[{{])|{_TEX}|{_ESCAPE}|\\[A-Za-z]{{2,}}",
    r"(?<![\w%])%%?\w+%%?(?!\w)|(?<!\w)__\w+__(?!\w)|\*\|\w+\|\*|<<\w+>>",
    r"(?<![\d%])(?:%%?(?:\d+\$)?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[jzt])?[a-zA-Z@]\w*)+|%L\d(?!\w)",
    r"%[({<]\w+[)}>](?:[-+#0]*\d*(?:\.\d+)?[diouxXeEfFgGcrs](?!\w))?",
    r"\$?\{\{?[\w.:!<>^+=,\[\]()#|-]*\}\}?",
    r"(?<![\w$])\$(?![mb]illions?\b)(?:[A-Z_]{3,}|[a-z_]\w*)(?:->\w+|\[\w*\])*(?!\w)",
    rf"</?{_NAME}/?>|<\?\w+",
    rf"(?<!\w)<(?:{_ELEMENTS}|\w+:[\w:.-]+)$",  # of a tag with attributes, which follow after a space
    r"(?<![\w.-])[A-Za-z_][\w:.-]*=(?:\\?\"[^\"<>]*\"|\\?'[^'<>]*')/?>?",
    # But German writes Lehrer_innen and jede_r, French auteur_rice.
    r"(?<!\w)(?![^\W_]+_(?:in(?:nen)?|[rn]|rs|es?|t?rices?)\b)[^\W\d_][^\W_]*(?:\\?_+[^\W_]+)+(?!\w)",
)
_MARKUP = re.compile("|".join(MARKUP))
_SIGNS = re.compile(r"[/\\%{$<_=]|\*\|")  # all markup has one of these
_ADDRESS = re.compile(r"://|@|www\.")

# Addresses of the web and of other schemes.
URL, WEB_SITE = r"[A-Za-z][A-Za-z0-9+.-]{1,15}://(?:\S*[\w/])?", r"www\.\S*[\w/]"
# Capitals, and what may not stand beside them: letters without case may, as in Chinese.
_CAPITAL, _CASED = "[A-ZÀ-ÖØ-ÞΑ-ΩЀ-Я]", "[A-Za-zÀ-ÖØ-öø-ɏΑ-ωЀ-ӿ0-9_]"
NO_WORDS = (
    rf"(?<![A-Za-z0-9+.-]){URL}",
    WEB_SITE,
    r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.\w+)*",
    r"(?<![\w.@-])(?:[\w-]+\.)+[a-z]{2,}/\S*[\w/]",  # a domain with a path
    r"(?<![\w&/])[@#]\w+(?:\.\w+)*",
    r"(?<![^(\[\"']):[a-z]\w*(?:[.:]\w+)*:?|(?<!\w):[a-z]\w*:(?!\w)",  # :nom, :smile:
    r"(?<!\w)``?(?=\w)",  # that opens a quotation, as in GNU's `roi'
    r"(?<!\w)\w{0,40}&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});\w{0,40}",  # what is no entity
    rf"(?<!{_CASED}){_CAPITAL}{{1,5}}(?:&{_CAPITAL}{{1,5}})+s?(?!{_CASED})",  # R&D
    r"(?<!\w)[^\W\d_]+&[a-zà-ÿ][^\W\d_]*",  # Co&mmand, as menus have it
    r"(?<![\w-])-(?:-[a-z][\w-]*\w(?!-)|[A-Za-z](?![\w'’-]))",  # --help, -h
    r"(?<![\w/.-])[A-Za-z](?:/[A-Za-z]{1,2}[²³]?)+(?![\w/'’-])",  # A/B, n/a, m/s²
    r"^\(?[A-Za-z]\)(?=[.,:;]?$)",  # a) and (b) of a list
    r"(?<![\w'’])[A-Za-z]\([A-Za-z0-9](?:,[A-Za-z0-9])*\)",  # f(x)
    r"(?<![\w.:>])\w+(?:(?:\.|::|->)\w+)*\(\)|(?<![\w:])\w*(?:::\w+)+",  # main(), std::list
    r"(?<!\S)\|\w[\w-]*\|(?!\S)",  # of reStructuredText
    r"(?<![\w'’])O['’][A-Z]\w+",  # O'Brien
    r"(?<![\w'’])\w+['’]n['’]\w+",  # rock'n'roll
    rf"(?<![\w./@-])\w[\w.-]*\.(?:{_EXTENSIONS})(?!\w)",
    rf"(?<!{_CASED})[A-Z](?:\+\+|#)(?!{_CASED}|[+#])",
    r"(?<!\S)\.[^\W\d_]\w*",  # .NET
    r"(?<!\w)[nN][°º]",
    r"°[CFK](?!\w)",
    r"(?<![\w=])(?:[A-Za-z]=|\w+=%)\w+(?![\w=])",  # x=5
    r"(?<!\w)\d{2,4}['’]s(?!\w)",  # the 80's
    r"(?<!\w)\w*?[²³¹\u2070-\u209c]\w*",
    r"(?<![\w:;=])[:;=]['’]?-?[)(\]\[DPpOo/\\|*3](?!\w)",
)

# What stands for another sign: entities, apostrophes of strings and messages, a no-break space of LaTeX.
ENTITY = re.compile(
    r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});|(?<=[^\W\d_])(?:\\|')(?='[^\W\d_])"
    r"|(?<=[^\W\d_]|[}.])~(?=\w)"
)
_MAY_STAND_FOR = re.compile(r"&|\\'|''|~")

# Tags, whose attributes may have no value, or one without quotation marks.
_VALUE = r"""\s*=\s*(?:\\?"[^"]*"|\\?'[^']*'|[^\s"'<>=`]+)"""
_TAG = rf"</{_NAME}\s*>|<({_NAME})(?:\s+[\w:@.-]+(?:{_VALUE})?)*\s*/?>"
_ATTRIBUTE = re.compile(rf"\s([\w:@.-]+)({_VALUE})?")
_CLOSED = re.compile(rf"</({_NAME})\s*>")
_QUOTED = re.compile(r"""=\s*\\?["']""")
_ARGUMENTS = r"(?:\(\s?\w{1,3}(?:\s?[-,+*/^]\s?\w{1,3}){0,8}\s?\))?"
_TERM = rf"-?(?:\d+(?:[.,]\d+)?[A-Za-z]?|[A-Za-z](?:_\w{{1,9}}|\d)?{_ARGUMENTS})"
_RELATION = r"(?:\s?(?:[<>!:=]?=|[≤≥≠≈∈∉→∝])\s?|\s[<>]\s)"
_FORMULA = rf"(?<![\w'’.,/-]){_TERM}(?:\s?[-+*/·×^]\s?{_TERM}){{0,8}}{_RELATION}"
_FORMULA += rf"{_TERM}(?:(?:\s?[-+*/·×^]\s?|{_RELATION}){_TERM}){{0,8}}(?![\w'’(>])"
_BBCODE = "[bius]|url|img|quote|code|list|color|size|font|center|left|right|spoiler|youtube|table|t[rdh]|li|"
_BBCODE += "kbd|em|strong|su[bp]|abbr|doc|var"


class _Span(NamedTuple):
    """A kind of span: how it begins, and what ends it, unless it is whole.

    `{}` of the end is the group of the beginning. Between are at most so many characters, or several `lines`,
    and nothing that `no_span` finds.
    """

    begin: str
    end: str = ""
    most: int = 0
    lines: bool = False
    no_span: str = ""


_TWO_WORDS = r"[^\W\d_]{3,}[,.]? [^\W\d_]{2,}"  # of a text between two amounts of money
SPANS = (
    _Span("<!--(?!-->)|<!--(?=-->)", "(?<!<!-)-->", lines=True),
    _Span(r"<((?i:pre|script|style|textarea))\b[^<>]*(?<!/)>", r"</{}\s*>", lines=True),
    _Span(r"<((?i:code|kbd|samp|var|tt|math|svg))\b[^<>]*(?<!/)>", r"</{}\s*>"),
    _Span(r"<(?=[%?])", r"[%?]>", 500),
    _Span(_TAG),
    _Span(r"""(?<![\w:.-])[A-Za-z_][\w:.-]*=\\?"[^"<>\s]{0,200}\s[^"<>]{0,500}"(?:/?>)?"""),  # of a tag
    _Span(r"^\s*\$ \w.*$|^\s*>>> (?:import |from |\w[\w.,\s]*=|[\w.]+[(\[]).*$"),  # prompts
    _Span(r"&lt;[/!]?[A-Za-z](?:(?!&[lg]t;)[^<>]){0,200}&gt;"),
    _Span(r"^\s*(```+|~~~(?=\s*\w*\s*$))[^`]*$", r"^\s*{}\s*$", lines=True),
    _Span(r"(?<![`\w])(`+)(?!`)", r"(?<!`){}(?!`)(?:s|__?)?(?!\w)", 500),
    _Span(r"\\begin\{(equation|align|gather|verbatim|lstlisting|math|displaymath|tikzpicture)\*?\}",
          r"\\end\{{}\*?\}", lines=True),
    _Span(r"\\(?:begin|end|label|(?:eq|page|auto|c)?ref|cite[a-z]*|includegraphics|input|include|usepackage|"
          r"documentclass|bibliography[a-z]*|url|href|vspace|hspace)\*?(?:\[[^\]]{0,200}\])?\{[^{}]{0,200}\}"),
    _Span(r"\\[A-Za-z]{2,}\*?(?:\[[^\]]{0,80}\])?\{"),
    _Span(rf"{_WINDOWS}|{_TEX}|(?<!\\)\\[nrtNh]"),  # what is behind is as at the beginning of a line
    _Span(r"\\\(", r"\\\)", 500),
    _Span(r"\\\[", r"\\\]", 500),
    _Span(r"\$\$(?=.)", r"\$\$", 500),
    _Span(r"\{\{\{?|\$\{\{", r"\}\}\}?", 500),
    _Span(r"\{%", r"%\}", 500),
    _Span(r"\[%", r"%\]", 500),
    _Span(r"\{#(?![\w-])", r"#\}", 500),
    _Span(r"[$#%@]\{", r"\}", 200),
    _Span(r"(?<!\w)\$\w*\(", r"\)", 200),
    _Span(r"\[\[", r"\]\]", 200),
    _Span(r"<<(?=\s?\w)", r">>", 60, no_span=r"[^\w\s.:-]"),
    # Of messages (ICU): what is chosen by, and its cases; numbers and dates; {nom}; of Svelte and ASS.
    _Span(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,(?:\s*offset:\d+)?\s*(?:=\d+|\w+)\s*\{"),
    _Span(r"\}\s*(?:=\d+|zero|one|two|few|many|other)\s*\{"),
    _Span(r"\{\s*(?:\w+\s*,\s*(?:number|date|time|spellout|ordinal|duration)\b[^{}]{0,80}|"
          r"[$\w][\w.:<>%/+*^=-]{0,60}(?:\[\w+\])?|[#/:@.\\][^{}]{1,80})\s*\}"),
    _Span(r"%\(\s*\w+\s*\)[-+#0]*\d*(?:\.\d+)?[a-zA-Z](?!\w)|\$\w+\[['\"]\w+['\"]\]"),
    _Span(r"(?<![\w$\\])\$(?![\s$])", r"(?<![\s\\])\$(?![\w$])", 200, no_span=_TWO_WORDS),
    _Span(rf"(?i:\[/?(?:{_BBCODE})(?:=[^\[\]]{{0,200}})?\])|\[[ xX]\]|\[/?\w+(?:\s+\w+=[^\[\]]{{1,200}})\]"),
    _Span(r"(?<=\])(?:\([^()\s]{1,500}(?:\s+\"[^\"]{0,200}\")?\)|\[[^\[\]]{0,80}\])"),  # the target of a link
    _Span(r"^\s*\.\.\s(?:[\w-]+::|_[^:]{1,80}:|\|[^|]{1,80}\|\s[\w-]+::)|^\s*\[[^\[\]]{1,80}\]:\s*<?(?:\w+:|[#./])\S*"),
    _Span(_FORMULA),
)  # fmt: skip
_SPANS = re.compile("|".join(f"(?P<_{place}>{span.begin})" for place, span in enumerate(SPANS)))
_INNER = {*range(1, _SPANS.groups + 1)} - {*_SPANS.groupindex.values()}  # the groups of beginnings
_SPAN_SIGNS = re.compile(r"[<>{\[\\$=`%≤≥≠≈∈∉→∝]|&lt;|~~~|\.\. ")  # all spans have one of these


@dataclass
class OpenSpan:
    """What ends the span that a line of a text has left open; None between spans."""

    end: re.Pattern[str] | None = None


def is_markup(token: str) -> bool:
    """Whether a token is markup.

    >>> [is_markup(token) for token in ("%s", "</b>", "/etc/passwd", "{{ x }}", "%", "and/or")]
    [True, True, True, True, False, False]
    """
    if _SIGNS.search(token) and _MARKUP.fullmatch(token):
        return True
    return _SPAN_SIGNS.search(token) is not None and split_at_spans(token)[0] == ("", token)


def split_at_markup(part: str) -> list[tuple[str, bool]]:
    """The strings that a part of a line between spaces consists of, and whether each is markup.

    Parts with an address are left whole.

    >>> split_at_markup("(<b>chat</b>)")
    [('(', False), ('<b>', True), ('chat', False), ('</b>', True), (')', False)]
    """
    if not _SIGNS.search(part) or _ADDRESS.search(part):
        return [(part, False)]
    return split_at(_MARKUP, part)


def unescaped(text: str) -> str:
    r"""The text with the signs that entities stand for.

    >>> unescaped(r"l&#39;&eacute;t&eacute; &amp; &nom; l\'eau")
    "l'été & &nom; l'eau"
    """
    return ENTITY.sub(sign_of, text) if _MAY_STAND_FOR.search(text) else text


def sign_of(match: re.Match[str]) -> str:
    """What a match of ENTITY stands for."""
    return {"~": "\u00a0", "\\": "", "'": ""}.get(match[0], html.unescape(match[0]))


def split_at(pattern: re.Pattern[str], part: str) -> list[tuple[str, bool]]:
    """The strings that a part consists of, and whether the pattern has found each."""
    found, end = list[tuple[str, bool]](), 0
    for match in pattern.finditer(part):
        found += [(part[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [(text, whole) for text, whole in [*found, (part[end:], False)] if text]


def split_at_spans(line: str, opened: OpenSpan | None = None) -> list[tuple[str, str]]:
    """The text before each span of a line, and the span; "" after the last text.

    `opened` is what the lines before leave open, which this one may close, or open itself. In `a <b and c> d`
    there is no tag: it has quotation marks, closes itself, is closed on the line, or is one of HTML that need
    not be, such as `<input disabled>`; `<input file>` is a placeholder.

    >>> split_at_spans('See <a href="x" title="a b">this</a>. <br />')
    [('See ', '<a href="x" title="a b">'), ('this</a>. ', '<br />'), ('', '')]
    """
    found, end = list[tuple[str, str]](), 0
    if opened is not None and opened.end is not None:
        closing = opened.end.search(line)
        if closing is None:
            return [("", line), ("", "")]
        opened.end, end = None, closing.end()
        found.append(("", line[:end]))
    if not _SPAN_SIGNS.search(line):
        return [*found, (line[end:], "")]
    # The place of the last closing tag of each name, and what is not found behind a place.
    closed = {match[1]: match.start() for match in _CLOSED.finditer(line)} if "</" in line else {}
    absent, place = set[str](), end
    while match := _SPANS.search(line, place):
        stop = _end_of(match, closed, absent, opened)
        if stop > match.start():
            found.append((line[end : match.start()], line[match.start() : stop]))
            end = stop
        place = max(stop, match.end())
    return [*found, (line[end:], "")]


def _end_of(
    match: re.Match[str], closed: Mapping[str, int], absent: set[str], opened: OpenSpan | None
) -> int:
    """Where the span of a match ends; -1 if it is none."""
    name = match.lastgroup or ""
    span, inner = SPANS[int(name[1:])], match.re.groupindex[name] + 1
    group = match[inner] if inner in _INNER else None
    if span.begin == _TAG:
        return match.end() if _is_whole(match[0], group, match.end(), closed) else -1
    if not span.end:
        return match.end()
    line, begin, end = match.string, match.end(), _ending(span.end, group or "")
    if end.pattern in absent:
        return -1
    stop = end.search(line, begin, begin + span.most if span.most else len(line))
    if stop is None:
        if span.lines and opened is not None:
            opened.end = end
            return len(line)
        if not span.most:
            absent.add(end.pattern)
        return -1
    return -1 if span.no_span and re.search(span.no_span, line[begin : stop.start()]) else stop.end()


@cache
def _ending(end: str, group: str) -> re.Pattern[str]:
    return re.compile(end.replace("{}", re.escape(group)), re.IGNORECASE)


def _is_whole(tag: str, name: str | None, end: int, closed: Mapping[str, int]) -> bool:
    if not any(map(str.isspace, tag)):
        return False  # part of a line between spaces, or of one
    if name is None or tag.endswith("/>") or closed.get(name, -1) >= end or _QUOTED.search(tag):
        return True
    bare = {attribute.lower() for attribute, value in _ATTRIBUTE.findall(tag) if not value}
    return name.lower() in _UNCLOSED and bare <= {*_UNCLOSED[name.lower()].split()}
