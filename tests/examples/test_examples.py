"""Examples: which sentences are indexed and found, in what order; the command line and Python show them."""

import gzip
import itertools
import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from muse.api.space import InteractiveSpace
from muse.errors import BadFile, BadSetting, MissingExtra
from muse.examples import index
from muse.examples.index import Example, find_sentences, paragraphs, places_of, varied, write_index
from muse.examples.lookup import find_examples, index_path
from muse.examples.quality import Judge
from muse.normalise import normalise
from muse.progress import Progress
from muse.space import Provenance, SideToSave, add_to_space, load_space, save_space
from muse.vectors import Vectors
from tests.support.command import Command, refused, tree

FRENCH = "le chat dort sur la table et il mange une pomme de terre dans notre grande maison blanche".split()
ENGLISH = "the cat sleeps on a table and he eats one potato in our big white house every day".split()
QUIET = Progress(quiet=True)


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """A space on disk in which each French word lies on the English one of its place."""
    rows, fitted = normalise(np.random.default_rng(0).normal(size=(18, 8)).astype(np.float32), ["unit"])
    made = (Vectors(language, known, rows) for language, known in (("fr", FRENCH), ("en", ENGLISH)))
    sides = {one.language: SideToSave(one, fitted) for one in made}
    save_space(tmp_path / "space", sides, pivot="en", provenance=Provenance("gromov"))
    return tmp_path / "space"


def words(language: str, *known: str) -> Vectors:
    return Vectors(language, list(known), np.eye(len(known), dtype=np.float32))


def indexed(path: Path, vectors: Vectors, *lines: str) -> Callable[[str, int], tuple[Example, ...]]:
    text = path.with_suffix(".txt")
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    write_index(path, [text], vectors, progress=QUIET)
    return partial(find_sentences, path, vectors)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("The old dog sleeps by the fire.", "the old dog sleeps by the fire."),  # not whole
        ("The old dog sleeps by the fire.", "The old dog sleeps by the fire"),
        ("The old dog sleeps by the fire.", "The old dog (sleeps by the fire."),
        ("The old dog sleeps by the fire.", "A dog sleeps."),  # too short
        ("The old dog sleeps by the fire.", f"The old dog sleeps {'by the fire ' * 9}."),  # too long
        ("The old dog sleeps by the fire.", "The old dog lucubrates by the fire."),  # a rare word
        ("The old dog sleeps by the fire.", "And the dog sleeps by the fire."),  # of the sentence before
        ("The old dog sleeps by the fire.", "The old dog sleeps by it, they say."),  # pronouns
        ("The old dog sleeps by the fire.", "The old dog sleeps by the 3 fires."),
        ("The old dog sleeps by the fire.", "The old Dog sleeps by the Fire."),  # names
    ],
)  # fmt: skip
def test_a_good_example_is_whole_short_common_and_understood_alone(better: str, worse: str) -> None:
    known = "the old dog a sleeps by fire and it they say fires".split()
    judge = Judge("en", {word: rank for rank, word in enumerate(known)}.get)
    assert 1 >= judge(better) > judge(worse) > 0


def test_every_sentence_with_a_word_is_found_and_no_other(tmp_path: Path) -> None:
    rng, known = np.random.default_rng(0), [f"{a}{b}" for a, b in itertools.product("bcdf", "aeio")]
    lines = [" ".join(rng.choice(known, 6)).capitalize() + "." for _ in range(80)]
    found = indexed(tmp_path / "i", words("en", *known), *lines)
    for word in (*known, "ba ca", "de fi", "Bo"):
        expected = {line for line in lines if re.search(rf"\b{word}\b", line, re.IGNORECASE)}
        for line, one in ((one.text, one) for one in found(word, 1_000)):
            assert line in expected
            assert lines[one.line - 1] == line
            assert {line[begin:end].lower() for begin, end in one.places} == {word.lower()}
        with sqlite3.connect(tmp_path / "i") as database:
            query = f"SELECT count(*) FROM word WHERE word MATCH '\"{word}\"'"
            assert database.execute(query).fetchone() == (len(expected),)


def test_sentences_come_by_quality_each_once_and_not_alike(tmp_path: Path) -> None:
    lines = ["a cat", "The big white cat sleeps on a table.", "The big white cat sleeps on 12 tables!",
             "He eats in our house with a cat.", "The big white cat sleeps on a table."]  # fmt: skip
    found = indexed(tmp_path / "i", words("en", *ENGLISH), *lines)("cat", 9)
    assert [one.text for one in found] == [lines[1], lines[3]]
    rows = [
        (Example(text, (), "", 0), share) for text, share in (("a b c d", 1), ("a b c e", 0.9), ("x y", 0.4))
    ]
    assert [one.text for one in varied(rows, 2)] == ["a b c d", "x y"]
    part = indexed(
        tmp_path / "j",
        words("en", *ENGLISH),
        "The big cat-table is in our house.",
        "The cat eats 1 potato every day.",
    )
    assert [one.text for one in part("cat", 1)] == ["The cat eats 1 potato every day."]


def test_words_of_scripts_without_spaces_accents_and_marks_are_found(tmp_path: Path) -> None:
    pytest.importorskip("icu4py")
    chinese = indexed(tmp_path / "zh", words("zh", "我", "喜欢", "北京", "猫"), "我喜欢北京。", "猫！")
    assert [(one.text, one.places) for one in chinese("北京", 3)] == [("我喜欢北京。", ((3, 5),))]
    assert chinese("京", 3) == ()
    hindi = indexed(tmp_path / "hi", words("hi", "हिन्दी", "है"), "यह हिन्दी है।", "यह हि है।")
    assert [one.text for one in hindi("हिन्दी", 3)] == ["यह हिन्दी है।"]
    french = indexed(tmp_path / "fr", words("fr", "été"), "L'e\u0301te\u0301 vient.", "Il a ete la.")
    assert [one.text for one in french("été", 3)] == ["L'été vient."]
    assert places_of("aujourd'hui", "Aujourd’hui") == ((0, 11),)
    assert places_of("हि", "हिन्दी") == ()


