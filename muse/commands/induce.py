"""muse induce: write a bilingual dictionary induced from a space."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muse.commands.options import (
    Finite,
    answers,
    choose_direction,
    cluster,
    common,
    direction,
    given,
    open_space,
    search,
)
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand
from muse.commands.word_tables import read_words, words_option
from muse.optional import load

if TYPE_CHECKING:
    from muse.files.dictionary_writer import Write
    from muse.lexicon import Entry
    from muse.ranking.induction import InductionConfig
    from muse.search.approximate import Approximation, Recall
    from muse.space import Space

log = logging.getLogger(__name__)

# As muse.files.dictionary_writer.written_formats, which help need not load.
FORMS = ("muse", "tsv", "csv", "xlsx", "jsonl", "bicleaner", "kaikki", "stardict")


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--src", "--tgt", "--words", "--max-vocab", "--src-max", "--tgt-max"),
        "What it keeps": ("--top", "--mutual", "--min-probability"),
        "Output": ("--out", "--both", "--format"),
        "Advanced": ("--answers", "--retrieval", "--search", "--backend", "--ray"),
    },
    examples=(
        "muse induce embeddings/aligned/fr-en --out fr-en.txt",
        "muse induce SPACE --src fr --tgt en --words words.txt --top 3 --out fr-en.csv",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option(
    "--out",
    required=True,
    type=Path,
    metavar="FILE",
    help="Dictionary to write; compressed if the name ends in .gz.",
)
@click.option(
    "--top", default=1, show_default=True, type=click.IntRange(1), metavar="N",
    help="Number of translations of each word.",
)  # fmt: skip
@click.option("--mutual", is_flag=True, help="Keep only pairs that are among the best in both directions.")
@click.option(
    "--both", is_flag=True, help="Also write the other direction, to a file with .reverse in its name."
)
@click.option("--max-vocab", type=click.IntRange(1), metavar="N", help="Use only the N most frequent words.")
@click.option("--src-max", type=click.IntRange(1), metavar="N", help="The N most frequent words of --src.")
@click.option("--tgt-max", type=click.IntRange(1), metavar="N", help="The N most frequent words of --tgt.")
@click.option(
    "--min-probability",
    type=Finite(0, 1),
    metavar="P",
    help="Drop translations with a lower probability.",
)
@click.option(
    "--format", "form", type=click.Choice(FORMS),
    help="Format to write; tsv, csv, xlsx and jsonl include scores, ranks and probabilities; csv is for "
    "spreadsheets, the last three are for other programs.  "
    "[default: by the ending of --out, else muse; a folder of Parquet with --ray]",
)  # fmt: skip
@words_option
@direction
@answers
@search
@cluster
@common
def induce(space: Path, out: Path, form: str | None, both: bool, as_json: bool, **options: Any) -> None:
    """Write a bilingual dictionary induced from a SPACE.

    The most frequent words come first, each with its best translations.
    """
    from muse.ranking.induction import InductionConfig
    from muse.run.memory import peak_memory_mb
    from muse.search.approximate import Approximation, worst

    form = form or _form(out, on_cluster=options["address"] is not None)
    listed = _listed(out, form, options)
    recalls: list[Recall] = []
    approximation = Approximation(options["search"], options["seed"], recalls.append)
    loaded = open_space(space, options["device"], options["quiet"], approximation, options["answers"])
    source, target = choose_direction(loaded, options["source"], options["target"])
    limits = InductionConfig(
        options["top"], options["mutual"],
        options["src_max"] or options["max_vocab"], options["tgt_max"] or options["max_vocab"],
        options["min_probability"], _known(loaded, source, listed),
    )  # fmt: skip
    wanted = [_Wanted(out, source, target, limits)]
    more: dict[str, Any] = {}
    if options["address"] is not None:
        run = load("cluster.command").induce_on_cluster
        made = [run(loaded, space, (source, target), out, limits, approximation, options)]
    else:
        if both:
            wanted.append(_Wanted(_reverse(out), target, source, limits.reversed()))
        made = _write(loaded, wanted, form, options, approximation)
        more = {"peak_memory_mb": peak_memory_mb()}
    shown = [{**one, "out": str(which.out)} for one, which in zip(made, wanted, strict=True)]
    if as_json:
        fields = {**shown[0], **({"reverse": shown[1]} if both else {}), **worst(recalls), **more}
        echo(json.dumps(fields, ensure_ascii=False))
        return
    for one in shown:
        _print_counts(one)
    for recall in recalls:
        echo(str(recall))


def _listed(out: Path, form: str, options: dict[str, Any]) -> list[str] | None:
    # The words of --words, and what can be checked before a space is loaded.
    from muse.files.tables import check_rows, require_form

    require_form(out, form)
    if options["listed"] is None:
        return None
    if idle := given("both", "address", "src_max", "max_vocab"):
        raise click.UsageError(f"{idle[0]} is for whole vocabularies; leave it out, or leave out --words.")
    words = read_words(options["listed"])
    check_rows(out, form, len(words))
    return words


def _known(space: Space, source: str, listed: list[str] | None) -> frozenset[str] | None:
    # The entries that the listed words stand for; those that are unknown are named.
    if listed is None:
        return None
    from muse.errors import BadSetting
    from muse.ranking.lookup import not_found
    from muse.space.forms import find_form

    forms = {word: find_form(word, space.vectors(source)) for word in listed}
    unknown = [word for word, form in forms.items() if form is None]
    if unknown:
        first = not_found(space, source, unknown[0])
        if len(unknown) == len(forms):
            raise BadSetting(f"none of the {len(forms)} words is known; {first}")
        log.warning(
            "left out %d of %d words, which are unknown: %s; muse translate --words names all",
            len(unknown), len(forms), first,
        )  # fmt: skip
    return frozenset(form for form in forms.values() if form is not None)


def _print_counts(fields: dict[str, Any]) -> None:
    left_out = fields.get("left_out", {})  # missing from what an older muse made on a cluster
    if any(left_out.values()):
        log.info(
            "%s: of %d words, left out %d without a pair within the limits, %d that the format lacks",
            fields["out"], fields["words"], left_out["without_pair"], left_out["format"],
        )  # fmt: skip
    echo(f"{fields['pairs']} pairs in {fields['out']}")


class _Wanted(NamedTuple):
    """One dictionary to write."""

    out: Path
    source: str
    target: str
    limits: InductionConfig

    def words(self, space: Space) -> Sequence[str]:
        """The source words that are looked up."""
        words, only = space.vectors(self.source).words[: self.limits.source_max], self.limits.only
        return words if only is None else [word for word in words if word in only]


def _form(out: Path, *, on_cluster: bool) -> str:
    from muse.files.dictionary_writer import form_of_name

    if on_cluster:  # where it is a folder, of Parquet unless its name says else
        suffix = Path(out.name.removesuffix(".gz")).suffix
        return suffix[1:] if suffix in (".tsv", ".jsonl") else "muse"
    return form_of_name(out)


def _reverse(out: Path) -> Path:
    # fr-en.tsv.gz -> fr-en.reverse.tsv.gz; a name may have other dots.
    packed = out.suffix if out.suffix == ".gz" else ""
    plain = Path(out.name.removesuffix(packed))
    return out.with_name(f"{plain.stem}.reverse{plain.suffix}{packed}")


def _write(
    space: Space,
    wanted: Sequence[_Wanted],
    form: str,
    options: dict[str, Any],
    approximation: Approximation,
) -> list[dict[str, Any]]:
    # What each file has and lacks; the files appear only once all are complete.
    from muse.files.dictionary_writer import dictionary_writer
    from muse.space.saving import check_not_an_input

    # The other direction's file has no option.
    check_not_an_input(space.manifest, [one.out for one in wanted])
    with ExitStack() as files:
        ways = [(one.source, one.target) for one in wanted]
        writers = [
            files.enter_context(dictionary_writer(one.out, form=form, languages=way))
            for one, way in zip(wanted, ways, strict=True)
        ]
        _warn_of_left_out(space, wanted[0], form)  # before the search, which may take long
        probable = form not in ("muse", "stardict") or options["min_probability"] is not None
        return [
            _fill(write, one, space, form, _found(one, space, probable, options, approximation))
            for write, one in zip(writers, wanted, strict=True)
        ]


def _warn_of_left_out(space: Space, wanted: _Wanted, form: str) -> None:
    from muse.files.dictionary_writer import can_store

    targets = space.vectors(wanted.target).words[: wanted.limits.target_max]
    for language, all_words in ((wanted.source, wanted.words(space)), (wanted.target, targets)):
        words = [word for word in all_words if not can_store(form, word)]
        if words:
            log.warning(
                "%s: leaving out %d words of %s that the format %s cannot represent, the first is %r; "
                "--format jsonl has every word",
                wanted.out, len(words), language, form, words[0],
            )  # fmt: skip


def _found(
    wanted: _Wanted,
    space: Space,
    probable: bool,
    options: dict[str, Any],
    approximation: Approximation,
) -> Iterator[Entry]:
    # The entries of one direction.
    import numpy as np

    from muse.ranking.induction import entries
    from muse.search.retrieval import Retrieval
    from muse.space.direction import search_with

    return entries(
        space, wanted.source, wanted.target, limits=wanted.limits,
        retrieval=Retrieval(options["method"], backend=options["backend"]),
        rng=np.random.default_rng(options["seed"]) if probable else None,
        search=search_with(approximation),
    )  # fmt: skip


def _fill(write: Write, wanted: _Wanted, space: Space, form: str, found: Iterable[Entry]) -> dict[str, Any]:
    # Writes the entries of one direction that fit the format and returns what the file has and lacks.
    from muse.files.dictionary_writer import can_store_entry
    from muse.ranking.induction import Counts, check_found, summary

    within, written = Counts(), Counts()
    for entry in written.counted(one for one in within.counted(found) if can_store_entry(form, one)):
        write(entry)
    check_found(written.pairs, f"{wanted.source} to {wanted.target}", wanted.out)
    return summary(len(wanted.words(space)), within, written)
