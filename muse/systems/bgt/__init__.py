"""The Bilingual Generative Transformer: what two languages say alike, apart from how each of them says it.

(Wieting, Neubig and Berg-Kirkpatrick, 2020.) A pair of sentences x_1, x_2 is generated from a semantic latent
that they share and a latent of each language,

    x_l ~ p(x_l | z_sem, z_l),    z_sem, z_1, z_2 ~ N(0, I),

of which networks infer q(z_sem | x_1 or x_2) and q(z_l | x_l). What both sentences say costs its divergence
from the prior once in z_sem and twice in z_1 and z_2: so it comes to be in z_sem, and its mean is the
embedding. A translation loss is added: each sentence generated from the semantic mean of the other alone.

With Transformers that is the paper's system. Without layers it is one of bags: encoders map the mean of the
rows of a sentence's words, decoders tell the words without their order. A mean knows neither how long a
sentence is nor what it counts, and words alone do not ask for it: so the language encoders read its surface
too (surface), and the decoders tell its length (length).
"""
