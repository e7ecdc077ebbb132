"""Where sentence encoders used to be: see muse.encoders, muse.training and muse.systems."""
