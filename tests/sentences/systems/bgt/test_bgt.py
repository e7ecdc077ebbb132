"""BGT: its posteriors and likelihoods against their formulas, and the system from end to end."""

import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import kstest, nbinom
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from muse.errors import BadSetting
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.encoders.saving import read_encoder, write_encoder
from muse.sentences.loading import load_encoder
from muse.sentences.systems.bgt import latent_network
from muse.sentences.systems.bgt.bgt_system import PRESETS, BgtLearner, LanguageLatents, Rewriting, load_bgt
from muse.sentences.systems.bgt.inputs import OF_WRITERS, BgtConfig, missing_tokens, space_words
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.networks.transformer import Inputs, Memory, TransformerLayers
from muse.sentences.systems.pieces import BOS, EOS, SPECIALS, UNK
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest
from muse.sentences.systems.writing import best_sequences
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.trainer import TrainerConfig
from muse.space import load_space
from tests.support import bgt
from tests.support.command import Command, refused, refused_leaving
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.toy_training import set_options


def test_the_divergence_and_the_draws_are_those_of_a_gaussian() -> None:
    mean, spread = torch.randn(3, 4, generator=bgt.drawn()), torch.rand(3, 4, generator=bgt.drawn(1)) + 0.2
    gaussian = latent_network.Gaussian(mean, (spread**2).log())
    expected = kl_divergence(Normal(mean, spread), Normal(0.0, 1.0)).sum(dim=1)
    torch.testing.assert_close(gaussian.divergence(), expected)
    assert not latent_network.Gaussian(torch.zeros(2, 3), torch.zeros(2, 3)).divergence().any()
    near = torch.full((1, 200), 0.03, dtype=torch.bfloat16)  # whose variance bf16 rounds to 1.03125
    assert 0.04 < latent_network.Gaussian(torch.zeros_like(near), near).divergence().item() < 0.05
    generator = bgt.drawn(2)
    samples = torch.stack([gaussian.sample(generator) for _ in range(4_000)])
    torch.testing.assert_close(samples.mean(dim=0), mean, atol=0.08, rtol=0)
    torch.testing.assert_close(samples.std(dim=0), spread, atol=0.05, rtol=0)
    assert torch.equal(gaussian.sample(bgt.drawn(3)), gaussian.sample(bgt.drawn(3)))


def test_an_encoder_is_a_map_of_the_mean_and_padding_is_nothing() -> None:
    encoder = latent_network.Encoder(5, 3, None, bgt.drawn())
    rows, mask = torch.randn(2, 4, 5), torch.tensor([[True] * 4, [True, True, False, False]])
    found = encoder(rows, mask)
    weight = next(encoder.parameters())
    expected = rows[1, :2].mean(dim=0) @ weight.T
    torch.testing.assert_close(torch.cat([found.mean[1], found.log_variance[1]]), expected)


def test_features_stand_beside_the_mean_and_have_a_bias() -> None:
    encoder, rows, features = (
        latent_network.Encoder(5, 3, None, bgt.drawn(), surface=2),
        torch.randn(2, 4, 5),
        torch.rand(2, 2),
    )
    weight, bias = (part.detach() for part in encoder.parameters())
    bias += torch.arange(6.0)
    found = encoder(rows, torch.ones(2, 4, dtype=torch.bool), features)
    expected = rows.mean(dim=1) @ weight[:, :5].T + features @ weight[:, 5:].T + torch.arange(6.0)
    torch.testing.assert_close(torch.cat([*found], dim=1), expected)


@pytest.mark.parametrize("counted", [0, 3, 40])
def test_the_surface_is_the_logarithms_of_length_and_counts(counted: int) -> None:
    generator, first = np.random.default_rng(0), len(SPECIALS)
    sentences = [generator.integers(UNK, 15, size=size).tolist() for size in (1, 4, 11)]
    found = latent_network.surface(Ragged.of(sentences).padded(), counted)
    expected = [
        [np.log(len(ids)), *(np.log(1 + ids.count(first + place)) for place in range(counted))]
        for ids in sentences
    ]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float32))


