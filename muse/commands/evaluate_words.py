"""The tasks of muse evaluate that need no sentences: words, similarity, and unlabelled vectors."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.evaluate_tasks import FILE, Report, prints_scores, require, retrieval_methods, this_task
from muse.commands.options import (
    Finite,
    answers,
    backend,
    choose_direction,
    common,
    dictionary_format,
    languages,
    open_space,
    retrievals,
    search,
)
from muse.commands.sections import SectionedCommand

if TYPE_CHECKING:
    from muse.evaluation.words import WordScore
    from muse.lexicon import Lexicon
    from muse.search.approximate import Recall
    from muse.search.retrieval import Retrieval
    from muse.space import Space
    from muse.vectors import Vectors

log = logging.getLogger(__name__)


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--dictionary", "--dictionary-format", "--src", "--tgt"),
        "What it measures": ("--answers", "--retrieval", "--against", "--hubness"),
        "Advanced": ("--search", "--backend"),
    },
    examples=(
        "muse evaluate words embeddings/aligned/fr-en --dictionary gold.txt",
        "muse evaluate words SPACE --dictionary gold.txt --retrieval nn --retrieval csls",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--dictionary", **FILE, help="Gold translations, a pair on each line.  [required]")
@dictionary_format
@click.option(
    "--against", type=Path, metavar="SPACE",
    help="Another space; test whether SPACE is significantly better or worse.",
)  # fmt: skip
@click.option("--hubness", is_flag=True, help="Also measure hubness, with nn and with csls.")
@retrieval_methods
@answers
@languages
@backend
@search
@common
@prints_scores
def words(space: Path, options: dict[str, Any]) -> Report:
    """P@1, P@5, P@10, MRR and MAP of word translation.

    Words of the dictionary that SPACE does not contain are left out; coverage says how many remain.
    """
    require(options, "--dictionary FILE")
    from muse.evaluation.words import check_comparable
    from muse.files import read_lexicon
    from muse.search.approximate import Approximation, worst

    recalls: list[Recall] = []
    approximation = Approximation(options["search"], options["seed"], recalls.append)
    loaded = open_space(space, options["device"], options["quiet"], approximation, options["answers"])
    source, target = choose_direction(loaded, options["source"], options["target"])
    options = {**options, "source": source, "target": target}
    lexicon = read_lexicon(
        options["dictionary"], languages=(source, target), form=options["dictionary_format"]
    )
    _warn_of_unknown(loaded, lexicon, source, target)
    other = None
    if options["against"] is not None:
        other = open_space(
            options["against"], options["device"], options["quiet"], approximation, options["answers"]
        )
        check_comparable(loaded, other, source, target)
    fields, lines = {}, []
    for retrieval in retrievals(options["methods"], options["backend"]):
        fields[retrieval.method], shown = _compared(loaded, other, lexicon, retrieval, options)
        lines += shown
    found = next(iter(fields.values())) if len(fields) == 1 else fields
    if options["hubness"]:
        found["hubness"], more = _hubness(loaded, options)
        lines += more
    return {**found, **worst(recalls)}, [*lines, *map(str, recalls)]


def _warn_of_unknown(space: Space, lexicon: Lexicon, source: str, target: str) -> None:
    """Warns of a dictionary that seems to be of the other direction, or in other letters."""
    from muse.evaluation.words import warn_of_dictionary

    if lexicon.looks_swapped(space.vectors(source).index, space.vectors(target).index):
        log.warning("the dictionary seems to be from %s to %s: swap --src and --tgt", target, source)
    else:
        warn_of_dictionary(space, lexicon, source, target)


def _compared(
    space: Space,
    other: Space | None,
    lexicon: Lexicon,
    retrieval: Retrieval,
    options: dict[str, Any],
) -> Report:
    """The score of a space, that of CSLS alone where it has other answers, and that of the `other` space."""
    score = _score(space, lexicon, retrieval, options)
    fields, lines = score.as_json(), _shown(score)
    if score.answers == "all":
        alone = _score(space.by_csls(), lexicon, retrieval, options)
        compared, more = _against(score, alone, options, "CSLS alone")
        fields["by_csls"] = {**alone.as_json(), "difference": compared}
        lines += more
    if other is not None:
        theirs = _score(other, lexicon, retrieval, options)
        compared, more = _against(score, theirs, options, str(options["against"]))
        fields["against"] = compared | {"p_at_1": theirs.p_at_1, "signature": str(theirs.signature)}
        lines += more
    return fields, lines


def _score(space: Space, lexicon: Lexicon, retrieval: Retrieval, options: dict[str, Any]) -> WordScore:
    import numpy as np

    from muse.evaluation.score import gold_name
    from muse.evaluation.words import evaluate_words

    return evaluate_words(
        space, lexicon, rng=np.random.default_rng(options["seed"]),
        source=options["source"], target=options["target"],
        retrieval=retrieval, gold=gold_name(options["dictionary"]),
    )  # fmt: skip


def _shown(score: WordScore) -> list[str]:
    groups = [f"  {group}" for group in (*score.bands, *score.parts)]
    return [
        f"{score.score}",
        f"P@5 = {score.p_at_5:.1f}, P@10 = {score.p_at_10:.1f}, P@1 over all {score.queries} queries = "
        f"{score.p_at_1_all:.1f}, coverage {score.covered}/{score.queries}",
        f"MRR = {score.mrr:.3f} [{score.mrr_ci95[0]:.3f}, {score.mrr_ci95[1]:.3f}], "
        f"MAP = {score.map:.3f} [{score.map_ci95[0]:.3f}, {score.map_ci95[1]:.3f}]",
        *(["by frequency rank and kind of word, with the number of queries:", *groups] if groups else []),
    ]


def _against(
    score: WordScore, other: WordScore, options: dict[str, Any], name: str
) -> tuple[dict[str, Any], list[str]]:
    import numpy as np

    from muse.evaluation.words import compare_words

    compared = compare_words(score, other, np.random.default_rng(options["seed"]))
    return compared.as_json(), [f"against {name}: {other.score}", str(compared)]


def _hubness(space: Space, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    from muse.evaluation.words import hubness

    fields, lines = {}, []
    for retrieval in retrievals(("nn", "csls"), options["backend"]):
        found = hubness(space, options["source"], options["target"], retrieval)
        fields[retrieval.method] = found.as_json()
        hubs = ", ".join(f"{word} {count}" for word, count in found.largest[:5])
        lines.append(
            f"hubness with {found.retrieval}: skewness of the {found.k}-occurrence {found.skewness:.2f}, "
            f"{found.never:.1f} % of the targets never found, largest hubs {hubs}"
        )
    return fields, lines


@click.command(
    cls=SectionedCommand,
    sections={"Input": ("--pairs", "--src", "--tgt")},
    examples=(
        "muse evaluate similarity embeddings/aligned/fr-en --pairs rated.tsv",
        "muse evaluate similarity SPACE --pairs rated.tsv --src fr --tgt en --json",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--pairs", **FILE, help="Two words and a rating on each line, separated by tabs.  [required]")
@languages
@common
@prints_scores
def similarity(space: Path, options: dict[str, Any]) -> Report:
    """Correlation of cosines with rated word pairs."""
    require(options, "--pairs FILE")
    import numpy as np

    from muse.evaluation.ratings import evaluate_similarity
    from muse.evaluation.score import gold_name
    from muse.files import read_lexicon
    from muse.files.lexicons import RATED

    rated = read_lexicon(options["pairs"], RATED)
    loaded = open_space(space, options["device"], options["quiet"])
    source, target = choose_direction(loaded, options["source"], options["target"])
    score = evaluate_similarity(
        loaded, rated, rng=np.random.default_rng(options["seed"]),
        source=source, target=target, gold=gold_name(options["pairs"]),
    )  # fmt: skip
    return score.as_json(), [str(score)]


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": (
            *("--pairs", "--source", "--target", "--store"),
            *("--src-column", "--tgt-column", "--column", "--src", "--tgt"),
        ),
        "What it measures": ("--retrieval", "--at-least"),
        "Advanced": ("--backend",),
    },
    examples=(
        "muse evaluate rows embeddings/aligned/old-new --pairs ids.tsv",
        "muse evaluate rows SPACE --source old-test.npy --target new-test.npy",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--pairs", **FILE, help="Two ids on each line, separated by a tab: rows that belong together.")
@click.option("--source", "source_file", **FILE, help="New rows of --src, which are mapped.")
@click.option(
    "--target", "target_file", **FILE,
    help="New rows of --tgt, which are mapped; with --store, the queries by the store's own model.",
)  # fmt: skip
@click.option(
    "--store", **FILE,
    help="A store of rows of --tgt as they are: how many neighbours the mapped queries of --source keep.",
)  # fmt: skip
@click.option(
    "--src-column", "source_column", metavar="NAME",
    help="Column or named vector of --source to read, where several have vectors.",
)  # fmt: skip
@click.option("--tgt-column", "target_column", metavar="NAME", help="Column or named vector of --target.")
@click.option("--column", metavar="NAME", help="Column or named vector of --store.")
@click.option(
    "--at-least", type=Finite(0, 1), metavar="SHARE",
    help="With --store: exit with code 3 if recall@10 is below this share.",
)  # fmt: skip
@retrieval_methods
@languages
@backend
@common
@prints_scores
def rows(space: Path, options: dict[str, Any]) -> Report:
    """P@1, mean rank and mean cosine of unlabelled vectors.

    It measures how often the counterpart of a row is found, by ids or by row numbers. With --store it
    measures what searches lose by mapped queries: recall@1, recall@10 and overlap with native search.
    """
    _check_columns(options)
    if options["store"] is not None:
        return _of_store(space, options)
    if options["at_least"] is not None:
        raise click.UsageError("--at-least needs --store FILE.")
    files = options["source_file"], options["target_file"]
    columns = options["source_column"], options["target_column"]
    if (files[0] is None) != (files[1] is None):
        raise click.UsageError("--source and --target go together: give both, or neither.")
    if files[0] is None and options["pairs"] is None:
        needed = "--pairs FILE, or --source FILE and --target FILE"
        raise click.UsageError(f"{this_task()} needs {needed}.")
    import numpy as np

    from muse.evaluation.rows import evaluate_rows
    from muse.evaluation.score import gold_name
    from muse.files import read_lexicon

    pairs = None if options["pairs"] is None else read_lexicon(options["pairs"], "two ids")
    loaded = open_space(space, options["device"], options["quiet"])
    languages = choose_direction(loaded, options["source"], options["target"])
    sides = tuple(_side(loaded, *of) for of in zip(languages, files, columns, strict=True))
    gold = "" if options["pairs"] is None else gold_name(options["pairs"])
    fields, lines = {}, []
    for retrieval in retrievals(options["methods"], options["backend"]):
        rng = np.random.default_rng(options["seed"])
        score = evaluate_rows(
            loaded, (sides[0], sides[1]), pairs, retrieval=retrieval, rng=rng, gold=gold
        )  # fmt: skip
        fields[retrieval.method] = score.as_json()
        lines.append(str(score))
    return next(iter(fields.values())) if len(fields) == 1 else fields, lines


def _check_columns(options: dict[str, Any]) -> None:
    """A usage error for a column of a file that is not given."""
    files = {"source_column": "source_file", "target_column": "target_file", "column": "store"}
    names = {one.name: one.opts[0] for one in click.get_current_context().command.params}
    for column, file in files.items():
        if options[column] is not None and options[file] is None:
            raise click.UsageError(f"{names[column]} needs {names[file]} FILE.")


def _of_store(space: Path, options: dict[str, Any]) -> Report:
    """What searches of a store lose: queries and native rows in the same order, or with ids of the store."""
    if options["pairs"] is not None:
        raise click.UsageError("--pairs is for two sides; with --store, rows belong together by place or id.")
    require(options, "--source FILE")
    import numpy as np

    from muse.evaluation.rows import evaluate_store
    from muse.evaluation.score import gold_name
    from muse.files import read_vectors
    from muse.files.vectors.formats import open_table
    from muse.files.vectors.table import ReadOptions

    loaded = open_space(space, options["device"], options["quiet"])
    source, target = choose_direction(loaded, options["source"], options["target"])
    queries = read_vectors(options["source_file"], language=source, column=options["source_column"])
    native = _native(loaded, target, len(queries), options)
    with open_table(options["store"], ReadOptions(column=options["column"])) as table:
        score = evaluate_store(
            loaded, queries, native, (target, table),
            rng=np.random.default_rng(options["seed"]), gold=gold_name(options["store"]),
        )  # fmt: skip
    fields, lines = score.as_json(), [str(score)]
    if (least := options["at_least"]) is not None:
        fields |= {"at_least": least, "passed": score.recall_at_10 >= 100 * least}
        verdict = "reached" if fields["passed"] else "not reached"
        lines.append(f"{verdict}: recall@10 of at least {100 * least:g}")
    return fields, lines


def _native(space: Space, language: str, count: int, options: dict[str, Any]) -> Vectors | None:
    """The `count` queries by the store's own model; None where they are rows of the store, known by ids."""
    from muse.errors import Mismatch
    from muse.files import read_vectors
    from muse.files.vectors.formats import has_row_numbers

    if options["target_file"] is None:
        if has_row_numbers(options["source_file"]) or has_row_numbers(options["store"]):
            raise Mismatch(
                f"{options['source_file']}: without --target, queries and rows of the store need ids, got "
                "row numbers; give the same queries by the store's own model as --target"
            )
        return None
    native = read_vectors(options["target_file"], language=language, column=options["target_column"])
    space.check_raw(language, native.dimension, str(options["target_file"]))
    if len(native) != count:
        raise Mismatch(
            f"{options['target_file']}: row i must be query i of {options['source_file']}, got "
            f"{len(native)} rows for {count} queries; encode the same queries by both models"
        )
    return native


def _side(space: Space, language: str, file: Path | None, column: str | None) -> Vectors:
    """The rows of a file, mapped into the space; without a file, the rows of the space."""
    if file is None:
        return space.vectors(language)
    from dataclasses import replace

    from muse.files import read_vectors

    read = read_vectors(file, language=language, column=column)
    space.check_raw(language, read.dimension, str(file))
    return replace(read, matrix=space.map_words(language, read.matrix))
