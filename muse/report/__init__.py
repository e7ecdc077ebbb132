"""Report: a page about an aligned space: did it work, how good is it, on what evidence, and what next."""
