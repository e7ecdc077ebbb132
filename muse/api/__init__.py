"""The Python interface: settings, checked and run, from files to a space on disk."""