def test_a_length_is_negative_binomial_of_a_log_linear_mean() -> None:
    length, n = latent_network.Length(4, bgt.drawn()).double(), torch.tensor([0, 1, 2, 7, 30, 100])
    latents = torch.randn(6, 4, generator=bgt.drawn(), dtype=torch.float64)
    named = dict(length.named_parameters())
    with torch.no_grad():
        named["_log_shape"].fill_(0.7)
    mean = (latents @ named["_log_mean.weight"].T)[:, 0] + named["_log_mean.bias"]
    shape, means = float(np.exp(0.7)), mean.exp().detach().numpy()
    expected = -nbinom.logpmf(n.numpy(), shape, shape / (shape + means))
    np.testing.assert_allclose(length(latents, n).detach(), expected, rtol=1e-9)
    every = length(latents[:1].expand(3_000, -1), torch.arange(3_000))
    torch.testing.assert_close((-every).exp().sum().item(), 1.0, atol=1e-4, rtol=0)
    assert bool(length(1e4 * latents, n).isfinite().all())  # a draw from far out does not end a training


def test_a_length_is_as_probable_in_half_precision() -> None:
    length = latent_network.Length(3, bgt.drawn())
    latents, lengths = torch.randn(50, 3, generator=bgt.drawn()), torch.arange(250, 300)
    with torch.autocast("cpu", torch.bfloat16):
        half = length(latents, lengths)
    torch.testing.assert_close(half, length(latents, lengths), rtol=0.0, atol=3.0)  # else 15


@pytest.mark.parametrize("form", ["rows", "map"])
def test_a_bag_s_likelihood_is_its_formula(form: str) -> None:
    rows = torch.randn(9, 5) if form == "rows" else None
    scores = latent_network.Scores(4, 8, rows, bgt.drawn())
    decoder, z = latent_network.Decoder(scores), torch.randn(2, 4)
    sentences = Ragged.of([[5, 8, 6], [7]]).padded()
    chances = scores(z).log_softmax(dim=1)
    told = [[5, UNK, 6], [7]]  # 8 is beyond the vocabulary
    expected = torch.stack([-chances[place, ids].sum() for place, ids in enumerate(told)])
    torch.testing.assert_close(decoder([z[:, :1], z[:, 1:]], sentences), expected)
    smoothed = torch.stack([
        torch.nn.functional.cross_entropy(
            scores(z)[[place] * len(ids)], torch.tensor(ids), label_smoothing=0.1, reduction="sum"
        )
        for place, ids in enumerate(told)
    ])  # fmt: skip
    torch.testing.assert_close(decoder([z], sentences, smoothing=0.1), smoothed)
    length = latent_network.Length(4, bgt.drawn(1))
    whole = latent_network.Decoder(scores, length=length)([z], sentences)
    torch.testing.assert_close(whole, expected + length(z, torch.tensor([3, 1])))


def test_all_bags_of_a_length_are_as_probable_as_the_length() -> None:
    length, z = latent_network.Length(4, bgt.drawn(1)), torch.randn(1, 4, generator=bgt.drawn(2))
    decoder = latent_network.Decoder(latent_network.Scores(4, 3, None, bgt.drawn()), length=length)
    for n in range(1, 6):
        every = torch.tensor([*itertools.product(range(3), repeat=n)])
        nats = decoder([z.expand(len(every), -1)], Padded(every, torch.ones_like(every, dtype=torch.bool)))
        torch.testing.assert_close((-nats).exp().sum(), (-length(z, torch.tensor([n])))[0].exp())


