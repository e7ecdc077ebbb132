"""Ways in: each finds a first mapping between two spaces, and nothing else.

One contract, one file each: a way in takes normalised source and target vectors, its own frozen
config, the unsupervised criterion, a random generator and the runtime, and yields candidate
Alignments, each with its criterion. Whoever asked chooses among them, and may stop asking.

    gromov        optimal transport between the two similarity matrices
    adversarial   a mapping against a discriminator
    similarity    matched similarity distributions
    identical     identical strings: not strictly unsupervised
    dictionary    a list of translations: supervised
"""
