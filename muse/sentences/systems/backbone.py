"""Backbones: frozen encoders that give the sentence systems one row for each word of a sentence.

A backbone turns the ids of a sentence into a matrix (T, K): rows of an aligned space, or the last layer of a
pretrained encoder in a local folder, an xlm that muse trained or a Hugging Face encoder. Only this module
uses transformers. Nothing is downloaded, no code from the folder is run, no pickle is read.

A backbone is also an encoder as it is, without training (`pretrained`): a sentence is the mean of the last
states of its pieces, without those that the model expects around them.
"""

import hashlib
import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from muse.errors import BadFile, BadSetting, Mismatch, MissingExtra, MuseError
from muse.files.encoder_folder import check_weights, harmless_copy, refuse_adapter, tokenizers_tried
from muse.files.space_folder import checksum, with_checksum
from muse.installation import install_extra
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import PIECE, Limited, Reader, Reading, Vocabulary
from muse.sentences.encoders.saving import ARRAYS, is_encoder
from muse.sentences.systems.network_encoder import NetworkEncoder, SentenceNetwork, open_network
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.sentences.systems.pieces import BOS, EOS, is_failure
from muse.sentences.systems.xlm.language_model import XlmNetwork, network_of
from muse.space import Space

log = logging.getLogger(__name__)

SENTENCES_GUESSED_FROM = 2_000  # sentences whose language is guessed
LONGEST = 512  # words of a sentence; longer input is not a sentence, and its matrix would fill the memory
_XLM = "xlm"
PRETRAINED = "pretrained"  # the system whose network is a backbone alone
LEAST_SHARE_OF_ROWS = 0.98  # of a model must be its tokenizer's; some have a few spare rows


class Matrices(NamedTuple):
    """The rows (b, T, K) of the words of b sentences, float32 and 0 in padding, and their mask (b, T)."""

    rows: Tensor
    mask: Tensor


class Backbone(ABC):
    """The interface of backbones, which are never trained.

    `name` stands in signatures, such as space or bert@3f2a. `dimension` is the number of columns K.
    `settings` are the JSON values that identify the backbone in a saved encoder; empty for the words of its
    space. A sentence has at most the `longest` number of ids.
    """

    name: str
    dimension: int
    longest: int = LONGEST
    settings: Mapping[str, Any]

    @abstractmethod
    def reader(self, language: str) -> Reader:
        """A reader of sentences in a language; BadSetting if the backbone lacks it."""

    @abstractmethod
    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The matrices of sentences, given as ids from the reader of their language."""


class SpaceBackbone(Backbone):
    """The words of an aligned space; the row of a word does not depend on its context."""

    name = "space"

    def __init__(self, space: Space, device: str = "cpu") -> None:
        self._space, self._device = space, device
        self._rows: dict[str, Tensor] = {}
        self.dimension, self.settings = space.vectors(space.pivot).dimension, dict[str, Any]()

    def reader(self, language: str) -> Reader:
        """A reader of the words that the space contains."""
        return Limited(Vocabulary(language, self._space.vectors(language).index), LONGEST)

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The rows of the words of each sentence."""
        if language not in self._rows:
            # A copy, because the memory-mapped folder may be replaced while its rows are in use.
            self._rows[language] = torch.tensor(self._space.vectors(language).matrix, device=self._device)
        ids, mask = batch.padded()
        return Matrices(self._rows[language][ids] * mask[..., None], mask)


def warn_of_another_language(
    text: Sequence[str], language: str, path: Path, backbone: Backbone, space: Space
) -> None:
    """Logs a warning if more tokens of a text are words of another language than of `language`."""
    known = {}
    for other in space.languages:
        reading = backbone.reader(other).read(text[:SENTENCES_GUESSED_FROM])
        known[other] = reading.known / max(1, reading.tokens)
    best = max(known, key=lambda other: known[other])
    if known[best] > known[language]:
        log.warning(
            "%s: %.0f %% of the tokens are words of %s, %.0f %% of %s: is the text in %s?",
            path, 100 * known[best], best, 100 * known[language], language, language,
        )  # fmt: skip


def open_backbone(space: Space, folder: Path | None, device: str = "cpu", depth: float = 1.0) -> Backbone:
    """The backbone in a folder, an xlm of muse or a Hugging Face encoder; by default the words of a space.

    Of a Hugging Face encoder only this share of the layers is used, its `depth`.
    """
    if folder is None:
        return SpaceBackbone(space, device)
    return XlmBackbone(folder, device) if is_encoder(folder) else HuggingFaceBackbone(folder, device, depth)