def test_a_decoder_with_layers_is_a_distribution_over_sequences_that_the_latents_move() -> None:
    body = TransformerLayers(bgt.LAYERS.transformer(1, decoder=True), bgt.drawn())
    decoder = latent_network.Decoder(latent_network.Scores(24, 7, None, bgt.drawn(1)), body)
    every = torch.tensor([[BOS, *ids] for ids in itertools.product(range(7), repeat=2)])
    sentences = Padded(every, torch.ones_like(every, dtype=torch.bool))
    latents = [torch.randn(1, 8, generator=bgt.drawn(seed)).expand(len(every), -1) for seed in (2, 3)]
    found = decoder(latents, sentences)
    # It sums to one only where no token is seen before it is told.
    torch.testing.assert_close((-found).exp().sum(), torch.tensor(1.0))
    for place in (0, 1):
        other = [*latents]
        other[place] = torch.zeros_like(other[place])
        assert not torch.allclose(decoder(other, sentences), found)


def test_the_terms_are_those_of_the_paper() -> None:
    network = bgt.made()
    told, divergence, translated, _ = network.terms(bgt.PAIR, 1, bgt.drawn(4))
    meanings, own = bgt.posteriors(network)
    torch.testing.assert_close(
        divergence, meanings[1].divergence() + own[0].divergence() + own[1].divergence()
    )
    generator, sentences = bgt.drawn(4), [side.padded() for side in bgt.PAIR]
    shared = meanings[1].sample(generator)
    parts = [
        decode([shared, posterior.sample(generator)], given)
        for decode, posterior, given in zip(network.decoders, own, sentences, strict=True)
    ]
    torch.testing.assert_close(told, parts[0] + parts[1])
    crossed = network.translators[0]([meanings[1].mean], sentences[0], 0.1)
    crossed = crossed + network.translators[1]([meanings[0].mean], sentences[1], 0.1)
    torch.testing.assert_close(translated, crossed)
    assert torch.equal(LanguageLatents(network)(bgt.PAIR[1], "fra"), own[1].mean)


def test_a_translator_of_bags_tells_no_length() -> None:
    network = bgt.made()
    network.terms(bgt.PAIR, 0, bgt.drawn()).translated.mean().backward()  # type: ignore[no-untyped-call]
    graded = {name for name, part in network.named_parameters() if part.grad is not None}
    assert not [name for name in graded if "_length" in name]
    assert any(name.startswith("semantic") for name in graded)
    lengths = [name for name, _ in network.named_parameters() if "_length" in name]
    assert {name.split(".")[0] for name in lengths} == {"decoders"}


def test_the_loss_anneals_the_prior_and_alternates_sides() -> None:
    network = bgt.made()
    learner, rows = bgt.learner_of(network), torch.arange(2)
    for step, weight in ((1, 0.1), (2, 0.2), (10, 1.0), (25, 1.0)):
        told, divergence, translated, _ = network.terms(bgt.PAIR, step % 2, bgt.drawn(step))
        learner.begin(step)
        found = learner.loss(rows, bgt.drawn(step))
        torch.testing.assert_close(found, (told + weight * divergence + translated).mean())


def test_the_side_may_be_another_for_every_pair() -> None:
    network = bgt.made()
    meanings, own = bgt.posteriors(network)
    found = network.terms(bgt.PAIR, torch.tensor([1, 0]), bgt.drawn()).divergence
    expected = torch.stack([meanings[1].divergence()[0], meanings[0].divergence()[1]])
    torch.testing.assert_close(found, expected + own[0].divergence() + own[1].divergence())
    for side in (0, 1):
        for one, other in zip(
            network.terms(bgt.PAIR, torch.full((2,), side), bgt.drawn()),
            network.terms(bgt.PAIR, side, bgt.drawn()),
            strict=True,
        ):
            torch.testing.assert_close(one, other)


def test_pairs_draw_their_sides() -> None:
    network = bgt.made(replace(bgt.SMALL, sides="pairs"))
    learner, rows = bgt.learner_of(network), torch.arange(2)
    learner.begin(10)
    sides = torch.randint(2, (2,), generator=bgt.drawn(3))
    generator = bgt.drawn(3)
    torch.randint(2, (2,), generator=generator)
    told, divergence, translated, _ = network.terms(bgt.PAIR, sides, generator)
    expected = (told + divergence + translated).mean()
    torch.testing.assert_close(learner.loss(rows, bgt.drawn(3)), expected)


