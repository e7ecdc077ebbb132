"""The sentence systems of the literature, and the networks they share: text in, a trained encoder out.

word_encoders (X-CBOW, projection, CVM-add), lens, nli (InferSent, translation detection, X-BiLSTM), cmlm, bgt
and xlm, each described by a `System`. The `registry` has them by name, and trains any of them by a
`TrainingRequest`.
Imports: files, run, space, encoders, training.
"""
