"""muse link: words aligned in parallel sentences."""

from __future__ import annotations

from itertools import repeat
from pathlib import Path

from muse.commands.command import command
from muse.commands.options import choose_direction, open_space
from muse.commands.outputs import Report, echo
from muse.options import Common, Device, OneSpace, Threads, option


class LinkOptions(OneSpace, Device, Threads, Common):
    """The options of `muse link`."""

    source: Path = option(section="Input", help="Sentences in --src, one a line, with spaces between tokens.")
    target: Path = option(section="Input", help="Their translations into --tgt, line by line.")
    src: str | None = option(
        None, section="Input", metavar="LANG", more_flags=("--src-lang",),
        help="Language of --source.  [default: the language besides the pivot; if --tgt is that, the pivot]",
    )  # fmt: skip
    tgt: str | None = option(
        None, section="Input", metavar="LANG", more_flags=("--tgt-lang",),
        help="Language of --target.  [default: the pivot; if --src is the pivot, the other language]",
    )  # fmt: skip
    page: Path | None = option(
        None, section="Output", written=True,
        help="Also write a page to read, .html: both texts, in which linked words light up.",
    )  # fmt: skip


@command(LinkOptions, examples=("muse link SPACE --source a.fr --target a.en",))
def link(options: LinkOptions) -> Report | None:
    """Align the words of sentences with those of their translations."""
    from muse.errors import Mismatch
    from muse.files.plain_text import read_lines
    from muse.links.linker import Linker
    from muse.links.page import check_page, write_page
    from muse.links.pair import LinkedPair

    if options.page is not None:
        check_page(options.page)
    space = open_space(options.space, options.device, options.quiet)
    way = choose_direction(space, options.src, options.tgt)
    linker = Linker(space, way)
    source, target = (list(read_lines(path)) for path in (options.source, options.target))
    if len(source) != len(target):
        raise Mismatch(
            f"files aligned by line must have the same number of lines, got {len(source)} in "
            f"{options.source}, {len(target)} in {options.target}; use the files as they were aligned"
        )
    words = [(one.split(), two.split()) for one, two in zip(source, target, strict=True)]
    found = linker.link(words)
    if options.page is not None:
        lines_of = zip(source, target, strict=True)
        write_page(options.page, map(LinkedPair.of, lines_of, words, found, repeat(way)), way)
    lines = [one.pharaoh() for one in found]
    if options.as_json:
        return {"sentences": len(found), "links": sum(map(len, found)), "lines": lines}, []
    for line in lines:
        echo(line)
    return None
