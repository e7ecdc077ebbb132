"""Folders of pretrained encoders as libraries are given them: what is needed of one, and nothing else.

Such a folder comes from anywhere, and the libraries that load it take a good deal from its files: classes by
name, arguments of their own functions, names of other files. So they never see it. They see a copy of the
few kinds of file that are read: configurations with the fields below, tokenizers, and weights that are
safetensors by content, linked to. Which files hold the weights is written anew. A tokenizer, which can be
made to grow without bound, is first tried on words in a process of its own, with limits of memory and time.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any

from muse.errors import BadFile
from muse.files import tokenizer_trial
from muse.files.json_text import parse_json
from muse.files.source import DAMAGED, refuse_stream
from muse.files.vectors.arrays import tensor_shapes

Fields = dict[str, Any]
MODULES, SETTINGS, TOKENIZER = "modules.json", "config.json", "tokenizer.json"
ADDED = "added_tokens.json"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLED = {".bin", ".pt", ".pth", ".pkl", ".ckpt"}
LARGEST = 16 << 20, 256 << 20  # bytes of a configuration, and of a tokenizer
LONGEST, LONGEST_NAME = 10_000, 200  # characters of a prompt, and of a name of a folder
MOST_MODULES, MOST_LAYERS, MOST_TOKENS = 100, 200, 10_000
FIRST = 1_000  # rows that are compared before all
TRIAL_SECONDS, TRIAL_MEMORY = 20, 2 << 30
_ANY_SIZE = 1 << 20  # of a number in a configuration, such as the longest text, whatever the weights are
_TYPES = "Transformer Pooling Dense Normalize LayerNorm Dropout StaticEmbedding CNN LSTM Router"
_TYPE = re.compile(rf"sentence_transformers(\.[a-z_]+)*\.({_TYPES.replace(' ', '|')})")
_ACTIVATIONS = (
    "ELU GELU Hardtanh LeakyReLU LogSigmoid Mish ReLU ReLU6 SELU SiLU Sigmoid Softplus Softsign Tanh"
)
# Encoders of text, each of transformers' own code.
_MODELS = (
    "albert bart bert bert-generation big_bird bloom camembert canine convbert deberta deberta-v2 "
    "distilbert electra ernie eurobert flaubert fnet funnel gemma gemma2 gemma3_text gpt2 gpt_neox "
    "ibert jina_embeddings_v3 llama longformer luke m2m_100 mbart megatron-bert mistral mobilebert "
    "modernbert modernbert-decoder mpnet mt5 nomic_bert nystromformer opt phi3 qwen2 qwen3 rembert "
    "roberta roberta-prelayernorm roformer squeezebert t5 umt5 xglm xlm xlm-roberta xlm-roberta-xl "
    "xlnet xmod yoso"
)
_NAME, _ROPE = r"[a-z0-9_+-]{1,40}", re.compile(r"rope_(parameters|scaling)|\w+_attention")
_WORD = r"[\s\S]{0,200}"
_PARTS = re.compile("layers?$|groups?(_num)?$|_(networks|functions|tp)$|^block_(size|repeat)s")  # each built
_LAYERS = re.compile("(num_hidden|num|n|encoder)_layers?")  # without which an encoder is a table of words
# The strings that are kept, by the names of their fields: none is the name of a file or of anything with code
# but for what is listed. Numbers are kept under every name but these.
_EXECUTED = {"auto_map", "torchscript", "reference_compile", "deterministic_flash_attn", "num_labels",
             "chunk_size_feed_forward"}  # fmt: skip
_STRINGS = {
    "model_type": _MODELS.replace(" ", "|"),
    "dtype|torch_dtype": "float32|float16|bfloat16",
    r"\w*hidden_act|\w*activation|dense_act_fn|feed_forward_proj|conv_act": _NAME,
    "activation_function": rf"{_NAME}|torch\.nn\.modules\.linear\.Identity"
    rf"|torch\.nn\.modules\.activation\.({_ACTIVATIONS.replace(' ', '|')})",
    "position_embedding_type|pos_att_type|norm_rel_ebd|attention_type|attn_type": r"[a-z0-9_|]{1,40}",
    "normalization_type|pooling_type|classifier_pooling|layer_types|languages|default_language": r"\w{1,40}",
    "rope_type|type|pooling_mode|module_(in|out)put_name": _NAME,
}
_TOKENIZERS = {
    "tokenizer_class": r"[A-Za-z0-9]{1,40}Tokenizer(Fast)?|TokenizersBackend",
    r"\w+_token|(additional|extra)_special_tokens|never_split": _WORD,
    "(padding|truncation)_side": "left|right",
    "errors": "replace|ignore|strict",
    "(src|tgt)_lang|language|task": r"\w{1,20}",
}
_TOKENIZER_NUMBERS = re.compile(
    "model_max_length|do_(lower_case|basic_tokenize|lowercase_and_remove_accent)|strip_accents|keep_accents|"
    "tokenize_chinese_chars|clean_up_tokenization_spaces|add_(prefix_space|bos_token|eos_token)|trim_offsets|"
    "split_(special_tokens|by_punct)|legacy|remove_space|extra_ids"
)
_TOKEN = {"content", "lstrip", "rstrip", "single_word", "normalized", "special", "__type"}
_PIECES = ("spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "spm.model")
_VOCABULARIES = ("vocab.txt", "vocab.json", "merges.txt", *_PIECES)
# What a model's own settings may ask of the library without a change of what it computes.
_WITHOUT_EFFECT = {
    "trust_remote_code", "attn_implementation", "torch_dtype", "dtype", "use_safetensors", "weights_only",
    "add_pooling_layer", "low_cpu_mem_usage",
}  # fmt: skip


@contextmanager
def harmless_copy(folder: Path) -> Iterator[Path]:
    """A copy of what is read of an encoder's folder, for libraries to load.

    BadFile for a folder that asks for anything else than its weights computed.
    """
    with TemporaryDirectory(prefix="muse-encoder-") as name:
        try:
            _Copy(folder, Path(name)).add()
        except (OSError, ValueError) as error:
            raise BadFile(f"{folder}: expected a model, got {error}; copy the folder again") from error
        try:
            yield Path(name)
        except BadFile as error:
            raise BadFile(str(error).replace(name, str(folder))) from error


def refuse_adapter(folder: Path) -> None:
    """Raise BadFile for the folder of an adapter, alone or beside a model."""
    if (adapter := folder / "adapter_config.json").exists():
        raise BadFile(
            f"{adapter}: expected a whole model, got an adapter, which muse does not apply; merge it "
            "into the model (peft has merge_and_unload), and save that without this file"
        )


def check_weights(folder: Path, model: Any) -> None:
    """Raise BadFile if a torch module has the same row for every piece, as weights of zeros have."""
    table = next((one for one in model.parameters() if one.ndim == 2), None)
    if table is None or len(table) < 2:
        return
    if all(bool((some == table[0]).all()) for some in (table[:FIRST], table)):  # the first few tell mostly
        raise BadFile(
            f"{folder}: expected the weights of a trained model, got one row for all pieces; copy it again"
        )


@contextmanager
def tokenizers_tried(folder: Path, copy: Path, words: Sequence[str] = ()) -> Iterator[Callable[[], None]]:
    """Begin the trial of the tokenizers in the copy of a folder, on `words` too.

    What is yielded waits for its end, and raises BadFile where one grows too large or takes too long.
    """
    trials = [_trial(path, words) for path in _tokenizers(copy)]

    def end() -> None:
        if any(trial.wait() != 0 for trial in trials):
            raise BadFile(
                f"{folder}: expected a tokenizer that reads its own pieces and the words alike each time, "
                f"within {TRIAL_SECONDS} seconds and {TRIAL_MEMORY >> 30} GB, with at most {MOST_TOKENS:,} "
                "added tokens, got another; copy it again from where you trust it"
            )

    try:
        yield end
    finally:
        for trial in trials:
            trial.kill()
            trial.wait()


def _tokenizers(copy: Path) -> list[Path]:
    """The files of tokenizers that may change texts, one a folder."""
    found = [path for path in sorted(copy.rglob("*")) if path.name in {TOKENIZER, *_PIECES}]
    return [path for path in found if path.name == TOKENIZER or not path.with_name(TOKENIZER).exists()]


def _trial(path: Path, words: Sequence[str]) -> "subprocess.Popen[bytes]":
    listed = path.with_name("muse-words.txt")
    listed.write_text("\0".join(words), encoding="utf-8", errors="replace")
    limits = TRIAL_MEMORY + 20 * path.stat().st_size, TRIAL_SECONDS + len(words) // 50_000, MOST_TOKENS
    command = [sys.executable, "-I", tokenizer_trial.__file__, str(path), str(listed), *map(str, limits)]
    nothing, alone = subprocess.DEVNULL, {**os.environ, "TOKENIZERS_PARALLELISM": "false"}
    return subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, env=alone)


@dataclass(frozen=True)
class _Copy:
    """What is copied of a folder into another; `module` is the folder in both that is looked at."""

    folder: Path
    into: Path

    def add(self) -> None:
        """Copy all modules, or the one model of transformers or model2vec that there is."""
        if (self.folder / MODULES).exists():
            self._modules()
        elif (self.folder / SETTINGS).exists() and self._parsed(SETTINGS).get("model_type") == "model2vec":
            self._static()
        else:
            self._transformer()

    def _modules(self) -> None:
        path = self.folder / MODULES
        listed = self._parsed(MODULES, list)
        if not 0 < len(listed) <= MOST_MODULES or not all(isinstance(one, dict) for one in listed):
            raise BadFile(f"{path}: expected a list of modules, got others; check that the folder is whole")
        kept = [{"idx": place, "name": str(one.get("name", place)), "path": one.get("path", ""),
                 "type": one.get("type")} for place, one in enumerate(listed)]  # fmt: skip
        for one in kept:
            self._module(path, one["path"], one["type"])
        self._write(MODULES, kept)
        if (self.folder / "config_sentence_transformers.json").exists():
            settings = self._parsed("config_sentence_transformers.json")
            prompts = settings.get("prompts")
            named = {name: text for name, text in (prompts if isinstance(prompts, dict) else {}).items()
                     if isinstance(text, str) and len(text) <= LONGEST}  # fmt: skip
            default = settings.get("default_prompt_name")
            self._write("config_sentence_transformers.json", {
                "prompts": named, "default_prompt_name": default if default in [*named] else None
            })  # fmt: skip

    def _module(self, path: Path, name: object, kind: object) -> None:
        known = _TYPE.fullmatch(kind) if isinstance(kind, str) else None
        if known is None:
            raise BadFile(
                f"{path}: expected modules of sentence-transformers, such as Transformer and Pooling, got "
                f"{str(kind)[:80]!r}; muse runs no code of a folder: make vectors with it yourself, for "
                "--encoder-emb"
            )
        inner = _Copy(self.folder / inside(path, name), self.into / inside(path, name))
        inner.into.mkdir(parents=True, exist_ok=True)
        kinds = {"Transformer": inner._transformer, "StaticEmbedding": inner._static, "Router": inner._router}
        kinds.get(known[2], inner._layer)()

    def _layer(self) -> None:
        shapes, path = self._weights(), self.folder / SETTINGS
        if path.exists():
            kept = _plain(path, self._parsed(SETTINGS))
            most = 2 * _largest(shapes, LONGEST)
            for name, value in kept.items():
                if sum(map(abs, _sizes(value))) > most:
                    raise _too_large(path, shapes, name, value)
            self._write(SETTINGS, kept)

    def _static(self) -> None:
        self._weights()
        self._linked(TOKENIZER)

    def _router(self) -> None:
        name = "router_config.json"
        name = name if (self.folder / name).exists() else SETTINGS
        found = self._parsed(name)
        types, routes, more = (found.get(key) for key in ("types", "structure", "parameters"))
        if not (isinstance(types, dict) and isinstance(routes, dict)) or len(types) > MOST_MODULES:
            raise BadFile(f"{self.folder / name}: expected types and structure, got others; copy it again")
        for place, kind in types.items():
            if place in ("", ".") or str(kind).endswith("Router"):
                raise BadFile(f"{self.folder / name}: expected modules in folders, got {kind}; copy it again")
            self._module(self.folder / name, place, kind)
        default = more.get("default_route") if isinstance(more, dict) else None
        kept = {"default_route": default if default in [*routes] else None, "allow_empty_key": True}
        self._write(name, {"types": types, "structure": routes, "parameters": kept})

    def _transformer(self) -> None:
        refuse_adapter(self.folder)
        path, settings = self.folder / SETTINGS, self._parsed(SETTINGS)
        if not isinstance(kind := settings.get("model_type"), str) or kind not in _MODELS.split():
            raise BadFile(
                f"{path}: expected an encoder of text in transformers as model_type, as bert, got "
                f"{str(kind)[:80]!r}; make vectors with the model yourself, for --encoder-emb"
            )
        if settings.get("quantization_config"):
            raise BadFile(
                f"{path}: expected weights as they were trained, got a quantization_config; save the model "
                "without"
            )
        kept = _plain(path, settings)
        _check_sizes(path, kept, self._weights())
        self._write(SETTINGS, kept)
        for own in sorted(self.folder.glob("sentence_*_config.json")):
            self._write(own.name, _own_settings(own, self._parsed(own.name)))
        for name in ("tokenizer_config.json", "special_tokens_map.json", ADDED):
            if (self.folder / name).exists():
                self._write(name, _tokenizer_settings(self.folder / name, self._parsed(name)))
        for name in (TOKENIZER, *_VOCABULARIES):
            self._linked(name)

    def _weights(self) -> Mapping[str, Sequence[int]]:
        """The shapes of all weights, whose files are linked to; none where there is no such file."""
        files = [self.folder / WEIGHTS]
        if not files[0].exists():
            files = sorted(self.folder.glob("*.safetensors"))
            pickled = [one for one in sorted(self.folder.glob("*")) if one.suffix in PICKLED]
            if pickled and not files and not pickled[0].name.startswith("openvino_"):
                raise BadFile(
                    f"{pickled[0]}: expected weights in safetensors, found a pickle, which could run code; "
                    "convert the model, or make vectors with it yourself, for --encoder-emb"
                )
        shapes = {path.name: tensor_shapes(path) for path in files if self._linked(path.name, sized=False)}
        if shapes and WEIGHTS not in shapes:
            places = {tensor: name for name, tensors in shapes.items() for tensor in tensors}
            self._write(INDEX, {"metadata": {}, "weight_map": places})
        return {name: shape for one in shapes.values() for name, shape in one.items()}

    def _linked(self, name: str, *, sized: bool = True) -> bool:
        """Whether there is this file, which then is in the copy as well."""
        path = self.folder / name
        if not path.exists():
            return False
        refuse_stream(path, "of an encoder")
        if sized and path.stat().st_size > LARGEST[1]:
            raise BadFile(f"{path}: expected a tokenizer of at most {LARGEST[1] >> 20} MB; copy it again")
        if not (self.into / name).exists():  # several modules may be in one folder
            (self.into / name).symlink_to(path.resolve())
        return True

    def _parsed(self, name: str, kind: type[Any] = dict) -> Any:
        found = read_settings(self.folder / name)
        if not isinstance(found, kind):
            raise BadFile(f"{self.folder / name}: expected a {kind.__name__}, got others; copy it again")
        return found

    def _write(self, name: str, value: object) -> None:
        (self.into / name).write_text(json.dumps(value), encoding="utf-8")


def read_settings(path: Path) -> Any:
    """The content of a configuration; BadFile if it is no JSON or far too large."""
    refuse_stream(path, "of an encoder")
    try:
        if path.stat().st_size > LARGEST[0]:
            raise ValueError(f"more than {LARGEST[0] >> 20} MB")
        return parse_json(path.read_bytes(), "surrogatepass")
    except (OSError, *DAMAGED) as error:
        raise BadFile(f"{path}: expected JSON, got {error}; check that the folder is whole") from error


def inside(path: Path, name: object) -> str:
    """The name of a folder in the one of `path`, which names it; BadFile if it leads elsewhere."""
    plain = isinstance(name, str) and "\\" not in name and not PureWindowsPath(name).anchor  # as of /, //, C:
    parts = PurePosixPath(str(name)).parts if plain else ("..",)
    if ".." in parts or "\0" in str(name) or len(str(name)) > LONGEST_NAME:
        raise BadFile(f"{path}: expected folders in this one, got {str(name)[:80]!r}; copy the folder again")
    return "/".join(parts)


def _plain(path: Path, fields: Fields) -> Fields:
    """The fields with numbers, and those with strings that are known; BadFile for others of their names."""
    kept = Fields()
    for name, value in fields.items():
        inner = value if isinstance(value, list) else [value]
        texts = [one for one in inner if isinstance(one, str)]
        if isinstance(value, dict):
            if _ROPE.fullmatch(name):
                kept[name] = _plain(path, value)
        elif name.startswith("_") or name in _EXECUTED or any(isinstance(one, dict) for one in inner):
            continue
        elif not texts or (known := _known(name, texts, _STRINGS)):
            kept[name] = value
        elif known is not None:
            raise BadFile(
                f"{path}: expected a {name} that is part of the library, got {texts[0][:80]!r}; make vectors "
                "with the model yourself, for --encoder-emb"
            )
    return kept


def _known(name: str, texts: Sequence[str], strings: Mapping[str, str]) -> bool | None:
    """Whether a field with this name may have these texts; None for a name that is not known."""
    pattern = next((own for names, own in strings.items() if re.fullmatch(names, name)), None)
    return None if pattern is None else all(re.fullmatch(pattern, text) for text in texts)


def _own_settings(path: Path, settings: Fields) -> Fields:
    """The settings of sentence-transformers for a Transformer; BadFile if they change what is computed."""
    kept = {name: settings[name] for name in ("max_seq_length", "do_lower_case")
            if isinstance(settings.get(name), int)}  # fmt: skip
    for name in ("model", "tokenizer", "config", "processor"):
        for given in (settings.get(f"{name}_{end}") for end in ("args", "kwargs")):
            more = dict(given) if isinstance(given, dict) else {}
            if isinstance(longest := more.pop("model_max_length", None), int):
                kept.setdefault("max_seq_length", longest)
            if unknown := sorted(set(more) - _WITHOUT_EFFECT):
                raise BadFile(
                    f"{path}: expected no arguments but model_max_length, got {unknown[0][:80]!r} in "
                    f"{name}_args; save the model without, or make vectors with it yourself"
                )
    if settings.get("transformer_task", "feature-extraction") != "feature-extraction":
        raise BadFile(f"{path}: expected the transformer_task feature-extraction, got another; save it so")
    return kept


def _tokenizer_settings(path: Path, settings: Fields) -> Fields:
    """The settings of a tokenizer without names of files and classes, and with its special tokens."""
    tokens = max(map(len, [settings, *(one for one in settings.values() if isinstance(one, list | dict))]))
    if tokens > MOST_TOKENS:
        raise BadFile(
            f"{path}: expected at most {MOST_TOKENS:,} tokens, got {tokens:,}; leave out those that are not "
            "needed, or make vectors with the model yourself, for --encoder-emb"
        )
    if path.name == ADDED:
        return {name: number for name, number in settings.items() if type(number) is int}
    known: Fields = {name: value for name, value in settings.items()
             if _TOKENIZER_NUMBERS.fullmatch(name) and isinstance(value, int | float | None)}  # fmt: skip
    for name, value in settings.items():
        inner = value if isinstance(value, list) else [value]
        plain = [one.get("content") if _is_token(one) else one for one in inner]
        texts = all(isinstance(one, str) for one in plain)
        if plain and texts and _known(name, plain, _TOKENIZERS):
            known[name] = value
    added = settings.get("added_tokens_decoder")
    if isinstance(added, dict) and all(name.isdecimal() and _is_token(one) for name, one in added.items()):
        known["added_tokens_decoder"] = added
    return known


def _is_token(value: object) -> bool:
    kind = value.get("__type", "AddedToken") if isinstance(value, dict) and set(value) <= _TOKEN else None
    return kind == "AddedToken"


def _check_sizes(path: Path, settings: Fields, shapes: Mapping[str, Sequence[int]]) -> None:
    """Raise BadFile for sizes that the weights cannot have: building such a model takes hours."""
    largest = _largest(shapes)
    for name, value in settings.items():
        sizes = _sizes(value)
        if not sizes or "theta" in name or name.endswith(("_id", "_index")):
            continue
        most = min(len(shapes), MOST_LAYERS) if _PARTS.search(name) else max(_ANY_SIZE, 16 * largest)
        most = 2 * largest if name in ("vocab_size", "hidden_size", "intermediate_size", "d_model") else most
        least = 1 if _LAYERS.fullmatch(name) else -1
        if shapes and not (least <= min(sizes) and sum(sizes) <= most):
            raise _too_large(path, shapes, name, value)


def _largest(shapes: Mapping[str, Sequence[int]], default: int = 0) -> int:
    return max((size for shape in shapes.values() for size in shape), default=default)


def _sizes(value: object) -> list[int]:
    """The integers that a field has, alone or in a list."""
    return [one for one in (value if isinstance(value, list) else [value]) if type(one) is int]


def _too_large(path: Path, shapes: Mapping[str, Sequence[int]], name: str, value: object) -> BadFile:
    return BadFile(
        f"{path}: expected sizes that fit its {len(shapes)} weights (at most {_largest(shapes)} long), got "
        f"{name} {str(value)[:80]}; copy the folder again"
    )
