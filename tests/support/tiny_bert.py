"""A Hugging Face folder with an encoder of random weights, small enough to make in a test."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def save_tiny_bert(folder: Path, pieces: Sequence[str], *, longest: int, seed: int = 0) -> Path:
    """The folder, with the encoder and a tokenizer of these pieces; skips the test without transformers."""
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    config = transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=longest,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        transformers.BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder
