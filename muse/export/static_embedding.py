"""Static embedding: a folder for sentence-transformers that encodes text of all languages of a space.

A sentence is the mean of the vectors of its words, as always in StaticEmbedding; a word in several languages
has the mean of its rows. A word that is not in the space counts as a vector of zeros.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import Mismatch, MissingExtra
from muse.files.atomic import atomic_folder
from muse.files.folders import writing
from muse.files.writing import check_folder_place
from muse.installation import install_extra
from muse.space import AlignedSpace
from muse.vectors import Matrix

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
    space: AlignedSpace, out: Path, *, languages: Sequence[str] | None = None, max_vocab: int | None = None
) -> StaticWritten:
    """A summary of the folder for SentenceTransformer(path), which is written atomically.

    A word that the tokeniser would split (with a space or a hyphen, say) is left out and counted: it
    could not be looked up.
    """
    tokenizers, save_file = _require()
    check_folder_place(out, OURS)
    words, matrix = _table(space, languages or space.languages, max_vocab)
    lower = all(word == word.lower() for word in words)
    tokenizer = _splitter(tokenizers, lower)
    kept = [row for row, word in enumerate(words) if _is_one_token(tokenizer, word)]
    if not kept:
        raise Mismatch(
            f"{out}: expected words that the tokeniser does not split, got none; export as text instead"
        )
    vocabulary = {UNKNOWN: 0, **{words[row]: place for place, row in enumerate(kept, 1)}}
    weight = np.concatenate([np.zeros((1, matrix.shape[1]), np.float32), matrix[kept]])  # (v, d)
    tokenizer.model = tokenizers.models.WordLevel(vocabulary, unk_token=UNKNOWN)
    with writing(out), atomic_folder(out.resolve()) as partial:
        (partial / MODULE).mkdir()
        tokenizer.save(str(partial / MODULE / "tokenizer.json"))
        save_file({"embedding.weight": weight}, str(partial / MODULE / "model.safetensors"))
        for name, content in (("modules.json", MODULES), ("config_sentence_transformers.json", CONFIG)):
            (partial / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return StaticWritten(out, len(kept), len(words) - len(kept))


def _table(space: AlignedSpace, languages: Sequence[str], max_vocab: int | None) -> tuple[list[str], Matrix]:
    """The words (v,) of all languages, each once, and their rows (v, d); means for words in several."""
    sides = [space.vectors(language).most_frequent(max_vocab) for language in languages]
    place = {
        word: row for row, word in enumerate(dict.fromkeys(word for side in sides for word in side.words))
    }
    sums, counts = np.zeros((len(place), sides[0].dimension), np.float32), np.zeros(len(place), np.float32)
    for side in sides:
        rows = np.array([place[word] for word in side.words])
        sums[rows] += side.matrix  # no word twice in one language: no row twice
        counts[rows] += 1
    return list(place), sums / counts[:, None]


def _splitter(tokenizers: Any, lower: bool) -> Any:
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({UNKNOWN: 0}, unk_token=UNKNOWN))
    steps = [tokenizers.normalizers.NFC(), *([tokenizers.normalizers.Lowercase()] if lower else [])]
    made.normalizer = tokenizers.normalizers.Sequence(steps)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made


def _is_one_token(tokenizer: Any, word: str) -> bool:
    if word == UNKNOWN:
        return False
    parts = tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(word))
    return [part for part, _ in parts] == [word]


def _require() -> tuple[Any, Any]:
    try:
        import tokenizers
        from safetensors.numpy import save_file
    except ImportError:
        raise MissingExtra(
            f"sentence-transformers' format needs tokenizers and safetensors; run {install_extra('exchange')}"
        ) from None
    return tokenizers, save_file
