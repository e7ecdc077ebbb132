"""Next steps: what to do after a run, depending on its verdict, as commands.

Paths are shown relative to the folder the commands are run in: a page never says where on a machine it lies.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from muse.api.outcome import FEW_WORDS, PAIRS
from muse.files.space_manifest import LanguageRecord
from muse.ranking.translations import TRUSTED

OF_ONE_RUN = ("--json", "--quiet", "-q", "--resume", "--verbose", "-v")
ROWS = "more.parquet"  # stands for vectors that the reader has


def base_of(space: Path, current: Path) -> Path:
    """The folder in which the commands of a report are run: the current one, or the parent of the space."""
    return current if space.resolve().is_relative_to(current.resolve()) else space.resolve().parent


def shown(text: str | PurePath, base: Path) -> str:
    """A path relative to `base`, or …/ and its name if it lies elsewhere; a text that is no path unchanged.

    >>> shown("/home/me/work/fr.vec", Path("/home/me/work")), shown("/data/fr.vec", Path("/home/me/work"))
    ('fr.vec', '…/fr.vec')
    """
    path = PurePath(text)
    if not path.is_absolute() and not str(text).startswith("~"):
        return str(text)
    root = base.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else f"…/{path.name}"


def command_line(words: Iterable[str], base: Path) -> str:
    """A command as one line to paste into a shell.

    >>> command_line(["muse", "serve", "/work/my space"], Path("/work"))
    "muse serve 'my space'"
    """
    return " ".join(
        text if text.startswith("…/") and shlex.quote(text[2:]) == text[2:] else shlex.quote(text)
        for text in (shown(word, base) for word in words)
    )


@dataclass(frozen=True)
class NextStep:
    """Something to do, and the command that does it; empty if there is none."""

    text: str
    command: str = ""


@dataclass(frozen=True)
class Context:
    """What the commands depend on: the space and the folder they are run in, the direction, what is known.

    `only` is whether the space has no other direction, which then need not be named; `words` the size of the
    smaller vocabulary; they are rows in no order if they are not `frequency_ordered`.
    """

    space: Path
    base: Path
    source: str
    target: str
    pivot: str
    only: bool
    measured: bool
    words: int
    frequency_ordered: bool = True

    def muse(self, *words: str) -> str:
        """A command of muse."""
        return command_line(["muse", *words], self.base)

    @property
    def direction(self) -> tuple[str, ...]:
        """The options that name the direction."""
        return () if self.only else ("--src", self.source, "--tgt", self.target)


def next_steps(label: str, record: LanguageRecord | None, context: Context) -> tuple[NextStep, ...]:
    """The steps after a run with this verdict; `record` is of the least certain mapping."""
    if label == "failed":
        return tuple(_repairs(record, context))
    pairs = "a list of translations" if context.frequency_ordered else "ids that belong together"
    measuring = NextStep(
        f"Measure it: give {pairs}, a pair on each line, and read this page again.",
        context.muse("report", str(context.space), *context.direction, "--dictionary", PAIRS),
    )
    unmeasured = [] if context.measured else [measuring]
    if label == "aligned":
        return (*_uses(context), *unmeasured)
    return (*unmeasured, _learning(record, _again(record, context), context), _uses(context)[0])


def _uses(context: Context) -> list[NextStep]:
    space, way = str(context.space), context.direction
    name = f"{context.source}-{context.target}.tsv"
    if not context.frequency_ordered:
        found = f"{context.source}.mapped.parquet"
        mapped = context.muse("map", space, "--lang", context.source, "--vectors", ROWS, "--out", found)
        return [
            NextStep("Look rows up in a browser, by their ids and texts.", context.muse("serve", space)),
            NextStep(f"Map further rows of {context.source} into the space.", mapped),
        ]
    return [
        NextStep("Look words up in a browser, and see the map.", context.muse("serve", space)),
        NextStep(
            "Write a dictionary of the answers that muse trusts.",
            context.muse(
                "induce", space, *way, "--mutual", "--min-probability", f"{TRUSTED:g}",
                "--format", "tsv", "--out", name,
            ),
        ),
        NextStep(
            "Translate a text word by word.",
            f"{context.muse('translate', space, *way)} < text.{context.source} > text.{context.target}",
        ),
    ]  # fmt: skip


def _repairs(record: LanguageRecord | None, context: Context) -> list[NextStep]:
    """What may help after a failure, the surest and cheapest first."""
    again = _again(record, context)
    adversarial = [*_without(again, "--init", "--seed"), "--init", "adversarial", "--seed", "1"]
    found = [_learning(record, again, context)]
    if not context.frequency_ordered:
        return found
    found += [
        NextStep(
            "Check the files. Are they the languages you meant, the most frequent words first, trained on "
            "texts of the same kind? The words they begin with are below."
        ),
        NextStep(
            "Try the initialisation that auto leaves out because it is slow; its result depends on the seed.",
            command_line(adversarial, context.base),
        ),
    ]
    if context.words >= FEW_WORDS:
        return found
    few = f"Use more words: {context.words:,} are few."
    if "--max-vocab" in again:
        return [NextStep(few, command_line(_without(again, "--max-vocab"), context.base)), *found]
    return [*found, NextStep(few)]


def _learning(record: LanguageRecord | None, again: Sequence[str], context: Context) -> NextStep:
    if record is not None and record.supervision is not None:
        give = "Give more translations to learn from."
    elif not context.frequency_ordered:
        give = "Give pairs of ids that belong together, to learn from."
    else:
        give = "Give translations to learn from. A few dozen often turn a failure into a good alignment."
    return NextStep(give, command_line([*again, "--dictionary", PAIRS], context.base))


def _again(record: LanguageRecord | None, context: Context) -> list[str]:
    """The command that made the mapping, or a plain one if none was recorded or it made several."""
    command = () if record is None else record.command
    if not command or command.count("--src") > 1 or "--into" in command:
        source = context.source if record is None else record.language
        return ["muse", "align", "--src", source, "--tgt", context.pivot]
    return _without(
        command, "--dictionary", "--dictionary-format", "--src-text", "--tgt-text"
    )  # whose vectors are made by now


def _without(command: Sequence[str], *options: str) -> list[str]:
    """The command without these options, which have a value each, and without what only concerns one run."""
    words, kept = iter(command), []
    for word in words:
        if word in options:
            next(words, "")
        elif word not in OF_ONE_RUN:
            kept.append(word)
    return kept
