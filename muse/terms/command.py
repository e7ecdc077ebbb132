"""muse terms: the terms of two texts, with their translations."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from muse.commands.command import command
from muse.commands.options import choose_direction, open_space
from muse.commands.outputs import Report
from muse.options import Common, Languages, OneSpace, Threads, option


class TermsOptions(OneSpace, Languages, Threads, Common):
    """The options of `muse terms`."""

    src_text: tuple[Path, ...] = option(
        section="Input", metavar="FILE", help="Text in --src, or a folder of it; may be given several times."
    )
    tgt_text: tuple[Path, ...] = option(
        section="Input", metavar="FILE", help="Text in --tgt of the same kind; it need not be a translation."
    )
    min_count: int = option(5, section="Input", least=2, help="Leave out what stands less often in a text.")
    out: Path = option(
        section="Output", written=True, help="Glossary to write: .tsv, .csv, .xlsx, .jsonl or .parquet."
    )
    save_space: Path | None = option(
        None, section="Output", metavar="FOLDER", written=True,
        help="Also save the space with the terms of both texts as entries behind its words, which other "
        "commands know then.",
    )  # fmt: skip
    form: Literal["tsv", "csv", "xlsx", "jsonl", "parquet"] | None = option(
        None, section="Output", flags=("--format",), help="Format of --out.  [default: by its ending]"
    )
    top: int = option(3, section="Output", least=1, most=100, help="Translations of a term.")
    min_probability: float = option(
        0.0, section="Output", metavar="P", least=0, most=1,
        help="Leave out translations with a lower probability.",
    )  # fmt: skip


@command(
    TermsOptions,
    examples=(
        "muse terms SPACE --src fr --src-text manual.fr/ --tgt en --tgt-text manual.en/ --out terms.xlsx",
        "muse terms SPACE --src-text a.fr --tgt-text a.en --out a.csv --save-space fr-en-units",
    ),
)
def terms(options: TermsOptions) -> Report:
    """Write a glossary of the terms of several words in two texts.

    The texts need not be translations of each other. Terms are found by how their words stand together, and
    translated by the contexts that they stand in and by their parts. The most probable come first; those
    marked unsure are wrong more often than right.
    """
    from muse.space import check_out
    from muse.terms.extension import add_units
    from muse.terms.glossary import TermConfig, find_terms
    from muse.terms.glossary_file import check_glossary, term_rows, write_glossary

    form = check_glossary(options.out, options.form)
    if options.save_space is not None:
        check_out(options.save_space)
    space = open_space(options.space, "cpu", options.quiet)
    direction = choose_direction(space, options.src, options.tgt)
    config = TermConfig(least=options.min_count)
    texts = options.src_text, options.tgt_text
    found = find_terms(space.without_units(), texts, direction, top=options.top, config=config)
    rows = list(term_rows(found, options.min_probability))
    write_glossary(options.out, form, rows)
    firsts = [row for row in rows if row["rank"] == 1]
    sure = sum(not row["unsure"] for row in firsts)
    fields: dict[str, Any] = {
        "terms": len(firsts), "translations": len(rows), "more_likely_right": sure, "out": str(options.out),
        "verdict": space.manifest.verdict.label,
    }  # fmt: skip
    if options.save_space is not None:
        made = add_units(space, options.save_space, dict(zip(direction, texts, strict=True)), config=config)
        fields["units"] = {language: len(made.units(language)) for language in direction}
        fields["saved_space"] = str(options.save_space)
    return fields, [f"{len(firsts)} terms in {options.out}, {sure} of them more likely right than wrong"]
