"""The tasks sentences, with its suite, sts and relatedness of `muse evaluate`."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from muse.commands.command import command
from muse.commands.options import choose_direction, open_space, this_task
from muse.commands.outputs import Report
from muse.options import Backend, Common, Device, Languages, Seed, Threads, is_given, option, options_of
from muse.sentences.commands import encoders

if TYPE_CHECKING:
    from muse.space import Space
    from muse.vectors import Matrix

SUITE = "Tasks of one language"
OF_RETRIEVAL = ("source", "target", "parallel", "retrieval", "both_ways", "neighbours", "tgt", "backend")
RATED = "A table of two sentences and a rating."


class SentencesOptions(Languages, encoders.EncoderOptions, Backend, Seed, Device, Threads, Common):
    source: Path | None = option(None, section="Input", help="Sentences of --src, one on each line.")
    target: Path | None = option(None, section="Input", help="Their translations into --tgt, line by line.")
    parallel: Path | None = option(
        None, section="Input",
        help="Instead of --source and --target: one file of parallel text, a table, TMX or archive.",
    )  # fmt: skip
    retrieval: tuple[Literal["csls", "nn", "isf", "margin"], ...] = option(
        ("csls",), section="What it measures",
        help="Search by CSLS, nearest neighbour, inverted softmax or ratio margin; may be repeated.",
    )  # fmt: skip
    both_ways: bool = option(False, section="What it measures", help="Also search from --tgt to --src.")
    suite: Path | None = option(
        None, section=SUITE, metavar="FOLDER", of_any_files=True,
        help="Instead of retrieval: the test sets of SentEval, SICK and STS in a folder, in --src (en).",
    )  # fmt: skip
    tasks: str | None = option(
        None, section=SUITE, metavar="NAME,NAME", needs="suite",
        help="Tasks of --suite, such as MR,TREC,STS-B.  [default: all]",
    )  # fmt: skip
    folds: int = option(
        10, section=SUITE, metavar="N", least=3, most=100, needs="suite",
        help="Folds of the cross-validation of --suite.",
    )  # fmt: skip
    picture: Path | None = option(
        None, section=SUITE, metavar="FILE.svg", written=True, needs="suite",
        help="Also draw the scores of --suite.",
    )  # fmt: skip
    neighbours: int | None = option(
        None, section="Advanced", metavar="K", least=1,
        help="Size of the neighbourhood.  [default: 10 for csls, 4 for margin]",
    )  # fmt: skip


@command(
    "muse evaluate sentences embeddings/aligned/fr-en --source test.fr --target test.en",
    "muse evaluate sentences SPACE --suite data --encoder idf --picture suite.svg",
)
def sentences(options: SentencesOptions) -> Report:
    """P@1, P@5 and P@10 of sentence retrieval, or the tasks of a suite.

    For each sentence of one language, the translation is looked up among those of the other. With --suite,
    classifiers and correlations measure the vectors of one language, as SentEval does.
    """
    if options.suite is not None:
        return _suite(options, options.suite)
    if is_given(options, "neighbours") and not {"csls", "margin"} & set(options.retrieval):
        raise click.UsageError(
            f"--neighbours is for --retrieval csls or margin, not for {' and '.join(options.retrieval)}."
        )
    space = open_space(options.space, options.device, options.quiet)
    direction = choose_direction(space, options.src, options.tgt)
    texts, gold = _texts(options, space, direction)
    opened = encoders.open_encoder(options, space=space)
    rows = {language: opened.rows(text, language) for language, text in texts.items()}
    fields, lines = _retrieved(options, opened, (texts, rows), direction, gold)
    if options.both_ways:
        fields["reverse"], more = _retrieved(options, opened, (texts, rows), direction[::-1], gold)
        lines += more
    return fields, lines


def _named_tasks(options: SentencesOptions) -> list[str] | None:
    """The tasks of --tasks, None for all; a usage error for them, or other options that do not fit."""
    from muse.files.writing import check_place
    from muse.sentences.files.suite_folder import TASKS

    for name in OF_RETRIEVAL:
        if is_given(options, name):
            flag = options_of(type(options))[name].flag
            raise click.UsageError(f"{flag} is for retrieval; leave it out, or leave out --suite.")
    if options.picture is not None:
        if options.picture.suffix.lower() != ".svg":
            raise click.UsageError(
                f"--picture is an SVG: its name must end in .svg, got {options.picture.name!r}."
            )
        check_place(options.picture)
    if options.tasks is None:
        return None
    asked = {name.strip().casefold() for name in options.tasks.split(",")}
    if unknown := asked - {name.casefold() for name in TASKS}:
        raise click.UsageError(
            f"--tasks must be some of {', '.join(TASKS)}; got {', '.join(map(repr, sorted(unknown)))}."
        )
    return [name for name in TASKS if name.casefold() in asked]


def _suite(options: SentencesOptions, suite: Path) -> Report:
    """The figures of every task of the folder, and the lines to print; writes the picture."""
    import hashlib

    from muse.evaluation.score import gold_name
    from muse.files.space_folder import with_checksum
    from muse.files.writing import replaced
    from muse.sentences.evaluation.suite import SuiteConfig, check_tasks, drawn, evaluate_suite, means
    from muse.sentences.files.suite_folder import ENGLISH, TASKS, read_suite, tasks_of

    names, language = _named_tasks(options), options.src or ENGLISH
    tasks = read_suite(suite, language, names)
    config = SuiteConfig(folds=options.folds, seed=options.seed)
    check_tasks(tasks, config)  # before the space is read, which may take long
    space = open_space(options.space, options.device, options.quiet)
    opened = encoders.open_encoder(options, language, space=space)
    read = "+".join(gold_name(path) for task in tasks for part in task.files.values() for path in part)
    gold = with_checksum(suite.resolve().name, hashlib.sha256(read.encode()).hexdigest())
    signature = str(
        opened.signature([language], "suite", gold, f"folds:{options.folds}", f"drawn:{options.seed}")
    )
    scores = evaluate_suite(tasks, lambda sentences: opened.rows(sentences, language), config, space.progress)
    if options.picture is not None:
        with replaced(options.picture) as stream:
            stream.write(drawn(scores, signature).encode("utf-8", "replace"))
    found, possible = means(scores), tasks_of(language)
    missing = [name for name in names or possible if name not in {task.name for task in tasks}]
    alone = [name for name in TASKS if name not in possible]
    fields = {
        "tasks": {score.name: score.as_json() for score in scores}, "means": found, "missing": missing,
        "language": language, "folds": options.folds, "signature": signature,
    }  # fmt: skip
    lines = [str(score) for score in scores]
    lines += [f"mean {measure} = {value:.1f}" for measure, value in found.items()]
    lines += [f"not in the folder: {', '.join(missing)}"] if missing else []
    lines += [f"in English alone: {', '.join(alone)}"] if alone else []
    return fields, [*lines, signature]


def _retrieved(
    options: SentencesOptions, opened: encoders.OpenedEncoder,
    sides: tuple[dict[str, list[str]], dict[str, Matrix]], direction: tuple[str, str], gold: str,
) -> Report:  # fmt: skip
    # The scores of the texts and their rows, by language.
    import numpy as np

    from muse.search.retrieval import PairScore
    from muse.sentences.evaluation.retrieval import Queries, different, evaluate_sentences

    source, target = direction
    _, answers = different(sides[0][target])
    first = np.unique(answers, return_index=True)[1]  # where each distinct target first occurs
    queries = Queries(sides[1][source], sides[1][target][first], answers)
    found = {}
    for method in dict.fromkeys(options.retrieval):
        # As for words, and as usual for the margin.
        score = PairScore(method, k=options.neighbours or (10 if method == "csls" else 4))
        found[score.method] = evaluate_sentences(
            queries, score, opened.signature(direction, str(score), gold),
            rng=np.random.default_rng(options.seed), device=opened.space.device,
        )  # fmt: skip
    fields = {method: one.as_json() for method, one in found.items()}
    return (next(iter(fields.values())) if len(fields) == 1 else fields), [*map(str, found.values())]


def _texts(
    options: SentencesOptions, space: Space, direction: tuple[str, str]
) -> tuple[dict[str, list[str]], str]:
    # The lines of both languages, and a name for the files.
    from muse.errors import BadSetting
    from muse.evaluation.score import gold_name
    from muse.sentences.files.sentence_text import read_aligned, read_parallel
    from muse.text.parallel import fits_of

    files = [file for file in (options.source, options.target) if file is not None]
    if options.parallel is None:
        if len(files) < 2:
            needed = "--source FILE and --target FILE, or --parallel FILE"
            raise click.UsageError(f"{this_task()} needs {needed}.")
        sides, gold = read_aligned(*files), "+".join(map(gold_name, files))
        return dict(zip(direction, sides, strict=True)), gold
    if files:
        raise click.UsageError("--parallel replaces --source and --target; leave these out.")
    if space.pivot not in direction:
        raise BadSetting(
            f"--parallel needs the pivot, {space.pivot}, as --src or --tgt, got --src {direction[0]} and "
            f"--tgt {direction[1]}; give one file for each language with --source and --target"
        )
    languages = (space.pivot, next(language for language in direction if language != space.pivot))
    text = read_parallel(options.parallel, languages, fits_of(space.vectors, languages))
    found = dict(zip(languages, map(list, text), strict=True))
    return {language: found[language] for language in direction}, gold_name(options.parallel)


class StsOptions(encoders.EncoderOptions, Seed, Threads, Common):
    pairs: Path = option(section="Input", help=RATED)
    src: str = option(
        section="Input", metavar="LANG", more_flags=("--lang",), once=True, help="Language of --pairs."
    )
    target_pairs: Path | None = option(
        None, section="Input", needs="tgt", help="The same pairs in --tgt, to compare across languages."
    )
    tgt: str | None = option(
        None, section="Input", metavar="LANG", needs="target_pairs", help="Language of --target-pairs."
    )


@command(
    "muse evaluate sts embeddings/aligned/fr-en --src fr --pairs rated.csv",
    "muse evaluate sts SPACE --src fr --pairs fr.csv --tgt en --target-pairs en.csv",
)
def sts(options: StsOptions) -> Report:
    """Correlation of cosines with rated sentence pairs.

    The pairs are of one language, or of two with --target-pairs.
    """
    import numpy as np

    from muse.errors import Mismatch
    from muse.evaluation.ratings import read_rated
    from muse.evaluation.score import gold_name
    from muse.sentences.evaluation.sts import evaluate_sts

    files = [options.pairs, *([] if options.target_pairs is None else [options.target_pairs])]
    rated = [read_rated(path) for path in files]
    ratings = zip_longest(rated[0].ratings, rated[-1].ratings, fillvalue="none")
    for row, (one, other) in enumerate(ratings, 1):  # row i of both is the same pair, in two languages
        if one != other:
            raise Mismatch(
                f"row i of both files must be the same pair, got the rating {one} in row {row} of "
                f"{files[0]} and {other} in that of {files[-1]}; take two translations of one file"
            )
    languages = (options.src, options.tgt or options.src)
    opened = encoders.open_encoder(options, *languages)
    score = evaluate_sts(
        opened.rows(rated[0].first, languages[0]), opened.rows(rated[-1].second, languages[1]),
        np.array(rated[0].ratings), rng=np.random.default_rng(options.seed),
        signature=opened.signature(languages, "cosine", "+".join(map(gold_name, files))),
    )  # fmt: skip
    return score.as_json(), [str(score)]


class RelatednessOptions(encoders.EncoderOptions, Seed, Threads, Common):
    pairs: Path = option(section="Input", help=RATED)
    train_pairs: Path = option(section="Input", help="Rated pairs to learn from, in the same columns.")
    lang: str = encoders.language_option("Language of the sentences.")


@command(
    "muse evaluate relatedness SPACE --lang en --train-pairs learn.csv --pairs rated.csv",
    "muse evaluate relatedness SPACE --lang en --train-pairs a.tsv --pairs b.tsv --encoder sif",
)
def relatedness(options: RelatednessOptions) -> Report:
    """Correlation of a regression learned from rated sentence pairs."""
    import numpy as np

    from muse.evaluation.ratings import read_rated
    from muse.evaluation.score import gold_name
    from muse.sentences.evaluation.sts import RatedRows, evaluate_relatedness

    texts = [read_rated(path) for path in (options.train_pairs, options.pairs)]
    opened = encoders.open_encoder(options, options.lang)
    learned = f"train:{gold_name(options.train_pairs)}"
    signature = opened.signature([options.lang], "regression", gold_name(options.pairs), learned)
    train, test = (
        RatedRows(
            opened.rows(text.first, options.lang),
            opened.rows(text.second, options.lang),
            np.array(text.ratings),
        )
        for text in texts
    )
    score = evaluate_relatedness(train, test, signature, rng=np.random.default_rng(options.seed))
    return {**score.as_json(), "trained": len(train.ratings)}, [str(score)]
