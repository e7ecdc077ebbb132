"""Learning from pairs: each learner fits maps into a shared space to known translations.

One contract, one file each: a learner takes an `Evidence` (the rows of both languages, pairs of rows and
their weights) and a random generator, and returns the `Maps` of both languages.

    orthogonal      Procrustes: a rotation
    whitened        whitened, rotated and re-weighted maps
    canonical       regularised canonical correlation analysis
    refined         rounds of Procrustes on induced pairs
    relaxed         any linear map, trained on the CSLS loss (RCSLS)
    self_learning   canonical maps of the given pairs and induced ones
    contrastive     both maps trained against hard negatives

`cross_validation` tests them on pairs that they were not fitted to, and `choice` chooses.
"""
