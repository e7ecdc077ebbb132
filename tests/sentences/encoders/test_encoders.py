"""Encoders by name: what each makes of a sentence, what it learns, and that a saved one is the same."""

import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.errors import BadFile, BadSetting, Mismatch, MuseError
from muse.files.space_folder import checksum
from muse.sentences.encoders import reading
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.saving import Saved, checksums, write_encoder
from muse.sentences.encoders.words import Lookup, TrainedEncoder, weights_from_rank
from muse.sentences.loading import Named, load_encoder, parse
from muse.space import Space, load_space
from muse.vectors import Matrix
from tests.support.command import tree
from tests.support.spaces import plain_space, saved

FR, EN = ["le", "chat", "noir", "dort", "mange", "chats"], ["the", "cat", "black", "sleeps", "eats", "cats"]
TEXT = ["Le chat dort.", "Le chat noir", "", "Noir, le noir", "xyzzy", "chat mange chat", "Le chat mange"]
EN_TEXT = ["the cat sleeps", "cats", "the black cat eats"]
NAMES = [
    "mean", "idf", "sif", "power-mean", "power-mean[-inf,1,inf,3]", "power-mean[2,2s]+znorm", "idf+pcr",
    "mean+centre", "mean+binary", "mean+centre+binary[0.1]", "sif+pcr[centred,2]", "mean+pcr+znorm[global]",
    "idf+ngrams+pcr", "mean+ngrams&power-mean[0.5,2,3]+znorm",
]  # fmt: skip


def rows(seed: int, dimension: int = 5) -> Matrix:
    return np.random.default_rng(seed).normal(size=(len(FR), dimension)).astype(np.float32)


def space(seed: int = 0, dimension: int = 5) -> Space:
    return plain_space(rows(seed, dimension), rows(seed + 1, dimension), FR, EN)


def row(of: Space, word: str) -> Matrix:
    vectors = of.vectors("fr")
    found: Matrix = vectors.matrix[vectors.index[word]]
    return found


def one(name: str, sentence: str, of: Space) -> Matrix:
    found: Matrix = load_encoder(name, of).encode([sentence], "fr").matrix[0]
    return found


def encoders_of_every_kind() -> list[SentenceEncoder]:
    of = space()
    trained = TrainedEncoder("x", of, ("fr", "en"), {}, "mean", (1.0,), {})
    made = [load_encoder(name, of).fit(TEXT, "fr") for name in ("mean", "sif", "mean+znorm", "mean&idf")]
    return [*made, trained]


@pytest.mark.parametrize("encoder", encoders_of_every_kind(), ids=lambda encoder: encoder.name)
def test_a_lone_string_is_no_list_of_sentences(encoder: SentenceEncoder) -> None:
    asked: list[Callable[[Any], object]] = [
        lambda given: encoder.encode(given, "fr"),
        lambda given: encoder.fit(given, "fr"),
        lambda given: encoder.for_language("fr").fit_transform(given),
    ]
    for ask in asked:
        with pytest.raises(BadSetting, match="got 'le chat'"):
            ask("le chat")
        with pytest.raises(BadSetting, match="sentences must be a list of str, got NoneType"):
            ask(None)


