"""What users of gensim, pandas, spaCy, sentence-transformers and MUSE would type at the prompt.

Each wish is an expression, which must be true or just run; it is read by those who know none of muse's names.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muse
from muse.errors import BadFile, BadSetting, Mismatch, UnknownWord
from muse.normalise import Normalisation
from muse.space import SideToSave, save_space
from muse.vectors import Vectors
from tests.support.spaces import PROVENANCE, derived

FRENCH = "roi reine homme femme eau feu terre ciel chat chien maison livre jour nuit mer table".split()
ENGLISH = "king queen man woman water fire earth sky cat dog house book day night sea table".split()
GOLD = list(zip(FRENCH, ENGLISH, strict=True))

# A translator or linguist who knows gensim.
GENSIM = """
    space["roi"].shape == (8,)
    "roi" in space
    space.most_similar("roi")[0][0] in FRENCH
    space.most_similar("roi", topn=3)
    space.most_similar(positive=["roi", "femme"], negative=["homme"], topn=3)
    space.most_similar(space["roi"], topn=1)[0][0] in FRENCH + ENGLISH
    space.similarity("roi", "king") > 0.9
    space.similarity("roi", "reine") < 1
    space.get_vector("roi").shape == (8,)
    space.vectors("fr")["roi"].shape == (8,)
    "roi" in space.vectors("fr")
    list(space.vectors("fr"))[:2] == ["roi", "reine"]
"""
# Vectors, wherever they are from.
VECTORS = """
    space.translate(space["roi"], src="fr")[0][0] == "king"
    space.translate(space["roi"])[0][0] == "king"
    space.neighbours(space["roi"], lang="fr")[0][0] == "roi"
    space.neighbours(space["roi"])[0][0] == "king"
    space.neighbours(space["roi"] - space["homme"] + space["femme"], lang="fr", top=3)
    space.translate(space["roi"] - space["homme"] + space["femme"], src="fr", top=3).best is not None
    space.translate(np.mean(space[["roi", "reine"]], axis=0), src="fr", tgt="en")
    space.translate(space.map_words("fr", np.ones((1, 8), np.float32))[0], src="fr")
    space.translate(list(space["roi"]), src="fr")[0][0] == "king"
    space.similarity(space["roi"], "king") > 0.9
    space.similarity(space["roi"], space["king"]) > 0.9
    space.neighbours("roi", 3)[0][1] > space.neighbours("roi", 3)[2][1]
    space.neighbors("roi", top=3) == space.neighbours("roi", top=3)
    space.neighbours("roi").to_frame().columns.tolist() == ["word", "cosine"]
"""
# The space, its words and its verdict.
SPACE = """
    space.languages == ("fr", "en")
    space.pivot == "en"
    space.verdict == "aligned"
    space.verdict.confidence is not None
    space.words("fr")[:2] == ["roi", "reine"]
    "roi" in space.words("fr")
    len(space.words("fr")) == 16
    space.vectors("fr").words[0] == "roi"
    space.vectors("fr").matrix.shape == (16, 8)
    space["fr", "table"].shape == (8,)
    space[["roi", "reine"]].shape == (2, 8)
    len(space) == 32
    [word for language, word in space if language == "fr"][:1] == ["roi"]
    space.to_frame("fr").loc["roi"].shape == (8,)
    space.to_frame().shape == (32, 8)
    space.folder.name == "space"
    space.dimension == 8
    space.save(tmp / "copy").exists()
    muse.load(tmp / "space").languages == ("fr", "en")
    muse.load(str(tmp / "space"), quiet=True).pivot == "en"
"""
# Translations and dictionaries.
PAIRS = """
    space.translate("roi")[0].target == "king"
    space.translate("roi").best.probability is not None
    space.translate("roi", top=1) == [space.translate("roi")[0]]
    space.translate(["roi", "eau"])["eau"].best.target == "water"
    space.translate("king")[0][0] == "roi"
    space.translate("king", tgt="fr")[0][0] == "roi"
    space.translate(["roi"]).to_frame().target[0] == "king"
    space.translate("roi").to_frame().columns[0] == "source"
    space.translate_text(["roi reine"])[0] == "king queen"
    space.translate_text("roi reine") == "king queen"
    space.dictionary().source[0] == "roi"
    space.dictionary(src="en").target[0] == "roi"
    space.dictionary(words=["roi"]).target.tolist()[0] == "king"
    len(muse.induce(space)) > 0
    [pair for pair in muse.induce(space)][0] == ("roi", "king")
    ("roi", "king") in muse.induce(space)
    muse.induce(space)[0] == ("roi", "king")
    dict(muse.induce(space))["roi"] == "king"
