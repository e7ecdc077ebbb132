"""XLM: streams, masked batches and batches by their definitions, and the system through muse train."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from muse.errors import Mismatch
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.run.seeds import generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.loading import load_encoder
from muse.sentences.systems import pieces as word_pieces
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.networks.transformer import random_rows
from muse.sentences.systems.registry import SYSTEMS
from muse.sentences.systems.xlm import language_model, xlm_system
from muse.sentences.training.optimising import Optimisers
from muse.sentences.training.pairs import ParallelCorpus, make_pairs
from muse.sentences.training.trainer import TrainerConfig, train
from muse.space import load_space
from tests.support.bgt import parameter_count
from tests.support.command import Command, refused, refused_leaving
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.toy_training import set_options

TINY = language_model.XlmConfig(
    pieces=200, layers=1, heads=2, hidden=16, length=16, pair_tokens=256, dropout=0.0, warmup=5
)


def toy_documents() -> dict[str, list[list[str]]]:
    """Text of the toy languages, of en twice as much as of fr."""
    return {"en": [[en for en, _ in toy_text()]], "fr": [[fr for _, fr in toy_text()[:200]]]}


def toy_pieces() -> word_pieces.Pieces:
    texts = {name: documents[0] for name, documents in toy_documents().items()}
    return word_pieces.Pieces.learned(texts, TINY.pieces, generator_for(0))


@pytest.fixture(scope="module")
def pieces() -> word_pieces.Pieces:
    pytest.importorskip("tokenizers")
    return toy_pieces()


def made(
    pieces: word_pieces.Pieces, config: language_model.XlmConfig = TINY, parallel: bool = True
) -> tuple[language_model.XlmNetwork, xlm_system.Sources]:
    reader, text, rng = (
        word_pieces.PieceReader(pieces, config.length),
        toy_text(seed=1),
        np.random.default_rng(0),
    )
    columns, quiet = [*zip(*text, strict=True)], Progress(quiet=True)
    pairs = make_pairs(columns, [reader, reader], rng=rng, device="cpu", progress=quiet)
    both = ParallelCorpus("en", {"fr": pairs}) if parallel and not config.causal else None
    sources = xlm_system.make_sources(config, toy_documents(), both, pieces, seed=0, device="cpu")
    return xlm_system.untrained_network(config, pieces, sources.counts, None, 0), sources


def test_streams_hold_all_sentences_in_order_and_none_is_longer(pieces: word_pieces.Pieces) -> None:
    text = pieces.encode([en for en, _ in toy_text()])
    streams = list(xlm_system.cut_streams(text, 16))
    assert {len(stream) for stream in streams[:-1]} == {16}
    assert all(stream[0] == word_pieces.BOS for stream in streams)
    joined = [piece for stream in streams for piece in stream[1:]]
    assert joined == [piece for sentence in text for piece in (*sentence, word_pieces.EOS)]


def test_streams_end_with_their_document_and_some_are_held_out(pieces: word_pieces.Pieces) -> None:
    documents = [["en1 en2 en3"], ["en4 en5"] * 3] * 20
    streams, *parts = xlm_system.make_streams("en", documents, pieces, 64, generator_for(0), "cpu")
    assert len(streams) == 40  # each document is shorter than a stream
    assert sorted(torch.cat(parts).tolist()) == list(range(40))
    assert len(parts[1]) == 2
    with pytest.raises(Mismatch, match="en needs text for at least 20 streams of 64 pieces, got 2"):
        xlm_system.make_streams("en", documents[:2], pieces, 64, generator_for(0), "cpu")


def test_tlm_sets_both_sides_side_by_side_with_their_own_positions_and_blanks() -> None:
    first, second = Ragged.of([[2, 9, 8, 3], [2, 7, 3]]), Ragged.of([[2, 6, 3], [2, 11, 12, 13, 3]])
    inputs, target_mask, answers = language_model.masked_batch(
        [(first.padded(), 0), (second.padded(), 1)], TINY.masking(20), torch.ones(20), generator_for(3)
    )
    assert inputs.positions is not None and inputs.languages is not None and inputs.mask is not None
    assert inputs.positions.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 4]
    assert inputs.languages.tolist() == [[0] * 4 + [1] * 5]
    assert inputs.mask.int().tolist() == [[1] * 4 + [1] * 3 + [0] * 2, [1] * 3 + [0] + [1] * 5]
    truth = torch.tensor([[2, 9, 8, 3, 2, 6, 3, 0, 0], [2, 7, 3, 0, 2, 11, 12, 13, 3]])
    assert answers.tolist() == truth[target_mask].tolist()
    assert target_mask[:, :4].any(dim=1).all() and target_mask[:, 4:].any(dim=1).all()


def test_clm_asks_for_the_next_piece_and_looks_at_none_after(pieces: word_pieces.Pieces) -> None:
    config = language_model.XlmConfig(**{**vars(TINY), "objective": "clm"})
    network, _ = made(pieces, config, parallel=False)
    text = Ragged.of([[2, 9, 8, 7, 3], [2, 6, 3]]).padded()
    batch = language_model.masked_batch([(text, 0)], None, torch.ones(20), generator_for(0))
    assert batch.answers.tolist() == [9, 8, 7, 3, 6, 3]
    states = network.model.transformer(batch.inputs)
    changed = batch.inputs._replace(tokens=batch.inputs.tokens.clone())
    changed.tokens[0, 3] = 11
    after = network.model.transformer(changed)
    torch.testing.assert_close(after[0, :3], states[0, :3])
    assert not torch.allclose(after[0, 3:], states[0, 3:])


def test_an_mlm_state_sees_the_translation_and_only_that(pieces: word_pieces.Pieces) -> None:
    network, sources = made(pieces)
    source = sources.pairs[0]
    batch = source.batch(torch.arange(2), generator_for(0))
    inputs, mask = batch.inputs, batch.inputs.mask
    assert inputs.languages is not None and mask is not None
    second = inputs.languages[0] == 1
    batch = batch._replace(target_mask=batch.target_mask & ~second)
    beside = network.model(batch)
    other = torch.where(second, inputs.tokens.flip(0), inputs.tokens)
    assert not torch.allclose(network.model(batch._replace(inputs=inputs._replace(tokens=other))), beside)
    padding = torch.where(mask, inputs.tokens, word_pieces.MASK)
    same = network.model(batch._replace(inputs=inputs._replace(tokens=padding)))
    torch.testing.assert_close(same, beside)


@pytest.mark.parametrize("exponent", [0.7, 0.0])
def test_batches_take_turns_and_languages_have_their_shares(
    pieces: word_pieces.Pieces, exponent: float
) -> None:
    network, sources = made(pieces)
    learner = xlm_system.XlmLearner(network.model, sources.streams, sources.pairs, exponent=exponent)
    en, fr, pairs = (source.examples for source in (*sources.streams, *sources.pairs))
    assert learner.examples == en + fr + pairs
    order = torch.randperm(learner.examples, generator=generator_for(1))
    kinds: Counter[str] = Counter()
    for epoch in range(40):
        batches = learner.batches(order, 8, generator_for(1, epoch))
        assert len(batches) == learner.examples // 8
        for turn, rows in enumerate(batches):
            places = {0 if row < en else 1 if row < en + fr else 2 for row in rows.tolist()}
            assert len(places) == 1
            kinds["en fr pairs".split()[places.pop()]] += 1
            assert (int(rows[0]) >= en + fr) == bool(turn % 2)
    expected = en**exponent / (en**exponent + fr**exponent)
    assert abs(kinds["en"] / (kinds["en"] + kinds["fr"]) - expected) < 0.05
    again, twice = (learner.batches(order, 8, generator_for(1)) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(again, twice, strict=True))


def test_the_table_begins_with_the_rows_of_the_space(pieces: word_pieces.Pieces, tmp_path: Path) -> None:
    space = toy_space(tmp_path / "space")
    rows = word_pieces.aligned_rows(pieces, ("en", "fr"), space, 16, 0)
    whole = [word for word in space.vectors("fr").words if f"▁{word}" in pieces.tokens]
    assert len(whole) > 10
    ids = [pieces.tokens.index(f"▁{word}") for word in whole]
    mine = torch.nn.functional.normalize(rows[ids])
    truth = torch.tensor(space.vectors("fr").matrix[[space.vectors("fr").index[word] for word in whole]])
    torch.testing.assert_close(mine @ mine.T, truth @ truth.T, atol=1e-4, rtol=0)
    assert not rows[0].any()
    wide = word_pieces.aligned_rows(pieces, ("en", "fr"), space, 20, 0)
    assert wide.shape == (len(pieces), 20) and not wide[:, 16:].any()


def test_principal_rows_keep_most_of_the_inner_products() -> None:
    rows = torch.randn(50, 12, generator=generator_for(0)) * torch.arange(12, 0, -1)
    u, s, vt = torch.linalg.svd(rows, full_matrices=False)
    best = (u[:, :5] * s[:5]) @ vt[:5]
    found = word_pieces.principal(rows, 5)
    torch.testing.assert_close(found @ found.T, best @ best.T, atol=1e-2, rtol=1e-3)


def test_the_untrained_twin_knows_the_frequencies(pieces: word_pieces.Pieces) -> None:
    config = language_model.XlmConfig(**{**vars(TINY), "objective": "clm"})
    network, sources = made(pieces, config, parallel=False)
    counts = sum(sources.counts.values())
    torch.testing.assert_close(network.model.bias.exp().round(), counts.clamp(min=1).float())  # type: ignore[union-attr]


def test_it_learns_and_is_scored_on_what_it_is_judged_by(pieces: word_pieces.Pieces) -> None:
    network, sources = made(pieces)
    learner = xlm_system.XlmLearner(network.model, sources.streams, sources.pairs)
    before = learner.held_out().score
    epochs = train(learner, TrainerConfig(epochs=2, batch=16, rate=1e-2), seed=0, runtime=Runtime())
    assert learner.held_out().score == max(epoch.score for epoch in epochs) > before
    told = {name: part.perplexity for name, part in learner.predictions().items()}
    assert set(told) == {"en", "fr", "en-fr"}
    assert learner.held_out().score == pytest.approx(
        200 / (told["en"] + told["fr"])
    )  # over languages, not over pairs
    alone = xlm_system.XlmLearner(network.model, sources.streams, judged=("fr",))
    assert set(alone.predictions()) == {"fr"}


def test_words_have_the_mean_of_their_pieces(pieces: word_pieces.Pieces, tmp_path: Path) -> None:
    network, _ = made(pieces)
    table = network.model.transformer.table(torch.arange(len(pieces)))
    found = word_pieces.word_rows(network.pieces, ["en1", "en12 fr3", " "], network.embed)
    for row, text in enumerate(("en1", "en12 fr3")):
        ids = pieces.encode([text])[0]
        torch.testing.assert_close(found[row], table[ids].mean(dim=0))
    torch.testing.assert_close(found[2], table[word_pieces.UNK])
    space = network.word_space(toy_space(tmp_path / "space"))
    np.testing.assert_allclose(np.linalg.norm(space.vectors("fr").matrix, axis=1), 1, rtol=1e-5)


def test_sentences_are_read_without_what_is_unknown_and_cut(pieces: word_pieces.Pieces) -> None:
    reading = word_pieces.PieceReader(pieces, 8).read(["en1 en2", "", "漢", "en1 漢 en2", "en1 " * 20])
    lengths = reading.sentences.lengths.tolist()
    assert lengths[1:3] == [0, 0]
    assert lengths[4] == 8 and reading.truncated == 1
    assert reading.unknown == 2
    first = reading.sentences.ids[: lengths[0]].tolist()
    assert (first[0], first[-1]) == (word_pieces.BOS, word_pieces.EOS)


def test_the_paper_preset_has_its_size() -> None:
    config = SYSTEMS["xlm"].presets["paper"].config
    count = parameter_count(
        lambda generator: language_model.XlmModel(config, torch.empty(95_000, 1_024), 15, generator)
    )
    # Conneau et al. (2020), table 6: XLM-15 has 12 layers of 1024 and 95k pieces, 250 million in all.
    assert abs(count / 250e6 - 1) < 0.02


@pytest.mark.slow
def test_a_step_of_the_paper_preset() -> None:
    # 172 million weights with their gradients and Adam's two moments: 3 GB beside the states.
    preset, v, drawn = SYSTEMS["xlm"].presets["paper"], 20_000, generator_for(0)
    config, trainer = preset.config, preset.trainer
    model = language_model.XlmModel(config, random_rows(v, 1_024, drawn), 15, drawn)
    optimisers = Optimisers(model, trainer.optimiser, trainer.rate)
    text = Ragged.of(torch.randint(5, v, (2, 64), generator=drawn).tolist()).padded()
    batch, losses = language_model.masked_batch([(text, 3)], config.masking(v), torch.ones(v), drawn), []
    for _ in range(2):
        loss = model.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        losses.append(loss.item())
        optimisers.step(trainer.rate, trainer.clip)
    assert losses[0] == pytest.approx(np.log(v), abs=1)  # of all pieces alike
    assert losses[1] < losses[0] - 1


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a space, parallel text, and text of both languages."""
    pytest.importorskip("tokenizers")
    toy_space(tmp_path / "space")
    write_text(tmp_path / "pairs.tsv", toy_text(seed=1))
    for side, language in enumerate(("en", "fr")):
        lines = [pair[side] for pair in toy_text()]
        (tmp_path / f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        documents = [f"{place // 20}\t{line}" for place, line in enumerate(lines)]
        (tmp_path / f"{language}.tsv").write_text("\n".join(documents) + "\n", encoding="utf-8")
    return tmp_path


SIZES = {"pieces": 200, "layers": 1, "heads": 2, "hidden": 16, "length": 16, "warmup": 5}


def good(files: Path, *more: object, text: str = "txt", parallel: bool = True) -> list[object]:
    sizes = set_options(**SIZES)
    given = {str(part).partition("=")[0] for part in more}
    texts = [
        part
        for name in ("en", "fr")
        if name not in given
        for part in ("--text", f"{name}={files / name}.{text}")
    ]
    pairs = ["--set", "pair_tokens=256", "--parallel", files / "pairs.tsv"] if parallel else []
    quick = ["--epochs", 2, "--batch", 16, "--rate", 0.01, "--set", "steps=8"]
    start = ["train", files / "space", "--encoder", "xlm", "--lang", "fr", "--out", files / "out", "-q"]
    return [*start, *quick, *sizes, *texts, *pairs, *more]


def test_it_is_trained_saved_and_loaded_and_its_words_are_exported(muse: Command, files: Path) -> None:
    found = muse(*good(files, "--json")).json
    assert found["encoder"] == "xlm[mlm+tlm,aligned,mean]"
    assert (found["metric"], found["ci95"]) == ("100/perplexity", None)
    assert found["score"] > found["score_by_epoch"][0]
    space = load_space(files / "space")
    encoder = load_encoder(files / "out", space)
    text = ["fr1 fr2", "", "漢", "fr3 fr1 fr7"]
    encoded = encoder.encode(iter(text), "fr")
    assert (encoded.matrix.shape, encoded.empty, encoded.unknown) == ((4, 16), 2, 1)
    np.testing.assert_allclose(encoded.matrix[3], encoder.encode([text[3]], "fr").matrix[0], atol=1e-5)
    assert np.abs(encoder.encode([text[0]], "en").matrix[0] - encoded.matrix[0]).max() > 1e-3
    words = files / "words"
    ended = muse(
        "export", files / "space", "--encoder", files / "out", "--format", "space", "--out", words, "-q"
    )
    assert ended.code == 0
    exported = load_space(words)
    assert isinstance(encoder, NetworkEncoder)
    rows, expected = (space.vectors("fr").matrix for space in (exported, encoder.words))
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-6)
    refused(
        muse("export", files / "space", "--encoder", "mean", "--format", "space", "--out", files / "other"),
        "mean: expected a saved encoder, found no such folder",
    )