def test_without_reconstruction_the_translation_loss_is_left() -> None:
    network = bgt.made(replace(bgt.SMALL, reconstruction=0.0))
    assert {name.split(".")[0] for name, _ in network.named_parameters()} == {"semantic", "translators"}
    learner = bgt.learner_of(network)
    learner.begin(50)
    expected = network.terms(bgt.PAIR, 0, bgt.drawn()).translated.mean()
    torch.testing.assert_close(learner.loss(torch.arange(2), bgt.drawn()), expected)


def test_batches_by_tokens_hold_every_pair_once() -> None:
    lengths = [[1, 1], [2, 5], [6, 1], [3, 3], [5, 2], [2, 2], [1, 6]]
    sides = [Ragged.of([[7] * pair[side] for pair in lengths]) for side in (0, 1)]
    rows = torch.arange(len(lengths))
    training = torch.tensor([6, 5, 4, 3, 2, 1])
    text = Pairs(sides[0], sides[1], (rows, rows), training, rows[:1], 0)
    network = bgt.made(replace(bgt.SMALL, tokens=16))
    learner = BgtLearner(network, ("en", "fra"), text, TrainerConfig())
    order = torch.tensor([3, 0, 5, 1, 2, 4])
    batches = learner.batches(order, 2, bgt.drawn())
    assert sorted(torch.cat([*batches]).tolist()) == list(range(6))
    for batch in batches:
        widest = max(max(lengths[int(training[place])]) + 2 for place in batch)
        assert widest * len(batch) <= 16
    assert max(map(len, batches)) > 1
    again = learner.batches(order, 2, bgt.drawn())
    assert all(torch.equal(one, other) for one, other in zip(batches, again, strict=True))
    network = bgt.made()
    plain = BgtLearner(network, ("en", "fra"), text, TrainerConfig())
    assert [len(batch) for batch in plain.batches(order, 4, bgt.drawn())] == [4, 2]


@pytest.mark.parametrize("config", [bgt.SMALL, bgt.LAYERS], ids=["bag", "layers"])
@pytest.mark.parametrize(
    "without", [{}, {"language": 0}, {"translation": 0.0}, {"prior": 0.0}, {"sides": "pairs"}]
)
def test_every_part_that_is_there_learns(config: BgtConfig, without: dict[str, Any]) -> None:
    config = BgtConfig(**{**vars(config), **without})
    network = bgt.made(config)
    small = Ragged.of([[5, 6], [6]]), Ragged.of([[6], [5, 5, 6]])
    told, divergence, translated, _ = network.terms(small, 0, bgt.drawn())
    (told + divergence + translated).mean().backward()  # type: ignore[no-untyped-call]
    still = [name for name, part in network.named_parameters() if part.grad is None or not part.grad.any()]
    assert not still
    assert bool(translated.any()) == bool(config.translation)


def test_what_a_space_lacks_is_learned_from_text(tmp_path: Path) -> None:
    space = toy_space(tmp_path / "space")
    texts = {"en": ["Hello, en1.", "Hello en2."], "fr": ["Fr1 en1.", "fr2."]}
    others = missing_tokens(texts, space)
    assert others == [".", "hello", ",", "en1"]
    tokens = space_words(space, ("en", "fr"), others, longest=3)
    found = {name: tokens.readers[name].read(["En1, zzz . en1"]) for name in ("en", "fr")}
    words = len(SPECIALS) + len(others)
    assert found["fr"].sentences.ids.tolist() == [8, 7, 5]
    assert found["en"].sentences.ids.tolist() == [words + 1, 7, 5]
    assert (found["en"].unknown, found["en"].truncated) == (1, 1)
    rows = [tokens.rows[name] for name in ("en", "fr")]
    assert torch.equal(rows[0][:words], rows[1][:words])
    ratio = rows[0][words:] / torch.from_numpy(space.vectors("en").matrix)
    torch.testing.assert_close(ratio, ratio[:, :1].expand_as(ratio))
    assert bool((ratio[:, 0].diff() > 0).all())  # the rarer, the more it weighs


