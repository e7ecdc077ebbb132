"""Encoders learned from classes of pairs: InferSent, translation detection, and X-BiLSTM, which copies one.

(Conneau, 2019, sections 3.2 and 4.2.4; Rücklé et al., 2018.)
"""