def test_a_model_without_the_pivot_s_text_exports_its_language_and_no_space(
    muse: Command, files: Path
) -> None:
    start = ["train", files / "space", "--encoder", "xlm", "--lang", "fr", "--out", files / "out", "-q"]
    sizes = set_options(**SIZES)
    text = ["--set", "objective=mlm", "--text", f"fr={files / 'fr.txt'}", "--epochs", 0]
    assert muse(*start, *sizes, *text).code == 0
    export = ["export", files / "space", "--encoder", files / "out", "-q", "--format"]
    for more in (["space"], ["torch"], ["moses"], ["torch", "--tables", "shared", "--src", "fr"]):
        refused_leaving(
            files, muse, [*export, *more, "--out", files / "x"], f"--format {more[0]} needs vectors of the "
            "pivot, en, and this encoder has learned those of fr alone; train it with --text en=FILE too",
        )  # fmt: skip
    for more in (["torch", "--tables", "shared"], ["npz"], ["sentence-transformers"]):
        assert muse(*export, *more, "--out", files / f"{more[0]}.x").code == 0


def test_text_of_another_language_is_told(muse: Command, files: Path) -> None:
    def told(*more: object) -> str:
        return muse(*(part for part in good(files, "--epochs", 0, *more) if part != "-q")).err

    assert "is the text" not in told()
    swapped = ["--text", f"en={files / 'fr.txt'}", "--text", f"fr={files / 'en.txt'}"]
    found = [line for line in told(*swapped).splitlines() if "100 % of the tokens are words of" in line]
    assert [line.rpartition(" ")[2] for line in found] == ["en?", "fr?"]


