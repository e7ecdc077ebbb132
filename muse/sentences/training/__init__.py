"""Training on parallel text: one trainer, and the learners, losses, batches and schedules that it uses.

Pairs of sentences in, an encoder's parameters out. An interrupted run can be resumed, and several processes
can share each batch.
"""
