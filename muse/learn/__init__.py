"""Learning: two sets of word vectors in, an Alignment and a Verdict on it out.

`bilingual` aligns one pair of languages, `multilingual` several. `auto` tries initialisations in turn,
`refine`, `transport` and `reweight` improve one mapping, `joint` several together; `verdict` judges without a
dictionary. It reads and writes no space.
"""
