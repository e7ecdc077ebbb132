"""The settings of a run of `muse align`, in one type from the command line and Python to the last stage.

A field has the name of its option on the command line, with underscores, and in the manifest. Learning reads
what concerns it; where vectors come from and the space goes to is read by `muse.api.run`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from muse.errors import BadSetting
from muse.files.vectors.table import Table, items_table
from muse.learn.initialise import INITIALISATIONS
from muse.learn.refine import FIRST_ROUNDS, PLAIN, RefineConfig
from muse.learn.transport import TransportConfig
from muse.lexicon import Lexicon
from muse.normalise import DEFAULT_STEPS, check_steps
from muse.search.exact import check_backend

NO_PIVOT = "--tgt LANG or --into SPACE is needed, got neither"
RefinementConfig = RefineConfig | TransportConfig
# A few rounds on the most frequent words are enough for most initial mappings. The others get many rounds, on
# more words and whatever the objective: these succeed from a few percent of right pairs (RESULTS.md). They
# come in blocks, so that a mapping that does not get better is given up after the first one.
MANY_ROUNDS = RefineConfig(cutoffs=(5_000,), max_rounds=10, patience=10)
ROUNDS = (FIRST_ROUNDS, MANY_ROUNDS, MANY_ROUNDS, MANY_ROUNDS)
# Rows that are not of words: blocks of many rounds. A right mapping may need all, and its gain rises late.
FAR = TransportConfig(rounds=50)
ROUNDS_OF_ROWS: tuple[RefinementConfig, ...] = (FAR,) * 6
REFINE_ROWS = TransportConfig(rounds=100, averaged=25)
ANSWERS = ("all", "csls")
# The parts of a published recipe, by the names of the options that set them.
RECIPES: dict[str, dict[str, Any]] = {
    # Conneau et al. (2018), sections 2 and 3 (docs/pages/papers.md has it line by line).
    "muse": {
        "normalise": (), "init": "adversarial-paper", "refine": PLAIN, "reweight": False, "answers": "csls",
        "backend": "faiss",
    },
}  # fmt: skip
INITIALISATIONS_OF_ROWS = ("auto", "clusters", "gromov", "adversarial", "dictionary")  # that need no words


@dataclass(frozen=True, eq=False)
class RowArray:
    """Rows (n, d) in memory, in no order; row i has the id str(i), as in a file without ids."""

    rows: NDArray[Any]

    def table(self, language: str) -> Table:
        """The rows as a file yields them, so that they are checked and copied like rows of a file."""
        return items_table(Path(language), self.rows)


Given = Path | RowArray


@dataclass(frozen=True, kw_only=True)
class AlignConfig:
    """The settings of a run: what to align, from which files, how, and where to save it."""

    src: tuple[str, ...] = ()
    """The languages to map: `--src`."""
    tgt: str | None = None
    """The language to map into, the pivot: `--tgt`. It may be left out with `into`."""
    into: Path | None = None
    """A saved space that the languages are added to, in place of `tgt`: `--into`."""
    src_emb: tuple[Given, ...] = ()
    """The vectors of `src`, in the same order: files, names or folders of spaCy pipelines, or arrays (n, d)
    of rows in no order: `--src-emb`. Without any they are looked up."""
    tgt_emb: Given | None = None
    """The vectors of `tgt`: `--tgt-emb`. None looks them up."""
    via: tuple[str, ...] = ()
    """Languages for detours only, which are not saved: `--via`."""
    via_emb: tuple[Given, ...] = ()
    """The vectors of `via`, in the same order: `--via-emb`. Without any they are looked up."""
    src_words: Path | None = None
    """The words of a single `src`, if n-grams compose its vectors: `--src-words`. None: the file's own."""
    tgt_words: Path | None = None
    """The words of `tgt`, if n-grams compose its vectors: `--tgt-words`. None takes the file's own."""
    src_captions: Path | None = None
    """What the rows of a single `src` stand for if they have no words, a text a line: `--src-captions`. None
    is the column `text` or `sentence` of Parquet."""
    tgt_captions: Path | None = None
    """What the rows of `tgt` stand for: `--tgt-captions`."""
    src_column: str | None = None
    """The column, or named vector, of a single `src` to read, where several have vectors: `--src-column`."""
    tgt_column: str | None = None
    """The column, or named vector, of `tgt` to read: `--tgt-column`."""
    dictionary: Path | None = None
    """Translations to learn from, for a single `src`: `--dictionary`. None learns without."""
    dictionary_format: str | None = None
    """The format of `dictionary`, by its name in `muse.files.lexicons.formats`: `--dictionary-format`. None
    recognises it."""
    encoder: Path | None = None
    """A multilingual encoder that helps, for a single `src`: `--encoder`, a folder of a Hugging Face,
    sentence-transformers or model2vec model."""
    encoder_template: str = "{word}"
    """The text that the encoder reads for a word: `--encoder-template`."""
    encoder_emb: tuple[Path, ...] = ()
    """Vectors of the words of `src` and of `tgt` that are comparable already: `--encoder-emb`, twice."""
    evidence: Path | None = None
    """Translations that another program gives, with scores: `--evidence`."""
    evidence_format: str | None = None
    """The format of `evidence`, as that of `dictionary`: `--evidence-format`."""
    init: str = "auto"
    """The initialisation, or `auto`, which tries several: `--init`."""
    no_identical: bool = False
    """Whether `auto` must not fall back on identical strings: `--no-identical`."""
    max_vocab: int | None = None
    """Read only this many words, the most frequent ones: `--max-vocab`. None reads all."""
    lower: bool = False
    """Lowercase words; the first spelling of a word wins: `--lower`."""
    recipe: str | None = None
    """A published recipe, whose parts hold where they are not given: `--recipe`. None: muse's own."""
    normalise: tuple[str, ...] = DEFAULT_STEPS
    """The normalisation of the rows that mappings are fitted to, none if empty: `--normalise`. Rows are
    compared at unit length in any case."""
    refine: bool | RefinementConfig = True
    """Whether the best candidate is refined, or by which settings, such as `muse.learn.refine.PLAIN`:
    `--refine`, `--refine plain`, `--no-refine`."""
    reweight: bool | None = None
    """Weight dimensions at the end if that helps: `--reweight`. None does so where the target may move."""
    joint: bool = False
    """With several languages, refine all mappings together at the end: `--joint`."""
    answers: str = "all"
    """How translations are ranked: `all`, chosen by all the evidence at the end, or `csls`, which leaves that
    out: `--answers`."""
    backend: str = "auto"
    """The library that searches for neighbours, which changes no result: `--backend`."""
    seed: int = 0
    """The random seed: `--seed`."""
    out: Path | None = None
    """The folder of the space: `--out`. None is `embeddings/aligned/SRC-TGT`, or `into`."""
    resume: bool = False
    """Resume an interrupted run of the same settings: `--resume`."""
    force: bool = False
    """Replace a space that was made with other settings or inputs: `--force`."""
    command: tuple[str, ...] = ()
    """The command line as it was given, which the space records; empty from Python."""
    rounds: tuple[RefinementConfig, ...] | None = None
    """The refinements of an initial mapping, in order, until it is aligned. None: the usual ones."""
    lexicon: Lexicon | None = None
    """The pairs of `dictionary`, once they are read."""
    scored: Lexicon | None = None
    """The pairs of `evidence`, once they are read."""
    hints: Lexicon | None = None
    """The surest pairs by an encoder or another program, which may be wrong, once they are found."""
    frequency_ordered: bool = True
    """Whether the rows are of words, most frequent first; else they are in no order."""
    fixed_target: bool = False
    """Whether the shared space is the target's whatever its dimension, as for several languages."""

    def __post_init__(self) -> None:
        check_init(self.init)
        check_steps(self.normalise)
        check_backend(self.backend)
        check_recipe(self.recipe)
        if self.answers not in ANSWERS:
            raise BadSetting(f"--answers must be one of {', '.join(ANSWERS)}; got {self.answers!r}")

    @property
    def keeps_lengths(self) -> bool:
        """Whether mappings are fitted to rows of other lengths than 1."""
        return not self.normalise or self.normalise[-1] != "unit"

    @property
    def pivot(self) -> str:
        """The language that the others are mapped to; BadSetting if it is not known yet."""
        if self.tgt is None:
            raise BadSetting(NO_PIVOT)
        return self.tgt

    @property
    def folder(self) -> Path:
        """The folder of the space."""
        name = "-".join((*self.src, self.pivot)) if self.into is None else ""
        return self.out or self.into or Path("embeddings", "aligned", name)

    @property
    def moves_target(self) -> bool:
        """Whether the target may be moved, which it may not if several languages share it."""
        return self.into is None and len(self.src) == 1

    @property
    def refinement(self) -> RefinementConfig | None:
        """The refinement of the best candidate; None: none."""
        if self.refine is False:
            return None
        if not self.frequency_ordered:
            return REFINE_ROWS
        return RefineConfig() if self.refine is True else self.refine

    @property
    def first_rounds(self) -> tuple[RefinementConfig, ...]:
        """The refinements of an initial mapping; none without refinement, unless they are given."""
        if not self.frequency_ordered:
            wanted = bool(self.refine) if self.rounds is None else bool(self.rounds)
            return ROUNDS_OF_ROWS if wanted else ()
        if self.rounds is None:
            return ROUNDS if self.refine and not self.refines_plainly else ()
        return self.rounds

    @property
    def refines_plainly(self) -> bool:
        """Whether refinement is the paper's, which an initial mapping goes into as it is."""
        return isinstance(self.refine, RefineConfig) and self.refine.plain

    @property
    def reweights(self) -> bool:
        """Whether dimensions may be weighted, if that helps: rows in no order have few pairs to do so by."""
        return self.reweight is not False and self.frequency_ordered

    def recorded(self) -> dict[str, Any]:
        """The settings that the manifest of a space records, by the names of the options."""
        return {
            "init": self.init,
            "normalise": self.normalise,
            "refine": self.refinement,
            "rounds": self.first_rounds,
            "reweight": self.reweights,
            "recipe": self.recipe,
            "joint": self.joint,
            "answers": self.answers,
            "encoder": self.encoder,
            "encoder_template": None if self.encoder is None else self.encoder_template,
            "encoder_emb": self.encoder_emb,
            "evidence": self.evidence,
            "max_vocab": self.max_vocab,
            "lower": self.lower,
            "via": self.via,
            "src_column": self.src_column,
            "tgt_column": self.tgt_column,
        }

    def of_learning(self) -> AlignConfig:
        """The settings on which the result depends, besides the files: a run with others resumes no other."""
        return replace(
            self, into=None, src_emb=(), tgt_emb=None, via_emb=(), src_words=None, tgt_words=None,
            src_captions=None, tgt_captions=None, dictionary=None, dictionary_format=None, out=None,
            resume=False, force=False, command=(), answers="all", encoder=None, encoder_emb=(), evidence=None,
            evidence_format=None, scored=None, recipe=None, backend="auto",
        )  # fmt: skip

    @property
    def departures(self) -> tuple[str, ...]:
        """The parts of the recipe that were given otherwise, by their names.

        Which library searches is not among them: it changes no result.
        """
        parts = RECIPES.get(self.recipe or "", {})
        return tuple(
            name for name, value in parts.items() if name != "backend" and getattr(self, name) != value
        )

    def into_fixed(self) -> AlignConfig:
        """The settings of a mapping into a space that does not move."""
        return replace(self, reweight=False, fixed_target=True)

    def for_unranked_rows(self) -> AlignConfig:
        """The settings for rows in no order; BadSetting if the initialisation needs words."""
        if self.init not in INITIALISATIONS_OF_ROWS:
            raise BadSetting(
                f"--init {self.init} needs words, most frequent first, got unlabelled vectors; choose one of "
                f"{', '.join(INITIALISATIONS_OF_ROWS[:-1])}"
            )
        return replace(self, frequency_ordered=False)

    def without_pairs(self) -> AlignConfig:
        """The settings for two languages without known translations."""
        if self.lexicon is None and self.hints is None:
            return self
        return replace(self, init=self.init if self.lexicon is None else "auto", lexicon=None, hints=None)

    @property
    def plan(self) -> Plan:
        """The former name of the settings of initialisation."""
        return Plan(self.init, not self.no_identical, self.lexicon, self.first_rounds, self.frequency_ordered)

    @property
    def steps(self) -> tuple[str, ...]:
        """The former name of `normalise`."""
        return self.normalise


