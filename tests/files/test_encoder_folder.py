"""Folders of encoders: what is copied of one, and what those are that would choose how they are loaded."""

import builtins
import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.embedding.pretrained import PretrainedEncoder
from muse.errors import BadFile, Mismatch
from muse.files.encoder_folder import harmless_copy
from muse.progress import Progress

TYPES = "sentence_transformers.models."
OWN, TOKENS, INDEX = "sentence_bert_config.json", "tokenizer_config.json", "model.safetensors.index.json"
BERT: dict[str, Any] = {
    "model_type": "bert", "hidden_act": "gelu", "vocab_size": 4, "hidden_size": 2, "intermediate_size": 4,
    "num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": 8,
}  # fmt: skip
Change = Callable[[Path], object]


class Marker:
    """What touches a file where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch marker",)


def put(folder: Path, name: str, value: object) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())


def more(name: str, **fields: object) -> Change:
    """What adds fields to a configuration."""

    def change(folder: Path) -> None:
        path = folder / name
        put(folder, name, (json.loads(path.read_bytes()) if path.exists() else {}) | fields)

    return change


def module(kind: str, path: str = "1_More") -> Change:
    def change(folder: Path) -> None:
        modules = json.loads((folder / "modules.json").read_bytes())
        put(folder, "modules.json", [*modules, {"idx": 9, "name": "9", "path": path, "type": kind}])

    return change


def moved(source: str, to: str) -> Change:
    return lambda folder: (folder / source).rename(folder / to)


def pickled(name: str) -> Change:
    return lambda folder: put(folder, name, pickle.dumps(Marker()))


def weights(count: int) -> Change:
    def change(folder: Path) -> None:
        arrays = {str(place): np.zeros(8, np.float32) for place in range(count)}
        pytest.importorskip("safetensors.numpy").save_file(arrays, folder / "model.safetensors")

    return change


def gone(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def both(*changes: Change) -> Change:
    return lambda folder: [change(folder) for change in changes]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of sentence-transformers, of which no library need be there to copy it."""
    numpy = pytest.importorskip("safetensors.numpy")
    folder = tmp_path / "model"
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"}
    put(folder, "modules.json", [
        {"idx": place, "name": str(place), "path": path, "type": TYPES + kind}
        for place, (path, kind) in enumerate(kinds.items())
    ])  # fmt: skip
    put(folder, "config.json", BERT)
    put(folder, "sentence_bert_config.json", {"max_seq_length": 8, "do_lower_case": False})
    put(folder, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "unk_token": "[UNK]"})
    put(folder, "vocab.txt", b"[PAD]\n[UNK]\na\nb\n")
    put(folder, "1_Pooling/config.json", {"word_embedding_dimension": 2, "pooling_mode_mean_tokens": True})
    put(
        folder,
        "2_Dense/config.json",
        {"in_features": 2, "activation_function": "torch.nn.modules.activation.Tanh"},
    )
    for path in ("", "2_Dense"):
        numpy.save_file({f"w{path}": np.zeros((4, 2), np.float32)}, folder / path / "model.safetensors")
    return folder


def copied(folder: Path) -> dict[str, Any]:
    """The files that a library is given, with the content of those in JSON."""
    with harmless_copy(folder) as copy:
        paths = [path for path in sorted(copy.rglob("*")) if path.is_file()]
        read = {path: json.loads(path.read_bytes()) for path in paths if path.suffix == ".json"}
        return {path.relative_to(copy).as_posix(): read.get(path) for path in paths}


