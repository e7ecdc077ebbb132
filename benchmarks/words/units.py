"""P@1, P@5 and calibration of units of several words, by dictionaries that texts happen to contain.

    python -m benchmarks.words.units SPACE --texts de=FILE --texts en=FILE [--dictionaries FOLDER]
        [--part report] [--least 5] [--model] [--out units.csv]

The entries of several words in Debian's dict-de-en and dict-freedict-*, in /usr/share/dictd or the FOLDER
that they were unpacked to, measure only: none is copied here. One half of them, by a hash of the unit, is
`choose`: what is set was set on it, and --model prints the model that it teaches, of its units that are found
without it; the other is `report`. All units that are found in a text compete with those of the gold. A
unit counts that stands --least times in its text; answers are words of the space and units found in the other
text. Beside `muse terms` stand the mean of the parts' vectors, and each part's first translation.
"""

import gzip
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.support.options import POSITIONAL, REPEATED, command_line
from benchmarks.support.tables import append_rows, commit, today
from muse.embedding.corpus import write_corpora
from muse.ranking.lookup import lookup_entry
from muse.space import Space, load_space
from muse.terms.evidence import FEATURES, Entries, UnitCandidates, gather
from muse.terms.glossary import (
    TermConfig,
    TermText,
    compounds_of,
    entries_of,
    known_parts,
    part_translations,
    read_term_texts,
    with_compositions,
)
from muse.terms.model import TermModel, parted
from muse.terms.parts import Sparse
from muse.text.surface import grouped, joined
from muse.text.tokens import Tokeniser
from muse.vectors import Doubles, Flags, Matrix, Numbers