def check_init(init: str) -> None:
    """Raise BadSetting if `init` is unknown."""
    if init not in INITIALISATIONS:
        raise BadSetting(f"--init must be one of {', '.join(INITIALISATIONS)}; got {init!r}")


def check_recipe(recipe: str | None) -> None:
    """Raise BadSetting if there is no such recipe."""
    if recipe is not None and recipe not in RECIPES:
        raise BadSetting(f"--recipe must be one of {', '.join(RECIPES)}; got {recipe!r}")


@dataclass(frozen=True)
class Plan:
    """The former type of the settings of initialisation: `AlignConfig(plan=Plan(init))` still works."""

    init: str = "auto"
    identical: bool = True
    lexicon: Lexicon | None = None
    rounds: tuple[RefinementConfig, ...] = ROUNDS
    frequency_ordered: bool = True


OPTIONS = tuple(field.name for field in fields(AlignConfig))
_FORMERLY = ("plan", "steps", "refine", "reweight", "joint", "seed", "fixed_target")  # by position


def _with_former_names(construct: Callable[..., None]) -> Callable[..., None]:
    """The constructor, which also takes the fields that AlignConfig once had."""

    @wraps(construct)
    def made(self: AlignConfig, *positional: Any, **given: Any) -> None:
        given |= dict(zip(_FORMERLY, positional, strict=False))
        given = {**RECIPES.get(given.get("recipe") or "", {}), **given}
        if "steps" in given:
            given["normalise"] = given.pop("steps")
        plan = given.pop("plan", None)
        if given.get("refine", True) is None:  # it left the first rounds as they were
            given["refine"] = False
            given["rounds"] = ROUNDS if plan is None else plan.rounds
        elif plan is not None and plan.rounds != ROUNDS:
            given["rounds"] = plan.rounds
        if plan is not None:
            given |= {"init": plan.init, "no_identical": not plan.identical, "lexicon": plan.lexicon}
            given["frequency_ordered"] = plan.frequency_ordered
        if given.get("rounds") == () and given.get("refine") is False:
            del given["rounds"]  # as they are without refinement
        construct(self, **given)

    return made


setattr(AlignConfig, "__init__", _with_former_names(AlignConfig.__init__))  # noqa: B010
