"""Optional packages, which can be taken out, and what each offers to the rest if its folder is there.

The rest imports none of them. It asks here for what they offer: commands and tasks by their section of the
help, formats by their kind, or a module at the moment it is used. Libraries that an extra installs are
imported here too.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from muse.errors import MissingExtra
from muse.installation import install_extra


class OptionalPackage(NamedTuple):
    """A package, what it offers by kind (names below the package), and which others it needs."""

    name: str
    offers: Mapping[str, str] = {}
    needs: tuple[str, ...] = ()


PACKAGES = (
    OptionalPackage("fetch", {"Get vectors": "command.fetch"}),
    OptionalPackage("embedding", {"Get vectors": "command.embed"}),
    OptionalPackage("report", {"See how good the result is": "command.report"}),
    OptionalPackage("web", {"See how good the result is": "command.serve"}, needs=("report",)),
    OptionalPackage(
        "sentences",
        {
            "Sentences": "commands.encode.encode commands.train.train commands.mine.mine "
            "commands.align_texts.align_texts commands.train_translator.train_translator",
            "evaluate: Sentences": "commands.evaluate_sentences.sentences commands.mine.mining "
            "commands.evaluate_sentences.sts commands.evaluate_sentences.relatedness "
            "commands.evaluate_classifiers.nli commands.evaluate_classifiers.transfer "
            "commands.evaluate_classifiers.probe",
        },
    ),
    OptionalPackage(
        "links",
        {
            "Sentences": "commands.link.link commands.carry_labels.carry_labels",
            "evaluate: Sentences": "commands.evaluate_links.evaluate_links",
        },
    ),
    OptionalPackage("examples", {"Use it": "command.index_text"}),
    OptionalPackage("terms", {"Use it": "command.terms"}, needs=("embedding", "examples")),
    OptionalPackage("cluster"),
    OptionalPackage("dictionary_formats", {"dictionaries": "formats.FORMATS"}),
)


@cache
def has(package: str) -> bool:
    """Whether a package is there, with those that it needs."""
    needs = next(one.needs for one in PACKAGES if one.name == package)
    # Beside this module: an editable installation would find that of the checkout for a copy that lacks it.
    there = Path(__file__).parent / package / "__init__.py"
    return there.is_file() and all(map(has, needs))


def offered(kind: str) -> list[Any]:
    """What the packages that are there offer of a kind, in order; one that cannot be imported raises."""
    names = (
        f"{one.name}.{name}"
        for one in PACKAGES
        if kind in one.offers and has(one.name)
        for name in one.offers[kind].split()
    )
    return [getattr(load(module), name) for module, _, name in (name.rpartition(".") for name in names)]


def load(module: str) -> Any:
    """A module of a package, such as `embedding.training`; MissingExtra if the package is not there."""
    require(module.partition(".")[0], f"muse.{module}")
    return import_module(f"muse.{module}")


def require(package: str, wanted: str) -> None:
    """Raise MissingExtra, which says what was wanted, if a package is not there."""
    if not has(package):
        raise MissingExtra(
            f"{wanted} needs the package muse.{package}, which this installation lacks; install muse whole"
        )


def library(name: str, purpose: str, extra: str) -> Any:
    """A module of a library; MissingExtra, which says what needs it and what installs it, without that."""
    try:
        return import_module(name)
    except ImportError as error:
        raise _missing(name, purpose, extra) from error


def check_library(name: str, purpose: str, extra: str) -> None:
    """Raise MissingExtra unless a library is installed, which is not imported: that may take seconds."""
    if find_spec(name) is None:
        raise _missing(name, purpose, extra)


def _missing(name: str, purpose: str, extra: str) -> MissingExtra:
    package = name.partition(".")[0].replace("_", "-")
    return MissingExtra(f"{purpose} needs {package}, which is missing; run {install_extra(extra)}")
