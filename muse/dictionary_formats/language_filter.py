"""Which pairs of a dictionary of several languages are wanted, and in which direction."""

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from muse.errors import BadFile, counted
from muse.files.cells import LONGEST_PHRASE, stripped
from muse.languages import Languages, language_code, one_language
from muse.lexicon import PairLine

log = logging.getLogger(__name__)

# The share of long texts, of at least so many, from which a dictionary seems to explain words in their own
# language: FreeDict's have 0.07 at most, those of the one language in Debian at least 0.44.
EXPLAINED, LEAST_TEXTS = 0.25, 20


def warn_of_explanations(path: Path, long: int, short: int) -> None:
    """Warn if so many texts are long that the others may be no translations, but parts of explanations."""
    texts = long + short
    if texts >= LEAST_TEXTS and long > EXPLAINED * texts:
        log.warning(
            "%s: %.0f %% of its texts are longer than %d words, as in a dictionary that explains words in "
            "their own language: what was read may be no translations; check that it is of two languages",
            path, 100 * long / texts, LONGEST_PHRASE,
        )  # fmt: skip


class LanguageFilter:
    """The pairs of the languages that are wanted, if `exact` as they are and however long; and the others."""

    def __init__(self, path: Path, languages: Languages | None, *, exact: bool = False) -> None:
        self.path, self.exact = path, exact
        codes = languages and (language_code(languages[0]), language_code(languages[1]))
        self.wanted: Languages | None = codes
        self.others = Counter[tuple[str, str]]()
        self.long = 0
        self.kept = 0

    def pair(self, one: str, two: str, of: tuple[str, str]) -> Iterator[PairLine]:
        """The pair, in the direction wanted, of words in the languages `of`; "" is an unknown one."""
        if not self.exact:
            one, two = (stripped(" ".join(word.split())) for word in (one, two))
        if not one or not two:
            return
        if not self.exact and max(len(one.split()), len(two.split())) > LONGEST_PHRASE:
            self.long += 1
            return
        alone = bool(of[0]) and one_language(of) and not (self.wanted and one_language(self.wanted))
        of = language_code(of[0]), language_code(of[1])
        # Without any wanted, the first two languages are.
        self.wanted = self.wanted or (None if alone else of)
        forms = ((False, of), (True, of[::-1])) if self.wanted and not alone else ()
        for swapped, languages in forms:
            if all(one in (other, "") for one, other in zip(languages, self.wanted or of, strict=True)):
                self.kept += 1
                yield PairLine((two, one) if swapped else (one, two))
                return
        self.others[of] += 1

    def check(self, what: str) -> None:
        """Raise BadFile if nothing was found; say what was left out."""
        if self.kept:
            if self.long:
                left_out = counted(self.long, "pair")
                log.info("%s: left out %s of more than %d words", self.path, left_out, LONGEST_PHRASE)
            return
        got = f"{self.long} of more than {LONGEST_PHRASE} words" if self.long else "none"
        if self.others:
            named = ", ".join(f"{one or '?'}-{two or '?'}" for (one, two), _ in self.others.most_common(5))
            got = f"pairs of {named}"
        between = f" of {' and '.join(self.wanted)}" if self.wanted else ""
        raise BadFile(
            f"{self.path}: expected pairs of words{between} in {what}, got {got}; check the languages, or "
            "take another file"
        )
