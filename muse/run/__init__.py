"""Where and how a stage runs: device, processes, checkpoint, history, memory.

A stage of learning or training is given a Runtime and reports to it; nothing here knows what is learned.
Imports: errors, progress, files.
"""
