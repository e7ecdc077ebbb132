"""Links on a cluster: pairs of sentences linked in parts, by what was learned of all on one machine."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from muse.cluster.parts import PartFolder
from muse.cluster.run import Make, Run
from muse.links.contextual import AT_ONCE, TokenEncoder
from muse.links.linker import LinkConfig, Linker
from muse.links.parallel import ParallelFiles, Words, splitters, tokenised
from muse.space import load_space

PAIRS = 16_384  # in a part


@dataclass(frozen=True)
class Linking:
    """The job of linking pairs of sentences, so many in a part.

    Space, text, encoder and parts are on a disk that all machines share.
    """

    space: Path
    pairs: ParallelFiles
    words: Words
    dictionary: tuple[tuple[str, str], ...]
    encoder: Path | None
    config: LinkConfig
    parts: PartFolder
    size: int

    @property
    def table(self) -> Path:
        """What was learned from the text."""
        return self.parts.stage("table", 1).folder / "counts.npz"

    def begin(self) -> Make:
        """A function that links the pairs of a part."""
        space, direction = load_space(self.space, check=False), self.pairs.languages
        split, encoder = splitters(self.pairs, self.words, space), None
        if self.encoder is not None:
            encoder = TokenEncoder(space, direction, self.encoder)
            # What is usual in a language is what is in the first sentences, as on one machine.
            first = tokenised(islice(self.pairs, AT_ONCE), split)
            encoder.log_odds([(one.tokens, two.tokens) for one, two in first])
        linker = Linker(space, direction, dictionary=self.dictionary, config=self.config, encoder=encoder)
        linker.load(self.table)

        def link(number: int) -> None:
            rows = range(number * self.size, (number + 1) * self.size)
            text = [*tokenised(islice(self.pairs, rows.start, rows.stop), split)]
            found = linker.link([(one.tokens, two.tokens) for one, two in text])
            every = [*zip(rows, text, found, strict=False)]
            kept = [one for one in every if self.config.keeps(one[-1].score)]
            self.parts.write(number, {
                "row": np.array([row for row, _, _ in kept], np.int64),
                "source": [one.text for _, (one, _), _ in kept],
                "target": [two.text for _, (_, two), _ in kept],
                "links": [links.pharaoh(probabilities=True) for *_, links in kept],
                "score": np.array([links.score for *_, links in kept], np.float32),
            }, {
                "sentences": len(text), "links": sum(map(len, found)), "left_out": len(text) - len(kept),
                "empty": sum(not (one.tokens and two.tokens) for one, two in text),
            })  # fmt: skip

        return link


def link_on_cluster(job: Linking, learned: Callable[[], Linker], run: Run) -> dict[str, Any]:
    """The counts of linking a text in parts with the columns row, source, target, links and score.

    `learned` gives the linker that has learned from the text.
    """
    with run.begun(job.parts.count) as site:
        if site.parts.missing():
            if not job.table.exists():
                learned().save(job.table)
            site.make("parts of the text", site.parts, job.begin)
        counts = site.parts.counts()
        del counts["rows"]
        return site.finish(**counts, parts=job.parts.count)
