"""Targets that are folders: spaces, saved and pretrained encoders, the state of interrupted runs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from muse.cluster.parts import PartFolder, begin_parts, open_parts
from muse.files.encoder_folder import harmless_copy
from muse.files.space_folder import MANIFEST, checksum
from muse.ranking.probability import known_calibration
from muse.run.checkpoint import Checkpoint
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.saving import ARRAYS
from muse.sentences.loading import load_encoder
from muse.space import Space, load_space
from tests.fuzz.target import Target
from tests.support.spaces import derived, plain_space, raw_rows, saved

TEXT = ["The cat0 en1 en2", "fr1 fr2", ""]
FINGERPRINT = ("inputs", "settings")


def _spaces(folder: Path) -> None:
    saved(folder / "two" / "x", count=12)
    derived(folder / "two" / "x")
    saved(folder / "three" / "x", "fr", "de", count=12)


def _space(folder: Path) -> Iterator[Any]:
    space = load_space(folder / "x")
    for language in space.languages:
        side = space.side(language)
        yield from (side.vectors.matrix, side.mapping, *side.normalisation.means)
        for other in space.languages:
            yield space.hubness(language, other)
            yield (found := known_calibration(space, language, other)) and vars(found)


def _unchecked(folder: Path) -> Iterator[Any]:
    # As a space is opened that was checked before: what is not finite is the caller's.
    load_space(folder / "x", check=False)
    return iter(())


@cache
def toys() -> Space:
    """A space of twelve words a language."""
    return plain_space(
        raw_rows(0, 12, 4), raw_rows(1, 12, 4), [f"fr{i}" for i in range(12)], [f"en{i}" for i in range(12)]
    )


ENCODERS = ("mean", "idf+pcr", "sif", "power-mean[-inf,1,inf]+znorm[global]")


def _encoders(folder: Path) -> None:
    for number, name in enumerate(ENCODERS):
        encoder = load_encoder(name, toys())
        for language in ("en", "fr"):
            encoder = encoder.fit([f"{language}{i} {language}{i + 1}" for i in range(10)], language)
        (folder / f"{number}").mkdir()
        encoder.save(folder / f"{number}" / "x")


def _encoder(folder: Path) -> Iterable[Any]:
    seal(folder / "x")
    return encoded(load_encoder(folder / "x", toys()), TEXT)


def seal(folder: Path) -> None:
    """Note the checksum that the arrays of a saved encoder have, so that what is behind it is reached."""
    with suppress(Exception):  # what is no manifest is refused when it is read
        manifest = json.loads((folder / MANIFEST).read_bytes())
        manifest["checksums"][ARRAYS] = checksum(folder / ARRAYS)
        (folder / MANIFEST).write_text(json.dumps(manifest))


def encoded(encoder: SentenceEncoder, text: Sequence[str]) -> Iterator[Any]:
    """The rows of a text in each language of an encoder."""
    for language in encoder.languages:
        yield encoder.encode(text, language).matrix


def _checkpoints(folder: Path) -> None:
    checkpoint = Checkpoint.open(folder / "0", FINGERPRINT, resume=False)
    checkpoint.save("stage:one", {"a": raw_rows(0, 3, 2), "text": np.array("x"), "epochs": np.arange(3)})


def _checkpoint(folder: Path) -> Iterable[Any]:
    Checkpoint.open(folder, FINGERPRINT, resume=True).load("stage:one")
    return ()


def _parts(folder: Path) -> None:
    parts = begin_parts(folder / "0", 1, {"a": 1})
    parts.write(0, {"sentence": ["a", "é"], "row": np.arange(2), "rows": raw_rows(0, 2, 2)}, {"empty": 1})


def _part(folder: Path) -> Iterable[Any]:
    parts: PartFolder = open_parts(folder)
    parts.sizes()
    parts.counts()
    for number in range(parts.count):
        parts.read(number, "sentence", "row", "rows")
    return ()


def _pretrained(folder: Path) -> None:
    from tests.support.tiny_bert import SPECIAL, save_tiny_bert

    save_tiny_bert(folder / "0", [*SPECIAL, "a", "cat", "##s"], longest=8)


def _backbone(folder: Path) -> Iterator[Any]:
    from muse.sentences.systems.backbone import HuggingFaceBackbone

    backbone = HuggingFaceBackbone(folder)
    yield backbone.matrices(backbone.read(["a cats", "cat"]).sentences, "en").rows


def _encoders_of_others(folder: Path) -> None:
    from safetensors.numpy import save_file

    config = {"model_type": "bert", "hidden_act": "gelu", "vocab_size": 4, "num_hidden_layers": 1}
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3": "StaticEmbedding"}
    types = {path: f"sentence_transformers.models.{kind}" for path, kind in kinds.items()}
    settings: dict[str, object] = {
        "modules.json": [{"idx": 0, "name": path, "path": path, "type": types[path]} for path in kinds],
        "config.json": {**config, "auto_map": {"AutoModel": "mine.Mine"}, "dtype": "float32"},
        "sentence_bert_config.json": {"max_seq_length": 8, "model_args": {"trust_remote_code": True}},
        "config_sentence_transformers.json": {"prompts": {"query": "q: "}, "default_prompt_name": "query"},
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "unk_token": {"content": "[UNK]"},
                                  "added_tokens_decoder": {"0": {"content": "[PAD]", "special": True}}},
        "1_Pooling/config.json": {"word_embedding_dimension": 2, "pooling_mode": "mean"},
        "2_Dense/config.json": {"in_features": 2, "activation_function": "torch.nn.modules.activation.Tanh"},
    }  # fmt: skip
    inputs: tuple[dict[str, object], ...] = (settings, {"config.json": config})
    for number, listed in enumerate(inputs):
        for name, value in listed.items():
            (folder / f"{number}" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}" / name).write_text(json.dumps(value))
        for inner in {(folder / f"{number}" / name).parent for name in listed}:
            save_file({"w": raw_rows(0, 4, 2)}, inner / "model.safetensors")


def _harmless(folder: Path) -> Iterator[Any]:
    with harmless_copy(folder) as copy:
        for path in copy.rglob("*"):
            assert path.is_dir() or path.suffix in (".json", ".txt", ".model", ".safetensors"), path
            assert not path.is_symlink() or path.resolve().is_relative_to(folder.resolve()), path
            text = path.read_text() if path.suffix == ".json" and not path.is_symlink() else ""
            assert not any(one in text for one in ("auto_map", "mine", "trust_remote", "model_args")), text
    yield 0


TARGETS = (
    Target("encoder.folder", _encoders_of_others, _harmless),
    Target("space", _spaces, _space), Target("space.unchecked", _spaces, _unchecked),
    Target("encoder", _encoders, _encoder), Target("checkpoint", _checkpoints, _checkpoint),
    Target("parts", _parts, _part), Target("backbone", _pretrained, _backbone),
)  # fmt: skip
