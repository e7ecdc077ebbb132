"""What to do after `muse align`: the next commands or, where it failed, what to try first for this run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from muse.api.remedies import FEW_PAIRS, FEW_WORDS, PAIRS, RemedyText
from muse.commands.options import as_typed
from muse.optional import has, load

if TYPE_CHECKING:
    from muse.api.outcome import AlignResult
    from muse.learn.bilingual import Learned
    from muse.learn.settings import AlignOptions
    from muse.space import Space

MORE_WORDS = 20_000
COMPARED = 5_000  # of the most frequent words, when spellings are compared
FEW_SHARED = 0.05  # of them spelt alike: identical strings are of no help
ROWS = "more.npy"  # a name for a file that there is not yet
SHOWN = 3  # words to look up
PASSED_OVER = 200  # the most frequent words, which are grammar


class Remedy(NamedTuple):
    """A reason, and the commands that follow from it."""

    reason: str
    commands: tuple[str, ...]


def advice(report: AlignResult, options: AlignOptions) -> list[str]:
    """The lines to print: what to do next with the space, or what to try where it failed or is doubtful."""
    from muse.api.outcome import weakest

    space = report.aligned
    language = weakest(report.learned)
    learned = report.learned[language]
    if learned.verdict.label == "aligned":
        looked_up = "look words up" if space.vectors(language).frequency_ordered else "map more rows"
        return ["", f"What next: {looked_up}, see how good the space is, explore it in a browser."] + [
            f"  {command}" for command in _uses(report, space, language)
        ]
    run = _Unaligned(language, learned, report, space, options)
    several = f" ({language})" if len(report.learned) > 1 else ""
    lines = ["", f"What to try first{several}:"]
    for number, remedy in enumerate(islice(run.remedies(), 2), 1):
        lines += [f"{number}. {remedy.reason}", *(f"     {command}" for command in remedy.commands)]
    if learned.verdict.label == "doubtful":
        lines += ["Before you use it as it is, measure it:", f"     {run.measured()}"]
    return lines


def _uses(report: AlignResult, space: Space, language: str) -> Iterator[str]:
    direction = ("--src", language) if len(report.learned) > 1 else ()
    words = _words(space, language)
    if not space.vectors(language).frequency_ordered:
        yield _muse("map", report.space, "--lang", language, "--vectors", ROWS, "--out", "mapped.npy")
    elif words:
        yield _muse("translate", report.space, *direction, *words)
    if has("report"):
        yield _muse("report", report.space, *direction)
    if has("web"):
        yield _muse("serve", report.space)


def _words(space: Space, language: str) -> list[str]:
    # A few words to try: common ones, but no grammar.
    common = space.vectors(language).words[PASSED_OVER : 10 * PASSED_OVER]
    return [word for word in common if word.isalpha() and word.islower() and len(word) >= 4][:SHOWN]


@dataclass(frozen=True)
class _Unaligned:
    """A language that was not aligned, and how that was tried."""

    language: str
    learned: Learned
    report: AlignResult
    space: Space
    options: AlignOptions

    def remedies(self) -> Iterator[Remedy]:
        """Yields what may help, the surest and cheapest first."""
        from muse.learn.auto import AUTO_OF_ROWS

        options, init = self.options, self.options.init
        if options.recipe is not None:
            reason = f"Use muse's own recipe: leave out --recipe {options.recipe}."
            yield Remedy(reason, (_again(recipe=None),))
        if options.refine is False:
            yield Remedy("Refine the mapping: leave out --no-refine.", (_again(without_refine=None),))
        if init not in ("auto", "dictionary") and (self.frequency_ordered or (init,) != AUTO_OF_ROWS):
            yield Remedy(f"Let muse try more than --init {init}.", (_again(init=None),))
        if not self.frequency_ordered:
            yield from self._of_rows()
            return
        if self.cut and options.max_vocab is not None:
            few = f"Use more words than --max-vocab {options.max_vocab}."
            yield Remedy(few, (_again(max_vocab=max(MORE_WORDS, 2 * options.max_vocab)),))
        if options.no_identical and self.shared_spellings >= FEW_SHARED:
            reason = f"{self.shared_spellings:.0%} of the words are spelt alike: leave out --no-identical."
            yield Remedy(reason.replace("%", " %"), (_again(no_identical=None),))
        yield from self._with_pairs()
        yield from self._with_more_words()
        if init == "auto" and options.recipe is None and self.learned.supervision is None:
            yield Remedy(RemedyText.ADVERSARIAL.terminal, (_again(init="adversarial"),))
        if not options.via:
            yield Remedy(
                "Go over a third language that resembles both, and has good vectors.", (_again(via=["LANG"]),)
            )
        first = (
            f"{', '.join(self.space.vectors(name).words[:SHOWN])} ({name})"
            for name in (self.language, self.report.target)
        )
        yield Remedy(RemedyText.CHECK.terminal.format(first=" and ".join(first)), ())

    def _of_rows(self) -> Iterator[Remedy]:
        """Yields what may help unlabelled vectors."""
        if self.learned.supervision is None and len(self.report.learned) == 1:
            yield Remedy(
                RemedyText.IDS.terminal.format(
                    enough=FEW_PAIRS, source=self.language, target=self.report.target, pairs=PAIRS
                ),
                (_again(dictionary=PAIRS),),
            )
            yield Remedy(
                "Begin with other draws of rows: a start that failed may succeed with another --seed.",
                (_again(seed=self.options.seed + 1),),
            )
        fewest, count = self.fewest
        if count < FEW_WORDS:
            yield Remedy(f"Use more rows: {count:,} are few ({fewest}).", ())
        yield Remedy("Use rows of like texts on both sides: regions of unlike ones do not match.", ())

    def _with_pairs(self) -> Iterator[Remedy]:
        supervision, pairs = self.learned.supervision, f"{self.language}-{self.report.target}"
        if supervision is not None:
            if supervision.pairs < FEW_PAIRS:
                yield Remedy(
                    RemedyText.MORE_TRANSLATIONS.terminal.format(
                        dictionary=self.options.dictionary, known=supervision.pairs, enough=FEW_PAIRS
                    ),
                    (),
                )
            return
        if len(self.report.learned) > 1:  # a dictionary is of one pair of languages
            return
        alike = "" if self.shared_spellings >= FEW_SHARED else "; these languages share few spellings"
        give = RemedyText.TRANSLATIONS.terminal.format(alike=alike)
        known = self._dictionaries(for_learning=True)
        if known:
            yield Remedy(f"{give}.", (_again(dictionary=known[0]),))
            return
        fetched = _published(self.language, self.report.target)
        if fetched is not None:
            yield Remedy(
                f"{give}. Some are published, for non-commercial use:",
                (
                    f"muse fetch dictionary {pairs} --part train --accept-non-commercial",
                    _again(dictionary=fetched),
                ),
            )
            return
        yield Remedy(
            f"{give}: {FEW_PAIRS} lines of a word, a tab and its translation, in {PAIRS}.",
            (_again(dictionary=PAIRS),),
        )

    def _with_more_words(self) -> Iterator[Remedy]:
        fewest, count = self.fewest
        if count < FEW_WORDS and not self.cut:
            yield Remedy(
                RemedyText.MORE_WORDS.terminal.format(count=count, language=fewest),
                (f"muse fetch vectors {fewest}",) if _has_vectors(fewest) else (),
            )

    def measured(self) -> str:
        """The command that measures the space."""
        direction = ("--src", self.language) if len(self.report.learned) > 1 else ()
        if not self.frequency_ordered:
            return _muse("evaluate", self.report.space, *direction, "--task", "rows", "--pairs", PAIRS)
        gold = [*self._dictionaries(for_learning=False), PAIRS][0]
        return _muse("evaluate", self.report.space, *direction, "--dictionary", gold)

    @property
    def frequency_ordered(self) -> bool:
        """Whether both languages have words, or else unlabelled vectors."""
        return all(self.space.vectors(name).frequency_ordered for name in (self.language, self.report.target))

    @property
    def fewest(self) -> tuple[str, int]:
        """The language with fewer words, and their number."""
        counts = self.report.words
        name = min((self.language, self.report.target), key=lambda name: counts[name])
        return name, counts[name]

    @property
    def cut(self) -> bool:
        """Whether --max-vocab left out words, and rather many."""
        most, counts = self.options.max_vocab, self.report.words
        return (
            most is not None
            and most < MORE_WORDS
            and most <= max(counts[self.language], counts[self.report.target])
        )

    @property
    def shared_spellings(self) -> float:
        """The share of the most frequent words that are spelt alike in both languages."""
        from muse.learn.initialise.identical import identical_strings

        own, other = (
            self.space.vectors(name).most_frequent(COMPARED) for name in (self.language, self.report.target)
        )
        return len(identical_strings(own, other)) / max(1, min(len(own), len(other)))

    def _dictionaries(self, *, for_learning: bool) -> list[Path]:
        # Those of these languages in `dictionaries/`: what is for testing must not be learned from.
        pair = f"{self.language}-{self.report.target}"
        found = [path for path in Path("dictionaries").rglob("*.txt") if path.name.startswith(f"{pair}.")]
        learned_from = (f"{pair}.txt", f"{pair}.0-5000.txt")
        return sorted(path for path in found if (path.name in learned_from) == for_learning)


def _published(source: str, target: str) -> Path | None:
    """Where muse fetch puts the dictionary of these languages for training; None if there is none."""
    pair = f"{source}-{target}"
    if not has("fetch") or pair not in load("fetch.published").dictionary_pairs():
        return None
    return Path("dictionaries", "gold", load("fetch.published").dictionary(pair, "train").name)


def _has_vectors(language: str) -> bool:
    return has("fetch") and language in load("fetch.published").LANGUAGES


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
