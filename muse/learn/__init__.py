"""Learning: two sets of word vectors in, an Alignment and a Verdict on it out.

`pair` aligns one pair of languages, `many` several. `auto` tries initialisations in turn, `refine`,
`transport` and `tune` improve one mapping, `joint` several together; `verdict` judges without a dictionary.
It reads and writes no space.
"""
