"""CMLM: its networks by their formulas, what it predicts, and that a neighbour is what it learns to use."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from muse.errors import Mismatch
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.run.seeds import torch_seeded
from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.systems.cmlm import cmlm_system, predictor
from muse.sentences.systems.networks.masked_prediction import Cloze, Predicted, hide
from muse.sentences.systems.networks.transformer import Inputs
from muse.sentences.training.losses import Softmax
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.pairs import ParallelCorpus, make_pairs
from muse.sentences.training.trainer import TrainerConfig, train
from tests.support.bgt import parameter_count
from tests.support.parallel import WORDS, toy_space, toy_text

QUIET = Progress(quiet=True)
SMALL = predictor.CmlmConfig(
    heads=2, hidden=16, feed_forward=32, dropout=0.0, longest=8, projections=3, asked=40, warmup=5
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def topical(language: str, documents: int = 20, seed: int = 0) -> dict[str, list[str]]:
    """Documents of which each uses six words of its own: a neighbour says which."""
    rng = np.random.default_rng(seed)
    texts = {}
    for number in range(documents):
        own = [f"{language}{6 * (number % 5) + i}" for i in range(6)]
        texts[f"d{number}"] = [" ".join(rng.choice(own, 5)) for _ in range(12)]
    return texts


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> predictor.Words:
    return predictor.Words.of(SMALL, toy_space(tmp_path_factory.mktemp("toy") / "space"), ("en", "fr"), None)


def model(words: predictor.Words, config: predictor.CmlmConfig = SMALL) -> predictor.Cmlm:
    encoder = predictor.CmlmEncoder(config, words, generator())
    return predictor.Cmlm(encoder, config, torch.zeros(words.count), generator(1))


def learner(words: predictor.Words, config: predictor.CmlmConfig = SMALL) -> cmlm_system.CmlmLearner:
    texts = {name: cmlm_system.hold_out(topical(name), np.random.default_rng(0)) for name in ("en", "fr")}
    made = model(words, config)
    return cmlm_system.CmlmLearner(
        made, cmlm_system.read_corpus(texts, made.encoder, Runtime()), config.share
    )


def test_words_of_two_languages_and_those_predicted(words: predictor.Words) -> None:
    assert (words.count, words.predictable) == (5 + 2 * WORDS, {"en": range(5, 45), "fr": range(65, 105)})
    assert words.readers["fr"].read(["fr0 FR59 en1 !"]).sentences.ids.tolist() == [65, 124]
    assert words.rows is not None
    assert not words.rows[:5].any()
    assert torch.linalg.vector_norm(words.rows[5:], dim=1).allclose(torch.ones(2 * WORDS))


def test_a_sentence_is_the_mean_of_its_states(words: predictor.Words) -> None:
    encoder = model(words).encoder
    reading = encoder.reader("en").read(["en1 en2 en3", "en7", " ".join(["en4"] * 9)])
    assert (reading.sentences.lengths.tolist(), reading.truncated) == ([3, 1, 8], 1)
    sentences = torch.split(reading.sentences.ids, [3, 1, 8])
    padded = torch.nn.utils.rnn.pad_sequence(list(sentences), batch_first=True)
    mask = torch.arange(8) < torch.tensor([[3], [1], [8]])
    rows = encoder.rows(Padded(padded, mask))
    for row, sentence in zip(rows, sentences, strict=True):
        alone = encoder.transformer(Inputs(sentence[None]))[0].mean(dim=0)
        torch.testing.assert_close(row, alone, rtol=1e-4, atol=1e-5)


def test_projections_begin_with_the_sentence_itself(words: predictor.Words) -> None:
    rows = torch.randn(4, 16, generator=generator())
    found = model(words).projected(rows)
    assert found.shape == (4, 3, 16)
    torch.testing.assert_close(found[:, 0], rows)
    assert not torch.allclose(found[:, 1], found[:, 2])
    one = predictor.CmlmConfig(**{**vars(SMALL), "projections": 1})
    torch.testing.assert_close(model(words, one).projected(rows), rows[:, None])


def changed(**settings: Any) -> predictor.CmlmConfig:
    return predictor.CmlmConfig(**{**vars(SMALL), **settings})


def test_a_vector_may_be_the_mean_of_the_projections(words: predictor.Words) -> None:
    made = model(words, changed(vector="projected"))
    sentences = made.encoder.reader("en").read(["en1 en2 en3", "en7"]).sentences
    states = made.encoder.rows(sentences.padded())
    torch.testing.assert_close(made.encoder(sentences, "en"), made.projected(states).mean(dim=1))
    assert not torch.allclose(made.encoder(sentences, "en"), states)
    kept = {name for name, _ in made.encoder.named_parameters() if "projections" in name}
    assert kept
    assert not {name for name, _ in model(words).encoder.named_parameters() if "projections" in name}


def test_with_skip_the_head_reads_the_projections_of_its_own_sentence(words: predictor.Words) -> None:
    made = model(words, changed(skip=True))
    ids = torch.tensor([[4, 6, 4], [7, 4, 8]])
    cloze = Cloze(ids, ids == 4, torch.tensor([5, 6, 7]))
    mask = torch.ones_like(ids, dtype=torch.bool)
    near = Padded(torch.tensor([[9, 10], [11, 12]]), mask[:, :2])
    seen: dict[str, Tensor] = {}
    made._dense.register_forward_hook(lambda *found: seen.update(read=found[1][0]))
    made(cloze, mask, near, range(5, 45))
    projected = made.projected(made.encoder.rows(near)).flatten(1)
    torch.testing.assert_close(seen["read"][:, 16:], projected[[0, 0, 1]])
    made(cloze, mask, None, range(5, 45))
    assert not seen["read"][:, 16:].any()


def test_a_masked_language_model_learns_from_no_neighbour(words: predictor.Words) -> None:
    made = learner(words, changed(objective="mlm"))
    twin = learner(words, changed(projections=0))
    rows = torch.arange(6)
    torch.testing.assert_close(made.loss(rows, generator(3)), twin.loss(rows, generator(3)))
    assert not [name for name, _ in made.named_parameters() if "_projections" in name]
    assert made.predictions() == predict_all(made, "none")


def predict(
    model: predictor.Cmlm, text: cmlm_system.NeighbourPairs, language: str, condition: str, share: float
) -> Predicted:
    return sum(cmlm_system.predict_parts(model, text, language, condition, share=share), start=Predicted())


def predict_all(made: cmlm_system.CmlmLearner, condition: str) -> Predicted:
    texts = made.held_out_text.items()
    parts = [predict(made.model, text, name, condition, made._share) for name, text in texts]
    return sum(parts, start=Predicted())


@pytest.mark.parametrize("projections", [0, 1, 3])
def test_the_neighbour_is_read_unless_there_are_no_projections(
    words: predictor.Words, projections: int
) -> None:
    made = model(words, predictor.CmlmConfig(**{**vars(SMALL), "projections": projections}))
    ids = torch.tensor([[4, 6, 4], [7, 4, 8]])
    cloze = Cloze(ids, ids == 4, torch.tensor([5, 6, 7]))
    mask = torch.ones_like(ids, dtype=torch.bool)
    near = Padded(torch.tensor([[9, 10], [11, 12]]), mask[:, :2])
    far = Padded(near.ids.flip(0), near.mask)
    scores = [made(cloze, mask, told, range(5, 45)) for told in (near, far, None)]
    assert scores[0].shape == (3, 40)
    same = [torch.allclose(scores[0], other) for other in scores[1:]]
    assert same == [projections == 0] * 2


def test_the_head_starts_from_the_odds_of_the_words(words: predictor.Words) -> None:
    counts = torch.arange(words.count)
    made = predictor.Cmlm(predictor.CmlmEncoder(SMALL, words, generator()), SMALL, counts, generator())
    expected = torch.log((counts + 1) / (counts + 1).sum())
    torch.testing.assert_close(made._odds.detach(), expected)


def test_neighbours_stay_within_a_document_and_have_words(words: predictor.Words) -> None:
    documents = {"a": ["en1", "en2", "?", "en3 en4"], "b": ["en5", "en6 en7"]}
    found = cmlm_system.find_neighbours(documents, words.readers["en"], 3, "cpu", QUIET)
    assert found.pairs.tolist() == [[0, 1], [4, 5]]
    with pytest.raises(Mismatch, match="adjacent paragraphs"):
        cmlm_system.find_neighbours({"a": ["en1", "?", "en2"]}, words.readers["en"], 3, "cpu", QUIET)


def test_a_long_paragraph_is_read_in_parts_that_follow_each_other(words: predictor.Words) -> None:
    """Seven words, at most three at once: 3 + 2 + 2, and the next paragraph follows the last of them."""
    documents = {"a": ["en1 en2 en3 en4 en5 en6 en7", "en8"]}
    found = cmlm_system.find_neighbours(documents, words.readers["en"], 3, "cpu", QUIET)
    assert found.passages.lengths.tolist() == [3, 2, 2, 1]
    assert found.pairs.tolist() == [[0, 1], [1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("pairs", "shown"),
    [
        ([[0, 1], [4, 5], [2, 3]], [7, 5, 9]),  # of the row before
        ([[2, 3]], [5]),
        ([[0, 1]], [7]),  # not 1, whose words are hidden
        ([[1, 2], [0, 1]], [5, 9]),  # 1 is not shown to itself
    ],
)
def test_a_shuffled_neighbour_is_of_another_pair(
    words: predictor.Words, pairs: list[list[int]], shown: list[int]
) -> None:
    passages = Ragged.of([[5], [6], [7], [8], [9], [10]])
    text = cmlm_system.NeighbourPairs(passages, torch.tensor([[0, 1], [1, 2], [2, 3], [4, 5]]))
    made = learner(words, changed(neighbour="shuffled"))
    found = made._neighbours(text, torch.tensor(pairs))
    assert found is not None
    assert found.ids.flatten().tolist() == shown
    lone = cmlm_system.NeighbourPairs(passages, torch.tensor([[2, 3]]))
    assert made._neighbours(lone, torch.tensor([[2, 3]])) is None


@pytest.mark.parametrize("neighbour", ["true", "shuffled"])
def test_the_model_reads_the_neighbour_that_is_asked_for(words: predictor.Words, neighbour: str) -> None:
    made, seen = learner(words, changed(neighbour=neighbour)), list[Padded]()
    made.model.register_forward_pre_hook(lambda _, given: seen.append(given[2]))
    made.loss(torch.arange(6), generator(3))
    text, turned = made.training_text["en"], torch.rand(6, generator=generator(3)) < 0.5
    pairs = torch.where(turned[:, None], text.pairs[:6].flip(1), text.pairs[:6])
    true, chosen = text.passages.take(pairs[:, 0]).padded(), made._neighbours(text, pairs)
    assert chosen is not None
    assert torch.equal(seen[0].ids, chosen.ids)
    assert (chosen.ids == true.ids).all(dim=1).tolist() == 6 * [neighbour == "true"]
    assert made.predictions() == predict_all(made, neighbour)


def test_whole_documents_are_held_out() -> None:
    documents = {f"d{i}": [str(i)] for i in range(30)}
    training, held_out = cmlm_system.hold_out(documents, np.random.default_rng(1))
    assert len(held_out) == 3
    assert {**training, **held_out} == documents
    assert not training.keys() & held_out.keys()
    with pytest.raises(Mismatch, match=r"x\.tsv: text must have at least two documents"):
        cmlm_system.hold_out({"one": ["a", "b"]}, np.random.default_rng(1), "x.tsv")


def test_batches_have_one_language_and_hold_everything_once(words: predictor.Words) -> None:
    made = learner(words)
    order = torch.randperm(made.examples, generator=generator())
    batches = made.batches(order, 16, generator())
    half = made.examples // 2
    assert sorted(torch.cat(list(batches)).tolist()) == list(range(made.examples))
    sides = [set((rows >= half).tolist()) for rows in batches]
    assert all(len(side) == 1 for side in sides)
    assert sides[:4] in ([{False}, {True}] * 2, [{True}, {False}] * 2)


def test_half_of_the_pairs_are_turned_and_one_language_is_hidden(
    words: predictor.Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, read = learner(words), []

    def noted(ids: Tensor, *given: Any) -> Cloze:
        cloze = hide(ids, *given)
        read.append((ids, cloze))
        return cloze

    monkeypatch.setattr("muse.sentences.systems.networks.masked_prediction.hide", noted)
    half = made.examples // 2
    text = made.training_text["fr"]
    rows, second = torch.arange(half, 2 * half), text.passages.take(text.pairs[:, 1]).padded().ids
    made.loss(rows, generator())
    ids, cloze = read[0]
    unturned = (ids == second).all(dim=1).double().mean()
    assert abs(float(unturned) - 0.5) < 0.2
    assert set(cloze.ids.flatten().tolist()) <= {4, *range(65, 105), *ids.flatten().tolist()}
    assert set(cloze.answers.tolist()) <= set(range(65, 105))


@pytest.mark.slow
def test_a_true_neighbour_tells_more_than_another_or_none(words: predictor.Words) -> None:
    made = learner(words, predictor.CmlmConfig(**{**vars(SMALL), "share": 0.9}))  # the rest says little
    config = TrainerConfig(epochs=12, batch=16, rate=1e-2, patience=12)
    train(made, cmlm_system.scheduled(config, 5, made.examples, 2), seed=0, runtime=Runtime())
    text = made.held_out_text["en"]
    told = {how: predict(made.model, text, "en", how, 0.9) for how in cmlm_system.CONDITIONS}
    assert told["true"].targets == told["shuffled"].targets == told["none"].targets
    assert told["true"].loss < min(told["shuffled"].loss, told["none"].loss) - 0.2
    assert told["true"].first_ten > max(told["shuffled"].first_ten, told["none"].first_ten)
    assert told["true"] == predict(made.model, text, "en", "true", 0.9)


def test_training_together_adds_both_losses(words: predictor.Words) -> None:
    made = learner(words, predictor.CmlmConfig(**{**vars(SMALL), "dropout": 0.5}))
    sides = list(zip(*toy_text(60), strict=True))
    readers = [made.model.encoder.reader(name) for name in ("en", "fr")]
    pairs = make_pairs(sides, readers, rng=np.random.default_rng(0), device="cpu", progress=QUIET)
    bitext = PairLearner(made.model.encoder, Softmax(0.3, 20), ParallelCorpus("en", {"fr": pairs}))
    both, rows = cmlm_system.Cotrained(made, bitext, 0.2), torch.arange(8)
    drawn = generator()
    with torch_seeded(0):
        chosen = torch.randint(bitext.examples, (8,), generator=drawn)
        expected = made.loss(rows, drawn) + 0.2 * bitext.loss(chosen, drawn)
    with torch_seeded(0):
        torch.testing.assert_close(both.loss(rows, generator()), expected)
    assert both.held_out().score == bitext.held_out().score
    assert both.fewest == 2
    bitext.train()
    with torch.no_grad():
        assert bitext.loss(chosen, generator()) != bitext.loss(chosen, generator())  # dropout
    bitext.eval()
    assert bitext.loss(chosen, generator()) == bitext.loss(chosen, generator())


def bert(vocabulary: int) -> int:
    """The parameters of BERT base (Devlin et al., 2019), without segments and pooler, with 256 positions."""
    h, layers = 768, 12
    layer = 4 * (h * h + h) + (h * 3072 + 3072) + (3072 * h + h) + 4 * h
    return vocabulary * h + 256 * h + 2 * h + layers * layer


@pytest.mark.parametrize(("vocabulary", "published"), [(30_522, 110e6), (501_153, 471e6)])
def test_the_paper_preset_has_the_published_size(vocabulary: int, published: float) -> None:
    """BERT base's 110 million, and with the multilingual vocabulary LaBSE's 471 (Feng et al., 2020)."""
    config = cmlm_system.PRESETS["paper"].config
    assert config.pieces == 501_153
    pieces = predictor.Words(vocabulary, {}, {})
    count = parameter_count(lambda drawn: predictor.CmlmEncoder(config, pieces, drawn))
    assert count == bert(vocabulary)
    assert count == pytest.approx(published, rel=0.02)


def test_the_rate_falls_to_nothing_over_all_steps_and_no_sooner(words: predictor.Words) -> None:
    made, config = learner(words), TrainerConfig(epochs=4, batch=64)
    steps = 4 * len(made.batches(torch.randperm(made.examples, generator=generator()), 64, generator()))
    assert steps > 4 * -(-made.examples // 64)  # each of two languages has a batch that is not full
    schedule = cmlm_system.scheduled(config, 8, made.examples, 2).schedule
    assert [schedule(step) for step in (4, 8, steps + 1)] == [0.5, 1.0, 0.0]
    assert schedule(steps) > 0
    assert predictor.STRATEGIES["staged"] == ("cmlm", "cmlm+br")
