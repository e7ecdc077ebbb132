"""The lens: its forms by their formulas, both ways to train it, over the space and a Hugging Face folder."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadFile, Mismatch
from muse.sentences.loading import load_encoder
from muse.sentences.systems.backbone import SpaceBackbone
from muse.sentences.systems.lens import GatedConv, Lens, LensConfig, LensNetwork, Simple
from muse.space import load_space
from tests.support.command import Command
from tests.support.parallel import WORDS, part_of, toy_space, toy_text, write_text
from tests.support.tiny_bert import SPECIAL, save_tiny_bert
from tests.support.toy_training import set_options

LENGTHS = (5, 1, 3)


def sentences(width: int) -> tuple[Tensor, Tensor]:
    """Random rows (3, 5, K), with 0 in padding, and their mask (3, 5)."""
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return torch.randn(*mask.shape, width, generator=torch.Generator().manual_seed(1)) * mask[..., None], mask


@pytest.mark.parametrize("mean", [True, False])
def test_the_simple_lens_is_its_formula(mean: bool) -> None:
    (rows, mask), lens = sentences(6), Lens(6, LensConfig(dimension=7, mean=mean))
    assert isinstance(lens.form, Simple)
    found = lens(rows, mask)
    assert found.shape == (3, lens.dimension)
    for place, count in enumerate(LENGTHS):
        words = rows[place, :count]
        mapped = (words @ lens.form.map.weight.T + lens.form.map.bias).clamp(min=0).amax(dim=0)
        expected = torch.cat([words.mean(dim=0), mapped]) if mean else mapped
        torch.testing.assert_close(found[place], expected)


def by_hand(form: GatedConv, words: Tensor) -> Tensor:
    """F (T, D) of the rows (T, K) of one sentence, word by word: equations 1 to 4 of the paper."""
    states = []
    for part, last in ((form.encoder, torch.tanh), (form.controller, torch.sigmoid)):
        layers = [(words @ part.map.weight.T + part.map.bias).relu()]
        for number, convolution in enumerate(part.convolutions, 1):
            assert isinstance(convolution, nn.Conv1d)
            assert convolution.bias is not None
            (reach,) = convolution.kernel_size
            before = functional.pad(layers[-1], [0, 0, reach // 2, reach // 2])
            sums = [
                torch.einsum("ki,oik->o", before[t : t + reach], convolution.weight) + convolution.bias
                for t in range(len(words))
            ]
            layers.append((last if number == len(part.convolutions) else torch.relu)(torch.stack(sums)))
        states.append(layers)
    h, g = states
    return (h[-1] * g[-1] + g[0]) @ form.fusion.weight.T + form.fusion.bias


@pytest.mark.parametrize(("layers", "kernel"), [(1, 3), (2, 5), (3, 1)])
def test_the_gated_lens_is_its_formula_and_padding_changes_nothing(layers: int, kernel: int) -> None:
    config = LensConfig("gated", dimension=7, gate=4, layers=layers, kernel=kernel)
    (rows, mask), lens = sentences(6), Lens(6, config)
    assert isinstance(lens.form, GatedConv)
    found = lens(rows, mask)
    for place, count in enumerate(LENGTHS):
        expected = by_hand(lens.form, rows[place, :count]).relu().amax(dim=0)
        torch.testing.assert_close(found[place], expected)


def test_a_lens_in_training_drops_out_at_random() -> None:
    (rows, mask), lens = sentences(6), Lens(6, LensConfig(dimension=7, dropout=0.5))
    assert not torch.equal(lens(rows, mask), lens(rows, mask))
    lens.eval()
    assert torch.equal(lens(rows, mask), lens(rows, mask))


def test_sentences_of_any_length_in_one_batch_are_as_they_are_alone(tmp_path: Path) -> None:
    backbone = SpaceBackbone(toy_space(tmp_path / "space"))
    rng = np.random.default_rng(2)
    text = [" ".join(f"fr{i}" for i in rng.integers(WORDS, size=size)) for size in rng.integers(1, 30, 150)]
    read = backbone.reader("fr").read(text).sentences
    network = LensNetwork(backbone, LensConfig("gated", dimension=8, gate=4)).eval()
    found = network(read, "fr")
    alone = torch.cat([network(read.take(torch.tensor([i])), "fr") for i in range(150)])
    torch.testing.assert_close(found, alone)


def write_inferences(path: Path, count: int = 300) -> Path:
    """Pairs of en in SNLI's columns: the same words are entailed, others contradicted, half is neutral."""
    rng = np.random.default_rng(4)
    lines = ["pairID\tgold_label\tsentence1\tsentence2\tSemEval_set"]
    for number in range(count):
        label = ("entailment", "neutral", "contradiction")[number % 3]
        words = rng.permutation(WORDS)[:8]
        kept = {"entailment": words[:4], "neutral": words[2:6], "contradiction": words[4:]}[label]
        sides = (" ".join(f"en{i}" for i in side) for side in (words[:4], rng.permutation(kept)))
        lines.append("\t".join([str(number), label, *sides, part_of(number % 8)]))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_classifier_trains_a_lens_for_every_language_of_the_space(muse: Command, tmp_path: Path) -> None:
    toy_space(tmp_path / "space")
    inferences = write_inferences(tmp_path / "nli.tsv")
    learned = ["--epochs", 12, "--batch", 32, "--rate", 1, *set_options(dimension=32, warmup=20, mean="true")]
    arguments = ["train", tmp_path / "space", "--encoder", "lens", "--lang", "en", "--out", tmp_path / "out"]
    found = muse(*arguments, "--nli", inferences, *learned, "--json").json
    assert (found["metric"], found["encoder"]) == ("accuracy", "lens[mean+simple:32,space]")
    lens, hidden, labels = 32 * 16 + 32, 512, 3
    assert found["parameters"] == lens + (4 * (32 + 16) + 1) * hidden + (hidden + 1) * labels
    assert found["score"] > 60 > 45 > found["score_by_epoch"][0]
    encoder = load_encoder(tmp_path / "out", load_space(tmp_path / "space"))
    assert encoder.encode(["fr1 fr2"], "fr").matrix.any()


