"""The settings of a run of `muse align`, in one type from the command line and Python to the last stage.

A field is declared as an option, once: its help says what it is. The last fields are found by the run. This
imports nothing that is slow to load, since help reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muse.errors import BadSetting
from muse.held_vectors import HeldVectors, held_vectors, is_words_and_rows
from muse.learn.initialise import INITIALISATIONS
from muse.options import (
    DICTIONARY_FORMS,
    Backend,
    DictionaryForm,
    RunOptions,
    Seed,
    ValueKind,
    option,
    path,
)

if TYPE_CHECKING:
    from muse.learn.refine import RefineConfig
    from muse.learn.transport import TransportConfig
    from muse.lexicon import Lexicon

NO_PIVOT = "--tgt LANG or --into SPACE is needed, got neither"
NORMALISATIONS = ("unit", "centre")  # as muse.normalise.STEPS, which help need not load
INITIALISATIONS_OF_ROWS = ("auto", "clusters", "gromov", "adversarial", "dictionary")  # that need no words
EXTERNAL = "what others know of translations"  # a group of options
# When an option may be given.
ONE_SOURCE, OWN_TARGET = "with one --src", "without --into"


VectorSource = Path | HeldVectors


def _vectors(value: Any) -> VectorSource:
    """A path, or the vectors that an object holds; a TypeError for all else."""
    return path(value) if isinstance(value, str | PathLike) else held_vectors(value)


@dataclass(frozen=True, eq=False)
class HeldPairs:
    """An object that holds pairs, which the run reads: a frame has no truth that checks could compare."""

    pairs: Any

    def __str__(self) -> str:
        """What messages call it."""
        return "the dictionary"


def _pairs(value: Any) -> Path | HeldPairs:
    """A path, or an object with pairs; a TypeError for what has no parts."""
    if isinstance(value, str | PathLike):
        return path(value)
    if not isinstance(value, Iterable) and not hasattr(value, "pairs"):
        raise TypeError
    return HeldPairs(value)


def _is_one_source(value: Any) -> bool:
    """Whether this is a path or an object with vectors, and not several of them."""
    return not isinstance(value, list | tuple | Iterator) or is_words_and_rows(value)


def _steps(value: Any) -> tuple[str, ...]:
    """Steps of normalisation, as a string with commas between them or several strings; none of them is ()."""
    steps = [one.strip() for one in value.split(",")] if isinstance(value, str) else [*value]
    if any(step not in NORMALISATIONS for step in steps) and steps != ["none"]:
        raise ValueError
    return () if steps == ["none"] else tuple(steps)


def _refinement(value: Any) -> Any:
    """`full`, which is True; `plain`; False; or the settings of a refinement."""
    if is_dataclass(value):
        return value
    if value not in (True, False, "full", "plain"):
        raise ValueError
    return "full" if value is True else value


VECTORS = ValueKind(
    "a path, an array of n rows of d real numbers, or an object with words and vectors (the words with such "
    "an array, a dict, KeyedVectors, a DataFrame indexed by words, a spaCy pipeline, muse's own Vectors)",
    str | PathLike | Any, _vectors, typed=Path, metavar="FILE", is_one=_is_one_source,
)  # fmt: skip
PAIRS = ValueKind(
    "a path, pairs of words, a dict, a DataFrame with the columns source and target, or a Lexicon",
    str | PathLike | Any, _pairs, typed=Path, metavar="FILE", is_one=lambda _: True,
)  # fmt: skip
STEPS = ValueKind(
    f"steps among {', '.join(NORMALISATIONS)}, or none", str | tuple, _steps,
    shown=lambda steps: ",".join(steps) or "none", metavar="STEPS", listed=True,
)  # fmt: skip
REFINEMENT = ValueKind("True, False, full or plain", bool | str, _refinement)


class AlignConfig(Seed, Backend, DictionaryForm):
    """The settings of a run: what to align, from which files, how, and where to save it."""

    src: tuple[str, ...] = option(
        (), section="Input", metavar="LANG", positional=True, checkpoint=True,
        help="Language to map; repeat it to map several into one space.",
    )  # fmt: skip
    tgt: str | None = option(
        None, section="Input", metavar="LANG", positional=True, checkpoint=True,
        help="Language to map into (the pivot). Its vectors are never rotated.",
    )  # fmt: skip
    into: Path | None = option(
        None, section="Input", metavar="SPACE", grows=True,
        help="Instead of --tgt: add --src to this saved space, without changing the languages in it.",
    )  # fmt: skip
    src_emb: tuple[VectorSource, ...] = option(
        (), section="Input", kind=VECTORS,
        help="Word vectors of --src, in the same order: a file, or a spaCy pipeline's name, folder or "
        "wheel.  [default: found in embeddings/]",
    )  # fmt: skip
    tgt_emb: VectorSource | None = option(
        None, section="Input", kind=VECTORS, only=OWN_TARGET,
        help="Word vectors of --tgt.  [default: found in embeddings/]",
    )  # fmt: skip
    src_text: tuple[Path, ...] = option(
        (), section="Input", package="embedding",
        help="Instead of --src-emb: texts of --src, in the same order, on which muse embed trains "
        "embeddings/LANG.vec first.",
    )  # fmt: skip
    tgt_text: Path | None = option(
        None, section="Input", package="embedding",
        help="Instead of --tgt-emb: text, on which muse embed trains embeddings/LANG.vec first.",
    )  # fmt: skip
    src_corpus: tuple[Path, ...] = option(
        (), section="Input", package="terms",
        help="Texts of --src, in the same order, whose units of several words become entries of the space, "
        "beside those of --tgt-corpus: muse terms finds and translates them.",
    )  # fmt: skip
    tgt_corpus: Path | None = option(
        None, section="Input", package="terms", help="Text of --tgt of the same kind; no translation."
    )
    max_vocab: int | None = option(
        None, section="Input", least=1, recorded=True, compared=True, checkpoint=True,
        help="Read only the N most frequent words.",
    )  # fmt: skip
    lower: bool = option(
        False, section="Input", recorded=True, compared=True, checkpoint=True,
        help="Lowercase words; of words that become equal, keep the first.",
    )  # fmt: skip
    init: str = option(
        "auto", section="Learning", choices=INITIALISATIONS, presets={"muse": "adversarial-paper"},
        recorded=True, compared=True, checkpoint=True,
        help="Initialisation. auto tries gromov, features, identical strings and similarity until one is "
        "judged aligned; with a --dictionary of 2,000 source words or more, none. adversarial is slow and "
        "depends on --seed. clusters is for unlabelled vectors.",
    )  # fmt: skip
    no_identical: bool = option(
        False, section="Learning", recorded=True, compared=True, checkpoint=True,
        help="Do not let auto fall back on identical strings.",
    )  # fmt: skip
    dictionary: Path | HeldPairs | None = option(
        None, section="Learning", kind=PAIRS, only=ONE_SOURCE,
        help="Translations to learn from; --init dictionary skips the initialisations that need none.",
    )  # fmt: skip
    via: tuple[str, ...] = option(
        (), section="Learning", metavar="LANG", recorded=True, compared=True, checkpoint=True,
        help="If mapping --src directly fails, try going through this language too. Repeatable.",
    )  # fmt: skip
    via_emb: tuple[VectorSource, ...] = option(
        (), section="Learning", kind=VECTORS,
        help="Word vectors of --via, in the same order.  [default: found in embeddings/]",
    )  # fmt: skip
    joint: bool = option(
        False, section="Learning", recorded=True, compared=True, checkpoint=True,
        help="With several --src: refine all mappings jointly, if no pair of languages gets worse.",
    )  # fmt: skip
    encoder: Path | None = option(
        None, section="Help", package="embedding", metavar="FOLDER", only=ONE_SOURCE, group=EXTERNAL,
        recorded=True,
        help="A multilingual encoder that helps: the folder of a sentence-transformers, Hugging Face or "
        "model2vec model.",
    )  # fmt: skip
    encoder_template: str = option(
        "{word}", section="Help", package="embedding", metavar="TEXT", needs="encoder",
        recorded=True, compared=True, checkpoint=True, help="What the encoder reads for a word.",
    )  # fmt: skip
    encoder_emb: tuple[Path, ...] = option(
        (), section="Help", only=ONE_SOURCE, group=EXTERNAL, recorded=True,
        help="Comparable vectors of the words, made by any encoder: give it twice, for --src and for --tgt.",
    )  # fmt: skip
    help_from: Path | None = option(
        None, section="Help", metavar="SPACE", only=ONE_SOURCE, recorded=True,
        help="An aligned space of both languages, as of general text, that helps to align a special one: its "
        "surest translations of words that are in the vectors are learned from. It adds no words.",
    )  # fmt: skip
    evidence: Path | None = option(
        None, section="Help", only=ONE_SOURCE, group=EXTERNAL, recorded=True,
        help="Translations by another program, which may be wrong: source word, target word, score.",
    )  # fmt: skip
    text_pairs: Path | None = option(
        None, section="Help", package="links", only=ONE_SOURCE, recorded=True,
        help="Sentence pairs, a table of two columns or a TMX, maybe mined: how often words are linked in "
        "them helps to choose the answers.",
    )  # fmt: skip
    evidence_format: str | None = option(
        None, section="Help", choices=DICTIONARY_FORMS, metavar="NAME", needs="evidence",
        help="Format of --evidence, as --dictionary-format.  [default: recognised by its content]",
    )  # fmt: skip
    out: Path | None = option(
        None, section="Output", metavar="FOLDER", written=True,
        help="Folder for the space.  [default: embeddings/aligned/SRC-TGT, or --into]",
    )  # fmt: skip
    force: bool = option(
        False, section="Output",
        help="Replace a space that was made with other settings or inputs; one made with the same is "
        "replaced anyway.",
    )  # fmt: skip
    resume: bool = option(False, section="Output", help="Resume an interrupted run with the same settings.")
    recipe: str | None = option(
        None, section="Advanced", choices=("muse",), chooses=True, recorded=True, compared=True,
        help="The recipe of Conneau et al. (2018) in place of muse's own: --normalise none "
        "--init adversarial-paper --refine plain --no-reweight --answers csls --backend faiss. An option "
        "given beside it replaces that part. It takes hours on a CPU.",
    )  # fmt: skip
    normalise: tuple[str, ...] = option(
        ("unit", "centre", "unit"), section="Advanced", kind=STEPS, presets={"muse": ()},
        recorded=True, compared=True, checkpoint=True,
        help="Steps that normalise the vectors, in order: unit (length 1) and centre (mean 0); or none. "
        "Words are compared at unit length in any case.",
    )  # fmt: skip
    refine: bool | str | RefineConfig | TransportConfig = option(
        "full", section="Advanced", kind=REFINEMENT, choices=("full", "plain"), bare="full",
        off="--no-refine", presets={"muse": "plain"}, recorded=True, compared=True, checkpoint=True,
        help="Repeat Procrustes on induced word pairs: cross-fitted and weighted, or plain, as in the paper.",
    )  # fmt: skip
    reweight: bool | None = option(
        None, section="Advanced", off="--no-reweight", presets={"muse": False},
        recorded=True, compared=True, checkpoint=True,
        help="Weight dimensions by canonical correlation at the end, if that helps (one --src only and no "
        "--into: it changes the target).  [default: reweight if possible]",
    )  # fmt: skip
    answers: str = option(
        "all", section="Advanced", choices=("all", "csls"), presets={"muse": "csls"},
        recorded=True, compared=True,
        help="Choose translations by all evidence (spelling, frequency, both directions, pairs), or by CSLS "
        "alone, as in the papers.",
    )  # fmt: skip
    src_words: Path | None = option(
        None, section="Advanced", only=ONE_SOURCE,
        help="Words of --src, most frequent first, if their vectors are composed of n-grams: a spaCy "
        "pipeline in mode floret, or a fastText .bin.",
    )  # fmt: skip
    tgt_words: Path | None = option(
        None, section="Advanced", only=OWN_TARGET, help="Words of --tgt, if composed likewise."
    )
    src_captions: Path | None = option(
        None, section="Advanced", only=ONE_SOURCE,
        help="Texts to show beside the ids of --src, if these are unlabelled vectors: one a line, in their "
        "order.  [default: the column text or sentence of a .parquet]",
    )  # fmt: skip
    tgt_captions: Path | None = option(
        None, section="Advanced", only=OWN_TARGET, help="Texts to show beside the ids of --tgt."
    )
    src_column: str | None = option(
        None, section="Advanced", metavar="NAME", only=ONE_SOURCE, recorded=True, compared=True,
        checkpoint=True,
        help="The column, or the named vector, of --src to read, where several have vectors.",
    )  # fmt: skip
    tgt_column: str | None = option(
        None, section="Advanced", metavar="NAME", only=OWN_TARGET, recorded=True, compared=True,
        checkpoint=True, help="The column, or the named vector, of --tgt to read.",
    )  # fmt: skip
    src_id: str | None = option(
        None, section="Advanced", metavar="NAME", only=ONE_SOURCE, recorded=True, compared=True,
        checkpoint=True, help="The column with the ids of --src, where it is not called id or alike.",
    )  # fmt: skip
    tgt_id: str | None = option(
        None, section="Advanced", metavar="NAME", only=OWN_TARGET, recorded=True, compared=True,
        checkpoint=True, help="The column with the ids of --tgt.",
    )  # fmt: skip

    # What follows is found by the run.
    command: tuple[str, ...] = ()
    """The command line as it was given, which the space records; empty from Python."""
    rounds: tuple[RefineConfig | TransportConfig, ...] | None = None
    """The refinements of an initial mapping, in order, until it is aligned. None: the usual ones."""
    lexicon: Lexicon | None = None
    """The pairs of `dictionary`, once they are read."""
    scored: Lexicon | None = None
    """The pairs of `evidence`, once they are read."""
    pseudo_dictionary: Lexicon | None = None
    """The surest pairs by an encoder or another program, which may be wrong, once they are found."""
    frequency_ordered: bool = True
    """Whether the rows are of words, most frequent first; else they are in no order."""
    fixed_target: bool = False
    """Whether the shared space is the target's whatever its dimension, as for several languages."""

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
    def reweights(self) -> bool:
        """Whether dimensions are weighted at the end, if that helps."""
        return self.reweight is not False

    def into_fixed(self) -> AlignConfig:
        """The settings of a mapping into a space that does not move."""
        return replace(self, reweight=False, fixed_target=True)

    def for_unranked_rows(self) -> AlignConfig:
        """The settings for rows in no order; BadSetting for what needs words.

        Such rows have few pairs to weight dimensions by.
        """
        if self.init not in INITIALISATIONS_OF_ROWS:
            raise BadSetting(
                f"--init {self.init} needs words, most frequent first, got unlabelled vectors; choose one of "
                f"{', '.join(INITIALISATIONS_OF_ROWS[:-1])}"
            )
        if self.reweight:
            raise BadSetting("--reweight needs words, got unlabelled vectors; leave it out")
        return replace(self, frequency_ordered=False, reweight=False)

    def without_pairs(self) -> AlignConfig:
        """The settings for two languages without known translations."""
        if self.lexicon is None and self.pseudo_dictionary is None:
            return self
        return replace(
            self, init=self.init if self.lexicon is None else "auto", lexicon=None, pseudo_dictionary=None
        )


class AlignOptions(AlignConfig, RunOptions):
    """The options of `muse align` and `muse.align`."""