def test_what_a_model_needs_is_copied(folder: Path) -> None:
    more("2_Dense/config.json", in_features=3)(folder)
    found = copied(folder)
    assert {*found} == {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found["config.json"] == BERT
    assert found["2_Dense/config.json"]["activation_function"].endswith("Tanh")
    assert found["2_Dense/config.json"]["in_features"] == 3
    assert found["sentence_bert_config.json"] == {"max_seq_length": 8, "do_lower_case": False}


@pytest.mark.parametrize(
    "path", ["日本/語", "1\nPooling", "\x1b[2J", "-rf", "$(touch x)", " ", "x" * 199, "x/" * 9]
)
def test_modules_may_be_in_folders_of_any_name(folder: Path, path: str) -> None:
    put(folder, f"{path}/config.json", {"dropout": 0.1})
    module(f"{TYPES}Dropout", path)(folder)
    assert copied(folder)[f"{Path(path).as_posix()}/config.json"] == {"dropout": 0.1}
    moved = folder.rename(folder.with_name(Path(path).name))
    assert len(copied(moved)) > 3


def test_numbers_that_name_a_row_are_no_sizes(folder: Path) -> None:
    more("config.json", pad_token_id=-1, sparse_pred_ignore_index=-100)(folder)
    assert "config.json" in copied(folder)


REFUSED = {
    "weights_only": (more(OWN, model_args={"weights_only": False, "state_dict": {}}), "state_"),
    "model kwargs": (more(OWN, model_kwargs={"attn": 1}), "'attn' in model_args"),
    "tokenizer file": (more(OWN, tokenizer_args={"tokenizer_file": "/x"}), "tokenizer_file"),
    "configuration": (more(OWN, config_args={"_attn_implementation": "a/b"}), "_attn_impl"),
    "another task": (more(OWN, transformer_task="retrieval"), "transformer_task"),
    "quantised": (more("config.json", quantization_config={"quant_method": "x"}), "quantization_config"),
    "own model": (more("config.json", model_type="mine"), "model_type"),
    "list as model": (more("config.json", model_type=["bert"]), "model_type"),
    **{f"two million of {name}": (more("config.json", **{name: 2_000_000}), f"{name} 2000000") for name in (
        "num_hidden_layers", "n_layer", "decoder_layers", "inner_group_num", "num_hidden_groups",
        "num_feedforward_networks", "num_hash_functions", "pretraining_tp",
    )},
    **{f"no {name}": (more("config.json", **{name: 0}), f"{name} 0") for name in (
        "num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers",
    )},
    "an adapter": (more("adapter_config.json", base_model_name_or_path="/x"), "adapter, which muse does not"),
    "an adapter alone": (both(gone("config.json"), more("adapter_config.json", r=8)), "got an adapter"),
    **{f"tokens in {name}": (more(name, **fields), "at most 10,000 tokens, got 10,00") for name, fields in (
        (TOKENS, {"additional_special_tokens": [f"<{i}>" for i in range(10_001)]}),
        (TOKENS, {"added_tokens_decoder": {str(i): {"content": f"<{i}>"} for i in range(10_001)}}),
        ("special_tokens_map.json", {"extra_special_tokens": [f"<{i}>" for i in range(10_001)]}),
        ("added_tokens.json", {f"<{i}>": i for i in range(10_001)}),
    )},
    "blocks of layers": (more("config.json", block_sizes=[1_000_000] * 2), r"block_sizes \[1000000"),
    "layers for weights": (both(weights(400), more("config.json", num_hidden_layers=400)), "layers 400"),
    "words beyond weights": (more("config.json", vocab_size=10**9), "vocab_size 1000000000"),
    "positions": (more("config.json", max_position_embeddings=10**12), "max_position_embeddings"),
    "heads": (more("config.json", num_attention_heads=-5), "num_attention_heads -5"),
    "module of the folder": (module("modeling.Mine"), "modules of sentence-transformers"),
    "module of torch": (module("torch.hub.load"), "modules of sentence-transformers"),
    "function of the library": (module("sentence_transformers.util.import_from_string"), "expected modules"),
    "own tokenizer classes": (module(f"{TYPES}WordEmbeddings"), "expected modules"),
    "module outside": (module(f"{TYPES}Dense", "../other"), "expected folders in this one"),
    "absolute module": (module(f"{TYPES}Dense", "/etc"), "expected folders in this one"),
    **{f"module in {path[:9]!r}": (module(f"{TYPES}Dense", path), "folders in this one") for path in (
        "..", "a/../../b", "a\0b", "\\\\host\\x", "C:\\x", "C:x", "x" * 201, "//etc", "///etc", "/",
    )},
    "module without text": (module(f"{TYPES}Dense", 3), "expected folders in this one"),  # type: ignore[arg-type]
    "router to code": (both(module(f"{TYPES}Router", "r"), more("r/router_config.json",
                       types={"x": "os.system"}, structure={"x": ["x"]})), "expected modules"),
    "router of itself": (both(module(f"{TYPES}Router", "r"), more("r/config.json",
                         types={".": f"{TYPES}Router"}, structure={"x": ["."]})), "modules in folders"),
    "pickle named safetensors": (pickled("model.safetensors"), "valid safetensors"),
    "pickled layer": (both(gone("2_Dense/model.safetensors"), pickled("2_Dense/pytorch_model.bin")),
                      "found a pickle"),
    "pickled shard": (both(moved("model.safetensors", "model-1.safetensors"), pickled("model-2.safetensors")),
                      "model-2.safetensors: expected a valid safetensors"),
    "pipe": (both(gone("vocab.txt"), lambda f: os.mkfifo(f / "vocab.txt")), "regular file"),
    "pipe of settings": (lambda f: os.mkfifo(f / "config_sentence_transformers.json"), "regular file"),
    "device": (both(gone("vocab.txt"), lambda f: (f / "vocab.txt").symlink_to("/dev/zero")), "regular file"),
    "deep JSON": (lambda f: put(f, TOKENS, b"[" * 100_000), "expected JSON"),
    "large JSON": (lambda f: put(f, TOKENS, b" " * (17 << 20)), "more than 16 MB"),
    "an activation": (more("2_Dense/config.json", activation_function="os.abort"), "got 'os.abort'"),
    "an activation of the model": (more("config.json", hidden_act="torch.hub.load"), "hidden_act"),
    "a layer of its own size": (more("2_Dense/config.json", in_features=1 << 27), "in_features 1342"),
    "no weights": (both(module(f"{TYPES}LayerNorm"), more("1_More/config.json", dimension=1 << 31)),
                   "dimension 2147483648"),
    "list of settings": (lambda f: put(f, "config.json", []), "expected a dict"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_chooses_how_it_is_loaded_is_refused(folder: Path, case: str) -> None:
    change, said = REFUSED[case]
    change(folder)
    with pytest.raises(BadFile, match=said) as raised:
        copied(folder)
    assert "\n" not in str(raised.value)


DROPPED = {
    "pickled shards": (both(moved("model.safetensors", "model-1.safetensors"), pickled("weights.dat"),
                       more(INDEX, weight_map={"w": "weights.dat"})), "index"),
    "shards outside": (both(moved("model.safetensors", "model-1.safetensors"), more(INDEX,
                       weight_map={"w": "../../other.safetensors"})), "index"),
    "code": (both(more("config.json", auto_map={"AutoModel": "mine.Mine"}), pickled("mine.py")), "mine"),
    "code of a tokenizer": (more(TOKENS, auto_map={"AutoTokenizer": "mine.Mine"}), "auto_map"),
    "kernels of others": (more("config.json", _attn_implementation="a/b", attn_implementation="a/b"), "attn"),
    "another model": (more("config.json", base_model_name_or_path="/x", _name_or_path="/x"), "/x"),
    "what is computed in parts": (more("config.json", chunk_size_feed_forward=3), "chunk"),
    "paths of added tokens": (more("added_tokens.json", file="/x"), "/x"),
    "labels": (more("config.json", num_labels=1 << 20), "num_labels"),
    "compiled": (more("config.json", reference_compile=True, torchscript=True), "reference_compile"),
    "files of a tokenizer": (more(TOKENS, tokenizer_file="/x", vocab_file="/x", name_or_path="/x"), "/x"),
    "a class of a tokenizer": (more(TOKENS, tokenizer_class="os.system"), "os\\."),
    "a template": (both(lambda f: put(f, "chat_template.jinja", b"{{x}}"),
                   more(TOKENS, chat_template="{{x}}")), "{{|jinja"),
    "arguments of modules": (more("config_sentence_transformers.json", requirements={"os": "1"},
                             prompts={"q": ["x"]}, default_prompt_name="q"), "requirements"),
    "a pickle beside": (pickled("pytorch_model.bin"), "bin"),
    "a pipe beside": (lambda f: os.mkfifo(f / "README.md"), "README"),
    "a model of OpenVINO": (pickled("openvino/openvino_model.bin"), "openvino"),
    "a model of ONNX": (pickled("onnx/model.onnx"), "onnx"),
    "code that is trusted": (more(OWN, model_args={"trust_remote_code": True}), "trust"),
}  # fmt: skip


@pytest.mark.parametrize("case", DROPPED)
def test_what_chooses_how_it_is_loaded_is_not_copied(folder: Path, case: str) -> None:
    change, absent = DROPPED[case]
    change(folder)
    found = copied(folder)
    index = found.pop(INDEX, None)
    assert index in (None, {"metadata": {}, "weight_map": {"w": "model-1.safetensors"}})
    assert (index is not None) == (absent == "index")
    assert not re.search(absent, json.dumps(found))


# With the libraries.

LETTERS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{one}" for one in "abcdefgh"))


def _bert(folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(LETTERS) + "\n")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(vocab_size=len(LETTERS), hidden_size=8, intermediate_size=8,
                                     num_hidden_layers=1, num_attention_heads=2)  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)


def _modules(folder: Path) -> None:
    _bert(folder)
    more("1_Pooling/config.json", word_embedding_dimension=8, pooling_mode_mean_tokens=True)(folder)
    put(folder, "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": f"{TYPES}Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{TYPES}Pooling"},
    ])  # fmt: skip


