"""Export: an aligned space as files for other systems, one module for each kind of file."""
