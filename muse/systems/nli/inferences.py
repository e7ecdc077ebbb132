"""Inferences: labelled pairs from a file of natural language inference, as training examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader, Reading
from muse.errors import Contradiction, Mismatch
from muse.files.nli import Inference, read_nli
from muse.progress import Progress
from muse.systems.nli.pair_classes import LabelledPairs
from muse.systems.system import Job
from muse.training.pairs import read_text

_ROWS = 256  # held-out pairs classified at once


@dataclass(frozen=True, eq=False)
class Inferences:
    """Premises and hypotheses, their labels (p,), and the indices of training and held-out (dev) rows.

    `skipped` pairs have no known word on one side, `truncated` sentences were cut, and `undecided` pairs have
    no label.
    """

    language: str
    first: Ragged
    second: Ragged
    labels: Tensor
    train: Tensor
    dev: Tensor
    skipped: int
    truncated: int
    undecided: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """The counts to report."""
        left_out = {name: getattr(self, name) for name in ("skipped", "truncated", "undecided")}
        return {"pairs": len(self), **left_out}

    @property
    def languages(self) -> tuple[str, str]:
        """The language of the premises and that of the hypotheses, which are the same."""
        return self.language, self.language

    def __len__(self) -> int:
        return len(self.train)

    def training(self, rows: Tensor, generator: torch.Generator) -> LabelledPairs:
        """The training pairs with these numbers (b,)."""
        return self._pairs(self.train[rows])

    def held_out(self) -> Iterator[LabelledPairs]:
        """The pairs of the file's dev part."""
        return map(self._pairs, torch.split(self.dev, _ROWS))

    def _pairs(self, rows: Tensor) -> LabelledPairs:
        return LabelledPairs(self.first.take(rows), self.second.take(rows), self.labels[rows])


class Readers(Protocol):
    """A core or a network: all that reads sentences."""

    def reader(self, language: str) -> Reader:
        """The reader of a language."""


def read_inferences(job: Job, readers: Readers) -> Inferences:
    """The inferences of a request in its language, as a core or a network reads them."""
    path, language, runtime = job.request.nli, job.request.language, job.runtime
    if path is None:
        raise Contradiction("training on inferences needs --nli to train on, got none; add it")
    reader = readers.reader(language)
    return make_inferences(read_nli(path), reader, language, device=runtime.device, progress=runtime.progress)


def make_inferences(
    text: Inference, reader: Reader, language: str, *, device: str, progress: Progress
) -> Inferences:
    """The train and dev parts of a file; Mismatch if too few of their pairs have known words."""
    read = [read_text(side, reader, progress) for side in (text.premises, text.hypotheses)]
    return inferences_of(text, read, language, device)


def inferences_of(text: Inference, read: Sequence[Reading], language: str, device: str) -> Inferences:
    """The train and dev parts of a file whose premises and hypotheses were read already."""
    usable = torch.logical_and(*(side.sentences.lengths > 0 for side in read)).numpy()  # (p,)
    parts, labels = np.array(text.parts), np.array(text.labels, np.int64)
    train, dev = (np.flatnonzero(usable & (parts == part)) for part in ("train", "dev"))
    if len(train) < 2 or not len(dev):
        raise Mismatch(
            f"training needs at least two train pairs and one dev pair with known {language} "
            f"{read[0].unit}s in both sentences, got {len(train)} and {len(dev)} of {len(parts)} pairs; "
            "check --lang and the file"
        )
    first, second = (side.sentences.to(device) for side in read)
    classes, train_rows, dev_rows = (torch.from_numpy(array).to(device) for array in (labels, train, dev))
    return Inferences(
        language,
        first,
        second,
        classes,
        train_rows,
        dev_rows,
        skipped=int(np.count_nonzero(~usable & (parts != "test"))),
        truncated=sum(side.truncated for side in read),
        undecided=text.undecided,
    )
