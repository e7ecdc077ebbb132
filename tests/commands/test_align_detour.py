"""`muse align` over a third language: by `--src`, `--via` and `--into`, and what is refused beforehand."""

from pathlib import Path

import numpy as np
import pytest

from muse.files import read_vectors
from muse.space import load_space
from muse.vectors import Vectors
from tests.conftest import ROOT
from tests.support.command import Command, Ended, refused_leaving
from tests.support.spaces import rotation, saved
from tests.support.toys import write_vec

COUNT, DIMENSION = 1_000, 50
SAMPLE = ROOT / "embeddings" / "sample"


def reduced(language: str) -> Vectors:
    """The frequent words of a sample along their principal axes."""
    vectors = read_vectors(SAMPLE / f"{language}.vec.gz", language=language, max_vocab=COUNT)
    rows = vectors.matrix - vectors.matrix.mean(axis=0)
    axes = np.linalg.svd(rows, full_matrices=False)[2][:DIMENSION]  # (50, 300)
    return Vectors(language, vectors.words, rows @ axes.T)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of fr.vec and en.vec, the sample's frequent words and principal components, and of xx.vec.

    xx is a rotated noisy copy of fr. None of its words is spelt as in English, one in three is as in French.
    """
    folder = tmp_path_factory.mktemp("made")
    fr, en = (reduced(name) for name in ("fr", "en"))
    english = set(read_vectors(SAMPLE / "en.vec.gz", language="en").words)
    words = [
        word if row % 3 == 0 and word not in english else f"xx{word}" for row, word in enumerate(fr.words)
    ]
    noise = np.random.default_rng(0).normal(0, 0.3 * fr.matrix.std(), fr.matrix.shape)
    turned = ((fr.matrix + noise) @ rotation(1, DIMENSION).T).astype(np.float32)
    for vectors in (fr, en, Vectors("xx", words, turned)):
        write_vec(folder / f"{vectors.language}.vec", vectors)
    return folder


@pytest.fixture
def files(made: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which we are; fr, en and xx are found by name."""
    monkeypatch.setenv("MUSE_EMBEDDINGS", str(made))
    return here


def align(muse: Command, *arguments: object) -> Ended:
    ended = muse("align", "--init", "identical", "--threads", 1, *arguments, "--out", "space")
    assert ended.code in (0, 3), ended.err
    return ended


def as_over_french(space: Path) -> float:
    """The share of words of xx whose translation is that of the French word it is a copy of."""
    loaded = load_space(space)
    own, french = (loaded.vectors(name).matrix[:300] for name in ("xx", "fr"))
    english = loaded.vectors("en").matrix
    return float(((own @ english.T).argmax(axis=1) == (french @ english.T).argmax(axis=1)).mean())


@pytest.mark.slow
def test_over_another_of_the_languages_to_map(muse: Command, files: Path) -> None:
    fields = align(muse, "--src", "xx", "--src", "fr", "--tgt", "en", "--json").json
    assert {name: own["via"] for name, own in fields["languages"].items()} == {"xx": ["fr"], "fr": []}
    assert fields["unsupervised"] is False
    entry = load_space("space").manifest.languages["xx"]
    assert entry.via == ("fr",)
    assert entry.method == "via fr: identical + identical"
    assert "via fr: identical + identical" in entry.signature
    assert as_over_french(files / "space") > 0.6


@pytest.mark.slow
def test_over_a_language_that_is_not_saved(muse: Command, files: Path, made: Path) -> None:
    given = made / "fr.vec"
    fields = align(muse, "--src", "xx", "--tgt", "en", "--via", "zz", "--via-emb", given, "--json").json
    assert fields["via"] == ["zz"]
    assert fields["init"] == "identical"
    assert set(fields["words"]) == {"xx", "en"}
    space = load_space("space")
    assert space.languages == ("xx", "en")
    assert [one.path for one in space.manifest.inputs] == [str(given)]
    shown = align(muse, "--src", "xx", "--tgt", "en", "--via", "fr", "--verbose", "--force").out
    assert "spell alike (identical strings), over fr" in shown
    assert "initialisation  via fr: identical + identical" in shown


@pytest.mark.slow
def test_over_a_language_of_the_space(muse: Command, files: Path) -> None:
    align(muse, "--src", "fr", "--tgt", "en", "--no-reweight")
    fields = muse("align", "--init", "identical", "--src", "xx", "--into", "space", "--json", "--quiet").json
    assert fields["via"] == ["fr"]
    assert load_space("space").manifest.languages["xx"].method == "via fr: identical + identical"
    assert as_over_french(files / "space") > 0.6


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--tgt", "en", "--via", "qq"), "qq"),
        (("--tgt", "en", "--via", ".."), "'..'"),
        (("--tgt", "en", "--via", "fr", "--via-emb", "none.vec"), "none.vec"),
        (("--into", "space", "--via", "fr"), "the languages of the space serve as detours anyway"),
        (("--into", "space", "--via", "en"), "the languages of the space serve as detours anyway"),
    ],
)
def test_what_is_refused_beforehand(
    muse: Command, files: Path, space: Path, arguments: tuple[str, ...], part: str
) -> None:
    refused_leaving(files, muse, ["align", "--src", "xx", *arguments], part)


@pytest.mark.parametrize("via", [("en",), ("xx",), ("fr", "fr")], ids=" ".join)
def test_a_language_given_twice_is_wrong_usage(muse: Command, files: Path, via: tuple[str, ...]) -> None:
    again = [word for language in via for word in ("--via", language)]
    part = f"besides --src and --tgt, given once; got {via[0]!r} again"
    refused_leaving(files, muse, ["align", "--src", "xx", "--tgt", "en", *again], part, code=2)


def test_a_file_without_its_language_is_wrong_usage(muse: Command, files: Path) -> None:
    arguments: list[object] = ["align", "--src", "xx", "--tgt", "en", "--via-emb", "none.vec"]
    refused_leaving(files, muse, arguments, "--via-emb must be given once for each --via", code=2)


@pytest.fixture
def space(files: Path) -> Path:
    saved(files / "space", "fr", plain=True)
    return files / "space"


@pytest.mark.slow
def test_an_interrupted_detour_is_resumed(muse: Command, files: Path) -> None:
    align(muse, "--src", "xx", "--src", "fr", "--tgt", "en")
    arguments = ("align", "--init", "identical", "--src", "xx", "--src", "fr", "--tgt", "en", "--threads", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muse.learn.multilingual.judge", interrupted)
        assert muse(*arguments, "--out", "other").code == 130
    assert muse(*arguments, "--out", "other", "--resume").code == 0
    assert (files / "other" / "xx" / "mapping.npy").read_bytes() == (
        files / "space" / "xx" / "mapping.npy"
    ).read_bytes()


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
