"""The tasks sentences, sts and relatedness of `muse evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muse.commands.evaluate_tasks import (
    FILE,
    METHODS,
    Report,
    language_option,
    prints_scores,
    require,
    this_task,
)
from muse.commands.options import (
    backend,
    choose_direction,
    common,
    common_without,
    given,
    languages,
    open_space,
)
from muse.commands.sections import SectionedCommand
from muse.sentences.commands.encoders import encoded, encoder_options, made_by, open_encoder, pair_scores
from muse.sentences.commands.evaluate_suite import OPTIONS, check_suite_options, suite_report

if TYPE_CHECKING:
    from muse.files.sentence_text import RatedSentences
    from muse.sentences.encoders.encoder import SentenceEncoder
    from muse.space import Space
    from muse.vectors import Matrix

ENCODER = ("--encoder", "--also", "--fit")
RATED = "Two sentences and a rating on each line, as .csv or .tsv.  [required]"


class _Task(NamedTuple):
    """A retrieval task: the texts by language, their encoder and what is said of it, a name for the files."""

    space: Space
    encoder: SentenceEncoder
    made: tuple[str, ...]
    texts: dict[str, list[str]]
    gold: str
    options: dict[str, Any]


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--source", "--target", "--parallel", "--src", "--tgt"),
        "Encoder": ENCODER,
        "What it measures": ("--retrieval", "--both-ways"),
        "Tasks of one language": OPTIONS,
        "Advanced": ("--neighbours", "--backend"),
    },
    examples=(
        "muse evaluate sentences embeddings/aligned/fr-en --source test.fr --target test.en",
        "muse evaluate sentences SPACE --suite data --encoder idf --picture suite.svg",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--source", "source_file", **FILE, help="Sentences of --src, one on each line.")
@click.option("--target", "target_file", **FILE, help="Their translations into --tgt, line by line.")
@click.option(
    "--parallel", **FILE,
    help="Instead of --source and --target: one file with pivot<TAB>sentence on each line.",
)  # fmt: skip
@click.option("--both-ways", is_flag=True, help="Also search from --tgt to --src.")
@click.option(
    "--retrieval", "methods", default=("csls",), multiple=True, show_default=True,
    type=click.Choice([*METHODS, "margin"]),
    help="Search by CSLS, nearest neighbour, inverted softmax or ratio margin; may be repeated.",
)  # fmt: skip
@click.option(
    "--neighbours", type=click.IntRange(1), metavar="K",
    help="Size of the neighbourhood.  [default: 10 for csls, 4 for margin]",
)  # fmt: skip
@click.option(
    "--suite", type=Path, metavar="FOLDER",
    help="Instead of retrieval: the test sets of SentEval, SICK and STS in a folder, in --src (en).",
)  # fmt: skip
@click.option("--tasks", metavar="NAME,NAME", help="Tasks of --suite, such as MR,TREC,STS-B.  [default: all]")
@click.option(
    "--folds", default=10, show_default=True, type=click.IntRange(3, 100), metavar="N",
    help="Folds of the cross-validation of --suite.",
)  # fmt: skip
@click.option("--picture", "out", type=Path, metavar="FILE.svg", help="Also draw the scores of --suite.")
@languages
@encoder_options("mean")  # the baseline of every table
@backend
@common
@prints_scores
def sentences(space: Path, options: dict[str, Any]) -> Report:
    """P@1, P@5 and P@10 of sentence retrieval, or the tasks of a suite.

    For each sentence of one language, the translation is looked up among those of the other. With --suite,
    classifiers and correlations measure the vectors of one language, as SentEval does.
    """
    from muse.errors import BadSetting

    check_suite_options(options)
    if options["suite"] is not None:
        return suite_report(space, options)
    if given("neighbours") and not {"csls", "margin"} & set(options["methods"]):
        methods = " and ".join(options["methods"])
        raise click.UsageError(f"--neighbours is for --retrieval csls or margin, not for {methods}.")
    loaded = open_space(space, options["device"], options["quiet"])
    source, target = choose_direction(loaded, options["source"], options["target"])
    if options["parallel"] is not None and loaded.pivot not in (source, target):
        raise BadSetting(
            f"--parallel needs the pivot, {loaded.pivot}, as --src or --tgt, got --src {source} and "
            f"--tgt {target}; give one file for each language with --source and --target"
        )
    texts, gold = _texts(options, pivot_first=source == loaded.pivot)
    named = dict(zip((source, target), texts, strict=True))
    encoder = open_encoder(loaded, options)
    task = _Task(loaded, encoder, made_by(encoder, options), named, gold, options)
    rows = {
        language: encoded(task.encoder, text, language, loaded.progress) for language, text in named.items()
    }
    fields, lines = _retrieved(task, rows, source, target)
    if options["both_ways"]:
        fields["reverse"], more = _retrieved(task, rows, target, source)
        lines += more
    return fields, lines


def _retrieved(
    task: _Task, rows: dict[str, Matrix], source: str, target: str
) -> tuple[dict[str, Any], list[str]]:
    import numpy as np

    from muse.evaluation.score import space_signature
    from muse.sentences.evaluation.retrieval import Queries, different, evaluate_sentences

    _, gold = different(task.texts[target])
    first = np.unique(gold, return_index=True)[1]  # where each distinct target first occurs
    queries = Queries(rows[source], rows[target][first], gold)
    found = {}
    for score in pair_scores(task.options["methods"], task.options["neighbours"]):
        signature = space_signature(
            task.space, source, target, retrieval=str(score), gold=task.gold, more=task.made
        )
        found[score.method] = evaluate_sentences(
            queries, score, signature, rng=np.random.default_rng(task.options["seed"]),
            device=task.space.device,
        )  # fmt: skip
    fields = {method: one.as_json() for method, one in found.items()}
    lines = [str(one) for one in found.values()]
    return (next(iter(fields.values())) if len(fields) == 1 else fields), lines


@click.command(
    cls=SectionedCommand,
    sections={"Input": ("--pairs", "--src", "--target-pairs", "--tgt"), "Encoder": ENCODER},
    examples=(
        "muse evaluate sts embeddings/aligned/fr-en --src fr --pairs rated.csv",
        "muse evaluate sts SPACE --src fr --pairs fr.csv --tgt en --target-pairs en.csv",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--pairs", **FILE, help=RATED)
@click.option("--target-pairs", **FILE, help="The same pairs in --tgt, to compare across languages.")
@language_option("Language of --pairs.  [required]", "--src", "--lang")
@click.option("--tgt", "target", metavar="LANG", help="Language of --target-pairs.")
@encoder_options("mean")
@common_without("device")
@prints_scores
def sts(space: Path, options: dict[str, Any]) -> Report:
    """Correlation of cosines with rated sentence pairs.

    The pairs are of one language, or of two with --target-pairs.
    """
    require(options, "--pairs FILE", "--src LANG")
    import numpy as np

    from muse.evaluation.score import gold_name, space_signature
    from muse.files.sentence_text import read_rated_sentences
    from muse.sentences.evaluation.sts import evaluate_sts

    across = options["target_pairs"] is not None
    if across != (options["target"] is not None):
        raise click.UsageError(
            f"{this_task()} across languages needs both --tgt LANG and --target-pairs FILE."
        )
    files = [options["pairs"], *([options["target_pairs"]] if across else [])]
    rated = [read_rated_sentences(path) for path in files]
    if across:
        _check_same_pairs(files, rated)
    loaded = open_space(space, "cpu", options["quiet"])
    languages = [options["source"], options["target"] if across else options["source"]]
    for language in languages:
        loaded.side(language)
    encoder = open_encoder(loaded, options)
    signature = space_signature(
        loaded, languages[0], languages[1], retrieval="cosine", gold="+".join(map(gold_name, files)),
        more=made_by(encoder, options),
    )  # fmt: skip
    score = evaluate_sts(
        encoded(encoder, rated[0].first, languages[0], loaded.progress),
        encoded(encoder, rated[-1].second, languages[1], loaded.progress),
        np.array(rated[0].ratings), signature, rng=np.random.default_rng(options["seed"]),
    )  # fmt: skip
    return score.as_json(), [str(score)]


@click.command(
    cls=SectionedCommand,
    sections={"Input": ("--pairs", "--train-pairs", "--lang"), "Encoder": ENCODER},
    examples=(
        "muse evaluate relatedness SPACE --lang en --train-pairs learn.csv --pairs rated.csv",
        "muse evaluate relatedness SPACE --lang en --train-pairs a.tsv --pairs b.tsv --encoder sif",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--pairs", **FILE, help=RATED)
@click.option("--train-pairs", **FILE, help="Rated pairs to learn from, in the same columns.  [required]")
@language_option("Language of the sentences.  [required]")
@encoder_options("mean")
@common_without("device")
@prints_scores
def relatedness(space: Path, options: dict[str, Any]) -> Report:
    """Correlation of a regression learned from rated sentence pairs."""
    require(options, "--pairs FILE", "--lang LANG", "--train-pairs FILE")
    import numpy as np

    from muse.evaluation.score import gold_name, space_signature
    from muse.files.sentence_text import read_rated_sentences
    from muse.sentences.evaluation.classifier import require_sklearn
    from muse.sentences.evaluation.sts import RatedRows, evaluate_relatedness

    require_sklearn()
    texts = [read_rated_sentences(options[name]) for name in ("train_pairs", "pairs")]
    loaded = open_space(space, "cpu", options["quiet"])
    language = options["source"]
    loaded.side(language)
    encoder = open_encoder(loaded, options)
    signature = space_signature(
        loaded, language, language, retrieval="regression", gold=gold_name(options["pairs"]),
        more=(*made_by(encoder, options), f"train:{gold_name(options['train_pairs'])}"),
    )  # fmt: skip
    train, test = (
        RatedRows(
            encoded(encoder, text.first, language, loaded.progress),
            encoded(encoder, text.second, language, loaded.progress),
            np.array(text.ratings),
        )
        for text in texts
    )
    score = evaluate_relatedness(train, test, signature, rng=np.random.default_rng(options["seed"]))
    return {**score.as_json(), "trained": len(train.ratings)}, [str(score)]


def _texts(options: dict[str, Any], *, pivot_first: bool) -> tuple[list[list[str]], str]:
    # The lines of both sides, source first, and a name for the files.
    from muse.evaluation.score import gold_name
    from muse.files.sentence_text import read_aligned, read_parallel

    files = [options["source_file"], options["target_file"]]
    if options["parallel"] is not None:
        if any(files):
            raise click.UsageError("--parallel replaces --source and --target; leave these out.")
        sides = [list(side) for side in read_parallel(options["parallel"])]  # the pivot's first
        return (sides if pivot_first else sides[::-1]), gold_name(options["parallel"])
    if not all(files):
        needed = "--source FILE and --target FILE, or --parallel FILE"
        raise click.UsageError(f"{this_task()} needs {needed}.")
    return read_aligned(*files), "+".join(map(gold_name, files))


def _check_same_pairs(files: list[Path], rated: list[RatedSentences]) -> None:
    # Row i of both files is the same pair in two languages, and so must have the same rating.
    from muse.errors import Mismatch

    first, second = (one.ratings for one in rated)
    if len(first) != len(second):
        raise Mismatch(
            f"row i of both files must be the same pair, got {len(first)} rows in {files[0]} and "
            f"{len(second)} in {files[1]}; take two translations of one file"
        )
    for row, (one, other) in enumerate(zip(first, second, strict=True), 1):
        if one != other:
            raise Mismatch(
                f"row i of both files must be the same pair, got the rating {one:g} in row {row} of "
                f"{files[0]} and {other:g} in that of {files[1]}; take two translations of one file"
            )