@pytest.fixture
def files(tmp_path: Path) -> Path:
    toy_space(tmp_path / "space")
    write_text(tmp_path / "text.tsv", [(f"{en} .", f"{fr} !") for en, fr in toy_text()])
    return tmp_path


def good(files: Path, *more: object, reads: Sequence[str] = ("--set", "bag=words")) -> list[object]:
    quick = ["--epochs", 8, "--patience", 8, "--batch", 32, "--rate", 0.03]
    given = [*set_options(semantic=16, language=4), *reads, "--lang", "fr", "--parallel", files / "text.tsv"]
    return ["train", files / "space", "--encoder", "bgt", *quick, *given, "--out", files / "out", *more]


def test_it_learns_is_saved_and_loaded(muse: Command, files: Path) -> None:
    found = muse(*good(files, "--json")).json
    assert found["encoder"] == "bgt[16+4,0/0,prior:1]"
    assert found["score"] > found["score_by_epoch"][0]
    assert found["loss_curve"][-1] < found["loss_curve"][0]
    encoder = load_encoder(files / "out", load_space(files / "space"))
    assert isinstance(encoder, NetworkEncoder)
    text = ["fr1 fr2 !", "nosuch", "fr3 fr1 fr7 fr9"]
    encoded = encoder.encode(text, "fr")
    assert (encoded.matrix.shape, encoded.empty, encoded.unknown) == ((3, 16), 1, 1)
    assert not np.allclose(encoded.matrix[0], encoder.encode(["fr1 fr2"], "fr").matrix[0])  # a sign is read
    np.testing.assert_allclose(encoded.matrix[2], encoder.encode([text[2]], "fr").matrix[0], rtol=1e-4)
    assert muse(*good(files, "-q", "--out", files / "again")).code == 0
    assert (files / "again" / "arrays.npz").read_bytes() == (files / "out" / "arrays.npz").read_bytes()


@pytest.mark.slow
def test_with_layers_it_reads_pieces(muse: Command, files: Path) -> None:
    pytest.importorskip("tokenizers")
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "hidden": 16, "heads": 2, "feed_forward": 16}
    settings = {**sizes, "semantic": 16, "language": 16, "vocabulary": 120, "longest": 9, "dropout": 0.1}
    named = set_options(**settings)
    found = muse(*good(files, "--json", "--epochs", 2, "--rate", 1e-3, reads=named)).json
    assert found["loss_curve"][1] < found["loss_curve"][0]
    assert found["truncated"] > 0
    encoder = load_encoder(files / "out", load_space(files / "space"))
    encoded = encoder.encode(["fr1 fr2", "", "fr1 " * 20], "fr")
    assert (encoded.empty, encoded.truncated) == (1, 1)
    assert np.isfinite(encoded.matrix).all()


TRANSFORMER = {
    "encoder_layers": 1, "decoder_layers": 1, "hidden": 32, "heads": 2, "feed_forward": 32, "semantic": 32,
    "language": 32, "vocabulary": 160, "longest": 20, "sides": "pairs", "tokens": 500, "shortest": 5,
    "annealing": 1000,
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, without_slow: bool) -> Path:
    """A folder with a Transformer of short sentences; for the slow tests it translates most of them."""
    pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("written")
    space = toy_space(folder / "space")
    text = [(f"{en} .", f"{fr} !") for en, fr in toy_text()]
    write_text(folder / "text.tsv", [*text, *([("en1", "fr1")] * 30), ("en1 " * 40, "fr1 " * 40)])
    request = TrainingRequest(
        space, "fr", folder / "out", parallel=(folder / "text.tsv",),
        settings={name: str(value) for name, value in TRANSFORMER.items()},
        trainer={"epochs": 6 if without_slow else 25, "rate": 5e-3, "patience": 25},
    )  # fmt: skip
    trained = train_system("bgt", request, Runtime("cpu", Progress(quiet=True)))
    assert trained.counts["skipped"] == 31  # too short, and too long
    assert trained.counts["truncated"] == 0
    return folder


