r"""Markup: what stands in text for programs, not readers: paths, placeholders, tags and identifiers.

Each is one token: /etc/passwd, ./a.txt, src/main.py, C:\tmp\x; %s, %(name)d, {name}, {{name}}, ${x}, $HOME;
<b>, </b>, <br/>, the attributes of a tag; snake_case. Ordinary text has none: and/or, km/h, 50 %, he /she.
"""

from __future__ import annotations

import re

_EXTENSIONS = (  # those of files that texts name; "and/or.it" is none
    "txt|csv|tsv|json|xml|html?|css|py|js|ts|java|cc|cpp|hpp|[ch]|sh|php|rb|go|rs|md|rst|tex|pdf|docx?|xlsx?|"
    "png|jpe?g|gif|svg|mp[34]|zip|gz|tar|exe|dll|so|conf|cfg|ini|ya?ml|toml|log|sql|po|mo|vec|bin"
)
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
    r"</?[A-Za-z][\w:.-]*/?>",
    r"(?<!\w)<[A-Za-z][\w:.-]*$",  # of a tag with attributes, which follow after a space
    r"(?<![\w.-])[A-Za-z_][\w:.-]*=(?:\"[^\"<>]*\"|'[^'<>]*')/?>?",
    # But German writes Lehrer_innen and jede_r, French auteur_rice.
    r"(?<!\w)(?![^\W_]+_(?:in(?:nen)?|[rn]|rs|es?|t?rices?)\b)[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?!\w)",
)
_MARKUP = re.compile("|".join(_KINDS))
_SIGNS = re.compile(r"[/\\%{$<_=]")  # one of which all markup has
_ADDRESS = re.compile(r"://|@|www\.")
# Of tags that are closed on the same line: <name> alone is a placeholder, which stands apart.
_OPENING = re.compile(r"(<([A-Za-z][\w:.-]*)(?: [^<>]*)?(?<!/)>) (?=.*</\2>)")
_CLOSING = re.compile(r" (</[A-Za-z][^<>]*>)")


def is_markup(token: str) -> bool:
    """Whether a token is markup.

    >>> [is_markup(token) for token in ("%s", "</b>", "/etc/passwd", "%", "and/or")]
    [True, True, True, False, False]
    """
    return _SIGNS.search(token) is not None and _MARKUP.fullmatch(token) is not None


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


def tags_closed_up(text: str) -> str:
    """The text without the spaces that detokenising left inside tags: <b> chat </b> is <b>chat</b>."""
    return _CLOSING.sub(r"\1", _OPENING.sub(r"\1", text)) if "<" in text else text
