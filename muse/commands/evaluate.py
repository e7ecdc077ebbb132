"""muse evaluate: a command for each task that measures a space: words, similarity, and unlabelled vectors.

Optional packages add theirs, such as those of sentence encoders.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

import click
from click.shell_completion import CompletionItem

from muse.commands.command import command
from muse.commands.completion import spaces
from muse.commands.options import BY_OPTION, choose_direction, named, open_space, this_task
from muse.commands.outputs import Report
from muse.commands.sections import SectionedGroup
from muse.optional import offered
from muse.options import (
    Answered,
    Backend,
    Common,
    Device,
    DictionaryForm,
    Languages,
    OneSpace,
    OptionSet,
    Searched,
    Seed,
    Threads,
    option,
)

if TYPE_CHECKING:
    from muse.evaluation.words import WordScore
    from muse.lexicon import Lexicon
    from muse.search.approximate import Recall
    from muse.search.retrieval import Retrieval
    from muse.space import Space
    from muse.vectors import Vectors

log = logging.getLogger(__name__)


class MeasuredBy(OptionSet):
    """How words or rows are looked up, in one way or in several."""

    retrieval: tuple[Literal["csls", "nn", "isf", "margin"], ...] = option(
        ("csls",), section="What it measures", metavar="[csls|nn|isf]",
        help="Search by CSLS, nearest neighbour or inverted softmax; may be repeated.",
    )  # fmt: skip

    def retrievals(self, backend: str) -> list[Retrieval]:
        """Each retrieval once; a usage error for margin, which is of sentences."""
        if "margin" in self.retrieval:
            raise click.UsageError(f"--retrieval margin is for {named('sentences')}.")
        from muse.search.retrieval import Retrieval

        return [Retrieval(method, backend=backend) for method in dict.fromkeys(self.retrieval)]


class WordsOptions(
    OneSpace,
    DictionaryForm,
    Languages,
    MeasuredBy,
    Answered,
    Backend,
    Searched,
    Seed,
    Device,
    Threads,
    Common,
):
    dictionary: Path = option(section="Input", help="Gold translations, a pair on each line.")
    against: Path | None = option(
        None, section="What it measures", metavar="SPACE",
        help="Another space; test whether SPACE is significantly better or worse.",
    )  # fmt: skip
    hubness: bool = option(
        False, section="What it measures", help="Also measure hubness, with nn and with csls."
    )


@command(
    "muse evaluate words embeddings/aligned/fr-en --dictionary gold.txt",
    "muse evaluate words SPACE --dictionary gold.txt --retrieval nn --retrieval csls",
)
def words(options: WordsOptions) -> Report:
    """P@1, P@5, P@10, MRR and MAP of word translation.

    Words of the dictionary that SPACE does not contain are left out; coverage says how many remain.
    """
    from muse.evaluation.words import check_comparable, warn_of_dictionary
    from muse.files import read_lexicon
    from muse.search.approximate import Approximation, worst

    recalls: list[Recall] = []
    approximation = Approximation(options.search, options.seed, recalls.append)
    every = options.retrievals(options.backend)
    loaded = open_space(options.space, options.device, options.quiet, approximation, options.answers)
    way = choose_direction(loaded, options.src, options.tgt)
    lexicon = read_lexicon(options.dictionary, languages=way, form=options.dictionary_format)
    if lexicon.looks_swapped(loaded.vectors(way[0]).index, loaded.vectors(way[1]).index):
        log.warning("the dictionary seems to be from %s to %s: swap --src and --tgt", *way[::-1])
    else:
        warn_of_dictionary(loaded, lexicon, *way)
    other = None
    if options.against is not None:
        other = open_space(options.against, options.device, options.quiet, approximation, options.answers)
        check_comparable(loaded, other, *way)
    fields, lines = {}, []
    for retrieval in every:
        fields[retrieval.method], shown = _compared(loaded, other, lexicon, retrieval, way, options)
        lines += shown
    found = next(iter(fields.values())) if len(fields) == 1 else fields
    if options.hubness:
        found["hubness"], more = _hubness(loaded, way, options)
        lines += more
    return {**found, **worst(recalls)}, [*lines, *map(str, recalls)]


def _compared(
    space: Space,
    other: Space | None,
    lexicon: Lexicon,
    retrieval: Retrieval,
    way: tuple[str, str],
    options: WordsOptions,
) -> Report:
    """The score of a space, that of CSLS alone where it has other answers, and that of the `other` space."""
    import numpy as np

    from muse.evaluation.score import gold_name
    from muse.evaluation.words import compare_words, evaluate_words

    def measured(one: Space) -> WordScore:
        """The score of a space."""
        return evaluate_words(
            one, lexicon, rng=np.random.default_rng(options.seed), source=way[0], target=way[1],
            retrieval=retrieval, gold=gold_name(options.dictionary),
        )  # fmt: skip

    def against(theirs: WordScore, name: str) -> dict[str, Any]:
        """How the score compares with another one, which is printed too."""
        compared = compare_words(score, theirs, np.random.default_rng(options.seed))
        lines.extend((f"against {name}: {theirs.score}", str(compared)))
        return compared.as_json()

    score = measured(space)
    fields, lines = score.as_json(), _score_lines(score)
    if score.answers == "all":
        alone = measured(space.by_csls())
        fields["by_csls"] = {**alone.as_json(), "difference": against(alone, "CSLS alone")}
    if other is not None:
        theirs = measured(other)
        compared = against(theirs, str(options.against))
        fields["against"] = compared | {"p_at_1": theirs.p_at_1, "signature": str(theirs.signature)}
    return fields, lines


def _score_lines(score: WordScore) -> list[str]:
    groups = [f"  {group}" for group in (*score.bands, *score.parts)]
    return [
        f"{score.score}",
        f"P@5 = {score.p_at_5:.1f}, P@10 = {score.p_at_10:.1f}, P@1 over all {score.queries} queries = "
        f"{score.p_at_1_all:.1f}, coverage {score.covered}/{score.queries}",
        f"MRR = {score.mrr:.3f} [{score.mrr_ci95[0]:.3f}, {score.mrr_ci95[1]:.3f}], "
        f"MAP = {score.map:.3f} [{score.map_ci95[0]:.3f}, {score.map_ci95[1]:.3f}]",
        *(["by frequency rank and kind of word, with the number of queries:", *groups] if groups else []),
    ]


def _hubness(space: Space, way: tuple[str, str], options: WordsOptions) -> tuple[dict[str, Any], list[str]]:
    from muse.evaluation.words import hubness
    from muse.search.retrieval import Retrieval

    fields, lines = {}, []
    retrievals = [Retrieval(name, backend=options.backend) for name in ("nn", "csls")]
    for retrieval, found in zip(retrievals, hubness(space, *way, *retrievals), strict=True):
        fields[retrieval.method] = found.as_json()
        hubs = ", ".join(f"{word} {count}" for word, count in found.largest[:5])
        lines.append(
            f"hubness with {found.retrieval}: skewness of the {found.k}-occurrence {found.skewness:.2f}, "
            f"{found.never:.1f} % of the targets never found, largest hubs {hubs}"
        )
    return fields, lines


class SimilarityOptions(OneSpace, Languages, Seed, Device, Threads, Common):
    pairs: Path = option(
        section="Input", help="A table of two words and a rating; of words of one language, --src is --tgt."
    )


@command(
    "muse evaluate similarity embeddings/aligned/fr-en --pairs rated.tsv",
    "muse evaluate similarity SPACE --pairs wordsim353.csv --src en --tgt en --json",
)
def similarity(options: SimilarityOptions) -> Report:
    """Correlation of cosines with rated word pairs."""
    import numpy as np

    from muse.evaluation.ratings import evaluate_similarity, read_rated_words
    from muse.evaluation.score import gold_name

    loaded = open_space(options.space, options.device, options.quiet)
    source, target = options.src, options.tgt
    if source is None or source != target:
        source, target = choose_direction(loaded, source, target)
    rated = read_rated_words(options.pairs, loaded, (source, target))
    score = evaluate_similarity(
        loaded, rated, rng=np.random.default_rng(options.seed),
        source=source, target=target, gold=gold_name(options.pairs),
    )  # fmt: skip
    return score.as_json(), [str(score)]


class RowsOptions(OneSpace, Languages, MeasuredBy, Backend, Seed, Device, Threads, Common):
    pairs: Path | None = option(
        None, section="Input",
        help="Two ids on each line, separated by a tab: rows that belong together.",
    )  # fmt: skip
    source: Path | None = option(None, section="Input", help="New rows of --src, which are mapped.")
    target: Path | None = option(
        None, section="Input",
        help="New rows of --tgt, which are mapped; with --store, the queries by the store's own model.",
    )  # fmt: skip
    store: Path | None = option(
        None, section="Input",
        help="A store of rows of --tgt as they are: how many neighbours the mapped queries of --source keep.",
    )  # fmt: skip
    src_column: str | None = option(
        None, section="Input", metavar="NAME", needs="source",
        help="Column or named vector of --source to read, where several have vectors.",
    )  # fmt: skip
    tgt_column: str | None = option(
        None, section="Input", metavar="NAME", needs="target", help="Column or named vector of --target."
    )
    column: str | None = option(
        None, section="Input", metavar="NAME", needs="store", help="Column or named vector of --store."
    )
    at_least: float | None = option(
        None, section="What it measures", metavar="SHARE", least=0, most=1, needs="store",
        help="With --store: exit with code 3 if recall@10 is below this share.",
    )  # fmt: skip


@command(
    "muse evaluate rows embeddings/aligned/old-new --pairs ids.tsv",
    "muse evaluate rows SPACE --source old-test.npy --target new-test.npy",
)
def rows(options: RowsOptions) -> Report:
    """P@1, mean rank and mean cosine of unlabelled vectors.

    It measures how often the counterpart of a row is found, by ids or by row numbers. With --store it
    measures what searches lose by mapped queries: recall@1, recall@10 and overlap with native search.
    """
    if options.store is not None:
        return _of_store(options, options.store)
    files = options.source, options.target
    columns = options.src_column, options.tgt_column
    if (files[0] is None) != (files[1] is None):
        raise click.UsageError("--source and --target go together: give both, or neither.")
    if files[0] is None and options.pairs is None:
        needed = "--pairs FILE, or --source FILE and --target FILE"
        raise click.UsageError(f"{this_task()} needs {needed}.")
    import numpy as np

    from muse.evaluation.rows import evaluate_rows
    from muse.evaluation.score import gold_name
    from muse.files import read_lexicon

    pairs = None if options.pairs is None else read_lexicon(options.pairs, "two ids")
    loaded = open_space(options.space, options.device, options.quiet)
    languages = choose_direction(loaded, options.src, options.tgt)
    sides = tuple(_side(loaded, *of) for of in zip(languages, files, columns, strict=True))
    gold = "" if options.pairs is None else gold_name(options.pairs)
    fields, lines = {}, []
    for retrieval in options.retrievals(options.backend):
        rng = np.random.default_rng(options.seed)
        score = evaluate_rows(
            loaded, (sides[0], sides[1]), pairs, retrieval=retrieval, rng=rng, gold=gold
        )  # fmt: skip
        fields[retrieval.method] = score.as_json()
        lines.append(str(score))
    return next(iter(fields.values())) if len(fields) == 1 else fields, lines


def _of_store(options: RowsOptions, store: Path) -> Report:
    """What searches of a store lose: queries and native rows in the same order, or with ids of the store."""
    if options.pairs is not None:
        raise click.UsageError("--pairs is for two sides; with --store, rows belong together by place or id.")
    if options.source is None:
        raise click.UsageError(f"{this_task()} needs --source FILE.")
    import numpy as np

    from muse.evaluation.rows import evaluate_store
    from muse.evaluation.score import gold_name
    from muse.files import read_vectors
    from muse.files.vectors.formats import open_table
    from muse.files.vectors.table import ReadOptions

    loaded = open_space(options.space, options.device, options.quiet)
    source, target = choose_direction(loaded, options.src, options.tgt)
    queries = read_vectors(options.source, language=source, column=options.src_column)
    native = _native(loaded, target, len(queries), options)
    with open_table(store, ReadOptions(column=options.column)) as table:
        score = evaluate_store(
            loaded, queries, native, (target, table),
            rng=np.random.default_rng(options.seed), gold=gold_name(store),
        )  # fmt: skip
    fields, lines = score.as_json(), [str(score)]
    if (least := options.at_least) is not None:
        fields |= {"at_least": least, "passed": score.recall_at_10 >= 100 * least}
        verdict = "reached" if fields["passed"] else "not reached"
        lines.append(f"{verdict}: recall@10 of at least {100 * least:g}")
    return fields, lines


def _native(space: Space, language: str, count: int, options: RowsOptions) -> Vectors | None:
    """The `count` queries by the store's own model; None where they are rows of the store, known by ids."""
    from muse.errors import Mismatch
    from muse.files import read_vectors
    from muse.files.vectors.formats import has_row_numbers

    if options.target is None:
        if any(has_row_numbers(Path(str(one))) for one in (options.source, options.store)):
            raise Mismatch(
                f"{options.source}: without --target, queries and rows of the store need ids, got "
                "row numbers; give the same queries by the store's own model as --target"
            )
        return None
    native = read_vectors(options.target, language=language, column=options.tgt_column)
    space.check_raw(language, native.dimension, str(options.target))
    if len(native) != count:
        raise Mismatch(
            f"{options.target}: row i must be query i of {options.source}, got "
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


SECTIONS = {
    "Words": [words, similarity],
    "Sentences": offered("evaluate: Sentences"),
    "Unlabelled vectors": [rows],
}
HELP = ("-h", "--help", "--version")


@final
class Tasks(SectionedGroup):
    """The group of tasks; a task may be named by --task too, after its space, and is words by default."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads `SPACE --task words ...` and `SPACE ...` as `words SPACE ...`."""
        if args and args[0] not in (*self.commands, *HELP) and not self._is_misspelt(args[0]):
            ctx.meta[BY_OPTION] = True
            task, rest = _without_task(args, ctx)
            args = [task, *rest]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the task; a usage error says which tasks an option is for that it does not have."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            having = [name for name in self.list_commands(ctx) if self._has(name, error.option_name)]
            if not having or error.ctx is None:
                raise
            with error.ctx.scope(cleanup=False):
                text = f"{error.option_name} is for {named(*having)}, not for {error.ctx.info_name}."
            raise click.UsageError(text, error.ctx) from error

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The tasks, and spaces."""
        found = super().shell_complete(ctx, incomplete)
        more = [one for one in spaces(ctx, incomplete) if isinstance(one, str)]
        return found + [CompletionItem(one) for one in more]

    def _is_misspelt(self, name: str) -> bool:
        # click then says which task was meant.
        from difflib import get_close_matches

        return not Path(name).exists() and bool(get_close_matches(name, self.commands, cutoff=0.8))

    def _has(self, task: str, option: str) -> bool:
        return any(option in one.opts for one in self.commands[task].params)


def _without_task(args: list[str], ctx: click.Context) -> tuple[str, list[str]]:
    """The value of the last --task, words without one, and the other arguments."""
    option = click.Option(["--task"], type=click.Choice(list(evaluate.commands)))
    task, rest, left = "words", list[str](), iter(args)
    for word in left:
        name, equals, value = word.partition("=")
        if name != "--task":
            rest.append(word)
            continue
        given = value if equals else next(left, None)
        if given is None:
            raise click.BadOptionUsage("--task", "Option '--task' requires an argument.", ctx)
        task = option.type.convert(given, option, ctx)
    return task, rest


@click.group(
    cls=Tasks, sections=SECTIONS, subcommand_metavar="TASK SPACE ...",
    examples=(
        "muse evaluate words embeddings/aligned/fr-en --dictionary gold.txt",
        "muse evaluate sentences SPACE --source test.fr --target test.en",
    ),
)  # fmt: skip
def evaluate() -> None:
    """Evaluate a space, or an encoder on it, with gold data.

    Each task explains itself: muse evaluate words --help.
    """