DICTIONARIES = {
    ("de", "en"): "german-english", ("en", "de"): "english-german",
    ("fr", "en"): "freedict-fra-eng", ("en", "fr"): "freedict-eng-fra",
}  # fmt: skip
Gold = dict[str, set[str]]
STEPS, RIDGE = 30, 1.0  # of the regression
# What an entry has beside its words, and places for objects, with which it is no unit of text.
_REMARKS = re.compile(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|<[^>]*>|/[^/]*/")
_OBJECTS = re.compile(r"\b(etw|jdn|jdm|jds|jd|sth|sb|so|qn|qch|one's|sich|oneself|se)\b")
_PARTIAL = re.compile("[(/]")  # of an entry that is more than a unit, or several
_HEADWORD = re.compile(r"(.+?) /[^/]+/")
_ARTICLES = {
    "en": {"to", "the", "a", "an"}, "de": {"der", "die", "das", "ein", "eine"},
    "fr": {"le", "la", "les", "l'", "un", "une"},
}  # fmt: skip
COLUMNS = (
    "direction", "half", "least", "by", "units", "answerable", "p_at_1", "p_at_5", "p_at_1_of_answerable",
    "calibration_error", "commit", "date",
)  # fmt: skip


def read_gold(folder: Path, direction: tuple[str, str]) -> Gold:
    """The translations of the entries of several words, in both dictionaries of a pair of languages."""
    found: Gold = {}
    for way in (direction, direction[::-1]):
        for source, target in _pairs(folder / f"{DICTIONARIES[way]}.dict.dz", way):
            one, other = (source, target) if way == direction else (target, source)
            if " " in one:
                found.setdefault(one, set()).add(other)
    return found


def _pairs(path: Path, way: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs of a dictionary of dictd: a headword, and lines of its translations."""
    tokenisers = [Tokeniser(one) for one in way]
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        for head, translation in (_freedict if "freedict" in path.name else _ding)(file.read().split("\n")):
            pair = [_clean(*one) for one in zip((head, translation), tokenisers, strict=True)]
            if all(pair):
                yield pair[0], pair[1]


def _freedict(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    head = ""
    for line in lines:
        if match := _HEADWORD.match(line):
            head = match[1]
        elif head and line.strip():
            yield from ((head, part) for part in re.split("[,;]", re.sub(r"^\d+\. ", "", line)))


def _ding(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs of an entry; no sentence, and nothing of which a line break leaves a part alone."""
    head, flush = "", [bool(line[:1].strip()) for line in (*lines, "", "")]
    for place, line in enumerate(lines):
        if flush[place]:
            alone = not (flush[place - 1] or flush[place + 1] or _PARTIAL.search(line))
            head = line if alone and line[-1] not in ".?" else ""
        elif head and line.startswith("   "):
            parts = line.split(";")
            broken = flush[place + 1] and flush[place + 2]
            yield from ((head, part) for part in parts[: len(parts) - broken] if not _PARTIAL.search(part))
        elif _REMARKS.sub("", line).strip():
            head = ""


def _clean(text: str, tokeniser: Tokeniser) -> str:
    """The tokens of an entry, in lower case with spaces between; "" if it is no unit of text."""
    text = _REMARKS.sub("", text).replace("\u2010", "-").strip(" .!?\n")
    if _OBJECTS.search(text):
        return ""
    tokens = [joined(one, "_").lower() for one in grouped(tokeniser.tokens(text), tokeniser.language)]
    while len(tokens) > 1 and tokens[0] in _ARTICLES[tokeniser.language]:
        tokens = tokens[1:]
    return " ".join(tokens) if all(any(map(str.isalpha, one)) for one in tokens) else ""


def part_of(unit: str) -> str:
    """The half of the gold that a unit is in."""
    return "choose" if sha256(unit.encode()).digest()[0] % 2 == 0 else "report"


@dataclass(frozen=True, eq=False)
class Measured:
    """The candidates of the gold's units, and which of them are right; which units are `found` without it."""

    direction: str
    units: list[str]
    gold: list[set[str]]
    names: list[str]
    literal: list[str]
    candidates: UnitCandidates
    right: Flags
    found: Flags

    def of_part(self, part: str) -> Flags:
        """Which units are in a half."""
        return np.array([part_of(unit) == part for unit in self.units])

    def shown(self, scores: Doubles, part: str, by: str, *, probable: bool = False) -> dict[str, object]:
        """The row of a table for candidates in the order of `scores`."""
        places = self.candidates.places
        order = np.lexsort((-scores, places))
        bounds = np.searchsorted(places[order], np.arange(len(self.units) + 1))
        spans = [order[begin:end] for begin, end in zip(bounds, bounds[1:], strict=False)]
        first = np.array([bool(self.right[span[:1]].any()) for span in spans])
        five = np.array([bool(self.right[span[:5]].any()) for span in spans])
        some, known = self.of_part(part), {*self.names}
        able = some & np.array([bool(one & known) for one in self.gold])
        shares = np.array([scores[span[0]] for span in spans])[some]
        return {
            "direction": self.direction, "by": by, "units": int(some.sum()), "answerable": int(able.sum()),
            "p_at_1": 100 * float(first[some].mean()), "p_at_5": 100 * float(five[some].mean()),
            "p_at_1_of_answerable": 100 * float(first[able].mean()),
            "calibration_error": calibration(shares, first[some]) if probable else "",
        }  # fmt: skip

    def rows(self, model: TermModel, part: str) -> Iterator[dict[str, object]]:
        """The rows of a table."""
        values = self.candidates.values.astype(np.float64)
        yield self.shown(model.probabilities(values), part, "muse terms", probable=True)
        yield self.shown(values[:, FEATURES.index("csls by contexts")], part, "contexts alone")
        yield self.shown(values[:, FEATURES.index("cosine of the parts")], part, "mean of the parts")
        some = self.of_part(part)
        exact = np.array([one in gold for one, gold in zip(self.literal, self.gold, strict=True)])
        able = some & np.array([bool(one & {*self.names}) for one in self.gold])
        yield {
            "direction": self.direction, "by": "part by part", "units": int(some.sum()),
            "answerable": int(able.sum()), "p_at_1": 100 * float(exact[some].mean()),
            "p_at_1_of_answerable": 100 * float(exact[able].mean()),
        }  # fmt: skip


def learned(values: Matrix | Doubles, right: Flags) -> TermModel:
    """The model of highest penalised likelihood of which candidates (p,) are `right`: Newton's method.

    The ridge is on the weights of standardised evidence.
    """
    values = parted(values)
    mean, scale = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
    x = np.column_stack([(values - mean) / scale, np.ones(len(values))]).astype(np.float64)
    w, ridge = np.zeros(x.shape[1]), np.append(np.full(x.shape[1] - 1, RIDGE), 0)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(x @ w)))
        gradient = x.T @ (right - p) - ridge * w
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(ridge + 1e-9), gradient)
        w += step
        if np.abs(step).max() < 1e-8:
            break
    weights = w[:-1] / scale
    return TermModel(weights, float(w[-1] - weights @ mean))


def calibration(shares: Doubles, right: Flags) -> float:
    """The expected calibration error over ten bins of equal width."""
    bins = np.minimum((shares * 10).astype(int), 9)
    gaps = [abs(shares[bins == one].sum() - right[bins == one].sum()) for one in range(10)]
    return float(sum(gaps) / len(shares))


