"""Search: matrices in, nearest neighbours and their scores out.

All nearest-neighbour searches of muse are here: the backends agree, and CSLS is implemented once.
"""
