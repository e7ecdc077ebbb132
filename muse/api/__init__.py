"""The Python interface: `align` runs a Request, from files to a space on disk, and returns a Report."""
