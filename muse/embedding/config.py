"""The settings of word vectors trained on text, which are options of `muse embed`."""

from typing import Any

from muse.errors import BadSetting
from muse.options import Seed, Threads, ValueKind, option, options_of

TOKENS_TO_READ = 30_000_000  # in all, as far as EPOCHS allow: little text must be read more often
MAX_SETTING = 1_000_000_000  # fastText's numbers have 32 bits
NUMBERS = ("dim", "epochs", "window", "negatives", "min_count", "max_vocab")
EPOCHS = (5, 15)  # at least, at most
BUCKETS = (500_000, 2_000_000)  # fastText has 2,000,000, which take 2.4 GB in 300 dimensions
LONG = 100  # as muse.files.vectors.fasttext.LONG, which help need not load


def _lengths(value: Any) -> tuple[int, int]:
    """The shortest and the longest; a ValueError for what is no range."""
    shortest, longest = map(int, value.split("-") if isinstance(value, str) else value)
    return shortest, longest


NGRAMS = ValueKind(
    "MIN-MAX, such as 3-6", tuple, _lengths, shown=lambda ends: "-".join(map(str, ends)), metavar="MIN-MAX",
    listed=True,
)  # fmt: skip


class EmbedConfig(Seed, Threads):
    """How text is read, and the settings of fastText's skip-gram (Bojanowski et al., 2017).

    `epochs` None: the shorter the text, the more. With one thread, as with None, the same text, seed and
    settings give the same vectors; with several they give similar ones, since threads race for the same rows.
    """

    max_vocab: int = option(200_000, section="Output", help="Write the N most frequent words.")
    terms: bool = option(
        False, section="Output", package="terms",
        help="Add units of several words that stand in the text, such as pomme_de_terre, behind the words: "
        "their vectors are made of their contexts and parts.",
    )  # fmt: skip
    dim: int = option(300, section="Learning", help="Number of dimensions.")
    epochs: int | None = option(
        None, section="Learning", least=1,
        help="Number of passes over the text.  [default: 5 to 15, more if it is short]",
    )  # fmt: skip
    min_count: int = option(5, section="Learning", help="Leave out words that occur less often.")
    keep_case: bool = option(
        False, section="Learning", help="Keep capitals; by default, words are lowercased."
    )
    window: int = option(5, section="Advanced", help="Words of context on either side.")
    negatives: int = option(10, section="Advanced", help="Negatives for each example.")
    ngrams: tuple[int, int] = option(
        (3, 6), section="Advanced", kind=NGRAMS, help="Lengths of subwords; 0-0: none."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, one in options_of(EmbedConfig).items():
            value = getattr(self, name)
            if name in NUMBERS and value is not None and not 1 <= value <= MAX_SETTING:
                raise BadSetting(f"{one.flag} must be at least 1 and at most {MAX_SETTING:,}, got {value}")
        shortest, longest = self.ngrams
        if not 0 <= shortest <= longest < LONG:
            raise BadSetting(
                f"--ngrams must be MIN-MAX with MIN at most MAX, and MAX below {LONG}; "
                f"got {shortest}-{longest}"
            )

    def buckets(self, tokens: int) -> int:
        """The number of rows that n-grams share, in a text of this number of tokens."""
        return 0 if self.ngrams[1] == 0 else BUCKETS[tokens > TOKENS_TO_READ]

    def epochs_for(self, tokens: int) -> int:
        """The number of times that a text of this number of tokens is read."""
        if self.epochs is not None:
            return self.epochs
        return min(max(EPOCHS[0], round(TOKENS_TO_READ / max(tokens, 1))), EPOCHS[1])
