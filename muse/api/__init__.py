"""The Python interface: a Request in, a run from files to a space on disk, an Outcome out."""
