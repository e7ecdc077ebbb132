"""muse induce: write a bilingual dictionary induced from a space."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muse.commands.command import command
from muse.commands.options import choose_direction, given, open_space
from muse.commands.outputs import Report
from muse.commands.word_tables import Listed, read_words
from muse.errors import counted
from muse.optional import load
from muse.options import Clustered, Common, Device, OneSpace, OptionSet, Retrieved, Searched, Threads, option
from muse.ranking.settings import InducedPairs

if TYPE_CHECKING:
    from muse.files.lexicons import Write
    from muse.lexicon import Entry
    from muse.ranking.induction import InductionConfig
    from muse.ranking.translations import Translation
    from muse.search.approximate import Approximation, Recall
    from muse.space import Space


log = logging.getLogger(__name__)

# As muse.files.lexicons has them, which help need not load.
FORMS = (
    "muse", "tsv", "csv", "xlsx", "jsonl", "stardict", "dictd", "kindle", "kaikki", "bicleaner", "hunalign"
)  # fmt: skip
_WITHOUT_NUMBERS = ("muse", "stardict", "dictd", "kindle", "hunalign")


class DictionaryOut(OptionSet):
    """Where a dictionary is written to, and how."""

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
        "spreadsheets, those after jsonl are for other programs.  "
        "[default: by the ending of --out, else muse; a folder of Parquet with --ray]",
    )  # fmt: skip
    group: str | None = option(
        None, section="Output", choices=("lemma", "simplemma"),
        help="One entry for all forms of a word, and of each translation; forms are learned from the space "
        "(lemma), or known to simplemma (extra lemmas). The formats of readers find an entry by its forms.",
    )  # fmt: skip


class InduceOptions(
    OneSpace, Listed, DictionaryOut, InducedPairs, Retrieved, Searched, Clustered, Device, Threads, Common
):
    """The options of `muse induce`."""


@command(
    "muse induce embeddings/aligned/fr-en --out fr-en.txt",
    "muse induce SPACE --src fr --tgt en --words words.txt --top 3 --out fr-en.csv",
)
def induce(options: InduceOptions) -> Report:
    """Write a bilingual dictionary induced from a SPACE.

    The most frequent words come first, each with its best translations.
    """
    from muse.ranking.induction import InductionConfig
    from muse.run.memory import peak_memory_mb
    from muse.search.approximate import Approximation, worst
    from muse.search.retrieval import Retrieval

    out, form = options.out, options.form or _form(options.out, on_cluster=options.ray is not None)
    if options.group is not None and options.ray is not None:
        raise click.UsageError("--group is for one machine; leave it out, or leave out --ray.")
    listed = _listed(form, options)
    recalls: list[Recall] = []
    approximation = Approximation(options.search, options.seed, recalls.append)
    loaded = open_space(options.space, options.device, options.quiet, approximation, options.answers)
    way = choose_direction(loaded, options.src, options.tgt)
    only, retrieval = None, Retrieval(options.retrieval, backend=options.backend)
    terms: Mapping[str, Translation] = {}
    if listed is not None:
        from muse.translate.text import listed_words

        advice = "; muse translate --words names all"
        only, terms = listed_words(loaded, way, listed, retrieval, advice=advice)
    limits = InductionConfig.of(options, only, terms)
    wanted = [_Wanted(out, way, limits)]
    more: dict[str, Any] = {}
    if options.ray is not None:
        run = load("cluster.command").induce_on_cluster
        made = [run(loaded, way, limits, approximation, options)]
    else:
        if options.both:
            wanted.append(_Wanted(_reverse(out), way[::-1], limits.reversed()))
        made = _write(loaded, wanted, form, options, approximation)
        more = {"peak_memory_mb": peak_memory_mb()}
    shown = [{**one, "out": str(which.out)} for one, which in zip(made, wanted, strict=True)]
    for one in shown:
        left_out = one.get("left_out", {})  # missing from what an older muse made on a cluster
        if any(left_out.values()) and not options.as_json:
            log.info(
                "%s: of %s, left out %d without a pair within the limits, %d that the format lacks",
                one["out"], counted(one["words"], "word"), left_out["without_pair"], left_out["format"],
            )  # fmt: skip
    more["verdict"] = loaded.manifest.verdict_on(*way).label
    fields = {**shown[0], **({"reverse": shown[1]} if options.both else {}), **worst(recalls), **more}
    return fields, [*map(_line, shown), *map(str, recalls)]


def _line(made: Mapping[str, Any]) -> str:
    expected = made.get("expected_precision")  # missing from what an older muse made on a cluster
    right = "" if expected is None else f", about {expected:.0f} % right"
    forms = f", found by {counted(made['forms'], 'other form')} too" if made.get("forms") else ""
    return f"{counted(made['pairs'], 'pair')} in {made['out']}{right}{forms}"


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


class _Wanted(NamedTuple):
    """One dictionary to write."""

    out: Path
    way: tuple[str, str]
    limits: InductionConfig

    def words(self, space: Space) -> Sequence[str]:
        """The source words that are looked up."""
        words, only = space.vectors(self.way[0]).words[: self.limits.source_max], self.limits.only
        return words if only is None else [*(word for word in words if word in only), *self.limits.terms]


def _form(out: Path, *, on_cluster: bool) -> str:
    from muse.files.lexicons import form_of_name

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
    space: Space, wanted: Sequence[_Wanted], form: str, options: InduceOptions, approximation: Approximation
) -> list[dict[str, Any]]:
    """What each file has and lacks; the files appear only once all are complete."""
    import numpy as np

    from muse.files.lexicons import dictionary_writer
    from muse.ranking.induction import entries
    from muse.search.retrieval import Retrieval
    from muse.space.direction import search_with
    from muse.space.saving import check_not_an_input

    check_not_an_input(space.manifest, [one.out for one in wanted])  # the other direction's has no option
    surest = options.min_probability, options.precision
    probable = form not in _WITHOUT_NUMBERS or surest != (None, None)
    with ExitStack() as files:
        writers = [
            files.enter_context(dictionary_writer(one.out, form=form, languages=one.way)) for one in wanted
        ]
        _warn_of_left_out(space, wanted[0], form)  # before the search, which may take long
        made = []
        for write, one in zip(writers, wanted, strict=True):
            found = entries(
                space, *one.way, limits=one.limits,
                retrieval=Retrieval(options.retrieval, backend=options.backend),
                rng=np.random.default_rng(options.seed) if probable else None,
                search=search_with(approximation),
            )  # fmt: skip
            made.append(_fill(write, one, space, form, found, options.group))
        return made


def _warn_of_left_out(space: Space, wanted: _Wanted, form: str) -> None:
    from muse.files.lexicons import written_formats

    targets = space.vectors(wanted.way[1]).words[: wanted.limits.target_max]
    for language, every in zip(wanted.way, (wanted.words(space), targets), strict=True):
        if words := [word for word in every if not written_formats()[form].can_store(word)]:
            log.warning(
                "%s: leaving out %s of %s that the format %s cannot represent, the first is %r; "
                "--format jsonl has every word",
                wanted.out, counted(len(words), "word"), language, form, words[0],
            )  # fmt: skip


def _fill(
    write: Write, wanted: _Wanted, space: Space, form: str, found: Iterable[Entry], group: str | None
) -> dict[str, Any]:
    """Write the entries of one direction that fit the format; what the file has and lacks."""
    from muse.files.lexicons import can_store_entry
    from muse.ranking.headwords import grouped
    from muse.ranking.induction import Counts, check_found, summary

    within, fitting, written = Counts(), Counts(), Counts()
    kept = fitting.counted(one for one in within.counted(found) if can_store_entry(form, one))
    for entry in written.counted(kept if group is None else grouped(kept, space, wanted.way, group)):
        write(entry)
    check_found(written.pairs, " to ".join(wanted.way), wanted.out)
    made = summary(len(wanted.words(space)), within, fitting, written)
    return made if group is None else {**made, "forms": fitting.words - written.words}
