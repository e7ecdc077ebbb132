"""Vectors of pipelines are those that spaCy itself looks up; broken files of a pipeline are BadFile."""

import json
import logging
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, MissingExtra
from muse.files import read_vectors
from muse.files.vectors.spacy import load_spacy
from muse.installation import install_extra
from tests.support.pipelines import load, of_ngrams, of_words, random_rows

# Words that spaCy knows by a number of its own (NOUN, nsubj), by bytes, by surrogate pairs.
WORDS = ["le", "NOUN", "nsubj", "été", "new\u00a0york", "👍", "chat noir", *(f"w{i}" for i in range(40))]
ROWS = random_rows(len(WORDS))
BUCKETS = random_rows(50, seed=1)

MAKERS: dict[str, Callable[[Path], Path]] = {
    "default": lambda folder: of_words(folder, WORDS, ROWS),
    "floret": lambda folder: of_ngrams(folder, WORDS, BUCKETS),
}


def test_words_and_rows_are_those_of_spacy_in_the_order_of_the_keys(tmp_path: Path) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS)
    read = read_vectors(made, language="fr")
    assert list(read.words) == WORDS
    assert read.matrix.dtype == np.float32
    np.testing.assert_array_equal(read.matrix, ROWS)
    vocab = load(made).vocab
    np.testing.assert_array_equal(read.matrix, [vocab.get_vector(word) for word in WORDS])
    assert list(read_vectors(made, language="fr", max_vocab=3).words) == WORDS[:3]


def test_the_order_survives_where_spacy_sorts_the_rows(tmp_path: Path) -> None:
    # Of equal rows spaCy keeps one, and sorts them by their numbers: the keys alone are in order.
    from spacy import blank
    from spacy.vectors import Vectors

    nlp, rows = blank("xx"), ROWS.copy()
    rows[5] = rows[2]
    for word in WORDS:
        nlp.vocab.strings.add(word)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=rows, keys=WORDS)
    nlp.vocab.deduplicate_vectors()
    nlp.to_disk(tmp_path / "made")
    read = read_vectors(tmp_path / "made", language="fr")
    kept = [row for row in range(len(WORDS)) if row != 5]
    assert list(read.words) == [WORDS[row] for row in kept]
    np.testing.assert_array_equal(read.matrix, rows[kept])


def test_words_that_share_a_row_are_counted_and_the_first_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS, {"rare": "le", "rarer": "le", "rarest": "w3"})
    with caplog.at_level(logging.WARNING):
        read = read_vectors(made, language="fr")
    assert list(read.words) == WORDS
    assert f"made: left out 3 of {len(WORDS) + 3} words, with the vector of another word" in caplog.text
    assert "the first word of each vector is kept" in caplog.text


def test_pruning_keeps_the_first_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nlp = load(of_words(tmp_path / "made", WORDS, ROWS))
    nlp.vocab.prune_vectors(10)
    nlp.to_disk(tmp_path / "pruned")
    with caplog.at_level(logging.WARNING):
        read = read_vectors(tmp_path / "pruned", language="fr")
    assert list(read.words) == WORDS[:10]
    assert f"{len(WORDS) - 10} of {len(WORDS)} words, with the vector of another" in caplog.text


def test_rows_without_a_word_are_not_read(tmp_path: Path) -> None:
    made = of_words(tmp_path / "made", WORDS[:3], ROWS)  # spaCy makes more room than it needs
    assert list(read_vectors(made, language="fr").words) == WORDS[:3]


def test_float16_is_read(tmp_path: Path) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS)
    np.save(made / "vocab" / "half.npy", ROWS.astype(np.float16))
    (made / "vocab" / "half.npy").replace(made / "vocab" / "vectors")
    np.testing.assert_allclose(read_vectors(made, language="fr").matrix, ROWS, rtol=1e-2, atol=1e-3)


STRINGS = ["chat", "chien", "aujourd'hui", "porte-clés", "Xxxx-12", "a=b", "\n", " ", "12", "!", "été"]


