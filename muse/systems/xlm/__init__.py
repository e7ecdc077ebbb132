"""Cross-lingual language models: one Transformer learns several languages from word pieces that they share.

(Lample and Conneau, 2019; Conneau, 2019, section 4.3.)
"""
