"""The tools of store.py: muse as Python runs it, and maps as other programs fit them to pairs.

procrustes   The rotation between unit rows, as Isotrieve's and Drift-Adapter's; for two dimensions it is
             semi-orthogonal.
ridge        Ridge regression with an intercept on unit rows, its penalty by generalised cross-validation over
             25 from 0.001 to 1,000: Isotrieve 0.4.0 (RidgeMapping).
low-rank     The low-rank affine map of Drift-Adapter (Vejendla, 2025), of rank 64 and with an intercept, in
             closed form (reduced-rank regression) rather than by gradient descent.
peer         mini-vec2vec 0.1.2 (Dar, 2025) with its defaults, without pairs; the package must be installed.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import muse
from muse.normalise import normalise
from muse.space.store_projection import map_into_store
from muse.vectors import Matrix

RANK = 64
PENALTIES = np.logspace(-3, 3, 25)


class Given(NamedTuple):
    """Source rows (p, d) of the pairs and their places (p,) in the store (n, e); other source rows (m, d)."""

    left: Matrix
    right: NDArray[np.int64]
    others: Matrix
    store: Matrix


Found = tuple[Matrix, Matrix, str]  # mapped queries, the rows to look them up among, and what was chosen
Tool = Callable[[Given, Matrix, int], Found]


def _unit(rows: Matrix) -> NDArray[np.float64]:
    return normalise(rows, ["unit"])[0].astype(np.float64)


def by_procrustes(given: Given, queries: Matrix, seed: int) -> Found:
    """The rotation of the pairs."""
    left, _, right = np.linalg.svd(_unit(given.left).T @ _unit(given.store[given.right]), full_matrices=False)
    return (_unit(queries) @ left @ right).astype(np.float32), given.store, ""


def _affine(rows: Matrix) -> NDArray[np.float64]:
    return np.concatenate([_unit(rows), np.ones((len(rows), 1))], axis=1)


def by_ridge(given: Given, queries: Matrix, seed: int) -> Found:
    """Ridge regression with an intercept."""
    from sklearn.linear_model import RidgeCV

    model = RidgeCV(alphas=PENALTIES, fit_intercept=False)
    model.fit(_affine(given.left), _unit(given.store[given.right]))
    return model.predict(_affine(queries)).astype(np.float32), given.store, f"{model.alpha_:.3g}"


def by_low_rank(given: Given, queries: Matrix, seed: int) -> Found:
    """Reduced-rank regression with an intercept, with the penalty that ridge regression chooses.

    Of centred rows cross-validation would choose none where they are fewer than their dimensions.
    """
    from sklearn.linear_model import Ridge, RidgeCV

    x, y = _unit(given.left), _unit(given.store[given.right])
    chosen = RidgeCV(alphas=PENALTIES, fit_intercept=False).fit(_affine(given.left), y).alpha_
    model = Ridge(alpha=chosen).fit(x, y)
    middle = y.mean(axis=0)
    _, _, directions = np.linalg.svd(model.predict(x) - middle, full_matrices=False)
    kept = directions[: min(RANK, len(directions))]
    mapped = (model.predict(_unit(queries)) - middle) @ kept.T @ kept + middle
    return mapped.astype(np.float32), given.store, f"{chosen:.3g}"


def by_peer(given: Given, queries: Matrix, seed: int) -> Found:
    """mini-vec2vec: both sides padded to equal dimensions and centred, as it does."""
    from mini_vec2vec import MiniVec2Vec

    source, store, asked = given.others, given.store, queries
    width = max(source.shape[1], store.shape[1])
    source, store, asked = (
        np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in (source, store, asked)
    )
    learned = MiniVec2Vec().fit(source, store, random_seed=seed, verbose=False)
    mapped = _unit(asked - source.mean(axis=0)) @ learned.W
    return mapped.astype(np.float32), (store - store.mean(axis=0)).astype(np.float32), ""


def by_muse(given: Given, queries: Matrix, seed: int) -> Found:
    """Muse on the store and all source rows, its dictionary the pairs, by their places."""
    rows = np.concatenate([given.left, given.others])
    with tempfile.TemporaryDirectory() as folder:
        pairs, more = Path(folder, "pairs.tsv"), dict[str, Any]()
        if len(given.left):
            lines = (f"{place}\t{row}\n" for place, row in enumerate(given.right.tolist()))
            pairs.write_text("".join(lines), encoding="utf-8")
            more = {"dictionary": pairs, "init": "dictionary"}
        space = muse.align(
            "new", "old", src_emb=rows, tgt_emb=given.store, out=Path(folder, "space"), seed=seed, quiet=True,
            **more,
        )  # fmt: skip
        supervision = space.manifest.supervision
        into_store = None if supervision is None else supervision.fields.get("into_store")
        chosen = space.manifest.method if into_store is None else into_store["chosen"]
        return map_into_store(space, "new", queries, "old"), given.store, chosen


TOOLS: dict[str, Tool] = {
    "procrustes": by_procrustes, "ridge": by_ridge, "low-rank": by_low_rank, "peer": by_peer, "muse": by_muse,
}  # fmt: skip