@pytest.mark.parametrize("objective", ["mlm", "clm"])
def test_without_translations_and_by_documents(muse: Command, files: Path, objective: str) -> None:
    more = ["--set", f"objective={objective}", "--set", "documents=true", "--set", "initial=random", "--json"]
    found = muse(*good(files, *more, text="tsv", parallel=False)).json
    assert found["encoder"] == f"xlm[{objective},random,mean]"
    assert "pairs" not in found
    assert 1 < found["perplexity_fr"] < 1_000


BAD: dict[str, tuple[list[object], list[str]]] = {
    "first of clm": (["--set", "objective=clm", "--set", "pooling=first"], ["pooling=mean"]),
    "batch of pairs": (["--set", "pair_tokens=31"], ["pair_tokens must hold the longest pair, 32"]),
    "judged": (["--set", "judged=de"], ["one of en, fr", "'de'"]),
    "no documents": (["--set", "documents=true"], ["en.txt:1", "document"]),
    "too little": (
        ["--set", "length=512", "--set", "pair_tokens=2048"],
        ["at least 20 streams of 512 pieces"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_and_leaves_nothing(muse: Command, files: Path, name: str) -> None:
    more, parts = BAD[name]
    refused_leaving(files, muse, good(files, *more), *parts)


def test_missing_texts(muse: Command, files: Path) -> None:
    refused(muse(*good(files, parallel=False)), "mlm+tlm needs --parallel", code=2)
    unused = ["--set", "objective=mlm", "--parallel", files / "pairs.tsv"]
    refused(muse(*good(files, *unused, parallel=False)), "mlm does not use --parallel", code=2)
    start = ["train", files / "space", "--encoder", "xlm", "--lang", "fr", "--out", files / "out"]
    refused(muse(*start), "needs --text to train on", code=2)
    refused(muse(*start, "--text", f"en={files}/en.txt"), "needs text of --lang fr", code=2)
