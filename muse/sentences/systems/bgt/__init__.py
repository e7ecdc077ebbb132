"""The Bilingual Generative Transformer: separates the shared meaning of translations from their form.

(Wieting, Neubig and Berg-Kirkpatrick, 2020.) A pair of sentences x_1, x_2 is generated from a semantic latent
that they share and a latent of each language,

    x_l ~ p(x_l | z_sem, z_l),    z_sem, z_1, z_2 ~ N(0, I),

and networks infer q(z_sem | x_1 or x_2) and q(z_l | x_l). Information that both sentences share costs its
divergence from the prior once in z_sem but twice in z_1 and z_2, so it moves to z_sem, whose mean is the
embedding. A translation loss is added: each sentence is generated from the semantic mean of the other alone.

With Transformer layers this is the paper's system. Without layers it is a model of bags: encoders map the
mean row of a sentence's words, and decoders predict the words without their order. A mean contains neither
the length nor the counts of words; so the language encoders also read surface features, and the decoders also
predict the length.

* inputs           the settings, and the words or pieces that the model reads
* latent_network   the encoders, the decoders, and the terms of the loss
* bgt_system       the presets, training, and the language latents as an encoder
* generation       sentences written from latents
"""
