"""What may help a mapping that is not aligned, in words for a terminal and for a page.

`muse align` knows the run and is brief, a page is read later and by others and explains more. Which remedies
apply, and in which order, each decides.
"""

from __future__ import annotations

from enum import Enum

FEW_WORDS = 5_000  # with fewer, even a right mapping may be called failed
FEW_PAIRS = 50  # translations: with fewer, more help
PAIRS = "pairs.txt"  # stands for a list of translations that there is not yet


class RemedyText(Enum):
    """A remedy as the command line says it, and as a page does; {names} are filled in."""

    TRANSLATIONS = (
        "Give translations{alike}",
        "Give translations to learn from. A few dozen often turn a failure into a good alignment.",
    )
    MORE_TRANSLATIONS = (
        "Give more translations: of {dictionary}, {known} could be used; {enough} or more would be good.",
        "Give more translations to learn from.",
    )
    IDS = (
        "Say which rows belong together: {enough} lines of an id ({source}), a tab and an id ({target}), in "
        "{pairs}; row numbers, from 0, where a file has no ids.",
        "Give pairs of ids that belong together, to learn from.",
    )
    MORE_WORDS = (
        "Use vectors of more words: {count:,} are few ({language}).",
        "Use more words: {count:,} are few.",
    )
    ADVERSARIAL = (
        "Train a mapping against a discriminator: slow, and its result depends on --seed.",
        "Try the initialisation that auto leaves out because it is slow; its result depends on the seed.",
    )
    CHECK = (
        "Check the vectors, whose first words are {first}.",
        "Check the files. Are they the languages you meant, the most frequent words first, trained on texts "
        "of the same kind? The words they begin with are below.",
    )

    def __init__(self, terminal: str, page: str) -> None:
        self.terminal, self.page = terminal, page
