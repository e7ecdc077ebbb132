"""muse mine: mine sentence pairs from texts in two languages."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from muse.commands.evaluate_tasks import FILE, Report, prints_scores, require
from muse.commands.options import (
    Finite,
    backend,
    choose_direction,
    cluster,
    common,
    one_machine_only,
    open_space,
    search,
)
from muse.commands.outputs import echo
from muse.commands.sections import RenamedOption, SectionedCommand
from muse.sentences.commands.encoders import encoded, encoder_options, made_by, open_encoder

if TYPE_CHECKING:
    from muse.evaluation.score import Signature
    from muse.progress import Progress
    from muse.search.approximate import Recall
    from muse.sentences.encoders.encoder import SentenceEncoder
    from muse.sentences.evaluation.retrieval import MiningScore
    from muse.sentences.mining import MiningConfig, Values
    from muse.space import Space
if TYPE_CHECKING:
    from muse.search.approximate import Recall

log = logging.getLogger(__name__)

SIDES = ("source", "target")
F = TypeVar("F", bound=Callable[..., Any])
UNTRAINED = "idf"  # finds translations best without training on the whole; sif compares sentences best


def score_options(command: F) -> F:
    """Adds the options that score and choose pairs."""
    for option in (
        click.option(
            "--neighbours", default=4, show_default=True, type=click.IntRange(1), metavar="K",
            help="Number of candidates for each sentence, and size of its neighbourhood.",
        ),
        click.option(
            "--threshold", type=Finite(), metavar="X",
            help="Drop pairs with a lower score.  [default: keep all]",
        ),
        click.option(
            "--score", default="margin", show_default=True, type=click.Choice(["margin", "csls", "cosine"]),
            help="Score of a pair; margin and csls compare it with its neighbourhood, cosine does not.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--source", "--src", "--target", "--tgt"),
        "Encoder": ("--encoder", "--also", "--fit"),
        "What it keeps": ("--score", "--threshold", "--gold"),
        "Output": ("--out",),
        "Advanced": ("--neighbours", "--search", "--backend", "--ray"),
    },
    examples=(
        "muse mine SPACE --src fr --source a.fr --tgt en --target b.en --out pairs.tsv",
        "muse mine SPACE --src fr --source a.fr --tgt en --target b.en --gold gold.tsv --out x.tsv",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option(
    "--src", "--src-lang", "src_lang", cls=RenamedOption, required=True, metavar="LANG",
    help="Language of --source.",
)  # fmt: skip
@click.option(
    "--tgt", "--tgt-lang", "tgt_lang", cls=RenamedOption, required=True, metavar="LANG",
    help="Language of --target.",
)  # fmt: skip
@click.option("--source", required=True, type=Path, metavar="FILE", help="Text in --src, line by line.")
@click.option("--target", required=True, type=Path, metavar="FILE", help="Text in --tgt, line by line.")
@click.option(
    "--out", required=True, type=Path, metavar="FILE",
    help="Pairs as score<TAB>source<TAB>target, best first; compressed if the name ends in .gz.",
)  # fmt: skip
@click.option(
    "--gold", type=Path, metavar="FILE",
    help="Known pairs as source<TAB>target: report F1 at --threshold or, without it, the threshold with "
    "the best F1.",
)  # fmt: skip
@score_options
@encoder_options(UNTRAINED)
@backend
@search
@cluster
@common
def mine(space: Path, out: Path, as_json: bool, **options: Any) -> None:
    """Mine sentence pairs from texts in two languages.

    A pair is kept if each of its sentences is the best candidate for the other. Scores depend on the
    encoder and the text: choose a --threshold with --gold, on text whose translations you know. A threshold
    for margin usually transfers between language pairs. Sentences that are repeated, empty or without a
    known word are left out and counted. Unicode form and white space make no difference.
    """
    from muse.errors import Contradiction
    from muse.files.writing import check_place, check_text_name

    recalls: list[Recall] = []
    config = mining_config(options, recalls)
    languages = (options["src_lang"], options["tgt_lang"])
    if languages[0] == languages[1]:
        raise Contradiction(f"pairs are mined between two languages, got {languages[0]!r} twice")
    on_cluster = options["address"] is not None
    if on_cluster:
        one_machine_only("backend", "device")
    else:
        check_text_name(out, "pairs", ".tsv or .tsv.gz")
        check_place(out)
    texts, known = read_texts(languages, options)
    loaded = open_space(space, config.device, options["quiet"])
    for language in languages:
        loaded.side(language)
    encoder = open_encoder(loaded, options)
    signature = mining_signature(loaded, encoder, config, options)
    if on_cluster:
        found = _on_cluster(encoder, (space, *options["also"]), out, config, loaded.progress, options)
    else:
        found = mined_pairs(encoder, texts, config, loaded.progress)
        _write(out, found)
    score = None if known is None else mining_score(found, known, config.threshold)
    _print_result(_Written(found.pairs, out, found.counts, signature, score, recalls), as_json)


class MinedPairs(NamedTuple):
    """The number of pairs, the counts of each side, and what gives scores (p,) and pairs of lines."""

    pairs: int
    counts: dict[str, dict[str, int]]
    read: Callable[[], tuple[Values, list[tuple[str, str]]]]


def mined_pairs(
    encoder: SentenceEncoder, texts: Sequence[_Text], config: MiningConfig, progress: Progress
) -> MinedPairs:
    """The pairs of two texts, on this machine."""
    from muse.sentences.mining import mine

    rows = [
        encoded(encoder, text.sentences, text.language, progress.part(number, 3))
        for number, text in enumerate(texts, 1)
    ]
    found = mine(rows[0], rows[1], config=config, progress=progress.part(3, 3))
    pairs = [(texts[0].sentences[row], texts[1].sentences[column]) for row, column in found.pairs]
    unknown = [int((~side.any(axis=1)).sum()) for side in rows]
    counts = [{**text.counts, "unknown": count} for text, count in zip(texts, unknown, strict=True)]
    return MinedPairs(len(pairs), dict(zip(SIDES, counts, strict=True)), lambda: (found.scores, pairs))


def _write(out: Path, found: MinedPairs) -> None:
    from muse.files.sentence_text import write_scored_pairs

    scores, pairs = found.read()
    write_scored_pairs(out, ((float(value), *pair) for value, pair in zip(scores, pairs, strict=True)))


def _on_cluster(
    encoder: SentenceEncoder, spaces: tuple[Path, ...], out: Path, config: MiningConfig, progress: Progress,
    options: dict[str, Any],
) -> MinedPairs:  # fmt: skip
    from muse.cluster.run import Run, files_as_settings, spaces_as_settings
    from muse.sentences.on_cluster import Text, encoder_as_settings, mine, mined

    languages = (options["src_lang"], options["tgt_lang"])
    source, target = (Text(options[side], language) for side, language in zip(SIDES, languages, strict=True))
    settings = {
        "command": "mine", "encoder": encoder_as_settings(encoder), "languages": list(languages),
        "spaces": spaces_as_settings(*spaces), "score": str(config.score),
        "threshold": config.threshold, "search": options["search"], "seed": options["seed"],
        **{side: files_as_settings(options[side]) for side in SIDES},
    }  # fmt: skip
    run = Run(out, options["address"], settings, progress)
    found = mine(encoder, spaces, (source, target), run, config)
    return MinedPairs(found["pairs"], {side: found[side] for side in SIDES}, partial(mined, out))


def mining_config(options: dict[str, Any], recalls: list[Recall]) -> MiningConfig:
    """How pairs are scored and searched; recalls of approximate search are appended to the list."""
    from muse.run.runtime import pick_device
    from muse.search.approximate import Approximation
    from muse.search.retrieval import PairScore
    from muse.sentences.mining import MiningConfig

    method = "nn" if options["score"] == "cosine" else options["score"]
    score = PairScore(method, k=options["neighbours"])
    return MiningConfig(
        score, options["threshold"], options["backend"], pick_device(options["device"]),
        Approximation(options["search"], options["seed"], recalls.append),
    )  # fmt: skip


class _Text(NamedTuple):
    """The distinct non-empty sentences (n,) of a text, and counts."""

    language: str
    sentences: list[str]
    counts: dict[str, int]


def read_texts(
    languages: tuple[str, str], options: dict[str, Any]
) -> tuple[list[_Text], set[tuple[str, str]] | None]:
    """The texts, which on a cluster other machines read, and the known pairs of --gold, if it is given."""
    gold, on_cluster = options["gold"], options["address"] is not None
    if on_cluster and gold is None:
        return [], None
    read = [_text(options[side], language) for side, language in zip(SIDES, languages, strict=True)]
    known = None if gold is None else _known(gold, [lines for _, lines in read])
    return [] if on_cluster else [text for text, _ in read], known


def _text(path: Path, language: str) -> tuple[_Text, dict[str, str]]:
    """A text, and the first of its lines of each canonical form, which --gold alone needs."""
    from muse.files.sentence_text import read_sentences
    from muse.text.characters import canonical

    first: dict[str, str] = {}
    lines = read_sentences(path)
    for line in lines:  # a repeated sentence finds no better pair
        name = canonical(line)
        first.setdefault(line if name == line else name, line)  # one string in memory where they are equal
    kept, full = [line for name, line in first.items() if name], sum(bool(line.strip()) for line in lines)
    counts = {"lines": len(lines), "empty": len(lines) - full, "repeated": full - len(kept)}
    return _Text(language, kept, counts), first


def _known(gold: Path, lines: Sequence[dict[str, str]]) -> set[tuple[str, str]]:
    """The pairs of `lines`, by canonical form, that a file has, encoded in any way; Mismatch if none."""
    from muse.errors import Mismatch
    from muse.files.sentence_text import read_parallel
    from muse.text.characters import canonical

    source, target = lines
    text = read_parallel(gold, "source<TAB>target", otherwise=None)
    pairs = set(zip(*(map(canonical, side) for side in text), strict=True))
    known = {(source[one], target[two]) for one, two in pairs if one in source and two in target}
    if not known:
        raise Mismatch(
            f"{gold}: expected pairs of a line of --source and a line of --target, got none among "
            f"{len(pairs)}; check the order of the columns"
        )
    if len(known) < len(pairs):
        log.warning(
            "%s: %d of %d pairs left out: they are no line of --source and line of --target",
            gold, len(pairs) - len(known), len(pairs),
        )  # fmt: skip
    return known


def mining_score(found: MinedPairs, known: set[tuple[str, str]], threshold: float | None) -> MiningScore:
    """The quality of the mined pairs at the threshold or, without it, at the best threshold."""
    import numpy as np

    from muse.sentences.evaluation.retrieval import Judged

    scores, pairs = found.read()
    judged = Judged(scores, np.array([pair in known for pair in pairs], np.bool_), len(known))
    return judged.best() if threshold is None else judged.at(threshold)


def mining_signature(
    space: Space, encoder: SentenceEncoder, config: MiningConfig, options: dict[str, Any]
) -> Signature:
    """How pairs were found."""
    from muse.evaluation.score import space_signature, text_name

    return space_signature(
        space, options["src_lang"], options["tgt_lang"], retrieval=str(config.score),
        gold="" if options["gold"] is None else text_name(options["gold"]), more=made_by(encoder, options),
    )  # fmt: skip


class _Written(NamedTuple):
    """The number of pairs, their file, counts by side, how they were found, the quality on gold, recalls."""

    pairs: int
    out: Path
    sides: dict[str, dict[str, int]]
    signature: Signature
    score: MiningScore | None
    recalls: list[Recall]


def _print_result(written: _Written, as_json: bool) -> None:
    from muse.search.approximate import worst

    pairs, out, named, signature, score, recalls = written
    if as_json:
        gold = {} if score is None else {"gold": score.as_json()}
        fields = {
            "pairs": pairs,
            "out": str(out),
            **named,
            **gold,
            **worst(recalls),
            "signature": str(signature),
        }
        echo(json.dumps(fields, ensure_ascii=False))
        return
    for side, counts in named.items():
        log.info(
            "%s: %d lines, left out %d empty, %d repeated, %d without a known word", side, *counts.values()
        )
    echo(" | ".join((f"{pairs} pairs in {out}", signature.retrieval, *signature.more)))
    for recall in recalls:
        echo(str(recall))
    if score is not None:
        echo(f"{score} | {signature}")


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--source", "--target", "--gold", "--src", "--tgt"),
        "Encoder": ("--encoder", "--also", "--fit"),
        "What it measures": ("--score", "--threshold"),
        "Advanced": ("--neighbours", "--search", "--backend"),
    },
    examples=(
        "muse evaluate mining SPACE --source a.fr --target b.en --gold pairs.tsv",
        "muse evaluate mining SPACE --source a.fr --target b.en --gold pairs.tsv --threshold 1.06",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option("--source", **FILE, help="Text in --src, a sentence on each line.  [required]")
@click.option("--target", **FILE, help="Text in --tgt, a sentence on each line.  [required]")
@click.option("--gold", **FILE, help="Known pairs of lines, as source<TAB>target.  [required]")
@click.option("--src", "src_lang", metavar="LANG", help="Language of --source.  [default: not the pivot]")
@click.option("--tgt", "tgt_lang", metavar="LANG", help="Language of --target.  [default: the pivot]")
@score_options
@encoder_options(UNTRAINED)
@backend
@search
@common
@prints_scores
def mining(space: Path, options: dict[str, Any]) -> Report:
    """F1, precision and recall of mined sentence pairs.

    The figures are those at --threshold or, without it, at the threshold with the best F1. muse mine writes
    the pairs.
    """
    require(options, "--source FILE", "--target FILE", "--gold FILE")
    from muse.search.approximate import worst

    recalls: list[Recall] = []
    config = mining_config(options, recalls)
    loaded = open_space(space, config.device, options["quiet"])
    direction = choose_direction(loaded, options["src_lang"], options["tgt_lang"])
    options = {**options, "src_lang": direction[0], "tgt_lang": direction[1], "address": None}
    texts, known = read_texts(direction, options)
    encoder = open_encoder(loaded, options)
    signature = mining_signature(loaded, encoder, config, options)
    found = mined_pairs(encoder, texts, config, loaded.progress)
    score = mining_score(found, known or set(), config.threshold)
    fields = {"pairs": found.pairs, **score.as_json(), **worst(recalls), "signature": str(signature)}
    return fields, [*map(str, recalls), f"{score} | {signature}"]