def _table(folder: Path, name: str) -> None:
    _bert(folder)
    numpy = pytest.importorskip("safetensors.numpy")
    numpy.save_file({name: np.eye(len(LETTERS), 4, dtype=np.float32)}, folder / "model.safetensors")


def _static(folder: Path) -> None:
    _table(folder, "embedding.weight")
    put(folder, "modules.json", [{"idx": 0, "name": "0", "path": "", "type": f"{TYPES}StaticEmbedding"}])


def _model2vec(folder: Path) -> None:
    _table(folder, "embeddings")
    put(folder, "config.json", {"model_type": "model2vec"})


MADE = {"hugging face": _bert, "sentence-transformers": _modules, "static": _static, "model2vec": _model2vec}


def encoded(folder: Path, cache: Path, words: tuple[str, ...] = ("ab", "ba")) -> np.ndarray:
    encoder = PretrainedEncoder(folder)
    encoder.check()
    return encoder.encode({"x": words}, cache=cache, device="cpu", progress=Progress(quiet=True))[0]


def backbone(folder: Path) -> np.ndarray:
    from muse.sentences.systems.backbone import HuggingFaceBackbone

    found = HuggingFaceBackbone(folder)
    rows: np.ndarray = found.matrices(found.read(["ab", "ba"]).sentences, "en").rows.numpy()
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
def test_no_model_is_unpickled_or_has_its_code_run(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    pytest.importorskip("sentence_transformers")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "model"
    MADE[kind](folder)
    places = iter(range(9))  # of caches, so that nothing is read from one
    reads: list[Callable[[], np.ndarray]] = [
        lambda: encoded(folder, tmp_path / f"{next(places)}"),
        lambda: backbone(folder),
    ]
    reads = reads[: 1 if kind in ("static", "model2vec") else 2]
    before = [[read() for read in reads] for _ in range(2)][
        1
    ]  # what is imported is imported now: that is no code of the folder
    for name in ("pytorch_model.bin", "weights.dat", "x.pkl", "openvino/openvino_model.bin"):
        pickled(name)(folder)
    more(INDEX, weight_map={"w": "weights.dat"})(folder)
    if kind != "model2vec":
        more("config.json", auto_map={"AutoModel": "mine.Mine", "AutoConfig": "mine.Mine"})(folder)
    put(folder, "mine.py", b"open('marker', 'w')")

    def never(*_: object, **__: object) -> None:
        raise AssertionError("reached")

    for place, name in ((torch, "load"), (torch.serialization, "load"), (pickle, "load"), (pickle, "loads"),
                        (pickle, "Unpickler"), (builtins, "exec")):  # fmt: skip
        monkeypatch.setattr(place, name, never)
    after = [read() for read in reads]
    assert all(np.array_equal(*each) for each in zip(before, after, strict=True))
    assert not (tmp_path / "marker").exists()


def _tokenizer(**fields: object) -> Change:
    return more("tokenizer.json", **fields)


def _weights(of: Callable[[np.ndarray], np.ndarray]) -> Change:
    def change(folder: Path) -> None:
        numpy, path = pytest.importorskip("safetensors.numpy"), folder / "model.safetensors"
        numpy.save_file({name: of(rows) for name, rows in numpy.load_file(path).items()}, path)

    return change


_GROWS = {"type": "Sequence", "normalizers": [
    {"type": "Replace", "pattern": {"Regex": "[a-zA-Z]"}, "content": "ab"} for _ in range(60)
]}  # fmt: skip
EXPLODING = {
    "grows": _tokenizer(normalizer=_GROWS),
    "grows at one word": _tokenizer(normalizer={"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"String": "\u4e00"}, "content": "\u4e00" * 1_000} for _ in range(6)
    ]}),
    "pads": _tokenizer(padding={"strategy": {"Fixed": 10**11}, "direction": "Right", "pad_id": 0,
                                "pad_to_multiple_of": None, "pad_type_id": 0, "pad_token": "[PAD]"}),
    "adds tokens": _tokenizer(post_processor={
        "type": "TemplateProcessing", "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}] * 2_000,
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}},
    }),
    "draws": _tokenizer(model={"type": "BPE", "dropout": 0.5, "vocab": {"[PAD]": 0, "a": 1, "b": 2, "ab": 3},
                               "merges": ["a b"]}),
    "adds to its pieces": _tokenizer(added_tokens=[
        {"id": 20 + i, "content": f"<{i}>", "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True} for i in range(10_001)
    ]),
    "zeros": _weights(lambda rows: 0 * rows),
    "equal weights": _weights(lambda rows: 0 * rows + 0.1),
    "two weights": more("config.json", hidden_size=12),
    "no heads": more("config.json", num_attention_heads=3),
    "another tokenizer": _tokenizer(model={"type": "WordLevel", "vocab": {"ab": 10**9}, "unk_token": "ab"}),
}  # fmt: skip


FLAT = "zeros", "equal weights"
TRIED = "grows", "grows at one word", "pads", "adds tokens", "adds to its pieces", "draws"


@pytest.mark.slow
@pytest.mark.parametrize("case", EXPLODING)
def test_what_grows_or_does_not_fit_is_one_sentence(case: str, tmp_path: Path, capfd: Any) -> None:
    pytest.importorskip("sentence_transformers")
    folder = tmp_path / "model"
    _bert(folder)
    EXPLODING[case](folder)
    capfd.readouterr()
    said = (
        "one row for all pieces" if case in FLAT else "expected a tokenizer that" if case in TRIED else None
    )
    with pytest.raises((BadFile, Mismatch), match=said) as raised:
        encoded(folder, tmp_path / "cache", ("ab", "\u4e00"))
    with pytest.raises((BadFile, Mismatch), match=said) as raised_there:
        backbone(folder)
    shown = capfd.readouterr()
    assert shown.out + shown.err == ""
    for error in (raised, raised_there):
        assert len(str(error.value)) < 500
        assert "\n" not in str(error.value)