@pytest.mark.slow
def test_it_writes_translations_and_paraphrases(written: Path) -> None:
    network, (source, target) = load_bgt(written / "out"), zip(*toy_text()[:60], strict=True)
    for language, expected in (("fr", target), ("en", source)):
        found = Rewriting(network, ("en", language)).translate([f"{one} ." for one in source])
        shares = [
            len({*one.split()} & {*other.split()}) / len({*other.split()})
            for one, other in zip(found, expected, strict=True)
        ]
        random = [
            len({*one.split()} & {*other.split()}) / len({*other.split()})
            for one, other in zip(found, expected[1:], strict=False)
        ]
        assert np.mean(shares) > np.mean(random) + 0.2
        assert all(line.endswith("." if language == "en" else "!") for line in found)
    one = Rewriting(network, ("en", "fr"), beam=1, batch=3).translate(["en1 en2 en3 .", ""])
    assert one[1] == ""


def test_a_paraphrase_is_decoded_without_the_wording_of_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    network = bgt.made(bgt.LAYERS).eval()
    source = Ragged.of([[5, 6], [6]])
    decoder, latents = latents_of(network, source, monkeypatch, "en")
    assert decoder is network.decoders[0]
    torch.testing.assert_close(list(latents), [network(source, "en"), torch.zeros(2, 8)])


