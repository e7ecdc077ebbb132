"""muse mine: mine sentence pairs from texts in two languages; muse evaluate mining: how good they are."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from muse.commands.command import command
from muse.commands.options import choose_direction, one_machine_only, open_space
from muse.commands.outputs import Report
from muse.errors import Contradiction, counted
from muse.options import Backend, Clustered, Common, Device, Languages, Searched, Seed, Threads, option
from muse.sentences.commands.encoders import EncoderOptions, OpenedEncoder, encoder_option, open_encoder

if TYPE_CHECKING:
    from muse.progress import Progress
    from muse.search.approximate import Recall
    from muse.sentences.encoders.encoder import SentenceEncoder
    from muse.sentences.evaluation.retrieval import MiningScore
    from muse.sentences.mining import MiningConfig, Values

log = logging.getLogger(__name__)

SIDES = ("source", "target")


class PairOptions(EncoderOptions, Searched, Backend, Seed, Device, Threads, Common):
    """How pairs are encoded, scored and chosen."""

    # idf finds translations best without training on the whole; sif compares sentences best.
    encoder: str = encoder_option("idf")
    score: Literal["margin", "csls", "cosine"] = option(
        "margin", section="What it keeps",
        help="Score of a pair; margin and csls compare it with its neighbourhood, cosine does not.",
    )  # fmt: skip
    threshold: float | None = option(
        None, section="What it keeps", help="Drop pairs with a lower score.  [default: keep all]"
    )
    neighbours: int = option(
        4, section="Advanced", metavar="K", least=1,
        help="Number of candidates for each sentence, and size of its neighbourhood.",
    )  # fmt: skip


class MineOptions(PairOptions, Clustered):
    src: str = option(
        section="Input", metavar="LANG", more_flags=("--src-lang",), help="Language of --source."
    )
    source: Path = option(section="Input", help="Text in --src, line by line.")
    tgt: str = option(
        section="Input", metavar="LANG", more_flags=("--tgt-lang",), help="Language of --target."
    )
    target: Path = option(section="Input", help="Text in --tgt, line by line.")
    out: Path = option(
        section="Output", written=True,
        help="Pairs as score<TAB>source<TAB>target, best first; compressed if the name ends in .gz.",
    )  # fmt: skip
    gold: Path | None = option(
        None, section="What it keeps",
        help="Known pairs as source<TAB>target: report F1 at --threshold or, without it, the threshold with "
        "the best F1.",
    )  # fmt: skip


@command(
    "muse mine SPACE --src fr --source a.fr --tgt en --target b.en --out pairs.tsv",
    "muse mine SPACE --src fr --source a.fr --tgt en --target b.en --gold gold.tsv --out x.tsv",
)
def mine(options: MineOptions) -> Report:
    """Mine sentence pairs from texts in two languages.

    A pair is kept if each of its sentences is the best candidate for the other. Scores depend on the
    encoder and the text: choose a --threshold with --gold, on text whose translations you know. A threshold
    for margin usually transfers between language pairs. Sentences that are repeated, empty or without a
    known word are left out and counted. Unicode form and white space make no difference.
    """
    from muse.evaluation.score import text_name
    from muse.files.writing import check_place, check_text_name
    from muse.search.approximate import worst
    from muse.sentences.files.sentence_text import write_scored_pairs

    recalls: list[Recall] = []
    config = _config(options, recalls)
    direction = (options.src, options.tgt)
    if options.src == options.tgt:
        raise Contradiction(f"pairs are mined between two languages, got {options.src!r} twice")
    if options.ray is not None:
        one_machine_only("backend", "device")
    else:
        check_text_name(options.out, "pairs", ".tsv or .tsv.gz")
        check_place(options.out)
    files = (options.source, options.target)
    read = [] if options.ray is not None and options.gold is None else _texts(direction, files)
    known = None if options.gold is None else _known_pairs(options.gold, read)
    space = open_space(options.space, config.device, options.quiet)
    opened = open_encoder(options, *direction, space=space)
    gold = "" if options.gold is None else text_name(options.gold)
    signature = opened.signature(direction, str(config.score), gold)
    if options.ray is not None:
        found = _on_cluster(opened.encoder, options, options.ray, config, space.progress)
    else:
        found = _mined(opened, read, config)
        scored = zip(*found.read(), strict=True)
        write_scored_pairs(options.out, ((float(value), *pair) for value, pair in scored))
    score = None if known is None else _score(found, known, config.threshold)
    if not options.as_json:
        for side, counts in found.counts.items():
            log.info(
                "%s: %d lines, left out %d empty, %d repeated, %d without a known word",
                side, *counts.values(),
            )  # fmt: skip
    fields: dict[str, Any] = {"pairs": found.pairs, "out": str(options.out), **found.counts}
    lines = [
        " | ".join((f"{counted(found.pairs, 'pair')} in {options.out}", signature.retrieval, *signature.more))
    ]
    lines += map(str, recalls)
    if score is not None:
        fields["gold"] = score.as_json()
        lines.append(f"{score} | {signature}")
    return {**fields, **worst(recalls), "signature": str(signature)}, lines


class MiningOptions(PairOptions, Languages):
    source: Path = option(section="Input", help="Text in --src, a sentence on each line.")
    target: Path = option(section="Input", help="Text in --tgt, a sentence on each line.")
    gold: Path = option(section="Input", help="Known pairs of lines, or of the ids before them.")


@command(
    "muse evaluate mining SPACE --source a.fr --target b.en --gold pairs.tsv",
    "muse evaluate mining SPACE --source a.fr --target b.en --gold pairs.tsv --threshold 1.06",
)
def mining(options: MiningOptions) -> Report:
    """F1, precision and recall of mined sentence pairs.

    The figures are those at --threshold or, without it, at the threshold with the best F1. muse mine writes
    the pairs.
    """
    from muse.evaluation.score import text_name
    from muse.search.approximate import worst

    recalls: list[Recall] = []
    config = _config(options, recalls)
    space = open_space(options.space, config.device, options.quiet)
    direction = choose_direction(space, options.src, options.tgt)
    read = _texts(direction, (options.source, options.target))
    known = _known_pairs(options.gold, read)
    opened = open_encoder(options, space=space)
    signature = opened.signature(direction, str(config.score), text_name(options.gold))
    found = _mined(opened, read, config)
    score = _score(found, known, config.threshold)
    fields = {"pairs": found.pairs, **score.as_json(), **worst(recalls), "signature": str(signature)}
    return fields, [*map(str, recalls), f"{score} | {signature}"]


class MinedPairs(NamedTuple):
    """The number of pairs, the counts of each side, and what gives scores (p,) and pairs of lines."""

    pairs: int
    counts: dict[str, dict[str, int]]
    read: Callable[[], tuple[Values, list[tuple[str, str]]]]


class _Text(NamedTuple):
    """The distinct non-empty sentences (n,) of a text, counts, and its lines by canonical form, and by id."""

    language: str
    sentences: list[str]
    counts: dict[str, int]
    first: dict[str, str]


def _mined(opened: OpenedEncoder, texts: Sequence[_Text], config: MiningConfig) -> MinedPairs:
    from muse.sentences.mining import mine

    progress = opened.space.progress
    rows = [
        opened.rows(text.sentences, text.language, progress.part(number, 3))
        for number, text in enumerate(texts, 1)
    ]
    found = mine(rows[0], rows[1], config=config, progress=progress.part(3, 3))
    pairs = [(texts[0].sentences[row], texts[1].sentences[column]) for row, column in found.pairs]
    counts = {
        side: {**text.counts, "unknown": int((~own.any(axis=1)).sum())}
        for side, text, own in zip(SIDES, texts, rows, strict=True)
    }
    return MinedPairs(len(pairs), counts, lambda: (found.scores, pairs))


def _on_cluster(
    encoder: SentenceEncoder, options: MineOptions, address: str, config: MiningConfig, progress: Progress
) -> MinedPairs:
    from muse.cluster.run import Run, files_as_settings, spaces_as_settings
    from muse.files.plain_text import read_lines
    from muse.sentences.files.sentence_text import split_ids
    from muse.sentences.on_cluster import Text, encoder_as_settings, mine, mined

    for path in (options.source, options.target):
        if split_ids(list(islice(read_lines(path), 100)))[0]:
            raise Contradiction(
                f"{path}: --ray mines whole lines, got ids before the sentences; cut -f2 them"
            )
    spaces = (options.space, *options.also)
    settings = {
        "command": "mine", "encoder": encoder_as_settings(encoder), "languages": [options.src, options.tgt],
        "spaces": spaces_as_settings(*spaces), "score": str(config.score),
        "threshold": config.threshold, "search": options.search, "seed": options.seed,
        "source": files_as_settings(options.source), "target": files_as_settings(options.target),
    }  # fmt: skip
    run = Run(options.out, address, settings, progress)
    texts = Text(options.source, options.src), Text(options.target, options.tgt)
    found = mine(encoder, spaces, texts, run, config)
    return MinedPairs(found["pairs"], {side: found[side] for side in SIDES}, partial(mined, options.out))


def _config(options: PairOptions, recalls: list[Recall]) -> MiningConfig:
    """How pairs are scored and searched; recalls of approximate search are appended to the list."""
    from muse.run.runtime import pick_device
    from muse.search.approximate import Approximation
    from muse.search.retrieval import PairScore
    from muse.sentences.mining import MiningConfig

    method = "nn" if options.score == "cosine" else options.score
    return MiningConfig(
        PairScore(method, k=options.neighbours), options.threshold, options.backend,
        pick_device(options.device), Approximation(options.search, options.seed, recalls.append),
    )  # fmt: skip


def _texts(direction: tuple[str, str], files: tuple[Path, Path]) -> list[_Text]:
    from muse.orthography import canonical
    from muse.sentences.files.sentence_text import read_sentences, split_ids

    found = []
    for path, language in zip(files, direction, strict=True):
        first: dict[str, str] = {}
        ids, lines = split_ids(read_sentences(path))
        if ids:
            log.info("%s: what stands before the tabs are ids of the sentences", path)
        for line in lines:  # a repeated sentence finds no better pair
            name = canonical(line)
            first.setdefault(line if name == line else name, line)  # one string where they are equal
        kept, full = [line for name, line in first.items() if name], sum(bool(line.strip()) for line in lines)
        counts = {"lines": len(lines), "empty": len(lines) - full, "repeated": full - len(kept)}
        first |= {one: first[canonical(line)] for one, line in zip(ids, lines, strict=False) if line.strip()}
        found.append(_Text(language, kept, counts, first))
    return found


def _known_pairs(gold: Path, texts: Sequence[_Text]) -> set[tuple[str, str]]:
    """The pairs of lines, by canonical form, that a file has, encoded in any way; Mismatch if none."""
    from muse.errors import Mismatch
    from muse.orthography import canonical
    from muse.sentences.files.sentence_text import read_parallel

    source, target = (text.first for text in texts)
    fits = [lambda cell, lines=text.first: float(canonical(cell) in lines) for text in texts]
    text = read_parallel(gold, (texts[0].language, texts[1].language), fits)
    pairs = set(zip(*(map(canonical, side) for side in text), strict=True))
    found = [(source[one], target[two]) for one, two in pairs if one in source and two in target]
    if not found:
        raise Mismatch(
            f"{gold}: expected pairs of a line of --source and a line of --target, or of their ids, got none "
            f"among {len(pairs)}; check that the files belong together"
        )
    if len(found) < len(pairs):
        log.warning(
            "%s: %d of %d pairs left out: they are no line of --source and line of --target",
            gold, len(pairs) - len(found), len(pairs),
        )  # fmt: skip
    return {*found}


def _score(found: MinedPairs, known: set[tuple[str, str]], threshold: float | None) -> MiningScore:
    """The quality of the mined pairs at the threshold or, without it, at the best threshold."""
    import numpy as np

    from muse.sentences.evaluation.retrieval import Judged

    scores, pairs = found.read()
    judged = Judged(scores, np.array([pair in known for pair in pairs], np.bool_), len(known))
    return judged.best() if threshold is None else judged.at(threshold)
