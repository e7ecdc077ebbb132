"""The commands of sentences, and the tasks of `muse evaluate` with sentences, a module each."""
