"""`muse align` with vectors of different dimension, and what the other commands do with such a space."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.files import read_vectors
from muse.space import load_space
from muse.space.new_words import load_new_words, own_new_words
from muse.vectors import Vectors
from tests.conftest import ROOT
from tests.support.command import Command, refused
from tests.support.spaces import best, rotation
from tests.support.toys import DIMENSION, cloud, write_vec

COUNT, UNSEEN, MORE = 600, 20, 8


@pytest.fixture
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, in which we are, of xx.vec (28 d), yy.vec (24 d) and en.vec (20 d): word i translates word i.

    The first has UNSEEN words more in all.xx.vec and all.en.vec.
    """
    rows = cloud(0, COUNT + UNSEEN)
    for seed, (language, more) in enumerate((("xx", MORE), ("yy", 4), ("en", 0)), 1):
        noise = np.random.default_rng(seed).normal(0, 0.02, rows.shape)
        wide = np.hstack([rows + noise, 0.3 * cloud(seed, len(rows), more)])
        turned = (wide @ rotation(seed, wide.shape[1]).T).astype(np.float32)
        every = Vectors(language, [f"{language}word{i}" for i in range(len(rows))], turned)
        write_vec(here / f"{language}.vec", every.most_frequent(COUNT))
        write_vec(here / f"all.{language}.vec", every)
    monkeypatch.setenv("MUSE_EMBEDDINGS", str(here))
    return here


def align(muse: Command, *arguments: object) -> None:
    ended = muse("align", "--init", "similarity", "--threads", 1, "--quiet", *arguments, "--out", "space")
    assert ended.code == 0, ended.err


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), [("xx", "en"), ("en", "xx")])
@pytest.mark.parametrize("weighted", ["--reweight", "--no-reweight"])
def test_new_words_of_either_language_are_mapped(
    muse: Command, folder: Path, source: str, target: str, weighted: str
) -> None:
    align(muse, "--src", source, "--tgt", target, weighted)
    space = load_space("space")
    entries = space.manifest.languages
    assert space.manifest.dimension == DIMENSION
    assert entries["xx"].dimension == DIMENSION + MORE
    assert entries["en"].dimension is None
    for language in ("xx", "en"):
        vectors = f"all.{language}.vec"
        mapped = muse("map", "space", "--lang", language, "--vectors", vectors, "--out", "new.npz", "--json")
        assert mapped.json["words"] == UNSEEN
        own = load_new_words(space, language, vectors)
        known = space.vectors(language).words[:9]
        np.testing.assert_allclose(own.rows(known), space.vectors(language).matrix[:9], atol=1e-4)
        assert own_new_words(space, language).rows([f"{language}word1999"]).shape == (1, DIMENSION)
    new = [load_new_words(space, name, f"all.{name}.vec") for name in ("xx", "en")]
    x, y = (one.rows([f"{one.language}word{i}" for i in range(COUNT, COUNT + UNSEEN)]) for one in new)
    assert (x @ y.T).argmax(axis=1).tolist() == list(range(UNSEEN))
    for language in ("xx", "en"):
        turned = space.unweighted(language, 50)
        assert turned.shape == (50, DIMENSION)
        if space.manifest.mapping == "orthogonal":
            np.testing.assert_allclose(turned, space.tensor(language)[:50], atol=1e-5)


@pytest.mark.slow
def test_other_commands(muse: Command, folder: Path) -> None:
    align(muse, "--src", "xx", "--tgt", "en")
    translated = muse("translate", "space", "--json", "xxword3", "xxword40").json["translations"]
    assert [translated[word][0][0] for word in ("xxword3", "xxword40")] == ["enword3", "enword40"]
    assert muse("induce", "space", "--mutual", "--out", "pairs.txt", "--json").json["pairs"] > 0.9 * COUNT
    muse("export", "space", "--format", "text", "--out", "vectors")
    assert read_vectors(folder / "vectors" / "xx.vec", language="xx").dimension == DIMENSION


@pytest.mark.slow
def test_a_language_of_more_dimensions_is_added_to_a_space(muse: Command, folder: Path) -> None:
    align(muse, "--src", "yy", "--tgt", "en")
    muse("align", "--init", "similarity", "--src", "xx", "--into", "space", "--threads", 1, "--quiet")
    space = load_space("space")
    assert [space.side(name).mapping.shape for name in ("yy", "en", "xx")] == [(20, 24), (20, 20), (20, 28)]
    assert best(space, "xxword5", source="xx", target="yy", top=1)[0][0] == "yyword5"


@pytest.mark.slow
def test_several_into_a_target_of_more_dimensions(muse: Command, folder: Path) -> None:
    align(muse, "--src", "yy", "--src", "en", "--tgt", "xx")
    space = load_space("space")
    assert [space.side(name).mapping.shape for name in ("yy", "en", "xx")] == [(28, 24), (28, 20), (28, 28)]
    assert best(space, "enword5", source="en", target="yy", top=1)[0][0] == "yyword5"


def test_a_wrong_dimension_in_the_manifest(muse: Command, folder: Path) -> None:
    align(muse, "--src", "xx", "--tgt", "en")
    manifest = folder / "space" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"dimension": 28', '"dimension": "28"'))
    refused(muse("translate", "space", "a"), "languages.xx.dimension to be of type int, got '28'")


@pytest.mark.slow
def test_real_vectors(muse: Command, here: Path) -> None:
    """French in 300 dimensions and English in 60: its principal components, with noise."""
    sample = read_vectors(ROOT / "embeddings" / "sample" / "en.vec.gz", language="en")
    centred = sample.matrix - sample.matrix.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:60]  # (60, 300)
    noise = np.random.default_rng(0).normal(0, 0.1 * centred.std(), (len(sample), 60))
    write_vec(here / "en.vec", replace(sample, matrix=(sample.matrix @ axes.T + noise).astype(np.float32)))
    fr = ROOT / "embeddings" / "sample" / "fr.vec.gz"
    ended = muse("align", "--src", "fr", "--tgt", "en", "--src-emb", fr, "--tgt-emb", "en.vec",
                 "--no-identical", "--max-vocab", 2500, "--answers", "csls",
                 "--out", "space", "--json")  # fmt: skip
    assert ended.json["verdict"] == "aligned"
    gold = ROOT / "dictionaries" / "fr-en.sample.txt"
    assert muse("evaluate", "space", "--dictionary", gold, "--json").json["p_at_1"] > 50
