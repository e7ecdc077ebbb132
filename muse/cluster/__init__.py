"""Cluster: encode, mine, induce and link on the machines of a Ray cluster, which share a disk.

Work is cut into parts, each a Parquet file that appears complete or not at all; Ray Data hands the missing
ones to actors, replaces workers that die, and gives their parts to others. Texts, spaces and intermediate
results are read from the disk that all machines share: little but the numbers of parts goes through Ray.
"""
