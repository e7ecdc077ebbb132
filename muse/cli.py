"""The command line: all commands, in the order of work, and errors as one line and an exit code."""

import errno
import io
import os
import re
import sys

import click

from muse.commands.align import align
from muse.commands.demo import demo
from muse.commands.doctor import doctor
from muse.commands.evaluate import evaluate
from muse.commands.export import export
from muse.commands.induce import induce
from muse.commands.map import map_words
from muse.commands.neighbours import neighbours
from muse.commands.outputs import echo
from muse.commands.sections import SectionedGroup
from muse.commands.train_lm import train_lm
from muse.commands.translate import translate
from muse.errors import MuseError, shortened
from muse.installation import PACKAGE, REQUIRED, __version__, install_packages
from muse.optional import offered
from muse.progress import message, printable

INTERRUPTED = 130  # the exit code after Ctrl-C
TOO_LITTLE = (
    "error: this command needs more memory than it found; lower --max-vocab, --batch or a size given "
    "with --set"
)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
STDOUT_FULL = (
    "stdout must take what is printed, got a full disk; what the command saved to files is whole: free some "
    "space, or send stdout elsewhere"
)
# A lack of memory that torch, the loader of libraries or threading reports, as errors of other kinds.
_OF_MEMORY = re.compile(
    "out of memory|allocate memory|size calculation overflowed|failed to map segment|can't start new thread",
    re.IGNORECASE,
)
_CIRCLE = re.compile("Symlink loop from '(.*)'", re.DOTALL)  # of pathlib, before Python 3.13


def main() -> None:
    """Run the command line; an error of input or settings becomes one line and exit code 1."""
    _print_any_path()
    try:
        code = commands.main(prog_name="muse", standalone_mode=False) or 0
        sys.stdout.flush()
        sys.exit(code)
    except click.ClickException as error:
        click.echo(message(""), err=True, nl=False)
        shown = io.StringIO()
        error.show(shown)
        # It may quote what was typed.
        click.echo("\n".join(map(shortened, printable(shown.getvalue()).split("\n"))), err=True, nl=False)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, EOFError):  # no command asks anything: this is not the user's
            raise error.__cause__ from None
        sys.exit(_fail(str(error.__cause__ or error) or "interrupted", INTERRUPTED))
    except MemoryError:
        sys.exit(_fail(TOO_LITTLE))
    except ModuleNotFoundError as error:
        package = REQUIRED.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        sys.exit(_fail(f"error: muse needs {package}, found none; run {install_packages(package)}"))
    except (RuntimeError, ImportError) as error:
        sys.exit(_fail(_of_system(error)))
    except (MuseError, OSError) as error:
        # All files but stdout are named, by the system or by whoever writes them.
        full = isinstance(error, OSError) and error.filename is None and error.errno in FULL
        sys.exit(_fail(f"error: {STDOUT_FULL if full else _told(error)}"))


def _of_system(error: RuntimeError | ImportError) -> str:
    """What is said of links in a circle, or of too little memory; any other error is raised."""
    if circle := _CIRCLE.fullmatch(str(error)):
        return f"error: {circle[1]}: expected a path, got links in a circle; remove one of them"
    if not _OF_MEMORY.search(str(error)):
        raise error
    return TOO_LITTLE


def _told(error: MuseError | OSError) -> str:
    """What an error says; one of the system, of a file, in the words of ours."""
    if isinstance(error, MuseError) or not isinstance(error.filename, str | bytes):
        return str(error)
    return (
        f"{os.fsdecode(error.filename)}: expected a file or folder that can be used, got {error.strerror}; "
        "check its permissions, those of the folders above it, and its disk"
    )


def _print_any_path() -> None:
    # A path may have bytes that are not UTF-8, and a terminal may lack a letter: no reason to lose a result.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        own = sys.stdout.encoding.lower() == "utf-8"
        sys.stdout.reconfigure(errors="surrogateescape" if own else "backslashreplace")


def _fail(text: str, code: int = 1) -> int:
    click.echo(message(" ".join(text.splitlines())), err=True)
    return code


SECTIONS = {
    "Get vectors": offered("Get vectors"),
    "Align": [align],
    "See how good the result is": [*offered("See how good the result is"), evaluate],
    "Use it": [translate, neighbours, induce, map_words, export, *offered("Use it")],
    "Sentences": [*offered("Sentences"), train_lm],
    "Help": [demo, doctor],
}


def _show_glossary(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the page that explains the words of the field, without its links; an installation has it too."""
    if wanted and not context.resilient_parsing:
        page = (PACKAGE / "glossary.md").read_text(encoding="utf-8")
        echo(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page), end="")
        context.exit()


@click.group(cls=SectionedGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="muse")
@click.option(
    "--glossary", is_flag=True, is_eager=True, expose_value=False, callback=_show_glossary,
    help="Explain words such as pivot, CSLS and Procrustes.",
)  # fmt: skip
def commands() -> None:
    """Align word vectors of two or more languages without parallel data, and use the result.

    The usual order: align, report, translate. Each command explains itself: muse align --help. Words such as
    pivot or CSLS are explained by muse --glossary.
    """
