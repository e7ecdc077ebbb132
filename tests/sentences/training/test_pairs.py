"""Pairs: batches are the sentences asked for, what is held out is not trained on, bad text is refused."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from muse.errors import Mismatch
from muse.progress import Progress
from muse.sentences.encoders.reading import Limited, Vocabulary
from muse.sentences.systems.pieces import PieceReader, Pieces
from muse.sentences.training.pairs import Pairs, hold_out, make_pairs, read_text
from tests.support.parallel import WORDS, toy_text

QUIET = Progress(quiet=True)
VOCABULARIES = [Vocabulary(name, {f"{name}{i}": i for i in range(WORDS)}) for name in ("en", "fr")]


def pairs_of(text: Sequence[tuple[str, str]], seed: int = 0) -> Pairs:
    sides = [list(side) for side in zip(*text, strict=True)]
    return make_pairs(sides, VOCABULARIES, rng=np.random.default_rng(seed), device="cpu", progress=QUIET)


def test_a_batch_is_the_sentences_asked_for_in_that_order() -> None:
    text = toy_text(5_000)  # more than one portion of lines
    pairs = pairs_of(text)
    for side, column in ((pairs.pivot, 0), (pairs.other, 1)):
        rows = torch.tensor([4_999, 3, 3, 0, 2_000, 1_999])
        taken = side.take(rows)
        found = [part.tolist() for part in torch.split(taken.ids, taken.lengths.tolist())]
        assert found == [[int(word[2:]) for word in text[row][column].split()] for row in rows]


def test_a_sentence_without_a_word_keeps_its_place_and_its_pair_is_skipped() -> None:
    text = [("nothing", "fr1"), *toy_text(40), ("en1", ""), ("", "")]
    pairs = pairs_of(text)
    assert pairs.skipped == 3
    assert sorted(torch.cat([pairs.training, pairs.held_out]).tolist()) == list(range(1, 41))
    taken = pairs.pivot.take(torch.tensor([0, 1, 42]))
    assert taken.offsets.tolist() == [0, 0, len(taken.ids), len(taken.ids)]


def test_no_sentence_is_both_trained_on_and_held_out() -> None:
    few = [f"en{i}" for i in range(30)]
    rng = np.random.default_rng(0)
    text = [(rng.choice(few), f"fr{rng.integers(30)}") for _ in range(300)]
    pairs = pairs_of(text)
    trained, held_out = ([text[row] for row in part.tolist()] for part in (pairs.training, pairs.held_out))
    assert len(held_out) >= 2
    for side in (0, 1):
        found = [pair[side] for pair in held_out]
        assert len(set(found)) == len(found)  # or its translation could be another's too
        assert not set(found) & {pair[side] for pair in trained}
    assert len(trained) + len(held_out) + pairs.skipped == 300
    assert pairs.skipped > 0


def test_a_twentieth_is_held_out_and_the_draw_is_the_seed_s() -> None:
    text = toy_text(400)
    first, again, other = (pairs_of(text, seed) for seed in (0, 0, 1))
    assert len(first.held_out) == 20
    assert torch.equal(first.held_out, again.held_out)
    assert not torch.equal(first.held_out, other.held_out)


def test_too_few_pairs_and_what_is_known_of_them() -> None:
    text = [*toy_text(19), ("what is this", "fr1 fr2")]
    with pytest.raises(Mismatch, match=r"at least 20 pairs .* got 19 of 20"):
        pairs_of(text)
    with pytest.raises(Mismatch, match="got 0 of 30"):
        pairs_of([("en1 en2", "今天天气很好我们散步")] * 30)


def test_of_too_few_pairs_of_pieces_nothing_is_said_of_a_space() -> None:
    pytest.importorskip("tokenizers")
    text = [*toy_text(19), ("", "fr1 fr2"), ("☃", "fr1")]
    sides = [list(side) for side in zip(*text, strict=True)]
    pieces = Pieces.learned({"en": sides[0][:20], "fr": sides[1]}, 100, torch.Generator())
    for reader in (Limited(pieces, 50), PieceReader(pieces, 50)):
        with pytest.raises(Mismatch, match="must have a known word piece .* got 19 of 21") as error:
            make_pairs(sides, [reader] * 2, rng=np.random.default_rng(0), device="cpu", progress=QUIET)
        assert "space" not in str(error.value)
        assert "give more parallel text" in str(error.value)


@pytest.mark.parametrize(("text", "told"), [(["en1 en2 x", "en3"], False), (["en1 x y", "en2"], True)])
def test_text_in_another_language_is_warned_of(
    caplog: pytest.LogCaptureFixture, text: list[str], told: bool
) -> None:
    reader = Vocabulary("en", {f"en{i}": i for i in range(9)})
    assert read_text(text, reader, QUIET).tokens == 4
    assert ("50 % of the tokens are unknown" in caplog.text) == told


@pytest.mark.parametrize(
    ("examples", "count"), [(2, 1), (20, 1), (39, 1), (40, 2), (4_000, 200), (9_000, 200)]
)
def test_every_example_is_trained_on_or_held_out(examples: int, count: int) -> None:
    generator = torch.Generator().manual_seed(5)
    training, held_out = hold_out(examples, generator)
    assert len(held_out) == count
    assert sorted([*training.tolist(), *held_out.tolist()]) == list(range(examples))
    # One permutation is drawn, of which the first are held out: what is drawn next depends on it.
    again = torch.Generator().manual_seed(5)
    assert torch.cat([held_out, training]).equal(torch.randperm(examples, generator=again))
    assert torch.rand(3, generator=generator).equal(torch.rand(3, generator=again))
