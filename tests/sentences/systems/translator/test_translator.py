"""The translation model: noise, generation and losses by their definitions, initialisation, and text."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.normalise import Normalisation, normalise
from muse.run.runtime import Runtime
from muse.run.seeds import generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.networks.transformer import Memory
from muse.sentences.systems.pieces import BOS, EOS, MASK, PAD, UNK, Pieces
from muse.sentences.systems.translator import seq2seq
from muse.sentences.systems.translator import translator_system as system
from muse.sentences.systems.writing import best_sequences
from muse.sentences.training.trainer import TrainerConfig, train
from muse.space import SideToSave, load_space, save_space
from muse.text.language_model import learn_language_model
from muse.translate.text import Translator
from muse.vectors import Vectors
from tests.support.parallel import toy_space, toy_text
from tests.support.spaces import PROVENANCE

TINY = seq2seq.TranslatorConfig(pieces=200, layers=1, heads=2, hidden=16, longest=24, dropout=0.0, warmup=5)
WAY = ("en", "fr")


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    pytest.importorskip("tokenizers")
    sides = zip(*toy_text(), strict=True)
    return Pieces.learned(dict(zip(WAY, map(list, sides), strict=True)), TINY.pieces, generator_for(0))


def text_of(pieces: Pieces) -> system.TrainingText:
    texts = {"en": [en for en, _ in toy_text()], "fr": [fr for _, fr in toy_text(300, seed=1)]}
    drawn = generator_for(1)
    return system.TrainingText(
        "en", {name: system.monolingual(name, part, pieces, 24, drawn) for name, part in texts.items()}
    )


def network_of(
    pieces: Pieces, folder: Path, config: seq2seq.TranslatorConfig = TINY
) -> seq2seq.TranslatorNetwork:
    text, space = text_of(pieces), toy_space(folder / "space")
    counts = {name: part.sentences.ids.bincount(minlength=len(pieces)) for name, part in text.texts.items()}
    for count in counts.values():
        count[EOS] = 1
    return seq2seq.untrained_translator(config, pieces, counts, space, {}, 0)


BEGINS = torch.tensor([True] * 5 + [True, False, False, True, True])
SENTENCES = Ragged.of([[5, 6, 7, 8, 9], [8], [], [9, 5, 6]])


def test_without_shares_noise_changes_nothing_and_words_stay_whole() -> None:
    quiet = system.Noise(0.0, 0.0, 0, BEGINS)(SENTENCES, generator_for(0))
    assert quiet.ids.tolist() == SENTENCES.ids.tolist()
    assert quiet.offsets.tolist() == SENTENCES.offsets.tolist()
    for seed in range(20):
        moved = system.Noise(0.0, 0.0, 3, BEGINS)(SENTENCES, generator_for(seed))
        first = moved.take(torch.tensor([0])).ids.tolist()
        assert sorted(first) == [5, 6, 7, 8, 9]
        assert first[first.index(5) :][:3] == [5, 6, 7]


def test_words_move_no_further_than_the_window_and_the_shares_are_kept() -> None:
    begins = torch.ones(1_000, dtype=torch.bool)
    text = Ragged.of([list(range(10, 60)) for _ in range(200)])
    moved = system.Noise(0.0, 0.0, 3, begins)(text, generator_for(0)).padded().ids  # (200, 50)
    away = (moved - 10 - torch.arange(50)).abs()
    assert int(away.max()) == 3
    assert (away > 0).float().mean() > 0.3
    noisy = system.Noise(0.2, 0.1, 0, begins)(text, generator_for(0))
    assert abs(len(noisy.ids) / len(text.ids) - 0.8) < 0.02
    assert abs(float((noisy.ids == MASK).float().mean()) - 0.1) < 0.02
    lost = system.Noise(0.9, 0.0, 3, begins)(Ragged.of([[7, 8], [], [9]] * 50), generator_for(0))
    assert (lost.lengths.view(-1, 3) > 0).tolist() == [[True, False, True]] * 50


def test_pieces_that_begin_a_word(pieces: Pieces) -> None:
    begins = system.word_begins(pieces)
    for token, begin in zip(pieces.tokens[5:], begins.tolist()[5:], strict=True):
        assert begin == (token.startswith("▁") or not token[0].isalnum())


def test_a_combining_mark_begins_no_word() -> None:
    pieces = Pieces.learned({"hi": ["किताब किताबें, कि ता बें।"] * 4}, 40, generator_for(0))
    begins = system.word_begins(pieces)
    assert {"ि", "ा", "।", ","} <= set(pieces.tokens)
    found = {piece: bool(begins[pieces.id_of(piece) or 0]) for piece in ("ि", "ा", "।", ",")}
    assert found == {"ि": False, "ा": False, "।": True, ",": True}


def lines_of(sentences: Ragged, pieces: Pieces) -> list[str]:
    return [pieces.decode(part.tolist()) for part in torch.split(sentences.ids, sentences.lengths.tolist())]


def framed(pieces: Pieces, *lines: str) -> Ragged:
    return Ragged.of(pieces.encode(lines)).framed(BOS, EOS)


@torch.no_grad()
def test_a_loss_is_the_cross_entropy_of_one_piece_after_another(pieces: Pieces, tmp_path: Path) -> None:
    network = network_of(pieces, tmp_path).eval()
    source, target = framed(pieces, "en1 en2", "en3"), framed(pieces, "fr4", "fr5 fr6 fr7")
    total, count = torch.zeros(()), 0
    for row in range(2):
        one, other = (side.take(torch.tensor([row])) for side in (source, target))
        memory = network.memory(one.padded(), "en")
        for place in range(1, len(other.ids)):
            state = network.states(other.ids[None, :place], memory, "fr")[0, -1]
            total -= network.scores(state, "fr").log_softmax(0)[other.ids[place]]
            count += 1
    torch.testing.assert_close(network.loss(source, target, WAY), total / count, atol=1e-4, rtol=1e-4)


def test_pieces_that_a_language_is_not_written_with_leave_the_loss_finite(
    pieces: Pieces, tmp_path: Path
) -> None:
    network = network_of(pieces, tmp_path).eval()
    source, ids = framed(pieces, "en1 en2"), framed(pieces, "fr1 fr2").ids.tolist()
    plain = network.loss(source, Ragged.of([ids]), WAY)
    scores, answers = network.predictions(source, Ragged.of([[*ids[:-1], UNK, EOS]]), WAY)
    known = answers != UNK
    expected = torch.nn.functional.cross_entropy(scores[known], answers[known])
    torch.testing.assert_close(network.loss(source, Ragged.of([[*ids[:-1], UNK, EOS]]), WAY), expected)
    english = next(place for place in range(MASK + 1, len(pieces)) if not network.written[1, place])
    with_english = Ragged.of([[*ids[:-1], english, EOS]])
    assert torch.isinf(network.loss(source, with_english, WAY))
    network.also_written_with("fr", with_english.ids)
    assert torch.isfinite(network.loss(source, with_english, WAY))
    assert not network.written[1, [PAD, BOS, UNK, MASK]].any()
    assert bool(network.loss(source, Ragged.of([ids]), WAY) > plain)  # there is one more piece to choose from


def test_each_language_is_written_with_its_own_pieces(pieces: Pieces, tmp_path: Path) -> None:
    network = network_of(pieces, tmp_path)
    source = framed(pieces, *(en for en, _ in toy_text(30)))
    english = {token for token, ours in zip(pieces.tokens, network.written[0].tolist(), strict=True) if ours}
    for beam in (1, 3):
        made = seq2seq.generate(network.eval(), source, ("fr", "en"), beam=beam)
        assert {pieces.tokens[place] for place in made.ids.tolist()} - {"<bos>"} <= english
        assert not set(made.ids.tolist()) & {PAD, UNK, MASK}
        assert (made.lengths >= 3).all()  # no translation is empty


@torch.no_grad()
def test_a_beam_of_one_takes_the_best_piece(pieces: Pieces, tmp_path: Path) -> None:
    network = network_of(pieces, tmp_path, replace(TINY, longest=6)).eval()
    source = framed(pieces, "en1 en2", "en3 en4", "en5")
    greedy = seq2seq.generate(network, source, WAY)
    for row in range(3):
        memory = network.memory(source.take(torch.tensor([row])).padded(), "en")
        begun = [BOS]
        for piece in greedy.take(torch.tensor([row])).ids.tolist()[1:-1]:
            best = network.scores(network.states(torch.tensor([begun]), memory, "fr")[0, -1], "fr")
            if len(begun) == 1:
                best[EOS] = -torch.inf
            assert piece == int(best.argmax())
            begun.append(piece)


@torch.no_grad()
def test_a_beam_that_keeps_all_finds_the_best_of_all_translations(pieces: Pieces, tmp_path: Path) -> None:
    network, limit = network_of(pieces, tmp_path).eval(), 2
    memory = network.memory(framed(pieces, "en1 en2").padded(), "en").vectors

    def means(ids: Tensor) -> Tensor:
        """The log-probabilities (n,) a piece, <bos> and <eos> counted, of translations (n, k)."""
        whole = torch.nn.functional.pad(torch.nn.functional.pad(ids, (1, 0), value=BOS), (0, 1), value=EOS)
        states = network.states(whole[:, :-1], Memory(memory.repeat(len(ids), 1, 1), None), "fr")
        scores = network.scores(states, "fr")
        scores[:, 0, EOS] = -torch.inf  # none is empty
        if ids.shape[1] == limit:
            scores[:, -1, torch.arange(scores.shape[2]) != EOS] = -torch.inf  # and none is longer
        return scores.log_softmax(-1).gather(2, whole[:, 1:, None]).sum(dim=(1, 2)) / whole.shape[1]

    written = network.written[1].nonzero()[:, 0]
    written = written[written != EOS]
    ones, twos = written[:, None], torch.cartesian_prod(written, written)
    scores = [means(ones), torch.cat([means(part) for part in torch.split(twos, 1_000)])]
    best = [ids[int(found.argmax())].tolist() for ids, found in zip((ones, twos), scores, strict=True)]
    beam = len(twos)
    decoding = network.decoding(Memory(memory.repeat(beam, 1, 1), None), "fr")
    found = best_sequences(decoding, lambda rows: network.scores(rows, "fr"), torch.tensor([limit]), beam)
    assert found.ids.tolist() == best[int(scores[1].max() > scores[0].max())]


@torch.no_grad()
@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_may_be_as_long_as_the_longest(pieces: Pieces, tmp_path: Path, beam: int) -> None:
    network = network_of(pieces, tmp_path, replace(TINY, longest=6)).eval()
    network.bias[EOS] = -50.0
    made = seq2seq.generate(network, framed(pieces, "en1 en2", "en3"), WAY, beam=beam)
    assert made.lengths.tolist() == [6 + 2, 6 + 2]  # beside <bos> and <eos>


@pytest.mark.slow
def test_first_words_of_the_space_then_its_own(
    pieces: Pieces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muse.translate.text.has_digit", str.isdecimal)  # the toy languages have en2
    network = network_of(pieces, tmp_path, replace(TINY, words=1, denoising=0.0))
    space = load_space(tmp_path / "space")
    text = text_of(pieces)
    english = text.texts["en"].sentences
    by_words = system.WordByWord(text.texts, WAY, pieces, space, 24)
    every = torch.arange(len(english))
    backwards = system.WordByWord(text.texts, WAY, pieces, space, 24)
    parts = [backwards.take(rows) for rows in torch.split(every.flip(0), 7)]
    made = by_words.take(every)
    assert Ragged.joined(parts).take(every.flip(0)).ids.equal(made.ids)
    spoken, lines, found = (lines_of(some, pieces) for some in (text.texts["fr"].sentences, english, made))
    model = learn_language_model([line.split() for line in spoken])
    assert found == Translator(space, source="en", target="fr", model=model).translate(lines)
    assert found != Translator(space, source="en", target="fr").translate(lines)
    both = {way: system.WordByWord(text.texts, way, pieces, space, 24) for way in text.directions}
    noise = system.Noise(0.0, 0.0, 0, system.word_begins(pieces))
    with_words = system.TranslatorLearner(network, replace(text, by_words=both), noise)
    without = system.TranslatorLearner(network, text, noise)
    values = []
    for learner, step in ((with_words, 1), (without, 1), (with_words, 2), (without, 2)):
        learner.begin(step)
        values.append(float(learner.loss(torch.arange(8), generator_for(0)).detach()))
    assert values[0] != values[1]
    assert values[2] == values[3] == values[1]


def test_the_objective_is_the_weighted_sum_of_denoising_and_back_translation(
    pieces: Pieces, tmp_path: Path
) -> None:
    config = replace(TINY, denoising=0.3, back_translation=0.7, words=1)
    network, text = network_of(pieces, tmp_path, config), text_of(pieces)
    space, noise = load_space(tmp_path / "space"), system.Noise(0.2, 0.2, 3, system.word_begins(pieces))
    by_words = {way: system.WordByWord(text.texts, way, pieces, space, 24) for way in text.directions}
    learner = system.TranslatorLearner(network, replace(text, by_words=by_words), noise)
    learner.begin(config.words + 1)
    rows, drawn = torch.arange(0, learner.examples, 40), generator_for(5)
    found = learner.loss(rows, generator_for(5))
    batches = {
        name: part.sentences.take(part.training[rows * len(part.training) // learner.examples])
        for name, part in text.texts.items()
    }
    expected = torch.zeros(())
    for name, batch in batches.items():
        noisy, clean = noise(batch, drawn).framed(BOS, EOS), batch.framed(BOS, EOS)
        expected += 0.3 * network.loss(noisy, clean, (name, name))
    for source, target in (("en", "fr"), ("fr", "en")):
        batch = batches[target].framed(BOS, EOS)
        made = seq2seq.generate(network.eval(), batch, (target, source))
        expected += 0.7 * network.loss(made, batch, (source, target))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_with_ordered_attention_it_translates_word_by_word_before_it_has_learned(
    pieces: Pieces, tmp_path: Path
) -> None:
    rows = normalise(np.random.default_rng(0).normal(size=(60, 16)).astype(np.float32), ["unit"])[0]
    sides = {
        name: SideToSave(Vectors(name, [f"{name}{i}" for i in range(60)], rows), Normalisation(("unit",), ()))
        for name in WAY
    }
    save_space(tmp_path / "alike", sides, pivot="en", provenance=PROVENANCE)
    lines = [en for en, _ in toy_text(50, seed=2)]
    source, target = (framed(pieces, *(line.replace("en", name) for line in lines)) for name in WAY)
    shares = []
    for attention in ("random", "ordered"):
        config = replace(TINY, hidden=64, heads=4, attention=attention)
        text, space = text_of(pieces), load_space(tmp_path / "alike")
        counts = {
            name: part.sentences.ids.bincount(minlength=len(pieces)) for name, part in text.texts.items()
        }
        network = seq2seq.untrained_translator(config, pieces, counts, space, {}, 0).eval()
        scores, answers = network.predictions(source, target, WAY)
        words = answers != EOS
        shares.append(float((scores.argmax(dim=1) == answers)[words].float().mean()))
    assert shares[0] < 0.1 < 0.6 < shares[1]


def test_a_batch_has_sentences_of_similar_lengths_in_both_languages(pieces: Pieces, tmp_path: Path) -> None:
    text = text_of(pieces)
    learner = system.TranslatorLearner(
        network_of(pieces, tmp_path), text, system.Noise(0.0, 0.0, 0, system.word_begins(pieces))
    )
    order = torch.randperm(learner.examples, generator=generator_for(0))
    batches = learner.batches(order, 16, generator_for(0))
    assert torch.cat(list(batches)).sort().values.equal(torch.arange(learner.examples))
    assert [int(rows.max()) for rows in batches] != sorted(int(rows.max()) for rows in batches)
    for part in text.texts.values():
        lengths = part.sentences.lengths[part.training].float()
        rows = [some * len(part.training) // learner.examples for some in batches]
        widths = [float(lengths[some].max() - lengths[some].min()) for some in rows]
        assert sum(widths) / len(widths) < 0.3 * float(lengths.max() - lengths.min())


def test_it_learns_to_translate_toy_languages(pieces: Pieces, tmp_path: Path) -> None:
    network = network_of(pieces, tmp_path, replace(TINY, hidden=32, words=10_000))
    space, text = load_space(tmp_path / "space"), text_of(pieces)
    text = replace(
        text, by_words={way: system.WordByWord(text.texts, way, pieces, space, 24) for way in text.directions}
    )
    learner = system.TranslatorLearner(network, text, system.Noise(0.1, 0.1, 3, system.word_begins(pieces)))
    config = TrainerConfig(epochs=1, batch=16, rate=1e-2, steps=15)
    epochs = train(learner, config, seed=0, runtime=Runtime())
    assert epochs[1].score > epochs[0].score + 10


@pytest.mark.slow
def test_it_learns_from_its_own_translations_alone(pieces: Pieces, tmp_path: Path) -> None:
    network = network_of(pieces, tmp_path, replace(TINY, hidden=32, words=0))
    learner = system.TranslatorLearner(
        network, text_of(pieces), system.Noise(0.1, 0.1, 3, system.word_begins(pieces))
    )
    config = TrainerConfig(epochs=2, batch=16, rate=1e-2, steps=8, patience=2)
    epochs = train(learner, config, seed=0, runtime=Runtime())
    assert epochs[2].loss < epochs[1].loss
    assert epochs[2].score > epochs[0].score


def test_long_lines_are_cut_and_empty_ones_stay(pieces: Pieces, tmp_path: Path) -> None:
    network = network_of(pieces, tmp_path)
    translator = system.Translating(network, WAY, beam=1, batch=4)
    long = "en1 en2. " + "en3 en4 " * 20 + "en5"
    found = translator.translate(["", "en1", long, " ", "en6" * 40])
    assert (found[0], found[3]) == ("", "")
    assert all(found[place] for place in (1, 2, 4))
    assert translator.counts.cut == 1
    assert found[1] == translator.translate(["en1"])[0]
    with pytest.raises(BadSetting, match="got 'de'"):
        system.Translating(network, ("de", "en"))
    with pytest.raises(BadSetting, match="two languages"):
        system.Translating(network, ("en", "en"))


@pytest.mark.parametrize(
    ("bad", "part"),
    [({"heads": 3}, "multiple of heads"), ({"attention": "ordered", "decoder": "random"}, "space"),
     ({"attention": "ordered", "heads": 1}, "2 heads"), ({"longest": 2}, "longest")],
)  # fmt: skip
def test_bad_settings(bad: dict[str, float], part: str) -> None:
    with pytest.raises(BadSetting, match=part):
        replace(TINY, **bad)  # type: ignore[arg-type]
