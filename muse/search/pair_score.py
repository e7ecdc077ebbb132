"""Scores of pairs: the similarity of a sentence and its candidate relative to their other neighbours.

With r(x) the mean cosine of x to its k nearest rows of the other side, and r(y) likewise,

* nn      cos(x, y)
* csls    2 cos(x, y) - r(x) - r(y)          (Conneau et al., 2018, eq. 3)
* margin  cos(x, y) / ((r(x) + r(y)) / 2)    (the ratio margin of Artetxe & Schwenk, 2019, eq. 2)
* isf     cos(x, y) - log sum_x' exp(beta cos(x', y)) / beta    (Smith et al., 2017, eq. 9)

Unlike the scores of muse.search.retrieval, a ratio is not an inner product with a bias: scores are computed
from cosines, one term for each row and one for each column. Sources (n, d) and targets (m, d) have unit
length.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from muse.errors import BadSetting
from muse.search.exact import check_neighbourhood
from muse.search.retrieval import log_partition, mean_similarity

METHODS = ("csls", "nn", "isf", "margin")
FLOOR = 1e-6  # of a mean cosine: with 0 or less there is no ratio, or one of the wrong sign


@dataclass(frozen=True)
class PairScore:
    """How pairs are scored: the method, the size k of neighbourhoods, the softmax' beta.

    >>> str(PairScore("margin")), str(PairScore("csls", k=10)), str(PairScore("nn"))
    ('margin:4', 'csls:10', 'nn')
    """

    method: str = "margin"
    k: int = 4
    beta: float = 30.0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise BadSetting(
                f"a score of sentence pairs must be one of {', '.join(METHODS)}; got {self.method!r}"
            )
        check_neighbourhood(self.k)

    def __str__(self) -> str:
        """The part of a signature that names it: margin:4, csls:4, nn or isf:30."""
        size = {"nn": "", "isf": f":{self.beta:g}"}.get(self.method, f":{self.k}")
        return f"{self.method}{size}"

    def sides(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """The terms of each source row (n,) and each target row (m,) in the score of its pairs."""
        none = source.new_zeros(len(source)), source.new_zeros(len(target))
        if self.method == "nn":
            return none
        if self.method == "isf":
            return none[0], log_partition(target, source, beta=self.beta) / self.beta
        return mean_similarity(source, target, k=self.k), mean_similarity(target, source, k=self.k)

    def score(self, cosines: Tensor, own: Tensor, other: Tensor) -> Tensor:
        """The scores of pairs with these cosines; `own` and `other` are the terms of `sides`.

        All three have one shape, or shapes that broadcast: (b, m), (b, 1) and (m,).
        """
        if self.method == "nn":
            return cosines
        if self.method == "csls":
            return 2 * cosines - own - other
        if self.method == "margin":
            return cosines / ((own + other) / 2).clamp_min(FLOOR)
        return cosines - other
