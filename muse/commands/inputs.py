"""Inputs: standard input and the dash that stands for it; a warning if much of a text is unknown."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from muse.errors import BadFile, BadSetting, Contradiction

if TYPE_CHECKING:
    from muse.files.plain_text import Stream

log = logging.getLogger(__name__)

STDIN = "standard input"
STDIN_PATH = Path("/dev/stdin")  # read as any other pipe is: once and from the start, or refused
DASH = "-"
SAMPLE = 1_000  # lines that tell whether words stand without spaces


def lines_on_stdin() -> Iterator[list[str]]:
    """The lines on stdin in blocks, as they arrive; BadFile if it is closed."""
    from muse.files.plain_text import read_blocks

    if sys.stdin is None:
        raise BadFile(f"{STDIN}: expected text, but it is closed; send text")
    return read_blocks(cast("Stream", sys.stdin.buffer), STDIN)


def without_dashes(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the path of standard input for every - that is a file to read.

    Raise BadSetting for a - that is a folder or is written, and Contradiction for two of them and for one
    beside --ray.
    """
    found = list[str]()
    replaced = dict(options)
    for parameter in click.get_current_context().command.params:
        name, metavar = str(parameter.name), str(parameter.metavar or parameter.name).upper()
        value = options.get(name)
        values = value if isinstance(value, tuple) else (value,)
        # Of strings only LANG=FILE has files: the word that muse translate is asked may be a dash.
        of_words = metavar.endswith("=FILE")
        dashes = [
            one == Path(DASH) or (of_words and isinstance(one, str) and one.rpartition("=")[2] == DASH)
            for one in values
        ]
        if not any(dashes):
            continue
        shown = parameter.opts[0] if isinstance(parameter, click.Option) else metavar.removesuffix("...")
        if getattr(parameter, "declared").written:  # noqa: B009
            printed = ", or leave it out to print" if "stdout" in str(getattr(parameter, "help", "")) else ""
            raise BadSetting(
                f"{shown} must have a name, since it appears once it is complete, got -; choose a "
                f"name{printed} (or the full path of a file that is called -)"
            )
        if metavar.endswith(("SPACE", "FOLDER")):
            raise BadSetting(f"{shown} must be a folder, got -; give its name")
        found += [shown] * sum(dashes)
        made = tuple(_from_stdin(one) if dash else one for one, dash in zip(values, dashes, strict=True))
        replaced[name] = made if isinstance(value, tuple) else made[0]
    if len(found) > 1:
        raise Contradiction(
            f"only one file can be standard input, got - for {' and '.join(found)}; give the others a name"
        )
    if found and options.get("ray", options.get("address")) is not None:
        raise Contradiction(f"--ray needs files that several machines read, got - for {found[0]}")
    return replaced


def _from_stdin(value: Path | str) -> Path | str:
    return STDIN_PATH if isinstance(value, Path) else f"{value[: -len(DASH)]}{STDIN_PATH}"


class Sampled:
    """Blocks of lines as they come; the first lines are kept as a `sample`."""

    def __init__(self, blocks: Iterable[list[str]]) -> None:
        self._blocks = blocks
        self.sample: list[str] = []

    def __iter__(self) -> Iterator[list[str]]:
        for block in self._blocks:
            self.sample += block[: SAMPLE - len(self.sample)]
            yield block


def warn_if_unknown(unknown: int, tokens: int, language: str, sample: Sequence[str]) -> None:
    """Warns if most tokens of a text have no vector; a sample of its lines tells why."""
    from muse.text.segmentation import unspaced_advice

    if unknown > tokens / 2:
        why = unspaced_advice(sample[:SAMPLE], language) or f"is the text in {language}?"
        log.warning("%d of %d tokens have no vector: %s", unknown, tokens, why)


def warn_if_unreadable(unknown: int, pieces: int, language: str) -> None:
    """Warns if half of a text is of word pieces that the model does not have: it is in another script."""
    # An alphabet is known to the model whole: of another language in its script nearly no piece is unknown.
    if unknown and 2 * unknown >= pieces:
        log.warning(
            "%d of %d word pieces are unknown to the model: is the text in %s?", unknown, pieces, language
        )
