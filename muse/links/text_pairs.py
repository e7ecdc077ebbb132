"""Files of sentence pairs, given or mined, and the links of their words by a space."""

from collections.abc import Iterator
from pathlib import Path

from muse.errors import BadFile
from muse.files.plain_text import read_lines
from muse.links.linker import MOST_WORDS, Linker
from muse.links.links import Links, TokenPair
from muse.space import Space
from muse.text.tokens import Tokeniser
from muse.text.written import written_tokens


def linked_text(space: Space, direction: tuple[str, str], path: Path) -> Iterator[tuple[TokenPair, Links]]:
    """The tokens of each sentence pair in a file, and their links by the space and by all of the text."""
    tokenisers = [Tokeniser(language, space.vectors(language).index) for language in direction]
    pairs: list[TokenPair] = []
    for lines in read_text_pairs(path):
        source, target = (
            [token.text for token in written_tokens(own, line)]
            for own, line in zip(tokenisers, lines, strict=True)
        )
        if max(len(source), len(target)) <= MOST_WORDS:  # what is longer is no sentence
            pairs.append((source, target))
    linker = Linker(space, direction)
    linker.learn(lambda: pairs, rounds=1)
    yield from zip(pairs, linker.link(pairs), strict=True)


def read_text_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """The sentence pairs of a file, `source TAB target` or, as mined, `score TAB source TAB target`."""
    for number, line in enumerate(read_lines(path), 1):
        parts = line.split("\t")
        if len(parts) not in (2, 3):
            raise BadFile(
                f"{path}:{number}: expected source<TAB>target, or a score before them, got {len(parts)} "
                f"columns: {line[:60]!r}; separate the sentences by a tab"
            )
        yield parts[-2], parts[-1]
