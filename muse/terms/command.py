"""muse terms: the terms of two texts, with their translations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from muse.commands.command import command
from muse.commands.options import choose_direction, open_space
from muse.commands.outputs import Report
from muse.errors import counted
from muse.options import Common, Languages, Threads, option

if TYPE_CHECKING:
    from muse.space import Space
    from muse.terms.decisions import Decisions
    from muse.terms.rows import GlossaryRow

WEIRD = 2.3  # the domain score of words that are terms: ten times as frequent as their ranks let expect
NO_EDGE = 2.0  # an association that no unit has


class TermsOptions(Languages, Threads, Common):
    general: Path | None = option(None, argument=True, metavar="[SPACE]")
    src_text: tuple[Path, ...] = option(
        section="Input", metavar="FILE", help="Text in --src, or a folder of it; may be given several times."
    )
    tgt_text: tuple[Path, ...] = option(
        section="Input", metavar="FILE", help="Text in --tgt of the same kind; it need not be a translation."
    )
    decisions: Path | None = option(
        None, section="Input",
        help="What was accepted and rejected before: saved by the page of a glossary, or in its sheet.",
    )  # fmt: skip
    min_count: int = option(5, section="Input", least=2, help="Leave out what stands less often in a text.")
    learn: bool = option(
        True, section="Learning", off="--no-learn",
        help="Learn vectors of the words in the texts, aligned by what SPACE knows of them; else only the "
        "words of SPACE have some.",
    )  # fmt: skip
    out: tuple[Path, ...] = option(
        section="Output", metavar="FILE", written=True,
        help="Glossary to write: .xlsx, .csv, .tsv, .jsonl, .parquet, .tbx, .txt for OmegaT, .anki.txt, or "
        ".html to accept and reject; may be given several times.",
    )  # fmt: skip
    save_space: Path | None = option(
        None, section="Output", metavar="FOLDER", written=True,
        help="Also save the space with the terms of both texts as entries behind its words, which other "
        "commands know then.",
    )  # fmt: skip
    form: (
        Literal["tsv", "csv", "xlsx", "jsonl", "parquet", "tbx", "martif", "omegat", "anki", "html"] | None
    ) = option(None, section="Output", flags=("--format",), help="Format of --out.  [default: by its ending]")
    top: int = option(3, section="Output", least=1, most=100, help="Translations of a term.")
    examples: int = option(
        3, section="Output", least=0, most=20, help="Sentences with a term, and with each translation."
    )
    min_probability: float = option(
        0.0, section="Output", metavar="P", least=0, most=1,
        help="Leave out translations with a lower probability.",
    )  # fmt: skip


@command(
    "muse terms SPACE --src fr --src-text manual.fr/ --tgt en --tgt-text manual.en/ --out terms.xlsx",
    "muse terms --src fr --src-text a.fr --tgt en --tgt-text a.en --out a.tbx --out a.html",
)
def terms(options: TermsOptions) -> Report:
    """Write a glossary of the terms in two texts.

    The texts need not be translations of each other. Terms are words that are far more frequent in the text
    than elsewhere, and units of several words, found by how these stand together. They are translated by the
    contexts that they stand in and by their parts. The most probable come first; those marked unsure are
    wrong more often than right. Without a SPACE, general vectors of both languages are aligned first, where
    muse align finds some; else the texts are aligned by themselves. If that is judged failed, all are unsure,
    and the exit code is 3.
    """
    from tempfile import TemporaryDirectory

    from muse.embedding.corpus import write_corpora
    from muse.progress import Progress
    from muse.space import check_out
    from muse.terms.decisions import Decisions, read_decisions
    from muse.terms.domain_space import general_space, learn_space
    from muse.terms.extension import add_counted_units
    from muse.terms.glossary import TermConfig, find_terms, read_term_texts
    from muse.terms.glossary_file import check_glossary, glossary_rows, write_glossary
    from muse.terms.sentences import check_texts, example_finders
    from muse.terms.units import UnitConfig

    outs = {path: check_glossary(path, options.form) for path in options.out}
    if options.save_space is not None:
        check_out(options.save_space)
    decided = Decisions() if options.decisions is None else read_decisions(options.decisions)
    progress, texts = Progress(quiet=options.quiet), (options.src_text, options.tgt_text)
    if options.examples:
        check_texts(texts)
    general, way = _general(options)
    with TemporaryDirectory() as folder:
        corpora = write_corpora(dict(zip(way, texts, strict=True)), Path(folder), progress)
        general = general or general_space(way, Path(folder), progress)
        words = {} if general is None else {one: general.vectors(one) for one in way}
        units, domain = UnitConfig(edge_association=NO_EDGE), WEIRD if words else None
        config = TermConfig(least=options.min_count, units=units, general=words, domain=domain)
        space = general
        if space is None or options.learn:
            space = learn_space(corpora, Path(folder), general, known=decided.accepted, progress=progress)
        sides, label = (space.vectors(way[0]), space.vectors(way[1])), space.manifest.verdict.label
        read = read_term_texts(corpora, space, config)
        with example_finders(texts, sides, options.examples, progress) as find:
            more = options.top + len(decided.rejected)
            found = find_terms(space, (read[way[0]], read[way[1]]), top=more, config=config)
            found = decided.applied(found, options.top)
            rows = list(
                glossary_rows(found, options.min_probability, decided, find, doubted=label == "failed")
            )
        for path, form in outs.items():
            write_glossary(path, form, rows, way, decided)
        fields = _told(rows, decided, [*map(str, outs)], label)
        if options.save_space is not None:
            made = add_counted_units(space, options.save_space, read, config)
            fields["units"] = {language: len(made.units(language)) for language in way}
            fields["saved_space"] = str(options.save_space)
    right = f"{fields['more_likely_right']} of them more likely right than wrong"
    line = f"{counted(fields['terms'], 'term')} in {', '.join(fields['files'])}, {right}"
    return fields, [line, f"the alignment of the texts is judged {label}"]


def _told(
    rows: Sequence[GlossaryRow], decided: Decisions, files: list[str], label: str | None
) -> dict[str, Any]:
    """What is reported of a glossary in these files."""
    firsts = [row for row in rows if row.rank == 1]
    return {
        "terms": len(firsts), "translations": len(rows),
        "more_likely_right": sum(not row.unsure for row in firsts), "out": files[0], "files": files,
        "accepted": len(decided.accepted), "rejected": len(decided.rejected), "verdict": label,
        "passed": label != "failed",
    }  # fmt: skip


def _general(options: TermsOptions) -> tuple[Space | None, tuple[str, str]]:
    """The space that is given, if one is, and the direction."""
    if options.general is not None:
        general = open_space(options.general, "cpu", options.quiet).without_units()
        return general, choose_direction(general, options.src, options.tgt)
    if not (options.src and options.tgt and options.learn):
        raise click.UsageError("Without a SPACE, --src and --tgt must be given, and --no-learn must not.")
    return None, (options.src, options.tgt)