@pytest.mark.slow
def test_a_style_changes_what_is_written_and_how_long_it_may_be(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, style = load_bgt(written / "out"), "en9 en8 en7 en6 ."
    lines = [f"{en} ." for en, _ in toy_text()[:20]]
    plain, styled = Rewriting(network, ("en", "en")), Rewriting(network, ("en", "en"), style)
    assert plain.translate(lines) != styled.translate(lines)
    limits: list[int] = []

    def noted(decoding: Any, scores: Any, most: Tensor, beam: int) -> Ragged:
        limits.extend(most.tolist())
        return best_sequences(decoding, scores, most, beam)

    monkeypatch.setattr("muse.sentences.systems.bgt.bgt_system.best_sequences", noted)
    pieces = len(styled.read([style]).sentences.ids)
    source = styled.read(["en1", " ".join(["en1"] * (pieces + 2))]).sentences
    styled.write(source, 1)
    assert source.lengths[0] < pieces < source.lengths[1]
    assert limits == [min(int(1.5 * n + 5), network.config.longest) for n in (pieces, int(source.lengths[1]))]


def latents_of(
    network: latent_network.BgtNetwork,
    source: Ragged,
    monkeypatch: pytest.MonkeyPatch,
    language: str = "fra",
    **more: Any,
) -> Any:
    """The decoder and the latents of what is written of the source in a language."""
    seen, writing = list[tuple[latent_network.Decoder, Sequence[Tensor]]](), latent_network.Decoder.writing

    def noted(decoder: latent_network.Decoder, latents: Sequence[Tensor], beam: int) -> Any:
        seen.append((decoder, latents))
        return writing(decoder, latents, beam)

    with monkeypatch.context() as patch:
        patch.setattr(latent_network.Decoder, "writing", noted)
        Rewriting(network, ("en", language), **more).write(source, 1)
    return seen[0]


def test_a_sample_is_drawn_for_each_sentence_whatever_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    network = bgt.made(bgt.LAYERS).eval()
    sentences = [[5, 6], [6], [6, 5, 5], [5]]
    source = Ragged.of(sentences)
    decoder, (meaning, own) = latents_of(network, source, monkeypatch, seed=1)
    assert decoder is network.decoders[1]  # though there is a translator, which reads no language latent
    torch.testing.assert_close(meaning, network(source, "en"))
    for place, ids in enumerate(sentences):
        _, (_, alone) = latents_of(network, Ragged.of([ids]), monkeypatch, seed=1)
        torch.testing.assert_close(alone, own[place : place + 1])
    assert len({tuple(row.tolist()) for row in own}) == len(sentences)
    assert torch.equal(latents_of(network, source, monkeypatch, seed=1)[1][1], own)
    assert not (latents_of(network, source, monkeypatch, seed=2)[1][1] == own).any()


def test_samples_are_those_of_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    network = bgt.made(bgt.LAYERS).eval()
    source = Ragged.of([[*ids] for ids in itertools.product((5, 6), repeat=8)])  # 256 sentences
    own = latents_of(network, source, monkeypatch, seed=0)[1][1].flatten().numpy()
    assert kstest(own, "norm").pvalue > 0.01
    assert abs(np.corrcoef(own[:-8], own[8:])[0, 1]) < 0.1  # sentence after sentence


def test_a_sample_needs_a_language_latent_of_its_own() -> None:
    network = bgt.made(bgt.LAYERS)
    with pytest.raises(BadSetting, match="a style and a sample are both the language latent"):
        Rewriting(network, ("en", "fra"), "en1", 0)
    for without in ({"language": 0}, {"reconstruction": 0.0}):
        config = BgtConfig(**{**vars(bgt.LAYERS), **without})
        network = bgt.made(config)
        with pytest.raises(BadSetting, match="a sample needs a language latent"):
            Rewriting(network, ("en", "fra"), seed=0)


def test_a_style_without_a_known_word_is_refused(written: Path) -> None:
    with pytest.raises(BadSetting, match="got '☃ 火'"):
        Rewriting(load_bgt(written / "out"), ("en", "fr"), "☃ 火")


def test_what_the_latents_are_is_what_is_decoded(written: Path) -> None:
    network = load_bgt(written / "out")
    pieces = network.pieces
    assert pieces is not None
    source = Ragged.of(pieces.encode(["en1 en2 en3 ."]))
    meaning = network.semantic_posterior(source, "en").mean
    style = network.language_posterior(Ragged.of(pieces.encode(["fr9 fr8 !"])), "fr").mean
    for latents, decoder, asked in (
        ([meaning], network.translators[1], Rewriting(network, ("en", "fr"))),
        ([meaning, style], network.decoders[1], Rewriting(network, ("en", "fr"), "fr9 fr8 !")),
    ):
        greedy = asked.write(source, 1).ids
        ids = torch.tensor([[BOS]])
        for piece in greedy.tolist():  # each piece is the best one of the full pass
            z = torch.cat(latents, dim=-1)[:, None]
            told = decoder._layers(Inputs(ids), Memory(torch.stack(latents, dim=1)))[:, -1:]  # type: ignore[operator]
            scores = decoder._scores(torch.cat([told, z], dim=-1))[0, 0]  # type: ignore[operator]
            scores[: UNK + 1], scores[BOS], scores[len(SPECIALS) - 1] = -torch.inf, -torch.inf, -torch.inf
            if ids.shape[1] == 1:
                scores[EOS] = -torch.inf
            assert int(scores.argmax()) == piece
            ids = torch.cat([ids, torch.tensor([[piece]])], dim=1)


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    stream = io.BytesIO()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
    return stream


def test_the_command_writes_with_and_without_a_style(muse: Command, written: Path, stdin: io.BytesIO) -> None:
    text = b"en1 en2 en3 .\n\nen4 en5 .\n"
    base = ["translate", "--model", written / "out", "--src", "en"]
    stdin.write(text)
    stdin.seek(0)
    told = muse(*base, "--tgt", "en", "--style", "en9 en8 en7 en6 .", "--json").json
    assert told["lines"][1] == ""
    stdin.seek(0)
    plain = muse(*base, "--tgt", "fr").out.splitlines()
    assert len(plain) == 3
    sampled = []
    for seed in (3, 4, 3):
        stdin.seek(0)
        sampled.append(muse(*base, "--tgt", "fr", "--sample", "--seed", seed, "--json").json["lines"])
    assert sampled[0] == sampled[2] != sampled[1]
    assert sampled[0][1] == ""
    for more, part in (
        (["--tgt", "de"], "knows en, fr, got 'de'"),
        (["--tgt", "fr", "--style", " "], "a style must be a sentence with known words"),
    ):
        stdin.seek(0)
        refused(muse(*base, *more), part)
    both = muse(*base, "--tgt", "fr", "--style", "fr1", "--sample")
    refused(both, "a style and a sample are both the language latent", code=2)


@pytest.mark.parametrize("option", [["--sample"], ["--style", "fr1"]], ids=" ".join)
def test_only_a_bgt_takes_a_sample_or_a_style(muse: Command, files: Path, option: list[str]) -> None:
    load_encoder("mean", load_space(files / "space")).save(files / "mean")
    needed = f"{option[0]} needs a --model of muse train --encoder bgt; leave it out"
    refused(muse("translate", "--model", files / "mean", "--src", "en", *option), needed, code=2)
    refused(muse("translate", files / "space", "en1", *option), f"{option[0]} is for --model", code=2)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"tokens": 5}, "expected a model of bgt"),
        ({"tokens": {"pieces": "[]"}}, "word pieces must be JSON"),
        ({"tokens": {"pieces": 7}}, "got"),
        ({"pair": ["en"]}, "expected a model of bgt"),
        (
            {"network": {**dict.fromkeys(("hidden", "semantic", "language"), 8**9), "decoder_layers": 1}},
            "expected a model of bgt",
        ),
        ({"network": 3}, "expected a model of bgt"),
    ],
    ids=str,
)
def test_a_damaged_model_is_told(
    muse: Command, written: Path, tmp_path: Path, changes: dict[str, Any], part: str
) -> None:
    saved = read_encoder(written / "out")
    write_encoder(tmp_path / "out", replace(saved, settings={**saved.settings, **changes}))
    refused(muse("translate", "--model", tmp_path / "out", "--src", "fr"), part)