"""
# Measuring, sharing, drawing.
USES = """
    muse.evaluate(space, GOLD).p_at_1 == 100
    space.evaluate(GOLD).p_at_1 == 100
    space.evaluate(dict(GOLD)).p_at_1 == 100
    muse.evaluate(space, pd.DataFrame(GOLD, columns=["source", "target"])).p_at_1 == 100
    muse.evaluate(space, pd.DataFrame(GOLD, columns=["fr", "en"])).p_at_1 == 100
    muse.evaluate(tmp / "space", GOLD).p_at_1 == 100
    space.export(tmp / "text")
    space.export(tmp / "st", "sentence-transformers")
    space.export(tmp / "again")
    space.report(tmp / "report.html", GOLD).exists()
    space.report(tmp / "again.html").exists()
    space.plot() is not None
    space.plot(["roi", "king", "eau", "water"]) is not None
    muse.read_vectors(tmp / "fr.vec", language="fr").words[0] == "roi"
    muse.read_vectors(tmp / "fr.vec", "fr").words[0] == "roi"
    muse.read_vectors(dict(zip(FRENCH, np.eye(16))), "fr").words[0] == "roi"
    muse.read_vectors(pd.DataFrame(np.eye(16), index=FRENCH), "fr").words[1] == "reine"
    muse.read_vectors((FRENCH, np.eye(16)), language="fr", max_vocab=3).words == tuple(FRENCH[:3])
    muse.load_encoder("idf", tmp / "space") is not None
    muse.load_encoder("idf", space).encode(["roi"], "fr").matrix.shape[0] == 1
    {"translate", "neighbours", "words", "evaluate", "dictionary"} <= {*dir(space)}
    not {"once", "keep", "tensor", "unweighted", "bias", "find_hubness"} & {*dir(space)}
    (Path(muse.__file__).parent / "py.typed").exists()
    muse.__version__
"""
WISHES = [
    line.strip() for text in (GENSIM, VECTORS, SPACE, PAIRS, USES) for line in text.strip().splitlines()
]


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the wishes use: a space of sixteen words a language, among others."""
    import pandas

    folder, rng = tmp_path_factory.mktemp("wishes"), np.random.default_rng(0)
    rows = rng.standard_normal((16, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near = rows + 0.02 * rng.standard_normal(rows.shape).astype(np.float32)
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    unit = Normalisation(("unit",), ())
    sides = {
        one: SideToSave(Vectors(one, some, matrix), unit, None)
        for one, some, matrix in (("fr", FRENCH, near), ("en", ENGLISH, rows))
    }
    save_space(
        folder / "space",
        sides,
        pivot="en",
        provenance=replace(PROVENANCE, verdict={"label": "aligned", "confidence": 0.9}),
    )
    derived(folder / "space")
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(FRENCH, near, strict=True))
    (folder / "fr.vec").write_text("16 8\n" + "".join(lines), encoding="utf-8")
    return {
        "muse": muse, "space": muse.load(folder / "space", quiet=True), "np": np, "pd": pandas,
        "tmp": folder, "FRENCH": FRENCH, "ENGLISH": ENGLISH, "GOLD": GOLD, "Path": Path,
    }  # fmt: skip


@pytest.mark.parametrize("wish", WISHES)
def test_a_wish_comes_true(named: dict[str, Any], wish: str) -> None:
    found = eval(wish, named)  # noqa: S307 - an expression of this file
    assert found is not False


@pytest.mark.parametrize(
    ("wish", "error"),
    [
        ('space.translate(np.ones(7), src="fr")', Mismatch),
        ('space.translate(np.zeros(8), src="fr")', Mismatch),
        ("space.neighbours([1.0] * 7 + [np.nan])", Mismatch),
        ('space.neighbours(["roi", "reine"])', BadSetting),
        ('space.most_similar("nowhere")', UnknownWord),
        ('space.vectors("fr")["nowhere"]', UnknownWord),
        ("space.evaluate(3)", BadSetting),
        ('space.export(tmp / "x", "moses")', BadSetting),
        ('space.export(tmp / "x.bin", format="text")', BadSetting),
        ('space.plot(["nowhere"])', UnknownWord),
        ('muse.load_encoder("idf", "fr-en")', BadFile),
        ('muse.load_encoder("idf", 3)', BadSetting),
        ('muse.read_vectors(3, "fr")', BadSetting),
    ],
)
def test_what_is_not_understood_is_refused(named: dict[str, Any], wish: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        eval(wish, named)  # noqa: S307


def test_a_vector_is_translated_as_its_word_is(named: dict[str, Any]) -> None:
    space = named["space"]
    for word in FRENCH[:-1]:
        found = space.translate(space[word], top=3)
        assert found.best.target == space.translate(word, top=3).best.target and found.src == "fr"
    king, queen = space.most_similar(["king", "woman"], "man", 2), space.neighbours(space["king"], 1)
    assert not {"king", "woman", "man"} & {word for word, _ in king} and len(king) == 2
    total = space["king"] + space["woman"] - space["man"]
    cosines = space.vectors("en").matrix @ (total / np.linalg.norm(total))
    assert dict(space.neighbours(total, 16)) == pytest.approx(
        dict(zip(ENGLISH, cosines, strict=True)), abs=1e-5
    )
    assert queen[0] == ("king", pytest.approx(1, abs=1e-5))
