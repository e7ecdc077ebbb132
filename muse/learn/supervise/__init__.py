"""Learning from pairs: each learner fits maps into a shared space to known translations.

One contract, one file each: a learner takes an `TrainingPairs` (the rows of both languages, pairs of rows and
their weights), and a random generator if it draws, and returns the `Maps` of both languages; some return the
TrainingPairs with pairs added or left out.

    orthogonal      Procrustes: a rotation
    whitened        whitened, rotated and re-weighted maps
    canonical       regularised canonical correlation analysis
    refined         rounds of Procrustes on induced pairs
    relaxed         any linear map, trained on the CSLS loss (RCSLS)
    self_learning   canonical maps of the given pairs and induced ones
    contrastive     both maps trained against hard negatives
    transported     pairs added by a transport that the given ones lead
    trimmed         pairs left out that the others contradict

`cross_validation` tests them on pairs that they were not fitted to, and `model_selection` chooses.
"""