@pytest.mark.parametrize("encoder", encoders_of_every_kind()[:-2], ids=lambda encoder: encoder.name)
@pytest.mark.parametrize("missing", [None, math.nan, 3, b"le chat"])
def test_what_is_no_string_is_no_sentence(
    encoder: SentenceEncoder, missing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BLOCK", 2)
    message = f"sentences must be str, got {missing!r} as number 4"
    for given in (["le", "chat", "dort", missing], iter(["le", "chat", "dort", missing])):
        with pytest.raises(BadSetting, match=message):
            encoder.fit(TEXT, "fr").encode(given, "fr")
    if encoder.fit(TEXT, "fr") is not encoder:
        with pytest.raises(BadSetting, match=message):
            encoder.fit(["le", "chat", "dort", missing], "fr")


def test_mean_is_of_the_known_words() -> None:
    of = space()
    expected = (row(of, "le") + row(of, "chat")) / 2
    np.testing.assert_allclose(one("mean", "Le chat xyzzy!", of), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["idf", "sif"])
def test_weights_by_rank(name: str) -> None:
    of = space()
    w = weights_from_rank(name, len(FR))
    expected = (w[0] * row(of, "le") + w[3] * row(of, "dort")) / (w[0] + w[3] if name == "idf" else 2)
    np.testing.assert_allclose(one(name, "le dort", of), expected, atol=1e-6)


def test_sif_with_text_in_one_language_encodes_no_other() -> None:
    fitted = load_encoder("sif", space()).fit(TEXT, "fr")
    with pytest.raises(BadSetting, match="sif must be fitted on text in en too .* got text in fr alone"):
        fitted.encode(EN_TEXT, "en")
    assert fitted.fit(EN_TEXT, "en").encode(EN_TEXT, "en").empty == 0


def test_sif_with_text_has_lost_its_first_component() -> None:
    of = space()
    fitted = load_encoder("sif", of).fit(TEXT, "fr")
    p = {"le": 4, "chat": 5, "noir": 3, "dort": 1, "mange": 2}
    bags = [line.lower().replace(",", "").replace(".", "").split() for line in TEXT]
    raw = np.array(
        [
            sum(1e-3 / (1e-3 + p[w] / 15) * row(of, w) for w in bag) / len(bag)
            for bag in bags
            if bag not in ([], ["xyzzy"])
        ]
    )
    first = np.linalg.svd(raw, full_matrices=False)[2][:1]
    found = fitted.encode(TEXT, "fr").matrix
    np.testing.assert_allclose(found[[0, 1, 3, 5, 6]], raw - raw @ first.T @ first, atol=1e-6)


def test_several_spaces_side_by_side(tmp_path: Path) -> None:
    a, b = space(), space(seed=5, dimension=3)
    both = load_encoder("power-mean[1,inf]+znorm", a, b)
    assert both.dimension == 16
    plain = load_encoder("power-mean[1,inf]", a, b)
    parts = [load_encoder("power-mean[1,inf]", one).encode(TEXT, "fr").matrix for one in (a, b)]
    encoded = plain.encode(TEXT, "fr")
    np.testing.assert_array_equal(encoded.matrix, np.concatenate(parts, axis=1))
    assert (encoded.empty, encoded.tokens, encoded.unknown) == (2, 18, 3)
    fitted = both.fit(TEXT, "fr")
    full = fitted.encode(TEXT, "fr").matrix
    assert not full[[2, 4]].any()
    np.testing.assert_allclose(full[[0, 1, 3, 5, 6]].std(axis=0), 1, atol=1e-3)
    fitted.save(tmp_path / "encoder")
    loaded = load_encoder(tmp_path / "encoder", a, b)
    np.testing.assert_array_equal(loaded.encode(TEXT, "fr").matrix, full)
    with pytest.raises(BadSetting, match="2 spaces, got 1"):
        load_encoder(tmp_path / "encoder", a)
    with pytest.raises(Mismatch, match="checksum"):
        load_encoder(tmp_path / "encoder", b, a)


def test_different_encoders_side_by_side_on_one_space(tmp_path: Path) -> None:
    of = space()
    made = load_encoder("power-mean[-inf,inf] & sif+znorm", of).fit(TEXT, "fr")
    assert made.name == "power-mean[-inf,inf]&sif+znorm"
    plain = [
        load_encoder(name, of).fit(TEXT, "fr").encode(TEXT, "fr").matrix for name in made.name[:-6].split("&")
    ]
    raw = np.concatenate(plain, axis=1)
    full = raw[raw.any(axis=1)]
    found = made.encode(TEXT, "fr").matrix
    np.testing.assert_allclose(
        found[raw.any(axis=1)], (full - full.mean(axis=0)) / full.std(axis=0), atol=1e-3
    )
    made.save(tmp_path / "kept")
    loaded = load_encoder(tmp_path / "kept", of)
    np.testing.assert_array_equal(loaded.encode(TEXT, "fr").matrix, found)
    with pytest.raises(BadSetting, match="reads 1 space, got 2"):
        load_encoder(tmp_path / "kept", of, of)


def test_folders_take_corrections_and_stand_beside_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = space()
    fitted = load_encoder("idf", of).fit(TEXT, "fr")
    fitted.save(tmp_path / "idf.fr")
    monkeypatch.chdir(tmp_path)
    expected = fitted.encode(TEXT, "fr").matrix
    for folder in ("idf.fr", f"{tmp_path / 'idf.fr'}"):
        assert load_encoder(f"{folder}+centre", of).name == "idf+centre"
    beside = load_encoder("mean&./idf.fr", of).encode(TEXT, "fr").matrix
    np.testing.assert_array_equal(beside[:, of.vectors("fr").dimension :], expected)


@pytest.mark.parametrize(
    ("name", "spaces", "why"),
    [
        ("mean+pcr&idf", 1, "follow the last, got 'mean\\+pcr' before others; write mean&idf\\+pcr"),
        ("mean&idf&sif", 2, "one space or a space each, got 3 encoders and 2 spaces"),
        ("mean&magic", 1, "got 'magic'"),
        *((name, 1, "both sides of &") for name in ("&", "mean&", "&mean", "mean& &idf")),
    ],
)
def test_what_cannot_stand_side_by_side(name: str, spaces: int, why: str) -> None:
    with pytest.raises(BadSetting, match=why):
        load_encoder(name, *[space()] * spaces)


def test_no_sentences() -> None:
    for name in ("mean", "idf", "power-mean"):
        encoder = load_encoder(name, space())
        assert encoder.encode([], "fr").matrix.shape == (0, encoder.dimension)


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_encoder("power-mean", space())
    expected = encoder.encode(iter(TEXT * 3), "fr")
    monkeypatch.setattr(reading, "BLOCK", 2)
    found = encoder.encode(iter(TEXT * 3), "fr")
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert (found.empty, found.tokens, found.unknown) == (expected.empty, expected.tokens, expected.unknown)


def test_odd_text_gives_finite_rows() -> None:
    odd = ["\x00\x01\x1f", "\u2028", "кот 猫 chat", "a" * 5000, "’’’ - -- ' '", "\ud800", "1.5 " * 2000]
    encoded = load_encoder("mean+ngrams", space()).encode([*odd, "\x00chat", "chat"], "fr")
    assert np.isfinite(encoded.matrix).all()
    assert encoded.matrix[-1].any()
    assert encoded.tokens >= encoded.unknown


def test_a_line_of_a_million_words() -> None:
    of = space()
    line = "le chat noir. Dort 12:45 " * 200_000
    encoded = load_encoder("power-mean[-inf,1,3]", of).encode([line, "le"], "fr")
    x = np.stack([row(of, word) for word in ("le", "chat", "noir", "dort")]).astype(np.float64)
    expected = np.concatenate([x.min(axis=0), x.mean(axis=0), np.cbrt((x**3).mean(axis=0))])
    np.testing.assert_allclose(encoded.matrix[0], expected, atol=1e-4)
    assert (encoded.tokens, encoded.unknown) == (1_200_001, 400_000)


def test_ngrams_give_new_words_a_row(tmp_path: Path) -> None:
    of = saved(tmp_path / "space")
    skipped = load_encoder("mean", of).encode(["fr2"], "fr")
    assert (skipped.empty, skipped.unknown) == (1, 1)
    encoder = load_encoder("mean+ngrams", of)
    found = encoder.encode(["fr2", "fr20", "fr20 fr2"], "fr")
    assert (found.empty, found.unknown) == (0, 0)
    np.testing.assert_allclose(found.matrix[2], (found.matrix[0] + found.matrix[1]) / 2, atol=1e-6)
    assert np.linalg.norm(found.matrix[0]) == pytest.approx(1, abs=1e-5)


def test_an_encoder_in_use_can_be_copied(tmp_path: Path) -> None:
    encoder = load_encoder("mean+ngrams", saved(tmp_path / "space"))
    expected = encoder.encode(["fr2 fr20"], "fr").matrix
    found = pickle.loads(pickle.dumps(encoder)).encode(["fr2 fr20"], "fr").matrix
    np.testing.assert_array_equal(found, expected)


def test_a_reading_keeps_its_rows_when_another_drops_new_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookup = Lookup(saved(tmp_path / "space"), "ngrams")
    reading, rows = lookup.read(["fr2"], "fr")
    before = rows[reading.sentences.ids].clone()
    monkeypatch.setattr("muse.sentences.encoders.reading.REMEMBERED", 0)  # as after very many words
    again, others = lookup.read(["fr3"], "fr")  # by another thread, before the rows are pooled
    assert torch.equal(reading.sentences.ids, again.sentences.ids)
    assert not torch.equal(others[again.sentences.ids], before)
    assert torch.equal(rows[reading.sentences.ids], before)


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_encoder_is_the_same(tmp_path: Path, name: str) -> None:
    of = space()
    fitted = load_encoder(name, of).fit(TEXT, "fr").fit(EN_TEXT, "en") if "global" in name else (
        load_encoder(name, of).fit(TEXT, "fr")
    )  # fmt: skip
    fitted.save(tmp_path / "encoder")
    loaded = load_encoder(tmp_path / "encoder", of)
    assert (loaded.name, loaded.dimension, loaded.languages) == (fitted.name, fitted.dimension, ("fr", "en"))
    np.testing.assert_array_equal(loaded.encode(TEXT, "fr").matrix, fitted.encode(TEXT, "fr").matrix)
    made = load_encoder(name, of).name
    assert load_encoder(made, of).name == made
    assert not [path for path in tree(tmp_path) if "partial" in path or path.endswith(".pkl")]


def test_binary_codes_are_the_signs_about_the_mean() -> None:
    fitted = load_encoder("mean+binary", space()).fit(TEXT, "fr")
    raw = load_encoder("mean", space()).encode(TEXT, "fr").matrix
    full = raw.any(axis=1)
    found = fitted.encode(TEXT, "fr").matrix
    np.testing.assert_array_equal(found[full], np.where(raw[full] > raw[full].mean(axis=0), 1, -1))
    assert not found[~full].any()
    h = np.unpackbits(np.packbits(found[full] > 0, axis=1)[0] ^ np.packbits(found[full] > 0, axis=1)[1]).sum()
    cosine = found[full][0] @ found[full][1] / 5
    assert cosine == pytest.approx(1 - 2 * h / 5)


def test_binary_codes_of_a_threshold_need_no_text() -> None:
    encoder = load_encoder("mean+binary[0.1]", space())
    raw = load_encoder("mean", space()).encode(TEXT, "fr").matrix
    found = encoder.encode(TEXT, "fr").matrix
    np.testing.assert_array_equal(found, raw > 0.1)
    assert 0 < found.mean() < 1
    assert encoder.fit(TEXT, "fr") is encoder


def test_what_stands_before_a_threshold_is_fitted_on_its_own() -> None:
    of = space()
    encoder = load_encoder("mean+centre+binary[0.1]", of)
    with pytest.raises(BadSetting, match="centre must be fitted on text in fr"):
        encoder.encode(TEXT, "fr")
    centred = load_encoder("mean+centre", of).fit(TEXT, "fr").encode(TEXT, "fr").matrix
    np.testing.assert_array_equal(encoder.fit(TEXT, "fr").encode(TEXT, "fr").matrix, centred > 0.1)


def test_fitting_changes_nothing_but_the_result() -> None:
    encoder = load_encoder("idf", space())
    before = encoder.encode(TEXT, "fr").matrix
    fitted = encoder.fit(TEXT, "fr")
    np.testing.assert_array_equal(encoder.encode(TEXT, "fr").matrix, before)
    assert np.abs(fitted.encode(TEXT, "fr").matrix - before).max() > 1e-3
    np.testing.assert_array_equal(
        fitted.fit(TEXT, "fr").encode(TEXT, "fr").matrix, fitted.encode(TEXT, "fr").matrix
    )
    assert (encoder.name, fitted.name) == ("idf[rank]", "idf")


@pytest.mark.parametrize(
    "name", ["mean+znorm", "power-mean+znorm[global]", "mean+pcr", "mean+centre", "mean+binary"]
)
def test_corrections_need_text_first(name: str) -> None:
    with pytest.raises(BadSetting, match="must be fitted on text in fr before it encodes, got none"):
        load_encoder(name, space()).encode(["le chat"], "fr")


def test_corrections_are_of_a_language_unless_global() -> None:
    of = space()
    with pytest.raises(BadSetting, match="must be fitted on text in en"):
        load_encoder("mean+znorm", of).fit(TEXT, "fr").encode(["the cat"], "en")
    assert load_encoder("mean+znorm[global]", of).fit(TEXT, "fr").encode(["the cat"], "en").matrix.any()


def test_what_follows_a_global_correction_is_fitted_to_one_language() -> None:
    # The second language changes the moments of both, and so the rows that the first was fitted to.
    encoder = load_encoder("mean+znorm[global]+pcr", space()).fit(TEXT, "fr")
    assert encoder.fit(TEXT, "fr").encode(TEXT, "fr").matrix.any()
    with pytest.raises(BadSetting, match=r"got fr, en"):
        encoder.fit(TEXT, "en")


@pytest.mark.parametrize(
    "name",
    ["magic", "mean[3]", "idf[x]", "power-mean[a]", "power-mean[]x", "mean+whiten", "mean++pcr", "", "+pcr",
     "mean+pcr+ngrams", "Mean"],
)  # fmt: skip
def test_names_of_no_encoder(name: str) -> None:
    with pytest.raises(BadSetting, match="got"):
        load_encoder(name, space())


@pytest.mark.parametrize("name", NAMES)
def test_languages_it_has_not_got(name: str) -> None:
    encoder = load_encoder(name, space())
    for use in (encoder.encode, encoder.fit):
        with pytest.raises(BadSetting, match="got 'xx'"):
            use(["le chat"], "xx")


def test_another_space_is_refused_and_the_same_one_is_not(tmp_path: Path) -> None:
    load_encoder("idf", saved(tmp_path / "space")).save(tmp_path / "encoder")
    load_encoder(tmp_path / "encoder", load_space(tmp_path / "space"))
    with pytest.raises(Mismatch, match="belongs to a space whose en has the checksum"):
        load_encoder(tmp_path / "encoder", space(seed=7))


def break_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("name", "changes", "part"),
    [
        ("idf", {"format_version": 9}, "expected format 1, got 9"),
        ("idf", {"kind": "elmo"}, "has no encoder 'elmo'"),
        ("idf", {"spaces": None}, "spaces to be of type dict"),
        ("mean+znorm", {"settings": {}}, "expected the settings of a corrected encoder"),
        ("mean+znorm", {"settings": {"correction": "", "sif": 1}}, "expected the settings of a corrected"),
        ("mean+znorm", {"parts": 0}, "expected 1 parts, as there are, got 0"),
        ("mean+znorm", {"parts": 10**12}, "expected 1 parts, as there are, got 1000000000000"),
    ],
)
def test_broken_manifests(tmp_path: Path, name: str, changes: dict[str, object], part: str) -> None:
    folder, of = tmp_path / "encoder", space()
    load_encoder(name, of).fit(TEXT, "fr").save(folder)
    break_manifest(folder, **changes)
    with pytest.raises(BadFile, match=part):
        load_encoder(folder, of)