PIECES = [*SPECIAL, *(f"{name}{i}" for name in ("en", "fr") for i in range(WORDS))]


@pytest.mark.slow
def test_a_lens_over_a_hugging_face_core(muse: Command, tmp_path: Path) -> None:
    backbone = save_tiny_bert(tmp_path / "tiny", PIECES, longest=16)
    space = toy_space(tmp_path / "space")
    text, out = write_text(tmp_path / "text.tsv", toy_text()), tmp_path / "out"
    plain = ["train", tmp_path / "space", "--encoder", "lens", "--lang", "fr", "--parallel", text]
    settings = set_options(kind="gated", dimension=32, gate=8, warmup=10, mean="true")
    quick = ["--backbone", backbone, "--epochs", 6, "--batch", 64, "--rate", 1, "--out", out, "--json"]
    found = muse(*plain, *settings, *quick).json
    assert found["encoder"].startswith("lens[mean+gated:32,tiny@")
    assert found["score"] > found["score_by_epoch"][0]
    encoder = load_encoder(out, space)
    assert encoder.encode(["fr1 fr2", ""], "fr").matrix.shape == (2, 8 + 32)
    with np.load(out / "arrays.npz") as arrays:
        assert found["parameters"] == sum(array.size for array in arrays.values())
    backbone.rename(tmp_path / "elsewhere")
    with pytest.raises(
        BadFile, match="expected the backbone that the encoder was trained with, found no folder"
    ):
        load_encoder(out, space)
    backbone.symlink_to(tmp_path / "elsewhere")
    assert load_encoder(out, space).name == encoder.name
    save_tiny_bert(backbone, PIECES, longest=16, seed=1)
    with pytest.raises(Mismatch, match="trained with weights of checksum"):
        load_encoder(out, space)
