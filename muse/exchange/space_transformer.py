"""Space transformer: the rows of a model in the shared space of a saved one, as a step of scikit-learn."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from muse.errors import BadSetting, Mismatch
from muse.normalise import Normalisation
from muse.space import load_space
from muse.space.saving import mapped
from muse.vectors import Matrix


class SpaceTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Maps the raw rows (n, d) of a model to rows (n, k) of unit length in the space that `muse align` saved.

    `space` is the folder of the space and `language` the name that the model has in it. What is learned from
    one model's rows then works on another's: a classifier, clusters, an index. `fit` reads the space and
    learns nothing from the rows; it sets `n_features_in_`, the `mapping_` (k, d) and the `normalisation_`.
    Arrays are checked as in all of scikit-learn, with its errors.
    """

    def __init__(self, space: Path | str, language: str) -> None:
        self.space = space
        self.language = language

    def fit(self, X: Any, y: object = None) -> Self:
        """Returns self; Mismatch if the rows (n, d) are not as wide as those of the model in the space.

        Raise BadFile or BadSetting if there is no such space, or no such model in it.
        """
        if not isinstance(self.space, (str, Path)):
            raise BadSetting(
                "space must be the folder of a saved space, got "
                f"{type(self.space).__name__}; give its folder as str or Path"
            )
        rows = check_array(X, dtype=np.float32)
        side = load_space(self.space).side(self.language)
        d = side.mapping.shape[1]
        if rows.shape[1] != d:
            raise Mismatch(
                f"rows of {self.language} must have {d} numbers, got {rows.shape[1]}; take them from the "
                "model that the space was learned from"
            )
        # Copies: the folder that the arrays are mapped from may be replaced, and a pickle needs no folder.
        self.mapping_: Matrix = np.array(side.mapping)
        means = tuple(np.array(mean) for mean in side.normalisation.means)
        self.normalisation_ = Normalisation(side.normalisation.steps, means)
        self.n_features_in_ = int(d)
        return self

    def transform(self, X: Any) -> Matrix:
        """The rows (n, d) in the shared space, (n, k), of unit length."""
        check_is_fitted(self)
        rows = check_array(X, dtype=np.float32)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return mapped(self.normalisation_.apply(rows), self.mapping_)

    @property
    def _n_features_out(self) -> int:
        # The name is scikit-learn's: the columns that get_feature_names_out counts.
        return len(self.mapping_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
