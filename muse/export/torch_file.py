"""Lookup tables for the encoder and the decoder of a translation model, as one file that torch loads.

The file is a dictionary of tensors, lists and plain values: `torch.load(path, weights_only=True)`. It has
`encoder` and `decoder`, each with `names` (v units), `weight` (v, d) float32, `origin` (v,) uint8,
`padding_idx` and `languages`; and `shared`, `specials`, `origins` (the meaning of the numbers of `origin`),
`fallback` and `version`. In a shared file both are the same tensor, which is stored once. The units are the
words of the space, or those of a vocabulary file, one a line, in the order of the other system's embedding
table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from muse.errors import BadSetting, Contradiction
from muse.export.vocabulary import numbered_vocabulary
from muse.files.writing import check_binary_name, check_place, replaced
from muse.progress import Progress
from muse.space import Space
from muse.space.lookup_table import ORIGINS, SPECIALS, LookupTable, lookup_table, words_of

VERSION = 1


@dataclass(frozen=True)
class TableConfig:
    """The contents of a table: see `muse.space.lookup_table.lookup_table`.

    `vocabularies` are files with a unit a line: none (the words of the space), one for both tables,
    or one for each. `max_vocab` limits the words of the space, not a vocabulary.
    """

    shared: bool = False
    vocabularies: tuple[Path, ...] = ()
    specials: tuple[str, ...] = SPECIALS
    fallback: str = "mean"
    max_vocab: int | None = None

    def __post_init__(self) -> None:
        if len(self.vocabularies) > (1 if self.shared else 2):
            raise Contradiction(
                "--vocab may be given once for each table, got it "
                f"{len(self.vocabularies)} times for {'one shared table' if self.shared else 'two tables'}"
            )
        if self.vocabularies and self.max_vocab is not None:
            raise Contradiction("--vocab and --max-vocab exclude each other, got both; omit one")


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of encoder and decoder, the same object if shared, and the languages of each."""

    encoder: LookupTable
    decoder: LookupTable
    languages: Mapping[str, list[str]]

    @property
    def shared(self) -> bool:
        """Whether encoder and decoder share one table."""
        return self.encoder is self.decoder

    def as_json(self) -> dict[str, Any]:
        """The units, dimension and origins of rows of each side, for JSON."""
        described = {
            side: {
                "languages": self.languages[side], "units": len(table.names),
                "dimension": table.weight.shape[1], "padding_idx": table.padding, "rows": table.counts,
            }
            for side, table in (("encoder", self.encoder), ("decoder", self.decoder))
        }  # fmt: skip
        return {"shared": self.shared, "tables": described}


def export_torch(
    space: Space, out: Path, *, languages: tuple[str, ...], config: TableConfig,
    rng: np.random.Generator, progress: Progress | None = None,
) -> Tables:  # fmt: skip
    """The tables of `languages`, which are written atomically to `out`.

    Separate tables are for two languages, the encoder's and the decoder's; a shared one for any number.
    Tables are in memory until they are written: 4 d bytes a unit.
    """
    if out.suffix == ".gz":
        raise BadSetting(f"{out}: torch does not read compressed files; choose a name without .gz")
    check_binary_name(out, "tables", ".pt", ".pth", ".bin")
    if not config.shared and len(languages) != 2:
        raise BadSetting(f"separate tables need two languages, got {', '.join(languages)}")
    check_place(out)
    vocabularies = [numbered_vocabulary(path) for path in config.vocabularies]
    progress = progress or Progress(quiet=True)

    def table(of: Sequence[str], which: int) -> LookupTable:
        sides = [space.vectors(language) for language in of]
        names, numbered = vocabularies[min(which, len(vocabularies) - 1)] if vocabularies else (None, False)
        specials = config.specials
        if names is not None and numbered and specials == SPECIALS:  # a row before them would be in the way
            specials = tuple(one for one in specials if one in names)
        with progress.stage(f"pieces of words ({out.name})", sum(map(len, sides)), "words") as tick:
            return lookup_table(
                sides, words_of(sides, config.max_vocab, but=config.specials) if names is None else names,
                specials=specials, fallback=config.fallback, rng=rng, show=tick,
            )  # fmt: skip

    sides = [languages] if config.shared else [languages[:1], languages[1:]]
    made = [table(of, which) for which, of in enumerate(sides)]
    contents = [_content(one, of) for one, of in zip(made, sides, strict=True)]
    found = {
        "version": VERSION, "shared": config.shared, "specials": list(config.specials),
        "origins": list(ORIGINS), "fallback": config.fallback,
        # torch saves the same object once.
        "encoder": contents[0], "decoder": contents[-1],
    }  # fmt: skip
    with replaced(out) as stream:
        torch.save(found, stream)
    return Tables(made[0], made[-1], {"encoder": [*sides[0]], "decoder": [*sides[-1]]})


def _content(table: LookupTable, languages: Sequence[str]) -> dict[str, Any]:
    return {
        "names": list(table.names), "weight": torch.from_numpy(table.weight),
        "origin": torch.from_numpy(table.origin), "padding_idx": table.padding, "languages": [*languages],
    }  # fmt: skip