def restored_backbone(saved: Mapping[str, Any], space: Space) -> Backbone:
    """The backbone of a saved encoder, by its settings; Mismatch if its weights changed, BadFile if lost."""
    folder = Path(saved["folder"]) if saved else None
    if folder is not None and not folder.is_dir():
        raise BadFile(
            f"{folder}: expected the backbone that the encoder was trained with, found no folder; put it "
            "back, or link to it"
        )
    backbone = open_backbone(space, folder)
    if backbone.settings.get("sha256") != saved.get("sha256"):
        raise Mismatch(
            f"{saved['folder']}: the encoder was trained with weights of checksum {saved['sha256'][:8]}, "
            f"got {backbone.settings['sha256'][:8]}; restore the original weights"
        )
    return backbone


class FolderBackbone(Backbone, ABC):
    """A model in a folder, known by the checksum of its weights."""

    def __init__(self, folder: Path, sha256: str, device: str) -> None:
        self.name = with_checksum(folder.resolve().name, sha256)
        self.settings = {"folder": str(folder.resolve()), "sha256": sha256}
        self._folder, self._device = folder, device

    def _matrices(self, rows: Tensor, mask: Tensor) -> Matrices:
        """The rows (b, T, K) with 0 in padding; BadFile if any is not finite."""
        if not rows.isfinite().all():
            raise BadFile(f"{self._folder}: expected finite weights, got rows with nan or inf; save it again")
        return Matrices(rows * mask[..., None], mask)


class XlmBackbone(FolderBackbone):
    """A model of `muse train --encoder xlm`, which reads every language that it was trained on.

    Raises BadSetting for a folder with another encoder, BadFile for rows that are not finite.
    """

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        needed = f"expected a model trained with {_XLM}"
        network = open_network(folder, _XLM, needed, network_of)
        super().__init__(folder, checksum(folder / ARRAYS), device)
        self._network: XlmNetwork = network.to(device).requires_grad_(False)
        self.dimension = network.dimension
        self.longest = network.config.length - 2  # with <bos> and <eos>

    def reader(self, language: str) -> Reader:
        """The reader of pieces, the same for all languages; BadSetting for one that the model lacks."""
        if language not in self._network.languages:
            raise BadSetting(
                f"{self._folder}: this model was trained on {', '.join(self._network.languages)}, got "
                f"{language!r}; train one with text of it"
            )
        return Limited(self._network.pieces, self.longest)

    @torch.no_grad()
    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The last states of the pieces; <bos> and <eos> are read around them, and left out."""
        mask = batch.padded().mask  # (b, T)
        framed = batch.framed(BOS, EOS).to(self._device).padded()
        return self._matrices(self._network.states(framed, language)[:, 1 : 1 + mask.shape[1]], mask)


class HuggingFaceBackbone(FolderBackbone, Reader):
    """A pretrained encoder such as mBERT, the same for all languages.

    Raises BadFile if the folder lacks weights or a tokenizer, Mismatch if they do not belong together, and
    MissingExtra without transformers.
    """

    def __init__(self, folder: Path, device: str = "cpu", depth: float = 1.0) -> None:
        super().__init__(folder, _checked_weights(folder), device)
        with harmless_copy(folder) as copy, _loading(folder):
            with tokenizers_tried(folder, copy) as end:
                self._tokenizer, self._model = _loaded(folder, copy, end)
            check_weights(folder, self._model)
            _cut_layers_(self._model, depth)
            self._model.to(device)
            self.dimension = int(self._model.config.hidden_size)
            self._before, self._after = _around(self._tokenizer)
            self.longest = self._room() - len(self._before) - len(self._after)
            if self.longest < 1 or not self.matrices(self.read(["a"]).sentences, "").rows.numel():
                raise ValueError("it computes no rows")

    def reader(self, language: str) -> Reader:
        """Returns self, since one tokenizer reads all languages."""
        return self

    def read(self, sentences: Iterable[str]) -> Reading:
        """The pieces of the sentences, without the special pieces before and after them."""
        texts = list(sentences)
        found = self._tokenizer(texts, add_special_tokens=False, verbose=False).input_ids if texts else []
        reading, unknown = Reading.of(found, PIECE), self._tokenizer.unk_token_id
        # Unknown words are kept as the model's special piece, if it has one.
        return (reading if unknown is None else reading.marking(unknown)).cut(self.longest)

    @torch.no_grad()
    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The last layer's states of the pieces."""
        mask = batch.padded().mask  # (b, T)
        parts = torch.tensor_split(batch.ids.cpu(), batch.offsets[1:-1].cpu())
        whole = Ragged.of([[*self._before, *part.tolist(), *self._after] for part in parts])
        ids, attended = whole.padded()
        given = {"input_ids": ids.to(self._device), "attention_mask": attended.long().to(self._device)}
        hidden = self._model(**given).last_hidden_state.float()  # (b, before + T + after, K)
        return self._matrices(hidden[:, len(self._before) : len(self._before) + mask.shape[1]], mask)

    def _room(self) -> int:
        """The largest number of pieces in one input, special ones included."""
        positions = getattr(self._model.config, "max_position_embeddings", None) or LONGEST
        for name, part in self._model.named_modules():
            # RoBERTa and similar models count positions from the one after padding.
            if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
                positions -= part.padding_idx + 1
        return int(min(positions, self._tokenizer.model_max_length))


