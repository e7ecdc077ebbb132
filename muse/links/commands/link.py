"""muse link: words aligned in parallel sentences."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import click

from muse.commands.command import command
from muse.commands.options import choose_direction, one_machine_only, open_space
from muse.commands.outputs import Report, echo
from muse.errors import counted
from muse.options import Clustered, Common, Device, DictionaryForm, Languages, OneSpace, Threads, option

if TYPE_CHECKING:
    from muse.links.labels import LabelForm
    from muse.links.linker import LinkConfig, Linker
    from muse.links.links import Links, TokenPair
    from muse.links.parallel import ParallelFiles, Splitter
    from muse.links.sentence import Sentence
    from muse.space import Space

    LinkedSentences = tuple[Sentence, Sentence, Links]

log = logging.getLogger(__name__)


class LinkingOptions(Languages, DictionaryForm, Device, Threads):
    """Which sentences are linked, and how."""

    source: Path | None = option(
        None, section="Input", group="sentences", needs="target", help="Sentences in --src, one a line."
    )
    target: Path | None = option(
        None, section="Input", needs="source", help="Their translations into --tgt, line by line."
    )
    pairs: Path | None = option(
        None, section="Input", group="sentences",
        help="Instead of both: a table, a TMX, an archive, or lines with ||| between.  [default: stdin]",
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
        help="An encoder of both languages: Hugging Face, sentence-transformers, model2vec, or of muse train "
        "if it has vectors of words.",
    )  # fmt: skip
    table: Path | None = option(
        None, section="What it learns from", help="What an earlier run learned and saved with --save-table."
    )
    threshold: float | None = option(
        None, section="What it keeps", least=0, most=1, group="kept",
        help="The least probability of a link.  [default: 0.5; of html 0.2, uncertain links too]",
    )  # fmt: skip
    symmetrise: Literal["intersection", "union", "grow-diag", "grow-diag-final-and"] | None = option(
        None, section="What it keeps", metavar="NAME", group="kept",
        help="Instead of a --threshold, join the links of both directions: intersection, union, grow-diag or "
        "grow-diag-final-and.",
    )  # fmt: skip
    min_score: float | None = option(
        None, section="What it keeps", metavar="S",
        help="Leave out pairs of sentences that translate each other less well; 0: no better than chance.",
    )  # fmt: skip


class LinkOptions(OneSpace, LinkingOptions, Clustered, Common):
    out: Path | None = option(None, section="Output", written=True, help="File to write.  [default: stdout]")
    form: Literal["pharaoh", "pairs", "jsonl", "tsv", "html"] | None = option(
        None, section="Output", flags=("--format",),
        help="pharaoh: i-j from 0, a line a sentence; pairs: a line a link, with both words; jsonl: a line a "
        "sentence, with score, words, their places in it, and links; tsv: score and both sentences; html: a "
        "page to read, in which linked words light up.  [default: html, jsonl or tsv if --out ends so, else "
        "pharaoh]",
    )  # fmt: skip
    left_out: Path | None = option(
        None, section="Output", needs="min_score", written=True,
        help="File for the pairs that --min-score leaves out: score and both sentences, with tabs between.",
    )  # fmt: skip
    probabilities: bool = option(False, section="Output", help="With pharaoh: i-j:p, p its probability.")
    save_table: Path | None = option(
        None, section="Output", written=True, help="Save what was learned to an .npz, for --table."
    )


@command(
    "muse link SPACE --source a.fr --target a.en --out a.links",
    "muse link SPACE --pairs a.tmx --save-table fr-en.npz --out a.html",
)
def link(options: LinkOptions) -> Report | None:
    """Link the words of sentences and their translations.

    The space says which words translate each other; what else it needs, such as how word order changes, it
    learns from the sentences themselves. Every line has a line of links; it is empty where a sentence is.
    """
    return _linked(options) if options.ray is None else _on_cluster(options)


def _linked(options: LinkOptions) -> Report | None:
    """What is written of links on this machine, and their counts."""
    from muse.files.tables import form_of
    from muse.files.writing import check_binary_name, check_place, replaced
    from muse.links.pair import UNSURE

    for path in filter(None, (options.out, options.save_table, options.left_out)):
        check_place(path)
    if options.save_table is not None:
        check_binary_name(options.save_table, "counts of links", ".npz")
    form = options.form or (options.out and form_of(options.out, ("html", "jsonl", "tsv"))) or "pharaoh"
    if form == "html" and options.out is not None:
        check_binary_name(options.out, "pages", ".html")
    space, counts = open_space(options.space, options.device, options.quiet), Counter[str]()
    config = link_config(options, UNSURE if form == "html" else None)
    with ExitStack() as stack:
        rest = None if options.left_out is None else stack.enter_context(replaced(options.left_out))
        found = _counted(linked(space, options, config, options.save_table), config, counts, rest)
        parts = _parts(form, found, space, options)
        if options.out is not None:
            stream = stack.enter_context(replaced(options.out))
            for part in parts:
                stream.write(part.encode())
        elif options.as_json:
            lines = [part.removesuffix("\n") for part in parts]
        else:
            for part in parts:
                echo(part, end="")
    if counts["empty"]:
        log.warning("%d of %d pairs with an empty sentence: no links", counts["empty"], counts["sentences"])
    names = ("sentences", "links", "empty", *(["left_out"] if options.min_score is not None else []))
    fields: dict[str, Any] = {name: counts[name] for name in names}
    if options.out is None:
        return ({**fields, "lines": lines}, []) if options.as_json else None
    links, pairs = counted(counts["links"], "link"), counted(counts["sentences"], "pair")
    shown = f"{links} in {pairs} of sentences, in {options.out}"
    shown += f"; {counts['left_out']} left out" if options.min_score is not None else ""
    return {**fields, "out": str(options.out)}, [shown]


def _on_cluster(options: LinkOptions) -> Report:
    """The counts of links that are written in parts."""
    from dataclasses import astuple

    from muse.cluster.parts import PartFolder
    from muse.cluster.run import Run, files_as_settings, spaces_as_settings
    from muse.errors import BadFile, Contradiction
    from muse.files.space_folder import checksum
    from muse.links.on_cluster import PAIRS, Linking, link_on_cluster
    from muse.links.parallel import ParallelFiles

    one_machine_only("form", "left_out", "probabilities", "save_table", "device")
    if options.out is None or (options.source or options.pairs) is None:
        raise Contradiction("--ray needs --out, and --source and --target, or --pairs; give files")
    space, config = open_space(options.space, "cpu", options.quiet), link_config(options)
    direction = choose_direction(space, options.src, options.tgt)
    files = (options.source, options.target, options.pairs, options.dictionary, options.table)
    run = Run(options.out, str(options.ray), {
        "command": "link", "spaces": spaces_as_settings(options.space), "languages": list(direction),
        "files": list(map(files_as_settings, files)), "words": options.words, "rounds": options.rounds,
        "encoder": None if options.encoder is None else checksum(options.encoder),
        "config": list(astuple(config)),
    }, space.progress)  # fmt: skip
    if (done := run.result()) is None:
        with _files(options) as read:
            pairs = ParallelFiles(tuple(path.resolve() for path in read), direction).chosen(space)
            if not (count := sum(1 for _ in pairs)):
                raise BadFile(f"{read[0]}: expected pairs of sentences, got nothing; check its name")
            parts = PartFolder(options.out.resolve(), -(-count // PAIRS))
            known = _dictionary(direction, options)
            encoder = None if options.encoder is None else options.encoder.resolve()
            job = Linking(options.space.resolve(), pairs, options.words, known, encoder, config, parts, PAIRS)
            done = link_on_cluster(job, lambda: _learned(space, options, config, pairs)[0], run)
    fields = {**done, "out": str(options.out)}
    return fields, ["{links} links in {sentences} pairs of sentences, in {out}".format(**fields)]


def _counted(
    linked: Iterable[LinkedSentences], config: LinkConfig, counts: Counter[str], rest: IO[bytes] | None
) -> Iterator[tuple[LinkedSentences, bool]]:
    """Yields linked sentences, counted, and whether they are kept; the others are written to `rest`."""
    for one, two, links in linked:
        kept = config.keeps(links.score)
        counts.update(sentences=1, links=len(links), empty=not (one.tokens and two.tokens), left_out=not kept)
        if not kept and rest is not None:
            rest.write(scored(one, two, links).encode())
        yield (one, two, links), kept


def _parts(
    form: str, linked: Iterable[tuple[LinkedSentences, bool]], space: Space, options: LinkOptions
) -> Iterator[str]:
    """What is written of linked sentences in a format; in pharaoh, each pair has a line."""
    from muse.links.page import page_parts
    from muse.links.pair import LinkedPair

    kept = (found for found, is_kept in linked if is_kept or form == "pharaoh")
    if form == "html":
        way = space.direction(options.src, options.tgt)
        pairs = (
            LinkedPair.of((one.text, two.text), (one.written, two.written), links, way)
            for one, two, links in kept
        )
        yield from page_parts(pairs, way, options.out.stem if options.out else "")
    for number, (one, two, links) in enumerate(kept, 1):
        if form == "pharaoh":
            yield links.pharaoh(probabilities=options.probabilities) + "\n"
        elif form == "jsonl":
            yield json.dumps(as_fields(one, two, links), ensure_ascii=False) + "\n"
        elif form == "tsv":
            yield scored(one, two, links)
        else:
            for i, j, share in links:
                yield f"{number}\t{one.tokens[i]}\t{two.tokens[j]}\t{share:.3f}\n"


def scored(one: Sentence, two: Sentence, links: Links) -> str:
    """A line with the score and both sentences, as muse mine writes them."""
    return "\t".join([f"{links.score:.3f}", *(" ".join(side.text.split()) for side in (one, two))]) + "\n"


def as_fields(one: Sentence, two: Sentence, links: Links) -> dict[str, object]:
    """Both sentences, their words as [word, begin, end], and links as [i, j, probability], for JSON."""
    words = [
        [[token, *span] for token, span in zip(own.tokens, own.places, strict=True)] for own in (one, two)
    ]
    score = None if links.score != links.score else round(links.score, 3)  # nan beside an empty sentence
    return {
        "score": score, "source": one.text, "target": two.text,
        "source_words": words[0], "target_words": words[1],
        "links": [[i, j, round(share, 3)] for i, j, share in links],
    }  # fmt: skip


def link_config(options: LinkingOptions, least: float | None = None) -> LinkConfig:
    """Which links are kept; `least` is the threshold where none is given."""
    from muse.links.linker import LinkConfig

    given = options.threshold if options.threshold is not None else least
    threshold = LinkConfig.threshold if given is None else given
    return LinkConfig(threshold, options.symmetrise, options.min_score)


def linked(
    space: Space, options: LinkingOptions, config: LinkConfig, save: Path | None = None,
    labelled: LabelForm | None = None,
) -> Iterator[LinkedSentences]:  # fmt: skip
    """Yields the pairs of sentences with their links; what was learned of them is saved last."""
    from muse.errors import BadFile
    from muse.links.linker import blocks
    from muse.links.parallel import ParallelFiles, tokenised

    direction, sentences = choose_direction(space, options.src, options.tgt), 0
    with _files(options) as files:
        pairs = ParallelFiles(files, direction, labelled).chosen(space)
        linker, split = _learned(space, options, config, pairs)
        with space.progress.stage("linking", 0, "sentences") as tick:
            for some in blocks(tokenised(pairs, split), lambda pair: (pair[0].tokens, pair[1].tokens)):
                found = linker.link([(one.tokens, two.tokens) for one, two in some])
                yield from ((one, two, links) for (one, two), links in zip(some, found, strict=True))
                sentences += len(some)
                tick(sentences)
        if not sentences:
            raise BadFile(f"{files[0]}: expected pairs of sentences, got nothing; check its name")
        if save is not None:
            linker.save(save)


def _learned(
    space: Space, options: LinkingOptions, config: LinkConfig, pairs: ParallelFiles
) -> tuple[Linker, list[Splitter]]:
    """The linker, which has learned from the text as often as is wanted, and what splits its sentences."""
    from muse.links.contextual import TokenEncoder
    from muse.links.linker import Linker, blocks
    from muse.links.parallel import splitters, tokenised

    if options.table is not None and options.rounds:
        raise click.UsageError("--rounds is for learning anew; leave it out, or --table.")
    direction, split = pairs.languages, splitters(pairs, options.words, space)
    known = _dictionary(direction, options)
    encoder = None if options.encoder is None else TokenEncoder(space, direction, options.encoder)
    linker = Linker(space, direction, dictionary=known, config=config, encoder=encoder)

    def text() -> Iterator[TokenPair]:
        return ((one.tokens, two.tokens) for one, two in tokenised(pairs, split))

    rounds = options.rounds
    if rounds is None:
        rounds = 0 if options.table is not None or options.encoder is not None else 1
    if options.table is not None:
        linker.load(options.table)
    elif rounds:
        with space.progress.stage("learning from the text", 0, "sentences") as tick:
            linker.learn(text, rounds, tick)
    else:
        linker.adapt(next(blocks(text(), lambda pair: pair), []))
    return linker, split


def _dictionary(direction: tuple[str, str], options: LinkingOptions) -> tuple[tuple[str, str], ...]:
    """The pairs of words that the user knows."""
    from muse.files import read_lexicon

    if options.dictionary is None:
        return ()
    return read_lexicon(options.dictionary, languages=direction, form=options.dictionary_format).pairs


@contextmanager
def _files(options: LinkingOptions) -> Iterator[tuple[Path, ...]]:
    """The files to read, more than once: standard input and pipes are copied first."""
    from muse.commands.paths import STDIN_PATH
    from muse.errors import MuseError
    from muse.files.source import is_stream, open_source, unpacked_path

    given = (options.source, options.target) if options.source else (options.pairs or STDIN_PATH,)
    files = dict[Path, Path]()  # what is read, and what that is called
    with ExitStack() as stack:
        for path in filter(None, given):
            if is_stream(path):
                files[stack.enter_context(unpacked_path(stack.enter_context(open_source(path))))] = path
            else:
                files[path] = path
        try:
            yield tuple(files)
        except MuseError as error:
            said = str(error)
            for copy, path in files.items():
                said = said.replace(str(copy), str(path))
            raise type(error)(said) from error
