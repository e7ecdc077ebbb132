"""Export: an aligned space as files that other systems read, one module a kind of file."""
