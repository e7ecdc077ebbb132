"""Text on standard input: read, translated as it comes, and a warning if much of it is unknown."""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

import click

from muse.commands.outputs import echo, show
from muse.errors import BadFile
from muse.options import Common

log = logging.getLogger(__name__)

STDIN = "standard input"
SAMPLE = 1_000  # lines that tell whether words stand without spaces


def lines_on_stdin(*, ends: bool = False) -> Iterator[list[str]]:
    """The lines on stdin in blocks, as they arrive, with or without their `ends`; BadFile if it is closed."""
    from muse.files.plain_text import read_blocks

    if sys.stdin is None:
        raise BadFile(f"{STDIN}: expected text, but it is closed; send text")
    return read_blocks(lambda size: cast("BufferedReader", sys.stdin.buffer).read1(size), STDIN, ends=ends)


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
        log.warning("%d of %d tokens without a vector: %s", unknown, tokens, why)


def warn_if_unreadable(unknown: int, pieces: int, language: str) -> None:
    """Warns if half of a text is of word pieces that the model does not have: it is in another script."""
    # An alphabet is known to the model whole: of another language in its script nearly no piece is unknown.
    if unknown and 2 * unknown >= pieces:
        log.warning(
            "%d of %d word pieces unknown to the model: is the text in %s?", unknown, pieces, language
        )


def translate_stdin(
    translate: Callable[[Sequence[str]], list[str]],
    counts: Callable[[], dict[str, Any]],
    *,
    language: str,
    made: str,
    reference: Path | None,
    options: Common,
) -> list[str]:
    """The first lines on stdin, after the translations of all are printed, or as JSON with the counts.

    Given the reference translations, it also prints BLEU and chrF, with `made` in their signature; `language`
    is the language of the translations.
    """
    from muse.evaluation.translation import check_references, quality, require_sacrebleu
    from muse.files.plain_text import read_lines

    references, lines, count = list[str](), list[str](), 0
    blocks: Iterable[list[str]] = (sampled := Sampled(lines_on_stdin(ends=True)))
    if reference is not None:
        require_sacrebleu()  # a missing package, or a surplus line, is reported before the work, not after it
        references, blocks = list(read_lines(reference)), list(sampled)
        if found := sum(map(len, blocks)):
            check_references(found, references)
    for block in blocks:
        texts = [line.rstrip("\r\n") for line in block]
        translated = translate(texts)
        count += len(block)
        if options.as_json or reference is not None:
            lines += translated
        if not options.as_json:
            # As the lines end; click flushes, since the sender may be waiting for the answer.
            rows = zip(translated, block, texts, strict=True)
            echo("".join(one + line[len(text) :] for one, line, text in rows), end="")
    if not count:
        raise BadFile(f"{STDIN}: expected text to translate, got nothing; send text")
    scores = [] if reference is None else quality(lines, references, language=language, made=made)
    scored = {score.name.lower(): asdict(score) for score in scores}
    show(options, {"lines": lines, **counts(), **scored}, ())
    for score in [] if options.as_json else scores:
        click.echo(str(score), err=True)
    return sampled.sample
