"""The tasks sentences, sts and relatedness of `muse evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muse.commands.encoders import encoded, made_by, open_encoder, pair_scores
from muse.commands.options import choose_direction, open_space

if TYPE_CHECKING:
    from muse.files.sentence_text import RatedSentences
    from muse.sentences.encoders.encoder import SentenceEncoder
    from muse.space import AlignedSpace
    from muse.vectors import Matrix


class _Task(NamedTuple):
    """A retrieval task: the texts by language, their encoder and what is said of it, a name for the files."""

    space: AlignedSpace
    encoder: SentenceEncoder
    made: tuple[str, ...]
    texts: dict[str, list[str]]
    gold: str
    options: dict[str, Any]


def sentences(space: Path, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """P@1, P@5 and P@10 of retrieving the translation of each sentence."""
    from muse.errors import BadSetting

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
    from muse.evaluation.sentences import Queries, different, evaluate_sentences

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


def sts(space: Path, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Correlations with rated pairs of sentences, in one language or across two."""
    import numpy as np

    from muse.evaluation.score import gold_name, space_signature
    from muse.evaluation.sentence_ratings import evaluate_sts
    from muse.files.sentence_text import read_rated_sentences

    across = options["target_pairs"] is not None
    if across != (options["target"] is not None):
        raise click.UsageError("--task sts across languages needs both --tgt LANG and --target-pairs FILE.")
    files = [options["pairs"], *([options["target_pairs"]] if across else [])]
    rated = [read_rated_sentences(path) for path in files]
    if across:
        _check_same_pairs(files, rated)
    loaded = open_space(space, options["device"], options["quiet"])
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


def relatedness(space: Path, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Correlations with rated pairs of sentences, of a regression learned from others."""
    import numpy as np

    from muse.evaluation.classifier import require_sklearn
    from muse.evaluation.score import gold_name, space_signature
    from muse.evaluation.sentence_ratings import RatedRows, evaluate_relatedness
    from muse.files.sentence_text import read_rated_sentences

    require_sklearn()
    texts = [read_rated_sentences(options[name]) for name in ("train_pairs", "pairs")]
    loaded = open_space(space, options["device"], options["quiet"])
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
        raise click.UsageError("--task sentences needs --source FILE and --target FILE, or --parallel FILE.")
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