class PretrainedNetwork(SentenceNetwork):
    """A backbone, which is not saved, and the mean over its pieces."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone, self.dimension, self.reader = backbone, backbone.dimension, backbone.reader

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, K) of sentences."""
        return masked_mean(*self.backbone.matrices(batch, language))


def is_pretrained(folder: Path) -> bool:
    """Whether a folder has a model as Hugging Face's libraries save it."""
    return (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))


def pretrained(folder: Path, space: Space) -> NetworkEncoder:
    """The encoder in a folder, for all languages of a space."""
    backbone = open_backbone(space, folder)
    settings = {"system": PRETRAINED, "backbone": dict(backbone.settings)}
    label = f"{PRETRAINED}[{backbone.name}]"
    return NetworkEncoder(label, space, tuple(space.languages), PretrainedNetwork(backbone), settings)


def restored_pretrained(settings: Mapping[str, Any], space: Space) -> SentenceNetwork:
    """The network of a saved one; Mismatch if the weights in its folder have changed."""
    return PretrainedNetwork(restored_backbone(settings["backbone"], space))


def _checked_weights(folder: Path) -> str:
    """The checksum of the weights in a folder; BadFile if it holds no model."""
    if not folder.is_dir():
        raise BadFile(
            f"{folder}: expected the folder of a pretrained encoder, found none with this name; check it"
        )
    refuse_adapter(folder)
    files = sorted(folder.glob("*.safetensors"))
    if not (folder / "config.json").is_file() or not files:
        raise BadFile(
            f"{folder}: expected config.json, a tokenizer and model.safetensors, got a folder "
            f"without {'weights' if (folder / 'config.json').is_file() else 'config.json'}; save the model "
            "there with save_pretrained"
        )
    if len(files) == 1:
        return checksum(files[0])
    return hashlib.sha256("".join(map(checksum, files)).encode()).hexdigest()


def _loaded(folder: Path, copy: Path, end: Callable[[], None]) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    end()
    here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(copy, **here)
    model, found = AutoModel.from_pretrained(
        copy, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **here
    )
    # They would be random; the pooler comes after the last layer.
    if lacking := sorted(name for name in found["missing_keys"] if "pooler" not in name):
        raise BadFile(
            f"{folder}: expected the weights of the whole encoder, got none for {lacking[0]} and "
            f"{len(lacking) - 1} more; save the model there with save_pretrained"
        )
    rows, pieces = model.get_input_embeddings().num_embeddings, 1 + max(tokenizer.get_vocab().values())
    if not LEAST_SHARE_OF_ROWS * rows <= pieces <= rows:
        raise Mismatch(
            f"{folder}: the tokenizer must belong to the model, which has {rows} pieces, got {pieces}; "
            "copy the right tokenizer there"
        )
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    return tokenizer, model.eval().requires_grad_(False)


def _cut_layers_(model: Any, depth: float) -> None:
    """Removes the layers behind a share of them, rounded; a model whose layers are not one list is kept."""
    count = getattr(model.config, "num_hidden_layers", 0)
    for part in model.modules():
        if isinstance(part, torch.nn.ModuleList) and len(part) == count:
            del part[max(1, round(depth * count)) :]


def _around(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The special pieces that the model expects before and after a sentence."""
    alone, whole = tokenizer("a", add_special_tokens=False).input_ids, tokenizer("a").input_ids
    start = next(i for i in range(len(whole)) if whole[i : i + len(alone)] == alone)
    return whole[:start], whole[start + len(alone) :]


@contextmanager
def _loading(folder: Path) -> Iterator[None]:
    """A block in which BadFile is raised for whatever the libraries make of a damaged folder.

    In it transformers draws no bars, and prints no list of unused weights.
    """
    try:
        from transformers.utils import logging as module
    except ImportError as error:
        raise MissingExtra(
            f"a pretrained encoder needs transformers, which is missing; run {install_extra('transformers')}"
        ) from error

    logging: Any = module  # some of its functions lack annotations
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong is an error below
            yield
    except MuseError:
        raise
    except BaseException as error:  # tokenizers raises no narrower one, transformers any
        if not is_failure(error):
            raise
        reason = str(error).strip().partition("\n")[0]
        raise BadFile(
            f"{folder}: expected an encoder and its tokenizer, but they do not load ({reason}); save both "
            "there with save_pretrained"
        ) from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
