"""Training on parallel text: one trainer, and what it is given: learners, losses, batches, schedules.

Pairs of sentences in, an encoder's parameters out; a run survives a kill and several processes share a batch.
Imports: run, search, space, encoders.
"""
