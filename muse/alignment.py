"""Alignment: the linear maps of both languages into the shared space, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muse.vectors import Matrix


@dataclass(frozen=True, eq=False)
class Alignment:
    """The linear maps that bring source and target words into one space.

    `source_map` and `target_map` are (d, d) float32 and act on rows: x W^T.
    `target_map` is None if the target space does not change (every orthogonal alignment).
    `method` names the initialisation and, after a colon, its variant; `criterion` is the unsupervised
    criterion, NaN if unknown.
    """

    source_map: Matrix
    target_map: Matrix | None = None
    method: str = ""
    criterion: float = float("nan")

    @property
    def init(self) -> str:
        """The initialisation, without its variant: gromov for gromov:length."""
        return self.method.split(":")[0]

    @property
    def orthogonality_defect(self) -> float:
        """The largest entry of |W W^T - I| of the source map; 0 for a rotation.

        >>> Alignment(np.eye(3, dtype=np.float32)).orthogonality_defect
        0.0
        """
        gram = self.source_map.astype(np.float64) @ self.source_map.T.astype(np.float64)  # (d, d)
        return float(np.abs(gram - np.eye(len(gram))).max())
