"""muse report: write a one-page HTML report about a space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from muse.commands.command import command
from muse.commands.options import open_space
from muse.commands.outputs import Report
from muse.errors import counted
from muse.options import (
    Answered,
    Backend,
    Common,
    Device,
    DictionaryForm,
    Languages,
    OneSpace,
    Seed,
    Threads,
    option,
)


class ReportOptions(OneSpace, DictionaryForm, Languages, Answered, Backend, Seed, Device, Threads, Common):
    dictionary: Path | None = option(
        None, section="Input", help="Gold translations to measure accuracy with, a pair on each line."
    )
    terms: Path | None = option(
        None, section="Input", package="terms", metavar="FILE",
        help="Glossary of muse terms, .jsonl, to show; a page to accept and reject is written beside.",
    )  # fmt: skip
    out: Path | None = option(
        None, section="Output", written=True,
        help="Page to write, .html; its figures go to a folder beside it.  [default: SPACE.html]",
    )  # fmt: skip
    max_vocab: int = option(
        20_000, section="Advanced", least=1,
        help="Look for hubs, sample words and a baseline among the N most frequent words.",
    )  # fmt: skip


@command("muse report embeddings/aligned/fr-en", "muse report SPACE --dictionary gold.txt --out report.html")
def report(options: ReportOptions) -> Report:
    """Write a one-page HTML report about a SPACE.

    It says whether the alignment worked, how good it is, on what evidence, and what to do next. With a
    --dictionary it shows wrong answers, accuracy in both directions, and how reliable the probabilities are.
    With more than two languages it is about the least certain one, unless --src or --tgt names another.
    The page is self-contained; its figures are also written as SVG files.
    """
    from muse.evaluation.score import gold_name
    from muse.files import read_lexicon
    from muse.optional import load
    from muse.report.facts import ReportConfig, gather_facts, least_certain_direction, supervision_json
    from muse.report.measured import Gold
    from muse.report.next_steps import base_of
    from muse.report.page import TERMS, check_page, write_report

    folder = options.space.resolve()
    page = options.out or folder.with_name(f"{folder.name}.html")
    check_page(page, options.terms is not None)
    space = open_space(options.space, options.device, options.quiet, answers=options.answers)
    way, path, gold = least_certain_direction(space, options.src, options.tgt), options.dictionary, None
    if path is not None:
        lexicon = read_lexicon(path, languages=way, form=options.dictionary_format)
        gold = Gold(space, way, lexicon, gold_name(path))
    terms = options.terms and load("terms.kept").KeptGlossary.read(options.terms, space.languages)
    base = base_of(options.space, Path.cwd())
    config = ReportConfig(*way, base, gold, options.max_vocab, options.seed, terms)
    facts = gather_facts(space, config, space.progress)
    figures = write_report(facts, page)
    fields: dict[str, Any] = {
        "out": str(page), "figures": {name: str(path) for name, path in figures.items()},
        "signature": str(facts.signature), "accuracy": None,
    }  # fmt: skip
    if facts.accuracy is not None:
        forward, backward = facts.accuracy.forward.score, facts.accuracy.backward.score
        fields |= {"signature": str(forward.signature), "accuracy": forward.as_json()}
        fields["accuracy_backward"] = backward.as_json()
    lines = [f"{page}, with {counted(len(figures), 'figure')}"]
    if terms is not None:
        fields["terms"] = str(page.with_suffix(TERMS))
        lines.append(f"{page.with_suffix(TERMS)}, with all terms")
    return fields | supervision_json(facts.records), lines
