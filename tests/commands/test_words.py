"""Words: no retired word or phrase in help texts, README, pages, docstrings or messages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from muse.cli import commands

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "muse"
SPACE = r"(?:[ \t]+|[ \t]*\n[ \t]*)"


class Retired(NamedTuple):
    """A pattern of retired words, what to say instead, and whether prose for users may still have them."""

    pattern: re.Pattern[str]
    instead: str
    in_prose: bool = False


def retired(pattern: str, instead: str, *, in_prose: bool = False) -> Retired:
    """The entry of a pattern, which ignores case; a space also matches the end of a line."""
    return Retired(re.compile(pattern.replace(" ", SPACE), re.IGNORECASE), instead, in_prose)


# Legitimate uses are left out by the patterns: "the way in which", "told apart", "turned on".
RETIRED = (
    retired(r"\bways? in\b(?! (?:which|what|the|a|an|that|advance|common)\b)", "initialisation"),
    retired(r"\bhears? of\b|\bheard by\b|\bis told of\b", "is called with, callback"),
    retired(r"\b(?:is|are|was|were) lent\b|\blends\b", "is given"),
    retired(
        r"\b(?:is|are|was|were|be|been|being) told\b(?! apart)|\btold (?:by|from|of|so|alone)\b",
        "predicted, reported or gathered",
    ),
    retired(r"\bwrong translations?\b", "negative", in_prose=True),
    retired(r"\btwins\b", "duplicates"),
    retired(r"\bshout(?:s|ed|ing)?\b", "all caps"),
    retired(r"\bparted\b|\bparts (?:and joins|sentences|text|words|lines|tokens)\b", "tokenises, splits"),
    retired(r"\bexercises?\b", "masked batch"),
    retired(r"\bchances\b", "masking distribution, probabilities"),
    retired(r"\bthe beginning\b(?! of\b)", "initialisation, start"),
    retired(r"\b(?:words|vectors|rows) that are its own\b", "embedding table, vocabulary"),
    retired(r"\b(?:takes?|took|taken|taking) off\b", "subtracts"),
    retired(r"\bless what\b|\bnear to anyway\b", "CSLS: cosine similarity corrected for hubs"),
    retired(r"\bfound again\b|\bfinds? (?:it|them|these|those|the pairs?) again\b", "recovered"),
    retired(r"\btranslations? (?:of .{0,30} )?holds?\b", "held-out pairs recovered"),
    retired(
        r"\b(?:is|are|was|were|been|vectors|rows|axes|copy|language|mapping|space) turned\b"
        r"(?! (?:on|off|into|out))"
        r"|\bturned (?:rows|vectors|copy|language|space|by|away)\b",
        "rotated",
    ),
    retired(r"\bthe (?:\w+ )?doors?\b", "entry point"),
    retired(r"\bthe rooms?\b|\bof the house\b", "package, module"),
    retired(r"\bthe ground\b|\bthe nouns\b", "core types"),
    retired(r"\bsettle[sd]\b|\bsettling\b", "stabilised"),
    retired(r"(?<!\")\bstress(?:es|ed|ing)?\b", "weighted by canonical correlation"),
    retired(r"\bwhat [\w'\s]{1,40} (?:is|are) worth\b", "evaluation, quality"),
    retired(
        r"\bgone on\b|\bwent on\b|\bgo(?:es|ing)? on with\b|\b(?:runs?|training|it|that) (?:goes|can go) on\b"
        r"|\bgo on (?:with|from)\b",
        "resumed, resumes",
    ),
    retired(r"\b(?:de|en|es|fr|it|ru) \d{4,}\b", "14,000 French words (fr)"),
    retired(r"\blower all words\b", "lowercase words"),
    retired(r"\b(?:trusting|doubting)\b", "closed-set and open-set model"),
    retired(r"\b(?:has|have|had) not got\b", "does not contain, lacks"),
    retired(r"\b(?:where|when|if|unless) (?:it|this|that) pays\b", "if it helps"),
    retired(r"\ball that is random\b", "random seed"),
    retired(r"\b(?:what|that) (?:comes|came) of\b|\bcomes of it\b", "the result"),
    retired(r"\bis nobody's\b", "belongs to no one"),
    retired(r"\bverdict is content\b", "judged aligned"),
    retired(r"\bbr(?:oke|eaks?) off\b", "interrupted"),
    retired(r"\bfollow one another best\b", "reads best"),
    retired(r"\bgive one another\b", "change its"),
    retired(r"\bends the run\b|\bfields of the whole\b", "stops the run, top-level fields"),
    retired(r"\btakes its name\b|\btakes the file's name\b", "is renamed once complete"),
    retired(r"\bforbids commercial use\b", "has a non-commercial licence"),
    retired(r"\bfrom which on\b", "when ... starts"),
    retired(r"\bbrings no\b", "there is no"),
    retired(r"\bwhere there (?:is|are) none\b", "without, if there is none"),
    retired(r"\b(?:is|are) had\b|\bone or more of which\b", "another sentence"),
    retired(r"^Itself\b", "Returns self"),
    retired(r"\bdoes not look at\b", "does not use"),
    retired(r"\buntrained twin\b", "the untrained network"),
    retired(r"\bis no saved\b", "is not a saved"),
    retired(r"\b(?:made|makes?) again\b", "restored, rebuilds"),
    retired(r"^(?:That|Those) of\b|^The same(?:,| for| as)\b", "what is meant, by its name"),
    retired(r"\brows without words\b", "unlabelled vectors"),
    retired(r"\(not unsupervised\)", "uses a dictionary, uses identical strings"),
)


# Names that functions, classes, constants and fields no longer have, and what they are called.


class Text(NamedTuple):
    """A text to check, and where it is: a file or a command, and the line where it starts."""

    where: str
    text: str
    line: int = 1


def test_the_patterns_find_the_retired_phrases_and_leave_others() -> None:
    for text in (
        "The way in.",
        "what X is told",
        "the verdict, found again",
        "has not got it",
        "fr 14000 words",
    ):
        assert list(_hits(Text("here", text), prose=True)), text
    for text in ("the way in which", "told apart by their first bytes", "it is turned off", "2,000 in fr"):
        assert not list(_hits(Text("here", text), prose=True)), text
    assert list(_hits(Text("here", "a wrong translation"), prose=False))
    assert not list(_hits(Text("here", "a wrong translation"), prose=True))


@pytest.mark.parametrize("name", ["muse", *sorted(commands.commands)])
def test_help(name: str) -> None:
    command = commands if name == "muse" else commands.commands[name]
    _check(list(_helps(command, name)), prose=True)


@pytest.mark.parametrize(
    "path",
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *sorted((ROOT / "docs" / "pages").rglob("*.md")),
    ],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_prose(path: Path) -> None:
    _check([_file(path)], prose=True)


@pytest.mark.parametrize(
    "part", sorted(path for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"),
    ids=lambda path: path.name,
)  # fmt: skip
def test_code(part: Path) -> None:
    modules = [part] if part.is_file() else sorted(part.rglob("*.py"))
    pages = [path for path in sorted(part.rglob("*")) if path.suffix in (".html", ".js")]
    texts = [text for module in modules for text in _strings(module)]
    _check([*texts, *map(_file, pages)], prose=False)


def _check(texts: list[Text], *, prose: bool) -> None:
    found = [hit for text in texts for hit in _hits(text, prose=prose)]
    assert not found, "retired words, with what to say instead:\n" + "\n".join(found)


def _hits(text: Text, *, prose: bool) -> Iterator[str]:
    for word in RETIRED:
        for match in () if prose and word.in_prose else word.pattern.finditer(text.text):
            line = text.line + text.text.count("\n", 0, match.start())
            around = " ".join(text.text[max(0, match.start() - 30) : match.end() + 30].split())
            yield f"{text.where}:{line}: {match[0]!r} in {around!r}: say {word.instead}"


def _helps(command: click.Command, name: str) -> Iterator[Text]:
    context = click.Context(command, info_name=name)
    yield Text(f"{name} --help", command.get_help(context))
    if isinstance(command, click.Group) and name != "muse":
        for child in command.list_commands(context):
            if (one := command.get_command(context, child)) is not None:
                yield from _helps(one, f"{name} {child}")


def _file(path: Path) -> Text:
    return Text(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


def _strings(path: Path) -> Iterator[Text]:
    """The first line of each docstring, and every other string, with the parts of an f-string joined."""
    where, skipped = path.relative_to(ROOT).as_posix(), set[int]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if docstring := ast.get_docstring(node):
                skipped.add(id(node.body[0].value))  # type: ignore[attr-defined]
                yield Text(where, docstring.partition("\n")[0], line)
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "..." for part in node.values]
            skipped |= {id(part) for part in node.values}
            yield Text(where, "".join(map(str, parts)), line)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield Text(where, node.value, line)
