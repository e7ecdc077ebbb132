"""Pages: HTML files that load nothing: style and script are in them, and no others are allowed."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from muse.languages import english_name, language_code, writes_right_to_left


def page_around(
    mark: str, template: str, styles: Sequence[str], scripts: Sequence[str], languages: tuple[str, str],
    title: str,
) -> tuple[str, str]:  # fmt: skip
    """What stands before and after a mark on a line of a template, its parts, named as in muse, filled in.

    The title is that of a page about two languages; the name of a file, which need not be UTF-8, will do.
    """
    style, script = _read(*styles), _read(*scripts)
    source, target = (escape(english_name(one)) for one in languages)
    both = f"{source} and {target}"
    values = {
        "title": f"{escape(title.encode(errors='replace').decode())}: {both}" if title else both,
        "source": source, "target": target, "style": style, "style_hash": _hash(style), "script": script,
        "script_hash": _hash(script),
    }  # fmt: skip
    before, _, after = _read(template).partition(f"{mark}\n")
    return Template(before).substitute(values), Template(after).substitute(values)


def _read(*names: str) -> str:
    folder = files("muse")
    return "\n".join(folder.joinpath(*name.split("/")).read_text(encoding="utf-8") for name in names)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def language_attributes(language: str) -> str:
    """The attributes of HTML that say the language of a text and its direction, as far as they are known.

    >>> language_attributes("fra"), language_attributes("he"), language_attributes("xx")
    (' lang="fr" dir="ltr"', ' lang="he" dir="rtl"', ' dir="auto"')
    """
    if english_name(language) == language:
        return ' dir="auto"'
    return f' lang="{language_code(language)}" dir="{"rtl" if writes_right_to_left(language) else "ltr"}"'
