"""Search: matrices in; nearest neighbours, scores and probabilities out.

All nearest-neighbour searches of muse are here: the backends agree, and CSLS is implemented once.
Imports: errors, installation, procrustes.
"""
