"""The sentence systems of the literature, and the networks they share: text in, a trained encoder out.

lens, nli (InferSent, translation detection, X-BiLSTM), cmlm, bgt and xlm, each described by a `System`; the
`registry` has them by name.
Imports: files, run, space, encoders, training.
"""