def test_bags_and_other_models_write_nothing(muse: Command, files: Path) -> None:
    assert muse(*good(files, "-q", "--epochs", 0)).code == 0
    refused(muse("translate", "--model", files / "out", "--src", "fr"), "expected a bgt of word pieces")
    network = bgt.made()
    with pytest.raises(BadSetting, match="no pieces to write"):
        Rewriting(network, ("en", "fra")).translate(["en1"])
    with pytest.raises(BadSetting, match="no order of words"):
        network.decoders[0].writing([torch.zeros(1, 9)], 1)  # type: ignore[operator]


def test_what_a_writer_is_advised_to_have_makes_one() -> None:
    advised = {name: int(value) for name, value in re.findall(r"--set (\w+)=(\d+)", OF_WRITERS)}
    config = replace(PRESETS["small"].config, **advised)
    network = bgt.made(config)
    latents = [torch.zeros(1, config.semantic), torch.zeros(1, config.language)]
    network.decoders[0].writing(latents, 1)  # type: ignore[operator]


BAD: dict[str, tuple[list[object], list[str]]] = {
    "latents that layers cannot read": (["--set", "decoder_layers=1"], ["equal to hidden, 256"]),
    "nothing to learn": (
        ["--set", "translation=0", "--set", "reconstruction=0"],
        ["one of translation and reconstruction"],
    ),
    "no pair of such lengths": (["--set", "shortest=90"], ["90 to 100 tokens, got none of 400 pairs"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_and_leaves_nothing(muse: Command, files: Path, name: str) -> None:
    more, parts = BAD[name]
    refused_leaving(files, muse, good(files, *more), *parts)