SEALED: dict[str, tuple[np.ndarray, dict[str, object], str]] = {
    "other dimension": (rows(3, 4), {}, "several dimensions"),
    "complex": (rows(3).astype(complex), {}, "other numbers"),
    "whole": (rows(3).astype(np.int64), {}, "other numbers"),
    "text": (rows(3).astype(str), {}, "other numbers"),
    "fewer": (rows(3)[:2], {}, "every word needs one row"),
    "pooling": (rows(3), {"pooling": "max"}, "another pooling"),
    "powers": (rows(3), {"powers": ["nan"]}, r"encoder: expected the settings .*a power must be"),
}


@pytest.mark.parametrize("case", SEALED)
def test_trained_tables_with_a_right_checksum_and_wrong_content(tmp_path: Path, case: str) -> None:
    of, (table, settings, said) = space(), SEALED[case]
    own = {"pooling": "mean", "powers": ["1.0"], "training": {}, **settings}
    write_encoder(tmp_path / "encoder", Saved("trained", "x", checksums(of), own, {"fr": table}))
    with pytest.raises(MuseError, match=said):
        load_encoder(tmp_path / "encoder", of).encode(TEXT, "fr")


WEIGHTS: dict[str, np.ndarray] = {
    "none": np.zeros(0, np.float32), "fewer": np.ones(6, np.float32), "halves": np.ones(7, np.float16),
    "infinite": np.full(7, np.inf, np.float32), "a table": np.ones((7, 1), np.float32),
}  # fmt: skip


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_of_other_words_with_a_right_checksum_are_refused(tmp_path: Path, case: str) -> None:
    of = space()
    assert len(of.vectors("fr")) == 6
    write_encoder(tmp_path / "encoder", Saved("weighted", "idf", checksums(of), {}, {"fr": WEIGHTS[case]}))
    with pytest.raises(BadFile, match="weights of fr that are not of its words"):
        load_encoder(tmp_path / "encoder", of)


