"""X-CBOW, CVM-add and the projection: each recovers a turned language, by its own rules."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Vocabulary
from muse.sentences.systems.word_encoders import AddedTables, ProjectedTables, Tables, WordTables
from muse.sentences.training.losses import Align, Hinge, Loss, Softmax
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.pairs import ParallelCorpus, make_pairs
from muse.sentences.training.trainer import TrainerConfig, best_epoch, train
from tests.support.parallel import WORDS, rows, toy_text

BATCH = Ragged.of([[3, 5, 3], [7]])

PAIR = ("en", "fr")
QUICK = TrainerConfig(epochs=3, batch=32, rate=0.02)


def toy_pairs(device: str = "cpu") -> ParallelCorpus:
    sides = [list(side) for side in zip(*toy_text(), strict=True)]
    words = [Vocabulary(name, {f"{name}{i}": i for i in range(WORDS)}) for name in ("en", "fr")]
    rng, progress = np.random.default_rng(0), Progress(quiet=True)
    return ParallelCorpus("en", {"fr": make_pairs(sides, words, rng=rng, device=device, progress=progress)})


@pytest.fixture(scope="module")
def pairs() -> ParallelCorpus:
    return toy_pairs()


def tables() -> tuple[Tensor, Tensor]:
    en, fr = rows()
    return torch.from_numpy(en), torch.from_numpy(fr)


def trained(model: Tables) -> list[Tensor]:
    return [table for table in model.tables() if table is not None]


def encoder(kind: Callable[..., Tables]) -> Tables:
    made: Tables = kind(PAIR, *tables())
    return made


RECOVERED: list[tuple[Callable[..., Tables], Loss, float]] = [
    (WordTables, Align(0.25), 0.02),
    (WordTables, Hinge(0.3, "euclid"), 0.02),
    (WordTables, Softmax(), 0.02),
    (AddedTables, Hinge(2, "squared"), 0.02),
    (ProjectedTables, Hinge(0.5, both=False), 0.02),
    (ProjectedTables, Hinge(0.2, "cosine", "hardest"), 0.02),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "loss", "rate"), RECOVERED, ids=lambda one: getattr(one, "__name__", str(one))
)
def test_a_turned_language_is_recovered(
    pairs: ParallelCorpus, kind: Callable[..., Tables], loss: Loss, rate: float
) -> None:
    learner = PairLearner(encoder(kind), loss, pairs)
    config = TrainerConfig(epochs=25, batch=32, rate=rate, patience=25)
    epochs = train(learner, config, seed=0, runtime=Runtime())
    assert epochs[0].score <= 20
    assert best_epoch(epochs).score >= 90


def test_the_score_is_p_at_1_by_loops(pairs: ParallelCorpus) -> None:
    learner = PairLearner(encoder(WordTables), Align(), pairs)
    en, fr = tables()
    french = pairs.pairs["fr"]
    texts = [french.pivot, french.other]
    means = [
        [table[side.take(row[None]).ids].mean(0) for row in french.held_out]
        for side, table in zip(texts, (en, fr), strict=True)
    ]
    hits = 0
    for place, y in enumerate(means[1]):
        cosines = [float(x @ y / x.norm() / y.norm()) for x in means[0]]
        hits += cosines.index(max(cosines)) == place
    assert learner.held_out().score == pytest.approx(100 * hits / len(french.held_out))


@pytest.mark.parametrize("kind", [WordTables, AddedTables, ProjectedTables])
def test_before_training_sentences_are_those_of_the_space(kind: Callable[..., Tables]) -> None:
    en, fr = tables()
    if kind is ProjectedTables:
        en, fr = en.tanh(), fr.tanh()
    model = encoder(kind)
    for table, side in ((en, "en"), (fr, "fr")):
        expected = torch.stack([table[[3, 5, 3]].sum(0), table[7]])
        if kind is not AddedTables:
            expected[0] /= 3
        assert torch.allclose(model(BATCH, side), expected, atol=1e-6)


def test_x_cbow_moves_no_pivot_row_and_no_row_of_the_space(pairs: ParallelCorpus) -> None:
    en, fr = tables()
    model = WordTables(PAIR, en, fr)
    train(PairLearner(model, Align(), pairs), QUICK, seed=0, runtime=Runtime())
    assert None in model.tables()
    assert torch.equal(en, tables()[0])
    assert torch.equal(fr, tables()[1])  # training moved a copy
    assert not torch.equal(trained(model)[-1], fr)
    assert torch.equal(model(BATCH, "en")[1], tables()[0][7])


def test_the_projection_learns_on_means_and_is_applied_to_words(pairs: ParallelCorpus) -> None:
    model = ProjectedTables(PAIR, *tables(), dropout=0.0)
    loss = Hinge(0.5, both=False)
    train(PairLearner(model, loss, pairs), QUICK, seed=0, runtime=Runtime())
    weight, bias = model.get_parameter("maps.1.weight"), model.get_parameter("maps.1.bias")
    words = torch.tanh(tables()[1] @ weight.T + bias)
    assert torch.allclose(trained(model)[-1], words, atol=1e-6)
    applied = torch.stack([words[[3, 5, 3]].mean(0), words[7]])
    assert torch.allclose(model(BATCH, "fr"), applied, atol=1e-6)
    means = torch.stack([tables()[1][[3, 5, 3]].mean(0), tables()[1][7]])
    learned = torch.tanh(means @ weight.T + bias)
    assert torch.allclose(model.both((BATCH, BATCH), PAIR, torch.Generator())[1], learned, atol=1e-6)
    assert not torch.allclose(learned[0], applied[0], atol=1e-4)


def test_dropout_takes_the_same_dimensions_from_both_sides_and_is_the_generator_s() -> None:
    model = ProjectedTables(PAIR, *tables(), dropout=0.5)
    wide = Ragged.of([[i] for i in range(WORDS)])
    draws = [model.both((wide, wide), PAIR, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert torch.equal(draws[0][0], draws[1][0])
    assert not torch.equal(draws[0][0], draws[2][0])
    x, y = draws[0]
    dropped = (x == 0).all(0)  # the map is still the identity
    assert torch.equal(dropped, (y == 0).all(0))
    assert 0 < int(dropped.sum()) < len(dropped)
    assert torch.allclose(x[:, ~dropped], torch.tanh(2 * tables()[0])[:, ~dropped])


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [WordTables, AddedTables, ProjectedTables])
def test_on_a_gpu(kind: Callable[..., Tables]) -> None:
    pairs, model = toy_pairs("cuda"), kind(PAIR, *(table.cuda() for table in tables()))
    config = TrainerConfig(epochs=25, batch=32, rate=0.02, patience=25)
    learner = PairLearner(model, Hinge(0.5, "euclid"), pairs)
    epochs = train(learner, config, seed=0, runtime=Runtime("cuda"))
    assert best_epoch(epochs).score >= 80


def test_a_pair_alone_has_no_negative(pairs: ParallelCorpus) -> None:
    learner = PairLearner(encoder(WordTables), Align(), pairs)
    with pytest.raises(BadSetting, match="a batch must have at least 2 pairs.*got 1"):
        train(learner, TrainerConfig(batch=1), seed=0, runtime=Runtime())
