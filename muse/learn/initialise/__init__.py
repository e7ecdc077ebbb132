"""Initialisations: each finds an initial mapping between two spaces.

One contract, one file each: an initialisation takes a `LanguagePair`, the unsupervised criterion, a
random generator and its own frozen config, and yields candidate Alignments, each with its criterion. The
caller chooses among them, and may stop the iteration.

    gromov        optimal transport between the two similarity matrices
    features      features of single words, sharpened by expectation maximisation
    adversarial   a mapping against a discriminator; adversarial-paper with the paper's settings, for a GPU
    similarity    matched similarity distributions
    clusters      matched centroids: for unlabelled vectors
    identical     identical strings: not strictly unsupervised
    dictionary    a list of translations: supervised
"""

# The values of --init. Here, --help reads them without importing torch.
INITIALISATIONS = (
    "auto", "gromov", "features", "adversarial", "adversarial-paper", "similarity", "clusters", "identical",
    "dictionary",
)  # fmt: skip
