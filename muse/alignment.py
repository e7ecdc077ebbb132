"""Alignment: the linear maps of both languages into the shared space, and how they were found.

Where the target is a store of rows that do not change, queries may have a map of their own into it
(`StoreMap`).
"""

from dataclasses import dataclass

import numpy as np

from muse.vectors import Matrix

BLOCK = 4_096  # rows whose hidden units are in memory at once


@dataclass(frozen=True, eq=False)
class HiddenLayer:
    """Units max(U x + b, 0) of rows x, and what they add, V times these: U (h, d), b (h,), V (k, h)."""

    inner: Matrix
    bias: Matrix
    outer: Matrix

    def __call__(self, rows: Matrix) -> Matrix:
        """What is added (n, k) for rows (n, d), block by block: there are more units than dimensions."""
        found = np.empty((len(rows), len(self.outer)), np.float32)
        for begin in range(0, len(rows), BLOCK):
            units = rows[begin : begin + BLOCK] @ self.inner.T  # (b, h)
            units += self.bias
            found[begin : begin + BLOCK] = np.maximum(units, 0, out=units) @ self.outer.T
        return found


@dataclass(frozen=True, eq=False)
class StoreMap:
    """What maps normalised queries (n, d) among the normalised rows (m, k) of a target that does not change.

    `weight` is (k, d), and `hidden` units may add to the product.
    """

    weight: Matrix
    hidden: HiddenLayer | None = None

    def __call__(self, rows: Matrix) -> Matrix:
        """The mapped rows (n, k), whose lengths mean nothing; zeros stay zeros."""
        found = rows @ self.weight.T
        if self.hidden is not None:
            found += self.hidden(rows) * rows.any(axis=1, keepdims=True)
        return found


@dataclass(frozen=True, eq=False)
class Alignment:
    """The linear maps that bring source and target words into one space.

    `source_map` (k, d_source) and `target_map` (k, d_target) are float32 and act on rows: x W^T. k is the
    dimension of the shared space: that of the target if it does not change, `target_map` None.
    `store_map` is for queries of the source among the rows of a target that does not change.
    `method` names the initialisation and, after a colon, its variant; for a detour, the language it goes over
    and the methods of both steps: via fr: gromov:rank + identical. `criterion` is the unsupervised criterion,
    NaN if unknown.
    """

    source_map: Matrix
    target_map: Matrix | None = None
    method: str = ""
    criterion: float = float("nan")
    store_map: StoreMap | None = None

    @property
    def init(self) -> str:
        """The initialisation, without its variant: gromov for gromov:length."""
        return self.inits[0]

    @property
    def inits(self) -> tuple[str, ...]:
        """The initialisations of all steps, without their variants; one unless the mapping is a detour.

        >>> Alignment(np.eye(3, dtype=np.float32), method="via fr: gromov:rank + identical").inits
        ('gromov', 'identical')
        """
        steps = self.method.split(" + ")
        return tuple(step.rpartition(": ")[2].split(":")[0] for step in steps)

    @property
    def orthogonality_defect(self) -> float:
        """The largest entry of |W W^T - I| of the source map, or of |W^T W - I| if it has fewer columns.

        It is 0 for a rotation, for a projection onto fewer dimensions, and for an embedding in more of them.

        >>> Alignment(np.eye(3, dtype=np.float32)).orthogonality_defect
        0.0
        """
        wide = self.source_map.astype(np.float64)
        wide = wide.T if wide.shape[0] > wide.shape[1] else wide  # no more rows than columns
        gram = wide @ wide.T
        return float(np.abs(gram - np.eye(len(gram))).max())
