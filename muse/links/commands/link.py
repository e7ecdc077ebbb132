"""muse link: words aligned in parallel sentences."""

from __future__ import annotations

import json
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from muse.commands.command import command
from muse.commands.options import choose_direction, open_space
from muse.commands.outputs import Report, echo
from muse.options import Common, Device, DictionaryForm, OneSpace, Threads, option

if TYPE_CHECKING:
    from muse.links.linker import LinkConfig, Linker
    from muse.links.links import Links
    from muse.links.parallel import ParallelFiles, Sentence, Splitter
    from muse.space import Space

log = logging.getLogger(__name__)


class LinkingOptions(DictionaryForm, Device, Threads):
    """Which sentences are linked, and how."""

    source: Path | None = option(
        None, section="Input", group="sentences", help="Sentences in --src, one a line."
    )
    target: Path | None = option(
        None, section="Input", needs="source", help="Their translations into --tgt, line by line."
    )
    pairs: Path | None = option(
        None, section="Input", group="sentences",
        help="Instead of both: a table of two columns, a TMX, or lines with ||| between.  [default: stdin]",
    )  # fmt: skip
    src: str | None = option(
        None, section="Input", metavar="LANG", more_flags=("--src-lang",),
        help="Language of --source.  [default: the language besides the pivot; if --tgt is that, the pivot]",
    )  # fmt: skip
    tgt: str | None = option(
        None, section="Input", metavar="LANG", more_flags=("--tgt-lang",),
        help="Language of --target.  [default: the pivot; if --src is the pivot, the other language]",
    )  # fmt: skip
    words: Literal["auto", "spaced", "ours"] = option(
        "auto", section="Input",
        help="Words are what stands between spaces, or ours; auto is spaced where the text is tokenised.",
    )  # fmt: skip
    rounds: int | None = option(
        None, section="What it learns from", least=0, most=20,
        help="Times that the text is learned from before it is linked; 0: the space alone.  [default: 1; "
        "with --encoder or --table 0]",
    )  # fmt: skip
    dictionary: Path | None = option(
        None, section="What it learns from", help="Translations that you know, a pair on each line."
    )
    encoder: Path | None = option(
        None, section="What it learns from", metavar="FOLDER", package="sentences",
        help="A pretrained encoder of both languages (Hugging Face, or xlm of muse train).",
    )  # fmt: skip
    table: Path | None = option(
        None, section="What it learns from", help="What an earlier run learned and saved with --save-table."
    )
    threshold: float | None = option(
        None, section="What it keeps", least=0, most=1, group="kept",
        help="The least probability of a link.  [default: 0.5; with --page 0.2, uncertain links too]",
    )  # fmt: skip
    symmetrise: str | None = option(
        None, section="What it keeps", metavar="NAME", group="kept",
        choices=("intersection", "union", "grow-diag", "grow-diag-final-and"),
        help="Instead of a --threshold, join the links of both directions: intersection, union, grow-diag or "
        "grow-diag-final-and.",
    )  # fmt: skip


class LinkOptions(OneSpace, LinkingOptions, Common):
    """The options of `muse link`."""

    out: Path | None = option(None, section="Output", written=True, help="File to write.  [default: stdout]")
    form: Literal["pharaoh", "pairs", "jsonl"] = option(
        "pharaoh", section="Output", flags=("--format",),
        help="pharaoh: i-j from 0, a line a sentence; pairs: a line a link, with both words; jsonl: a line a "
        "sentence, with words, their places in it, and links.",
    )  # fmt: skip
    page: Path | None = option(
        None, section="Output", written=True,
        help="Also write a page to read, .html: both texts, in which linked words light up.",
    )  # fmt: skip
    probabilities: bool = option(False, section="Output", help="With pharaoh: i-j:p, p its probability.")
    save_table: Path | None = option(
        None, section="Output", written=True, help="Save what was learned to an .npz, for --table."
    )


@command(
    LinkOptions,
    examples=(
        "muse link SPACE --source a.fr --target a.en --out a.links",
        "muse link SPACE --pairs a.tmx --save-table fr-en.npz --out a.links",
    ),
)
def link(options: LinkOptions) -> Report | None:
    """Link the words of sentences and their translations.

    The space says which words translate each other; what else it needs, such as how word order changes, it
    learns from the sentences themselves. Every line has a line of links; it is empty where a sentence is.
    """
    from muse.files.writing import check_binary_name, check_place, replaced
    from muse.links.page import check_page

    for path in filter(None, (options.out, options.save_table)):
        check_place(path)
    if options.save_table is not None:
        check_binary_name(options.save_table, "counts of links", ".npz")
    if options.page is not None:
        check_page(options.page)
    space, lines = open_space(options.space, options.device, options.quiet), list[str]()
    if options.out is None:
        counts = _write(space, options, lines.append if options.as_json else echo)
    else:
        with replaced(options.out) as stream:
            counts = _write(space, options, lambda line: stream.write(f"{line}\n".encode()))
    if counts["empty"]:
        log.warning("%d of %d pairs have an empty sentence: no links", counts["empty"], counts["sentences"])
    if options.out is None:
        return ({**counts, "lines": lines}, []) if options.as_json else None
    shown = f"{counts['links']} links in {counts['sentences']} pairs of sentences, in {options.out}"
    return {**counts, "out": str(options.out)}, [shown]


