"""Where and how a stage runs: device, processes, checkpoint, history, memory.

A stage of learning or training is given a Runtime; nothing here depends on what is learned.
"""
