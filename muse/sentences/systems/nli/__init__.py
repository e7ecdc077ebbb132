"""Encoders trained on classes of sentence pairs: InferSent, translation detection, and X-BiLSTM.

X-BiLSTM carries an InferSent encoder over to another language.

(Conneau, 2019, sections 3.2 and 4.2.4; Rücklé et al., 2018.)
"""
