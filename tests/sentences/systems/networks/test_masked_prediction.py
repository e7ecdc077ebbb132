"""Masked prediction: chances within binomial bounds, weights, figures by loops, the left-to-right case."""

import math

import pytest
import torch
from torch import Tensor

from muse.sentences.systems.networks import masked_prediction

V = 1000


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def text(b: int = 200, t: int = 102) -> Tensor:
    """Rows of <bos>, 100 tokens, <eos>, the last 50 rows half padding."""
    ids = torch.randint(5, V, (b, t), generator=generator(1))
    ids[:, 0], ids[:, -1] = 2, 3
    ids[-50:, 52:] = 0
    return ids


def within(count: int, trials: int, chance: float) -> bool:
    return abs(count - trials * chance) <= 4 * math.sqrt(trials * chance * (1 - chance))


def test_shares_of_hidden_tokens_and_what_becomes_of_them() -> None:
    ids = text()
    read, target_mask, answers = masked_prediction.hide(ids, masked_prediction.Masking(V), generator())
    assert torch.equal(answers, ids[target_mask])
    assert not target_mask[ids < 5].any()
    assert torch.equal(read[~target_mask], ids[~target_mask])
    wanted = [round(0.15 * int((row >= 5).sum())) for row in ids]
    assert target_mask.sum(dim=1).tolist() == wanted
    p, said = len(answers), read[target_mask]
    masked = said == 4
    assert within(int(masked.sum()), p, 0.8)
    # One of the ordinary tokens may be drawn for itself.
    assert within(int((said == answers).sum()), p, 0.1 + 0.1 / (V - 5))
    assert int(said[~masked].min()) >= 5
    # No place of a row is preferred.
    halves = target_mask[:150, 1:51].sum(), target_mask[:150, 51:101].sum()
    assert within(int(halves[0]), int(halves[0] + halves[1]), 0.5)


def test_tokens_from_the_vocabulary_on_are_neither_hidden_nor_put_in() -> None:
    ids = text()
    read, target_mask, answers = masked_prediction.hide(
        ids, masked_prediction.Masking(300, specials=200), generator()
    )
    assert (int(answers.min()), int(answers.max())) == (200, 299)
    assert torch.equal(read[~target_mask], ids[~target_mask])
    put_in = read[target_mask & (read != 4)]
    assert 200 <= int(put_in.min()) <= int(put_in.max()) < 300
    assert target_mask.sum(dim=1).tolist() == [
        max(1, round(0.15 * n)) if (n := int(((row >= 200) & (row < 300)).sum())) else 0 for row in ids
    ]


def test_at_least_one_is_hidden() -> None:
    assert masked_prediction.hide(
        torch.tensor([[2, 7, 3], [2, 3, 0]]), masked_prediction.Masking(V), generator()
    ).target_mask.tolist() == [[False, True, False], [False, False, False]]


def test_all_is_drawn_from_the_generator() -> None:
    first, again, other = (
        masked_prediction.hide(text(), masked_prediction.Masking(V), generator(seed)) for seed in (0, 0, 1)
    )
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first.target_mask, other.target_mask)


def test_chances_go_by_the_weights() -> None:
    # One token of three a row: P(i) = w_i / (w_1 + w_2 + w_3), w = 1 / sqrt(f).
    ids = torch.tensor([5, 6, 7]).repeat(20_000, 1)
    weights = masked_prediction.rarity(torch.tensor([0, 0, 0, 0, 0, 1, 4, 16]))
    target_mask = masked_prediction.hide(ids, masked_prediction.Masking(8), generator(), weights).target_mask
    for place, weight in enumerate((1, 1 / 2, 1 / 4)):
        assert within(int(target_mask[:, place].sum()), len(ids), weight / 1.75)


def test_left_to_right_asks_for_the_next_token() -> None:
    ids = torch.tensor([[2, 7, 8, 3], [2, 9, 3, 0]])
    cloze = masked_prediction.left_to_right(ids, ids != 0)
    assert torch.equal(cloze.ids, ids)
    assert cloze.target_mask.tolist() == [[True, True, True, False], [True, True, False, False]]
    assert cloze.answers.tolist() == [7, 8, 3, 9, 3]


def test_loss_by_hand() -> None:
    scores = torch.randn(6, 15, generator=generator(), dtype=torch.float64).float()
    answers = torch.randint(0, 15, (6,), generator=generator())
    total = 0.0
    for row, answer in zip(scores.tolist(), answers.tolist(), strict=True):
        log_sum = math.log(sum(math.exp(score) for score in row))
        total += log_sum - row[answer]
    assert float(masked_prediction.prediction_loss(scores, answers)) == pytest.approx(total / 6, rel=1e-5)


def test_figures_by_hand_and_added_up() -> None:
    scores = torch.randn(40, 30, generator=generator())
    answers = torch.randint(0, 30, (40,), generator=generator())
    places = [
        sorted(row, reverse=True).index(row[answer])
        for row, answer in zip(scores.tolist(), answers.tolist(), strict=True)
    ]
    whole = masked_prediction.predicted(scores, answers)
    assert whole.accuracy == pytest.approx(100 * sum(place == 0 for place in places) / 40)
    assert whole.accuracy_at_10 == pytest.approx(100 * sum(place < 10 for place in places) / 40)
    assert whole.loss == pytest.approx(float(masked_prediction.prediction_loss(scores, answers)), rel=1e-5)
    assert whole.perplexity == pytest.approx(math.exp(whole.loss))
    parts = masked_prediction.predicted(scores[:7], answers[:7]) + masked_prediction.predicted(
        scores[7:], answers[7:]
    )
    assert (parts.targets, parts.first, parts.first_ten) == (whole.targets, whole.first, whole.first_ten)
    assert parts.nats == pytest.approx(whole.nats, rel=1e-5)


def test_a_network_that_says_nothing_is_right_by_no_chance() -> None:
    even = masked_prediction.predicted(torch.zeros(3, 50), torch.tensor([0, 1, 2]))
    assert (even.first, even.first_ten) == (0, 0)
    assert even.perplexity == pytest.approx(50, rel=1e-5)


def test_no_targets() -> None:
    scores, answers = torch.zeros(0, 9, requires_grad=True), torch.zeros(0, dtype=torch.long)
    loss = masked_prediction.prediction_loss(scores, answers)
    loss.backward()  # type: ignore[no-untyped-call]
    assert float(loss.detach()) == 0
    assert masked_prediction.predicted(scores, answers) == masked_prediction.Predicted()
    assert math.isnan(masked_prediction.Predicted().accuracy)