def measured(
    space: Space, texts: dict[str, list[Path]], folder: Path, config: TermConfig
) -> Iterator[Measured]:
    """The candidates of both directions."""
    ways, edge = [(one, two) for one in texts for two in texts if one != two], config.units.edge
    sides, targets = dict[str, TermText](), dict[str, list[str]]()
    gold = {one: read_gold(folder, (one, two)) for one, two in ways}
    with TemporaryDirectory() as scratch:
        sides |= read_term_texts(write_corpora(texts, Path(scratch)), space, config)
        for one, two in ways:
            targets[two] = with_compositions(space, sides[one].with_units(gold[one]), sides[two]).names
        sides = {one: side.with_units([*gold[one], *targets[one]]) for one, side in sides.items()}
        entries = {one: entries_of(space, sides[one], two) for one, two in ways}
    tables = {one: part_translations(space, (one, two), known_parts(sides[one])) for one, two in ways}
    for one, two in ways:
        names, wanted = sides[one].names, np.array(places_of(sides[one], gold[one]))
        target = only(entries[two], np.array(places_of(sides[two], {*targets[two]})))
        made_of = compounds_of(sides[one], edge, tables[one], space.vectors(two))
        candidates = of_units(gather(entries[one], target, (tables[one], tables[two]), made_of), wanted)
        units = [names[place] for place in wanted.tolist()]
        pairs = zip(candidates.places.tolist(), candidates.columns.tolist(), strict=True)
        right = np.array([target.names[column] in gold[one][units[place]] for place, column in pairs])
        literal = [part_by_part(unit, tables[one], space, (one, two)) for unit in units]
        answers = [gold[one][unit] for unit in units]
        known = {*targets[one]}
        found = np.array([unit in known for unit in units])
        yield Measured(f"{one}-{two}", units, answers, [*target.names], literal, candidates, right, found)


def places_of(text: TermText, names: Container[str]) -> list[int]:
    """The places of units with these names."""
    return [place for place, name in enumerate(text.names) if name in names]


def of_units(candidates: UnitCandidates, units: Numbers) -> UnitCandidates:
    """The candidates of these units (q,), numbered anew; all others compete with them."""
    some = np.isin(candidates.places, units)
    places = np.searchsorted(units, candidates.places[some])
    return UnitCandidates(places, candidates.columns[some], candidates.values[some])


def only(entries: Entries, units: Numbers) -> Entries:
    """The words, and these units (q,)."""
    n = len(entries.word_rows)
    kept = np.concatenate([np.arange(n), n + units])
    return replace(
        entries, names=[entries.names[place] for place in kept.tolist()], shares=entries.shares[units],
        lengths=entries.lengths[kept], context_rows=entries.context_rows[units], counts=entries.counts[units],
        frequency=entries.frequency[kept],
    )  # fmt: skip


def part_by_part(unit: str, table: Sparse, space: Space, way: tuple[str, str]) -> str:
    """The first translation of each word of a unit; words without one stay."""
    source, target = map(space.vectors, way)
    found = []
    for word in unit.split(" "):
        entry = lookup_entry(word, source)
        options = table[source.index[entry] if entry is not None else slice(0)]
        found.append(target.words[options.indices[options.data.argmax()]] if options.nnz else word)
    return " ".join(found)


def main() -> None:
    """Writes a row for each direction and way of translating."""
    options = command_line(
        __doc__, space=POSITIONAL, texts=REPEATED, dictionaries=Path("/usr/share/dictd"), part="choose",
        least=5, model=False, out=Path("units.csv"),
    )  # fmt: skip
    texts: dict[str, list[Path]] = {}
    for one in options.texts:
        language, _, path = one.partition("=")
        texts.setdefault(language, []).append(Path(path))
    config = TermConfig(least=options.least)
    every = list(measured(load_space(options.space), texts, options.dictionaries, config))
    if options.model:
        chosen = [(one.found & one.of_part("choose"))[one.candidates.places] for one in every]
        values = np.concatenate(
            [one.candidates.values[some] for one, some in zip(every, chosen, strict=True)]
        )
        right = np.concatenate([one.right[some] for one, some in zip(every, chosen, strict=True)])
        model = learned(values, right)
        print([round(weight, 3) for weight in model.weights.tolist()], round(model.intercept, 3))
    how = {"half": options.part, "least": options.least, "commit": commit(), "date": today()}
    rows = (row | how for one in every for row in one.rows(TermModel.shipped(), options.part))
    append_rows(options.out, COLUMNS, rows)


if __name__ == "__main__":
    main()
