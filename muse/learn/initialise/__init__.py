"""Initialisations: each finds a first mapping between two spaces, and nothing else.

One contract, one file each: an initialisation takes normalised source and target vectors, its own frozen
config, the unsupervised criterion, a random generator and the runtime, and yields Alignments, each with its
criterion. Whoever asked chooses among them, and may stop asking.

    gromov        optimal transport between the two similarity matrices
    adversarial   a mapping against a discriminator
    similarity    matched similarity distributions
    identical     identical strings: not strictly unsupervised
    dictionary    a list of translations: supervised
"""

# The values of --init; `auto` tries the others but the last. Here, the command line reads them without torch.
INITIALISATIONS = ("auto", "gromov", "adversarial", "similarity", "identical", "dictionary")