def test_floret_vectors_are_those_that_spacy_composes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = of_ngrams(tmp_path / "made", STRINGS, BUCKETS)
    words = ["été", "👍", "chat noir", "x" * 300, "chat", "a"]
    with caplog.at_level(logging.WARNING):
        read = read_vectors(made, language="fr", words=words)
    assert not caplog.records
    assert list(read.words) == words
    vocab = load(made).vocab
    np.testing.assert_allclose(read.matrix, [vocab.get_vector(word) for word in words], atol=1e-6)
    listed = read_vectors(made, language="fr", words=["B", "b", "C"], lowercase=True, max_vocab=2)
    assert listed.words == ("b", "c")
    np.testing.assert_allclose(listed.matrix[0], vocab.get_vector("B"), atol=1e-6)


def test_floret_vectors_of_lowercased_tokens(tmp_path: Path) -> None:
    made = of_ngrams(tmp_path / "made", STRINGS, BUCKETS, attr="LOWER")
    read = read_vectors(made, language="fr", words=["Chat", "chat", "CHAT"])
    expected = load(made).vocab.get_vector("Chat")
    np.testing.assert_allclose(read.matrix, [expected] * 3, atol=1e-6)


def test_floret_vectors_are_the_mean_of_hashed_ngrams(tmp_path: Path) -> None:
    # An independent reference: one n-gram and one bucket leave no choice of hash.
    made = of_ngrams(tmp_path / "made", ["a"], BUCKETS[:1])
    np.testing.assert_allclose(
        read_vectors(made, language="fr", words=["xyz"]).matrix, BUCKETS[:1], atol=1e-6
    )


def test_without_a_list_the_words_are_strings_of_the_vocabulary(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = of_ngrams(tmp_path / "made", STRINGS, BUCKETS)
    with caplog.at_level(logging.WARNING):
        read = read_vectors(made, language="fr")
    # Among them are strings of the tokenizer, such as single letters.
    assert {"chat", "chien", "aujourd'hui", "porte-clés", "été"} <= set(read.words)
    assert not {"Xxxx-12", "a=b", "\n", " ", "12", "!"} & set(read.words)
    assert (
        f"taking the {len(read)} words among the strings of the vocabulary, in alphabetical order"
        in caplog.text
    )


def test_a_list_of_words_needs_ngrams(tmp_path: Path) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS)
    (tmp_path / "a.vec").write_text("1 2\na 1 2\n")
    np.savez(tmp_path / "a.npz", words=["a"], matrix=[[1.0]])
    for path in (made, tmp_path / "a.vec", tmp_path / "a.npz"):
        with pytest.raises(BadSetting, match="a list of words is for vectors composed of n-grams"):
            read_vectors(path, language="fr", words=["a"])


def test_a_pipeline_without_vectors(tmp_path: Path) -> None:
    made = of_words(tmp_path / "made", [], np.zeros((0, 0), np.float32))
    with pytest.raises(BadFile, match="expected a pipeline with vectors, got one without.* _md or _lg"):
        read_vectors(made, language="fr")


def test_numbers_that_are_not_finite(tmp_path: Path) -> None:
    rows = ROWS.copy()
    rows[3:10, 1] = np.nan
    made = of_words(tmp_path / "made", WORDS, rows)
    with pytest.raises(BadFile, match=r"got nan or inf in word 4 \('été'\)"):
        read_vectors(made, language="fr")


def test_without_spacy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS)
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match="needs spacy") as caught:
        read_vectors(made, language="fr")
    assert install_extra("spacy") in str(caught.value)


