"""Embedding: texts of every kind give the same tokens; fastText learns from them which words are alike."""

import gzip
import json
import signal
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.embedding.config import EmbedConfig
from muse.embedding.corpus import SAMPLE, Corpus, write_corpus
from muse.embedding.training import embed, language_warnings
from muse.errors import BadFile, NotConverged
from muse.files import read_vectors
from muse.files.vectors.fasttext import load_fasttext
from muse.progress import Progress

LINES = ["L'eau de la Mer.", "", "Deux mots</s> ; 12:45 !", "  ", "Été"]
TOKENS = "l' eau de la mer .\ndeux mots ; 12:45 !\nété\n"
TOPICS, WORDS = 4, 8
SMALL = EmbedConfig(dim=16, epochs=5, min_count=1)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A text in which each line has words of one topic only; the words are in alphabetical order of rank."""
    rng = np.random.default_rng(0)
    frequencies = 1 / (1 + np.arange(WORDS)) ** 0.5
    lines = []
    for topic in rng.integers(TOPICS, size=6_000):
        drawn = rng.choice(WORDS, size=12, p=frequencies / frequencies.sum())
        lines.append(" ".join(f"{'abcdefgh'[word] * 3}{'wxyz'[topic] * 3}" for word in drawn))
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def corpus(path: Path, out: Path, column: str | None = None, keep_case: bool = False) -> tuple[Corpus, str]:
    found = write_corpus([path], out, language="fr", column=column, keep_case=keep_case)
    return found, out.read_text(encoding="utf-8")


def test_texts_of_every_kind_give_the_same_tokens(tmp_path: Path) -> None:
    text = "\n".join(LINES)
    (tmp_path / "plain.txt").write_text(text, encoding="utf-8")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("text", text)
    rows = "\n".join(f"id{place}\tx\t{line}" for place, line in enumerate(LINES))
    (tmp_path / "columns.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    parts = tmp_path / "folder"
    parts.mkdir()
    (parts / "a.txt").write_text("\n".join(LINES[:2]), encoding="utf-8")
    (parts / "b.txt").write_text("\n".join(LINES[2:]), encoding="utf-8")
    for name in ("plain.txt", "packed.txt.gz", "packed.zip", "columns.tsv.gz", "folder"):
        found, tokens = corpus(tmp_path / name, tmp_path / "out")
        assert tokens == TOKENS, name
        assert (found.lines, found.tokens) == (3, len(TOKENS.split()))
        assert found.sample == (LINES[0], LINES[2], LINES[4])
        assert corpus(tmp_path / name, tmp_path / "out", keep_case=True)[1].startswith("L' eau de la Mer .")


def test_parquet_gives_the_same_tokens(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        arrow.table({"id": range(5), "said": LINES}), tmp_path / "t.parquet", row_group_size=2
    )
    assert corpus(tmp_path / "t.parquet", tmp_path / "out", "said")[1] == TOKENS


def test_progress_is_towards_the_letters_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("one two\n" * 3_000)
    seen: list[tuple[str, int]] = []
    progress = Progress(quiet=True, callback=lambda stage, done, _: seen.append((stage, done)))
    write_corpus([tmp_path / "t"], tmp_path / "out", language="en", progress=progress)
    assert seen == [("reading text (en)", done) for done in (8_000, 16_000, 24_000)]


def test_vectors_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "v").write_text(("word" + " 0.123" * 50 + "\n") * 2_000)
    with pytest.raises(BadFile, match="v: expected text, got mostly numbers"):
        corpus(tmp_path / "v", tmp_path / "out")


def test_the_sample_is_at_even_distances_and_bounded(tmp_path: Path) -> None:
    count = 9 * SAMPLE + 5
    (tmp_path / "t").write_text("".join(f"n{line}\n" for line in range(count)))
    sample = corpus(tmp_path / "t", tmp_path / "out")[0].sample
    assert SAMPLE <= len(sample) < 2 * SAMPLE
    assert set(np.diff([int(line[1:]) for line in sample])) == {8}


@pytest.mark.slow
def test_words_of_a_topic_are_alike(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.vec"
    made = embed([text], out, language="xx", config=SMALL, model=tmp_path / "x.bin")
    counts = Counter(text.read_text().split())
    assert (made.words, made.tokens, made.lines, made.epochs) == (TOPICS * WORDS, 72_000, 6_000, 5)
    vectors = read_vectors(out, language="xx")
    assert [counts[word] for word in vectors.words] == sorted(counts.values(), reverse=True)
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    cosines = unit @ unit.T - 2 * np.eye(len(unit))
    topics = np.array([word[-1] for word in vectors.words])
    assert (topics[cosines.argmax(axis=1)] == topics).mean() > 0.9
    kept = load_fasttext(tmp_path / "x.bin").rows(vectors.words)
    np.testing.assert_allclose(kept, vectors.matrix, atol=1e-5)
    assert not list(tmp_path.glob(".*"))  # the model of 2 GB, above all


@pytest.mark.slow
def test_one_thread_gives_the_same_twice(text: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        embed([text], tmp_path / f"{name}.vec", language="xx", config=replace(SMALL, seed=seed))
    first, again, other = ((tmp_path / f"{name}.vec").read_bytes() for name in "abc")
    assert first == again != other


def test_training_ends_with_the_process_that_asked_for_it(text: Path, tmp_path: Path) -> None:
    settings = {"input": str(text), "epoch": 1_000_000, "thread": 1, "seed": 0, "verbose": 2}
    module = "muse.embedding.fasttext_process"
    command = [sys.executable, "-m", module, str(tmp_path / "m"), json.dumps(settings)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            assert process.stderr.read(1)  # it trains
            process.stderr.close()  # as the system does where the parent is killed
            assert process.wait(30) == -signal.SIGPIPE
        finally:
            process.kill()


def test_a_process_that_the_system_kills_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("one two three\n" * 9)
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'Read 0M words' >&2\nkill -9 $$\n")
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(NotConverged, match=r"got signal 9 \(Read 0M words\): most likely too little memory"):
        embed([tmp_path / "text"], tmp_path / "x.vec", language="xx")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_the_most_frequent_words_are_written(text: Path, tmp_path: Path) -> None:
    whole = embed([text], tmp_path / "a.vec", language="xx", config=SMALL)
    few = replace(SMALL, max_vocab=5)
    assert embed([text], tmp_path / "b.vec", language="xx", config=few).words == 5 < whole.words
    five, every = (read_vectors(tmp_path / f"{name}.vec", language="xx").words for name in "ba")
    assert five == every[:5]


@pytest.mark.parametrize(("tokens", "epochs"), [(1_000, 15), (3_000_000, 10), (100_000_000, 5)])
def test_little_text_is_read_more_often(tokens: int, epochs: int) -> None:
    assert EmbedConfig().epochs_for(tokens) == epochs
    assert EmbedConfig(epochs=2).epochs_for(tokens) == 2


def test_what_cannot_be_trained_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n \n")
    (tmp_path / "rare").write_text("one two three\n")
    (tmp_path / "alone").write_text("one " * 9 + "two three\n")  # with which fastText would never end
    before = sorted(tmp_path.iterdir())
    for name, message in (
        ("empty", "expected text, got no line with a word"),
        ("rare", "fastText needs words that stand at least 5 times"),
        ("alone", "fastText needs two words that stand at least 5 times in the text, got 'one' alone"),
        ("nowhere", "nowhere: expected text, or a folder of it, found no such file"),
    ):
        with pytest.raises(BadFile, match=message):
            embed([tmp_path / name], tmp_path / "x.vec", language="xx")
    with pytest.raises(BadFile, match="expected a folder to write in, got the file"):
        embed([tmp_path / "rare"], tmp_path / "empty" / "x.vec", language="xx")
    assert sorted(tmp_path.iterdir()) == before


FRENCH = "La petite maison au bord de la rivière était vide depuis des années."
ENGLISH = "The little house beside the river had been empty for many years."


def test_other_languages_are_told() -> None:
    pytest.importorskip("py3langid")
    found = [FRENCH] * 90 + [ENGLISH] * 10 + ["Oui.", "No."] * 50
    assert [line[:30] for line in language_warnings(found, "fr")] == ["10 % of the lines look like 'e"]
    assert language_warnings(found, "fra_Latn") == language_warnings(found, "fr")
    assert "90 % of the lines look like 'fr', not 'de'; check --lang" in language_warnings(found, "de")


@pytest.mark.parametrize(("french", "english"), [(0, 0), (10, 9), (98, 2)])
def test_nothing_is_told_of_a_text_in_one_language(french: int, english: int) -> None:
    pytest.importorskip("py3langid")
    assert language_warnings([FRENCH] * french + [ENGLISH] * english, "fr") == []


def test_nothing_is_told_without_py3langid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    assert language_warnings([ENGLISH] * 90, "fr") == []
