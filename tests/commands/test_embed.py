"""muse embed, end to end: from text to vectors that can be aligned, and every bad input."""

from pathlib import Path

import pytest

from muse.embedding.training import FEWEST_WORDS
from muse.files import read_vectors
from muse.learn.bilingual import MINIMUM_WORDS
from tests.support.command import Command, refused_leaving

TINY = ["--dim", "8", "--epochs", "1", "--min-count", "1", "--threads", "1"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "t.txt").write_text("the cat and the dog\nthe dog and a bird\n" * 200)
    return tmp_path / "t.txt"


def test_vectors_are_written(muse: Command, text: Path) -> None:
    out = text.with_name("en.vec.gz")
    fields = muse("embed", text, text, "--lang", "en", "--out", out, *TINY, "--json").json
    assert (fields["out"], fields["words"], fields["tokens"], fields["lines"]) == (str(out), 6, 4_000, 800)
    assert set(fields["seconds"]) == {"read", "train", "save"}
    assert read_vectors(out, language="en").words[0] == "the"


@pytest.mark.slow
def test_the_folders_of_both_files_are_made(muse: Command, text: Path) -> None:
    out, model = (text.parent / "embeddings" / name for name in ("raw/en.vec", "models/en.bin"))
    refused_leaving(
        text.parent, muse,
        ["embed", text, "--lang", "en", "--out", out, *TINY, "--model", model, "--min-count", 9_999, "-q"],
        "fastText needs words",
    )  # fmt: skip
    assert muse("embed", text, "--lang", "en", "--out", out, *TINY, "--model", model, "-q").code == 0
    assert len(read_vectors(out, language="en").words) == 6 and model.stat().st_size


@pytest.mark.slow
def test_fewer_words_than_can_be_aligned_are_told(muse: Command, tmp_path: Path) -> None:
    assert FEWEST_WORDS == MINIMUM_WORDS
    text, out = tmp_path / "t.txt", tmp_path / "en.vec"
    for words, options, end in (
        (499, [], "499 words are too few for muse align, which needs at least 500; add text"),
        (500, [], None),
        (500, ["--max-vocab", "499"], "needs at least 500; raise --max-vocab"),
    ):
        text.write_text("\n".join(f"word{number}" for number in range(words)))
        ended = muse("embed", text, "--lang", "en", "--out", out, *TINY, *options, "--json")
        for found in (ended.err, " ".join(ended.json["warnings"])):
            assert end in found if end else "too few" not in found


def test_what_is_printed_says_what_comes_next(muse: Command, text: Path) -> None:
    out = text.with_name("en.vec")
    ended = muse("embed", text, "--lang", "en", "--out", out, *TINY)
    assert ended.out == f"6 words in {out}, from 2,000 tokens, read once\n"
    assert ended.err.splitlines()[-1] == f"next: muse align --src en --tgt LANG --src-emb {out}"
    assert "en: 2,000 tokens are little" in ended.err
    assert "Progress" not in ended.err  # fastText's own


@pytest.mark.slow
@pytest.mark.parametrize(("between", "told"), [("", True), (" ", False)])
def test_text_without_spaces_between_its_words_is_told_where_it_cannot_be_segmented(
    muse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between: str, told: bool
) -> None:
    monkeypatch.setattr("muse.text.segmentation.has_segmenter", lambda: False)
    text, out = tmp_path / "text.zh", tmp_path / "zh.vec"
    text.write_text(f"{between.join(['我们', '喜欢', '学习', '语言'])}。\n" * 60, encoding="utf-8")
    ended = muse("embed", text, "--lang", "zh", "--out", out, *TINY)
    assert ("zh: 8 letters stand between two spaces on average" in ended.err) == told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ngrams", "three"], "--ngrams must be MIN-MAX, such as 3-6, got 'three'"),
        (["--ngrams", "6-3"], "--ngrams must be MIN-MAX with MIN at most MAX, and MAX below 100; got 6-3"),
        (["--ngrams", "0-100"], "and MAX below 100; got 0-100"),  # not only when the model is read
        (["--column", "text"], "--column needs Parquet or JSON lines, got no such file among the texts"),
        (["--dim", "0"], "--dim must be at least 1 and at most 1,000,000,000, got 0"),
        (["--min-count", "9999"], "fastText needs words that stand at least 9999 times"),
    ],
)
def test_bad_settings(muse: Command, text: Path, options: list[str], message: str) -> None:
    out = text.with_name("en.vec")
    refused_leaving(text.parent, muse, ["embed", text, "--lang", "en", "--out", out, *options, "-q"], message)
