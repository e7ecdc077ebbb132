"""muse train-translator and muse translate --model through the command line, and what they refuse."""

import re
from pathlib import Path

import pytest

from muse.sentences.encoders.saving import read_encoder
from muse.sentences.loading import load_encoder
from muse.sentences.systems.translator.translator_system import TranslatorLearner
from muse.space import load_space
from tests.support.command import Command, refused, refused_leaving
from tests.support.killed import killed_at
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.toy_training import set_options, texts_of

pytestmark = pytest.mark.slow

SIZES = ("pieces=200", "layers=1", "heads=2", "hidden=16", "longest=24", "warmup=5", "steps=6")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a space, text of both languages, and parallel text."""
    pytest.importorskip("tokenizers")
    toy_space(tmp_path / "space")
    text = {"en": [en for en, _ in toy_text()], "fr": [fr for _, fr in toy_text(300, seed=1)]}
    for name, lines in text.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_text(tmp_path / "pairs.tsv", toy_text(100, seed=2))
    return tmp_path


def training(files: Path, *more: object, **texts: Path | str) -> list[object]:
    sizes = set_options(*SIZES)
    files_of = {name: files / f"{name}.txt" for name in ("en", "fr")} | texts
    given = [part for name, path in files_of.items() for part in ("--text", f"{name}={path}")]
    quick = ["--epochs", 2, "--batch", 8, "--rate", 0.01]
    return ["train-translator", files / "space", "--out", files / "out", *quick, *sizes, *given, *more]


def pretraining(files: Path, *more: object) -> list[object]:
    """The arguments that train a language model for both parts to begin with."""
    sizes = set_options(*SIZES[:4], "length=26", "objective=mlm")
    texts = texts_of(files)
    start = ["train", files / "space", "--encoder", "xlm", "--lang", "fr", "-q", "--epochs", 1, "--batch", 8]
    return [*start, *sizes, *texts, *more]


def translating(files: Path, *more: object) -> list[object]:
    return ["translate", "--model", files / "out", "--src", "fr", *more]


def test_ordered_attention_has_its_name(muse: Command, files: Path) -> None:
    found = muse(*training(files, "--json", "--set", "attention=ordered")).json
    assert found["encoder"] == "translator[space,space,ordered]"
    assert muse(*translating(files), stdin="fr1 fr2\n").out.strip()


def test_it_is_trained_and_translates(muse: Command, files: Path) -> None:
    found = muse(*training(files, "--json", "--set", "words=6")).json
    assert found["encoder"] == "translator[space,space]"
    assert found["metric"] == "round-trip accuracy"
    assert found["loss_curve"][-1] < found["loss_curve"][0]
    assert (found["sentences_en"], found["sentences_fr"], found["left_out"]) == (380, 285, 0)
    text = "fr1 fr2 fr3\n\nfr7 fr8\n"
    plain = muse(*translating(files), stdin=text)
    lines = plain.out.splitlines()
    assert (len(lines), lines[1]) == (3, "")
    assert all(word.startswith("en") for word in f"{lines[0]} {lines[2]}".split())
    assert muse(*translating(files, "--batch", 1), stdin=text).out == plain.out
    (files / "gold").write_text("en1 en2 en3\n\nen7 en8\n", encoding="utf-8")
    pytest.importorskip("sacrebleu")
    more = ["--tgt", "en", "--beam", 2, "--reference", files / "gold", "--json"]
    told = muse(*translating(files, *more), stdin=text).json
    model, *rest = told["bleu"]["signature"].split(" | ")[1:4]
    assert rest == ["fr-en", "beam:2"]
    assert re.fullmatch("model:out@[0-9a-f]{4}", model)
    assert (len(told["lines"]), told["unknown"], told["cut"]) == (3, 0, 0)
    encoder = load_encoder(files / "out", load_space(files / "space"))
    assert encoder.encode(["fr1 fr2"], "fr").matrix.shape == (1, 16)


@pytest.mark.slow
def test_it_begins_with_a_language_model(muse: Command, files: Path) -> None:
    assert muse(*pretraining(files, "--out", files / "mlm")).code == 0
    found = muse(*training(files, "--json", "--encoder", files / "mlm", "--decoder", "random")).json
    assert found["encoder"] == "translator[mlm,random]"
    both = ["--encoder", files / "mlm", "--decoder", files / "mlm"]
    assert muse(*training(files, "--json", *both)).json["encoder"] == "translator[mlm,mlm]"
    larger = ["--encoder", files / "mlm", "--set", "layers=2"]
    refused(muse(*training(files, *larger)), "layers must be 1", "language model of the encoder, got 2")
    assert muse(*pretraining(files, "--set", "hidden=32", "--out", files / "other")).code == 0
    two = ["--encoder", files / "mlm", "--decoder", files / "other"]
    refused(muse(*training(files, *two)), "models of the same pieces and sizes")


def test_parallel_text_alone_or_too(muse: Command, files: Path) -> None:
    pairs = ["--parallel", f"fr={files / 'pairs.tsv'}", "--json"]
    found = muse(*training(files, *pairs)).json
    assert (found["metric"], found["pairs_fr"]) == ("accuracy", 95)
    alone = ["--set", "denoising=0", "--set", "back_translation=0"]
    assert muse(*training(files, *pairs, *alone)).json["score"] > 0


def test_parallel_text_for_a_model_that_begins_with_a_language_model(muse: Command, files: Path) -> None:
    assert muse(*pretraining(files, "--out", files / "mlm")).code == 0
    both = ["--encoder", files / "mlm", "--decoder", files / "mlm"]
    alone = ["--set", "denoising=0", "--set", "back_translation=0"]
    more = ["--parallel", f"fr={files / 'pairs.tsv'}", *both, *alone]
    few = files / "few.txt"  # of which other pieces would be learned
    few.write_text("".join(f"fr{i} fr{i + 1} fr{i % 7}\n" for i in range(40)), encoding="utf-8")
    assert muse(*training(files, "-q", *more, "--epochs", 0, fr=few)).code == 0
    model, untrained = (read_encoder(files / name) for name in ("mlm", "out"))
    assert untrained.settings["pieces"] == model.settings["pieces"]
    found = muse(*training(files, "--json", *more, fr=few)).json
    assert (found["encoder"], found["metric"]) == ("translator[mlm,mlm]", "accuracy")
    assert found["pairs_fr"] == 95
    assert found["loss_curve"][-1] < found["loss_curve"][0]
    assert found["score"] > found["score_by_epoch"][0]
    assert muse(*translating(files), stdin="fr1 fr2 fr3\n").out.strip().startswith("en")


def test_a_run_resumes_with_the_same_models_for_the_same_parts(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert muse(*pretraining(files, "--epochs", 0, "--out", files / "mlm")).code == 0
    killed_at(monkeypatch, TranslatorLearner, 2)
    begun = training(files, "-q", "--decoder", "random", "--encoder")
    assert muse(*begun, files / "mlm").code == 130
    exchanged = ["--encoder", "random", "--decoder", files / "mlm"]
    refused(muse(*begun, files / "mlm", "--resume", *exchanged), "those in", "differ")
    (files / "mlm").rename(files / "moved")
    assert muse(*begun, files / "moved", "--resume").code == 0


def test_text_that_a_model_cannot_read_is_told(muse: Command, files: Path) -> None:
    assert muse(*training(files, "--epochs", 0)).code == 0
    told = muse(*translating(files, "--json"), stdin="щ щ щ\n")
    assert "3 of 6 word pieces unknown to the model: is the text in fr?" in told.err
    assert (told.json["pieces"], told.json["unknown"]) == (6, 3)
    assert "unknown" not in muse(*translating(files), stdin="fr1 fr2 fr3\n\n").err


def test_a_model_that_breaks_down_is_told(muse: Command, files: Path) -> None:
    ended = muse(*training(files, "--rate", 1e20))
    refused(ended, "must be numbers, got nan; train with a lower --rate. The last good epoch is kept")


def test_bad_input_is_told_and_leaves_nothing(muse: Command, files: Path) -> None:
    def bad(more: list[object], *parts: str, **texts: Path | str) -> None:
        refused_leaving(files, muse, training(files, *more, **texts), *parts)

    (files / "one").write_text("fr1 fr2\n", encoding="utf-8")
    bad([], "one: training needs at least 20 different sentences of fr, got 1", fr=files / "one")
    bad([], "nosuch", fr="nosuch")
    bad([], "'de'", de=files / "one")
    bad(["--encoder", "nosuch"], "nosuch", "expected a saved encoder")
    bad(["--set", "drop=1"], "drop must be", "at least 0 and below 1")
    bad(["--set", "denoising=0", "--set", "back_translation=0"], "with --parallel, translation must be above")
    (files / "long").write_text(f"{'fr1 ' * 30}\n" + "".join(f"fr2 {'fr3 ' * n}\n" for n in range(30, 60)))
    bad([], "20 sentences of fr with at most 24 pieces, got 0 of 31", fr=files / "long")
    bad(["--parallel", "fr=nosuch.tsv"], "nosuch.tsv")
    bad(["--resume"], "--resume needs the checkpoints")
    one = ["train-translator", files / "space", "--out", files / "out"]
    refused(muse(*one, "--text", f"fr={files / 'fr.txt'}"), "needs text of en, the pivot, and of another")
    assert muse(*one).code == 2
    assert muse(*training(files, "--text", f"fr={files / 'fr.txt'}", "--text", "fr=x")).code == 2


def test_translate_with_what_is_no_model(muse: Command, files: Path) -> None:
    assert muse(*training(files, "--epochs", 0)).code == 0
    assert muse(*translating(files)[:3], stdin="x\n").code == 2  # no --src
    assert muse("translate", stdin="x\n").code == 2  # neither a space nor a model
    assert muse("translate", files / "space", "--batch", 3, stdin="x\n").code == 2
    for more in (["--top", 3], ["--lm", "x"], ["--retrieval", "nn"]):
        assert muse(*translating(files, *more), stdin="x\n").code == 2
    assert muse("translate", files / "space", "--model", files / "out", "--src", "fr", stdin="x").code == 2
    refused(muse(*translating(files), stdin=""), "standard input", "got nothing")
    refused(muse(*translating(files, "--tgt", "de"), stdin="x\n"), "knows en, fr, got 'de'")
    refused(muse(*translating(files)[:3], "--src", "de", stdin="x\n"), "knows en, fr, got 'de'")
    refused(muse(*translating(files, "--tgt", "fr"), stdin="x\n"), "two languages, got fr twice", code=2)
    start: list[object] = ["translate", "--src", "fr", "--model"]
    refused(muse(*start, "nosuch", stdin="x\n"), "nosuch")
    refused(muse(*start, files / "space", stdin="x\n"), "saved encoder")
    sums = ["train", files / "space", "--lang", "fr", "--parallel", files / "pairs.tsv", "--epochs", 0, "-q"]
    assert muse(*sums, "--out", files / "sums").code == 0
    refused(muse(*start, files / "sums", stdin="x\n"), "expected a model of muse train-translator")
