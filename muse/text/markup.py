r"""Markup: what stands in text for programs, not readers: paths, placeholders, tags and identifiers.

Each is one token: /etc/passwd, ./a.txt, src/main.py, C:\tmp\x; %s, %(name)d, {name}, {{name}}, ${x}, $HOME;
<b>, </b>, <br/>, the attributes of a tag, in text to be translated whole tags and comments; snake_case.
Ordinary text has none: and/or, km/h, 50 %, he /she. A tag that is not closed on its line
is markup if HTML has an element of that name and nothing else makes it doubtful.
"""

import re
from collections.abc import Mapping

# Tags that need not be closed, and their attributes that have no value.
_UNCLOSED = dict.fromkeys("area base br col embed link meta param source wbr".split(), "") | {
    "audio": "autoplay controls loop muted",
    "button": "autofocus disabled formnovalidate hidden",
    "details": "open",
    "dialog": "open",
    "fieldset": "disabled",
    "form": "novalidate",
    "hr": "noshade",
    "iframe": "allowfullscreen",
    "img": "hidden ismap",
    "input": "autofocus checked disabled formnovalidate hidden multiple readonly required",
    "ol": "reversed",
    "optgroup": "disabled",
    "option": "disabled selected",
    "script": "async defer nomodule",
    "select": "autofocus disabled multiple required",
    "textarea": "autofocus disabled readonly required",
    "track": "default",
    "video": "autoplay controls loop muted playsinline",
}
_EXTENSIONS = (  # those of files that texts name; "and/or.it" is none
    "txt|csv|tsv|json|xml|html?|css|py|js|ts|java|cc|cpp|hpp|[ch]|sh|php|rb|go|rs|md|rst|tex|pdf|docx?|xlsx?|"
    "png|jpe?g|gif|svg|mp[34]|zip|gz|tar|exe|dll|so|conf|cfg|ini|ya?ml|toml|log|sql|po|mo|vec|bin"
)
_NAME = r"[A-Za-z][\w:.-]*"  # of a tag
_KINDS = (
    r"(?<![\w/.:])/[\w.+-]*\w(?:/[\w.+-]*\w)+/?",  # of two folders at least
    r"(?<![\w/.:~])(?:~|\.{1,2})(?:/[\w.+-]*\w)+/?",
    r"(?<![\w./-])[\w-][\w.-]*(?:/[\w.-]+)+\.(?:" + _EXTENSIONS + r")(?![\w/])",
    r"(?<!\w)[A-Za-z]:\\(?:[^\s/:*?\"<>|,;]*[\w\\])?",
    r"(?<!\\)\\\\\w[^\s/:*?\"<>|,;]*[\w\\]",
    r"(?<![\w%])(?:%(?:\d+\$)?[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[jzt])?[diouxXeEfFgGcrs])+(?!\w)",
    r"%\(\w+\)[-+#0]*\d*(?:\.\d+)?[diouxXeEfFgGcrs](?!\w)",
    r"\$?\{\{?[\w.:!<>^+=,\[\]()#|-]*\}\}?",
    r"(?<![\w$])\$(?![mb]illions?\b)(?:[A-Z_]{3,}|[a-z_][a-z0-9_]+)(?!\w)",
    rf"</?{_NAME}/?>",
    rf"(?<!\w)<{_NAME}$",  # of a tag with attributes, which follow after a space
    r"(?<![\w.-])[A-Za-z_][\w:.-]*=(?:\"[^\"<>]*\"|'[^'<>]*')/?>?",
    # But German writes Lehrer_innen and jede_r, French auteur_rice.
    r"(?<!\w)(?![^\W_]+_(?:in(?:nen)?|[rn]|rs|es?|t?rices?)\b)[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?!\w)",
)
_MARKUP = re.compile("|".join(_KINDS))
_SIGNS = re.compile(r"[/\\%{$<_=]")  # all markup has one of these
_ADDRESS = re.compile(r"://|@|www\.")
# Tags, whose attributes may have no value, or one without quotation marks; and comments.
_VALUE = r"""\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>=`]+)"""
_TAG = re.compile(rf"<!--(?:(?!<!--|-->).)*-->|</{_NAME}\s*>|<({_NAME})(?:\s+[\w:@.-]+(?:{_VALUE})?)*\s*/?>")
_ATTRIBUTE = re.compile(rf"\s([\w:@.-]+)({_VALUE})?")
_CLOSED = re.compile(rf"</({_NAME})\s*>")
_QUOTED = re.compile(r"""=\s*["']""")


def is_markup(token: str) -> bool:
    """Whether a token is markup.

    >>> [is_markup(token) for token in ("%s", "</b>", "/etc/passwd", "%", "and/or")]
    [True, True, True, False, False]
    """
    if not _SIGNS.search(token):
        return False
    return _MARKUP.fullmatch(token) is not None or _TAG.fullmatch(token) is not None


def split_at_markup(part: str) -> list[tuple[str, bool]]:
    """The strings that a part of a line between spaces consists of, and whether each is markup.

    Parts with an address are left whole.

    >>> split_at_markup("(<b>chat</b>)")
    [('(', False), ('<b>', True), ('chat', False), ('</b>', True), (')', False)]
    """
    if not _SIGNS.search(part) or _ADDRESS.search(part):
        return [(part, False)]
    found, end = list[tuple[str, bool]](), 0
    for match in _MARKUP.finditer(part):
        found += [(part[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [(text, whole) for text, whole in [*found, (part[end:], False)] if text]


def split_at_tags(line: str) -> list[tuple[str, str]]:
    """The text before each tag with spaces in it, or comment, of a line, and the tag; "" after the last text.

    In `a <b and c> d` there is none: a tag has quotation marks, closes itself, is closed on the line, or is
    one of HTML that need not be, such as `<input disabled>`; `<input file>` is a placeholder.

    >>> split_at_tags('See <a href="x" title="a b">this</a>. <br />')
    [('See ', '<a href="x" title="a b">'), ('this</a>. ', '<br />'), ('', '')]
    """
    found, end = list[tuple[str, str]](), 0
    # The place of the last closing tag of each name.
    closed = {match[1]: match.start() for match in _CLOSED.finditer(line)} if "</" in line else {}
    for match in _TAG.finditer(line) if "<" in line else ():
        if _is_whole(match, closed):
            found.append((line[end : match.start()], match[0]))
            end = match.end()
    return [*found, (line[end:], "")]


def _is_whole(match: re.Match[str], closed: Mapping[str, int]) -> bool:
    tag, name = match[0], match[1]
    if tag.startswith("<!--"):
        return True
    if not any(map(str.isspace, tag)):
        return False  # part of a line between spaces, or of one
    if name is None or tag.endswith("/>") or closed.get(name, -1) >= match.end() or _QUOTED.search(tag):
        return True
    bare = {attribute.lower() for attribute, value in _ATTRIBUTE.findall(tag) if not value}
    return name.lower() in _UNCLOSED and bare <= {*_UNCLOSED[name.lower()].split()}
