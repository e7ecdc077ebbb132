"""Sentences: encoders, their training, the systems of the papers, and mining; all of it stands on a space.

Only the entry points (api, commands, cluster) import it.
"""