def _write(space: Space, options: LinkOptions, write: Callable[[str], object]) -> dict[str, int]:
    """The counts of sentences and links, whose lines, and page, are written as they come."""
    from muse.links.page import write_page
    from muse.links.pair import LinkedPair

    show = {"pharaoh": pharaoh, "pairs": word_pairs, "jsonl": json_lines}[options.form]
    counts, way = Counter[str](), space.direction(options.src, options.tgt)

    def pairs() -> Iterator[LinkedPair]:
        for one, two, found in linked(space, options):
            counts["sentences"] += 1
            counts["links"] += len(found)
            counts["empty"] += not (one.tokens and two.tokens)
            for line in show(one, two, found, counts["sentences"], options):
                write(line)
            if options.page is not None:
                yield LinkedPair.of((one.text, two.text), (one.written, two.written), found, way)

    if options.page is None:
        deque(pairs(), 0)
    else:
        write_page(options.page, pairs(), way)
    return {name: counts[name] for name in ("sentences", "links", "empty")}


def linked(space: Space, options: Any) -> Iterator[tuple[Sentence, Sentence, Links]]:
    """Yields the pairs of sentences of `LinkingOptions` with their links."""
    from muse.errors import BadFile
    from muse.links.linker import blocks
    from muse.links.parallel import ParallelFiles, splitters, tokenised

    direction = choose_direction(space, options.src, options.tgt)
    with _files(options) as files:
        pairs = ParallelFiles(files, direction)
        split = splitters(pairs, options.words, space)
        linker = _linker(space, direction, options, pairs, split)
        sentences = 0
        with space.progress.stage("linking", 0, "sentences") as tick:
            for some in blocks(tokenised(pairs, split), lambda pair: (pair[0].tokens, pair[1].tokens)):
                found = linker.link([(one.tokens, two.tokens) for one, two in some])
                for (one, two), links in zip(some, found, strict=True):
                    yield one, two, links
                sentences += len(some)
                tick(sentences)
        if not sentences:
            raise BadFile(f"{files[0]}: expected pairs of sentences, got nothing; check its name")
        if getattr(options, "save_table", None) is not None:
            linker.save(options.save_table)


def link_config(options: Any) -> LinkConfig:
    """Which links are kept: on a page uncertain ones too, if nothing else is said."""
    from muse.links.linker import LinkConfig
    from muse.links.pair import UNSURE

    least = UNSURE if getattr(options, "page", None) is not None else LinkConfig.threshold
    return LinkConfig(least if options.threshold is None else options.threshold, options.symmetrise)


def _linker(
    space: Space, direction: tuple[str, str], options: Any, pairs: ParallelFiles, split: list[Splitter]
) -> Linker:
    """The linker, which has learned from the text as often as is wanted."""
    from muse.files import read_lexicon
    from muse.links.linker import Linker, blocks
    from muse.links.parallel import tokenised

    known: tuple[tuple[str, str], ...] = ()
    if options.dictionary is not None:
        known = read_lexicon(options.dictionary, languages=direction, form=options.dictionary_format).pairs
    encoder = None
    if options.table is not None and options.rounds:
        raise click.UsageError("--rounds is for learning anew; leave it out, or --table.")
    if options.encoder is not None:
        from muse.links.contextual import TokenEncoder

        encoder = TokenEncoder(space, direction, options.encoder)
    config = link_config(options)
    linker = Linker(space, direction, dictionary=known, config=config, encoder=encoder)

    def tokens() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        return ((one.tokens, two.tokens) for one, two in tokenised(pairs, split))

    if options.table is not None:
        linker.load(options.table)
    rounds = options.rounds if options.rounds is not None else int(options.table is None and encoder is None)
    if rounds:
        with space.progress.stage("learning from the text", 0, "sentences") as tick:
            linker.learn(tokens, rounds, tick)
    elif options.table is None:
        linker.adapt(next(blocks(tokens(), lambda pair: pair), []))
    return linker


@contextmanager
def _files(options: Any) -> Iterator[tuple[Path, ...]]:
    """The files to read, more than once: standard input and pipes are copied first."""
    from muse.commands.paths import STDIN_PATH
    from muse.errors import MuseError
    from muse.files.source import is_stream, open_source, unpacked_path

    if (options.source is None) != (options.target is None):
        raise click.UsageError("--source and --target go together: give both, or --pairs.")
    given = (options.source, options.target) if options.source else (options.pairs or STDIN_PATH,)
    copies = dict[str, Path]()
    with ExitStack() as stack:
        found = []
        for path in given:
            if not is_stream(path):
                found.append(path)
                continue
            found.append(stack.enter_context(unpacked_path(stack.enter_context(open_source(path)))))
            copies[str(found[-1])] = path
        try:
            yield tuple(found)
        except MuseError as error:
            said = str(error)
            for copy, path in copies.items():
                said = said.replace(copy, str(path))
            raise type(error)(said) from error


def pharaoh(one: Sentence, two: Sentence, links: Links, number: int, options: Any) -> Iterator[str]:
    """The line of links of a pair of sentences."""
    yield links.pharaoh(probabilities=options.probabilities)


def word_pairs(one: Sentence, two: Sentence, links: Links, number: int, options: Any) -> Iterator[str]:
    """A line a link: the number of the pair from 1, both words, and the probability."""
    for i, j, share in links:
        yield f"{number}\t{one.tokens[i]}\t{two.tokens[j]}\t{share:.3f}"


def json_lines(one: Sentence, two: Sentence, links: Links, number: int, options: Any) -> Iterator[str]:
    """An object with both sentences, their words as [word, begin, end], and links as [i, j, probability]."""
    words = [
        [[token, *span] for token, span in zip(own.tokens, own.places, strict=True)] for own in (one, two)
    ]
    found = [[i, j, round(share, 3)] for i, j, share in links]
    fields = {"source": one.text, "target": two.text, "source_words": words[0], "target_words": words[1]}
    yield json.dumps({**fields, "links": found}, ensure_ascii=False)
