"""Sentence systems from the literature, and the networks they share: text in, a trained encoder out.

word_encoders (X-CBOW, projection, CVM-add, SP), lens, nli (InferSent, translation detection, X-BiLSTM), cmlm,
bgt, xlm and translator are each described by a `System`. The `registry` maps names to systems, and trains any
of them for a `TrainingRequest`.
"""
