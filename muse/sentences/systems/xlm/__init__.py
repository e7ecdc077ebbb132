"""Cross-lingual language models: one Transformer for several languages with shared word pieces.

(Lample and Conneau, 2019; Conneau, 2019, section 4.3.)
"""
