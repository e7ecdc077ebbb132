"""Dictionary formats of other programs. The package can be taken out: muse reads and writes its own then."""