def test_lines_of_one_width_are_joined_and_text_without_capitals_is_not() -> None:
    assert list(paragraphs(["Il est", "là. Il", "dort", "", "bien."])) == [
        (1, "Il est là. Il dort"),
        (5, "bien."),
    ]
    lower = ["un chat", "le chat", "la table"]
    assert [text for _, text in paragraphs(lower)] == lower


def test_what_can_be_read_is_and_what_cannot_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, place, known = tmp_path / "texts", tmp_path / "i", words("en", *ENGLISH)
    folder.mkdir()
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"The cat sleeps on a table.\n"))
    (folder / "b.tsv").write_text("BOOK1\tThe cat eats one potato.\n", encoding="utf-8")
    counts = write_index(place, [folder, folder / "b.tsv"], known, progress=QUIET)
    assert (counts.sentences, counts.words, counts.repeated) == (2, 16, 1)
    assert {Path(one.file).name for one in find_sentences(place, known, "cat", 5)} == {
        "a.txt.gz",
        "b.tsv",
    }
    before = tree(tmp_path)
    (folder / "b.tsv").write_text("кот спит на столе и ест картофель\n", encoding="utf-8")
    for texts, error in (([folder / "b.tsv"], BadSetting), ([folder / "none"], BadFile)):
        with pytest.raises(error):
            write_index(place, texts, known, progress=QUIET)
    (folder / "b.tsv").write_text("BOOK1\tThe cat eats one potato.\n", encoding="utf-8")
    assert tree(tmp_path) == before
    place.write_bytes(place.read_bytes()[:5_000])
    with pytest.raises(BadFile, match="expected an index of sentences, got .*muse index-text"):
        find_sentences(place, known, "cat", 1)
    monkeypatch.setattr(index, "sqlite3", None)
    with pytest.raises(MissingExtra, match="SQLite with FTS5"):
        find_sentences(place, known, "cat", 1)


def test_an_index_is_kept_where_it_fits(
    muse: Command, space: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "text.fr").write_text("Le chat dort dans notre maison.\n", encoding="utf-8")
    assert muse("index-text", space, "--src-text", tmp_path / "text.fr").code == 0
    kept = index_path(space, "fr").read_bytes()
    InteractiveSpace.of(load_space(space)).save(tmp_path / "copy")
    sides = {}
    for language in ("fr", "en", "de"):
        vectors = load_space(space).vectors("en" if language == "de" else language)
        rows, fitted = normalise(np.asarray(vectors.matrix), ["unit"])
        sides[language] = SideToSave(Vectors(language, list(vectors.words), rows), fitted)
    made = Provenance("gromov")
    add_to_space(tmp_path / "grown", space, {"de": sides["de"]}, provenance=made)
    save_space(space, {name: sides[name] for name in ("fr", "en")}, pivot="en", provenance=made)
    for folder in (space, tmp_path / "copy", tmp_path / "grown"):
        assert index_path(folder, "fr").read_bytes() == kept
    sides["fr"] = replace(sides["fr"], vectors=replace(sides["fr"].vectors, words=list("abcdefghijklmnopqr")))
    save_space(space, {name: sides[name] for name in ("fr", "en")}, pivot="en", provenance=made)
    assert "the index of sentences of fr is removed, as the words are others" in caplog.text
    assert not index_path(space, "fr").exists()


def test_examples_beside_the_answers_of_a_space(muse: Command, space: Path, tmp_path: Path) -> None:
    for name, line in (("fr", "Le chat dort dans notre maison.\n"), ("en", "The cat eats on a <table>.\n")):
        (tmp_path / f"text.{name}").write_text(line, encoding="utf-8")
    refused(muse("translate", space, "chat", "--examples"), "run muse index-text")
    texts = ["--src-text", tmp_path / "text.fr", "--tgt-text", tmp_path / "text.en"]
    made = muse("index-text", space, *texts, "--json").json["languages"]
    assert [(one["sentences"], one["words"]) for one in made.values()] == [(1, 6), (1, 6)]
    shown = muse("translate", space, "--top", 1, "chat", "--examples").out.splitlines()
    assert shown[1:] == [
        "  fr\tLe chat dort dans notre maison.\ttext.fr:1", "  en\tThe cat eats on a <table>.\ttext.en:1",
    ]  # fmt: skip
    found = muse("translate", space, "chat", "--examples", "--json").json["examples"]["chat"]
    assert (found["translation"], found["source"][0]["places"]) == ("cat", [[3, 7]])
    assert muse("translate", space, "--examples", stdin="Le chat\n").code == 2
    python = InteractiveSpace.of(load_space(space)).examples("Chat", src="fr")
    assert repr(python) == "fr: Le chat dort dans notre maison.\nen: The cat eats on a <table>."
    assert "The <mark>cat</mark> eats on a &lt;table&gt;." in python._repr_html_()
    assert muse("report", space, "--out", tmp_path / "report.html").code == 0
    assert "<mark>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    index_path(space, "fr").unlink()
    assert find_examples(load_space(space), ("fr", "en"), "chat", "cat").source == ()
    shutil.rmtree(space / "en")
