"""Next steps: what to do after a run, depending on its verdict, as commands.

Paths are shown relative to the folder the commands are run in: a page never says where on a machine it lies.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from muse.api.outcome import FEW_WORDS, PAIRS
from muse.ranking.translations import TRUSTED
from muse.report.facts import Facts, least_certain

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


class NextStep(NamedTuple):
    """Something to do, and the command that does it; empty if there is none."""

    text: str
    command: str = ""


def next_steps(facts: Facts) -> tuple[NextStep, ...]:
    """The steps after a run, by its verdict; the direction is named where the space has another one."""
    only = len(facts.space.languages) == 2 and facts.target == facts.space.pivot
    way = [] if only else ["--src", facts.source, "--tgt", facts.target]
    if facts.label == "failed":
        return tuple(_repairs(facts))
    pairs = "a list of translations" if facts.frequency_ordered else "ids that belong together"
    measure = f"Measure it: give {pairs}, a pair on each line, and read this page again."
    measuring = NextStep(measure, _muse(facts, "report", *way, "--dictionary", PAIRS))
    unmeasured = [measuring] if facts.accuracy is None else []
    if facts.label == "aligned":
        return (*_uses(facts, way), *unmeasured)
    return (*unmeasured, _learning(facts, _again(facts)), _uses(facts, way)[0])


def _muse(facts: Facts, command: str, *more: str) -> str:
    return command_line(["muse", command, str(facts.folder), *more], facts.config.base)


def _uses(facts: Facts, way: Sequence[str]) -> list[NextStep]:
    source, target, serve = facts.source, facts.target, _muse(facts, "serve")
    if not facts.frequency_ordered:
        found = f"{source}.mapped.parquet"
        mapped = _muse(facts, "map", "--lang", source, "--vectors", ROWS, "--out", found)
        return [
            NextStep("Look rows up in a browser, by their ids and texts.", serve),
            NextStep(f"Map further rows of {source} into the space.", mapped),
        ]
    trusted = ["--min-probability", f"{TRUSTED:g}"] if facts.survey.trusted else []
    which = "muse trusts" if trusted else "are each the other's best"
    kept = ["--mutual", *trusted]
    induced = _muse(facts, "induce", *way, *kept, "--format", "tsv", "--out", f"{source}-{target}.tsv")
    translated = f"{_muse(facts, 'translate', *way)} < text.{source} > text.{target}"
    return [
        NextStep("Look words up in a browser, and see the map.", serve),
        NextStep(f"Write a dictionary of the answers that {which}.", induced),
        NextStep("Translate a text word by word.", translated),
    ]


def _repairs(facts: Facts) -> list[NextStep]:
    """What may help after a failure, the surest and cheapest first."""
    again, base = _again(facts), facts.config.base
    adversarial = [*_without(again, "--init", "--seed"), "--init", "adversarial", "--seed", "1"]
    found = [_learning(facts, again)]
    if not facts.frequency_ordered:
        return found
    found += [
        NextStep(
            "Check the files. Are they the languages you meant, the most frequent words first, trained on "
            "texts of the same kind? The words they begin with are below."
        ),
        NextStep(
            "Try the initialisation that auto leaves out because it is slow; its result depends on the seed.",
            command_line(adversarial, base),
        ),
    ]
    words = min(len(facts.space.vectors(name)) for name in (facts.source, facts.target))
    if words >= FEW_WORDS:
        return found
    few = f"Use more words: {words:,} are few."
    if "--max-vocab" in again:
        return [NextStep(few, command_line(_without(again, "--max-vocab"), base)), *found]
    return [*found, NextStep(few)]


def _learning(facts: Facts, again: Sequence[str]) -> NextStep:
    record = least_certain(facts.records)
    if record is not None and record.supervision is not None:
        give = "Give more translations to learn from."
    elif not facts.frequency_ordered:
        give = "Give pairs of ids that belong together, to learn from."
    else:
        give = "Give translations to learn from. A few dozen often turn a failure into a good alignment."
    return NextStep(give, command_line([*again, "--dictionary", PAIRS], facts.config.base))


def _again(facts: Facts) -> list[str]:
    """The command that made the mapping, or a plain one if none was recorded or it made several."""
    record = least_certain(facts.records)
    command = () if record is None else record.command
    if not command or command.count("--src") > 1 or "--into" in command:
        source = facts.source if record is None else record.language
        return ["muse", "align", "--src", source, "--tgt", facts.space.pivot]
    # Whose vectors are made by now.
    return _without(command, "--dictionary", "--dictionary-format", "--src-text", "--tgt-text")


def _without(command: Sequence[str], *options: str) -> list[str]:
    """The command without these options, which have a value each, and without what only concerns one run."""
    words, kept = iter(command), []
    for word in words:
        if word in options:
            next(words, "")
        elif word not in OF_ONE_RUN:
            kept.append(word)
    return kept
