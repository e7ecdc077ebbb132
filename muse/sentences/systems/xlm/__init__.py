"""Cross-lingual language models: one Transformer for several languages with shared word pieces.

(Lample and Conneau, 2019; Conneau, 2019, section 4.3.)

* language_model   the Transformer, its settings and its masked batches
* corpus           text and translations as sources of masked batches
* xlm_system       the presets, and training with CLM, MLM or MLM and TLM
* tuning           fine-tuning on inference, and alignment of a tuned model by translations
"""
