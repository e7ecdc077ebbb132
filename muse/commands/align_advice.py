"""What to do after `muse align`: the next commands or, where it failed, what to try first for this run."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import click
from click.core import ParameterSource

from muse.api.outcome import FEW_PAIRS, FEW_WORDS, PAIRS, AlignResult, weakest
from muse.commands.demo import SPACE as DEMO
from muse.commands.options import as_typed
from muse.files.space_manifest import ALIGNED, is_space, read_manifest, spaces_in
from muse.files.vectors.locate import SAMPLE, locate_vectors
from muse.learn.auto import AUTO_OF_ROWS
from muse.learn.bilingual import Learned
from muse.learn.initialise.identical import identical_strings
from muse.learn.settings import AlignOptions
from muse.optional import has, load
from muse.ranking.query import example_words
from muse.vectors import Vectors

MORE_WORDS = 20_000
COMPARED = 5_000  # of the most frequent words, when spellings are compared
FEW_SHARED = 0.05  # of them spelt alike: identical strings are of no help
ROWS = "more.npy"  # a name for a file that there is not yet
SHOWN_WORDS = 3  # words to look up
Remedy = tuple[str, ...]  # a reason, and the commands that follow from it


def advice(report: AlignResult, options: AlignOptions) -> list[str]:
    """The lines to print: what to do next with the space, or what to try where it failed or is doubtful."""
    language = weakest(report.learned)
    run = _LeastSure(language, report.learned[language], report, options)
    label, several = run.learned.verdict.label, len(report.learned) > 1
    way = ("--src", language) if several else ()
    if label == "aligned":
        looked_up = "look words up" if run.own.frequency_ordered else "map more rows"
        uses = [f"  {command}" for command in run.uses(way)]
        return ["", f"What next: {looked_up}, see how good the space is, explore it in a browser.", *uses]
    lines = ["", f"What to try first{f' ({language})' if several else ''}:"]
    for number, (reason, *commands) in enumerate(islice(run.remedies(), 2), 1):
        lines += [f"{number}. {reason}", *(f"     {command}" for command in commands)]
    if label == "doubtful":
        known = ["--dictionary", [*run.dictionaries(for_learning=False), PAIRS][0]]
        by = known if run.of_words else ["--task", "rows", "--pairs", PAIRS]
        measured = _muse("evaluate", report.space, *way, *by)
        lines += ["Before you use it as it is, measure it:", f"     {measured}"]
    return lines


@dataclass(frozen=True)
class _LeastSure:
    """The language of a run that is aligned least surely, and how that was tried."""

    language: str
    learned: Learned
    report: AlignResult
    options: AlignOptions

    def uses(self, way: tuple[str, ...]) -> Iterator[str]:
        """Yields the commands that use the space."""
        space = self.report.space
        if not self.own.frequency_ordered:
            yield _muse("map", space, "--lang", self.language, "--vectors", ROWS, "--out", "mapped.npy")
        elif words := example_words(self.report.aligned, self.language, SHOWN_WORDS)[:SHOWN_WORDS]:
            yield _muse("translate", space, *way, *words)
        if has("report"):
            yield _muse("report", space, *way)
        if has("web"):
            yield _muse("serve", space)

    def remedies(self) -> Iterator[Remedy]:
        """Yields what may help, the surest and cheapest first."""
        options, init = self.options, self.options.init
        if options.recipe is not None:
            yield f"Use muse's own recipe: leave out --recipe {options.recipe}.", _again(recipe=None)
        if options.refine is False:
            yield "Refine the mapping: leave out --no-refine.", _again(without_refine=None)
        if init not in ("auto", "dictionary") and (self.of_words or (init,) != AUTO_OF_ROWS):
            yield f"Let muse try more than --init {init}.", _again(init=None)
        yield from self._for_words() if self.of_words else self._for_rows()

    def _for_rows(self) -> Iterator[Remedy]:
        if self.learned.supervision is None and len(self.report.learned) == 1:
            yield (
                f"Say which rows belong together: {FEW_PAIRS} lines of an id ({self.language}), a tab and an "
                f"id ({self.report.target}), in {PAIRS}; row numbers, from 0, where a file has no ids.",
                _again(dictionary=PAIRS),
            )
            yield (
                "Begin with other draws of rows: a start that failed may succeed with another --seed.",
                _again(seed=self.options.seed + 1),
            )
        count, fewest = self._fewest
        if count < FEW_WORDS:
            yield (f"Use more rows: {count:,} are few ({fewest}).",)
        yield ("Use rows of like texts on both sides: regions of unlike ones do not match.",)

    def _for_words(self) -> Iterator[Remedy]:
        options, most, (count, fewest) = self.options, self.options.max_vocab, self._fewest
        cut = (
            most and most < MORE_WORDS and most <= max(self.report.words[one.language] for one in self._sides)
        )
        if most is not None and cut:
            yield f"Use more words than --max-vocab {most}.", _again(max_vocab=max(MORE_WORDS, 2 * most))
        if options.no_identical and self._alike >= FEW_SHARED:
            shown = f"{100 * self._alike:.0f} % of the words are spelt alike: leave out --no-identical."
            yield shown, _again(no_identical=None)
        supervision = self.learned.supervision
        if supervision is not None and supervision.pairs < FEW_PAIRS:
            yield (
                f"Give more translations: of {options.dictionary}, {supervision.pairs} could be "
                f"used; {FEW_PAIRS} or more would be good.",
            )
        if supervision is None and len(self.report.learned) == 1:  # a dictionary is of one pair of languages
            if options.help_from is None:
                yield from self._general_space()
            yield self._give_pairs()
        if count < FEW_WORDS and not cut:
            known = has("fetch") and fewest in load("fetch.published").LANGUAGES
            more = (f"muse fetch vectors {fewest}",) if known else ()
            yield f"Use vectors of more words: {count:,} are few ({fewest}).", *more
        if options.init == "auto" and options.recipe is None and supervision is None:
            yield (
                "Train a mapping against a discriminator: slow, and its result depends on --seed.",
                _again(init="adversarial"),
            )
        if not options.via:
            over = "Go over a third language that resembles both, and has good vectors."
            yield over, _again(via=["LANG"])
        first = (f"{', '.join(one.words[:SHOWN_WORDS])} ({one.language})" for one in self._sides)
        yield (f"Check the vectors, whose first words are {' and '.join(first)}.",)

    def _general_space(self) -> Iterator[Remedy]:
        """Yields how a space of other text may help: one that there is, or of the sample vectors."""
        pair = self.language, self.report.target
        for folder in (*spaces_in(ALIGNED), *filter(is_space, [DEMO])):
            made = read_manifest(folder)
            if {*pair} <= {*made.languages} and made.verdict_on(*pair).label == "aligned":
                known = f"Let a space of other text help: {folder} knows both languages."
                yield known, _again(help_from=folder)
                return
        source, target = (SAMPLE / f"{language}.vec.gz" for language in pair)
        used = not self.options.src_emb and locate_vectors(self.language) == source
        if source.is_file() and target.is_file() and not used and not DEMO.exists():
            made_of = ("--src", pair[0], "--tgt", pair[1], "--src-emb", source, "--tgt-emb", target)
            align = _muse("align", *made_of, "--out", DEMO)
            yield (
                "Let a space of general text help, made of the sample vectors:",
                align,
                _again(help_from=DEMO),
            )

    def _give_pairs(self) -> Remedy:
        give = "Give translations"
        if self._alike < FEW_SHARED:
            give += "; these languages share few spellings"
        if known := self.dictionaries(for_learning=True):
            return f"{give}.", _again(dictionary=known[0])
        if has("fetch") and self._pair in (published := load("fetch.published")).dictionary_pairs():
            fetched = Path("dictionaries", "gold", published.dictionary(self._pair, "train").name)
            return (
                f"{give}. Some are published, for non-commercial use:",
                f"muse fetch dictionary {self._pair} --part train --accept-non-commercial",
                _again(dictionary=fetched),
            )
        lines = f"{FEW_PAIRS} lines of a word, a tab and its translation, in {PAIRS}"
        return f"{give}: {lines}.", _again(dictionary=PAIRS)

    @cached_property
    def _sides(self) -> list[Vectors]:
        return [self.report.aligned.vectors(name) for name in (self.language, self.report.target)]

    @property
    def own(self) -> Vectors:
        """The vectors of the language."""
        return self._sides[0]

    @property
    def of_words(self) -> bool:
        """Whether both languages have words, and not rows in no order."""
        return all(side.frequency_ordered for side in self._sides)

    @property
    def _pair(self) -> str:
        return f"{self.language}-{self.report.target}"

    @property
    def _fewest(self) -> tuple[int, str]:
        name = min((one.language for one in self._sides), key=lambda name: self.report.words[name])
        return self.report.words[name], name

    @cached_property
    def _alike(self) -> float:
        """The share of the most frequent words that are spelt alike in both languages."""
        own, other = (side.most_frequent(COMPARED) for side in self._sides)
        return len(identical_strings(own, other)) / max(1, min(len(own), len(other)))

    def dictionaries(self, *, for_learning: bool) -> list[Path]:
        """Dictionaries of these languages in `dictionaries/`: what is for testing is not learned from."""
        found = Path("dictionaries").rglob("*.txt")
        learned_from = (f"{self._pair}.txt", f"{self._pair}.0-5000.txt")
        named = (path for path in found if path.name.startswith(f"{self._pair}."))
        return sorted(path for path in named if (path.name in learned_from) == for_learning)


def _muse(*words: object) -> str:
    return shlex.join(["muse", *map(str, words)])


def _again(**changes: object) -> str:
    """The command that is running, with other values of some options; None leaves one out."""
    context = click.get_current_context()
    # The vectors that were trained on text are where the next run looks for them.
    changes = {"src_text": None, "tgt_text": None, "resume": None} | changes
    words: list[object] = [context.info_name]
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in changes:
            words += as_typed(parameter, changes[name])
        elif context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words += as_typed(parameter, context.params[name])
    return _muse(*words)