def test_broken_folders(tmp_path: Path) -> None:
    folder, of = tmp_path / "encoder", space()
    load_encoder("mean+znorm", of).fit(TEXT, "fr").save(folder)
    with np.load(folder / "arrays.npz") as found:
        spoiled = {
            name: found[name] * (np.nan if found[name].dtype.kind == "f" else 1) for name in found.files
        }
    np.savez(folder / "arrays.npz", **spoiled)
    with pytest.raises(BadFile, match=r"arrays\.npz: expected the file that was saved"):
        load_encoder(folder, of)
    break_manifest(folder, checksums={"arrays.npz": checksum(folder / "arrays.npz")})
    with pytest.raises(BadFile, match="with nan"):
        load_encoder(folder, of)
    (folder / "arrays.npz").unlink()
    with pytest.raises(BadFile, match=r"arrays\.npz"):
        load_encoder(folder, of)
    (tmp_path / "empty").mkdir()
    (tmp_path / "note").write_text("")
    kinds = {"nosuch": "no such folder", "empty": "no manifest.json in it", "note": "a file"}
    for name, what in kinds.items():
        with pytest.raises(BadFile, match=f"{name}: expected a saved encoder, found {what}"):
            load_encoder(tmp_path / name, of)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("mean", Named("mean")),
        ("mean+ngrams", Named("mean+ngrams")),
        ("mean+ngrams+pcr+znorm", Named("mean+ngrams", "+pcr+znorm")),
        ("./a+b/c+pcr[3]", Named("./a+b/c", "+pcr[3]", is_folder=True)),
        ("./a+pcr/b", Named("./a+pcr/b", is_folder=True)),
        ("./a+b/bgt+language", Named("./a+b/bgt", is_folder=True, latents=True)),
        ("./a+language/b", Named("./a+language/b", is_folder=True)),
        ("./language", Named("./language", is_folder=True)),
        ("./bgt+language+pcr", Named("./bgt", "+pcr", is_folder=True, latents=True)),
    ],
)
def test_corrections_stand_at_the_end_and_a_folder_may_be_of_its_language_latents(
    text: str, named: Named
) -> None:
    assert parse(text) == [named]


def test_side_by_side() -> None:
    assert [one.name for one in parse("mean&./a b & idf")] == ["mean", "./a b", "idf"]