def broken(made: Path, name: str, content: bytes) -> str:
    """The message about a pipeline with this content in one of its files."""
    (made / "vocab" / name).write_bytes(content)
    with pytest.raises(BadFile) as caught:
        read_vectors(made, language="fr")
    message = str(caught.value)
    assert message.startswith(f"{made}: expected ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("mode", ["default", "floret"])
def test_files_that_are_cut_off_or_gone(tmp_path: Path, mode: str) -> None:
    whole = (
        of_words(tmp_path / "w", WORDS, ROWS)
        if mode == "default"
        else of_ngrams(tmp_path / "w", WORDS, BUCKETS)
    )
    names = ["vectors", "key2row", "strings.json", "vectors.cfg"]
    for name in names if mode == "default" else [names[0], *names[2:]]:
        content = (whole / "vocab" / name).read_bytes()
        for number, part in enumerate((0, 0.1, 0.5, 0.9)):
            made = Path(shutil.copytree(whole, tmp_path / f"{name}{number}"))
            broken(made, name, content[: int(part * len(content))])
        if name != "vectors.cfg":  # which older versions of spaCy did not write
            (made / "vocab" / name).unlink()
            with pytest.raises(BadFile, match=f"unreadable ones .*{name}"):
                read_vectors(made, language="fr")


CONTENT = {
    "strings, no list": ("strings.json", '{"a": 1}', "other content than strings"),
    "strings, numbers": ("strings.json", "[1, 2]", "other content than strings"),
    "strings of others": ("strings.json", '["a"]', "unreadable ones"),
    "strings too deep": ("strings.json", "[" * 100_000, "unreadable ones"),
    "half a pair": ("strings.json", '["\\ud800"]', "unreadable ones"),
    "an unknown mode": ("vectors.cfg", '{"mode": "quantum"}', "another mode than"),
    "settings, no object": ("vectors.cfg", "[]", "another mode than"),
    "floret without settings": ("vectors.cfg", '{"mode": "floret"}', "minn"),
    "keys, no map": ("key2row", "\x90", "other rows than"),
    "keys with text": ("key2row", "\x81\x01\xa1a", "other rows than"),
    "row beyond": ("key2row", "\x81\x01\x7f", "other rows than those of vectors"),
    "negative row": ("key2row", "\x81\x01\xff", "other rows than those of vectors"),
    "half a row": ("key2row", "\x81\x01\xca\x3f\x00\x00\x00", "other rows than those of vectors"),
}


@pytest.mark.parametrize(("name", "content", "part"), CONTENT.values(), ids=CONTENT)
def test_files_with_other_content(tmp_path: Path, name: str, content: str, part: str) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS)
    assert part in broken(made, name, content.encode("latin-1"))


@pytest.mark.parametrize(
    "settings",
    [{"maxn": 1}, {"minn": -1}, {"maxn": 10**9}, {"hash_count": 9}, {"hash_count": "x"}, {"bow": 3}],
    ids=str,
)
def test_settings_of_floret_that_cannot_be(tmp_path: Path, settings: dict[str, object]) -> None:
    made = of_ngrams(tmp_path / "made", WORDS, BUCKETS)
    path = made / "vocab" / "vectors.cfg"
    given = json.loads(path.read_text(encoding="utf-8")) | settings
    assert "unreadable ones" in broken(made, "vectors.cfg", json.dumps(given).encode())


@pytest.mark.parametrize(
    "rows", [np.ones(5), np.ones((2, 2, 2)), np.ones((47, 2), int), np.array([["a"]])], ids=str
)
def test_rows_of_another_kind(tmp_path: Path, rows: np.ndarray) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS)
    with (made / "vocab" / "vectors").open("wb") as stream:
        np.save(stream, rows)
    with pytest.raises(BadFile, match="unreadable ones"):
        read_vectors(made, language="fr")


def test_no_pickle_is_read(tmp_path: Path) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS)
    with (made / "vocab" / "vectors").open("wb") as stream:
        np.save(stream, np.array([[object()]]), allow_pickle=True)
    with pytest.raises(BadFile, match="unreadable ones"):
        read_vectors(made, language="fr")


def test_rows_stay_on_the_disk(tmp_path: Path) -> None:
    made = of_words(tmp_path / "made", WORDS, ROWS)
    cells = [cell.cell_contents for cell in load_spacy(made).lookup.__closure__ or ()]
    assert any(isinstance(cell.base, np.memmap) for cell in cells if isinstance(cell, np.ndarray))
