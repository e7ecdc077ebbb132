"""Measures of sentence encoders: retrieval and mining, ratings, classifiers, transfer, probes, a suite."""
