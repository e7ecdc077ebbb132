"""The refinements of a run: those of every initial mapping, and that of the best."""

from muse.learn.refine import FIRST_ROUNDS, PLAIN, RefineConfig
from muse.learn.settings import AlignConfig
from muse.learn.transport import TransportConfig

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
BY_NAME = {"full": RefineConfig(), "plain": PLAIN}


def refinement(config: AlignConfig) -> RefinementConfig | None:
    """The refinement of the best candidate; None: none."""
    if isinstance(config.refine, bool):
        return None  # which True never stays
    if not config.frequency_ordered:
        return REFINE_ROWS
    return BY_NAME[config.refine] if isinstance(config.refine, str) else config.refine


def refines_plainly(config: AlignConfig) -> bool:
    """Whether refinement is the paper's, which an initial mapping goes into as it is."""
    found = refinement(config)
    return isinstance(found, RefineConfig) and found.plain


def first_rounds(config: AlignConfig) -> tuple[RefinementConfig, ...]:
    """The refinements of an initial mapping; none without refinement, unless they are given."""
    if not config.frequency_ordered:
        wanted = bool(config.refine) if config.rounds is None else bool(config.rounds)
        return ROUNDS_OF_ROWS if wanted else ()
    if config.rounds is None:
        return ROUNDS if config.refine and not refines_plainly(config) else ()
    return config.rounds
