"""The Bilingual Generative Transformer: separates the shared meaning of translations from their form.

(Wieting, Neubig and Berg-Kirkpatrick, 2020.) A pair of sentences x_1, x_2 is generated from a semantic latent
that they share and a latent of each language, x_l ~ p(x_l | z_sem, z_l), all ~ N(0, I); networks infer
q(z_sem | x_1 or x_2) and q(z_l | x_l). What both sentences share costs its divergence once in z_sem but twice
in z_1 and z_2, so it moves to z_sem, whose mean is the embedding. A translation loss is added: each sentence
is generated from the semantic mean of the other alone.

With Transformer layers this is the paper's system. Without, it is a model of bags: encoders map the mean row
of a sentence's words, language encoders also read surface features, decoders predict words and their number.
"""
