"""Static embedding: a folder for sentence-transformers that encodes text of all languages of a space.

A sentence is the mean of the vectors of its words, as always in StaticEmbedding; a word in several languages
has the mean of its rows. A word that is not in the space counts as a vector of zeros.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.files.atomic import atomic_folder, writing
from muse.files.writing import check_folder_place
from muse.optional import library
from muse.space import Space

MODULE = "0_StaticEmbedding"
UNKNOWN = "[UNK]"
MODULES = [{"idx": 0, "name": "0", "path": MODULE, "type": "sentence_transformers.models.StaticEmbedding"}]
CONFIG: dict[str, Any] = {"prompts": {}, "default_prompt_name": None, "similarity_fn_name": "cosine"}
OURS = {MODULE, "modules.json", "config_sentence_transformers.json"}


@dataclass(frozen=True)
class StaticWritten:
    """The folder, the number of its words, and of words of the space that were left out."""

    path: Path
    words: int
    left_out: int

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {"words": self.words, "left_out": self.left_out}


def export_static_embedding(
    space: Space, out: Path, *, languages: Sequence[str] | None = None, max_vocab: int | None = None
) -> StaticWritten:
    """A summary of the folder for SentenceTransformer(path), which is written atomically.

    A word that the tokeniser would split (with a space or a hyphen, say) is left out and counted: it
    could not be looked up. Any other has the Unicode form in which the tokeniser looks it up, NFC; if a
    language has a word in several forms, that one or else the most frequent is taken, and the others count
    as left out.
    """
    purpose = "a folder for sentence-transformers"
    tokenizers = library("tokenizers", purpose, "exchange")
    save_file = library("safetensors.numpy", purpose, "exchange").save_file
    check_folder_place(out, OURS)
    sides = [space.vectors(language).most_frequent(max_vocab) for language in languages or space.languages]
    lower = all(word == word.lower() for side in sides for word in side.words)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({UNKNOWN: 0}, unk_token=UNKNOWN))
    steps = [tokenizers.normalizers.NFC(), *([tokenizers.normalizers.Lowercase()] if lower else [])]
    tokenizer.normalizer = tokenizers.normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    kept = [_row_of_each(tokenizer, side.words) for side in sides]
    if not any(kept):
        raise Mismatch(f"{out}: expected words that the tokeniser does not split, got none; export as text")
    tokens = dict.fromkeys(token for rows in kept for token in rows)
    vocabulary = {token: place for place, token in enumerate([UNKNOWN, *tokens])}
    weight = np.zeros((len(vocabulary), sides[0].dimension), np.float32)  # (v, d), zero for an unknown one
    counts = np.zeros(len(vocabulary), np.float32)
    for side, rows in zip(sides, kept, strict=True):
        places = [vocabulary[token] for token in rows]
        weight[places] += side.matrix[list(rows.values())]  # no token twice in one language: no place twice
        counts[places] += 1
    weight /= np.maximum(counts, 1)[:, None]
    tokenizer.model = tokenizers.models.WordLevel(vocabulary, unk_token=UNKNOWN)
    with writing(out), atomic_folder(out.resolve()) as partial:
        (partial / MODULE).mkdir()
        tokenizer.save(str(partial / MODULE / "tokenizer.json"))
        save_file({"embedding.weight": weight}, str(partial / MODULE / "model.safetensors"))
        for name, content in (("modules.json", MODULES), ("config_sentence_transformers.json", CONFIG)):
            (partial / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    # A word in several languages counts once, and not if it is kept in one.
    used = {side.words[row] for side, rows in zip(sides, kept, strict=True) for row in rows.values()}
    lost = {word for side in sides for word in side.words} - used
    return StaticWritten(out, len(vocabulary) - 1, len(lost))


def _row_of_each(tokenizer: Any, words: Sequence[str]) -> dict[str, int]:
    """The row of each token that is a word: of that word itself, else of the first of its other forms."""
    rows = dict[str, int]()
    for row, word in enumerate(words):
        token = tokenizer.normalizer.normalize_str(word)
        parts = [part for part, _ in tokenizer.pre_tokenizer.pre_tokenize_str(token)]
        if parts != [token] or token == UNKNOWN:
            continue
        if token == word:
            rows[token] = row
        else:
            rows.setdefault(token, row)
    return rows
