"""Translating the text on stdin: printed block by block, with BLEU if asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import click

from muse.commands.inputs import STDIN, Sampled, lines_on_stdin
from muse.commands.outputs import echo


class LineTranslator(Protocol):
    """What translates lines."""

    def translate(self, lines: Sequence[str]) -> list[str]:
        """The translation of each line."""


def translate_stdin(
    translator: LineTranslator,
    counts: Callable[[], dict[str, Any]],
    *,
    language: str,
    made: str,
    reference: Path | None,
    as_json: bool,
) -> list[str]:
    """The first lines on stdin, after the translations of all are printed, or as JSON with the counts.

    Given the reference translations, it also prints BLEU and chrF, with `made` in their signature; `language`
    is the language of the translations.
    """
    from muse.errors import BadFile
    from muse.evaluation.translation import quality

    references = None if reference is None else _references(reference)
    lines: list[str] = []
    count = 0
    sampled = Sampled(lines_on_stdin())
    blocks: Iterable[list[str]] = sampled if references is None else _checked(sampled, references)
    for block in blocks:
        translated = translator.translate(block)
        count += len(block)
        if as_json or references is not None:
            lines += translated
        if not as_json:
            echo("\n".join(translated))  # flushes, since the sender may be waiting for the answer
    if not count:
        raise BadFile(f"{STDIN}: expected text to translate, got nothing; send text")
    scores = [] if references is None else quality(lines, references, language=language, made=made)
    for score in [] if as_json else scores:
        click.echo(str(score), err=True)
    if as_json:
        fields = {"lines": lines, **counts(), **{score.name.lower(): asdict(score) for score in scores}}
        echo(json.dumps(fields, ensure_ascii=False))
    return sampled.sample


def _checked(blocks: Iterable[list[str]], references: list[str]) -> list[list[str]]:
    """The lines on stdin, read to the end: a surplus or missing one is reported before any is translated."""
    from muse.evaluation.translation import check_references

    whole = list(blocks)
    if count := sum(map(len, whole)):
        check_references(count, references)
    return whole


def _references(path: Path) -> list[str]:
    from muse.evaluation.translation import require_sacrebleu
    from muse.files.plain_text import read_lines

    require_sacrebleu()  # report a missing package before the work, not after it
    return list(read_lines(path))
