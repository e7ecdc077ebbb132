"""Pages: HTML files that load nothing: style and script are in them, and no others are allowed.

The explorer serves such a page too, whose style and script are then files of the same server.
"""

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

from muse.files.json_text import without_surrogates
from muse.languages import english_name, language_code, writes_right_to_left

_MARK = "$content\n"  # a line of the body
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; "
    "script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
)
_ABOVE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
$policy<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
$style
</head>
<body>
""")


@dataclass(frozen=True)
class PageFiles:
    """The files of a page, named as in muse: what stands in its body, styles, and scripts."""

    body: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]

    def around(self, languages: tuple[str, str], title: str, *, served: bool = False) -> tuple[str, str]:
        """What stands before and after the content of a page about two languages.

        For the title the name of a file, which need not be UTF-8, will do. What the explorer has `served`
        may load style and script from it.
        """
        source, target = (escape(english_name(one)) for one in languages)
        both = f"{source} and {target}"
        shown = f"{escape(without_surrogates(title))}: {both}" if title else both
        if served:
            policy = ""
            style = "".join(map('<link rel="stylesheet" href="{}">'.format, map(_url, self.styles)))
            script = "".join(map('<script type="module" src="{}"></script>'.format, map(_url, self.scripts)))
        else:
            style, script = _read(*self.styles), _read(*self.scripts)
            policy = _POLICY.format(_hash(style), _hash(script))
            style, script = f"<style>{style}</style>", f'<script type="module">{script}</script>'
        names = {"title": shown, "source": source, "target": target}
        first, last = (Template(part).substitute(names) for part in _read(self.body).split(_MARK))
        above = _ABOVE.substitute(names, policy=policy, style=style)
        return above + first, f"{last}{script}\n</body>\n</html>\n"


def _url(name: str) -> str:
    return f"/page/{name.replace('/templates', '')}"


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
