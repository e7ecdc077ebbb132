"""muse induce: write a bilingual dictionary induced from a space."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muse.commands.command import command
from muse.commands.options import choose_direction, given, open_space
from muse.commands.outputs import echo
from muse.commands.word_tables import Listed, read_words
from muse.optional import load
from muse.options import (
    Answered,
    Clustered,
    Common,
    Device,
    Languages,
    OneSpace,
    Retrieved,
    Searched,
    Seed,
    Threads,
    option,
)

if TYPE_CHECKING:
    from muse.files.dictionary_writer import Write
    from muse.lexicon import Entry
    from muse.ranking.induction import InductionConfig
    from muse.search.approximate import Approximation, Recall
    from muse.space import Space

log = logging.getLogger(__name__)

# As muse.files.dictionary_writer has them, which help need not load.
FORMS = ("muse", "tsv", "csv", "xlsx", "jsonl", "bicleaner", "kaikki", "stardict")


@dataclass(frozen=True, kw_only=True)
class InduceOptions(
    OneSpace, Languages, Listed, Answered, Retrieved, Searched, Clustered, Seed, Device, Threads, Common
):
    """The options of `muse induce`."""

    max_vocab: int | None = option(
        None, section="Input", metavar="N", least=1, help="Use only the N most frequent words."
    )
    src_max: int | None = option(
        None, section="Input", metavar="N", least=1, help="The N most frequent words of --src."
    )
    tgt_max: int | None = option(
        None, section="Input", metavar="N", least=1, help="The N most frequent words of --tgt."
    )
    top: int = option(
        1, section="What it keeps", metavar="N", least=1, help="Number of translations of each word."
    )
    mutual: bool = option(
        False, section="What it keeps", help="Keep only pairs that are among the best in both directions."
    )
    min_probability: float | None = option(
        None, section="What it keeps", metavar="P", least=0, most=1,
        help="Drop translations with a lower probability.",
    )  # fmt: skip
    out: Path = option(
        section="Output", written=True, help="Dictionary to write; compressed if the name ends in .gz."
    )
    both: bool = option(
        False, section="Output",
        help="Also write the other direction, to a file with .reverse in its name.",
    )  # fmt: skip
    form: str | None = option(
        None, section="Output", flags=("--format",), choices=FORMS,
        help="Format to write; tsv, csv, xlsx and jsonl include scores, ranks and probabilities; csv is for "
        "spreadsheets, the last three are for other programs.  "
        "[default: by the ending of --out, else muse; a folder of Parquet with --ray]",
    )  # fmt: skip


@command(
    InduceOptions,
    examples=(
        "muse induce embeddings/aligned/fr-en --out fr-en.txt",
        "muse induce SPACE --src fr --tgt en --words words.txt --top 3 --out fr-en.csv",
    ),
)
def induce(options: InduceOptions) -> None:
    """Write a bilingual dictionary induced from a SPACE.

    The most frequent words come first, each with its best translations.
    """
    from muse.ranking.induction import InductionConfig
    from muse.run.memory import peak_memory_mb
    from muse.search.approximate import Approximation, worst

    out, form = options.out, options.form or _form(options.out, on_cluster=options.ray is not None)
    listed = _listed(form, options)
    recalls: list[Recall] = []
    approximation = Approximation(options.search, options.seed, recalls.append)
    loaded = open_space(options.space, options.device, options.quiet, approximation, options.answers)
    source, target = choose_direction(loaded, options.src, options.tgt)
    limits = InductionConfig(
        options.top, options.mutual, options.src_max or options.max_vocab,
        options.tgt_max or options.max_vocab, options.min_probability, _known(loaded, source, listed),
    )  # fmt: skip
    wanted = [_Wanted(out, source, target, limits)]
    more: dict[str, Any] = {}
    if options.ray is not None:
        run = load("cluster.command").induce_on_cluster
        made = [run(loaded, (source, target), limits, approximation, options)]
    else:
        if options.both:
            wanted.append(_Wanted(_reverse(out), target, source, limits.reversed()))
        made = _write(loaded, wanted, form, options, approximation)
        more = {"peak_memory_mb": peak_memory_mb()}
    shown = [{**one, "out": str(which.out)} for one, which in zip(made, wanted, strict=True)]
    if options.as_json:
        fields = {**shown[0], **({"reverse": shown[1]} if options.both else {}), **worst(recalls), **more}
        echo(json.dumps(fields, ensure_ascii=False))
        return
    for one in shown:
        _print_counts(one)
    for recall in recalls:
        echo(str(recall))


def _listed(form: str, options: InduceOptions) -> list[str] | None:
    # The words of --words, and what can be checked before a space is loaded.
    from muse.files.tables import check_rows, require_form

    require_form(options.out, form)
    if options.listed is None:
        return None
    if idle := given("both", "ray", "src_max", "max_vocab"):
        raise click.UsageError(f"{idle[0]} is for whole vocabularies; leave it out, or leave out --words.")
    words = read_words(options.listed)
    check_rows(options.out, form, len(words))
    return words


def _known(space: Space, source: str, listed: list[str] | None) -> frozenset[str] | None:
    # The entries that the listed words stand for; those that are unknown are named.
    if listed is None:
        return None
    from muse.errors import BadSetting
    from muse.ranking.lookup import not_found
    from muse.space.forms import lookup_entry

    forms = {word: lookup_entry(word, space.vectors(source)) for word in listed}
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
    options: InduceOptions,
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
        probable = form not in ("muse", "stardict") or options.min_probability is not None
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
    options: InduceOptions,
    approximation: Approximation,
) -> Iterator[Entry]:
    # The entries of one direction.
    import numpy as np

    from muse.ranking.induction import entries
    from muse.search.retrieval import Retrieval
    from muse.space.direction import search_with

    return entries(
        space, wanted.source, wanted.target, limits=wanted.limits,
        retrieval=Retrieval(options.retrieval, backend=options.backend),
        rng=np.random.default_rng(options.seed) if probable else None,
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
