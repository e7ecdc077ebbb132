"""muse align from two texts: vectors are trained, kept where later runs find them, and aligned."""

from pathlib import Path

import numpy as np
import pytest

from muse.files import read_vectors
from tests.support.command import Command, refused_leaving

WORDS, TOPICS, LINES = 600, 20, 3_000
BOTH = ["--src-text", "fr.txt", "--tgt-text", "en.txt"]


@pytest.fixture
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the texts fr.txt and en.txt, whose words have the same topics."""
    rng = np.random.default_rng(0)
    for language in ("fr", "en"):
        topics = rng.integers(TOPICS, size=(LINES, 1))
        words = topics + TOPICS * rng.integers(WORDS // TOPICS, size=(LINES, 10))
        lines = [" ".join(f"{language}{word}" for word in line) for line in words]
        (here / f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr("muse.embedding.config.EPOCHS", (1, 1))
    return here


@pytest.mark.slow
def test_from_two_texts_to_a_space(folder: Path, muse: Command) -> None:
    pair = ["align", "--src", "fr", "--tgt", "en", "--init", "similarity", "--no-refine"]
    ended = muse(*pair, "--src-text", "fr.txt", "--tgt-text", "en.txt", "--out", "space", "--json", "-q")
    assert ended.code in (0, 3), ended.err
    assert ended.json["words"] == {"fr": WORDS, "en": WORDS}
    kept = read_vectors(folder / "embeddings" / "fr.vec", language="fr")
    assert set(kept.words) == {f"fr{word}" for word in range(WORDS)}
    again = muse(*pair, "--out", "again", "--max-vocab", "500", "--json", "-q")
    assert again.json["words"] == {"fr": 500, "en": 500}  # found by their languages


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:

    def train(*_: object, **__: object) -> None:
        pytest.fail("vectors are trained")

    monkeypatch.setattr("muse.embedding.training.embed", train)


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--src-text", "fr.txt", "--src-emb", "fr.vec"], "--src-text replaces --src-emb, got both"),
        (["--tgt-text", "en.txt", "--tgt-emb", "en.vec"], "--tgt-text replaces --tgt-emb, got both"),
        (["--src", "de", "--src-text", "fr.txt"], "once for each --src, got 1 for 2"),
        ([*BOTH, "--init", "dictionary"], "--init dictionary needs the pairs"),
        (["--into", "space", "--tgt-text", "en.txt"], "--tgt-text needs --tgt LANG"),
    ],
)
def test_options_that_contradict_one_another_are_wrong_usage(
    folder: Path, muse: Command, options: list[str], message: str
) -> None:
    target = [] if "--into" in options else ["--tgt", "en"]
    arguments: list[object] = ["align", "--src", "fr", *target, *options, "-q"]
    refused_leaving(folder, muse, arguments, message, code=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--src-text", "no.txt"], "no.txt: expected the text of 'fr', found no such file"),
        ([*BOTH, "--dictionary", "no.tsv"], "no.tsv: expected a file, but it does not exist"),
        ([*BOTH, "--dictionary", "bad.tsv"], "bad.tsv:1: expected two words"),
        ([*BOTH, "--out", "mine"], "mine exists and is not an aligned space; choose another --out"),
        ([*BOTH, "--via", "xx"], "no vectors for 'xx'"),
        ([*BOTH, "--src-words", "no.txt"], "no.txt: expected a file, but it does not exist"),
        ([*BOTH, "--max-vocab", "499"], "--max-vocab must be at least 500"),
        (["--src-text", "fr.txt"], "no vectors for 'en'"),
        (["--src-text", "fr.txt", "--tgt-emb", "no.vec"], "no.vec: expected a file, but it does not exist"),
        (["--src-text", "fr.txt", "--tgt-text", "bad.tsv"], "bad.tsv: expected text, got mostly numbers"),
        (["--src-text", "fr.txt", "--tgt-text", "blank"], "blank: expected text, got no line with a word"),
    ],
)
@pytest.mark.usefixtures("untrained")
def test_what_is_wrong_is_told_before_training(
    folder: Path, muse: Command, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.setattr("muse.files.vectors.locate.SAMPLE", folder / "none")
    (folder / "bad.tsv").write_text("1 2 3 4\n" * 9)
    (folder / "blank").write_text(" \n\n")
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis").touch()
    refused_leaving(folder, muse, ["align", "--src", "fr", "--tgt", "en", *options, "-q"], message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "second: expected content, got an empty file"),
        (b"en1 en2\n\xf5\n", "second:2: expected UTF-8"),
        (None, "second: expected text, got a folder with manifest.json"),
    ],
)
def test_a_second_text_is_looked_at_before_training_on_the_first(
    folder: Path, muse: Command, content: bytes | None, message: str
) -> None:
    if content is None:
        (folder / "second").mkdir()
        (folder / "second" / "manifest.json").write_text("{}")
    else:
        (folder / "second").write_bytes(content)
    texts = ["--src-text", "fr.txt", "--tgt-text", "second"]
    refused_leaving(folder, muse, ["align", "--src", "fr", "--tgt", "en", *texts, "-q"], message)


def test_vectors_that_are_there_are_not_replaced(folder: Path, muse: Command) -> None:
    (folder / "embeddings").mkdir()
    (folder / "embeddings" / "en.vec").write_text("mine")
    texts = ["--src-text", "fr.txt", "--tgt-text", "en.txt"]
    refused_leaving(
        folder, muse, ["align", "--src", "fr", "--tgt", "en", *texts, "-q"], "en.vec is there already"
    )
