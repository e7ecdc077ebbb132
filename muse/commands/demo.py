"""muse demo: French and English words aligned without a dictionary, measured, and a dozen of them translated.

Each step is a command that is shown before it runs, so that it can be typed again with other files.
"""

import contextlib
import io
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from muse.commands.command import command
from muse.commands.outputs import echo
from muse.options import Common, option

SOURCE, TARGET = "fr", "en"
WORDS = "maison roi cheval fille argent mer nuit livre rouge vieux fonction serveur".split()
GOLD = Path("dictionaries", f"{SOURCE}-{TARGET}.sample.txt")  # in a checkout, which has the vectors too
SPACE = Path("embeddings", "demo")  # not among the spaces that other commands take when none is named


class DemoOptions(Common):
    out: Path = option(SPACE, section="Output", metavar="FOLDER", written=True, help="Folder for the space.")


@command("muse demo", "muse demo --out demo")
def demo(options: DemoOptions) -> int:
    """Align French and English, and translate a dozen words.

    It takes a minute or two, and shows each command before it runs. The vectors are the sample of a checkout,
    or any others of fr and en that muse align finds.
    """
    commands = click.get_current_context().find_root().command
    found: dict[str, Any] = {}
    for step in _steps(options.out):
        if not (options.as_json or options.quiet):
            echo(f"\n$ {shlex.join(['muse', *step])}")
        more = [*(["--json"] if options.as_json else []), *(["--quiet"] if options.quiet else [])]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed) if options.as_json else contextlib.nullcontext():
            code = commands.main([*step, *more], prog_name="muse", standalone_mode=False) or 0
        if options.as_json:
            found[step[0]] = json.loads(printed.getvalue())
        if code:  # it was judged failed
            break
    if options.as_json:
        echo(json.dumps(found, ensure_ascii=False))
    return int(code)


def _steps(out: Path) -> Iterator[list[str]]:
    """Yields the commands, without `muse` before them; the second where there is a list to measure with."""
    folder = _found().resolve().parent
    space = str(out)
    yield ["align", "--src", SOURCE, "--tgt", TARGET, "--out", space]
    gold = next((path for path in (parent / GOLD for parent in folder.parents) if path.is_file()), None)
    if gold is not None:
        here = Path.cwd()
        shown = gold.relative_to(here) if gold.is_relative_to(here) else gold
        yield ["evaluate", space, "--dictionary", str(shown)]
    yield ["translate", space, "--top", "3", *WORDS]


def _found() -> Path:
    """The file of the French vectors; BadFile, which says what to do, unless both languages have one."""
    from muse.errors import BadFile
    from muse.files.vectors.locate import locate_vectors

    try:
        locate_vectors(TARGET)
        return locate_vectors(SOURCE)
    except BadFile:
        raise BadFile(
            f"the demo needs vectors of {SOURCE} and {TARGET}, found none here; a checkout of muse has a "
            "sample, 15 MB: set MUSE_EMBEDDINGS to its folder embeddings/sample, or copy the two files there "
            f"into embeddings/. Or download published ones, 2.6 GB: muse fetch vectors {SOURCE} {TARGET}"
        ) from None
